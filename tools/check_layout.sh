#!/bin/sh
# How lines look: at most 110 columns, no tabs, nothing behind the last character.
# Documents and scripts need only the last: prose and tables are as wide as they are.
#
#   tools/check_layout.sh [ROOT]
set -eu
cd "${1:-.}"
find . \( -path ./.git -o -path ./build -o -name node_modules \) -prune -o -type f \
  \( -name '*.c' -o -name '*.h' -o -name '*.def' -o -name '*.inc' -o -name '*.sh' -o -name '*.cmake' \
  -o -name 'CMakeLists.txt' -o -name '*.md' \) -print | LC_ALL=C sort | LC_ALL=C awk '
  function complain(text) { printf "%s:%d: %s\n", file, number, text; bad++ }
  {
    file = substr($0, 3)
    number = 0
    wide = file ~ /\.(md|sh)$/
    while ((getline line < file) > 0) {
      number++
      if (line ~ /\r/) complain("a carriage return")
      if (line ~ /[ \t\r]$/) complain("blanks at the end of the line")
      if (wide) continue
      if (line ~ /\t/) complain("a tab")
      gsub(/[\200-\277]/, "", line)   # the further bytes of a UTF-8 character
      if (length(line) > 110) complain("longer than 110 columns")
    }
    close(file)
  }
  END {
    if (bad) { printf "layout: %d lines\n", bad; exit 1 }
    printf "layout: %d files\n", NR
    if (NR == 0) exit 1
  }'
