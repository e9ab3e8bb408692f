#!/bin/sh
# How much of the code the tests cover: builds with clang's counters, runs every test but the slow
# ones (plus the slow one that fails each allocation), and prints a table by folder of src/: lines,
# branches, and conditions shown to decide on their own (MC/DC).
#
#   tools/coverage.sh [--jobs N]         build, run, print
#   tools/coverage.sh --report           print again what was counted last
#   tools/coverage.sh --missed PATH...   the lines of these sources with branches that no test takes
#
# A branch is one way out of a condition, so `if (!arena) return false;` has two. Status 1 when a test failed.
set -u
cd "$(dirname "$0")/.." || exit 1
jobs=2
job=run
while [ $# -gt 0 ]; do
  case $1 in
    --jobs) jobs=$2; shift 2 ;;
    --report) job=report; shift ;;
    --missed) job=missed; shift; break ;;
    *) echo "usage: tools/coverage.sh [--jobs N] [--report | --missed PATH...]" >&2; exit 2 ;;
  esac
done

folder=build/coverage
log=$folder/tests
merged=$folder/counts.profdata
failed=0

count() {
  unset MAKEFLAGS MFLAGS MAKELEVEL
  cmake --preset coverage --log-level=WARNING >/dev/null || exit 1
  cmake --build $folder --parallel "$jobs" >$folder/build.log 2>&1 || {
    grep -E -A6 'error|warning' $folder/build.log | head -n 40
    exit 1
  }
  rm -rf $folder/counts
  for preset in coverage coverage-slow; do
    ctest --preset $preset --parallel "$jobs" >$log.$preset 2>&1 || {
      failed=1
      grep -E 'Failed|tests failed' $log.$preset
    }
  done
  llvm-profdata-19 merge -sparse $folder/counts/*.profraw -o $merged || exit 1
}

# Every program that counted: the first is the one llvm-cov names, the others are objects.
programs() {
  printf '%s' $folder/tern
  for program in $folder/tests/test_*; do
    [ ! -x "$program" ] || printf ' -object %s' "$program"
  done
}

# Columns of `llvm-cov report`: file, then regions, functions, lines, branches and conditions, each as
# number, missed, share.
table() {
  # shellcheck disable=SC2046  # words, not one word
  llvm-cov-19 report $(programs) -instr-profile=$merged -show-mcdc-summary -show-branch-summary src/ 2>/dev/null |
    awk '
      function share(all, missed) { return all ? sprintf("%.1f%%", 100 * (all - missed) / all) : "–" }
      function row(name, key) {
        printf "| %s | %d | %s | %d | %s | %d | %s |\n", name, lines[key], share(lines[key], lines_missed[key]),
          branches[key], share(branches[key], branches_missed[key]),
          conditions[key], share(conditions[key], conditions_missed[key])
      }
      function add(key) {
        lines[key] += $8; lines_missed[key] += $9
        branches[key] += $11; branches_missed[key] += $12
        conditions[key] += $14; conditions_missed[key] += $15
      }
      NF == 16 && $1 ~ /\.[ch]$/ {
        file = $1
        sub(/^.*src\//, "", file)
        n = split(file, part, "/")
        room = part[1] (part[1] == "lang" && n > 2 ? "/" part[2] : "")
        if (!(room in lines)) order[++rooms] = room
        add(room); add("all")
      }
      END {
        print "| src/ | lines | taken | branches | taken | conditions | decide alone |"
        print "|---|---|---|---|---|---|---|"
        for (i = 1; i <= rooms; i++) row(order[i], order[i])
        row("all", "all")
        exit rooms == 0
      }'
}

missed() {
  # shellcheck disable=SC2046
  llvm-cov-19 show $(programs) -instr-profile=$merged -show-branches=count -use-color=false "$@" 2>/dev/null |
    awk '
      /^\/.*:$/ { file = $0; sub(/:$/, "", file); sub(/^.*src\//, "src/", file); next }
      /^ *[0-9]+\| *[0-9.kM]*\|/ { line = $0; next }
      /Branch \(/ && /(True|False): 0[],]/ {
        if (line != shown) { print file ":" line; shown = line }
        sub(/^[ |]*/, ""); print "      " $0
      }'
}

[ "$job" = run ] || [ -f $merged ] || { echo "nothing was counted yet: make coverage" >&2; exit 1; }
case $job in
  run) count; table ;;
  report) table ;;
  missed) missed "$@" ;;
esac
exit $failed
