# Twelve training rows, and twelve validation rows on which the model soon overfits.
$ cat > rows.tsv <<'ROWS'
> 0.09	1.25	-0.93	0.99	-0.26	-0.26	1
> 0.16	-0.04	0.73	1.13	-0.03	0.59	0
> -0.37	-0.44	-1.33	-1.51	-1.63	-0.24	0
> -0.32	0.07	-1.34	-0.08	0.24	0.75	0
> -0.40	-2.02	-0.50	-2.20	-1.42	1.10	0
> 0.80	0.33	-0.31	0.46	0.53	1.05	1
> -0.59	-0.60	-0.99	-0.04	-0.79	1.07	0
> -1.09	-0.95	-2.09	1.90	-2.41	-0.28	0
> 1.66	-1.99	1.07	-0.73	-0.16	-0.67	1
> -1.14	-0.08	0.35	1.84	-2.41	1.53	0
> -0.48	0.30	-0.47	1.65	0.21	-0.22	0
> -0.20	-0.18	-0.88	2.06	-1.91	-3.61	0
> -0.15	0.37	-0.20	-0.15	0.33	0.97	0
> -0.37	1.94	0.53	-0.99	2.32	0.78	0
> -1.17	0.30	-0.83	-1.06	-1.30	-0.51	0
> -0.43	-1.45	0.67	0.07	0.84	1.20	0
> -0.14	-0.05	-1.13	0.67	1.37	0.17	0
> -0.26	-0.78	-0.80	-0.40	-0.84	-0.44	0
> 0.35	0.05	-1.15	-2.30	-0.01	1.10	0
> -0.48	-0.57	0.65	-0.92	0.99	-0.30	1
> 0.03	-0.23	-1.48	-0.69	-0.26	0.66	1
> -0.70	0.41	0.99	-0.15	-0.44	-0.39	1
> 0.54	-0.93	0.37	-0.48	-0.75	1.24	1
> -0.72	0.08	0.50	-0.64	-0.12	0.67	0
> ROWS
$ cat > m.ail <<'END'
> model {
>   x [B, 6]
>   labels [B]
>   param W [6, 16]
>   param V [16, 2]
>   logits = matmul(tanh(matmul(x, W)), V)
> }
> train {
>   loss = xent(logits, labels)
>   steps = 400
>   lr = 0.05
>   shards = 2
>   patience = 3
> }
> dataset {
>   format = "tsv"
>   path = "rows.tsv"
>   split = 0.5
> }
> eval {
>   metrics = [loss, acc]
>   every = 10
> }
> END

# After three evaluations without a better one a run ends, and keeps the model of the best.
$ tern train m.ail --allow fileread --out run | sed '1,/Starting/d'
| Step 0: loss = 0.637534
| eval/loss = 0.625525
| eval/accuracy = 0.5833
| Step 10: loss = 0.484525
| eval/loss = 0.615730
| eval/accuracy = 0.7500
| Step 20: loss = 0.287036
| eval/loss = 0.664717
| eval/accuracy = 0.5833
| Step 30: loss = 0.332247
| eval/loss = 0.718643
| eval/accuracy = 0.4167
| Step 40: loss = 0.179923
| eval/loss = 0.773616
| eval/accuracy = 0.3333
| Stopped early: loss did not improve in 3 evaluations
| Best: step 10, eval/loss = 0.615730
| Training completed

# That model is the one that training up to the best step gives, to the byte.
$ tern train m.ail --allow fileread --out short --set keep=last --steps 11 -q > log; cmp run/weights.safetensors short/weights.safetensors
$ tern verify run --allow fileread
| verified: every step, the history and the weights agree in every bit
$ tern predict run --input x='[[1,0,0,0,0,0]]' > a; tern predict short --input x='[[1,0,0,0,0,0]]' | cmp - a

# keep = "last" ends as early with the parameters of the last step; keep = "best" alone ends late.
$ tern train m.ail --allow fileread --out last --set keep=last -q; tern train m.ail --allow fileread --out plain --set keep=last --set patience=100 --steps 41 -q > log; cmp last/weights.safetensors plain/weights.safetensors
| Step 40: loss = 0.179923
| eval/loss = 0.773616
| eval/accuracy = 0.3333
| Stopped early: loss did not improve in 3 evaluations
| Training completed
$ sed '/patience/d; s/lr = 0.05/&\n  keep = "best"/' m.ail > late.ail; tern train late.ail --allow fileread --steps 60 --out late -q; cmp late/weights.safetensors run/weights.safetensors
| Step 59: loss = 0.078518
| eval/loss = 0.868555
| eval/accuracy = 0.3333
| Best: step 10, eval/loss = 0.615730
| Training completed

# The first metric decides; for accuracy more is better, and the first of equals stays.
$ sed 's/\[loss, acc\]/[acc, loss]/' m.ail > acc.ail; tern train acc.ail --allow fileread | sed '1,/Starting/d'
| Step 0: loss = 0.637534
| eval/accuracy = 0.5833
| eval/loss = 0.625525
| Step 10: loss = 0.484525
| eval/accuracy = 0.7500
| eval/loss = 0.615730
| Step 20: loss = 0.287036
| eval/accuracy = 0.5833
| eval/loss = 0.664717
| Step 30: loss = 0.332247
| eval/accuracy = 0.4167
| eval/loss = 0.718643
| Step 40: loss = 0.179923
| eval/accuracy = 0.3333
| eval/loss = 0.773616
| Stopped early: accuracy did not improve in 3 evaluations
| Best: step 10, eval/accuracy = 0.7500
| Training completed

# A run that was stopped is resumed with its count, alone and with other ranks, and leaves the same files.
$ for at in 5 15 35; do
>   rm -rf part; tern train m.ail --allow fileread --out part --max-steps $at -q 2> err > log
>   tern train m.ail --allow fileread --resume part --out part -q > log && diff -r run part && tern verify part --allow fileread
> done
| verified: every step, the history and the weights agree in every bit
| verified: every step, the history and the weights agree in every bit
| verified: every step, the history and the weights agree in every bit
$ tern train m.ail --allow fileread --out ranks --ranks 2 -q > log; diff -r run ranks
$ rm -rf part; tern train m.ail --allow fileread --out part --max-steps 15 -q 2> err > log; tern train m.ail --allow fileread --resume part --out part --ranks 2 -q > log; diff -r run part

# One that has ended early is not continued.
$ cp -r run again; tern train m.ail --allow fileread --resume again --out again -q; diff -r run again
| Stopped early: loss did not improve in 3 evaluations
| Best: step 10, eval/loss = 0.615730
| Training completed
! warning[E_NO_STEPS_LEFT]: the run in `again` has ended early, after 41 steps of 400: `patience = 3`: nothing was trained
!    = path: again
!    = done: 41
!    = steps: 400
!    = patience: 3
!    = hint: train it again with more than `patience = 3`
!
$ tern train m.ail --allow fileread --resume run --ranks 2 -q --json | grep -o '"code":"[A-Z_]*"\|"steps":[0-9][0-9]*\|"best_step":[0-9]*'
| "code":"E_NO_STEPS_LEFT"
| "steps":41
| "best_step":10

# The history of runs has the hash of the saved model.
$ tern train m.ail --allow fileread --store h.db --out told --json | sed 's/.*"weights_sha256":"\([0-9a-f]*\)".*/\1/' > hash
$ test $(tern runs show told --store h.db | sed -n 's/^weights_sha256 *//p') = $(cat hash) && echo same
| same

# The model of another step, a history with more steps and a checkpoint of another run are found.
$ cp -r run bad; cp last/weights.safetensors bad; tern verify bad --allow fileread 2>&1 | head -n 1
| error[E_VERIFY_DIFFERS]: the recorded run and its repetition differ: weights.safetensors, at step 41
$ rm -rf bad; cp -r run bad; cp late/history.jsonl bad; tern verify bad --allow fileread 2>&1 | head -n 1
| error[E_VERIFY_DIFFERS]: the recorded run and its repetition differ: the step at which training ended, at step 41
$ rm -rf bad; cp -r run bad; cp last/checkpoint bad; tern train m.ail --allow fileread --resume bad -q 2>&1 | head -n 1
| error[E_CHECKPOINT_MISMATCH]: the checkpoint in `bad/checkpoint` belongs to another run: it was made with other values of --set

# Both need something to compare.
$ sed '/^eval/,$d' m.ail > none.ail; tern check none.ail 2>&1 | grep '^error'; tern check none.ail > err 2>&1
| error[E_SYNTAX_ERROR]: `patience` needs an eval block, whose first metric decides
? 1
$ for value in patience=0 patience=1.5 keep=first keep=2; do tern train m.ail --allow fileread --set $value 2>&1 | grep '^error'; done
| error[E_SYNTAX_ERROR]: `patience` is a whole number of at least 1
| error[E_SYNTAX_ERROR]: `patience` is a whole number of at least 1
| error[E_SYNTAX_ERROR]: `keep` is "best" or "last"
| error[E_SYNTAX_ERROR]: `keep` is "best" or "last"
