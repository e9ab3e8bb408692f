# --set gives a field of the train block or a constant another value for one run, which is recorded with it.
$ cat > m.ail <<'END'
> const H = 4
>
> model {
>   x [B, 2]
>   labels [B]
>   param W [2, H]
>   param V [H, 2]
>   logits = matmul(relu(matmul(x, W)), V)
> }
>
> train {
>   loss = xent(logits, labels)
>   steps = 20
>   batch = 4
>   shards = 2
> }
>
> dataset {
>   format = "tsv"
>   path = "d.tsv"
> }
> END
$ for i in 1 2 3 4 5; do printf "1.$i\t0.$i\t0\n0.$i\t1.$i\t1\n"; done > d.tsv
$ hash() { tern train "$@" --allow fileread --json | sed 's/.*weights_sha256":"\([0-9a-f]*\).*/\1/'; }; hash m.ail --set lr=0.5 --set H=8 --set optimizer=adam > set
> sed -e 's/H = 4/H = 8/' -e 's/steps = 20/steps = 20 lr = 0.5 optimizer = "adam"/' m.ail > written.ail; hash written.ail > written
> cmp set written && test "$(cat set)" != "$(hash m.ail)" && echo as if it stood in the program
| as if it stood in the program

# Resuming and verifying use what was set, in several processes too; other values are refused.
$ tern train m.ail --allow fileread --set lr=0.5 --set H=8 --out r --max-steps 7 -q 2> /dev/null
? 1
$ grep -o '"set":[^}]*}' r/run.json
| "set":{"H":"8","lr":"0.5"}
$ tern verify r --allow fileread
| verified: 7 of 20 steps, the history and the checkpoint agree in every bit, and so do the weights of step 7
$ tern train m.ail --allow fileread --resume r --set lr=0.25 -q 2>&1 | head -n 1
| error[E_CHECKPOINT_MISMATCH]: the checkpoint in `r/checkpoint` belongs to another run: it was made with other values of --set
$ tern train m.ail --allow fileread --resume r --set batch=8 -q 2>&1 | grep reason
|    = reason: it was made with other values of --set
$ tern train m.ail --allow fileread --resume r --set H=8 --ranks 2 -q | tail -n 1
| Training completed
$ tern verify r --allow fileread
| verified: every step, the history and the weights agree in every bit
$ hash() { tern train "$@" --allow fileread --json | sed 's/.*weights_sha256":"\([0-9a-f]*\).*/\1/'; }; test "$(hash m.ail --set lr=0.5 --set H=8)" = "$(sed 's/.*weights_sha256":"\([0-9a-f]*\).*/\1/' r/run.json)" && echo the bits of one run
| the bits of one run

# epochs replaces steps; lists and constants are values too.
$ tern train m.ail --allow fileread --set epochs=3 --set weight_decay=0.1 --set 'no_decay=[V]' --set batch=H | sed -n '/^Train:/,/no_decay/p'
| Train:
|   epochs: 3
|   steps: 8
|   lr: 0.1
|   batch_size: 4
|   optimizer: sgd
|   schedule: constant
|   weight_decay: 0.1
|   no_decay: [V]

# What cannot be set is refused before anything runs.
$ tern train m.ail --set learning_rate=0.1
! error[E_USAGE]: --set learning_rate: the train block has no such field, and the program no such const
!    = hint: did you mean `lr`?
! 
? 2
$ tern train m.ail --set flavour=0.1
! error[E_USAGE]: --set flavour: the train block has no such field, and the program no such const
!    = hint: it can set steps, epochs, batch, accumulate, warmup, shards, lr, min_lr, momentum, beta1, beta2, eps, decay, no_decay, weight_decay, clip_norm, optimizer, schedule, patience, keep, H
!
? 2
$ tern train m.ail --set stepss=3 --json | grep -o '"suggestion":"[a-z]*"\|"hint":"[^"]*"'
| "suggestion":"steps"
| "hint":"did you mean `steps`?"
$ tern train m.ail --set seed=3 2>&1 | head -n 2
| error[E_USAGE]: --set seed: the seed is an option of its own
|    = hint: --seed N
$ tern train m.ail --set loss=1 2>&1 | head -n 1
| error[E_USAGE]: --set loss: the loss is part of the model; change it in the program
$ tern train m.ail --set lr=1 --set lr=2 2>&1 | head -n 1
| error[E_USAGE]: --set lr is given twice
$ tern train m.ail --set lr 2>&1 | head -n 1
| error[E_USAGE]: --set takes NAME=VALUE, not lr

# An error in a value is shown in its text.
$ tern train m.ail --set lr=fast
! error[E_SYNTAX_ERROR]: `lr` is a number of at least 0
!   --> --set lr:1:1
!    |
!  1 | fast
!    | ^^^^
!    = line: 1
!    = col: 1
!
? 1
$ for value in '' '0.1 }' '1 2' '"x' '[1' 'f(' ; do tern train m.ail --set "lr=$value" 2>&1 | sed -n '1s/:.*//p'; done
| error[E_SYNTAX_ERROR]
| error[E_SYNTAX_ERROR]
| error[E_SYNTAX_ERROR]
| error[E_SYNTAX_ERROR]
| error[E_SYNTAX_ERROR]
| error[E_SYNTAX_ERROR]
$ tern train m.ail --allow fileread --set beta1=0.5 2>&1 | head -n 1
| error[E_SYNTAX_ERROR]: `beta1` needs `optimizer = "adam"` or `"adamw"`
$ tern train m.ail --allow fileread --set H=0 2>&1 | head -n 1
| error[E_INVALID_DIM_SPEC]: the shape of `W` is not possible: the constant is not positive
