#!/bin/sh
# No `default:` on an operation: a switch over operations, or over what the table says of them, names every
# value, and the compiler then refuses a new one. What differs by operation is in src/op/ops.def.
#
#   tools/check_operations.sh [ROOT]
set -eu
cd "${1:-.}"
find src -type f \( -name '*.c' -o -name '*.h' -o -name '*.inc' \) | LC_ALL=C sort | LC_ALL=C awk '
  function begin() { depth++; over[depth] = first[depth] = 0 }
  function end_of_switch() {
    if (over[depth] && first[depth]) {
      printf "%s:%d: a default: for operations\n", file, first[depth]
      bad++
    }
    depth--
  }
  {
    file = $0
    number = depth = braces = 0
    while ((getline line < file) > 0) {
      number++
      gsub(/"([^"\\]|\\.)*"/, "", line)
      gsub(/\/\*[^*]*\*\//, "", line)
      if (line ~ /(^|[^A-Za-z0-9_])switch *[(]/) { begin(); at[depth] = braces; found++ }
      if (depth && line ~ /case TN_(OP|KIND|FAILS|ROWS)_[A-Z]/) over[depth] = 1
      if (depth && line ~ /(^|[^A-Za-z0-9_])default *:/) first[depth] = number
      braces += gsub(/[{]/, "", line) - gsub(/[}]/, "", line)
      while (depth && braces <= at[depth]) end_of_switch()
    }
    close(file)
  }
  END {
    if (bad) exit 1
    printf "operations: %d switches, none has a default: for operations\n", found
    if (!found) exit 1
  }'
