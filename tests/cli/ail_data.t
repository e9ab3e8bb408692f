# What is wrong with a data file, and what is not. `try` trains on a file and shows the code and fields.
$ cat > model.ail <<'END'
> model {
>   tokens [B, T]
>   labels [B]
>   param E [20, 4]
>   param W [4, 2]
>   logits = linear(meanpool(embedding(tokens, E)), W)
> }
> train { loss = xent(logits, labels) steps = 2 }
> END
$ cat > try <<'END'
> printf "$2" > d
> { echo "$4"; cat model.ail; echo "dataset { format = \"$1\" path = \"d\" $3 }"; } > m.ail
> tern train m.ail --allow fileread --json | sed 's/.*"ok":true.*/ok/
> s/.*"code":"\([A-Z0-9_]*\)".*"phase":"\([a-z]*\)".*"fields":\({[^}]*}\).*/\1 \2 \3/'
> END

# JSONL: one object per line; blank lines, a byte order mark, other keys and Windows line ends are accepted.
$ sh try jsonl '{"tokens":[1,2],"label":0}\n'
| ok
$ sh try jsonl '\357\273\277{"tokens":[1,2],"label":0}\r\n\r\n{"label":1,"text":"a","tokens":[3,4]}'
| ok
$ sh try jsonl '{"tokens":[1,2],"labels":0}\n' 'labels = "label"'
| ok
$ sh try jsonl '{"ids":[1,2],"y":0}\n' 'tokens = "ids" labels = "y"'
| ok
$ sh try jsonl '{"tokens":[1,2],"label":0}\n{"tokens":[1,2,3],"label":0}\n'
| E_DATASET_DIM_MISMATCH data {"path":"d","line":"2","expected_T":"2","received_T":"3"}
$ sh try jsonl '{"tokens":[],"label":0}\n'
| E_DATASET_DIM_MISMATCH data {"path":"d","line":"1","expected_T":"1","received_T":"0"}
$ sh try jsonl '\n\n{"tokens":[1,2],"label":0}\n{"tokens":[1,2],"label":2}\n'
| E_DATASET_LABEL_OUT_OF_RANGE data {"path":"d","line":"4","label":"2","num_classes":"2"}
$ sh try jsonl '{"tokens":[1,2],"label":-1}\n'
| E_DATASET_LABEL_OUT_OF_RANGE data {"path":"d","line":"1","label":"-1","num_classes":"2"}
$ sh try jsonl '{"tokens":[1,20],"label":0}\n'
| E_INDEX_OUT_OF_RANGE data {"function":"embedding","index":"20","limit":"20","path":"d","line":"1"}
$ sh try jsonl '{"tokens":[1,-1],"label":0}\n'
| E_INDEX_OUT_OF_RANGE data {"function":"embedding","index":"-1","limit":"20","path":"d","line":"1"}
$ sh try jsonl '{"tokens":[1,2.5],"label":0}\n'
| E_DATASET_SCHEMA_WRONG_TYPE data {"path":"d","line":"1","field":"tokens","expected":"a list of whole numbers","received":"2.5","col":"14"}
$ sh try jsonl '{"tokens":[[1],[2]],"label":0}\n'
| E_DATASET_SCHEMA_WRONG_TYPE data {"path":"d","line":"1","field":"tokens","expected":"a list of whole numbers"}
$ sh try jsonl '{"tokens":[1,2],"label":[0]}\n' 'labels = "label"'
| ok
$ sh try jsonl '{"tokens":[1,2],"label":{}}\n' 'labels = "label"'
| E_DATASET_SCHEMA_WRONG_TYPE data {"path":"d","line":"1","field":"label","expected":"a whole number"}
$ sh try jsonl '{"tokens":[1,2],"label":99999999999}\n' 'labels = "label"'
| E_DATASET_SCHEMA_WRONG_TYPE data {"path":"d","line":"1","field":"label","expected":"a whole number","received":"99999999999","col":"25"}
$ sh try jsonl '{"tokens":[1,2]}\n'
| E_DATASET_SCHEMA_MISSING_FIELD data {"path":"d","line":"1","field":"labels"}
$ sh try jsonl '{"label":1}\n'
| E_DATASET_SCHEMA_MISSING_FIELD data {"path":"d","line":"1","field":"tokens"}
$ sh try jsonl '{"tokens":[1,2],"label":0\n'
| E_DATASET_JSONL_PARSE_ERROR data {"path":"d","line":"1","reason":"<*>"}
$ sh try jsonl '{"tokens":[1,2],"label":0}\n{"tokens":[1,2],"label":0} x\n'
| E_DATASET_JSONL_PARSE_ERROR data {"path":"d","line":"2","reason":"<*>"}
$ sh try jsonl '[1,2]\n'
| E_DATASET_JSONL_PARSE_ERROR data {"path":"d","line":"1","reason":"a line is one object","col":"1"}
$ sh try jsonl ''
| E_DATASET_EMPTY data {"path":"d"}
$ sh try jsonl '\n \n'
| E_DATASET_EMPTY data {"path":"d"}
$ sh try jsonl '{"tokens":[1,2],"label":0}\n\377'
| E_FILE_INVALID_UTF8 data {"path":"d","line":"2"}
$ sh try jsonl '{"tokens":[1,3],"label":0}\n' 'split = 0.5'
| E_DATASET_EMPTY data {"path":"d","rows":"1","split":"0.5"}

# TSV: columns, or a list in the first column, or both; the last column is the label.
$ sh try tsv '1\t2\t0\n3\t4\t1\n'
| ok
$ sh try tsv '1,2\t0\r\n3,4\t1\r\n'
| ok
$ sh try tsv '1,2\t0\n3\t4\t1\n'
| ok
$ sh try tsv '0\t1\t2\n1\t3\t4\n' 'labels = 0 tokens = "1-2"'
| ok
$ sh try tsv '0\t1\t2\n1\t3\t4\n' 'labels = "0" tokens = [2, 1]'
| ok
$ sh try tsv '0\t1\t2\n1\t3\t4\n' 'labels = "0" tokens = "words"'
| ok
$ sh try tsv '0\t1\t2\n' 'labels = 0 tokens = 9'
| E_DATASET_PARSE_ERROR data {"path":"d","line":"1","reason":"a column that the program reads is missing","col":"6"}
$ sh try tsv '1,2,3\t0\n3\t1\n'
| E_DATASET_DIM_MISMATCH data {"path":"d","line":"2","expected_T":"3","received_T":"1"}
$ sh try tsv 'a\t0\n'
| E_DATASET_PARSE_ERROR data {"path":"d","line":"1","reason":"a column holds something that is not a whole number","col":"1"}
$ sh try tsv '1\tx\n'
| E_DATASET_PARSE_ERROR data {"path":"d","line":"1","reason":"the label is not a whole number","col":"3"}
$ sh try tsv '1\n'
| E_DATASET_PARSE_ERROR data {"path":"d","line":"1","reason":"a row is numbers, a tab, and the label","col":"1"}
$ sh try tsv '0\t1\t5\n'
| E_DATASET_LABEL_OUT_OF_RANGE data {"path":"d","line":"1","label":"5","num_classes":"2"}

# The columns that are chosen are the ones that are read: the same rows in three spellings.
$ weights() { printf "$1" > d; { cat model.ail; echo "dataset { format = \"$2\" path = \"d\" $3 }"; } > m.ail
>   tern train m.ail --allow fileread --json | grep -o '"weights_sha256":"[0-9a-f]*"'; }
> weights '1\t2\t0\n3\t4\t1\n' tsv > a; weights '9\t0\t1,2\n9\t1\t3,4\n' tsv 'labels = 1 tokens = 2' > b
> weights '{"label":0,"tokens":[1,2]}\n{"tokens":[3,4],"label":1}\n' jsonl > c; cmp a b && cmp a c && wc -l < a
| 1

# Maps, then filters, whatever their order in the program; a map may shorten a row.
$ sh try jsonl '{"tokens":[1,2],"label":0}\n' 'map f(tokens)' 'fn f(x) { slice(x, 0, 0, 1) }'
| ok
$ sh try jsonl '{"tokens":[1,2],"label":5}\n{"tokens":[3,4],"label":6}\n' 'filter f(labels) map g(labels)' 'fn f(y) { y > 0 } fn g(y) { y - 5 }'
| ok
$ sh try jsonl '{"tokens":[1,2],"label":0}\n' 'filter f(labels)' 'fn f(y) { y > 0 }'
| E_DATASET_EMPTY data {"path":"d","filtered":"1"}
$ sh try jsonl '{"tokens":[1,2],"label":0}\n' 'filter f(tokens)' 'fn f(x) { x > 0 }'
| E_DATASET_FILTER_NOT_BOOLEAN data {"function_name":"f","stage":"filter","dataset_path":"d"}
$ sh try jsonl '{"tokens":[1,2],"label":0}\n' 'map f(labels)' 'fn f(y) { y + 7 }'
| E_DATASET_LABEL_OUT_OF_RANGE data {"path":"d","line":"1","label":"7","num_classes":"2"}
$ sh try jsonl '{"tokens":[1,2],"label":0}\n' 'map f(tokens)' 'fn f(x, y) { x }'
| E_FUNCTION_ARITY_MISMATCH check {"expected":"1","received":"2","function_name":"f","stage":"map"}
$ sh try jsonl '{"tokens":[1,2],"label":0}\n' 'map f(tokens)' 'fn f(x) { sum(x) }'
| E_DATASET_MAP_SHAPE_MISMATCH check {"function_name":"f","stage":"map","dataset_path":"d","expected_rank":"1","received_rank":"0"}
$ sh try jsonl '{"tokens":[1,2],"label":0}\n' 'filter f(labels)' 'fn g(x) { now() } fn f(x) { if false then g(x) > 1 else x > 0 }'
| E_DATASET_PIPELINE_CAPABILITY_DENIED check {"function_name":"f","stage":"filter","dataset_path":"d","capability":"Clock"}
$ sh try jsonl '{"tokens":[1,2],"label":0}\n' 'map relu(tokens)'
| E_DATASET_MAP_NOT_FOUND check {"function_name":"relu","stage":"map","dataset_path":"d"}

# Only train reads the file, and only if that is allowed.
$ { cat model.ail; echo 'dataset { format = "tsv" path = "nowhere" }'; } > m.ail
$ tern check m.ail && tern run m.ail | head -n 1
| m.ail: ok
| Output: logits
$ tern train m.ail --json
| {"ok":false,"diagnostics":[{"code":"E_DATASET_CAPABILITY_DENIED",<*>"fields":{"capability":"FileRead","attempted_action":"read dataset file","path":"nowhere"}<*>
? 1
$ tern train m.ail --allow fileread --json
| {"ok":false,"diagnostics":[{"code":"E_FILE_NOT_FOUND",<*>"fields":{"path":"nowhere"}<*>
? 1

# A failed training says what is wrong and nothing else.
$ printf '99\t0\n' > nowhere; tern train m.ail --allow fileread --json | grep -c printed || true
| 0

# A file may be larger than memory: what a filter drops is never kept. All of it is an error.
$ awk 'BEGIN { for (i = 0; i < 300000; i++) printf "%d,%d,%d,%d\t%d\n", i % 20, 1, 2, 3, i % 100 == 7 }' > d
$ { echo 'fn rare(y) { y == 1 } fn first(x) { slice(x, 0, 0, 2) }'; cat model.ail
>   echo 'dataset { format = "tsv" path = "d" map first(tokens) filter rare(labels) }'; } > m.ail
$ tern train m.ail --allow fileread --max-mem 2M | grep count
|   train_count: 3000
|   val_count: 0
$ sed 's/filter rare(labels)//' m.ail > all.ail
$ for size in 2M 3M 4M 5M 6M; do tern train all.ail --allow fileread --max-mem $size --json | grep -o '"code":"[A-Z_]*"'; done
| "code":"E_MEMORY_LIMIT"
| "code":"E_MEMORY_LIMIT"
| "code":"E_MEMORY_LIMIT"
| "code":"E_MEMORY_LIMIT"
| "code":"E_MEMORY_LIMIT"
$ tern train all.ail --allow fileread --max-mem 64M | grep train_count
|   train_count: 300000
