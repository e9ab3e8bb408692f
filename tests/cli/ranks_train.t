# A training in several processes leaves what one alone leaves, however it ends.
$ cat > points.tsv <<END
> 5,5,3,8	0
> 5,4,14,13	1
> 13,3,10,10	1
> 2,9,0,15	0
> 7,7,1,11	1
> END
$ cat > part.ail <<'END'
> model {
>   tokens [B, T]
>   labels [B]
>   param E [16, 8]
>   param O [8, 2]
>   logits = linear(dropout(meanpool(embedding(tokens, E)), 0.1), O)
> }
> train { loss = xent(logits, labels) steps = 24 lr = 0.05 batch = 12 shards = 6 optimizer = "adam" clip_norm = 0.1 }
> dataset { format = "tsv" path = "points.tsv" }
> eval { every = 7 metrics = [loss, acc] split = train }
> END
$ tern train part.ail --allow fileread --out alone --checkpoint-every 5 > alone.txt
$ for n in 2 4 5 6; do tern train part.ail --allow fileread --out r$n --checkpoint-every 5 --ranks $n > r$n.txt; done
$ for n in 2 4 5 6; do cmp alone.txt r$n.txt; diff -r alone r$n; done

# Stopped by a limit, resumed by another number; a run that has all its steps already.
$ tern train part.ail --allow fileread --out cut --ranks 4 --max-steps 11 --quiet 2>&1 | head -1
| error[E_LOOP_LIMIT]: the program took more than the 11 steps that --max-steps allows
$ tern train part.ail --allow fileread --out cut --resume cut --ranks 3 --quiet | tail -1
| Training completed
$ cmp alone/weights.safetensors cut/weights.safetensors && cmp alone/history.jsonl cut/history.jsonl
$ tern train part.ail --allow fileread --out cut --resume cut --ranks 2 --steps 20 2>&1 | head -1
| warning[E_NO_STEPS_LEFT]: the run in `cut` already has 24 steps, and 20 were requested: nothing was trained
$ tern verify cut --allow fileread | tail -1
| verified: every step, the history and the weights agree in every bit

# Rank 0 names the first operation with a NaN or infinity, as in one process.
$ sed 's/lr = 0.05/lr = 9e37/; s/"adam"/"sgd"/' part.ail > steep.ail
$ tern train steep.ail --allow fileread --quiet 2> one.txt; head -1 one.txt
| error[E_NOT_FINITE]: matmul gave Infinity in step 1
$ tern train steep.ail --allow fileread --quiet --ranks 3 2> three.txt; cmp one.txt three.txt

# More ranks than shards; without shards one rank computes everything.
$ tern train part.ail --allow fileread --ranks 8 2>&1 > idle.txt | head -1; cmp alone.txt idle.txt
| warning[E_RANKS_IDLE]: only 6 of 8 ranks compute: a rank needs a shard
$ sed 's/shards = 6//' part.ail > whole.ail; tern train whole.ail --allow fileread --ranks 2 2>&1 > log | sed -n '1p;/hint/p'
| warning[E_RANKS_IDLE]: only 1 of 2 ranks compute: a rank needs a shard
|    = hint: write `shards = 2`, or a multiple of it that divides `batch`, into the train block; it is part of the program and changes the result; the number of ranks does not

# The history of runs says how many there were.
$ tern train part.ail --allow fileread --quiet --ranks 3 --store runs.db > log; tern runs --store runs.db --json | grep -o '"ranks":[0-9]*'
| "ranks":3
