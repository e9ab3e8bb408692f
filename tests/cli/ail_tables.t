# JSONL and TSV as tables: several inputs, texts, class names, statistics. The same rows in CSV give the same
# model, to the bit.
$ cat > model.ail <<'END'
> model {
>   tokens [B, 4]
>   x [B, 2]
>   labels [B]
>   param E [20, 3]
>   param W [5, 3]
>   logits = matmul(concat(1, meanpool(embedding(tokens, E)), x), W)
> }
> train { loss = xent(logits, labels) steps = 8 lr = 0.2 }
> END
$ cat > hash <<'END'
> { cat model.ail; echo "dataset { format = \"$1\" path = \"rows.$1\" tokens = words(\"text\", size=9) $2 }"; } > $1.ail
> tern train $1.ail --allow fileread --out run-$1 --json | sed 's/.*"weights_sha256":"\([0-9a-f]\{8\}\).*/\1/
> s/.*"code":"\([A-Z0-9_]*\)".*"fields":\({[^}]*}\).*"line":\([0-9]*\),"col":\([0-9]*\),.*/\1 \2 \3:\4/'
> END
$ cat > rows.csv <<'END'
> text,area,rooms,kind
> the old house,90,4,house
> "a flat, new",55,,flat
> a garage,20,1,garage
> the new flat,60,3,flat
> END
$ tr ',' '\t' > rows.tsv <<'END'
> text,area,rooms,kind
> the old house,90,4,house
> END
$ printf 'a flat, new\t55\t\tflat\na garage\t20\t1\tgarage\nthe new flat\t60\t3\tflat\n' >> rows.tsv
$ cat > rows.jsonl <<'END'
> {"text": "the old house", "area": 90, "rooms": 4, "kind": "house"}
> {"kind": "flat", "rooms": null, "area": 5.5e1, "text": "a flat,\u0020new"}
> {"text": "?", "id": [{"a": {}}], "area": 20, "rooms": true, "kind": "garage", "text": "a garage"}
> {"text": "the new flat", "area": 60, "rooms": 3, "kind": "flat"}
> END
$ cat > all <<'END'
> fields='x = ["area", "rooms"] labels = "kind" missing = "mean" normalize = [x]'
> sh hash csv "$fields"; sh hash tsv "$fields header = true"; sh hash tsv "$fields"; sh hash jsonl "$fields"
> END
$ sh all
| 2843f45d
| 2843f45d
| 2843f45d
| 2843f45d
$ cmp run-csv/data.json run-jsonl/data.json && cmp run-csv/data.json run-tsv/data.json && cat run-jsonl/data.json
| {"inputs":[{"name":"tokens","width":4,"tokens":"words","vocabulary":["a","flat","new","the",",","garage","house"]},{"name":"x","width":2,"fill":[56.25,2.6666667],"mean":[56.25,2.6666666865348816],"deviation":[24.843258642939738,1.080123449734644]},{"name":"labels","width":1,"classes":["flat","garage","house"]}],"tern.sha256":"db632911feb30da6ce07578716fd943e2d30ba7eb7f961be12858556771d7246"}
\ no newline

# Each format predicts files of its own form, with the same results; the label may be missing.
$ printf 'text,rooms,area\nan old garage,,25\n' > new.csv; tr ',' '\t' < new.csv > new.tsv
$ echo '{"area": 25, "text": "an old garage"}' > new.jsonl
$ for f in csv tsv jsonl; do tern predict run-$f new.$f; tern evaluate run-$f rows.$f | tail -n 2; done
| garage 0.7641, flat 0.1337, house 0.1021
| loss = 0.704397
| accuracy = 0.7500
| garage 0.7641, flat 0.1337, house 0.1021
| loss = 0.704397
| accuracy = 0.7500
| garage 0.7641, flat 0.1337, house 0.1021
| loss = 0.704397
| accuracy = 0.7500
$ tern predict run-jsonl --text 'an old garage' --input x='[[25, 2]]'
| garage 0.8083, house 0.0959, flat 0.0958
$ printf '{"text": "a", "area": 1, "rooms": 2, "kind": "barn"}\n' > other.jsonl; tern evaluate run-jsonl other.jsonl 2>&1 | head -n 1
| error[E_DATASET_LABEL_OUT_OF_RANGE]: label barn in line 1 of `other.jsonl` is not one of the 3 classes
$ printf '{"text": "a", "area": 1, "rooms": 2, "kind": 0}\n' > other.jsonl; tern evaluate run-jsonl other.jsonl 2>&1 | head -n 1
| error[E_DATASET_SCHEMA_WRONG_TYPE]: `kind` in line 1 of `other.jsonl` is not the name of a class

# Mistakes in a line: one diagnostic with line, and with the column where there is a place.
$ cat > try <<'END'
> printf "$1" > rows.jsonl
> sh hash jsonl "x = [\"area\", \"rooms\"] labels = \"kind\" $2"
> END
$ sh try '{"text": "a", "area": 1, "kind": "b"}\n'
| E_DATASET_SCHEMA_MISSING_FIELD {"path":"rows.jsonl","line":"1","field":"rooms"} 10:83
$ sh try '{"text": "a", "area": 1, "room": 2, "kind": "b"}\n'
| E_DATASET_SCHEMA_MISSING_FIELD {"path":"rows.jsonl","line":"1","field":"rooms","suggestion":"room"} 10:83
$ sh try '{"text": "a", "area": 1, "rooms": null, "kind": "b"}\n'
| E_DATASET_MISSING_VALUE {"path":"rows.jsonl","line":"1","col":"35","column":"rooms"} 10:83
$ sh try '{"text": "a", "area": 1, "rooms": null, "kind": null}\n' 'missing = 0'
| E_DATASET_MISSING_VALUE {"path":"rows.jsonl","line":"1","col":"49","column":"kind"} 10:110
$ sh try '{"text": "a", "area": 1, "rooms": null, "kind": ""}\n' 'missing = 0'
| E_DATASET_MISSING_VALUE {"path":"rows.jsonl","line":"1","col":"49","column":"kind"} 10:110
$ sh try '{"text": null, "area": 1, "rooms": null, "kind": "c"}\n' 'missing = 0'
| E_DATASET_MISSING_VALUE {"path":"rows.jsonl","line":"1","col":"10","column":"text"} 10:57
$ sh try '{"text": "ä", "area": "1", "rooms": 2, "kind": "b"}\n'
| E_DATASET_SCHEMA_WRONG_TYPE {"path":"rows.jsonl","line":"1","field":"area","expected":"a number","received":"\"1\"","col":"23"} 10:83
$ sh try '{"text": "a", "area": 1e39, "rooms": 2, "kind": "b"}\n'
| E_DATASET_SCHEMA_WRONG_TYPE {"path":"rows.jsonl","line":"1","field":"area","expected":"a number that fits 32 bits"} 10:83
$ sh try '{"text": ["a"], "area": 1, "rooms": 2, "kind": "b"}\n'
| E_DATASET_SCHEMA_WRONG_TYPE {"path":"rows.jsonl","line":"1","field":"text","expected":"a text"} 10:57
$ sh try '{"text": 3, "area": 1, "rooms": 2, "kind": "b"}\n'
| E_DATASET_SCHEMA_WRONG_TYPE {"path":"rows.jsonl","line":"1","field":"text","expected":"a text","received":"3","col":"10"} 10:57
$ sh try '{"text": "a", "area": 1, "rooms": 2, "kind": "b"}\n{"text": "a", "area": 1, "rooms": 2, "kind": 1}\n'
| E_DATASET_SCHEMA_WRONG_TYPE {"path":"rows.jsonl","line":"2","field":"kind","expected":"the name of a class","received":"1","col":"46"} 10:110
$ sh try '{"text": "a", "area": 1, "rooms": 2, "kind": 1}\n{"text": "a", "area": 1, "rooms": 2, "kind": "1"}\n'
| E_DATASET_SCHEMA_WRONG_TYPE {"path":"rows.jsonl","line":"2","field":"kind","expected":"a whole number","received":"\"1\"","col":"46"} 10:110
$ sh try '{"text": "a", "area": [1, 2], "rooms": 2, "kind": "b"}\n'
| E_DATASET_DIM_MISMATCH {"path":"rows.jsonl","line":"1","expected_T":"2","received_T":"3","input":"x"} 10:83
$ sh try '{"text": "a", "area": [1], "rooms": [], "kind": "b"}\n'
| E_DATASET_DIM_MISMATCH {"path":"rows.jsonl","line":"1","expected_T":"2","received_T":"1","input":"x"} 10:83
$ sh try '{"text": "a", "area": [[1]], "rooms": 2, "kind": "b"}\n'
| E_DATASET_SCHEMA_WRONG_TYPE {"path":"rows.jsonl","line":"1","field":"area","expected":"a number"} 10:83
$ sh try '{"text": "a", "area": 1, "rooms": 2, "kind": "b"}\n\n{"text": "ä", area: 1}\n'
| E_DATASET_JSONL_PARSE_ERROR {"path":"rows.jsonl","line":"3","reason":"a key in quotes is expected","col":"15"} 10:35
$ sh try '{"text": "a", "area": "x", "rooms": 2, "kind": "b"\n'
| E_DATASET_JSONL_PARSE_ERROR {"path":"rows.jsonl","line":"1","reason":"the text ends too early","col":"51"} 10:35
$ sh try '{"text": "a", "area": 1, "rooms": 2, "kind": "b"}\n{"text": "\377"}\n'
| E_FILE_INVALID_UTF8 {"path":"rows.jsonl","line":"2"} 10:35
$ sh try '{"text": "a", "area": 1, "rooms": 2, "kind": "b"}\n' 'normalize = [tokens]'
| E_SYNTAX_ERROR {"line":"10","col":"130","message":"`normalize` lists inputs of numbers, as in `normalize = [x]`"} 10:130
$ sh try '{"text": "a", "area": 1, "rooms": 2, "kind": "b"}\n' 'header = true'
| E_SYNTAX_ERROR {"line":"10","col":"117","message":"`header` is not a field of the dataset block"} 10:117
$ sh try '{"text": "a", "area": 1, "rooms": 2, "kind": "b"}\n' 'delimiter = ";"'
| E_SYNTAX_ERROR {"line":"10","col":"117","message":"`delimiter` is not a field of the dataset block"} 10:117

# A text that is read as token ids is most likely meant as one.
$ sed 's/words("text", size=9)/"text"/; s/delimiter = ";"//' jsonl.ail > ids.ail; printf '{"text": "a b", "area": 1, "rooms": 2, "kind": "b"}\n' > rows.jsonl
$ tern train ids.ail --allow fileread 2>&1 | grep 'error\|hint'
| error[E_DATASET_SCHEMA_WRONG_TYPE]: `text` in line 1 of `rows.jsonl` is not a list of whole numbers
|     = hint: `tokens = words("text")` tokenizes a column of texts; so do chars, bytes and bpe
$ sed 's/words("text", size=9)/"text"/' csv.ail > ids.ail; tern train ids.ail --allow fileread 2>&1 | grep 'error\|hint'
| error[E_DATASET_SCHEMA_WRONG_TYPE]: `text` in line 2 of `rows.csv` is not a whole number
|     = hint: `tokens = words("text")` tokenizes a column of texts; so do chars, bytes and bpe

# true and false are classes, too; a list of lists is a row of that shape, and a flat list fits as well.
$ cat > flags.ail <<'END'
> model {
>   x [B, 2, 2]
>   labels [B]
>   param W [4, 2]
>   logits = matmul(reshape(x, [@0, 4]), W)
> }
> train { loss = xent(logits, labels) steps = 20 }
> dataset { format = "jsonl" path = "flags.jsonl" labels = "spam" x = "picture" }
> END
$ printf '{"picture": [[1, 2], [3, 4]], "spam": true}\n{"picture": [0, 1, 0, 1], "spam": false}\n' > flags.jsonl
$ tern train flags.ail --allow fileread --out flags -q | tail -n 1; tern predict flags flags.jsonl
| Training completed
| true 0.8716, false 0.1284
| true 0.6277, false 0.3723
$ cat > shape <<'END'
> echo "{\"picture\": $1, \"spam\": true}" > flags.jsonl; tern train flags.ail --allow fileread 2>&1 | head -n 1
> END
$ for row in '[[1, 2, 3], [4]]' '[[1, 2], 3, 4]' '[[[1], [2]], [[3], [4]]]' '[[1, 2, 3, 4]]' '[[1, 2], [3]]' '[1, 2, 3]'; do sh shape "$row"; done
| error[E_DATASET_SCHEMA_WRONG_TYPE]: `picture` in line 1 of `flags.jsonl` is not lists with the lengths that the input has
| error[E_DATASET_SCHEMA_WRONG_TYPE]: `picture` in line 1 of `flags.jsonl` is not lists with the lengths that the input has
| error[E_DATASET_SCHEMA_WRONG_TYPE]: `picture` in line 1 of `flags.jsonl` is not a list of numbers
| error[E_DATASET_SCHEMA_WRONG_TYPE]: `picture` in line 1 of `flags.jsonl` is not lists with the lengths that the input has
| error[E_DATASET_SCHEMA_WRONG_TYPE]: `picture` in line 1 of `flags.jsonl` is not lists with the lengths that the input has
| error[E_DATASET_DIM_MISMATCH]: row length 3 in line 1 of `flags.jsonl`, where `x` takes 4

# Stages work on features and labels alone.
$ cat > stage.ail <<'END'
> fn twice(row) {
>   row * 2
> }
> model {
>   x [B, 2]
>   param W [2, 1]
>   y = mean(matmul(x, W))
> }
> train { loss = y * y steps = 2 }
> dataset { format = "jsonl" path = "x.jsonl" tokens = "x" map twice(tokens) }
> END
$ echo '{"x": [1, 2]}' > x.jsonl; tern train stage.ail --allow fileread -q | tail -n 1
| Training completed
$ sed 's/map/normalize = [x] map/' stage.ail > both.ail; tern check both.ail 2>&1 | head -n 1
| error[E_SYNTAX_ERROR]: `map` and `filter` work on jsonl and tsv, on features and labels alone

# TSV: without a field that asks for names, the last column is the label, as it always was.
$ sed 's/jsonl/tsv/g; s/map.*)/x = "a"/; s/tokens = "x"//; s/x \[B, 2\]/x [B, 1]/; s/W \[2, 1\]/W [1, 1]/' stage.ail > named.ail
$ printf 'a\tb\n1\t"x\ty"\n2\t""""\n' > x.tsv; tern train named.ail --allow fileread -q | tail -n 1
| Training completed
$ printf '1\t2\n3\t4\n' > x.tsv; tern train named.ail --allow fileread 2>&1 | head -n 1
| error[E_DATASET_CSV_PARSE_ERROR]: line 1 of `x.tsv` cannot be read: these are numbers, not names of columns; `header = false` reads them as a row
$ sed 's/x = "a"/header = false x = 0/' named.ail > numbered.ail; tern train numbered.ail --allow fileread -q | tail -n 1
| Training completed
$ sed 's/x = "a"/delimiter = ";"/' named.ail > wrong.ail; tern check wrong.ail 2>&1 | head -n 1
| error[E_SYNTAX_ERROR]: `delimiter` is not a field of the dataset block

# A table whose first row is numbers has no names. The row is not lost: the program says what it is.
$ sed 's/tsv/csv/g; s/x = "a"/x = 0/' named.ail > table.ail; printf '1,2\n3,4\n' > x.csv; tern train table.ail --allow fileread 2>&1 | head -n 1
| error[E_DATASET_CSV_PARSE_ERROR]: line 1 of `x.csv` cannot be read: these are numbers, not names of columns; `header = false` reads them as a row
$ sed -i 's/x = 0/x = 0 header = true/' table.ail; tern train table.ail --allow fileread | grep count
|   train_count: 1
|   val_count: 0
$ sed -i 's/header = true/header = false/' table.ail; tern train table.ail --allow fileread | grep count
|   train_count: 2
|   val_count: 0
