# Texts of a table as tokens. `try` trains on a file and shows the beginning of the weights' hash, or what is wrong.
$ cat > try <<'END'
> printf "$1" > d.csv
> cat > m.ail <<M
> model {
>   tokens [B, ${4:-T}]
>   labels [B]
>   param E [${3:-300}, 4]
>   param W [4, 2]
>   logits = matmul(meanpool(embedding(tokens, E)), W)
> }
> train { loss = xent(logits, labels) steps = 3 }
> dataset { format = "csv" path = "d.csv" labels = "kind" $2 }
> M
> tern train m.ail --allow fileread --json | sed 's/.*"weights_sha256":"\([0-9a-f]\{8\}\).*/ok \1/
> s/.*"code":"\([A-Z0-9_]*\)".*"phase":"\([a-z]*\)".*"fields":\({[^}]*}\).*"line":\([0-9]*\),"col":\([0-9]*\),.*/\1 \2 \3 \4:\5/'
> END

# Words: 0 pads, 1 is unknown, then the most frequent; of those that are equally frequent bytes decide. So
# these texts are the numbers in the table after them.
$ sh try 'text,kind\nthe cat the end,0\n"a dog, the cat",1\n' 'tokens = words("text")'
| ok 636d9030
$ sh try 'a,b,c,d,e,kind\n2,3,2,7,0,0\n5,6,4,2,3,1\n' 'tokens = "*"'
| ok 636d9030
# A size drops the rarest, and T cuts and pads.
$ sh try 'text,kind\nthe cat the end,0\n"a dog, the cat",1\n' 'tokens = words("text", size=4)' 4 3
| ok f032d22b
$ sh try 'a,b,c,kind\n2,3,2,0\n1,1,1,1\n' 'tokens = 0-2' 4 3
| ok f032d22b
# Only training rows count.
$ sh try 'text,kind\nb,0\nc,1\na a a,0\nd,1\n' 'tokens = words("text") split = 0.5'
| ok 15d1e497
$ sh try 'a,kind\n2,0\n3,1\n1,0\n1,1\n' 'tokens = "a" split = 0.5'
| ok 15d1e497
# Characters and bytes.
$ sh try 'text,kind\n\303\244b,0\nb a,1\n' 'tokens = chars("text")'
| ok b6487f74
$ sh try 'a,b,c,kind\n5,2,0,0\n2,3,4,1\n' 'tokens = 0-2'
| ok b6487f74
$ sh try 'text,kind\n\303\244b,0\n"b\na",1\n' 'tokens = bytes("text")'
| ok efc14373
$ sh try 'a,b,c,kind\n195,164,98,0\n98,10,97,1\n' 'tokens = 0-2'
| ok efc14373
# Byte pairs.
$ cat > bpe.json <<'END'
> {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "padding": {"pad_id": 6},
>  "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "abc": 4, "\u0120": 5, "-": 6},
>            "merges": ["a b", "ab c"]}}
> END
$ sh try 'text,kind\nabc ab,0\nca,1\n' 'tokens = bpe("bpe.json", "text")'
| ok 38c7f2fd
$ sh try 'a,b,c,kind\n4,5,3,0\n2,0,6,1\n' 'tokens = 0-2'
| ok 38c7f2fd

# A token outside the table of embeddings is found when the file is read.
$ sh try 'text,kind\na b,0\nc d,1\n' 'tokens = words("text")' 5
| E_INDEX_OUT_OF_RANGE data {"function":"embedding","index":"5","limit":"5","path":"d.csv","line":"3"} 9:33
$ sh try 'text,kind\nab,0\n' 'tokens = bytes("text")' 98
| E_INDEX_OUT_OF_RANGE data {"function":"embedding","index":"98","limit":"98","path":"d.csv","line":"2"} 9:33

# Mistakes.
$ sh try 'text,kind\na,0\n' 'tokens = words("txt")'
| E_DATASET_SCHEMA_MISSING_FIELD data {"path":"d.csv","line":"1","field":"txt","suggestion":"text"} 9:66
$ sh try 'text,kind\na,0\n' 'tokens = words()'
| E_SYNTAX_ERROR check {"line":"9","col":"66","message":"texts are words(\"column\"), chars(\"column\"), bytes(\"column\") or bpe(\"tokenizer.json\", \"column\"); the first two may have `size = 1000`"} 9:66
$ sh try 'text,kind\na,0\n' 'tokens = words(0-1)'
| E_SYNTAX_ERROR check {"line":"9","col":"66","message":"texts are words(\"column\"), chars(\"column\"), bytes(\"column\") or bpe(\"tokenizer.json\", \"column\"); the first two may have `size = 1000`"} 9:66
$ sh try 'text,kind\na,0\n' 'tokens = words("text", size=2)'
| E_SYNTAX_ERROR check {"line":"9","col":"66","message":"texts are words(\"column\"), chars(\"column\"), bytes(\"column\") or bpe(\"tokenizer.json\", \"column\"); the first two may have `size = 1000`"} 9:66
$ sh try 'text,kind\na,0\n' 'tokens = bytes("text", size=9)'
| E_SYNTAX_ERROR check {"line":"9","col":"66","message":"texts are words(\"column\"), chars(\"column\"), bytes(\"column\") or bpe(\"tokenizer.json\", \"column\"); the first two may have `size = 1000`"} 9:66
$ sh try 'text,kind\na,0\n' 'tokens = nouns("text")'
| E_SYNTAX_ERROR check {"line":"9","col":"66","message":"texts are words(\"column\"), chars(\"column\"), bytes(\"column\") or bpe(\"tokenizer.json\", \"column\"); the first two may have `size = 1000`"} 9:66
$ sh try 'text,kind\na,0\n' 'tokens = "text"'
| E_DATASET_SCHEMA_WRONG_TYPE data {"path":"d.csv","line":"2","field":"text","expected":"a whole number","received":"a","col":"1"} 9:66
$ sed -i 's/labels = "kind"/labels = words("kind")/' m.ail
$ tern check m.ail --json | sed 's/.*"message":"\([^"]*\)".*/\1/'
| texts become token ids: they feed the input `tokens`
$ sh try 'text,kind\na,0\n' 'tokens = bpe("none.json", "text")'
| E_FILE_NOT_FOUND data {"path":"none.json"} 9:66
$ echo '{"pre_tokenizer": {"type": "Whitespace"}}' > bpe.json
$ sh try 'text,kind\na,0\n' 'tokens = bpe("bpe.json", "text")'
| E_TOKENIZER_UNSUPPORTED data {"path":"bpe.json","part":"pre_tokenizer","kind":"Whitespace"} 9:66
$ echo '{"model": {"type": "Unigram"}}' > bpe.json
$ sh try 'text,kind\na,0\n' 'tokens = bpe("bpe.json", "text")'
| E_TOKENIZER_UNSUPPORTED data {"path":"bpe.json","part":"model","kind":"Unigram"} 9:66
$ echo '{"model"' > bpe.json
$ sh try 'text,kind\na,0\n' 'tokens = bpe("bpe.json", "text")'
| E_TOKENIZER_INVALID data {"path":"bpe.json","part":"the JSON text","reason":"a colon is expected","line":"2","col":"1"} 9:66
$ echo '{"model": {"vocab": {"a": -1}}}' > bpe.json
$ sh try 'text,kind\na,0\n' 'tokens = bpe("bpe.json", "text")'
| E_TOKENIZER_INVALID data {"path":"bpe.json","part":"model.vocab","reason":"it is missing, or not of the form that the format has"} 9:66
# The tokenizer is a file that the program reads: a folder that is not granted is refused.
$ mkdir data && mv d.csv data && sed -i 's/path = "d.csv"/path = "data\/d.csv"/' m.ail
$ tern train m.ail --allow fileread=data --json | sed 's/.*"code":"\([A-Z_]*\)".*"path":"\([a-z.]*\)".*/\1 \2/'
| E_DATASET_CAPABILITY_DENIED bpe.json
# A tokenizer that has changed is not the data of a run any more.
$ mv data/d.csv . && sed -i 's/path = "data\/d.csv"/path = "d.csv"/' m.ail
$ echo '{"pre_tokenizer": {"type": "ByteLevel"}, "model": {"vocab": {"a": 0, "b": 1}}}' > bpe.json
$ tern train m.ail --allow fileread --out run --quiet
| Step 2: loss = 0.728393
| Training completed
$ echo '{"pre_tokenizer": {"type": "ByteLevel"}, "model": {"vocab": {"a": 1, "b": 0}}}' > bpe.json
$ tern train m.ail --allow fileread --resume run --steps 5 --json | sed 's/.*"code":"\([A-Z_]*\)".*"reason":"\([a-z ]*\)".*/\1 \2/'
| E_CHECKPOINT_MISMATCH it belongs to other data

# A run keeps what a prediction needs: vocabulary, classes, statistics. `tern verify` compares it.
$ sh try 'text,kind\nthe cat the end,yes\n"a dog, the cat",no\n' 'tokens = words("text")'
| ok eda4cf06
$ tern train m.ail --allow fileread --out words --quiet
| Step 2: loss = 0.689997
| Training completed
$ cat words/data.json
| {"inputs":[{"name":"tokens","width":5,"tokens":"words","vocabulary":["the","cat",",","a","dog","end"]},{"name":"labels","width":1,"classes":["no","yes"]}],"tern.sha256":"982367237cadff42a18c06ba5f78b837e8c1e23a8c5ebbc8aeba1f893471a3bf"}
\ no newline
$ tern verify words --allow fileread
| verified: every step, the history and the weights agree in every bit
$ sed -i 's/"yes"/"YES"/' words/data.json
$ tern verify words --allow fileread --json | sed 's/.*"code":"\([A-Z_]*\)".*"what":"\([a-z.]*\)".*/\1 \2/'
| E_VERIFY_DIFFERS data.json
$ rm words/data.json
$ tern verify words --allow fileread --json | sed 's/.*"code":"\([A-Z_]*\)".*"what":"\([a-z.]*\)".*/\1 \2/'
| E_VERIFY_DIFFERS data.json
$ sh try 'text,kind\nab,0\n' 'tokens = bpe("bpe.json", "text")'
| ok 9615d258
$ tern train m.ail --allow fileread --out bpe --quiet
| Step 2: loss = 0.716475
| Training completed
$ cat bpe/data.json
| {"inputs":[{"name":"tokens","width":2,"tokens":"bpe","tokenizer":"{\"pre_tokenizer\": {\"type\": \"ByteLevel\"}, \"model\": {\"vocab\": {\"a\": 1, \"b\": 0}}}\n"},{"name":"labels","width":1}],"tern.sha256":"1d713241e767170e64c5e1aec27f16f5a9b6bea4a0ca2b1621fb43a31b27be78"}
\ no newline
$ printf 'a,b,y\n1,2,3\n2,,5\n3,4,7\n9,9,9\n' > d.csv
$ cat > m.ail <<'END'
> model {
>   x [B, 2]
>   y [B]
>   param W [2, 1]
>   p = reshape(matmul(x, W), [@0])
> }
> train { loss = mse_loss(p, y) steps = 2 }
> dataset { format = "csv" path = "d.csv" x = ["a", "b"] normalize = [x] missing = "mean" split = 0.75 }
> END
$ tern train m.ail --allow fileread --out numbers --quiet
| Step 1: loss = 25.865425
| Training completed
$ cat numbers/data.json
| {"inputs":[{"name":"x","width":2,"fill":[2,3],"mean":[2,3],"deviation":[0.816496580927726,0.816496580927726]},{"name":"y","width":1,"fill":[5]}],"tern.sha256":"2c940944bb683f886dff0344c8232a8eba525f4dd2d53084a91461cfc489629c"}
\ no newline
# A run without data takes its place and leaves none.
$ cat > m.ail <<'END'
> model {
>   x [B, 2]
>   labels [B]
>   param W [2, 2]
>   logits = matmul(x, W)
> }
> train { loss = xent(logits, labels) steps = 2 }
> END
$ tern train m.ail --allow fileread --out numbers --quiet
| Step 1: loss = 0.542155
| Training completed
$ ls numbers
| checkpoint
| history.jsonl
| run.json
| weights.safetensors
