# What evaluate --record writes to the run's folder. The parameters are the identity, so that the columns a, b and c
# are the logits: of 0, 0, 4 the probability of the first class is 1 / (1 + 1 + exp 4) = 0.0176684, its loss
# ln(2 + exp 4) = 4.0359764; of 0, 0, 0 each is 1/3, with ln 3 = 1.0986123. The mean of all six is 1.5864033. The two
# worst are equal and stand in the order of their rows; a tie of logits is the first class.
$ cat > three.ail <<'END'
> model { x [B, 3] labels [B] param W [3, 3] logits = matmul(x, W) }
> train { loss = xent(logits, labels) steps = 1 lr = 0.0 }
> dataset { format = "csv" path = "three.csv" x = 0-2 labels = "kind" }
> END
$ printf 'a,b,c,kind\n2,0,0,cat\n0,0,0,dog\n0,0,4,dog\n0,3,0,dog\n0,0,4,cat\n0,0,5,owl\n' > three.csv
$ tern train three.ail --allow fileread '--param=W=[[1, 0, 0], [0, 1, 0], [0, 0, 1]]' --out run --store s.db -q > log
$ ls run
| checkpoint
| data.json
| given.safetensors
| history.jsonl
| run.json
| weights.safetensors
$ tern evaluate run three.csv > plain; ls run | grep -c evaluation
| 0
? 1
$ mkdir data; cp three.csv data; tern evaluate run data/three.csv --record | diff - plain
$ sed 's/"data_sha256":"[0-9a-f]*",//; s/"weights_sha256":"[0-9a-f]*",//; s/,"tern.sha256":"[0-9a-f]*"//; s/,"conf/\n&/; s/,{/\n&/g' run/evaluation.json; echo
| {"data":"three.csv","rows":6,"metrics":{"loss":1.5864033,"accuracy":0.5},"class_count":3,"classes":["cat","dog","owl"]
| ,"confusion":[[1,0,1],[1,1,1],[0,0,1]],"worst":[{"row":3,"line":4,"class":"dog","predicted":"owl","probability":0.017668422,"loss":4.0359764}
| ,{"row":5,"line":6,"class":"cat","predicted":"owl","probability":0.017668422,"loss":4.0359764}
| ,{"row":2,"line":3,"class":"dog","predicted":"cat","probability":0.33333334,"loss":1.0986123}
| ,{"row":1,"line":2,"class":"cat","predicted":"cat","probability":0.78698605,"loss":0.23954476}
| ,{"row":4,"line":5,"class":"dog","predicted":"dog","probability":0.909443,"loss":0.09492296}
| ,{"row":6,"line":7,"class":"owl","predicted":"owl","probability":0.9867033,"loss":0.013385902}]}

# The hashes are those of the file and of the run's weights.
$ grep -o '"data_sha256":"[0-9a-f]*"' run/evaluation.json | cut -d '"' -f 4 > hash; sha256sum < three.csv | cut -d ' ' -f 1 | diff - hash
$ grep -o '"weights_sha256":"[0-9a-f]*"' run/evaluation.json > hash; tern runs show last --store s.db --json | grep -o '"weights_sha256":"[0-9a-f]*"' | diff - hash

# Other threads and other instructions, the same bytes. Verifying and resuming do not look at it; a new run in its place removes it.
$ cp run/evaluation.json first; tern evaluate run three.csv --record --threads 1 --json && cmp first run/evaluation.json
| {"ok":true,"language":"ail","warnings":[],"rows":6,"metrics":{"loss":1.5864033,"accuracy":0.5}}
$ rm run/evaluation.json; TERN_ISA=portable tern evaluate run three.csv --record > log; cmp first run/evaluation.json
$ tern verify run --allow fileread | tail -n 1 | cut -c 1-8
| verified
$ echo hostile > run/evaluation.json; tern verify run --allow fileread > log; echo $?
| 0
$ tern train three.ail --allow fileread --resume run --out run --steps 3 --store s.db -q > log; cat run/evaluation.json
| hostile
$ tern evaluate run three.csv --record > log; cmp first run/evaluation.json
$ tern train three.ail --allow fileread --out run --store s.db -q > log; ls run | grep -c evaluation
| 0
? 1

# Only the loss is a metric: what is recorded is the same. In pieces of 1,024 rows too; at most 50 rows are the worst.
$ sed 's/lr = 0.0 }/&\neval { metrics = [loss] }/; s/three.csv/many.csv/' three.ail > many.ail
$ awk 'BEGIN { print "a,b,c,kind"; for (i = 0; i < 3000; i++) print "0,0," (i % 100 == 0 ? 4 : 1) "," (i % 2 ? "owl" : (i % 4 ? "dog" : "cat")) }' > many.csv
$ tern train many.ail --allow fileread "--param=W=[[1, 0, 0], [0, 1, 0], [0, 0, 1]]" --out many --store s.db -q > log
$ tern evaluate many many.csv --record
| rows = 3000
| loss = <*>
$ grep -o '"confusion":[^w]*' many/evaluation.json
| "confusion":[[0,0,750],[0,0,750],[0,0,1500]],"
# 30 rows have a 4, then come those with a 1 whose class is not owl.
$ grep -o '"line":[0-9]*' many/evaluation.json | tr '\n' ' '; echo
| "line":2 "line":102 "line":202 "line":302 "line":402 "line":502 "line":602 "line":702 "line":802 "line":902 "line":1002 "line":1102 "line":1202 "line":1302 "line":1402 "line":1502 "line":1602 "line":1702 "line":1802 "line":1902 "line":2002 "line":2102 "line":2202 "line":2302 "line":2402 "line":2502 "line":2602 "line":2702 "line":2802 "line":2902 "line":4 "line":6 "line":8 "line":10 "line":12 "line":14 "line":16 "line":18 "line":20 "line":22 "line":24 "line":26 "line":28 "line":30 "line":32 "line":34 "line":36 "line":38 "line":40 "line":42 

# Numbers: the largest errors, in the units of the data. The parameter is 2, so 3 becomes 6, and 10 is 4 away.
$ cat > line.ail <<'END'
> model { x [B, 1] y [B, 1] param w [1, 1] p = matmul(x, w) }
> train { loss = mse_loss(p, y) steps = 1 lr = 0.0 }
> dataset { format = "csv" path = "line.csv" x = "x" y = "y" }
> END
$ printf 'x,y\n1,2\n3,10\n-2,-3.5\n5,6\n' > line.csv
$ tern train line.ail --allow fileread --param w=[[2]] --out line --store s.db -q > log; tern evaluate line line.csv --record
| rows = 4
| loss = 8.062500
$ grep -o '"metrics".*]' line/evaluation.json
| "metrics":{"loss":8.0625},"worst":[{"row":2,"line":3,"value":10,"answer":6,"error":4},{"row":4,"line":5,"value":6,"answer":10,"error":4},{"row":3,"line":4,"value":-3.5,"answer":-4,"error":0.5},{"row":1,"line":2,"value":2,"answer":2,"error":0}]

# A text: rows are windows of two tokens, named by the first one. Tokens are 2 (a) and 3 (b). After a comes b with
# exp 3 / (3 + exp 3) = 0.8700485, or a with 1 / (3 + exp 3) = 0.0433172; after b comes a with exp 2 / (3 + exp 2).
$ cat > text.ail <<'END'
> model { tokens [B, 2] labels [B, 2] param E [4, 4] logits = embedding(tokens, E) }
> train { loss = xent(logits, labels) steps = 1 lr = 0.0 }
> dataset { format = "text" path = "text.txt" tokens = chars() }
> END
$ printf 'abaabab' > text.txt; tern train text.ail --allow fileread '--param=E=[[0,0,0,0],[0,0,0,0],[0,0,0,3],[0,0,2,0]]' --out text --store s.db -q > log
$ tern evaluate text text.txt --record > log; grep -o '"class_count".*]' text/evaluation.json | sed 's/,{/\n&/g'
| "class_count":4,"classes":["0","1","a","b"],"confusion":[[0,0,0,0],[0,0,0,0],[0,0,2,1],[0,0,0,3]],"worst":[{"row":3,"line":1,"place":1,"class":"a","predicted":"b","probability":0.043317165,"loss":3.1392064}
| ,{"row":1,"line":1,"place":2,"class":"a","predicted":"a","probability":0.71123457,"loss":0.34075296}
| ,{"row":5,"line":1,"place":1,"class":"a","predicted":"a","probability":0.71123457,"loss":0.34075296}
| ,{"row":1,"line":1,"place":1,"class":"b","predicted":"b","probability":0.8700485,"loss":0.13920632}
| ,{"row":3,"line":1,"place":2,"class":"b","predicted":"b","probability":0.8700485,"loss":0.13920632}
| ,{"row":5,"line":1,"place":2,"class":"b","predicted":"b","probability":0.8700485,"loss":0.13920632}]

# Over 100 classes: no matrix, and it says how many there are.
$ cat > wide.ail <<'END'
> model { x [B, 1] labels [B] param W [1, 101] logits = matmul(x, W) }
> train { loss = xent(logits, labels) steps = 1 lr = 0.0 }
> dataset { format = "jsonl" path = "wide.jsonl" tokens = "x" labels = "label" }
> END
$ printf '{"x": [1], "label": 100}\n{"x": [0], "label": 3}\n' > wide.jsonl
$ tern train wide.ail --allow fileread --out wide --store s.db -q > log; tern evaluate wide wide.jsonl --record > log; grep -o '"class_count".*"worst"' wide/evaluation.json
| "class_count":101,"worst"

# A failed write is reported after the metrics, and the old file stays.
$ cp -r many shut; chmod 755 .; chmod 644 *.csv shut/*; chmod 555 shut; cp "$TERN" program; cat > as_user <<'END'
> [ "$(id -u)" = 0 ] && other="setpriv --reuid=65534 --regid=65534 --clear-groups"
> LLVM_PROFILE_FILE=/dev/null exec $other ./program "$@"
> END
$ sh as_user evaluate shut many.csv --record
| rows = 3000
| loss = 1.076290
! error[E_USAGE]: cannot write shut/evaluation.json: permission denied
!    = hint: check the folder, its permissions and the free space
!
? 2
$ sh as_user evaluate shut many.csv | head -n 1; cmp shut/evaluation.json many/evaluation.json; chmod 755 shut
| rows = 3000
$ rm line/evaluation.json; ln -s ../elsewhere line/evaluation.json; tern evaluate line line.csv --record 2>&1 | head -n 1; ls elsewhere 2> /dev/null
| error[E_USAGE]: cannot write line/evaluation.json: <*>
? 2
$ tern evaluate line nowhere.csv --record 2>&1 | head -n 1
| error[E_USAGE]: cannot write line/evaluation.json: <*>
$ tern evaluate nowhere line.csv --record 2>&1 | head -n 1
| error[E_USAGE]: cannot write nowhere/evaluation.json: its folder does not exist
# A mistake in the data leaves the old one.
$ printf 'a,b,c,kind\n1,2,3,emu\n' > bad.csv; cp many/evaluation.json kept; tern evaluate many bad.csv --record 2>&1 | head -n 1; cmp kept many/evaluation.json
| error[E_DATASET_LABEL_OUT_OF_RANGE]: label emu in line 2 of `bad.csv` is not one of the 3 classes
$ tern predict run three.csv --record 2>&1 | head -n 1
| error[E_USAGE]: <*>
