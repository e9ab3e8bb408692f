# Six rows of twenty-four are set aside for the end.
$ awk 'BEGIN { for (i = 0; i < 24; i++) { a = (7 * i) % 10; b = (3 * i + 1) % 10; print a "\t" b "\t" (a > b) } }' > rows.tsv
$ cat > m.ail <<'END'
> model {
>   x [B, 2]
>   labels [B]
>   param W [2, 2]
>   logits = matmul(x, W)
> }
> train {
>   loss = xent(logits, labels)
>   steps = 40
>   lr = 0.01
> }
> dataset {
>   format = "tsv"
>   path = "rows.tsv"
>   split = 0.5
>   test = 0.25
> }
> eval {
>   metrics = [loss, acc]
> }
> END
$ tern train m.ail --allow fileread --out run | sed '/^Step/,$!{/count/!d}'
|   train_count: 12
|   val_count: 6
|   test_count: 6
| Step 0: loss = 5.162823
| eval/loss = 9.144970
| eval/accuracy = 0.5000
| Step 10: loss = 0.444730
| Step 20: loss = 5.556623
| eval/loss = 4.801728
| eval/accuracy = 0.5000
| Step 30: loss = 1.051395
| Step 39: loss = 0.523560
| eval/loss = 0.712254
| eval/accuracy = 0.5000
| test/loss = 0.651364
| test/accuracy = 0.6667
| Training completed
$ tern verify run --allow fileread
| verified: every step, the history and the weights agree in every bit

# They are the last ones: `tern evaluate` gives the same metrics for them.
$ tail -n 6 rows.tsv > last.tsv; tern evaluate run last.tsv
| rows = 6
| loss = 0.651364
| accuracy = 0.6667
$ tail -n 1 run/history.jsonl
| {"step":39,"loss":0.52355987,"eval":{"loss":0.712254,"accuracy":0.5},"test":{"loss":0.6513644,"accuracy":0.6666666666666666}}

$ tern train m.ail --allow fileread --log json | grep -o '"test":{[^}]*}'
| "test":{"loss":0.651364386,"accuracy":0.666666667}
| "test":{"loss":0.6513644,"accuracy":0.6666666666666666}

# The measured model is the saved one.
$ tern train m.ail --allow fileread --set lr=0.3 --set keep=best --out best -q; tern evaluate best last.tsv; tern verify best --allow fileread
| Step 39: loss = 0.031067
| eval/loss = 0.057956
| eval/accuracy = 1.0000
| test/loss = 0.084559
| test/accuracy = 1.0000
| Best: step 20, eval/loss = 0.026153
| Training completed
| rows = 6
| loss = 0.084559
| accuracy = 1.0000
| verified: every step, the history and the weights agree in every bit
$ tern train m.ail --allow fileread --set lr=0.3 --set patience=1 --out best -q; tern evaluate best last.tsv; tern verify best --allow fileread
| Step 39: loss = 0.031067
| eval/loss = 0.057956
| eval/accuracy = 1.0000
| test/loss = 0.084559
| test/accuracy = 1.0000
| Stopped early: loss did not improve in 1 evaluation
| Best: step 20, eval/loss = 0.026153
| Training completed
| rows = 6
| loss = 0.084559
| accuracy = 1.0000
| verified: every step, the history and the weights agree in every bit

# Stopped and resumed, for more steps and with other ranks: once, at the end.
$ tern train m.ail --allow fileread --out part --max-steps 17 -q > log 2>&1; tern train m.ail --allow fileread --resume part --out part -q > log; diff -r run part
$ tern train m.ail --allow fileread --out long --steps 50 -q > log; tern train m.ail --allow fileread --resume part --out part --steps 50 -q > log; grep -c test part/history.jsonl; grep -c test long/history.jsonl; tail -n 1 part/history.jsonl > a; tail -n 1 long/history.jsonl | cmp - a
| 2
| 1
$ tern verify part --allow fileread
| verified: every step, the history and the weights agree in every bit
$ sed 's/lr = 0.01/&\n  shards = 2/' m.ail > s.ail; tern train s.ail --allow fileread --out one -q > log; tern train s.ail --allow fileread --out two --ranks 2 -q > log; diff -r one two

# CSV, whose statistics come from the rows that are trained on, and a text, whose last tokens are set aside.
$ (echo a,b,c; awk '{ print $1 "," $2 "," 2 * $1 - $2 }' rows.tsv) > rows.csv; (head -n 1 rows.csv; tail -n 6 rows.csv) > last.csv
$ cat > c.ail <<'END'
> model {
>   x [B, 2]
>   c [B]
>   param W [2, 1]
>   y = reshape(matmul(x, W), [@0])
> }
> train {
>   loss = mse(y, c)
>   steps = 40
> }
> dataset {
>   format = "csv"
>   path = "rows.csv"
>   x = ["a", "b"]
>   normalize = [x, c]
>   split = 0.5
>   test = 0.25
> }
> eval {
>   metrics = [loss, mae]
> }
> END
$ tern train c.ail --allow fileread --out c -q; tern evaluate c last.csv
| Step 39: loss = 0.000002
| eval/loss = 0.000002
| eval/mae = 0.0012
| test/loss = 0.000001
| test/mae = 0.0007
| Training completed
| rows = 6
| loss = 0.000001
| mae = 0.0007
$ awk 'BEGIN { for (i = 0; i < 200; i++) printf "%s", substr("abcabd", i % 6 + 1, 1) }' > text.txt; tail -c 50 text.txt > last.txt
$ cat > t.ail <<'END'
> model {
>   tokens [B, 4]
>   labels [B, 4]
>   param E [6, 6]
>   logits = embedding(tokens, E)
> }
> train {
>   loss = xent(logits, labels)
>   steps = 60
>   lr = 1
> }
> dataset {
>   format = "text"
>   path = "text.txt"
>   tokens = chars()
>   split = 0.6
>   test = 0.25
> }
> eval {
>   metrics = [loss, acc, perplexity]
> }
> END
$ tern train t.ail --allow fileread --out t | sed '/^Step 59/,$!{/count/!d}'; tern evaluate t last.txt
|   train_count: 116
|   val_count: 7
|   test_count: 12
| Step 59: loss = 0.250054
| eval/loss = 0.294958
| eval/accuracy = 0.8571
| eval/perplexity = 1.3431
| test/loss = 0.306907
| test/accuracy = 0.8333
| test/perplexity = 1.3592
| Training completed
| rows = 12
| loss = 0.306907
| accuracy = 0.8333
| perplexity = 1.3592

# Without rows for validation only the test is measured; patience then has nothing to go by. A part of no row is said.
$ sed 's/split = 0.5/split = 0.75/' m.ail > none.ail; tern train none.ail --allow fileread 2>&1 | grep '^warning\|^[te]'; tern train none.ail --allow fileread --set patience=2 2>&1 | grep '^warning\|^[te]'
| test/loss = 0.627620
| test/accuracy = 0.6667
| test/loss = 0.627620
| test/accuracy = 0.6667
| warning[E_EVAL_SPLIT_EMPTY]: the val split has no rows, so it is not evaluated
$ sed 's/test = 0.25/test = 0.01/' m.ail > few.ail; tern train few.ail --allow fileread 2>&1 | grep '^warning\|^test'
| warning[E_EVAL_SPLIT_EMPTY]: the test split has no rows, so it is not evaluated

# What cannot be is refused.
$ for value in 0 1 -0.5 '"x"' 0.51; do sed "s/test = 0.25/test = $value/" m.ail > bad.ail; tern check bad.ail 2>&1 | grep '^error'; done
| error[E_SYNTAX_ERROR]: `test` is a number between 0 and 1
| error[E_SYNTAX_ERROR]: `test` is a number between 0 and 1
| error[E_SYNTAX_ERROR]: `test` is a number between 0 and 1
| error[E_SYNTAX_ERROR]: `test` is a number between 0 and 1
| error[E_SYNTAX_ERROR]: `test` and `split` are at most 1 together, as in `split = 0.8`, `test = 0.1`
$ sed '/^eval/,$d' m.ail > bad.ail; tern check bad.ail 2>&1 | grep '^error'
| error[E_SYNTAX_ERROR]: `test` needs an eval block, whose metrics it measures
$ sed 's/split = 0.5/split = 0.7/; s/test = 0.25/test = 0.3/' m.ail > fine.ail; tern check fine.ail
| fine.ail: ok
