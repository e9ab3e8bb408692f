#!/bin/sh
# All writing of files goes through base/file.h: no other code under src/ may open a file for writing,
# create, rename, truncate or remove one. Whatever else opens a file is listed here, with the
# reason.
#
#   tools/check_writes.sh [ROOT]
set -eu
code_of=$(cat "$(dirname "$0")/code_of.awk")
cd "${1:-.}"

# FILE | CALL | WHY. Every entry must still be needed.
allowed='
src/base/machine.c        | open            | reads files of the kernel under /proc and /sys
src/base/pool.c           | syscall         | futex has no function in the C library
src/base/folder.c         | unlink          | removes what a name in a folder is, without following a link
src/guard/landlock.c      | open            | O_PATH: names a path to the kernel, without opening what is there
src/guard/landlock.c      | syscall         | Landlock has no functions in the C library
src/guard/calls.c         | syscall         | neither has seccomp
src/guard/calls.c         | O_CREAT         | tells the kernel which flags it refuses
src/guard/calls.c         | O_TRUNC         | the same
src/guard/calls.c         | O_TMPFILE       | the same
src/cluster/window.c      | ftruncate       | the size of a file in memory, which has no name
src/launch/processes.c    | syscall         | pidfds have no functions in older C libraries
src/cluster/neighbours.c  | syscall         | the same
src/cluster/neighbours.c  | open            | reads a file of the kernel under /proc
src/track/store/store.c   | tn_sqlite.open_v2 | the history of runs is a database
src/cli/new.c             | mkdir           | fails if the folder exists, whatever it is
src/cli/line.c            | mkdir           | the folder of the history of lines
src/cli/doctor.c          | fopen           | reads /proc/cpuinfo
src/train/folder.c        | write_history   | a function of its own, not that of libedit
'
family='^src/base/file[a-z_]*[.][ch]$'

find src -type f \( -name '*.c' -o -name '*.h' -o -name '*.inc' -o -name '*.def' \) | LC_ALL=C sort |
  awk -v allowed="$allowed" -v family="$family" "$code_of"'
  # Every name of the list in a line, where it is not part of another name or a member of something.
  function search(line, pattern, with_call,   rest, at, word, before, after) {
    rest = line
    at = 0
    while (match(rest, pattern)) {
      word = substr(rest, RSTART, RLENGTH)
      before = RSTART > 1 ? substr(rest, RSTART - 1, 1) : " "
      after = substr(rest, RSTART + RLENGTH)
      if (before !~ /[A-Za-z0-9_.>]/ && after !~ /^[A-Za-z0-9_]/ && (!with_call || after ~ /^ *[(]/)) found(word)
      rest = before !~ /[A-Za-z0-9_]/ && after !~ /^[A-Za-z0-9_]/ ? after : substr(rest, RSTART + 1)
    }
  }
  function found(word) {
    if (static_definition) return
    if ((file, word) in why) { used[file, word] = 1; return }
    printf "%s:%d: %s: files are written through base/file.h\n    %s\n", file, number, word, original
    bad++
  }
  BEGIN {
    count = split(allowed, entry, "\n")
    for (i = 1; i <= count; i++) {
      if (split(entry[i], part, / *[|] */) != 3) continue
      why[part[1], part[2]] = part[3]
    }
    calls = "(open|openat|openat2|open64|openat64|creat|creat64|fopen|fopen64|fdopen|freopen|mkstemp|mkstemps|" \
            "mkostemp|mkdtemp|mktemp|tmpfile|tmpnam|rename|renameat|renameat2|link|linkat|symlink|symlinkat|" \
            "unlink|unlinkat|remove|rmdir|mkdir|mkdirat|mkfifo|mkfifoat|mknod|mknodat|truncate|ftruncate|" \
            "fallocate|posix_fallocate|copy_file_range|chmod|fchmod|fchmodat|chown|lchown|fchown|fchownat|" \
            "pwrite|pwritev|sqlite3_open|sqlite3_open16|sqlite3_open_v2|tn_sqlite[.]open_v2|write_history|append_history|" \
            "history_truncate_file|shm_open|syscall)"
    flags = "O_(CREAT|WRONLY|RDWR|TRUNC|APPEND|TMPFILE)"
  }
  {
    file = $0
    if (file ~ family) { whole = 1; next }
    number = in_comment = 0
    while ((getline original < file) > 0) {
      number++
      line = code_of(original)
      static_definition = line ~ /^static /   # a function of that name, not a call
      search(line, calls, 1)
      static_definition = 0
      search(line, flags, 0)
    }
    close(file)
    files++
  }
  END {
    for (key in why) {
      split(key, part, SUBSEP)
      if (!(key in used) && whole) {
        printf "%s: %s is allowed, but it is not there any more\n", part[1], part[2]
        bad++
      }
    }
    if (!bad) printf "writes: %d files, none writes a file but through base/file.h\n", files
    exit bad > 0
  }'
