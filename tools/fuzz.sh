#!/bin/sh
# Lets every target of fuzz/ search for new inputs, as many of them at a time as there are jobs.
#
#   tools/fuzz.sh [--seconds N] [--jobs N] [TARGET...]
#   tools/fuzz.sh --search TARGET N    one target that is built, for N seconds: what the other form calls
#
# An input that a target fails on is put beside the kept inputs, as fuzz/corpus/TARGET/crash-...,
# where `make test` replays it from then on; so keep it when the bug is fixed. Inputs that only
# widened the search stay in build/fuzz/found. Status 1 when anything was found.
set -u

seconds=60
jobs=2
usage() {
  echo "usage: tools/fuzz.sh [--seconds N] [--jobs N] [TARGET...]" >&2
  exit 2
}

build() {
  unset MAKEFLAGS MFLAGS MAKELEVEL
  cmake --preset fuzz --log-level=WARNING >/dev/null || exit 2
  cmake --build build/fuzz --target fuzz --parallel "$jobs" >build/fuzz/build.log 2>&1 || {
    grep -E -A6 'error|warning' build/fuzz/build.log | head -n 40
    exit 2
  }
}

search() {
  target=$1
  program=build/fuzz/fuzz/fuzz_$target
  [ -x "$program" ] || { echo "there is no target $target" >&2; exit 2; }
  found=build/fuzz/found/$target
  mkdir -p "$found" "fuzz/corpus/$target"
  log=build/fuzz/$target.log
  # The first folder takes what is new; the others are only read.
  nice "$program" -max_total_time="$2" -timeout=25 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="fuzz/corpus/$target/" "$found" $(cat "build/fuzz/fuzz/$target.seeds") >"$log" 2>&1
  status=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  if [ $status -eq 0 ]; then
    echo "$target: $runs runs in ${2}s, nothing found"
    exit 0
  fi
  echo "$target: FOUND SOMETHING after ${runs:-?} runs ($log)"
  grep -m3 -E 'this should hold|ERROR: |runtime error' "$log"
  exit 1
}

cd "$(dirname "$0")/.." || exit 2
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=$2; shift 2 ;;
    --jobs) jobs=$2; shift 2 ;;
    --search) [ $# -eq 3 ] || usage; search "$2" "$3" ;;
    -*) usage ;;
    *) break ;;
  esac
done

build
[ $# -gt 0 ] || set -- $(cd build/fuzz/fuzz && ls *.seeds | sed 's/\.seeds$//')
printf '%s\n' "$@" | xargs -P "$jobs" -I TARGET sh tools/fuzz.sh --search TARGET "$seconds" || exit 1
