#!/bin/sh
# Refuses words in the sources, each with the reason.
#
#   tools/check_words.sh [ROOT]
#
# Library code, which is everything in src/ but src/cli/, is searched without its
# comments and strings. Notes for later, paths of somebody's machine, and turns of phrase that
# no reader would search for are looked for in every file of the project; for the last, the reason
# is what to write instead.
set -eu
code_of=$(cat "$(dirname "$0")/code_of.awk")
cd "${1:-.}"

# FILES | PATTERN | WHY. FILES: `library`, `allocators` (library but base/heap.c),
# `text` (every file, comments included), `prose` (the same without fuzz/corpus). Patterns are matched after anything
# that is not part of a name; some are split by "~" so that this file passes.
rules='
library    | (exit|_exit|_Exit|quick_exit|abort|atexit)[ ]*[(]           | the library returns, it never ends its host
library    | (f|d|s|sn|vf|v|vs|vsn|as|vas)?printf[ ]*[(]                 | the library does not print; base/text.h puts text together
library    | (puts|fputs|putchar|fputc|perror|fopen|fdopen|fwrite|fread)[ ]*[(] | no stdio below src/cli
library    | FILE[ ]*[*]                                                 | no stdio below src/cli
library    | #[ ]*include[ ]*<(stdio|locale|setjmp|wchar|wctype)[.]h>           | no stdio, locale or longjmp below src/cli
library    | (setjmp|longjmp|setlocale)[ ]*[(]                           | no jumps past cleanup, no locale
library    | (strtod|strtof|strtold|atof|atoi|atol)[ ]*[(]               | depends on the locale or cannot fail; base/ has its own
library    | (rand|srand|random|drand48)[ ]*[(]                          | there is one generator, base/rng.h
allocators | (malloc|calloc|realloc|free|strdup|strndup|aligned_alloc|posix_memalign)[ ]*[(] | memory comes through base/heap.h
text       | (TO~DO|FIX~ME|XX~X|HA~CK)[^A-Za-z0-9_]                      | plan it in an issue, not in the source
text       | /(wo~rk|ro~ot|ho~me)/[a-z]                                  | a path of one machine
prose      | (gone|goes|going|go) o~n (with|from)[^a-z]                  | resumed, resumes; continues
prose      | (make|makes|made) (a|the) run ag~ain                        | reproduce, repeat
prose      | fores~ee(s|n)?[^a-z]                                        | predicts
prose      | chang(e|es|ed) pla~ces with                                 | is swapped with
prose      | turned ov~er                                                | transposed
prose      | products? of (square )?mat~rices                            | matrix product, matmul
prose      | to become sm~all                                            | to minimise
prose      | for wh~o [a-z]                                              | for anyone who, for callers that
prose      | [Ww]hat does not f~it[^a-z]                                 | a mismatch: say of what
prose      | (is )?spe~lt out[^a-z]                                      | written out
prose      | needs 1 it~ems                                              | needs 1 item
prose      | (it|that|this) is no te~xt                                  | it is a binary file
prose      | (steps|bytes|rows|lines|samples|times) a sec~ond            | per second
prose      | for ev~er[^a-z]                                             | forever
prose      | [Mm]emory is asked f~or                                     | memory is allocated
prose      | thousand mil~lion                                           | a billion
prose      | belongs? in~to[^a-z]                                        | belongs in
prose      | clock on the wa~ll                                          | wall clock
prose      | can~not be had                                              | is not available, memory runs out
prose      | tak(e|en|es) up ag~ain                                      | resume
prose      | in long ha~nd                                               | written out
prose      | can no~t[^a-z]                                              | cannot
prose      | by any wa~y[^a-z]                                           | directly or through others
prose      | one li~ke any other                                         | an ordinary one
prose      | (is|are) there tw~ice                                       | exists twice, holds twice
prose      | took al~ong                                                 | held, had
prose      | joined by poi~nts                                           | joined by dots
prose      | in sil~ence[^a-z]                                           | silently
prose      | each other in a cir~cle                                     | in a cycle
prose      | by way o~f[^a-z]                                            | through
prose      | that wh~ich[^a-z]                                           | what, the one that
prose      | ane~w[^a-z_]                                                | again, from scratch; overwrites
prose      | what the fi~les of                                          | shared by the files of
prose      | (is|are) there alrea~dy                                     | exists, already exists
prose      | (is|are|be) made ag~ain[^a-z]                               | repeated, recomputed, reproduced
prose      | that (is|are) no~ne[,.:;")]                                 | invalid, unknown: say what it is not
prose      | stands? in for each oth~er                                  | are interchangeable
prose      | in the words of the lan~guage                               | with the codes of the language
prose      | gradients? by (ev~ery|al~l|nam~es)[^a-z]                    | with respect to
prose      | [Oo]ne (number|item|line|row|value|object) a (cla~ss|st~ep|li~ne|ro~w|poi~nt) | per class, per step, per line
'
find . \( -path ./.git -o -path ./build -o -name node_modules \) -prune -o -type f -print |
  LC_ALL=C sort | awk -v rules="$rules" "$code_of"'
  # A method call (heap->free) is not the function of that name.
  function found(line, pattern) { return (" " line " ") ~ ("[^A-Za-z0-9_.>]" pattern) }
  function search(kind, line,   i) {
    if (!found(line, any[kind])) return
    for (i = 1; i <= count; i++)
      if (files[i] == kind && found(line, patterns[i])) {
        printf "%s:%d: %s\n    %s\n", file, number, whys[i], original
        bad++
      }
  }
  BEGIN {
    lines = split(rules, rule, "\n")
    for (i = 1; i <= lines; i++) {
      # Split at the first and the last bar: a pattern has bars of its own.
      if (!match(rule[i], /^[a-z]+ *[|] /)) continue
      files[++count] = rule[i]
      sub(/ .*/, "", files[count])
      patterns[count] = substr(rule[i], RLENGTH + 1)
      whys[count] = patterns[count]
      sub(/^.* [|] /, "", whys[count])
      sub(/ +[|] [^|]*$/, "", patterns[count])
      gsub(/~/, "", patterns[count])
      any[files[count]] = any[files[count]] (any[files[count]] == "" ? "" : "|") patterns[count]
    }
    for (kind in any) any[kind] = "(" any[kind] ")"   # most lines meet none of them
  }
  /\.(png|npy|safetensors|bin|onnx)$/ { next }
  {
    file = substr($0, 3)
    number = 0
    in_comment = 0
    library = file ~ /^src\/.*\.(c|h|def|inc)$/ && file !~ /^src\/cli\//
    while ((getline line < file) > 0) {
      number++
      original = line
      search("text", line)
      if (file !~ /^fuzz\/corpus\//) search("prose", line)
      if (!library) continue
      code = line ~ /^[ \t]*#[ \t]*include/ ? line : code_of(line)
      search("library", code)
      if (file != "src/base/heap.c") search("allocators", code)
    }
    close(file)
  }
  END {
    if (bad) { printf "words: %d found\n", bad; exit 1 }
    printf "words: %d files, %d rules, nothing found\n", NR, count
    if (NR == 0 || count == 0) exit 1
  }'
