# A text as a data set: windows of it, and the next tokens as labels.
$ cat > m.ail <<'END'
> model {
>   tokens [B, 4]
>   labels [B, 4]
>   param E [10, 12]
>   param W [12, 10]
>   logits = matmul(embedding(tokens, E), W)
> }
> train { loss = xent(logits, labels) steps = 150 lr = 1 batch = 8 }
> dataset { format = "text" path = "t.txt" tokens = chars() split = 0.75 }
> eval { metrics = [accuracy] every = 1000 }
> END
$ tern fmt --check m.ail > /dev/null; tern fmt m.ail > /dev/null && tern fmt --check m.ail && grep tokens m.ail
|   tokens [B, 4]
|   logits = matmul(embedding(tokens, E), W)
|   tokens = chars()

# In a text where each character has one successor, the model learns it: labels are the next tokens. 80
# characters: 60 to train on and 56 windows of 4 in them, then 4 windows side by side in the other 20.
$ for i in 1 2 3 4 5 6 7 8 9 10; do printf 'abcdefg\n'; done > t.txt
$ tern train m.ail --allow fileread --out run | grep -e count -e eval/ -e completed
|   train_count: 56
|   val_count: 4
| eval/accuracy = 0.2500
| eval/accuracy = 1.0000
| Training completed
$ cut -c 1-150 run/data.json
| {"inputs":[{"name":"tokens","width":4,"tokens":"chars","vocabulary":["a","b","c","d","\n","e","f","g"]},{"name":"labels","width":4}],"tern.sha256":"c2

# The folder is an ordinary run: verified, resumed to the bit, the same with ranks; evaluated on a text.
$ tern verify run --allow fileread
| verified: every step, the history and the weights agree in every bit
$ tern train m.ail --allow fileread --out part -q --max-steps 70 > log 2>&1; tern train m.ail --allow fileread --resume part -q > log
$ cmp run/weights.safetensors part/weights.safetensors
$ sed 's/batch = 8/batch = 8 shards = 2/' m.ail > s.ail && sed -i 's/batch = 8$/batch = 8\n  shards = 2/' s.ail
$ tern train s.ail --allow fileread --out one -q > log && tern train s.ail --allow fileread --ranks 2 --out two -q > log
$ cmp one/weights.safetensors two/weights.safetensors
$ printf 'gfedcbagfedcba' > back.txt && tern evaluate run back.txt
| rows = 3
| accuracy = 0.0000
$ tern evaluate run t.txt
| rows = 19
| accuracy = 1.0000

# Words, bytes and byte pairs; the vocabulary is that of the training part.
$ sed 's/chars()/words(size = 6)/' m.ail > w.ail && for i in 1 2 3 4 5; do echo 'one two three four'; done > t.txt && echo 'five six one two' >> t.txt
$ tern train w.ail --allow fileread --out words -q > log && grep -o '"vocabulary.*\]},' words/data.json
| "vocabulary":["one","two","four","three"]},
$ sed 's/chars()/bytes()/; s/\[10, 12\]/[256, 12]/; s/\[12, 10\]/[12, 256]/' m.ail > b.ail && printf '\377\376abcdefgh\000ijkl' > t.txt
$ tern train b.ail --allow fileread -q | tail -n 1
| Training completed
$ printf '%s\n' '{"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "model": {"vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}}' > tok.json
$ sed 's/chars()/bpe("tok.json")/' m.ail > p.ail && printf 'abababbaabababbaabab' > t.txt
$ tern train p.ail --allow fileread --out bpe -q > log; grep -c '"tokens":"bpe","tokenizer":' bpe/data.json
| 1

# What is wrong with a text, or with the block.
$ tern train m.ail --allow fileread > log 2>&1; printf 'ab' > t.txt; tern train m.ail --allow fileread 2>&1 | head -n 1
| error[E_DATASET_EMPTY]: `t.txt` is too short: a window of 4 and the token after it do not fit into the training part (tokens: 1)
$ printf 'abc\ndefghijklmnopqrst\n' > t.txt; tern train m.ail --allow fileread 2>&1 | head -n 1
| error[E_INDEX_OUT_OF_RANGE]: index 10 in embedding is outside [0, 10), in line 2 of `t.txt`
$ printf 'abc\n\377' > t.txt; tern train m.ail --allow fileread 2>&1 | head -n 1
| error[E_FILE_INVALID_UTF8]: `t.txt` is not UTF-8 text
$ rm t.txt; tern train m.ail --allow fileread 2>&1 | head -n 1
| error[E_FILE_NOT_FOUND]: there is no file `t.txt`
$ try() { sed "$1" m.ail > x.ail; tern check x.ail 2>&1 | grep -e '^error' -e message: -e '-->'; }
> try 's/tokens \[B, 4\]/tokens [B, T]/'; try 's/labels \[B, 4\]/labels [B]/'; try 's/chars()/chars("text")/'; try 's/tokens = chars()/shuffle = true/'
> try 's/tokens = chars()/tokens = "text"/'; try 's/chars()/bytes(size = 5)/'; try 's/chars()/bpe()/'
| error[E_SYNTAX_ERROR]: windows of a text have a length: tokens [B, 64]
|   --> x.ail:2:3
| error[E_SYNTAX_ERROR]: labels of a text are the next tokens, as many as there are tokens: labels [B, 64]
|   --> x.ail:3:3
| error[E_SHAPE_MISMATCH]: shapes [B, 4, 10] and [B] do not fit together in xent
|    --> x.ail:10:10
| error[E_EVAL_UNKNOWN_METRIC]: metric `accuracy` has no meaning here: it needs one logit per class for each row, [rows, classes], and the shape is [B, 4, 10]
|    --> x.ail:24:14
| error[E_SYNTAX_ERROR]: a text has tokens = chars(), words(), bytes() or bpe("tokenizer.json"); the first two may have `size = 1000`
|    --> x.ail:19:12
| error[E_SYNTAX_ERROR]: a text has tokens = chars(), words(), bytes() or bpe("tokenizer.json"); the first two may have `size = 1000`
|    --> x.ail:16:1
| error[E_SYNTAX_ERROR]: `shuffle` is not a field of the dataset block
|    --> x.ail:19:3
| error[E_SYNTAX_ERROR]: a text has tokens = chars(), words(), bytes() or bpe("tokenizer.json"); the first two may have `size = 1000`
|    --> x.ail:19:12
| error[E_SYNTAX_ERROR]: a text has tokens = chars(), words(), bytes() or bpe("tokenizer.json"); the first two may have `size = 1000`
|    --> x.ail:19:12
| error[E_SYNTAX_ERROR]: a text has tokens = chars(), words(), bytes() or bpe("tokenizer.json"); the first two may have `size = 1000`
|    --> x.ail:19:12
