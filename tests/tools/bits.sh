#!/bin/sh
# tools/test_bits.sh notices a bit: a tern whose output differs in one digit, one that fails, one
# whose rows depend on their neighbours. Arguments: the project's root, the program.
root=$(cd "$1" && pwd)
tern=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
. "$root/tests/tools/expect.sh"

# pretend SCRIPT: a program that runs tern and then SCRIPT over what it printed.
pretend() {
  { echo '#!/bin/sh'; echo "'$tern' \"\$@\" | $1"; } >"$scratch/tern"
  chmod +x "$scratch/tern"
}
all=$(grep -c '^[^#]' "$root/tests/bits/table.txt")
bits() { TERN="$scratch/tern" sh "$root/tools/test_bits.sh" "$@"; }

pretend cat
passes "an honest program passes" bits once
pretend "sed 's/264\\.3675/264.36752/'"
fails "one digit of one sum is noticed" "$((all - 2)) of $all  DIFFERENT" bits once
fails "and named" "differs: sums text" bits once
pretend "sed 's/0\\.0\\([0-9]\\)/0.1\\1/'"
fails "a row that gives another number alone is noticed" "DIFFERENT" bits rows
pretend "cat; exit 1"
fails "so is a status, though the weights are right" "of $all  DIFFERENT" bits once
fails "what is no group is refused" "groups: once threads" bits everything
finish
