#!/bin/sh
# docs/adding-an-operation.md is true: its steps, carried out on a copy of the tree, add two operations that
# build, run in three languages, have gradients, and are written as MLIR and ONNX, which others run.
#
#   tests/slow/adding_an_operation.sh ROOT [MLIRTEST-ARGUMENTS...]
#
# What follows ROOT is how mlirtest is called; without it, and without node, those judges are left out.
root=$(cd "$1" && pwd)
shift
. "$root/tests/tools/expect.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL
copy=$scratch/copy
page=$root/docs/adding-an-operation.md
export XDG_DATA_HOME="$scratch/data"

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

mkdir -p "$copy"
(cd "$root" && tar -cf - --exclude=./build --exclude=./.git .) | tar -xf - -C "$copy"

# insert: each block of code after a comment `insert FILE before TEXT` goes before the line that begins with
# TEXT. Prints the number of the section and the file.
insert() {
  awk -v copy="$copy" '
    /^## / { section++ }
    /^<!-- insert / { file = $3; text = $0; sub(/^.* before /, "", text); sub(/ -->$/, "", text); next }
    /^```c$/ && file != "" { inside = 1; block = ""; next }
    /^```$/ && inside { inside = 0; place(file, text, block); file = ""; next }
    inside { block = block $0 "\n" }
    function place(file, text, block,   path, line, all, found) {
      path = copy "/" file
      while ((getline line < path) > 0) {
        if (!found && index(line, text) == 1) { all = all block; found = 1 }
        all = all line "\n"
      }
      close(path)
      if (!found) { print "no line " text " in " file > "/dev/stderr"; exit 1 }
      printf "%s", all > path
      close(path)
      print section, file
    }' "$page"
}

insert >"$scratch/files" || fail "the steps of the page can be carried out"
for section in 1 2; do
  changed=$(sort -u "$scratch/files" | grep -c "^$section src/")
  [ "$changed" -ge 1 ] && [ "$changed" -le 3 ] || fail "section $section: at most 3 files under src/ change, not $changed"
done

build() {
  cmake -S "$copy" -B "$copy/build/x" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O1 \
    -DTN_PORTABLE=ON && cmake --build "$copy/build/x" --parallel 2 --target tern pages test_table
}
passes "the copy builds" build
tern=$copy/build/x/tern

# same NAME EXPECTED COMMAND...: the command prints EXPECTED and nothing else.
same() {
  name=$1 expected=$2
  shift 2
  got=$("$@" 2>&1)
  [ "$got" = "$expected" ] || fail "$name: $got"
}

mkdir "$scratch/programs"
cd "$scratch/programs" || exit 1
cat >operations.mind <<'END'
let x = [1.0, -3.0, 0.0]
(softsign(x), sum_squares(x), sum_squares([[1.0, 2.0], [3.0, 4.0]], axes=[1]))
END
same "MIND" "(Tensor[f32,(3)] [0.5, -0.75, 0], Tensor[f32,()] 10, Tensor[f32,(2)] [5, 25])" "$tern" run operations.mind
printf '%s\n' '(1 -3 0) [SOFTSIGN] [PRINT] (1 -3 0) [SUM_SQUARES] [PRINT]' >operations.nth
same "Ninth" "$(printf '(0.5 -0.75 0)\n10')" "$tern" run operations.nth
printf '%s\n' 'model {' '  x [3]' '  y = softsign(x)' '  z = add(y, sum_squares(x))' '}' >operations.ail
"$tern" run operations.ail --input x='[1, -3, 0]' >ail.out 2>&1
grep -q '10.5000, 9.2500, 10.0000' ail.out || fail "AILang: $(cat ail.out)"

# The kernel gives the bits of its parts, along every axis: the differences are all 0.
cat >parts.mind <<'END'
let x = reshape(arange(0, 12000) * 0.37 - 1000.0, (40, 300))
let y = cast(x, f64)
let i = cast(x, i32)
(max(abs(sum_squares(x, axes=[0]) - sum(x * x, axes=[0]))), max(abs(sum_squares(x, axes=[1]) - sum(x * x, axes=[1]))),
 sum_squares(x) - sum(x * x), sum_squares(y) - sum(y * y), sum_squares(i) - sum(i * i))
END
same "the bits of its parts" "(Tensor[f32,()] 0, Tensor[f32,()] 0, Tensor[f32,()] 0, Tensor[f64,()] 0, Tensor[i32,()] 0)" \
  "$tern" run parts.mind

# Gradients: against differences in f64, and on the tape.
cat >slopes.mind <<'END'
let x = cast([1.0, -3.0, 0.25], f64)
let h = 1e-6
let up = softsign(x + h) + (x + h) * (x + h)
let down = softsign(x - h) + (x - h) * (x - h)
let slope = grad(sum(softsign(x)) + sum_squares(x), wrt=[x])
max(abs(slope.x - (up - down) / (2.0 * h))) < 1e-7
END
same "the gradient is the difference quotient" "Tensor[bool,()] true" "$tern" run slopes.mind
printf '%s\n' '(1 -3) [VAR] -> x x [SOFTSIGN] [SUM] [BACKWARD] x [GRAD] [PRINT]' >tape.nth
same "the gradient on the tape" "(0.25 0.0625)" "$tern" run tape.nth

# Nothing has to be added to the tests.
passes "ops/table takes them" "$copy/build/x/tests/test_table"

# Others.
"$tern" ops >ops.out && grep -q '^  softsign ' ops.out && grep -q '^  sum_squares ' ops.out || fail "tern ops lists them"
passes "operations.md can be written" "$copy/build/x/tests/pages" --update --tern "$tern" --docs "$copy/docs/reference"
grep -q '^### softsign' "$copy/docs/reference/operations.md" || fail "operations.md has softsign"
passes "MLIR is written" "$tern" emit operations.mind --as mlir -o operations.mlir
if command -v mlir-opt-19 >/dev/null; then
  passes "MLIR is accepted" mlir-opt-19 operations.mlir -o /dev/null
fi
mkdir run && cp operations.mind run/
[ $# -eq 0 ] || passes "MLIR gives tern's bits" "$@" --tern "$tern" --run "$scratch/programs/run"
npm=$root/build/npm/node_modules
if command -v node >/dev/null && [ -e "$npm/onnxruntime-node/package.json" ]; then
  passes "ONNX gives tern's numbers" node "$root/tests/onnx/onnxtest.mjs" "$tern" "$npm" "$scratch/programs/run"
fi
finish
