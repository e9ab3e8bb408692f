#!/bin/sh
# On a machine with an NVIDIA GPU: every operation on it beside ref, and the programs of tests/bits.
#
#   tools/test_gpu.sh        after `make`; builds test_card in build/release
set -eu
cd "$(dirname "$0")/.."
build/tern eval '1' --device cuda >/dev/null || exit 1
cmake --preset release >/dev/null
cmake --build build/release --target test_card >/dev/null
TERN_TEST_CARD=1 build/release/tests/test_card
TERN_DEVICE=cuda tools/test_bits.sh once resume
