#!/bin/sh
# tools/test.sh closes with the true totals, and fails when anything failed or
# nothing ran. cmake and ctest are mocks. Argument: the project's root.
root=$(cd "$1" && pwd)
. "$root/tests/tools/expect.sh"
mkdir "$scratch/bin" "$scratch/project"
cat >"$scratch/bin/cmake" <<'END'
#!/bin/sh
if [ "$1" = --preset ]; then
  [ "$2" != "${CONFIGURE_FAILS:-}" ] || exit 1
  mkdir -p "build/$2" && touch "build/$2/CTestTestfile.cmake"
else
  [ "$2" != "build/${BUILD_FAILS:-}" ] || { echo "x.c:1: error: planted"; exit 2; }
fi
END
cat >"$scratch/bin/ctest" <<'END'
#!/bin/sh
case $2 in
  release) failed=${RELEASE:-0} count=${COUNT-30} ;;
  *) failed=${OTHER:-0} count=12 ;;
esac
[ -n "$count" ] || { echo "No tests were found!!!"; exit 8; }
echo "1/$count Test #1: unit/x ....   Passed    0.00 sec"
echo "$((100 - failed))% tests passed, $failed tests failed out of $count"
exit $((${CTEST_STATUS:-0} | (failed > 0)))
END
chmod +x "$scratch/bin/cmake" "$scratch/bin/ctest"

# total WHAT LINE STATUS [VARIABLE=VALUE...]: the last line is LINE.
total() {
  what=$1 line=$2 wanted=$3
  shift 3
  rm -rf "$scratch/project/build"
  status=0
  (cd "$scratch/project" && env PATH="$scratch/bin:$PATH" "$@" sh "$root/tools/test.sh" $slow) \
    >"$scratch/.output" 2>&1 || status=$?
  last=$(tail -n 1 "$scratch/.output")
  if [ "$last" != "$line" ] || [ $status -ne "$wanted" ]; then
    echo "FAILED: $what: \"$last\" with status $status"
    failures=$((failures + 1))
  fi
}

slow=
total "both builds are added up" "42 passed, 0 failed" 0
total "failures are added up" "37 passed, 5 failed" 1 RELEASE=3 OTHER=2
total "a build that fails is a failure" "42 passed, 1 failed" 1 BUILD_FAILS=debug
total "a configuration that fails is a failure" "30 passed, 1 failed" 1 CONFIGURE_FAILS=debug
total "no test at all is a failure" "12 passed, 1 failed" 1 COUNT=
total "a status that contradicts the totals is a failure" "42 passed, 2 failed" 1 CTEST_STATUS=4
slow=--slow
total "the slow run covers four builds" "48 passed, 0 failed" 0
finish
