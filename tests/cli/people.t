# Completions, the manual page, new projects and --watch.
$ tern completion bash > tern.bash
$ cat > try.sh <<'END'
> . ./tern.bash
> COMP_WORDS=(tern "$@")
> COMP_CWORD=$#
> _tern
> echo "${COMPREPLY[@]}"
> END
$ bash try.sh tra
| train
$ bash try.sh train --res
| --resume
$ bash try.sh emit f.mind --as m
| mlir
$ bash try.sh repl --lang ''
| ail mind ninth
$ bash try.sh help expl
| explain
$ bash try.sh completion ''
| bash zsh fish
$ bash try.sh plot --scale l
| linear log
$ bash try.sh doctor ""
|
$ touch model.ail; bash try.sh run mod
| model.ail
$ bash try.sh fmt --as
|
$ bash try.sh explain E_STACK_U
| E_STACK_UNDERFLOW
$ bash try.sh ops matm
| matmul
$ mkdir -p old runs/1 'runs/two words' data; touch old/run.json runs/1/run.json 'runs/two words/run.json'
$ bash try.sh predict o; bash try.sh predict old mod; bash try.sh plot old runs/t; bash try.sh train model.ail --resume runs/1
| old
| model.ail
| runs/two words
| runs/1
$ tern completion runs | LC_ALL=C sort; rm -r old runs data
| old
| runs/1
| runs/two words

# Runs of the history, by number or as the last, with the folders of runs.
$ printf 'model {\n  x [B, 1]\n  param W [1, 1]\n  y = matmul(x, W)\n}\ntrain {\n  loss = sum(y)\n  steps = 1\n}\n' > y.ail
$ export XDG_DATA_HOME=$PWD/history; bash try.sh runs show l
|
$ export XDG_DATA_HOME=$PWD/history; for i in 1 2 3; do tern train y.ail --input x='[[1]]' -q --out r$i > /dev/null; done; tern completion recorded | LC_ALL=C sort
| 1
| 2
| 3
| last
| r1
| r2
| r3
$ export XDG_DATA_HOME=$PWD/history; bash try.sh runs ''; bash try.sh runs compare 1 l; bash try.sh plot r1 2; bash try.sh runs rm r2
| show compare rm
| last
| 2
| r2
$ export XDG_DATA_HOME=$PWD/history; bash try.sh runs show '' | tr ' ' '\n' | LC_ALL=C sort | tr '\n' ' '
| 1 2 3 last r1 r2 r3 
\ no newline
$ export XDG_DATA_HOME=$PWD/history; bash try.sh predict r3; bash try.sh predict l; rm -r history r1 r2 r3
| r3
|

# Every verb and option of the help is in all of them.
$ tern completion zsh > _tern; tern completion fish > tern.fish; tern man > tern.1
$ for verb in $(tern help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -v '^tern$'); do
>   for f in tern.bash _tern tern.fish; do grep -q "\b$verb\b" $f || echo "$verb is not in $f"; done
>   grep -q "^.B $verb" tern.1 || echo "$verb is not in the manual"
>   for option in $(tern help $verb | sed -n 's/.*--\([a-z-]*\).*/\1/p' | sort -u); do
>     grep -q -- "--$option\b" tern.bash || echo "--$option is not in bash"
>     grep -q -- "--$option\[" _tern || echo "--$option is not in zsh"
>     grep -q -- "-l $option\b" tern.fish || echo "--$option is not in fish"
>   done
> done
$ sed -n 3p tern.1
| tern \- three small languages for tensors, one set of kernels, the same bits everywhere
$ tern completion csh
! error[E_USAGE]: there are completions for bash, zsh and fish, not for csh
!    = hint: such as `tern completion bash > ~/.local/share/bash-completion/completions/tern`; `tern help completion` shows its options
!
? 2

# A new project runs as it is, and is formatted as by tern fmt.
$ tern new first
| made first; try it:
|   cd first
|   tern run main.mind
$ tern run first/main.mind
| y = w x + b with w and b near 2 and 1:
| (Tensor[f32,(1,1)] [[2.0000527]], Tensor[f32,(1)] [0.9998874])
$ tern new second --lang ninth -q; tern second/main.nth
| the square root of 2:
| 1.4142135
# Its first model learns what it is shown.
$ tern new third --lang ail && cat third/README.md
| made third; try it:
|   cd third
|   tern train main.ail --allow fileread
| # third
| 
|     tern train main.ail --allow fileread
|
| Keep the weights, classify a sentence, repeat the run and compare every bit:
|
|     tern train main.ail --allow fileread --out run
|     tern run main.ail --weights run/weights.safetensors --input tokens='[[3, 1, 4, 18]]'
|     tern verify run --allow fileread
$ cd third && tern train main.ail --allow fileread | tail -n 3
| eval/loss = <*>
| eval/accuracy = 1.0000
| Training completed
$ tern fmt --check first/main.mind second/main.nth third/main.ail
$ tern new first; test -f first/main.mind
! error[E_USAGE]: first/main.mind exists; nothing was changed
!    = hint: choose another name, or an empty folder
!
# A folder that is there may hold other files. Names are quoted as a shell wants them.
$ mkdir 'my model'; touch 'my model/notes'; tern new 'my model' | tee said; cd 'my model' && tern run main.mind | tail -1
| made 'my model'; try it:
|   cd 'my model'
|   tern run main.mind
| (Tensor[f32,(1,1)] [[2.0000527]], Tensor[f32,(1)] [0.9998874])
$ mkdir here && cd here && tern new . --lang ninth && tern run main.nth
| made main.nth; try it:
|   tern run main.nth
| the square root of 2:
| 1.4142135
$ touch file; tern new file 2>&1 | head -1; tern new no/such/folder 2>&1 | head -1
| error[E_USAGE]: cannot make file: File exists
| error[E_USAGE]: cannot make no/such/folder: No such file or directory

# --watch runs again when the file changes, in place or by renaming, and ends with Ctrl-C.
$ echo '1 + 1' > w.mind
$ (tern run w.mind --watch > out & echo $! > pid; wait)  &
> until grep -q 2 out 2> /dev/null; do sleep 0.1; done; sleep 0.3
> echo '20 + 22' > w.mind
> until grep -q 42 out; do sleep 0.1; done; sleep 0.3
> echo '7 * 11' > w.new; mv w.new w.mind
> until grep -q 77 out; do sleep 0.1; done
> kill -INT $(cat pid); wait
> grep -c . out
| 3

# Names of files that somebody else chose reach a terminal as escapes.
$ name=$(printf 'a\033[31m.mind'); echo '1  +  1' > "$name"; tern check "$name"; tern fmt --check "$name"; tern fmt --diff "$name" | head -n 2; tern fmt "$name" && cat "$name"
| a\x1b[31m.mind: ok
| a\x1b[31m.mind: not formatted
| --- a\x1b[31m.mind
| +++ a\x1b[31m.mind (formatted)
| 1 + 1
$ printf 'model {\n  tokens [B, T]\n  labels [B]\n  param E [4, 2]\n  y = meanpool(embedding(tokens, E))\n}\ntrain { loss = xent(y, labels) steps = 1 batch = 1 }\ndataset { format = "jsonl" path = "d\033[2J.jsonl" }\n' > esc.ail
$ printf '{"tokens":[0,1],"label":0}\n' > "$(printf 'd\033[2J.jsonl')"; tern train esc.ail --allow fileread --sandbox=off | grep path
|   path: d\x1b[2J.jsonl
