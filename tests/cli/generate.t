# A run that has learned a text continues it. The folder alone is enough.
$ cat > m.ail <<'TEXT'
> model {
>   tokens [B, 4]
>   labels [B, 4]
>   param E [10, 12]
>   param W [12, 10]
>   logits = matmul(embedding(tokens, E), W)
> }
> train { loss = xent(logits, labels) steps = 150 lr = 1 batch = 8 }
> dataset { format = "text" path = "t.txt" tokens = chars() }
> TEXT
$ for i in 1 2 3 4 5 6 7 8 9 10; do printf 'abcdefg\n'; done > t.txt
$ tern train m.ail --allow fileread --out run -q > log && mv t.txt text.txt
$ tern generate run --prompt abc --tokens 13 --temperature 0
| abcdefg
| abcdefg
| 
# The prompt may be longer than the window.
$ tern generate run --prompt 'fgabcdef' --tokens 3 --temperature 0
| fgabcdefg
| a
# -q omits the prompt; without generated tokens only the prompt is printed.
$ tern generate run --prompt abc --tokens 4 --temperature 0 -q
| defg
$ tern generate run --prompt abc --tokens 0
| abc
$ tern generate run --prompt abc --tokens 5 --temperature 0 --json
| {"ok":true,"language":"ail","warnings":[],"prompt":"abc","text":"defg\n","tokens":5}

# A seed determines the text, on any number of threads; --top-k 1 gives the likeliest.
$ tern generate run --prompt a --tokens 60 --temperature 3 --seed 7 > one
$ for n in 1 2 3; do tern generate run --prompt a --tokens 60 --temperature 3 --seed 7 --threads $n | cmp - one; done
$ tern generate run --prompt a --tokens 60 --temperature 3 --seed 8 | cmp -s - one || echo differs
| differs
$ tern generate run --prompt a --tokens 60 --temperature 3 --top-k 1 > likeliest
$ tern generate run --prompt a --tokens 60 --temperature 0 | cmp - likeliest
# At a high temperature every character of the text appears, but neither padding nor the unknown token.
$ tern generate run --prompt a --tokens 2000 --temperature 1000 | fold -w 1 | sort -u | tr -d '\n'; echo
| abcdefg

# Words have spaces before them, and signs do not.
$ sed -e 's/chars()/words()/' -e 's/t.txt/w.txt/' m.ail > w.ail
$ for i in 1 2 3 4 5 6 7 8 9 10; do echo 'one two, three.'; done > w.txt
$ tern train w.ail --allow fileread --out words -q > log
$ tern generate words --prompt 'one two' --tokens 6 --temperature 0
| one two, three. one two,

# Bytes become characters as they are complete.
$ sed -e 's/chars()/bytes()/' -e 's/t.txt/b.txt/' -e 's/10/256/' -e 's/lr = 1/lr = 5/' m.ail > b.ail
$ for i in 1 2 3 4 5 6 7 8 9 10; do printf 'aé€'; done > b.txt
$ sed -i 's/, 10\]/, 256]/' b.ail; tern train b.ail --allow fileread --out bytes -q > log
$ tern generate bytes --prompt a --tokens 11 --temperature 0
| aé€aé€
# A character that the last token leaves incomplete is U+FFFD.
$ tern generate bytes --prompt a --tokens 3 --temperature 0 --json
| {"ok":true,"language":"ail","warnings":[],"prompt":"a","text":"é�","tokens":3}
# Control characters are shown as escapes to people, and unchanged in JSON.
$ for i in 1 2 3 4 5 6 7 8 9 10; do printf 'a\033b'; done > t.txt && tern train m.ail --allow fileread --out escape -q > log
$ tern generate escape --prompt a --tokens 2 --temperature 0
| a\x1bb
$ tern generate escape --prompt a --tokens 2 --temperature 0 --json
| {"ok":true,"language":"ail","warnings":[],"prompt":"a","text":"\u001bb","tokens":2}

# Attention with a KV cache, or computing the whole window: the same text, also when the window moves.
$ cat > a.ail <<'TEXT'
> const T = 6
> layer block(x) {
>   param Q [8, 8]
>   param K [8, 8]
>   param V [8, 8]
>   x + attention(matmul(x, Q), matmul(x, K), matmul(x, V), 2, causal=true)
> }
> model {
>   tokens [B, T]
>   labels [B, T]
>   param E [20, 8]
>   param P [T, 8]
>   x = repeat 2 block(embedding(tokens, E) + P)
>   logits = matmul(x, transpose(E))
> }
> train { loss = xent(logits, labels) steps = 60 lr = 0.3 batch = 4 }
> dataset { format = "text" path = "a.txt" tokens = chars() }
> TEXT
$ for i in 1 2 3 4 5; do printf 'row row row your boat, gently down\n'; done > a.txt
$ tern train a.ail --allow fileread --out attends -q > log
$ for t in 0 1; do for p in r 'row your boat'; do
>   tern generate attends --prompt "$p" --tokens 40 --temperature $t > on
>   tern generate attends --prompt "$p" --tokens 40 --temperature $t --cache off | cmp - on && wc -c < on
> done; done
| 42
| 54
| 42
| 54

# ---- what is refused ----
$ tern generate run --prompt 'abz' 
! error[E_USAGE]: `z` of --prompt is not in the vocabulary of the run
!    = hint: a run knows what is in the text that it was trained on
!
? 2
$ tern generate words --prompt 'one four' 2>&1 | head -n 1
| error[E_USAGE]: `four` of --prompt is not in the vocabulary of the run
$ tern generate run --prompt '' 2>&1 | head -n 1
| error[E_USAGE]: --prompt has no token to continue
$ tern generate words --prompt '  ' 2>&1 | head -n 1
| error[E_USAGE]: --prompt has no token to continue
$ tern generate run 2>&1 | head -n 1
| error[E_USAGE]: there is no text to continue: give it by --prompt
$ tern generate --prompt a 2>&1 | head -n 1
| error[E_USAGE]: tern generate needs the folder of a run: tern generate RUN --prompt TEXT
$ tern generate run run --prompt a 2>&1 | head -n 1
| error[E_USAGE]: tern generate takes one run; what is run?
$ for t in -1 nan x 1e7; do tern generate run --prompt a --temperature $t 2>&1 | head -n 1; done
| error[E_USAGE]: --temperature takes a number from 0 to 1000000, not -1
| error[E_USAGE]: --temperature takes a number from 0 to 1000000, not nan
| error[E_USAGE]: --temperature takes a number from 0 to 1000000, not x
| error[E_USAGE]: --temperature takes a number from 0 to 1000000, not 1e7
$ tern generate run --prompt a --tokens many 2>&1 | head -n 1
| error[E_USAGE]: --tokens takes a whole number from 0 up, not many
$ tern generate run --prompt a --top-k 0 2>&1 | head -n 1
| error[E_USAGE]: --top-k takes a whole number from 1 up, not 0
$ tern generate run --prompt a --cache maybe 2>&1 | head -n 1
| error[E_USAGE]: --cache takes on or off, not maybe
$ tern generate run --prompt a --input tokens='[[2]]' 2>&1 | head -n 1
| error[E_USAGE]: the input `tokens` comes from --prompt
$ tern generate nowhere --prompt a 2>&1 | head -n 1
| error[E_FILE_NOT_FOUND]: there is no file `nowhere/run.json`
$ tern predict run --text a 2>&1 | head -n 1; echo a > a.txt; tern predict run a.txt 2>&1 | head -n 1
| error[E_USAGE]: there are no answers for --text: the model continues a text, which `tern generate` does
| error[E_USAGE]: there are no answers for a.txt: the model continues a text, which `tern generate` does

# A run without a vocabulary.
$ printf '1\t0\n0\t1\n' > n.tsv && cat > n.ail <<'TEXT'
> model { x [B, 1] labels [B] param W [1, 2] logits = matmul(x, W) }
> train { loss = xent(logits, labels) steps = 1 lr = 1 }
> dataset { format = "tsv" path = "n.tsv" }
> TEXT
$ tern train n.ail --allow fileread --out numbers -q > log; tern generate numbers --prompt a 2>&1 | head -n 1
| error[E_USAGE]: the run has no vocabulary, so --prompt has no tokens: train on format = "text" with tokens = chars(), words(), bytes() or bpe(...)
# A model that is not causal.
$ cp text.txt t.txt
$ sed 's/^  logits.*/  x = embedding(tokens, E)\n  logits = matmul(attention(x, x, x), W)/' m.ail > later.ail
$ tern train later.ail --allow fileread --out later -q --steps 1 > log; tern generate later --prompt a --json
| {"ok":false,"diagnostics":[{"code":"E_CANNOT_GENERATE",<*>"output":"logits","reason":"at a position it depends on later tokens: the model is not causal"<*>
? 1
# A model whose output is one for the whole text.
$ cat > topic.ail <<'TEXT'
> model { tokens [B, T] labels [B] param E [40, 2] logits = meanpool(embedding(tokens, E)) }
> train { loss = xent(logits, labels) steps = 1 lr = 1 }
> dataset { format = "csv" path = "topic.csv" tokens = chars("text") }
> TEXT
$ printf 'text,labels\nabc,0\nbcd,1\n' > topic.csv && tern train topic.ail --allow fileread --out topic -q > log
$ tern generate topic --prompt a 2>&1 | head -n 1
| error[E_CANNOT_GENERATE]: the model cannot continue a text: `logits`: it does not have the shape [B, T, V]: scores for every token at every position
