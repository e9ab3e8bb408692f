# A small classifier on twelve rows.
$ cat > toy.ail <<'END'
> const V = 20
> model {
>   tokens [B, T]
>   labels [B]
>   param E [V, 8]
>   param W [8, 2]
>   logits = linear(meanpool(embedding(tokens, E)), W)
> }
> train { loss = xent(logits, labels) steps = 25 lr = 0.5 batch = 4 }
> dataset {
>   format = "jsonl" path = "toy.jsonl" tokens = "tokens" labels = "label"
>   shuffle = true split = 0.75
> }
> eval { every = 20 metrics = [loss, acc] }
> END
$ for i in 0 1 2 3 4 5; do
>   echo "{\"tokens\":[$i,1,2],\"label\":0}"
>   echo "{\"tokens\":[1$i,11,12],\"label\":1}"
> done > toy.jsonl

# Nothing is read before it is allowed.
$ tern train toy.ail --json
| {"ok":false,"diagnostics":[{"code":"E_DATASET_CAPABILITY_DENIED",<*>
? 1

$ tern train toy.ail --allow fileread
| Inputs:
|   tokens: token_ids
|   labels: labels
| 
| Dataset:
|   format: jsonl
|   path: toy.jsonl
|   train_count: 9
|   val_count: 3
| 
| Train:
|   steps: 25
|   lr: 0.5
|   batch_size: 4
|   optimizer: sgd
|   schedule: constant
| 
| Eval:
|   split: val
|   every: 20
|   metrics: ["loss", "accuracy"]
| 
| Starting training...
| Step 0: loss = <*>
| eval/loss = <*>
| eval/accuracy = <*>
| Step 10: loss = <*>
| Step 20: loss = <*>
| eval/loss = <*>
| eval/accuracy = <*>
| Step 24: loss = <*>
| eval/loss = <*>
| eval/accuracy = 1.0000
| Training completed

# --quiet prints only the last step and the end.
$ tern train toy.ail --allow fileread --quiet
| Step 24: loss = <*>
| eval/loss = <*>
| eval/accuracy = 1.0000
| Training completed

# A run that was stopped and resumed ends with the same weights as one that was not.
$ tern train toy.ail --allow fileread --out whole > /dev/null
$ ls whole
| checkpoint
| data.json
| history.jsonl
| run.json
| weights.safetensors
$ tern train toy.ail --allow fileread --out parts --steps 13 > /dev/null
$ tern train toy.ail --allow fileread --resume parts > /dev/null
$ cmp whole/weights.safetensors parts/weights.safetensors
$ wc -l < parts/history.jsonl
| 25

# A run that has all its steps, or more, stays as it is, with a warning.
$ tern train toy.ail --allow fileread --resume parts --steps 20 > /dev/null
! warning[E_NO_STEPS_LEFT]: the run in `parts` already has 25 steps, and 20 were requested: nothing was trained
!    = path: parts
!    = done: 25
!    = steps: 20
!    = hint: --steps is the total number of steps, including those of the run so far
!
$ cmp whole/weights.safetensors parts/weights.safetensors
$ wc -l < parts/history.jsonl
| 25

# Another run into a folder replaces the one before.
$ tern train toy.ail --allow fileread --out again --seed 3 --steps 40 > /dev/null
$ tern train toy.ail --allow fileread --out again > /dev/null
$ for f in weights.safetensors history.jsonl checkpoint; do cmp whole/$f again/$f; done

# Threads, instruction sets and optimiser passes do not change a bit.
$ tern train toy.ail --allow fileread --json > one
$ tern train toy.ail --allow fileread --json --threads 3 > three
$ TERN_ISA=portable tern train toy.ail --allow fileread --json > portable
$ tern train toy.ail --allow fileread --json --without fold,cse,dce,fuse,recompute > plain
$ cmp one three && cmp one portable && cmp one plain

# The weights run.
$ tern run toy.ail --weights whole/weights.safetensors --input tokens='[[3, 1, 2]]'
| Output: logits
| Output shape: [1, 2]
| First 2 values: [<*>

# A checkpoint of something else, and a damaged one, are refused.
$ sed 's/lr = 0.5/lr = 0.25/' toy.ail > other.ail
$ tern train other.ail --allow fileread --resume whole --json
| {"ok":false,"diagnostics":[{"code":"E_CHECKPOINT_MISMATCH",<*>"reason":"it belongs to another program"<*>
? 1
$ tern train toy.ail --allow fileread --resume whole --seed 7 --json
| {"ok":false,"diagnostics":[{"code":"E_CHECKPOINT_MISMATCH",<*>"reason":"it was made with another seed"<*>
? 1
$ mkdir broken && head -c 100 whole/checkpoint > broken/checkpoint
$ tern train toy.ail --allow fileread --resume broken --json
| {"ok":false,"diagnostics":[{"code":"E_CHECKPOINT_CORRUPT",<*>
? 1
$ tern train toy.ail --allow fileread --resume nowhere --json
| {"ok":false,"diagnostics":[{"code":"E_FILE_NOT_FOUND",<*>
? 1

# A folder that cannot be created.
$ touch file
$ tern train toy.ail --allow fileread --out file/run --json
| {"ok":false,"diagnostics":[{"code":"E_FILE_WRITE",<*>
? 1

# Optimisers, schedules and shards.
$ for o in sgd momentum adam adamw; do
>   sed "s/lr = 0.5/lr = 0.05 optimizer = \"$o\" schedule = \"cosine\" warmup = 3 clip_norm = 1.0 shards = 2/" toy.ail > $o.ail
>   tern train $o.ail --allow fileread | tail -n 1
> done
| Training completed
| Training completed
| Training completed
| Training completed
$ sed 's/batch = 4/batch = 4 shards = 3/' toy.ail > uneven.ail
$ tern train uneven.ail --allow fileread --json
| {"ok":false,"diagnostics":[{"code":"E_SYNTAX_ERROR",<*>"message":"shards must divide batch"<*>
? 1
