#!/bin/sh
# How lines look: at most 110 columns, in the prose of documents 100, no tabs, no blanks at the end. Scripts need
# only the last; so do code, tables, headings and comments in documents, and a line without a blank to break it at.
# A source that begins with a path begins with its own.
#
#   tools/check_layout.sh [ROOT]
set -eu
cd "${1:-.}"
find . \( -path ./.git -o -path ./build -o -name node_modules \) -prune -o -type f \
  \( -name '*.c' -o -name '*.h' -o -name '*.def' -o -name '*.inc' -o -name '*.sh' -o -name '*.cmake' \
  -o -name 'CMakeLists.txt' -o -name '*.md' \) -print | LC_ALL=C sort | LC_ALL=C awk '
  function complain(text) { printf "%s:%d: %s\n", file, number, text; bad++ }
  # A link or a piece of code counts as one word.
  function check_prose(line) {
    if (line ~ /^ *```/) { fenced = !fenced; return }
    if (fenced || line ~ /^ *([|#]|<!--|!\[)/) return
    gsub(/[\200-\277]/, "", line)
    if (length(line) <= 100) return
    gsub(/`[^`]*`/, "x", line)
    sub(/^ *(- |[0-9]+[.] )?/, "", line)
    if (line ~ / /) complain("prose longer than 100 columns")
  }
  {
    file = substr($0, 3)
    number = 0
    wide = file ~ /\.(md|sh)$/
    fenced = 0
    while ((getline line < file) > 0) {
      number++
      if (number == 1 && file ~ /^src\// && line ~ /^\/\* [a-z0-9_\/]+\.(c|h|def|inc)[: ]/ &&
          index(line, "/* " substr(file, 5) ":") != 1)
        complain("the first line names another file")
      if (line ~ /\r/) complain("a carriage return")
      if (line ~ /[ \t\r]$/) complain("blanks at the end of the line")
      if (file ~ /\.md$/) check_prose(line)
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
