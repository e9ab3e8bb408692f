# Weights from a file: matched by name, shape and dtype, and refused when they are damaged.
$ cat > model.ail <<'END'
> model {
>   x [B, 2]
>   param W [2, 2]
>   y = matmul(x, W)
> }
> train { loss = mean(y * y) steps = 3 lr = 0.1 }
> END
$ tern train model.ail --out run -q > trained
$ tern run model.ail --weights run/weights.safetensors --input x='[[1, 0]]' --json > with
$ tern run model.ail --input x='[[1, 0]]' --json > without
$ cmp -s with without
? 1

# What evaluation saw at the last step is what a run with the trained weights gives, to the bit.
$ cat > seen.ail <<'END'
> model {
>   tokens [B, T]
>   labels [B]
>   param E [9, 4]
>   param W [4, 2]
>   z = linear(meanpool(embedding(tokens, E)), W)
>   l = xent(z, labels)
> }
> train { loss = xent(z, labels) steps = 20 lr = 0.5 }
> dataset { format = "jsonl" path = "seen.jsonl" split = 1.0 }
> eval { metrics = [loss] split = train every = 7 }
> END
$ printf '{"tokens":[1,2],"label":0}\n{"tokens":[3,4],"label":1}\n{"tokens":[5,8],"label":1}\n' > seen.jsonl
$ tern train seen.ail --allow fileread --out seen --json | grep -o '"eval":{"loss":[^}]*' | tail -n 1 | sed 's/.*://' > evaluated
$ tern run seen.ail --weights seen/weights.safetensors --input tokens='[[1,2],[3,4],[5,8]]' --input labels='[0,1,1]' --json > ran
$ test -s evaluated && grep -cF "\"data\":[$(cat evaluated)]" ran
| 1

# Another shape, another name.
$ sed 's/\[2, 2\]/[2, 3]/' model.ail > wide.ail
$ tern run wide.ail --weights run/weights.safetensors
! error[E_WEIGHTS_MISMATCH]: <*>
! ...
? 1
$ sed 's/W/V/' model.ail | sed 's/x, W/x, V/' > other.ail
$ tern run other.ail --weights run/weights.safetensors --json
| {"ok":false,"diagnostics":[{"code":"E_WEIGHTS_MISMATCH",<*>
? 1

# A changed byte.
$ printf 'X' | dd of=run/weights.safetensors bs=1 seek=160 conv=notrunc 2> /dev/null
$ tern run model.ail --weights run/weights.safetensors --json
| {"ok":false,"diagnostics":[{"code":"E_FILE_CORRUPT",<*>
? 1
$ head -c 100 run/weights.safetensors > short.safetensors
$ tern run model.ail --weights short.safetensors --json
| {"ok":false,"diagnostics":[{"code":"E_FILE_CORRUPT",<*>
? 1
