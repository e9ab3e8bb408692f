# A class for every position: 0, 1 or 2 by what the token is modulo 3. The same rows in three formats.
$ awk 'BEGIN { for (i = 0; i < 30; i++) { t = l = ""
>   for (k = 0; k < 4; k++) { n = (7 * i + 5 * k * k + i * k) % 12; t = t (k ? "," : "") n; l = l (k ? "," : "") n % 3 }
>   print t "\t" l > "rows.tsv"; print "{\"tokens\": [" t "], \"labels\": [" l "]}" > "rows.jsonl"
>   print t "," l > "rows.csv" } }'
$ head -n 2 rows.tsv; head -n 1 rows.jsonl
| 0,5,8,9	0,2,2,0
| 7,1,5,7	1,1,2,1
| {"tokens": [0,5,8,9], "labels": [0,2,2,0]}
$ cat > m.ail <<'END'
> model {
>   tokens [B, T]
>   labels [B, T]
>   param E [12, 3] init zeros
>   logits = embedding(tokens, E)
> }
> train {
>   loss = xent(logits, labels)
>   steps = 60
>   lr = 5
> }
> dataset {
>   format = "tsv"
>   path = "rows.tsv"
>   split = 0.8
> }
> eval {
>   metrics = [loss, acc, top2, perplexity, precision, recall, f1]
>   every = 100
> }
> END
$ sed 's/tsv/jsonl/g' m.ail > j.ail
$ sed 's/tsv/csv/g; s/split = 0.8/&\n  header = false\n  tokens = 0-3\n  labels = 4-7/' m.ail > c.ail

# Metrics count every position. Before training all logits are 0: the loss is log(3), the first class is
# predicted everywhere, and the first two are the top two.
$ tern train m.ail --allow fileread --set lr=0 --steps 1 --out zero -q; tail -n 6 rows.tsv > last.tsv
| Step 0: loss = 1.098612
| eval/loss = 1.098612
| eval/accuracy = 0.2500
| eval/top2 = 0.5000
| eval/perplexity = 3.0000
| eval/precision = 0.0833
| eval/recall = 0.3333
| eval/f1 = 0.1333
| Training completed
$ awk '{ n = split($2, l, ","); for (i = 1; i <= n; i++) { c[l[i]]++; all++ } } END { p = c[0] / all; printf "%.6f %.4f %.4f %.4f %.4f %.4f\n", log(3), p, (c[0] + c[1]) / all, p / 3, 1 / 3, 2 * c[0] / (all + c[0]) / 3 }' last.tsv
| 1.098612 0.2500 0.5000 0.0833 0.3333 0.1333

# They are learned, with the same bits from each format.
$ for f in m j c; do tern train $f.ail --allow fileread --out $f --json | grep -o '"weights_sha256":"[^"]*"'; done | uniq | wc -l
| 1
$ tern train m.ail --allow fileread -q; tern verify j --allow fileread
| Step 59: loss = 0.037362
| eval/loss = 0.028277
| eval/accuracy = 1.0000
| eval/top2 = 1.0000
| eval/perplexity = 1.0287
| eval/precision = 1.0000
| eval/recall = 1.0000
| eval/f1 = 1.0000
| Training completed
| verified: every step, the history and the weights agree in every bit
$ tern evaluate j rows.jsonl; tern evaluate m rows.tsv | tail -n 1; tern evaluate c rows.csv | tail -n 1
| rows = 30
| loss = 0.029063
| accuracy = 1.0000
| top2 = 1.0000
| perplexity = 1.0295
| precision = 1.0000
| recall = 1.0000
| f1 = 1.0000
| f1 = 1.0000
| f1 = 1.0000

# So do arrays of two dimensions.
$ cat > arrays.py <<'END'
> import struct, zipfile
> rows = [[[int(n) for n in part.split(",")] for part in line.split("\t")] for line in open("rows.tsv")]
> with zipfile.ZipFile("rows.npz", "w") as archive:
>     for at, name in enumerate(["tokens", "labels"]):
>         header = "{'descr': '<i4', 'fortran_order': False, 'shape': (%d, 4), }" % len(rows)
>         header += " " * (63 - (len(header) + 10) % 64) + "\n"
>         numbers = [n for row in rows for n in row[at]]
>         data = struct.pack("<%di" % len(numbers), *numbers)
>         archive.writestr(name + ".npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)
> END
$ python3 arrays.py; sed 's/tsv/npz/g' m.ail > a.ail; tern train a.ail --allow fileread --out a -q > log; cmp a/weights.safetensors m/weights.safetensors; tern evaluate a rows.npz | head -n 2
| rows = 30
| loss = 0.029063

# A prediction has a class for every position, also of longer rows.
$ tern predict j rows.jsonl | head -n 2; tern predict j --input tokens='[[3, 4, 5, 6, 7, 8]]' --json | grep -o '"prediction":[^]]*]'
| 0 2 2 0
| 1 1 2 1
| "prediction":[0,1,2,0,1,2]

# A single number is a list of one; `label` replaces `labels`; the last of repeated keys counts.
$ printf '{"tokens": [3], "label": 0}\n{"tokens": [4], "labels": [9, 9], "labels": [1], "label": 2}\n' > one.jsonl
$ sed 's/rows/one/; s/0.8/1/; /^eval/,$d' j.ail > one.ail; tern train one.ail --allow fileread --out one -q > log && grep -o '"name":"labels","width":[0-9]*' one/data.json
| "name":"labels","width":1

# Names in several columns of CSV are one set of classes, numbered by their bytes.
$ cat > n.ail <<'END'
> model {
>   tokens [B, 2]
>   labels [B, 2]
>   param E [4, 3] init zeros
>   logits = embedding(tokens, E)
> }
> train {
>   loss = xent(logits, labels)
>   lr = 5
> }
> dataset {
>   format = "csv"
>   path = "n.csv"
>   tokens = ["a", "b"]
>   labels = ["second", "first"]
> }
> END
$ printf 'a,b,first,second\n0,1,noun,verb\n2,3,noun,7\n' > n.csv; tern train n.ail --allow fileread --out n -q > log; grep -o '"classes":[^]]*]' n/data.json; tern evaluate n n.csv
| "classes":["7","noun","verb"]
| rows = 2
| loss = 0.002668
| accuracy = 1.0000
$ printf 'a,b,first,second\n0,1,noun,adverb\n' > new.csv; tern evaluate n new.csv 2>&1 | head -n 1
| error[E_DATASET_LABEL_OUT_OF_RANGE]: label adverb in line 2 of `new.csv` is not one of the 3 classes
$ printf 'a,b,first,second\n0,1,1,verb\n' > n.csv; tern train n.ail --allow fileread 2>&1 | head -n 1
| error[E_DATASET_SCHEMA_WRONG_TYPE]: `second` in line 2 of `n.csv` is not a whole number

# Stages work on the lists: the length may change, and rows are kept whole.
$ cat > stage.ail <<'END'
> fn later(l) {
>   slice(l, 0, 1, 4)
> }
> fn front(t) {
>   slice(t, 0, 1, 4)
> }
> fn tagged(l) {
>   index(l, 0, 0) == 2
> }
> model {
>   tokens [B, T]
>   labels [B, T]
>   param E [12, 3] init zeros
>   logits = embedding(tokens, E)
> }
> train {
>   loss = xent(logits, labels)
>   lr = 5
> }
> dataset {
>   format = "jsonl"
>   path = "rows.jsonl"
>   map later(labels)
>   map front(tokens)
>   filter tagged(labels)
> }
> END
$ tern train stage.ail --allow fileread --out stage | grep 'count\|Step 199'; awk -F'\t' '{ split($2, l, ","); n += l[2] == 2 } END { print n }' rows.tsv; grep -o '"width":[0-9]*' stage/data.json
|   train_count: 10
|   val_count: 0
| Step 199: loss = 0.003557
| 10
| "width":3
| "width":3

# Mistakes are found when the file is read, with their line.
$ printf '{"tokens": [1, 2], "labels": [0, 1]}\n{"tokens": [1, 2], "labels": [0]}\n' > one.jsonl; tern train one.ail --allow fileread 2>&1 | head -n 1
| error[E_DATASET_DIM_MISMATCH]: row length 1 in line 2 of `one.jsonl`, where `labels` takes 2
$ printf '{"tokens": [1, 2], "labels": []}\n' > one.jsonl; tern train one.ail --allow fileread 2>&1 | head -n 1
| error[E_DATASET_DIM_MISMATCH]: row length 0 in line 1 of `one.jsonl`, where `labels` takes 1
$ printf '{"tokens": [1, 2], "labels": [0, 0.5]}\n' > one.jsonl; tern train one.ail --allow fileread 2>&1 | head -n 1
| error[E_DATASET_SCHEMA_WRONG_TYPE]: `labels` in line 1 of `one.jsonl` is not a list of whole numbers
$ printf '{"tokens": [1, 2], "labels": {}}\n' > one.jsonl; tern train one.ail --allow fileread 2>&1 | head -n 1
| error[E_DATASET_SCHEMA_WRONG_TYPE]: `labels` in line 1 of `one.jsonl` is not a list of whole numbers
$ printf '{"tokens": [1, 2], "labels": [0, 1\n' > one.jsonl; tern train one.ail --allow fileread 2>&1 | head -n 1
| error[E_DATASET_JSONL_PARSE_ERROR]: line 1 of `one.jsonl` is not JSON: the text ends too early
$ printf '{"tokens": [1, 2], "labels": [0, 1]}\n{"tokens": [1, 2], "labels": [0, 3]}\n' > one.jsonl; tern train one.ail --allow fileread 2>&1 | head -n 1
| error[E_DATASET_LABEL_OUT_OF_RANGE]: label 3 in line 2 of `one.jsonl` is not one of the 3 classes
$ printf '{"tokens": [1, 2], "labels": [0, 1, 1]}\n' > one.jsonl; tern train one.ail --allow fileread 2>&1 | head -n 1
| error[E_NAMED_DIM_CONFLICT]: dimension `T` is 2 and 3 at once
$ sed 's/labels \[B, T\]/labels [B, 3]/' one.ail > three.ail; printf '{"tokens": [1, 2, 3], "labels": [0, 1]}\n' > one.jsonl; tern train three.ail --allow fileread 2>&1 | head -n 1
| error[E_DATASET_DIM_MISMATCH]: row length 2 in line 1 of `one.jsonl`, where `labels` takes 3
$ printf '1,2\t0,1\n1,2\t0\n' > bad.tsv; sed 's/rows/bad/' m.ail > bad.ail; tern train bad.ail --allow fileread 2>&1 | head -n 1
| error[E_DATASET_DIM_MISMATCH]: row length 1 in line 2 of `bad.tsv`, where `labels` takes 2
$ printf '1,2\t0,x\n' > bad.tsv; tern train bad.ail --allow fileread 2>&1 | head -n 2
| error[E_DATASET_PARSE_ERROR]: line 1 of `bad.tsv` cannot be read: a label is not a whole number
|    --> bad.ail:14:10
$ sed 's/labels \[B, T\]/labels [B]/' c.ail > bad.ail; tern check bad.ail 2>&1 | grep '^error'
| error[E_SHAPE_MISMATCH]: shapes [B, T, 3] and [B] do not fit together in xent
| error[E_SYNTAX_ERROR]: labels are one column, unless the input is labels [B, T]
| error[E_EVAL_UNKNOWN_METRIC]: metric `acc` has no meaning here: it needs one logit per class for each row, [rows, classes], and the shape is [B, T, 3]
| error[E_EVAL_UNKNOWN_METRIC]: metric `top2` has no meaning here: it needs one logit per class for each row, [rows, classes], and the shape is [B, T, 3]
| error[E_EVAL_UNKNOWN_METRIC]: metric `perplexity` has no meaning here: it needs one logit per class for each row, [rows, classes], and the shape is [B, T, 3]
| error[E_EVAL_UNKNOWN_METRIC]: metric `precision` has no meaning here: it needs one logit per class for each row, [rows, classes], and the shape is [B, T, 3]
| error[E_EVAL_UNKNOWN_METRIC]: metric `recall` has no meaning here: it needs one logit per class for each row, [rows, classes], and the shape is [B, T, 3]
| error[E_EVAL_UNKNOWN_METRIC]: metric `f1` has no meaning here: it needs one logit per class for each row, [rows, classes], and the shape is [B, T, 3]
