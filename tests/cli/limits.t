# Each limit has its own code, in every language.
$ echo '100000000 [REPEAT] 1 [DROP] [END]' > loop.nth
$ tern loop.nth --max-steps 1000 2> said
? 1
$ head -1 said
| error[E_LOOP_LIMIT]: the program took more than the 1000 steps that --max-steps allows
$ tern loop.nth --max-time 0.2 2>&1 | head -1
| error[E_TIME_LIMIT]: the program ran longer than the 0.2 seconds that --max-time allows

# A name and the arithmetic after it are two steps, on numbers and on tensors.
$ echo '1 -> b 3 b [ADD] b [MUL]' > numbers.nth; echo '(1 2) -> b (3 4) b [ADD] b [MUL]' > tensors.nth
$ for file in numbers tensors; do tern $file.nth --max-steps 7; tern $file.nth --max-steps 6 2>&1 | head -1; done
| 4
| error[E_LOOP_LIMIT]: the program took more than the 6 steps that --max-steps allows
| (4 12)
| error[E_LOOP_LIMIT]: the program took more than the 6 steps that --max-steps allows

$ cat > deep.mind <<'END'
> fn f(n: i32) -> i32 { if n < 2 { n } else { f(n - 1) + f(n - 2) } }
> f(60)
> END
$ tern deep.mind --max-steps 1000 2>&1 | head -1
| error[E_LOOP_LIMIT]: the program took more than the 1000 steps that --max-steps allows
$ tern deep.mind --max-time 0.2 2>&1 | head -1
| error[E_TIME_LIMIT]: the program ran longer than the 0.2 seconds that --max-time allows
$ tern eval 'sum(rand((1000, 1000)))' --max-mem 1M 2>&1 | head -1
| error[E_MEMORY_LIMIT]: the program needs more than the 1048576 bytes that --max-mem allows
$ tern eval '1 + 2' --max-steps 3
| 3

$ cat > train.ail <<'END'
> model {
>   x [B, 2]
>   labels [B]
>   param W [2, 2]
>   logits = matmul(x, W)
> }
> train { loss = xent(logits, labels) steps = 1000000000 lr = 0.01 }
> END
$ tern train train.ail --max-steps 3 --out run > printed 2> said
? 1
$ head -1 said
| error[E_LOOP_LIMIT]: the program took more than the 3 steps that --max-steps allows
# Completed steps are kept, and the limit counts from there.
$ tern train train.ail --max-steps 2 --resume run > /dev/null 2>&1; wc -l < run/history.jsonl
| 5
$ tern train train.ail --max-time 0.2 2>&1 | grep error
| error[E_TIME_LIMIT]: the program ran longer than the 0.2 seconds that --max-time allows
$ tern train train.ail --max-mem 20K 2>&1 | grep error
| error[E_MEMORY_LIMIT]: the program needs more than the 20480 bytes that --max-mem allows

# A step of a machine is a state that it enters.
$ cat > machine.ail <<'END'
> state_machine Gate {
>   state Locked { on start -> Waiting }
>   state Waiting { on input -> Open }
>   state Open { end }
> }
> END
$ tern run machine.ail --event input --max-steps 3
| State machine Gate: Locked -> Waiting -> Open (ended)
$ tern run machine.ail --event input --max-steps 2 2>&1 | head -1
| error[E_LOOP_LIMIT]: the program took more than the 2 steps that --max-steps allows

# Parsing a long text is stopped as well, in every language.
$ yes 'let a = 1 + 2' | head -1000000 > long.mind
$ (echo 'model { x [4]'; yes 'h = relu(x)' | head -500000; echo '}') > long.ail
$ yes '1 [DROP]' | head -2000000 > long.nth
$ for language in mind ail nth; do tern run long.$language --max-time 0.02 2>&1 | head -1; done
| error[E_TIME_LIMIT]: the program ran longer than the 0.02 seconds that --max-time allows
| error[E_TIME_LIMIT]: the program ran longer than the 0.02 seconds that --max-time allows
| error[E_TIME_LIMIT]: the program ran longer than the 0.02 seconds that --max-time allows
$ tern emit long.mind --as graph --max-time 0.02 2>&1 | head -1
| error[E_TIME_LIMIT]: the program ran longer than the 0.02 seconds that --max-time allows
$ sh $TESTS/support/signal.sh TERM tern check long.mind 2>&1 | head -1
| error[E_INTERRUPTED]: interrupted

# An operation that would take hours is stopped while it runs, by the clock and by a signal, with every set of
# kernels.
$ for isa in portable ref; do TERN_ISA=$isa tern eval 'sum(zeros((1048575, 1048576)))' --max-time 0.1 2>&1 | head -1; done
| error[E_TIME_LIMIT]: the program ran longer than the 0.1 seconds that --max-time allows
| error[E_TIME_LIMIT]: the program ran longer than the 0.1 seconds that --max-time allows
$ for what in 'max(zeros((1048575, 1048576)))' 'mean(zeros((1048575, 1048576)), axes=[0])' 'sum(exp(zeros((1048575, 1024, 1024))))' 'argmax(zeros((500, 2000000000)), axis=1)' 'matmul(zeros((1, 100000000000)), zeros((100000000000, 1)))'; do tern eval "$what" --max-time 0.1 2>&1 | head -1; done
| error[E_TIME_LIMIT]: the program ran longer than the 0.1 seconds that --max-time allows
| error[E_TIME_LIMIT]: the program ran longer than the 0.1 seconds that --max-time allows
| error[E_TIME_LIMIT]: the program ran longer than the 0.1 seconds that --max-time allows
| error[E_TIME_LIMIT]: the program ran longer than the 0.1 seconds that --max-time allows
| error[E_TIME_LIMIT]: the program ran longer than the 0.1 seconds that --max-time allows
$ sh $TESTS/support/signal.sh INT tern eval 'sum(zeros((1048575, 1048576)))' 2>&1 | head -1
| error[E_INTERRUPTED]: interrupted
