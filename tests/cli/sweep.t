# --sweep trains once for every combination of values, and ranks the runs.
$ cat > m.ail <<'END'
> model {
>   x [B, 2]
>   labels [B]
>   param W [2, 2]
>   logits = matmul(x, W)
> }
>
> train {
>   loss = xent(logits, labels)
>   steps = 20
>   batch = 4
> }
>
> dataset {
>   format = "tsv"
>   path = "d.tsv"
> }
>
> eval {
>   metrics = [accuracy, loss]
>   every = 5
>   split = "train"
> }
> END
$ for i in 1 2 3 4 5; do printf "1.$i\t0.$i\t0\n0.$i\t1.$i\t1\n"; done > d.tsv
$ tern train m.ail --allow fileread --set optimizer=momentum --sweep lr=0.5,0.0001 --sweep seed=1..3 --out runs > table; wc -l < table; head -n 2 table
| 7
| rank  lr      seed  eval/accuracy  step  status     folder
| 1     0.5     1     1.000000       <*>     completed  runs/lr=0.5,seed=1
$ ls runs
| lr=0.0001,seed=1
| lr=0.0001,seed=2
| lr=0.0001,seed=3
| lr=0.5,seed=1
| lr=0.5,seed=2
| lr=0.5,seed=3

# Each is an ordinary run: the same as without the sweep, verified, resumed and compared.
$ tern train m.ail --allow fileread --set optimizer=momentum --set lr=0.5 --seed 2 --out alone -q > log
$ cmp alone/weights.safetensors runs/lr=0.5,seed=2/weights.safetensors && cmp alone/history.jsonl runs/lr=0.5,seed=2/history.jsonl && tern verify runs/lr=0.5,seed=2 --allow fileread
| verified: every step, the history and the weights agree in every bit

# The same command again keeps what is done: nothing is written. One that is gone or was stopped is trained.
$ touch -d '2001-01-01' runs/*/run.json; rm -r runs/lr=0.5,seed=3; tern train m.ail --allow fileread --set optimizer=momentum --sweep lr=0.5,0.0001 --sweep seed=1..3 --out runs > again; cmp table again; find runs -name run.json -newermt 2002-01-01
| runs/lr=0.5,seed=3/run.json
$ rm -r runs/lr=0.5,seed=1; tern train m.ail --allow fileread --set optimizer=momentum --set lr=0.5 --seed 1 --out runs/lr=0.5,seed=1 --max-steps 3 -q 2> log
? 1
$ tern train m.ail --allow fileread --set optimizer=momentum --sweep lr=0.5,0.0001 --sweep seed=1..3 --out runs | cmp - table && tern verify runs/lr=0.5,seed=1 --allow fileread
| verified: every step, the history and the weights agree in every bit

# As JSON; a loss is ranked from the lowest. Without an evaluation it is the mean of the last tenth of steps.
$ sed 's/accuracy, loss/loss/' m.ail > loss.ail; tern train loss.ail --allow fileread --sweep lr=0.01,0.5 --out loss --json | sed 's/"value":[^,]*,"step":[0-9]*/V/g'
| {"ok":true,"language":"ail","warnings":[],"metric":"loss","sweep":[{"rank":1,"set":{"lr":"0.5"},V,"status":"completed","folder":"loss/lr=0.5"},{"rank":2,"set":{"lr":"0.01"},V,"status":"completed","folder":"loss/lr=0.01"}]}
$ sed '/^eval/,$d' m.ail > plain.ail; tern train plain.ail --allow fileread --sweep lr=0.01,0.5 --out plain | cut -c 1-20
| rank  lr    loss    
| 1     0.5   <*>
| 2     0.01  <*>

# A run that diverges is a result; the others are ranked before it.
$ cat > far.ail <<'END'
> model {
>   x [B]
>   param w []
>   y = mean(x * x) * w * w
> }
>
> train {
>   loss = y
>   steps = 300
> }
> END
$ tern train far.ail --param w=1 --sweep lr=1e6,0.1 --out far | tail -n 2
| 1     0.1  <*>  completed     far/lr=0.1
| -     1e6  <*>  E_NOT_FINITE  far/lr=1e6

# One diagnostic for a mistake, before anything is trained.
$ tern train m.ail --sweep lr=0.5,0.1 --out none 2>&1 | grep error
| error[E_DATASET_CAPABILITY_DENIED]: the program may not read dataset file `d.tsv`
$ tern train m.ail --sweep lr=0.5,0.1 --out none --json | grep -o '"code":"[A-Z_]*"'
| "code":"E_DATASET_CAPABILITY_DENIED"
$ tern train m.ail --allow fileread --sweep rate=0.5,0.1 --out none 2>&1 | head -n 1
| error[E_USAGE]: --set rate: the train block has no such field, and the program no such const
$ tern train m.ail --allow fileread --sweep lr=0.5,fast --out none 2>&1 | grep -c error
| 1
$ tern train m.ail --allow fileread --sweep lr=0.5,0.1 --out none --sweep optimizer=adam,adamm --json | grep -o '"code":"[A-Z_]*"'
| "code":"E_SYNTAX_ERROR"
$ sed 's/steps = 20/steps = 21/' m.ail > other.ail; tern train other.ail --allow fileread --set optimizer=momentum --sweep lr=0.5,0.0001 --sweep seed=1..3 --out runs 2>&1 | head -n 1
| error[E_CHECKPOINT_MISMATCH]: <*>
$ ls none 2>&1 | wc -l
| 1
$ for words in '--sweep lr=' '--sweep lr=1,,2' '--sweep lr=1,2 --sweep lr=3' '--sweep lr=1 --set lr=2' '--sweep seed=1,2 --seed 3' '--sweep seed=x' '--sweep seed=3..1' '--sweep seed=1..1001' '--sweep seed=1..40 --sweep lr=1,2,3 --sweep batch=1..10' '--sweep lr=1,1' '--sweep lr=0.1 --resume x' '--sweep lr=1 --log json'; do tern train m.ail $words --out none 2>&1 | head -n 1; done
| error[E_USAGE]: --sweep lr takes values with commas between, or a range
| error[E_USAGE]: --sweep lr takes values with commas between, or a range
| error[E_USAGE]: --sweep lr is given twice
| error[E_USAGE]: lr has one value and is swept over, too
| error[E_USAGE]: seed has one value and is swept over, too
| error[E_USAGE]: a seed is a whole number, not x
| error[E_USAGE]: --sweep seed takes values with commas between, or a range
| error[E_USAGE]: the sweep has too many runs
| error[E_USAGE]: the sweep has too many runs
| error[E_USAGE]: --sweep has a value twice: 1
| error[E_USAGE]: --resume is for one run, not for a sweep
| error[E_USAGE]: --log is for one run, not for a sweep
$ tern train m.ail --sweep lr=0.5,0.1
! error[E_USAGE]: a sweep needs a folder for its runs
!    = hint: name one with --out
!
? 2

# Lists and words are values, too.
$ tern train m.ail --allow fileread --set weight_decay=0.1 --sweep 'no_decay=[W],["*"]' --out lists | wc -l
| 3

# Ctrl-C stops all of them, keeps what they have, and says how to resume; so does a run that is killed.
$ sed 's/steps = 20/steps = 200000000/; /^eval/,$d' m.ail > long.ail; tern train long.ail --allow fileread --sweep lr=0.5,0.1 --threads 1 --checkpoint-every 100 --out long > table 2> said & id=$!
> until test -e long/lr=0.5/checkpoint; do sleep 0.1; done; kill -INT $id; wait $id; echo $?; cat said; grep -c ' stopped  long/lr=0.5' table
| 1
| stopped: the same command resumes what is not done
| 1
$ tern train long.ail --allow fileread --sweep lr=0.5,0.1 --threads 1 --checkpoint-every 100 --out long > table 2> said & id=$!
> sleep 0.5; kill -KILL $id; wait $id 2> ended; echo $?
| 137
$ until tern train long.ail --allow fileread --sweep lr=0.5,0.1 --threads 1 --checkpoint-every 100 --out long --max-steps 5 > table 2> said; ! grep E_RUN_IN_USE table > used; do sleep 0.1; done; grep -c E_LOOP_LIMIT table
| 2
