#!/bin/sh
# runner/codes notices a code without a test, an example that raises nothing and one that is not put right.
# Arguments: the project's root, the runner.
root=$(cd "$1" && pwd)
codes=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
. "$root/tests/tools/expect.sh"

pretend() {   # pretend STATUS ANSWER: a tern that always says the same
  { echo '#!/bin/sh'; echo "echo '$2'"; echo "exit $1"; } >"$scratch/tern"
  chmod +x "$scratch/tern"
}
judge() { "$codes" --tern "$scratch/tern" --tests "$scratch/tests" E_SHAPE_MISMATCH; }

mkdir -p "$scratch/tests/diag"
touch "$scratch/tests/diag/E_SHAPE_MISMATCH.ail"
: >"$scratch/tests/diag/_elsewhere.txt"
pretend 0 '{"ok":true}'
fails "an example that raises nothing" "its wrong example does not give it" judge
pretend 1 '{"ok":false,"diagnostics":[{"code":"E_SHAPE_MISMATCH"}]}'
fails "an example that is not put right" "its right example gives it too" judge
pretend 2 '{"ok":false,"diagnostics":[{"code":"E_SHAPE_MISMATCH"}]}'
fails "another status" "ends with another status" judge
rm "$scratch/tests/diag/E_SHAPE_MISMATCH.ail"
fails "a code without a test" "no program in tests/diag" judge
echo 'E_SHAPE_MISMATCH diag/other.t' >"$scratch/tests/diag/_elsewhere.txt"
touch "$scratch/tests/diag/other.t"
fails "a test that does not raise it" "does not mention it" judge
echo 'E_NOTHING - ' >"$scratch/tests/diag/_elsewhere.txt"
fails "an unknown code" "there is no code E_NOTHING" judge
finish
