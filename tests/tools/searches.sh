#!/bin/sh
# tools/coverage.sh adds up what was counted and fails with the tests; tools/fuzz.sh says which target found
# something. Compilers, counters and targets are mocks. Argument: the project's root.
root=$(cd "$1" && pwd)
. "$root/tests/tools/expect.sh"
mkdir -p "$scratch/bin" "$scratch/project/tools"
cp "$root/tools/coverage.sh" "$root/tools/fuzz.sh" "$scratch/project/tools"
put bin/cmake <<'END'
#!/bin/sh
mkdir -p build/coverage/counts build/fuzz/fuzz
END
put bin/ctest <<'END'
#!/bin/sh
touch build/coverage/counts/1.profraw
[ "$2" != "${TEST_FAILS:-}" ] || { echo "7 - unit/x (Failed)"; exit 8; }
END
put bin/llvm-profdata-19 <<'END'
#!/bin/sh
for last; do :; done
touch "$last"
END
# Columns: file; regions, functions, lines, branches, conditions, each as number, missed, share.
put bin/llvm-cov-19 <<'END'
#!/bin/sh
if [ "$1" = show ]; then
  echo "/somewhere/src/op/a.c:"
  echo "   10|     3|  if (x) return;"
  echo "  |  Branch (10:7): [True: 3, False: 0]"
  echo "   11|     3|  if (y) return;"
  echo "  |  Branch (11:7): [True: 1, False: 2]"
else
  echo "src/op/a.c        9 9 0.00% 1 0 100.00% 100 10 90.00% 40 4 90.00% 10 5 50.00%"
  echo "src/op/b.c        9 9 0.00% 1 0 100.00% 100 0 100.00% 60 1 98.33% 0 0 -"
  echo "src/lang/mind/c.c 9 9 0.00% 1 0 100.00% 200 2 99.00% 100 5 95.00% 10 1 90.00%"
fi
END
chmod +x "$scratch"/bin/*
cd "$scratch/project" || exit 1
PATH="$scratch/bin:$PATH"

# shows WHAT LINE: the last output has this line.
shows() {
  grep -qxF -- "$2" "$scratch/.output" && return
  echo "FAILED: $1: no line \"$2\" in:"
  cat "$scratch/.output"
  failures=$((failures + 1))
}

fails "an unknown flag" "usage:" sh tools/coverage.sh --nonsense
fails "a report before anything was counted" "nothing was counted yet" sh tools/coverage.sh --report
passes "counting" sh tools/coverage.sh
shows "files of a folder are added up" "| op | 200 | 95.0% | 100 | 95.0% | 10 | 50.0% |"
shows "each language stands for itself" "| lang/mind | 200 | 99.0% | 100 | 95.0% | 10 | 90.0% |"
shows "all together" "| all | 400 | 97.0% | 200 | 95.0% | 20 | 70.0% |"
passes "a report of what was counted" sh tools/coverage.sh --report
passes "what was missed" sh tools/coverage.sh --missed src/op/a.c
shows "the line" "src/op/a.c:   10|     3|  if (x) return;"
shows "the branch" "      Branch (10:7): [True: 3, False: 0]"
[ "$(wc -l <"$scratch/.output")" -eq 2 ] || fails "only what was missed" "" true
fails "a test that fails" "unit/x (Failed)" env TEST_FAILS=coverage sh tools/coverage.sh
fails "a slow test that fails" "unit/x (Failed)" env TEST_FAILS=coverage-slow sh tools/coverage.sh

mkdir -p build/fuzz/fuzz
for target in calm wild; do echo seeds >build/fuzz/fuzz/$target.seeds; done
put project/build/fuzz/fuzz/fuzz_calm <<'END'
#!/bin/sh
echo "stat::number_of_executed_units: 1234"
END
put project/build/fuzz/fuzz/fuzz_wild <<'END'
#!/bin/sh
echo "ERROR: AddressSanitizer: planted"
echo "stat::number_of_executed_units: 77"
exit 77
END
chmod +x build/fuzz/fuzz/fuzz_*
fails "an unknown flag" "usage:" sh tools/fuzz.sh --nonsense
fails "an unknown target" "there is no target" sh tools/fuzz.sh --seconds 1 nosuch
passes "a target that finds nothing" sh tools/fuzz.sh --seconds 1 calm
shows "how often it ran" "calm: 1234 runs in 1s, nothing found"
fails "one of several that finds something" "wild: FOUND SOMETHING after 77 runs" sh tools/fuzz.sh --seconds 1 --jobs 2
shows "the others run to their end" "calm: 1234 runs in 1s, nothing found"
shows "what it was" "ERROR: AddressSanitizer: planted"
finish
