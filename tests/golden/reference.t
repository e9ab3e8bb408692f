# Numbers that were computed by another program: a generator, first values, batches, gradients and
# metrics written down again from the documents alone, in double precision.
$ cat > toy.ail <<'END'
> const V = 20
> model {
>   tokens [B, T]
>   labels [B]
>   param E [V, 8]
>   param W [8, 2]
>   param b [2]
>   logits = linear(meanpool(embedding(tokens, E)), W, b)
> }
> train { loss = xent(logits, labels) steps = 60 lr = 0.3 batch = 4 }
> END

# Without data: ids, then labels, from one generator for all steps.
$ tern train toy.ail | grep -E 'Step (0|20|59):'
| Step 0: loss = 0.8139<*>
| Step 20: loss = 0.7167<*>
| Step 59: loss = 0.7548<*>

# With data: shuffled by the seed, divided, drawn with replacement, evaluated after the update.
$ awk 'BEGIN { for (i = 0; i < 37; i++) { printf "{\"label\": %d, \"tokens\": [", (i * i + i) % 3
>   for (k = 0; k < 5; k++) printf "%s%d", k ? ", " : "", (i * 7 + k * k * 3 + i * k) % 15; print "]}" } }' > rows.jsonl
$ sed 's/V = 20/V = 15/; s/\[V, 8\]/[V, 4]/; s/\[8, 2\]/[4, 3]/; s/b \[2\]/b [3]/
>   s/steps = 60 lr = 0.3 batch = 4/steps = 45 lr = 0.5 batch = 6/' toy.ail > rows.ail
$ cat >> rows.ail <<'END'
> dataset { format = "jsonl" path = "rows.jsonl" tokens = "tokens" labels = "label" shuffle = true split = 0.8 }
> eval { every = 20 metrics = [loss, acc] }
> END
$ tern train rows.ail --allow fileread --seed 9 | grep -A2 -E 'Step (0|20|40|44):'
| Step 0: loss = 1.1905<*>
| eval/loss = 0.9902<*>
| eval/accuracy = 0.5000
| --
| Step 20: loss = 0.5457<*>
| eval/loss = 0.6860<*>
| eval/accuracy = 0.5000
| --
| Step 40: loss = 0.2869<*>
| eval/loss = 0.5361<*>
| eval/accuracy = 0.5000
| Step 44: loss = 0.2837<*>
| eval/loss = 0.5297<*>
| eval/accuracy = 0.5000

# First values and drawn inputs, to the last bit.
$ echo 'model { x [4] param W [2, 3] y = W }' > w.ail; tern run w.ail --json | grep -o '"data":.*\]'
| "data":[-0.6045088,0.3985145,-0.774729,0.9865039,0.5966085,-0.15880361]}]
$ echo 'model { x [4] param W [2, 3] y = x }' > x.ail; tern run x.ail --json | grep -o '"data":.*\]'
| "data":[0.41694248,-0.434471,0.68940365,-0.6069089]}]
