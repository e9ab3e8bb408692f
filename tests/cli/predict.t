# Predictions of a trained run. The folder alone is enough: program and data are removed before.
$ cat > houses.ail <<'END'
> model {
>   x [B, 2]
>   price [B]
>   param W [2, 1]
>   param b [1]
>   y = reshape(linear(x, W, b), [@0])
> }
> train { loss = mse_loss(y, price) steps = 100 lr = 0.1 }
> dataset { format = "csv" path = "houses.csv" x = ["area", "rooms"] normalize = [x, price] missing = "mean" }
> END
$ printf 'id,area,rooms,price\n1,50,2,100\n2,60,3,125\n3,70,3,138\n4,80,4,165\n5,90,4,180\n' > houses.csv
$ cat > topics.ail <<'END'
> model {
>   tokens [B, T]
>   labels [B]
>   param E [40, 8]
>   param W [8, 2]
>   logits = matmul(meanpool(embedding(tokens, E)), W)
> }
> train { loss = xent(logits, labels) steps = 100 lr = 0.5 }
> dataset { format = "csv" path = "topics.csv" tokens = words("text", size = 40) labels = "topic" }
> END
$ cat > topics.csv <<'END'
> text,topic
> "boil the eggs, then peel them",cooking
> chop the onions and fry them,cooking
> the striker scored a late goal,sport
> "the keeper saved it, a great match",sport
> END
$ tern train houses.ail --allow fileread --out run -q && tern train topics.ail --allow fileread --out words -q
| Step 99: loss = 0.005347
| Training completed
| Step 99: loss = 0.030547
| Training completed
$ mkdir elsewhere && mv run words elsewhere && mv houses.csv topics.csv elsewhere && rm *.ail && cd elsewhere && mv * ..

# Rows with and without what is predicted, in any order of columns; numbers come out in the units of the data.
$ tern predict run houses.csv
| 98.87562
| 129.3584
| 137.35599
| 167.83876
| 175.83635
$ printf 'rooms,area\n2,50\n4,90\n' > new.csv && tern predict run new.csv
| 98.87562
| 175.83635
$ tern predict run --input x='[[50, 2], [90, 4]]'
| 98.87562
| 175.83635
# A missing number is the mean of the training rows, as the program says.
$ printf 'rooms,area\n3.2,\n3.2,70\n' > new.csv && tern predict run new.csv
| 141.85303
| 141.85303

# Classes have their names, and their probabilities.
$ tern predict words --text 'boil the eggs'
| cooking 0.9095, sport 0.0905
# Several texts are several rows, in order; each prediction is the same as for the text alone.
$ tern predict words --text 'boil the eggs' --text 'the goal' --text '' --text 'boil the eggs' > several.txt; cat several.txt
| cooking 0.9095, sport 0.0905
| cooking 0.6396, sport 0.3604
| cooking 0.8693, sport 0.1307
| cooking 0.9095, sport 0.0905
$ for text in 'boil the eggs' 'the goal' '' 'boil the eggs'; do tern predict words --text "$text"; done | cmp - several.txt
$ tern predict words --text 'boil the eggs' --text 'the goal' -o several.csv && cat several.csv
| prediction,cooking,sport
| cooking,0.9095477,0.090452336
| cooking,0.639606,0.36039403
$ tern predict words --text 'boil the eggs' --text 'the goal' --json | grep -o '"rows":[0-9]*'
| "rows":2
$ printf 'text\nboil the eggs\na great goal\n' > new.csv && tern predict words new.csv
| cooking 0.9095, sport 0.0905
| sport 0.7914, cooking 0.2086
$ tern predict words topics.csv -o a.csv && cat a.csv
| prediction,cooking,sport
| cooking,0.98169726,0.018302776
| cooking,0.9781739,0.02182606
| sport,0.03790058,0.9620994
| sport,0.018902317,0.9810977
$ tern predict words new.csv -o a.jsonl && cat a.jsonl
| {"prediction":"cooking","probabilities":{"cooking":0.9095477,"sport":0.090452336}}
| {"prediction":"sport","probabilities":{"cooking":0.20859125,"sport":0.7914087}}
$ tern predict words new.csv --json
| {"ok":true,"language":"ail","warnings":[],"rows":2,"predictions":[{"prediction":"cooking","probabilities":{"cooking":0.9095477,"sport":0.090452336}},{"prediction":"sport","probabilities":{"cooking":0.20859125,"sport":0.7914087}}]}
$ tern predict words new.csv --json -o a.npy && head -c 80 a.npy | tail -c 70 | tr -d ' '
| {"ok":true,"language":"ail","warnings":[],"rows":2,"file":"a.npy"}
| {'descr':'<f4','fortran_order':False,'shape':(2,2),}
\ no newline

# The bits of a prediction do not depend on other rows, nor on threads. Memory does not grow with the
# file: 40,000 rows in a limit that holds a few thousand.
$ awk 'BEGIN { print "area,rooms"; for (i = 0; i < 3000; i++) printf "%d.%d,%d\n", 20 + i % 171, i % 7, 1 + i % 9 }' > big.csv
$ tern predict run big.csv > all && tern predict run big.csv --threads 1 | cmp - all && wc -l < all
| 3000
$ for from in 2 1027 3000; do { head -n 1 big.csv; sed -n "$from,\$p" big.csv; } > part.csv
>   tail -n +$((from - 1)) all > tail; tern predict run part.csv | cmp - tail; done
$ { cat big.csv; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do tail -n +2 big.csv; done; } > huge.csv
$ tern predict run huge.csv --max-mem 2M -o huge.jsonl && wc -l < huge.jsonl
| 39000

# TSV without its label column, JSONL without its label key; a row that is not as long as those of training.
$ cat > two.ail <<'END'
> model { x [B, 2] labels [B] param W [2, 2] logits = matmul(x, W) }
> train { loss = xent(logits, labels) steps = 20 lr = 0.1 }
> dataset { format = "tsv" path = "two.tsv" }
> END
$ sed 's/"tsv"/"jsonl"/; s/two.tsv" }/two.jsonl" tokens = "x" }/' two.ail > three.ail
$ printf '1\t0.5\t0\n-2\t3\t1\n' > two.tsv
$ printf '{"x": [1, 0.5], "labels": 0}\n{"x": [-2, 3], "labels": 1}\n' > two.jsonl
$ tern train two.ail --allow fileread --out tsv -q > log && tern train three.ail --allow fileread --out jsonl -q > log
$ tern predict tsv two.tsv
| 1 0.5386, 0 0.4614
| 1 0.9919, 0 0.0081
$ cut -f 1,2 two.tsv > bare.tsv && tern predict tsv bare.tsv
| 1 0.5386, 0 0.4614
| 1 0.9919, 0 0.0081
$ printf '{"x": [1, 0.5]}\n{"x": [-2, 3], "labels": "?"}\n' > bare.jsonl && tern predict jsonl bare.jsonl
| 1 0.5386, 0 0.4614
| 1 0.9919, 0 0.0081
$ printf '1\t2\t3\t4\n' > bare.tsv && tern predict tsv bare.tsv --json | cut -c 1-90
| {"ok":false,"diagnostics":[{"code":"E_DATASET_DIM_MISMATCH","severity":"error","phase":"da

# Errors in a file are reported with line and column; no output file is left.
$ printf 'area,rooms\n50,2\n60,x\n' > bad.csv && cp a.csv before.csv
$ tern predict run bad.csv -o a.csv 2>&1 | grep -e '^error' -e line: -e col:; cmp a.csv before.csv
| error[E_DATASET_SCHEMA_WRONG_TYPE]: `rooms` in line 3 of `bad.csv` is not a number
|    = line: 3
|    = col: 4
$ printf 'area\n50\n' > bad.csv && tern predict run bad.csv 2>&1 | head -n 1
| error[E_DATASET_SCHEMA_MISSING_FIELD]: line 1 of `bad.csv` has no `rooms`
$ printf '[1]\n' > bad.jsonl && tern predict jsonl bad.jsonl 2>&1 | head -n 1
| error[E_DATASET_JSONL_PARSE_ERROR]: line 1 of `bad.jsonl` is not JSON: a line is one object
$ tern predict run missing.csv
! error[E_FILE_NOT_FOUND]: there is no file `missing.csv`
!    = path: missing.csv
!    = hint: paths are relative to the current folder
!
? 1

# A model that combines rows cannot predict a single one, only all rows that --input gives.
$ sed 's/matmul(x, W)/softmax(matmul(x, W), 0)/' two.ail > join.ail
$ tern train join.ail --allow fileread --out join -q > log; tern predict join two.tsv 2>&1 | head -n 1
| error[E_ROWS_NOT_INDEPENDENT]: `logits` of a row depends on the other rows
$ tern predict join --input x='[[1, 0.5], [-2, 3]]'
| 0 0.6611, 1 0.3389
| 1 0.6611, 0 0.3389

# The folder may come from anybody: damage is detected.
$ cp -r run hurt && sed -i 's/"mean":\[70/"mean":[71/' hurt/data.json && tern predict hurt new.csv
! error[E_FILE_CORRUPT]: `hurt/data.json` is not a whole data.json file: it was changed: its hash does not match
!    = path: hurt/data.json
!    = format: data.json
!    = reason: it was changed: its hash does not match
!    = hint: create the file again; it may be truncated or in another format
!
? 1
$ rm hurt/weights.safetensors && tern predict hurt new.csv 2>&1 | head -n 1
| error[E_FILE_NOT_FOUND]: there is no file `hurt/weights.safetensors`

# The command line.
$ tern predict
! error[E_USAGE]: tern predict needs the folder of a run: tern predict RUN [DATA]
!    = hint: such as `tern predict runs/1 new.csv`; `tern help predict` shows its options
!
? 2
$ tern predict run 2>&1 | head -n 1
| error[E_USAGE]: there are no rows to predict: name a file, or give --text or --input
$ tern predict run new.csv --text a 2>&1 | head -n 1
| error[E_USAGE]: rows come from a file or are --text, not both
$ tern predict run --text a 2>&1 | head -n 1
| error[E_USAGE]: --text is for a program whose data is text: tokens = words(...), chars, bytes or bpe
$ tern predict run --input price='[1]' 2>&1 | head -n 1
| error[E_USAGE]: the answer needs the input `x`: name a file of rows, or give it by --input
$ tern predict run new.csv -o answers.txt 2>&1 | head -n 1
| error[E_USAGE]: predictions are written as .csv, .jsonl or .npy, not as answers.txt
