#!/bin/sh
# The whole collection of attacks, one line of figures each; docs/security.md quotes them.
#
#   tools/attack.sh [--jobs N] [--seed S] [--inputs N] [--sanitized N] [--depth N] [PART...]
#
# Parts (all, if none is named):
#   inputs      mutated programs, sessions, data, weights, arrays, run folders and command lines
#   sanitized   the same under the address and undefined-behaviour sanitizers
#   depth       programs of nested constructs on small stacks
#   guard       system calls that try to leave the sandbox, and programs that break its promises
#   kill        trainings that are killed at random moments and resumed
#
# What tern does not survive is kept in build/attack/PART. Status 1 when anything was found.
set -u

jobs=2 seed=1 inputs=200000 sanitized=50000 depth=1000
usage() {
  sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

cd "$(dirname "$0")/.." || exit 2
while [ $# -gt 0 ]; do
  case $1 in
    --jobs | --seed | --inputs | --sanitized | --depth)
      [ $# -gt 1 ] || usage
      eval "${1#--}=\$2"
      shift 2
      ;;
    -*) usage ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || set -- inputs sanitized depth guard kill

unset MAKEFLAGS MFLAGS MAKELEVEL
[ -n "${TMPDIR:-}" ] || [ ! -w /dev/shm ] || export TMPDIR=/dev/shm # a disk would be waited for at each sync
failed=0

build() { # build PRESET TARGET...
  preset=$1
  shift
  cmake --preset "$preset" --log-level=WARNING >/dev/null || exit 2
  cmake --build "build/$preset" --parallel "$jobs" --target "$@" >"build/$preset/build.log" 2>&1 || {
    grep -E -A6 'error|warning' "build/$preset/build.log" | head -n 40
    exit 2
  }
}

mutated() { # mutated PART PRESET COUNT
  build "$2" attack tern
  "build/$2/tests/attack" --tern "build/$2/tern" --root . --count "$3" --seed "$seed" --jobs "$jobs" \
    --keep "build/attack/$1" || failed=1
}

for part in "$@"; do
  echo "== $part"
  case $part in
    inputs) mutated inputs release "$inputs" ;;
    sanitized)
      export ASAN_OPTIONS="${ASAN_OPTIONS:-exitcode=99}" UBSAN_OPTIONS="${UBSAN_OPTIONS:-halt_on_error=1:exitcode=99}"
      mutated sanitized debug "$sanitized"
      ;;
    depth)
      build release depth tern
      build/release/tests/depth --tern build/release/tern --count "$depth" --seed "$seed" --jobs "$jobs" \
        --keep build/attack/depth || failed=1
      ;;
    guard)
      build release test_escape without tern
      mkdir -p build/attack
      build/release/tests/test_escape >build/attack/escape.log || failed=1
      grep -E '^(without|guard|planted|layers)' build/attack/escape.log
      python3 tests/guard/promises.py build/release/tern || failed=1
      sh tests/guard/sandbox.sh "$PWD/build/release/tern" "$PWD/build/release/tests/without" || failed=1
      ;;
    kill)
      build release survive fault_shim tern
      for what in "kill 1000" "stop 200"; do
        # shellcheck disable=SC2086
        build/release/tests/survive "$PWD/build/release/tern" "$PWD/build/release/tests/libfault_shim.so" $what || failed=1
      done
      ;;
    *) usage ;;
  esac
done
exit $failed
