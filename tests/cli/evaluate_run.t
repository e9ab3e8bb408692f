# The metrics of a trained run on the rows of a file. On the rows that it was trained on they are those of its
# last evaluation, to the bit, also where there are more rows than go through the model at once.
$ cat > two.ail <<'END'
> model { x [B, 2] labels [B] param W [2, 2] logits = matmul(x, W) }
> train { loss = xent(logits, labels) steps = 20 lr = 0.1 }
> dataset { format = "csv" path = "two.csv" x = 0-1 labels = "kind" normalize = [x] }
> eval { metrics = [loss, accuracy, f1] split = "train" every = 100 }
> END
$ awk 'BEGIN { print "a,b,kind"; for (i = 0; i < 2500; i++) print i % 17 "," i % 5 "," (i % 3 > 0 ? "up" : "down") }' > two.csv
$ tern train two.ail --allow fileread --out run -q > log && tail -n 1 run/history.jsonl | sed 's/.*"eval"/"eval"/'
| "eval":{"loss":0.7844106,"accuracy":0.5016,"f1":0.5747440273037543}}
$ tern evaluate run two.csv --json
| {"ok":true,"language":"ail","warnings":[],"rows":2500,"metrics":{"loss":0.7844106,"accuracy":0.5016,"f1":0.5747440273037543}}
$ tern evaluate run two.csv
| rows = 2500
| loss = 0.784411
| accuracy = 0.5016
| f1 = 0.5747

# Classes have the numbers of training, whatever order they have in this file, and rows its statistics.
$ printf 'kind,b,a\nup,3,7\n' > one.csv && sed -i 's/x = 0-1/x = ["a", "b"]/' two.ail
$ tern train two.ail --allow fileread --out named -q > log && tern evaluate named one.csv | tail -n 3
| loss = 0.520847
| accuracy = 1.0000
| f1 = 1.0000
$ tern predict named one.csv
| up 0.5940, down 0.4060

# Without an eval block: the loss, and accuracy where there are classes.
$ sed -i '/^eval/d' two.ail && tern train two.ail --allow fileread --out plain -q > log && tern evaluate plain one.csv
| rows = 1
| loss = 0.520847
| accuracy = 1.0000

# Errors in the file.
$ printf 'a,b,kind\n1,2,up\n1,2,sideways\n' > bad.csv && tern evaluate run bad.csv --json
| {"ok":false,"diagnostics":[{"code":"E_DATASET_LABEL_OUT_OF_RANGE","severity":"error","phase":"data","title":"label sideways in line 3 of `bad.csv` is not one of the 2 classes","fields":{"path":"bad.csv","line":"3","label":"sideways","num_classes":"2"},"span":null,"hint":"labels count from 0; the last dimension of the logits is the number of classes"}]}
? 1
$ printf 'a,b\n1,2\n' > bad.csv && tern evaluate run bad.csv 2>&1 | head -n 1
| error[E_DATASET_SCHEMA_MISSING_FIELD]: line 1 of `bad.csv` has no `kind`
$ tern evaluate run 2>&1 | head -n 1
| error[E_USAGE]: tern evaluate needs a run and a file: tern evaluate RUN DATA
$ tern evaluate run nowhere.csv 2>&1 | head -n 1
| error[E_FILE_NOT_FOUND]: there is no file `nowhere.csv`
