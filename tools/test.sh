#!/bin/sh
# Builds and runs the tests, and closes with one line: "N passed, N failed".
#
#   tools/test.sh [--jobs N]          release, then the sanitizer build with less effort
#   tools/test.sh [--jobs N] --slow   the slow tests, then clang and portable builds, and what has threads under TSan
#
# The sanitizer build is made by clang, so that one build gives both the
# sanitizers and the second compiler's warnings. A build that fails counts as one
# failure, and the tests that could still be built run all the same.
set -u

jobs=2
slow=no
while [ $# -gt 0 ]; do
  case $1 in
    --jobs) jobs=$2; shift 2 ;;
    --slow) slow=yes; shift ;;
    *) echo "usage: tools/test.sh [--jobs N] [--slow]" >&2; exit 2 ;;
  esac
done

unset MAKEFLAGS MFLAGS MAKELEVEL
passed=0
failed=0

fail() {
  echo "FAILED: $1"
  failed=$((failed + 1))
}

# build PRESET: configures and builds everything. False when there is nothing to run.
build() {
  echo "== $1: build"
  cmake --preset "$1" --log-level=WARNING -DTN_REQUIRE_TESTS=ON >/dev/null || { fail "configure $1"; return 1; }
  cmake --build "build/$1" --parallel "$jobs" -- --keep-going >"build/$1/build.log" 2>&1 && return 0
  grep -E -A6 'error|warning|Error ' "build/$1/build.log" | head -n 200
  fail "build $1 (build/$1/build.log)"
}

# run PRESET: runs a test preset and adds its totals to ours.
run() {
  echo "== $1: test"
  log=build/ctest-$1.log
  ctest --preset "$1" --parallel "$jobs" >"$log" 2>&1
  status=$?
  cat "$log"
  # "97% tests passed, 1 tests failed out of 38"
  totals=$(awk '/ tests failed out of [0-9]+$/ { print $NF - $4, $4 }' "$log")
  if [ -z "$totals" ]; then
    fail "ctest $1 ran nothing"
    return
  fi
  passed=$((passed + ${totals% *}))
  failed=$((failed + ${totals#* }))
  if [ $status -ne 0 ] && [ "${totals#* }" = 0 ]; then
    fail "ctest $1 ended with status $status"
  fi
}

if [ $slow = yes ]; then
  build release && run slow
  for preset in clang portable tsan; do
    build $preset && run $preset
  done
else
  for preset in release debug; do
    build $preset && run $preset
  done
fi

[ $((passed + failed)) -gt 0 ] || fail "no test ran"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
