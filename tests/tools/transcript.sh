#!/bin/sh
# tests/runner/transcript tells what holds from what does not, in both kinds of
# file, and rewrites only what does not. A shell script stands in for tern.
# Arguments: the project's root, the runner.
root=$(cd "$1" && pwd)
runner=$2
. "$root/tests/tools/expect.sh"

mkdir "$scratch/bin"
cat >"$scratch/bin/tern" <<'END'
#!/bin/sh
case $1 in
  version) echo "tern 1.2.3" ;;
  both) echo out; echo err >&2; exit "${2:-0}" ;;
  lines) echo a; echo; echo '$ c'; echo d ;;
  open) printf 'no end' ;;
  hang) sleep 30 & wait ;;
  spin) while :; do :; done ;;
  crash) kill -SEGV $$ ;;
  repl) sed 's/^/read /' ;;
  check) case "$(cat)" in *bad*) echo "error[E1]"; exit 1 ;; esac ;;
  run) cat ;;
esac
END
chmod +x "$scratch/bin/tern"
patience=1
transcript() { TERN_TEST_PATIENCE=$patience "$runner" --tern "$scratch/bin/tern" --tests "$scratch" --seconds 1 "$@"; }

# holds WHAT / breaks WHAT WORDS: a .t file from standard input.
holds() { put case.t; passes "$1" transcript "$scratch/case.t"; }
breaks() { put case.t; fails "$1" "$2" transcript "$scratch/case.t"; }

holds "streams and status are compared" <<'END'
# A remark.
$ tern both 4
| out
! err
? 4

$ tern version
| tern 1.2.3
END
holds "output may look like a mark" <<'END'
$ tern lines
| a
|
| $ c
| d
END
holds "three dots stand for lines, a star for text" <<'END'
$ tern lines
| a
| ...
$ tern lines
| ...
| d
$ tern version
| tern <*>.3
END
holds "a missing newline is seen" <<'END'
$ tern open
| no end
\ no newline
END
holds "a command may have several lines, and files stay" <<'END'
$ cat > x <<'EOF'
> one
>   two
> EOF
$ cat x
| one
|   two
END
holds "every file has an empty folder, and knows where things are" <<'END'
$ ls | wc -l
| 0
$ test -x "$TERN" && test -d "$TESTS" && ls "$TESTS/case.t" >/dev/null && cat
END

breaks "other output" "+ tern 1.2.3" <<'END'
$ tern version
| tern 1.2.4
END
breaks "unexpected output" "+ tern 1.2.3" <<'END'
$ tern version
END
breaks "output that does not come" "- tern" <<'END'
$ true
| tern
END
breaks "other standard error" "+ err" <<'END'
$ tern both
| out
! error
END
breaks "another status" "wanted 0, got 4" <<'END'
$ tern both 4
| out
! err
END
breaks "a newline where none is expected" "output" <<'END'
$ tern version
| tern 1.2.3
\ no newline
END
breaks "three dots do not hide what follows them" "output" <<'END'
$ tern lines
| ...
| e
END
breaks "a star does not hide what follows it" "output" <<'END'
$ tern version
| tern <*>.4
END
breaks "a command that hangs" "did not end in time" <<'END'
$ tern hang
END
patience=600
breaks "a command that computes without end, long before the clock ends it" "did not end in time" <<'END'
$ tern spin
END
patience=1
breaks "a line without a mark" "case.t:3: expected a command" <<'END'
$ true

tern version
END
breaks "a file without a command" "no command" <<'END'
# Nothing here.
END

# Rewriting: what held stays as it was written, wildcard and all.
put case.t <<'END'
# Kept.
$ tern version
| tern <*>

$ tern both 4
| old

# And the end.
$ tern open
END
put wanted.t <<'END'
# Kept.
$ tern version
| tern <*>

$ tern both 4
| out
! err
? 4

# And the end.
$ tern open
| no end
\ no newline
END
passes "--update rewrites" transcript --update "$scratch/case.t"
passes "what differed and nothing else" cmp "$scratch/case.t" "$scratch/wanted.t"
passes "so that it holds" transcript "$scratch/case.t"

# Documents.
document_holds() { put doc.md; passes "$1" transcript "$scratch/doc.md"; }
document_breaks() { put doc.md; fails "$1" "$2" transcript "$scratch/doc.md"; }

document_holds "a document without examples is fine" <<'END'
# Title
Some `words`.
END
document_holds "sessions show both streams and any number of commands" <<'END'
```console
$ tern version
tern 1.2.3

$ tern both 1 2>&1 | cat
out
err
$ tern lines
a
...
```
END
document_holds "commands without a mark are run in order, and their output is not compared" <<'END'
```sh
tern version   # says something
echo one > made
echo 'two
lines' >> made
```
```console
$ cat made
one
two
lines
```
END
document_breaks "every one of them must succeed" "wanted 0, got 4" <<'END'
```sh
tern both 4
true
```
END
document_holds "those that are not run say why" <<'END'
<!-- not run: it takes all night -->
```sh
tern crash; false
```
<!-- needs: no-such-command -->
```sh
no-such-command; false
```
END
passes "and are listed" sh -c "'$runner' --tern '$scratch/bin/tern' '$scratch/doc.md' | grep -c -e 'doc.md:2: not run: it takes all night' \
  -e 'doc.md:6: not run: no-such-command is not installed' -e '0 differ, 2 not run' | grep -qx 3"
document_breaks "a fragment of commands must say so too" "not run: REASON" <<'END'
```sh fragment
tern version
```
END
document_breaks "what is needed and there is run" "got 1" <<'END'
<!-- needs: sh -->
```sh
false
```
END
document_breaks "a session that differs" "doc.md:4: \$ tern version" <<'END'
Text.

```sh
$ tern version
tern 0
```
END
document_breaks "a session that crashes" "got 139" <<'END'
```sh
$ exec tern crash
```
END
document_breaks "an empty block of output is one that wants no output" "+ 7" <<'END'
```ninth
7
```
```output
```
END
document_holds "what varies stands for any text, in the lines of its block" <<'END'
<!-- varies: 9.9, whenever -->
```console
$ tern version
tern 9.9
$ tern both
whenever
err
```
END
document_breaks "what varies does not hide the rest of its line" "output" <<'END'
<!-- varies: 9.9 -->
```console
$ tern version
bird 9.9
```
END
document_breaks "nor does it reach into the next block" "output" <<'END'
<!-- varies: 9.9 -->
```console
$ tern version
tern 9.9
```
```console
$ tern version
tern 9.9
```
END
document_holds "cd alone holds for what follows, and nothing else does" <<'END'
```console
$ mkdir -p a/b && cd a && ls
b
$ cd a
$ ls
b
```
```console
$ cd b
$ pwd | sed 's|.*/a|a|'
a/b
$ cd ../..
$ ls
a
```
END
document_holds "a setup is run before what follows it" <<'END'
<!-- setup: echo 7 > seven -->
```console
$ cat seven
7
```
END
document_holds "an interactive session is typed in, all of it" <<'END'
```repl mind
mind> 1 +
... 2
read 1 +
read 2
mind> x
read x
```
END
document_breaks "a session that prints something else" "+ read x" <<'END'
```repl ninth
ninth> x
stack: x
```
END
put doc.md <<'END'
```repl ninth
ninth> x
stack: x
```
END
fails "--update leaves a session to a person" "1 differ" transcript --update "$scratch/doc.md"
document_breaks "a session of no language" "repl of which language" <<'END'
```repl
> x
```
END
document_holds "programs are checked, or run where output follows" <<'END'
```mind
1 + 2
```
```ninth
7
```
It prints
```output
7
```
```ail fails
bad
```
```mind fragment
bad in every way
```
END
document_breaks "a program that is rejected" "tern check --lang mind" <<'END'
```mind
bad
```
END
document_breaks "a program that should be rejected" "wanted 1, got 0" <<'END'
```mind fails
good
```
END
document_breaks "a program whose output differs" "- 8" <<'END'
```mind
7
```
```output
8
```
END
document_breaks "output without a program" "of which program" <<'END'
```output
8
```
END
document_breaks "a block that is not closed" "never closed" <<'END'
```sh
$ true
END
document_holds "a block may become a file" <<'END'
<!-- file: data.tsv -->
```text
1	2
```
```sh
$ cat data.tsv
1	2
```
END
passes "--update rewrites documents too" transcript --update "$scratch/doc.md"
put doc.md <<'END'
```sh
$ tern version
tern 0

$ true
```
```mind
7
```
```output
8
```
END
passes "--update rewrites sessions and output" transcript --update "$scratch/doc.md"
passes "so that the document holds" transcript "$scratch/doc.md"
passes "keeping its blank lines" grep -qx '' "$scratch/doc.md"
finish
