#!/bin/sh
# No function recurses without a bound: every cycle of calls in src/ contains a function that checks
# the stack (tn_stack_room and the like; parsers check where they enter a bracket) or whose comment
# says how deep it gets:
#   /* recursion: TN_RANK_LIMIT deep. */
#
# The sources are read as text. A call is an edge, and so is naming a function of the same file without a
# call: passing a callback, or a table of functions, counts as calling it. What it does not see is a
# function of another file that is only reached through a pointer.
#
#   tools/check_recursion.sh [ROOT]
set -eu
cd "${1:-.}"

find src -name '*.[ch]' | LC_ALL=C sort | xargs awk '
# Comments and strings hold no calls.
function bare(line,   text, at) {
  text = ""
  while (line != "") {
    if (inside) {
      at = index(line, "*/")
      if (!at) return text
      line = substr(line, at + 2)
      inside = 0
    }
    if (!match(line, /\/\*|\/\/|"([^"\\]|\\.)*"|\047([^\047\\]|\\.)*\047/)) return text line
    text = text substr(line, 1, RSTART - 1) " "
    if (substr(line, RSTART, 2) == "//") return text
    inside = substr(line, RSTART, 2) == "/*"
    line = substr(line, RSTART + RLENGTH)
  }
  return text
}

function begin(name) {
  current = FILENAME ":" name
  file_of[current] = FILENAME
  local[FILENAME, name] = current
  anywhere[name] = anywhere[name] " " current
  if (documented) bounded[current] = 1
  if (current in body) return   # the same function for another machine
  body[current] = ""
  order[++count] = current
}

FNR == 1 { current = ""; signature = ""; documented = 0; inside = 0; in_macro = 0; depth = 0 }

{
  if ($0 ~ /recursion: /) documented = 1
  line = bare($0)
  while (match(line, /OF\([A-Za-z_0-9]+\)/))   # a name that is made for several types
    line = substr(line, 1, RSTART - 1) substr(line, RSTART + 3, RLENGTH - 4) substr(line, RSTART + RLENGTH)
  if (line ~ /^[ \t]*$/) { if (!inside && $0 ~ /^[ \t]*$/ && !current) documented = 0; next }
  if (line ~ /^#/ || in_macro) { in_macro = line ~ /\\$/; next }
  if (current == "" && line ~ /^[A-Za-z_]/) signature = ""
  if (current == "") {
    signature = signature " " line
    if (line ~ /;[ \t]*$/ && line !~ /\{/) { signature = ""; documented = 0; next }
    if (line !~ /\{/) next
    head = signature
    sub(/\{.*/, "", head)
    is_function = head ~ /\)[ \t]*$/ && head !~ /=/
    if (is_function) {
      match(head, /[A-Za-z_][A-Za-z_0-9]*[ ]*\(/)
      while (RSTART && substr(head, RSTART, RLENGTH) ~ /^(__attribute__|_Alignas|sizeof)/) {
        head = substr(head, RSTART + RLENGTH)
        match(head, /[A-Za-z_][A-Za-z_0-9]*[ ]*\(/)
      }
      name = substr(head, RSTART, RLENGTH)
      sub(/[ ]*\($/, "", name)
    } else {
      sub(/=.*/, "", head)
      sub(/\[.*/, "", head)
      name = match(head, /[A-Za-z_][A-Za-z_0-9]*[ ]*$/) ? substr(head, RSTART, RLENGTH) : ""
      sub(/ *$/, "", name)
    }
    if (name == "" || head ~ /^ *(typedef|enum|struct|union)/ && !is_function) name = "-"
    begin(name)
    head_of[current] = signature
    documented = 0
    line = signature
    sub(/^[^{]*/, "", line)
    signature = ""
    depth = 0
  }
  body[current] = body[current] " " line
  opened = gsub(/\{/, "{", line)
  closed = gsub(/\}/, "}", line)
  depth += opened - closed
  if (depth <= 0) current = ""
}

function add(from, name,   list, many, i) {
  if ((file_of[from], name) in local) { link(from, local[file_of[from], name]); return }
  many = split(anywhere[name], list, " ")
  for (i = 1; i <= many; i++) if (name ~ /^(tn|tern)_/ || list[i] ~ /\.h:/) link(from, list[i])
}
# A variable or parameter may have the name of a function.
function declares(text, name) {
  gsub(/[^A-Za-z_0-9](return|else|case) /, " ( ", text)
  return text ~ ("[A-Za-z_0-9*]( |[*])[*]*" name " *[]=;,)\\[]")
}
function link(from, to) {
  if (!((from, to) in edge)) { edge[from, to] = 1; out[from] = out[from] " " to }
}

END {
  for (i = 1; i <= count; i++) {
    from = order[i]
    text = body[from]
    if (text ~ /tn_(stack|arena|text|mind)_room|[^a-z_](tn_ail_enter|tn_mind_enter|tn_mind_open|enter|open_bracket)\(/) bounded[from] = 1
    if (from ~ /\.h:tn_[a-z]+_room$/) bounded[from] = 1
    while (match(text, /(->|\.)?[A-Za-z_][A-Za-z_0-9]*[ ]*\(?/)) {
      word = substr(text, RSTART, RLENGTH)
      text = substr(text, RSTART + RLENGTH)
      if (word ~ /^(->|\.)/) continue
      called = sub(/[ ]*\($/, "", word)
      if (!(word in anywhere)) continue
      if (called) add(from, word)
      else if ((file_of[from], word) in local && !declares(head_of[from] body[from], word)) add(from, word)
    }
  }
  # What neither asks nor is bounded must have no cycle: take away what calls nothing that is left, and
  # what nothing that is left calls, until nothing changes.
  left = 0
  for (i = 1; i <= count; i++) if (!(order[i] in bounded)) { stays[order[i]] = 1; left++ }
  do {
    before = left
    for (at in called_by) delete called_by[at]
    for (i = 1; i <= count; i++) {
      from = order[i]
      if (!(from in stays)) continue
      many = split(out[from], list, " ")
      calls = 0
      for (k = 1; k <= many; k++) if (list[k] in stays) { calls++; called_by[list[k]] = 1 }
      if (!calls) { delete stays[from]; left-- }
    }
    for (i = 1; i <= count; i++)
      if (order[i] in stays && !(order[i] in called_by)) { delete stays[order[i]]; left-- }
  } while (left < before)
  for (i = 1; i <= count; i++) {
    from = order[i]
    if (!(from in stays)) continue
    many = split(out[from], list, " ")
    line = from " ->"
    for (k = 1; k <= many; k++) if (list[k] in stays) line = line " " list[k]
    print line
  }
  asked = 0
  for (at in bounded) asked++
  print "recursion: " count " functions and tables, " asked " ask for stack or state their depth"
  exit left > 0
}'
