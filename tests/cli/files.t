# Files in folders that somebody else has prepared. Nothing outside is written, nothing is waited for, and no
# file of a user's own is lost.

# ---- writing ----

# A link where a temporary file might be is not written through.
$ printf 'precious\n' > precious; mkdir clone
$ printf '1   2 [ADD]\n' > clone/demo.nth; for name in demo.nth.tmp demo.nth.tern-tmp .demo.nth.tmp demo.nth~; do ln -s ../precious clone/$name; done
$ tern fmt clone/demo.nth; cat clone/demo.nth precious; ls -A clone
| 1 2 [ADD]
| precious
| .demo.nth.tmp
| demo.nth
| demo.nth.tern-tmp
| demo.nth.tmp
| demo.nth~
$ (cd clone; tern fmt demo.nth; ln -s ../precious graph.dot.tmp; ln -s ../precious loss.svg.tmp)
$ tern emit clone/demo.nth --as graph -o clone/graph.dot; head -n 1 clone/graph.dot; cat precious
| <*>
| precious

# A file of the user's own that is named like one stays.
$ for name in mine.dot.tmp mine.dot.tern-tmp .tern-mine.tmp; do echo mine > $name; done
$ tern emit clone/demo.nth --as graph -o mine.dot; cat mine.dot.tmp mine.dot.tern-tmp .tern-mine.tmp; ls -A | grep -c tern-
| mine
| mine
| mine
| 2

# A link is followed while it leads down from its own folder; out of it, it is refused by every verb that writes.
$ mkdir clone/real; printf '1   2 [SUB]\n' > clone/real/a.nth; chmod 640 clone/real/a.nth; ln -s real/a.nth clone/a.nth
$ tern fmt clone/a.nth; cat clone/real/a.nth; stat -c %a clone/real/a.nth; test -L clone/a.nth
| 1 2 [SUB]
| 640
$ printf '3   4 [ADD]\n' > outside.nth; ln -s ../outside.nth clone/b.nth; tern fmt clone/b.nth; cat outside.nth
| 3   4 [ADD]
! error[E_USAGE]: cannot write clone/b.nth: it is a symbolic link that leads out of its folder
!    = hint: name the file that the link leads to, or remove the link
!
$ tern fmt outside.nth; cat outside.nth
| 3 4 [ADD]
$ ln -s ../precious clone/out.dot; tern emit clone/demo.nth --as graph -o clone/out.dot
! error[E_USAGE]: cannot write clone/out.dot: it is a symbolic link that leads out of its folder
!    = hint: name the file that the link leads to, or remove the link
!
? 2
$ ln -s precious absolute; ln -sf "$PWD/precious" absolute; tern emit clone/demo.nth --as graph -o absolute 2>&1 | head -n 1; cat precious
| error[E_USAGE]: cannot write absolute: it is a symbolic link that leads out of its folder
| precious
$ ln -s precious project; tern new project
! error[E_USAGE]: cannot make project: File exists
!
? 2

# The folder of a run. Weights of an earlier run are removed first, and so is a link in their place.
$ cat > m.ail <<'END'
> model {
>   x [B, 2]
>   param W [2, 2]
>   y = matmul(x, W)
> }
> train { loss = mean((y - x) * (y - x)) steps = 3 lr = 0.1 }
> END
$ for name in run.json history.jsonl checkpoint weights.safetensors; do mkdir run.$name; ln -s ../precious run.$name/$name; tern train m.ail -q --out run.$name 2>&1 | grep '^error'; done; test ! -L run.weights.safetensors/weights.safetensors; cat precious
| error[E_FILE_WRITE]: `run.run.json/run.json` cannot be written: it is a symbolic link that leads out of its folder
| error[E_FILE_WRITE]: `run.history.jsonl/history.jsonl` cannot be written: it is a symbolic link that leads out of its folder
| error[E_FILE_WRITE]: `run.checkpoint/checkpoint` cannot be written: it is a symbolic link that leads out of its folder
| precious
$ mkdir run.fifo; mkfifo run.fifo/history.jsonl; tern train m.ail -q --out run.fifo 2>&1 | grep '^error'
| error[E_FILE_WRITE]: `run.fifo/history.jsonl` cannot be written: it is not a plain file

# Leftovers of a killed run are removed when the run is resumed.
$ tern train m.ail -q --out run > out; echo half > run/.tern-0123456789abcdef.tmp; echo mine > run/.tern-mine.tmp
$ tern train m.ail -q --resume run --out run --steps 4 > out; ls -A run
| .tern-mine.tmp
| checkpoint
| history.jsonl
| run.json
| weights.safetensors

# Standard output is named by "-" and /dev/stdout; no other device and no FIFO is written to.
$ tern emit m.ail --as dot -o - | head -n 1; tern emit m.ail --as dot -o /dev/stdout | head -n 1; tern plot run -o - | head -c 4; test ! -e ./-
| digraph {
| digraph {
| <svg
\ no newline
$ mkfifo fifo; for words in 'emit m.ail --as dot' 'plot run'; do for file in fifo /dev/full; do tern $words -o $file 2>&1 | head -n 1; done; done
| error[E_USAGE]: cannot write fifo: it is not a plain file
| error[E_USAGE]: cannot write /dev/full: it is not a plain file
| error[E_USAGE]: cannot write fifo: it is not a plain file
| error[E_USAGE]: cannot write /dev/full: it is not a plain file

# ---- FIFOs, devices and sockets are refused at once, wherever a path is opened ----

$ for name in p.ail p.mind p.nth v.json v.npy v.npz w.safetensors d.jsonl runs.db; do mkfifo $name; done
$ for words in 'p.ail' 'check p.mind' 'run p.nth' 'fmt p.nth' 'train p.ail' 'app p.ail' 'emit p.mind --as graph' 'check --lang mind /dev/zero'; do tern $words 2>&1 | head -n 1; done
| error[E_USAGE]: cannot read p.ail: it is not a plain file
| error[E_USAGE]: cannot read p.mind: it is not a plain file
| error[E_USAGE]: cannot read p.nth: it is not a plain file
| error[E_USAGE]: cannot read p.nth: it is not a plain file
| error[E_USAGE]: cannot read p.ail: it is not a plain file
| error[E_USAGE]: cannot read p.ail: it is not a plain file
| error[E_USAGE]: cannot read p.mind: it is not a plain file
| error[E_USAGE]: cannot read /dev/zero: it is not a plain file
$ for value in v.json v.npy v.npz v.npz:a; do tern run m.ail --input x=@$value 2>&1 | head -n 1; done; tern run m.ail --param W=@v.json 2>&1 | head -n 1
| error[E_USAGE]: v.json: it is not a plain file
| error[E_USAGE]: v.npy: it is not a plain file
| error[E_USAGE]: v.npz: it is not a plain file
| error[E_USAGE]: v.npz: it is not a plain file
| error[E_USAGE]: v.json: it is not a plain file
$ tern run m.ail --weights w.safetensors 2>&1 | head -n 1
| error[E_FILE_IO_ERROR]: `w.safetensors` cannot be read: it is not a plain file
$ cat > d.ail <<'END'
> model {
>   x [B, 2]
>   labels [B]
>   param W [2, 2]
>   logits = matmul(x, W)
> }
> train { loss = cross_entropy(logits, labels) steps = 3 lr = 0.1 }
> dataset { format = "jsonl" path = "d.jsonl" }
> END
$ tern train d.ail --allow fileread -q 2>&1 | head -n 1
| error[E_FILE_IO_ERROR]: `d.jsonl` cannot be read: <*>
$ echo 'read("fifo")' > r.mind; tern run r.mind --allow fileread 2>&1 | head -n 1; printf 'model {\n  y = read_file_text("fifo")\n}\n' > r.ail; tern run r.ail --allow fileread 2>&1 | head -n 1
| error[E_FILE_IO_ERROR]: `fifo` cannot be read: not_a_plain_file
| error[E_FILE_IO_ERROR]: `fifo` cannot be read: not_a_plain_file
$ for lang in mind ninth ail; do echo ':load fifo' | tern repl --lang $lang; done
| cannot read fifo: not_a_plain_file
| cannot read fifo: not_a_plain_file
| cannot read fifo: not_a_plain_file
$ for name in run.json checkpoint history.jsonl weights.safetensors; do cp -r run odd; rm odd/$name; mkfifo odd/$name; for words in 'verify odd' 'train m.ail -q --resume odd --steps 9' 'plot odd'; do timeout 60 tern $words > out 2>&1; echo $name ${words%% *} $?; done; rm -r odd; done
| run.json verify 1
| run.json train <*>
| run.json plot <*>
| checkpoint verify 1
| checkpoint train 1
| checkpoint plot 0
| history.jsonl verify 1
| history.jsonl train 1
| history.jsonl plot <*>
| weights.safetensors verify 1
| weights.safetensors train <*>
| weights.safetensors plot 0
$ for words in 'runs' 'runs show 1' 'train m.ail' 'plot 1' 'board --port 0'; do tern $words --store runs.db 2>&1 | grep '^error'; done
| error[E_STORE]: the run history `runs.db` cannot be used: it is not a plain file
| error[E_STORE]: the run history `runs.db` cannot be used: it is not a plain file
| error[E_STORE]: the run history `runs.db` cannot be used: it is not a plain file
| error[E_STORE]: the run history `runs.db` cannot be used: it is not a plain file
| error[E_STORE]: the run history `runs.db` cannot be used: it is not a plain file
$ tern train m.ail -q --store good.db > out; for end in journal wal shm; do mkfifo good.db-$end; tern runs --store good.db 2>&1 | head -n 1; rm good.db-$end; done
| error[E_STORE]: the run history `good.db-journal` cannot be used: it is not a plain file
| error[E_STORE]: the run history `good.db-wal` cannot be used: it is not a plain file
| error[E_STORE]: the run history `good.db-shm` cannot be used: it is not a plain file

# Standard input may be anything.
$ echo '1 2 [ADD] [PRINT]' | tern run --lang ninth -
| 3

# ---- the history of an interactive session ----

# Lines are kept over sessions, in a file of the user's own. One that libedit wrote is read; one that is a FIFO
# or leads elsewhere is left alone.
$ cat > talk.py <<'END'
> import os, pty, select, sys
> child, terminal = pty.fork()
> if child == 0:
>   os.execvp(os.environ["TERN"], [os.environ["TERN"], "repl"] + sys.argv[2:])
> for keys in sys.argv[1].encode().decode("unicode_escape").split("|") + [":quit"]:
>   seen = b""
>   while b"mind> " not in seen and select.select([terminal], [], [], 60)[0]:
>     seen += os.read(terminal, 4096)
>   os.write(terminal, keys.encode("latin-1") + b"\r")
> seen = b""
> try:
>   while True:
>     part = os.read(terminal, 4096)
>     if not part: break
>     seen += part
> except OSError:
>   pass
> print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
> END
$ talk() { XDG_DATA_HOME=$PWD/data TERM=dumb python3 talk.py "$@"; }; talk '1 + 2|"a\\b"'; cat data/tern/history.mind; stat -c %a data/tern/history.mind; ls -A data/tern
| 0
| _HiStOrY_V2_
| 1\040+\0402
| "a\134b"
| :quit
| 600
| history.mind
$ printf '_HiStOrY_V2_\nlet\\040x\\M-C\\M-)\\^A\n' > data/tern/history.mind; XDG_DATA_HOME=$PWD/data TERM=dumb python3 talk.py '3'; cat data/tern/history.mind
| 0
| _HiStOrY_V2_
| let\040x\303\251\001
| 3
| :quit
$ ln -sf "$PWD/precious" data/tern/history.mind; XDG_DATA_HOME=$PWD/data TERM=dumb python3 talk.py 4; cat precious
| 0
| precious
$ rm data/tern/history.mind; mkfifo data/tern/history.mind; XDG_DATA_HOME=$PWD/data TERM=dumb python3 talk.py 5; ls -A data/tern
| 0
| history.mind
