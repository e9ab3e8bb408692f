# Every verb has limits. A limit is a diagnostic with status 1, never a usage error.
$ echo 'let a = 1 + 2' > one.mind
$ for verb in run check 'fmt --check' 'emit --as graph'; do tern $verb one.mind --max-mem 1 > out 2>&1; echo $? $(grep -c 'E_MEMORY_LIMIT' out); done
| 1 1
| 1 1
| 1 1
| 1 1
$ yes 'let a = 1 + 2' | head -1000000 > long.mind
$ for verb in check 'fmt --check' 'emit --as graph'; do tern $verb long.mind --max-time 0.01 2>&1 | head -1; done
| error[E_TIME_LIMIT]: the program ran longer than the 0.01 seconds that --max-time allows
| error[E_TIME_LIMIT]: the program ran longer than the 0.01 seconds that --max-time allows
| error[E_TIME_LIMIT]: the program ran longer than the 0.01 seconds that --max-time allows
$ for verb in runs 'plot 1' 'verify nowhere' ops; do tern $verb --max-mem 64M --max-time 1000 2>&1 | grep -c 'max-mem'; done; true
| 0
| 0
| 0
| 0
$ echo 'sum(zeros((1048575, 1048576)))' | tern repl --max-time 0.05 2>&1 | head -1
| error[E_TIME_LIMIT]: the program ran longer than the 0.05 seconds that --max-time allows

# --max-time counts for the whole command, however many files it names.
$ tern check $(yes long.mind | head -50) --max-time 0.05 2>&1 | grep -c '^error.E_TIME_LIMIT'
| 50

# Waiting for standard input ends as well.
$ mkfifo silent; tern run - --lang mind --max-time 0.1 0<> silent 2>&1 | head -1
| error[E_TIME_LIMIT]: the program ran longer than the 0.1 seconds that --max-time allows
$ sh $TESTS/support/signal.sh TERM tern run - --lang mind 0<> silent 2>&1 | head -1
| error[E_INTERRUPTED]: interrupted

# A file that may not grow is a failed write, not a signal.
$ cat > train.ail <<'END'
> model {
>   x [B, 2]
>   labels [B]
>   param W [2, 2]
>   logits = matmul(x, W)
> }
> train { loss = xent(logits, labels) steps = 1000000000 lr = 0.01 }
> END
$ (ulimit -f 1; tern train train.ail --out run --max-steps 3000 > /dev/null 2> said); echo $?; grep -o 'E_FILE_WRITE' said
| 1
| E_FILE_WRITE
$ (ulimit -f 1; tern eval 'zeros((100, 100))' --json > large)
! tern: cannot write to standard output: File too large
? 1
$ (printf 'fn f(x: f32) -> f32 = x'; yes '+ x' | head -1000 | tr '\n' ' '; echo; echo f) > wide.mind; cp wide.mind same.mind
$ for words in 'fmt wide.mind' 'emit wide.mind --as graph -o wide.txt'; do (ulimit -f 1; tern $words 2>&1 | head -1); done
| error[E_USAGE]: cannot write wide.mind: it would be larger than this process may write (ulimit -f)
| error[E_USAGE]: cannot write wide.txt: it would be larger than this process may write (ulimit -f)
$ cmp wide.mind same.mind; ls -A | grep -c 'tern-'; test -e wide.txt
| 0
? 1

# SIGHUP ends a training as SIGTERM does, with a last checkpoint.
$ tern train train.ail --out hung > said 2>&1 & until test -s hung/checkpoint; do sleep 0.01; done; kill -HUP $!; wait $!; grep error said
| error[E_INTERRUPTED]: interrupted
$ test -s hung/checkpoint && grep -o '"status": *"[a-z]*"' hung/run.json
| "status":"stopped"

# A SIGHUP that was ignored when tern began (nohup) stays ignored: the training continues.
$ cat > hang_up.sh <<'END'
> (trap '' HUP; exec tern train train.ail --out ignored > said 2>&1) & training=$!
> steps() { if test -s ignored/history.jsonl; then wc -l < ignored/history.jsonl; else echo 0; fi; }
> until test $(steps) -gt 0; do sleep 0.01; done
> kill -HUP $training; before=$(steps)
> for try in $(seq 600); do test $(steps) -gt $before && echo trains && break; sleep 0.1; done
> kill -TERM $training; wait $training; grep error said
> END
$ sh hang_up.sh
| trains
| error[E_INTERRUPTED]: interrupted

# Each run of a file that is watched has its time.
$ echo 'let a = 1' > seen.mind; (tern run seen.mind --watch --max-time 4 > watched 2>&1 & echo $! > watcher); until grep -qs 1 watched; do sleep 0.01; done; sleep 4.1; echo 'let a = 2' > seen.mind; until grep -q '2\|TIME' watched; do sleep 0.05; done; kill -TERM $(cat watcher); cat watched
| 1
| 2

# 2^40 elements are too many before any memory is allocated.
$ tern eval 'zeros((1048576, 1048576))' 2>&1 | head -1
| error[E_TOO_LARGE]: the number of elements is larger than the limit of 1099511627776

# So does writing a large value.
$ tern eval 'ones((4000, 4000))' --json --max-time 0.05 | grep -o '"ok":false\|E_TIME_LIMIT'
| "ok":false
| E_TIME_LIMIT
$ sh $TESTS/support/signal.sh INT tern eval 'ones((8000, 8000))' --json > large; echo $?; grep -o 'E_INTERRUPTED' large
| 1
| E_INTERRUPTED
