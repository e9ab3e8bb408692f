#!/bin/sh
# Links in documents are valid: the file exists, and it has the heading.
#
#   tools/check_links.sh [ROOT]
#
# Addresses of the web are not tried. A heading's anchor is its text in lower case, without
# signs other than - and _, blanks turned into -.
set -eu
cd "${1:-.}"
find . \( -path ./.git -o -path ./build -o -name node_modules \) -prune -o -type f -name '*.md' -print |
  LC_ALL=C sort | LC_ALL=C awk '
  function complain(text) { printf "%s:%d: %s\n", file, number, text; bad++ }
  function read_headings(path,   line, fenced, anchor) {
    if (path in known) return
    known[path] = 1
    while ((getline line < path) > 0) {
      if (line ~ /^```/) fenced = !fenced
      if (fenced || line !~ /^#+ /) continue
      anchor = tolower(line)
      sub(/^#+ /, "", anchor)
      gsub(/[^a-z0-9 _-]/, "", anchor)
      gsub(/ /, "-", anchor)
      headings[path, anchor] = 1
    }
    close(path)
  }
  # docs/../README.md is README.md
  function plain(path) {
    while (match(path, /[^\/.][^\/]*\/\.\.\//)) path = substr(path, 1, RSTART - 1) substr(path, RSTART + RLENGTH)
    return path
  }
  function check(target,   folder, place, path) {
    if (target ~ /^[a-z]+:/) return
    seen++
    place = ""
    if (match(target, /#.*/)) { place = substr(target, RSTART + 1); target = substr(target, 1, RSTART - 1) }
    folder = match(file, /.*\//) ? substr(file, 1, RLENGTH) : ""
    path = target == "" ? file : plain(folder target)
    if (!(path in exists)) exists[path] = system("test -e \"" path "\"") == 0
    if (!exists[path]) return complain("there is no " path)
    if (place == "") return
    read_headings(path)
    if (!((path, place) in headings)) complain(path " has no heading #" place)
  }
  # The whole document first: a link may lead into the document itself, which is read for that.
  {
    file = substr($0, 3)
    count = fenced = 0
    while ((getline line < file) > 0) lines[++count] = line
    close(file)
    for (number = 1; number <= count; number++) {
      line = lines[number]
      if (line ~ /^```/) fenced = !fenced
      if (fenced) continue
      gsub(/`[^`]*`/, "", line)
      while (match(line, /\]\([^) ]+\)/)) {
        target = substr(line, RSTART + 2, RLENGTH - 3)
        line = substr(line, RSTART + RLENGTH)
        check(target)
      }
    }
  }
  END {
    if (bad) { printf "links: %d lead nowhere\n", bad; exit 1 }
    printf "links: %d in %d documents\n", seen, NR
    if (seen == 0) exit 1
  }'
