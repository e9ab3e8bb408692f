#!/bin/sh
# Builds the sides of the benchmarks and runs them; bench/README.md says what comes out.
#
#   tools/bench.sh [--jobs N] [option of bench/bench.py...]
set -eu
cd "$(dirname "$0")/.."
jobs=2
if [ "${1:-}" = --jobs ]; then
  jobs=$2
  shift 2
fi
unset MAKEFLAGS MFLAGS MAKELEVEL
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
cmake --preset release -DTN_BENCH=ON --log-level=WARNING >/dev/null
cmake --build build/release --target product bench_sides --parallel "$jobs" >/dev/null
exec /usr/bin/python3 bench/bench.py "$PWD/build/release" "$@"
