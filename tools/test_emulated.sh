#!/bin/sh
# The tests on a machine that is not here: cross-compiled, and run by qemu's user emulation.
#
#   tools/test_emulated.sh [--jobs N] MACHINE             every C test, and the programs of the languages, but
#                                                         those that are granted folders: qemu finds none
#   tools/test_emulated.sh [--jobs N] MACHINE TEST...     these C tests only: kernels base_number ...
#
# MACHINE is aarch64, riscv64 or s390x. The judge of the programs (langtest) runs here, out of
# build/release; the tern it judges runs there.
set -u
cd "$(dirname "$0")/.." || exit 1

jobs=2
if [ "${1:-}" = --jobs ]; then
  jobs=$2
  shift 2
fi
machine=${1:?usage: tools/test_emulated.sh [--jobs N] MACHINE [TEST...]}
shift
folder=build/$machine
emulator="qemu-$machine -L /usr/$machine-linux-gnu"

targets=tern
for name in "$@"; do targets="$targets test_$name"; done
[ $# -gt 0 ] || targets=all
mkdir -p "$folder"
# shellcheck disable=SC2086  # words, not one word
if ! { cmake --preset "$machine" --log-level=WARNING &&
  cmake --build "$folder" --parallel "$jobs" --target $targets; } >"$folder/build.log" 2>&1; then
  grep -E -A4 'error|Error ' "$folder/build.log" | head -n 40
  exit 1
fi

export TERN_TEST_EFFORT=small
if [ $# -gt 0 ]; then
  for name in "$@"; do
    echo "== $machine: $name"
    $emulator "$folder/tests/test_$name" >"$folder/test.log" 2>&1 || { tail -n 20 "$folder/test.log"; exit 1; }
    tail -n 1 "$folder/test.log"
  done
  exit 0
fi

failed=0
ctest --preset "$machine" --parallel "$jobs" || failed=1
printf '#!/bin/sh\nexec %s "%s/tern" "$@"\n' "$emulator" "$PWD/$folder" >"$folder/tern.sh"
chmod +x "$folder/tern.sh"
for language in ninth mind ail; do
  [ -d tests/$language ] || continue
  echo "== $machine: programs in tests/$language"
  set -- "tests/$language"/*
  for path in "$@"; do
    shift
    [ "${path##*/}" = effects ] || set -- "$@" "$path"
  done
  build/release/tests/langtest --tern "$PWD/$folder/tern.sh" --tests "$PWD/tests" "$@" || failed=1
done
exit $failed
