# Evaluation treats the whole split as one batch, even if the model computes it in chunks.
$ for i in $(seq 1 1025); do echo "{\"x\": [$((i % 7)), $((i % 3)), $((i % 5))], \"label\": $((i % 2))}"; done > data.jsonl
$ cat > evaluate <<'END'
> echo "model {
>   x [B, 3]
>   labels [B]
>   param W [3, 2]
>   logits = matmul(x, W)
> }
> train { loss = $1 steps = 1 lr = 0.0 batch = 5 }
> eval { metrics = [loss] split = train }
> dataset { format = \"jsonl\" path = \"data.jsonl\" tokens = \"x\" labels = \"label\" split = 1.0 }" > p.ail
> tern train p.ail --allow fileread "--param=W=[[1, 0], [0, 1], [1, 1]]" 2> said | grep eval/
> END
# A sum of ones counts the rows; a mean of pieces gave 1023.001953. It teaches W nothing, which is said.
$ sh evaluate 'sum(add(mul(labels, 0.0), 1.0))'
| eval/loss = 1025.000000
$ head -n 1 said
| warning[E_TRAIN_NO_PARAMETERS]: training changes no parameter: no gradient reaches any of them
# 513 labels are 1. The largest logit is 6 + 4, the smallest 0.
$ sh evaluate 'sum(labels)'
| eval/loss = 513.000000
$ sh evaluate 'sub(max(logits), min(logits))'
| eval/loss = 10.000000

# An input that neither the data nor the command line gives is an error.
$ sed 's/param W/z [3]\n  param W/; s/loss = /loss = add(mean(z), /; s/ steps/) steps/' p.ail > z.ail
$ tern train z.ail --allow fileread 2>&1 >/dev/null
| error[E_DATASET_SCHEMA_MISSING_FIELD]: line 1 of `data.jsonl` has no `z`
| ...
? 1
$ tern train z.ail --allow fileread --input 'z=[1, 2, 6]' '--param=W=[[1, 0], [0, 1], [1, 1]]' | grep eval/
| eval/loss = 13.000000

# An accuracy that is not requested is neither shown nor recorded nor drawn.
$ cat > loss.ail <<'END'
> model { x [B, 3] param W [3, 1] y = matmul(x, W) }
> train { loss = mean(y * y) steps = 2 lr = 0.0 }
> eval { metrics = [loss] split = train }
> dataset { format = "jsonl" path = "data.jsonl" tokens = "x" }
> END
$ tern train loss.ail --allow fileread --out run --store s.db --log json | grep -c accuracy
| 0
? 1
$ tern runs show last --store s.db --json | grep -o '"evals":.*'
| "evals":[{"step":0,"loss":<*>},{"step":1,"loss":<*>}]}}
$ tern runs show last --store s.db | grep 'step 0'
|   step 0: loss <*>, eval loss <*>
$ tern runs show last --store s.db | grep -c ', accuracy'
| 0
? 1
$ tern plot last --store s.db | grep -ci accuracy
| 0
? 1
