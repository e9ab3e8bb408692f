# Files of another format than their name says, or that cannot be read or written: one clear message, the right status.
$ cat > model.ail <<'END'
> model {
>   x [B, 2]
>   labels [B]
>   param W [2, 2]
>   logits = matmul(x, W)
> }
> train { loss = xent(logits, labels) steps = 3 lr = 0.1 batch = 2 }
> END
$ printf '\177ELF\002\001\001\000\000\000\000\377\376' > binary

# A binary file is refused in every language: the error points to its first NUL byte. Formatting leaves it
# as it is.
$ for kind in ail mind nth; do cp binary p.$kind; tern run p.$kind; tern check -q p.$kind; tern fmt p.$kind; cmp binary p.$kind; done
! error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
!   --> p.ail:1:8
!    |
!  1 | \x7fELF\x02\x01\x01\x00\x00\x00\x00\xff\xfe
!    |                    ^^^^
!    = line: 1
!    = col: 8
!
! error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
!   --> p.ail:1:8
!    |
!  1 | \x7fELF\x02\x01\x01\x00\x00\x00\x00\xff\xfe
!    |                    ^^^^
!    = line: 1
!    = col: 8
!
! error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
!   --> p.ail:1:8
!    |
!  1 | \x7fELF\x02\x01\x01\x00\x00\x00\x00\xff\xfe
!    |                    ^^^^
!    = line: 1
!    = col: 8
!
! error[E1001]: a NUL byte; a program is a text and has none
!   --> p.mind:1:8
!    |
!  1 | \x7fELF\x02\x01\x01\x00\x00\x00\x00\xff\xfe
!    |                    ^^^^
!
! error[E1001]: a NUL byte; a program is a text and has none
!   --> p.mind:1:8
!    |
!  1 | \x7fELF\x02\x01\x01\x00\x00\x00\x00\xff\xfe
!    |                    ^^^^
!
! error[E1001]: a NUL byte; a program is a text and has none
!   --> p.mind:1:8
!    |
!  1 | \x7fELF\x02\x01\x01\x00\x00\x00\x00\xff\xfe
!    |                    ^^^^
!
! error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
!   --> p.nth:1:8
!    |
!  1 | \x7fELF\x02\x01\x01\x00\x00\x00\x00\xff\xfe
!    |                    ^^^^
!    = line: 1
!    = col: 8
!
! error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
!   --> p.nth:1:8
!    |
!  1 | \x7fELF\x02\x01\x01\x00\x00\x00\x00\xff\xfe
!    |                    ^^^^
!    = line: 1
!    = col: 8
!
! error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
!   --> p.nth:1:8
!    |
!  1 | \x7fELF\x02\x01\x01\x00\x00\x00\x00\xff\xfe
!    |                    ^^^^
!    = line: 1
!    = col: 8
!
$ cp binary p.mind; tern train p.mind --json
| {"ok":false,"diagnostics":[{"code":"E_USAGE","severity":"error","phase":"parse","title":"mind programs are not trained as a whole; .ail programs are","fields":{"message":"mind programs are not trained as a whole; .ail programs are"},"span":null,"hint":"`tern run` runs a program that trains what it needs itself"}]}
? 2
$ tern run - --lang mind < binary
! error[E1001]: a NUL byte; a program is a text and has none
!   --> <stdin>:1:8
!    |
!  1 | \x7fELF\x02\x01\x01\x00\x00\x00\x00\xff\xfe
!    |                    ^^^^
!
? 1
# One NUL byte in a text.
$ printf '1 + \0002\n' > slip.mind; tern run slip.mind
! error[E1001]: a NUL byte; a program is a text and has none
!   --> slip.mind:1:5
!    |
!  1 | 1 + \x002
!    |     ^^^^
!
? 1
$ mkdir folder.ail; tern run folder.ail
! error[E_USAGE]: cannot read folder.ail: it is a folder
!    = hint: name a program in it
!
? 2

# Values and weights that are another format than they are called.
$ echo '[1, 2]' > x.npy; tern run model.ail --input x=@x.npy
! error[E_FILE_CORRUPT]: `x.npy` is not a whole npy file: it is not an .npy file
!    = path: x.npy
!    = format: npy
!    = reason: it is not an .npy file
!    = hint: create the file again; it may be truncated or in another format
!
? 1
$ cp binary x.json; tern run model.ail --input x=@x.json
! error[E_USAGE]: the value of x is not valid JSON; it is a number, or numbers in brackets: [[1, 2]]
!
? 2
$ cp x.npy x.npz; tern run model.ail --input x=@x.npz:x
! error[E_FILE_CORRUPT]: `x.npz` is not a whole npz file: it is not an archive of arrays, or a damaged one
!    = path: x.npz
!    = format: npz
!    = reason: it is not an archive of arrays, or a damaged one
!    = hint: create the file again; it may be truncated or in another format
!
? 1
$ echo 'some words, no tensors' > w.safetensors; tern run model.ail --weights w.safetensors
! error[E_FILE_CORRUPT]: `w.safetensors` is not a whole safetensors file: the header is longer than the file
!    = path: w.safetensors
!    = format: safetensors
!    = reason: the header is longer than the file
!    = hint: create the file again; it may be truncated or in another format
!
? 1
$ tern run model.ail --weights binary
! error[E_FILE_CORRUPT]: `binary` is not a whole safetensors file: the header is longer than the file
!    = path: binary
!    = format: safetensors
!    = reason: the header is longer than the file
!    = hint: create the file again; it may be truncated or in another format
!
? 1
$ tern run model.ail --weights folder.ail
! error[E_FILE_IO_ERROR]: `folder.ail` cannot be read: it is a folder
!    = path: folder.ail
!    = io_error_kind: it is a folder
!    = hint: check what kind of file it is and who may read it
!
? 1

# Data: a table that is a binary file.
$ cp binary rows.jsonl
$ cat > rows.ail <<'END'
> model {
>   tokens [B, T]
>   labels [B]
>   param E [20, 2]
>   logits = meanpool(embedding(tokens, E))
> }
> train { loss = xent(logits, labels) steps = 3 lr = 0.1 batch = 2 }
> dataset { format = "jsonl" path = "rows.jsonl" }
> END
$ tern train rows.ail --allow fileread --json | grep -o '"code":"[^"]*"'
| "code":"E_FILE_INVALID_UTF8"

# A run's folder cannot be made below a file, and the file stays.
$ echo kept > file
$ tern train model.ail --out file/run
! error[E_FILE_WRITE]: `file/run` cannot be written: a part of the path is not a folder
!    = path: file/run
!    = reason: a part of the path is not a folder
!    = hint: check the folder, its permissions and the free space
!
? 1
$ tern train model.ail --out file
! error[E_FILE_WRITE]: `file` cannot be written: a part of the path is not a folder
!    = path: file
!    = reason: a part of the path is not a folder
!    = hint: check the folder, its permissions and the free space
!
? 1
$ tern new file/project
! error[E_USAGE]: cannot make file/project: Not a directory
!
? 2
$ tern emit model.ail --as dot -o file/graph.dot
! error[E_USAGE]: cannot write file/graph.dot: a part of the path is not a folder
!    = hint: check the folder, its permissions and the free space
!
? 2
$ tern emit model.ail --as dot -o folder.ail
! error[E_USAGE]: cannot write folder.ail: it is a folder
!    = hint: check the folder, its permissions and the free space
!
? 2
$ tern train model.ail --store file/runs.db > out
! error[E_STORE]: the run history `file/runs.db` cannot be used: a part of the path is not a folder
!    = path: file/runs.db
!    = reason: a part of the path is not a folder
!    = hint: name another file with --store, or move this one away
!
? 1
$ cat file
| kept
# A full disk: the old file stays complete, and there is no partial new one.
$ tern train model.ail --out run > out; tern plot run -o loss.svg; cp loss.svg before.svg
$ (trap '' XFSZ; ulimit -f 1; LLVM_PROFILE_FILE=/dev/null tern plot run --title new -o loss.svg)
! error[E_USAGE]: cannot write loss.svg: it would be larger than this process may write (ulimit -f)
!    = hint: check the folder, its permissions and the free space
!
? 2
$ cp model.ail before.ail; (trap '' XFSZ; ulimit -f 0; LLVM_PROFILE_FILE=/dev/null tern fmt model.ail 2>&1) | head -n 1; cmp model.ail before.ail
| error[E_USAGE]: cannot write model.ail: it would be larger than this process may write (ulimit -f)
$ cmp loss.svg before.svg; ls | grep tmp
? 1
# A file keeps its permissions, and a link stays one.
$ chmod 640 model.ail; printf '\n\n' >> model.ail; ln -s model.ail link.ail; tern fmt link.ail; stat -c %a model.ail; test -L link.ail
| 640
$ tern emit model.ail --as dot -o /dev/stdout | head -n 1
| digraph {

# A history of runs by a newer tern, or by another program, or a damaged one: every verb says so and leaves it as it is.
$ tern train model.ail --out run --store runs.db > out
$ for kind in newer other cut; do cp runs.db $kind.db; done; head -c 5000 runs.db > cut.db
$ python3 -c 'import sqlite3
> for name, pragma in ("newer.db", "user_version = 99"), ("other.db", "application_id = 7"):
>   database = sqlite3.connect(name); database.execute("PRAGMA " + pragma); database.commit(); database.close()'
$ for kind in newer other cut; do sha256sum $kind.db; done > sums
$ for kind in newer other cut; do tern runs --store $kind.db; tern runs rm 1 --store $kind.db; tern plot last --store $kind.db
>   tern board --port 0 --store $kind.db; tern train model.ail --out again --store $kind.db; done 2>&1 | grep -v '^ \|^$' | uniq -c | sed 's/^ *//'
| 5 error[E_STORE]: the run history `newer.db` cannot be used: it was made by a newer version of tern
| 5 error[E_STORE]: the run history `other.db` cannot be used: it is a database of another program
| 5 error[E_STORE]: the run history `cut.db` cannot be used: it is damaged
$ sha256sum --quiet -c sums; test ! -e again
$ tern board --port 0 --store newer.db
! error[E_STORE]: the run history `newer.db` cannot be used: it was made by a newer version of tern
!    = path: newer.db
!    = reason: it was made by a newer version of tern
!    = hint: name another file with --store, or move this one away
!
? 1

# A port that another program uses.
$ python3 -c 'import os, socket, subprocess, sys
> taken = socket.socket(); taken.bind(("127.0.0.1", 0)); taken.listen()
> board = subprocess.run([os.environ["TERN"], "board", "--store", "runs.db", "--port", str(taken.getsockname()[1])], text=True, stderr=subprocess.PIPE)
> print(board.stderr.splitlines()[0].replace(str(taken.getsockname()[1]), "PORT")); sys.exit(board.returncode)'
| error[E_BOARD]: the board cannot be served on port PORT: another program listens there
? 1

# Folders that are not runs.
$ tern verify folder.ail
! error[E_FILE_NOT_FOUND]: there is no file `folder.ail/run.json`
!    = path: folder.ail/run.json
!    = hint: a run is the folder that `tern train --out` made
!
? 1
$ tern train model.ail --resume folder.ail
! error[E_FILE_NOT_FOUND]: there is no file `folder.ail/checkpoint`
!    = path: folder.ail/checkpoint
!    = hint: a run is the folder that `tern train --out` made
!
? 1
$ mkdir fake; echo '{"program": 1}' > fake/run.json; tern verify fake
! error[E_FILE_CORRUPT]: `fake/run.json` is not a whole run.json file: it is not the record of a run
!    = path: fake/run.json
!    = format: run.json
!    = reason: it is not the record of a run
!    = hint: create the file again; it may be truncated or in another format
!
? 1
$ cp binary fake/checkpoint; tern train model.ail --resume fake 2>&1 | head -n 1
| error[E_CHECKPOINT_CORRUPT]: the checkpoint in `fake/checkpoint` is damaged: the header is longer than the file

# Words that a verb does not take, or lacks: the verb says what it takes, and nothing is done.
$ for words in 'version model.ail' 'ops add sub' 'man tern' 'doctor now' 'board 8600' 'help run train' 'runs show' 'runs show 1 2' 'runs compare 1' 'runs rm' 'runs list 1' 'completion' 'completion tcsh' 'verify' 'plot' 'emit --as dot' 'repl model.ail'
> do tern $words; echo $?; done 2>&1 | grep -v '^ \|^$'
| error[E_USAGE]: tern version takes no arguments; what is model.ail?
| 2
| error[E_USAGE]: tern ops takes one operation; what is sub?
| 2
| error[E_USAGE]: tern man takes no arguments; what is tern?
| 2
| error[E_USAGE]: tern doctor takes no arguments; what is now?
| 2
| error[E_USAGE]: tern board takes no arguments; what is 8600?
| 2
| error[E_USAGE]: tern help takes one verb; what is train?
| 2
| error[E_USAGE]: tern runs show takes one run: a number, `last` or a folder
| 2
| error[E_USAGE]: tern runs show takes one run: a number, `last` or a folder
| 2
| error[E_USAGE]: tern runs compare takes two runs: a number, `last` or a folder
| 2
| error[E_USAGE]: tern runs rm takes one run: a number, `last` or a folder
| 2
| error[E_USAGE]: tern runs list takes no arguments
| 2
| error[E_USAGE]: tern completion needs a shell: tern completion SHELL
| 2
| error[E_USAGE]: there are completions for bash, zsh and fish, not for tcsh
| 2
| error[E_USAGE]: tern verify needs a folder: tern verify DIR
| 2
| error[E_USAGE]: tern plot needs a run: tern plot RUN... -o loss.svg
| 2
| error[E_USAGE]: tern emit needs a file: tern emit FILE --as KIND
| 2
| error[E_USAGE]: tern repl takes no file; use :load model.ail
| 2
$ tern new ''; tern run - --watch --lang mind
! error[E_USAGE]: a project needs a name
!    = hint: such as `tern new first`; `tern help new` shows its options
!
! error[E_USAGE]: standard input cannot be watched
!    = hint: name a file
!
? 2
# Invalid numbers, and numbers that are too large.
$ for words in '--seed -1' '--seed 18446744073709551616' '--seed 1e3' '--threads 0' '--threads 9999' '--max-mem 5X' '--max-time no'; do tern run model.ail $words; done 2>&1 | grep -v '^ \|^$'
| error[E_USAGE]: --seed takes a whole number from 0 up, not -1
| error[E_USAGE]: --seed takes a whole number below 2^64, not 18446744073709551616
| error[E_USAGE]: --seed takes a whole number from 0 up, not 1e3
| error[E_USAGE]: --threads takes a whole number from 1 up, not 0
| error[E_USAGE]: --threads takes at most 1024, not 9999
| error[E_USAGE]: --max-mem takes a size such as 512M, not 5X
| error[E_USAGE]: --max-time takes a number of seconds above 0, not no
# A missing file is reported before its unknown language.
$ tern run none.txt; cp model.ail none.txt; tern run none.txt
! error[E_USAGE]: cannot read none.txt: no such file
!
! error[E_USAGE]: none.txt: say the language with --lang ail|mind|ninth
!
? 2

# A history that is a folder, or that may only be read: the run that asks for it does not begin. The administrator may
# write anything, so that somebody else asks.
$ tern runs --store folder.ail
! error[E_STORE]: the run history `folder.ail` cannot be used: it is a folder
! ...
? 1
$ cp runs.db locked.db; chmod 444 locked.db; chmod 755 .; chmod 644 model.ail; mkdir -m 777 mine; cp "$TERN" program; cat > as_user <<'END'
> [ "$(id -u)" = 0 ] && other="setpriv --reuid=65534 --regid=65534 --clear-groups"
> LLVM_PROFILE_FILE=/dev/null exec $other ./program "$@"
> END
$ sh as_user train model.ail --out mine/run --store locked.db; ls mine
! error[E_STORE]: the run history `locked.db` cannot be used: it may not be written
!    = path: locked.db
!    = reason: it may not be written
!    = hint: name another file with --store, or move this one away
!
$ sh as_user runs --store locked.db | tail -n 1 | cut -c 1-3
|   1
$ mkdir -m 555 shut; for words in 'emit model.ail --as dot -o shut/a.dot' 'plot run -o shut/a.svg' 'new shut/a' 'train model.ail --out shut/a --store mine/runs.db'
> do sh as_user $words; done 2>&1 | grep -v '^ \|^$'; ls shut
| error[E_USAGE]: cannot write shut/a.dot: permission denied
| error[E_USAGE]: cannot write shut/a.svg: permission denied
| error[E_USAGE]: cannot make shut/a: Permission denied
| error[E_FILE_WRITE]: `shut/a` cannot be written: permission denied

# Binary output does not go to a terminal.
$ NO_COLOR=1 python3 -c 'import os, pty; pty.spawn([os.environ["TERN"], "emit", "model.ail", "--as", "onnx"])' | tr -d '\r' | head -n 1
| error[E_USAGE]: onnx is not text for a terminal; give a file with -o
