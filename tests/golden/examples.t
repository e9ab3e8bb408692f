# The examples that train: what a person sees, and the same bits whatever computes them.
$ cp -r "$TESTS/../examples/ail" ail

# `make demo` trains this one: the loss falls, and the sentences it has not seen are understood.
$ cd ail && tern train topics.ail --allow fileread
| Inputs:
|   tokens: token_ids
|   labels: labels
| 
| Dataset:
|   format: jsonl
|   path: data/topics.jsonl
|   train_count: 160
|   val_count: 41
| 
| Train:
|   steps: 400
|   lr: 1.5
|   batch_size: 16
|   optimizer: sgd
|   schedule: constant
| 
| Eval:
|   split: val
|   every: 100
|   metrics: ["loss", "accuracy"]
| 
| Starting training...
| Step 0: loss = 1.275220
| eval/loss = 1.120653
| eval/accuracy = 0.3171
| ...
| Step 399: loss = 0.012402
| eval/loss = 0.175366
| eval/accuracy = 0.9512
| Training completed
$ grep -A2 '^demo' "$TESTS/../Makefile" | grep -c 'build, and train'
| 1
$ sed -n '/^demo/,/^$/p' "$TESTS/../Makefile" | grep -o 'tern train topics.ail --allow fileread'
| tern train topics.ail --allow fileread

# What was learnt is of use: new sentences, word by word through the vocabulary.
$ cat > encode <<'END'
> awk -v text="$*" 'BEGIN { n = split(text, word, " ") } { id[$0] = NR - 1 }
>   END { printf "[["; for (i = 1; i <= 9; i++) printf "%s%d", (i > 1) ? ", " : "", (i > n) ? 0 : (word[i] in id) ? id[word[i]] : 1
>         print "]]" }' ail/data/topics.vocab
> END
$ (cd ail && tern train topics.ail --allow fileread --out ../run > /dev/null)
$ for text in "fry two eggs in butter" "a cold night with snow" "the bus leaves the city at noon"; do
>   tern run ail/topics.ail --weights run/weights.safetensors --input tokens="$(sh encode "$text")" --json |
>     sed 's/.*"data":\[\([^]]*\)\].*/\1/' | awk -F, '{ print ($1 > $2) ? (($1 > $3) ? 0 : 2) : (($2 > $3) ? 1 : 2) }'
> done
| 0
| 1
| 2

# Threads, instruction sets and the optimiser's passes do not change a bit of any of them.
$ cd ail && for f in topics iris xor pipeline attention curve digits; do
>   for way in "--threads 1" "--threads 3" "--without fold,cse,dce,fuse,recompute"; do
>     tern train $f.ail --allow fileread --steps 60 --json $way
>   done | sort | uniq | wc -l
>   TERN_ISA=portable tern train $f.ail --allow fileread --steps 60 --json > portable
>   tern train $f.ail --allow fileread --steps 60 --json | cmp - portable
> done
| 1
| 1
| 1
| 1
| 1
| 1
| 1

# The data is what it says: every line of topics.jsonl holds the numbers of its words, and iris.tsv
# has the known means of its kinds.
$ awk 'FNR == NR { id[$0] = FNR - 1; next }
>   { match($0, /"text": "[^"]*"/); text = substr($0, RSTART + 9, RLENGTH - 10); n = split(text, word, " ")
>     match($0, /\[[^]]*\]/); m = split(substr($0, RSTART + 1, RLENGTH - 2), number, ", ")
>     for (i = 1; i <= 9; i++) if (number[i] != ((i > n) ? 0 : (word[i] in id) ? id[word[i]] : 1)) print "wrong:", $0
>     rows += m == 9 }
>   END { print rows }' ail/data/topics.vocab ail/data/topics.jsonl
| 201
$ awk '{ n[$5]++; for (i = 1; i <= 4; i++) s[$5, i] += $i }
>   END { for (k = 0; k < 3; k++) printf "%d: %.3f %.3f %.3f %.3f\n", n[k], s[k, 1] / 50, s[k, 2] / 50, s[k, 3] / 50, s[k, 4] / 50 }' \
>   ail/data/iris.tsv
| 50: 5.006 3.428 1.462 0.246
| 50: 5.936 2.770 4.260 1.326
| 50: 6.588 2.974 5.552 2.026

# They are laid out as `tern fmt` lays them out.
$ tern fmt --check ail/*.ail

# The pictures of digits.csv are those that the script draws, and it draws others for another seed.
$ sh ail/data/digits.sh 200 | cmp - ail/data/digits.csv; sh ail/data/digits.sh 1 7 | cmp -s - ail/data/digits.csv || echo others
| others
$ awk -F, 'NF != 145 || $1 != (NR - 1) % 10 { wrong++ } { for (i = 2; i <= NF; i++) if ($i !~ /^[0-9]$/) wrong++ } END { print NR, wrong + 0 }' ail/data/digits.csv
| 200 0
