#!/bin/sh
# runner/pages writes the pages that tables write, and notices one that says something else.
# Arguments: the project's root, the runner. A shell script stands in for tern.
root=$(cd "$1" && pwd)
pages=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
. "$root/tests/tools/expect.sh"

{ echo '#!/bin/sh'; echo 'echo "error: wrong" >&2'; } >"$scratch/tern"
chmod +x "$scratch/tern"
mkdir "$scratch/docs"
pages() { "$pages" --tern "$scratch/tern" --docs "$scratch/docs" "$@"; }

fails "pages that are missing" "operations.md: differs" pages
passes "they are written" pages --update
passes "an example's output is what the program printed" grep -qx 'error: wrong' "$scratch/docs/errors.md"
sed -i 's/^### matmul$/### product/' "$scratch/docs/operations.md"
sed -i '$d' "$scratch/docs/errors.md"
fails "a page that says something else" "+ ### matmul" pages
finish
