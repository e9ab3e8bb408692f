#!/bin/sh
# Every header compiles alone, as C17 without a warning; the public ones as C++ too. A file that is
# included in the middle of another is not a header: it is named .def, .inc or .inc.h.
#
#   tools/check_headers.sh [ROOT]      CC and CXX name the compilers
set -eu
cd "${1:-.}"
cc=${CC:-cc}
cxx=${CXX:-c++}
warnings='-Wall -Wextra -Wpedantic -Werror'
checked=0
bad=0

# try NAME COMMAND...: one compilation that must succeed and say nothing.
try() {
  name=$1
  shift
  checked=$((checked + 1))
  if ! output=$(echo "#include \"$name\"" | "$@" -fsyntax-only - 2>&1); then
    printf '%s does not compile alone:\n%s\n' "$name" "$output"
    bad=$((bad + 1))
  fi
}

# A kernel header may name its instruction set; portable stands for all of them.
for path in $(find src -name '*.h' ! -name '*.inc.h' | LC_ALL=C sort); do
  try "${path#src/}" "$cc" -x c -std=c17 $warnings -D_POSIX_C_SOURCE=200809L \
    -DTN_ISA=portable -DTN_ISA_PORTABLE=1 -Isrc -Iinclude
done
for path in $(find include -name '*.h' 2>/dev/null | LC_ALL=C sort); do
  try "${path#include/}" "$cc" -x c -std=c17 $warnings -Iinclude
  try "${path#include/}" "$cxx" -x c++ -std=c++17 $warnings -Iinclude
done

echo "headers: $checked compilations, $bad failed"
[ $bad -eq 0 ] && [ $checked -gt 0 ]
