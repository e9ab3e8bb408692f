# A file of the run's folder that cannot be written is named, whichever it is, once.
$ cat > m.ail <<'END'
> model {
>   x [B, 2]
>   param W [2]
>   y = sum(x * W)
> }
> train {
>   loss = y
>   steps = 2
> }
> END
$ for name in run.json history.jsonl checkpoint weights.safetensors given.safetensors; do
>   rm -rf run; mkdir -p run/$name/inside
>   tern train m.ail --out run --param W=[1,1] 2>&1 | grep '^error\|path:'
> done
| error[E_FILE_WRITE]: `run/run.json` cannot be written: it is a folder
|    = path: run/run.json
| error[E_FILE_WRITE]: `run/history.jsonl` cannot be written: it is a folder
|    = path: run/history.jsonl
| error[E_FILE_WRITE]: `run/checkpoint` cannot be written: it is a folder
|    = path: run/checkpoint
| error[E_FILE_WRITE]: `run/weights.safetensors` cannot be written: it is a folder
|    = path: run/weights.safetensors
| error[E_FILE_WRITE]: `run/given.safetensors` cannot be written: it is a folder
|    = path: run/given.safetensors
$ rm -rf run; echo > file
$ tern train m.ail --out file/run 2>&1 | grep '^error\|path:'
| error[E_FILE_WRITE]: `file/run` cannot be written: a part of the path is not a folder
|    = path: file/run
$ mkdir -p run/checkpoint; tern train m.ail --resume run 2>&1 | grep '^error\|path:'
| error[E_FILE_IO_ERROR]: `run/checkpoint` cannot be read: it is a folder
|    = path: run/checkpoint
$ tern train m.ail --resume nowhere 2>&1 | grep '^error\|path:'
| error[E_FILE_NOT_FOUND]: there is no file `nowhere/checkpoint`
|    = path: nowhere/checkpoint

# Resuming into another folder writes the whole history there; resuming in the same one appends to
# it.
$ rm -rf run; tern train m.ail --out run -q && tern train m.ail --resume run --out other --steps 4 -q && tern train m.ail --resume run --out run --steps 4 -q
| Step 1: loss = 1.296055
| Training completed
| Step 3: loss = 1.512687
| Training completed
| Step 3: loss = 1.512687
| Training completed
$ tern train m.ail --out whole --steps 4 -q
| Step 3: loss = 1.512687
| Training completed
$ wc -l < run/history.jsonl; cmp run/weights.safetensors other/weights.safetensors; cmp run/history.jsonl other/history.jsonl; cmp whole/weights.safetensors other/weights.safetensors
| 4
# A run that has all its steps stays as it is, to the byte; one that has more is not said to have been trained.
$ cp -r run before; tern train m.ail --resume run --steps 4 -q; tern train m.ail --resume run --out run --steps 3 -q; diff -r before run
| Training completed
! warning[E_NO_STEPS_LEFT]: the run in `run` already has 4 steps, and 4 were requested: nothing was trained
! ...
! warning[E_NO_STEPS_LEFT]: the run in `run` already has 4 steps, and 3 were requested: nothing was trained
! ...
$ tern train m.ail --resume run --steps 1 --json | grep -o '"steps":[0-9]*,"history":\|"code":"[A-Z_]*"'
| "code":"E_NO_STEPS_LEFT"
| "steps":4,"history":
$ tern verify run && tern runs --where folder=run --limit 1 --json | grep -o '"step":[0-9]*,"steps":[0-9]*'
| verified: every step, the history and the weights agree in every bit
| "step":4,"steps":4

# A training that is refused before it writes anything leaves no folder: not for a checkpoint that has more steps,
# nor for data or memory that is found missing inside of the sandbox, nor without a sandbox.
$ sed 's/^train/dataset { format = "jsonl" path = "none.jsonl" tokens = "t" labels = "l" }\ntrain/' m.ail > data.ail
$ for sandbox in auto off; do tern train m.ail --resume run --out new/one --steps 1 --sandbox=$sandbox > out 2>&1; tern train m.ail --out new/two --max-mem 60K --sandbox=$sandbox > out 2>&1; tern train data.ail --allow fileread --out new/three --sandbox=$sandbox > out 2>&1; ls -d new 2> /dev/null; done; echo nothing
| nothing
# A folder that was there stays, and so does one that was made and written to.
$ mkdir there; tern train m.ail --out there --max-mem 60K > out 2>&1; tern train m.ail --out kept/run -q > out; ls -d there kept/run
| kept/run
| there

# The temporary file of a killed write is named as such; resuming removes it.
$ echo half > run/.tern-0123456789abcdef.tmp
$ tern verify run 2>&1 | grep 'error\|hint'
| error[E_VERIFY_UNCHECKED]: the run in `run` agrees in every bit, but not all in its folder was checked: .tern-0123456789abcdef.tmp
|    = hint: a write that was killed left it: `tern train --resume` of the folder removes it, or remove it yourself
$ touch run/notes; tern verify run 2>&1 | grep 'hint'; rm run/notes
|    = hint: move files that do not belong to the run out of its folder
$ tern train m.ail --resume run --steps 5 -q > out; tern verify run
| verified: every step, the history and the weights agree in every bit
