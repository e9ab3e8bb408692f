#!/bin/sh
# Includes point one way. Each folder of src/ may include itself and the folders its line names, and
# nothing else; a file that breaks the rule is printed with the line that does it.
#
#   tools/check_layers.sh [ROOT]
#
# This table is the rule. An edge is added here, with a reason in the commit, or
# not at all: what is forbidden on purpose is a front end that sees another front
# end, the optimiser, the plan or a back end; a back end that sees a language;
# and a program that sees more of the library than its public header. The one
# exception is api/door.h, for what the program keeps beside the library (track/).
#
# In lang/ a door is in the file of its name: tn_lang_mind_emit in lang/mind/emit.c;
# lang.c is the table of them and defines nothing else.
set -eu
rules='
base        :
diag        : base
tensor      : base diag
op          : base diag tensor
graph       : base diag tensor op
ad          : base diag tensor op graph
opt         : base diag tensor op graph
backend     : base diag tensor op graph
backend/ref : base diag tensor op graph backend
backend/cpu : base diag tensor op graph backend
backend/cuda : base diag tensor op graph backend
plan        : base diag tensor op graph backend backend/cuda
eager       : base diag tensor op graph ad backend
export      : base diag tensor op graph
lang        : base diag tensor op graph ad eager export
lang/ninth  : base diag tensor op graph ad eager export data lang
lang/mind   : base diag tensor op graph ad eager export data lang
lang/graph  : base diag tensor op graph ad export lang
lang/ail    : base diag tensor op graph ad eager export lang
data        : base diag tensor op graph
cluster     : base diag
train       : base diag tensor op graph ad opt plan backend backend/cuda eager export data cluster lang
guard       : base diag
api         : door base diag tensor op graph ad opt plan backend backend/ref backend/cpu backend/cuda eager export lang lang/ninth lang/mind lang/ail lang/graph data cluster train guard public
door        : base diag cluster public
track/store : base diag
track/chart : base diag export
track/board : base diag tensor data track/store
track       : base diag train door public track/store track/chart track/board
cluster/mpi : base diag cluster
launch      : base diag cluster cluster/mpi door public
cli         : public track launch
'
cd "${1:-.}"
find src -type f \( -name '*.c' -o -name '*.h' -o -name '*.def' -o -name '*.inc' \) | LC_ALL=C sort |
  awk -v rules="$rules" '
  # The room of a path below src/: the longest folder the table knows.
  function room_of(path,   folder) {
    folder = path
    while (sub(/\/[^\/]*$/, "", folder))
      if (folder in known) return folder
    return ""
  }
  function complain(text) { printf "%s:%d: %s\n", file, line_number, text; bad++ }
  function check(target,   to) {
    if (target !~ /\//) return complain("\"" target "\": includes are rooted at src/, as in \"base/arena.h\"")
    to = target ~ /^tern\// ? "public" : target == "api/door.h" ? "door" : room_of(target)
    if (to == "") return complain("\"" target "\" is in no room of the table")
    if (to != from && !((from, to) in allowed)) complain(from " may not include " to " (\"" target "\")")
  }
  # The file that has a door: that of its name, and for the small ones that of what they belong to.
  function file_of(door) {
    if (door ~ /^repl_/) return "repl"
    if (door == "drop" || door == "specs") return "unit"
    return door == "show" || door == "plan" ? "run" : door
  }
  function check_door(line,   name, room, want) {
    room = from
    sub(/^lang\//, "", room)
    match(line, /tn_lang_[a-z_]+[(]/)
    name = substr(line, RSTART, RLENGTH - 1)
    want = "src/lang/" room "/" (name == "tn_lang_" room ? "lang" : file_of(substr(name, length(room) + 10))) ".c"
    if (file != want) complain(name " belongs in " want)
  }
  BEGIN {
    count = split(rules, lines, "\n")
    for (i = 1; i <= count; i++) {
      if (split(lines[i], word, /[ :]+/) < 1 || word[1] == "") continue
      known[word[1]] = 1
      for (j = 2; word[j] != ""; j++) allowed[word[1], word[j]] = 1
      delete word
    }
  }
  {
    file = $0
    line_number = 0
    from = room_of(substr(file, 5))
    if (from == "") { complain("is in no room of the table"); next }
    while ((getline line < file) > 0) {
      line_number++
      if (from ~ /^lang\// && line ~ /^[a-z].*[ *]tn_lang_[a-z_]+[(].*[{]/) check_door(line)
      if (file ~ /^src\/lang\/[a-z]+\/lang\.c$/ && line ~ /^(static )?[a-z].*[)] [{]/ && line !~ /tn_lang_[a-z]+[(]void[)]/)
        complain("lang.c is the table of doors and defines no other function")
      if (line !~ /^[ \t]*#[ \t]*include[ \t]*["<]/) continue
      quoted = line ~ /include[ \t]*"/
      sub(/^[^"<]*["<]/, "", line)
      sub(/[">].*$/, "", line)
      if (quoted || line ~ /^tern\//) { check(line); seen++ }
    }
    close(file)
  }
  END {
    if (bad) { printf "layers: %d breach%s\n", bad, bad == 1 ? "" : "es"; exit 1 }
    printf "layers: %d includes in %d files keep the rule\n", seen, NR
    if (NR == 0) { print "layers: no source found"; exit 1 }
  }'
