#!/bin/sh
# clang-tidy, with the checks of .clang-tidy, finds nothing in src/ (kernels excepted, which are compiled once per
# instruction set; the module for MPI where there is MPI).
#
#   tools/check_tidy.sh [ROOT]        the sources that the last commit and the working tree change
#   tools/check_tidy.sh --all [ROOT]  every one of them, a quarter of a minute
set -eu
all=no
[ "${1:-}" != --all ] || { all=yes; shift; }
cd "${1:-.}"
mpi=$(mpicc --showme:compile 2>/dev/null || true)
left_out='/isa/'
[ -n "$mpi" ] || left_out='/isa/\|/cluster/mpi/'
sources() { find src -name '*.c' | grep -v "$left_out" | LC_ALL=C sort; }
if [ $all = no ] && git rev-parse -q --verify HEAD~1 >/dev/null 2>&1; then
  changed=$(git diff --name-only HEAD~1 -- src; git ls-files --others --exclude-standard -- src)
  files=$(sources | grep -Fx -e "$changed" || true)
else
  files=$(sources)
fi
if [ -z "$files" ]; then
  echo "tidy: no source changed"
  exit 0
fi
# shellcheck disable=SC2086
said=$(${TIDY:-clang-tidy} --quiet $files -- -std=c17 -Isrc -Iinclude -D_POSIX_C_SOURCE=200809L '-DTN_VERSION="0"' \
  $mpi 2>&1) || { printf '%s\n' "$said" | grep -v 'warnings\? generated\|^Suppressed\|^Use -header'; exit 1; }
echo "tidy: $(echo "$files" | wc -l) sources, nothing found"
