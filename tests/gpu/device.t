# The device of a run, on a GPU that the host emulates: driver.c says what TERN_FAKE_CARD can be.
$ cat > on_card <<'END'
> LD_LIBRARY_PATH="$(dirname "$TERN")/tests/card" TERN_FAKE_CARD=$1 && export LD_LIBRARY_PATH TERN_FAKE_CARD
> shift
> exec "$TERN" "$@"
> END
$ cat > model.ail <<'END'
> model {
>   x [B, 3]
>   labels [B]
>   param W [3, 4]
>   param b [4]
>   param V [4, 2]
>   logits = matmul(dropout(relu(linear(x, W, b)), 0.5), V)
> }
> train {
>   loss = xent(logits, labels)
>   steps = 20
>   lr = 0.1
>   batch = 4
>   optimizer = "adam"
>   clip_norm = 1
> }
> END

# What there is.
$ sh on_card fine devices | tail -n 1
| cuda  the host, 4.0 GiB, compute capability 8.0, 4 multiprocessors
$ sh on_card fine devices --json | sed 's/.*{"device":"cuda"/{"device":"cuda"/'
| {"device":"cuda","name":"the host","memory":4294967296,"usable":true}]}
$ sh on_card none devices | tail -n 1
| cuda  none: the NVIDIA driver finds no GPU

# No driver, none that works, no GPU: one diagnostic, and nothing is run.
$ mkdir empty; : > empty/libcuda.so.1; LD_LIBRARY_PATH=empty tern eval '1 + 2' --device cuda
! error[E_DEVICE]: the device `cuda` cannot be used: there is no NVIDIA driver (libcuda.so.1) on this machine
!    = device: cuda
!    = problem: there is no NVIDIA driver (libcuda.so.1) on this machine
!    = hint: `tern devices` lists the devices; --device cpu computes the same bits
!
? 1
$ sh on_card old eval '1 + 2' --device cuda 2>&1 | head -n 1
| error[E_DEVICE]: the device `cuda` cannot be used: system has unsupported display driver / cuda driver combination
$ TERN_DEVICE=cuda sh on_card none eval '1 + 2' 2>&1 | head -n 1
| error[E_DEVICE]: the device `cuda` cannot be used: the NVIDIA driver finds no GPU
$ sh on_card none eval '1 + 2' --device auto
| 3

# One module that cannot be loaded ends it, once, with nothing left.
$ sh on_card broken=0 eval '1 + 2' --device cuda
| 3
! fake GPU: 0 modules and 0 bytes left
$ for module in 1 2 9 17; do sh on_card broken=$module eval '1 + 2' --device cuda; done 2>&1 | grep -v =
| error[E_DEVICE]: the device `cuda` cannot be used: unknown error
| 
| fake GPU: 0 modules and 0 bytes left
| error[E_DEVICE]: the device `cuda` cannot be used: unknown error
| 
| fake GPU: 0 modules and 0 bytes left
| error[E_DEVICE]: the device `cuda` cannot be used: unknown error
| 
| fake GPU: 0 modules and 0 bytes left
| error[E_DEVICE]: the device `cuda` cannot be used: unknown error
| 
| fake GPU: 0 modules and 0 bytes left
$ sh on_card broken=3 eval '1 + 2' --device auto 2> /dev/null
| 3
$ tern eval '1 + 2' --device gpu
! error[E_USAGE]: there is no device gpu; there are cpu, cuda and auto
!    = hint: `tern devices` says which of them this machine has
! 
? 2
$ sh on_card fine train model.ail --device cuda --ranks 2
! error[E_USAGE]: a training in several processes runs on the CPU
!    = hint: leave --device cuda out, or let one process train on the GPU
! 
? 2

# A step is recorded once and launched as one; only batches and losses cross. Small work stays on the CPU.
$ tern train model.ail --json > here
$ sh on_card count train model.ail --json --device cuda > there
! fake GPU: <*> launches, 19 replays, <*> to it, <*> from it, <*>
$ cmp here there
$ sh on_card count train model.ail --json --device auto > there
! fake GPU: 0 launches, 0 replays, 0 to it, 0 from it, 0 edges, 0 deep
$ cmp here there

# Kernels of a recording wait for what they need, and for nothing else. The driver does them in any order that
# is allowed. Whichever of these waits it forgets, the result is wrong: none is missing, none too many.
$ cat > fit.ail <<'END'
> model {
>   x [B, 3]
>   y [B]
>   param W [3, 4]
>   param b [4]
>   param V [4, 1]
>   answer = reshape(matmul(tanh(linear(x, W, b)), V), [@0])
> }
> train {
>   loss = mse_loss(answer, y)
>   steps = 5
>   lr = 0.1
>   batch = 6
>   optimizer = "adam"
>   clip_norm = 0.1
> }
> dataset {
>   format = "csv"
>   path = "rows.csv"
>   x = ["a", "b", "c"]
>   shuffle = true
> }
> END
$ { echo a,b,c,y; seq 0 239 | awk '{ printf "%d%s", $1 * $1 % 83, $1 % 4 == 3 ? "\n" : "," }'; } > rows.csv
$ tern train fit.ail --allow fileread --json > here
$ sh on_card count train fit.ail --allow fileread --json --device cuda 2> said > there
$ cmp here there
$ awk '{ print ($15 < $3 * 2 / 3) }' said
| 1
$ for edge in $(seq $(awk '{ print $13 }' said)); do
>   sh on_card forget=$edge train fit.ail --allow fileread --json --device cuda > there 2> /dev/null
>   cmp -s here there && echo "$edge is not missed"
> done; true
$ sh on_card unordered train fit.ail --allow fileread --json --device cuda | cmp here -

# The next batch is drawn while a step goes on. That never shows: not where a run is stopped and resumed, not
# in the generator that a checkpoint holds, and not where a loss is infinite.
$ sed 's/steps = 5/epochs = 2/' fit.ail > epochs.ail
$ sed 's/lr = 0.1/lr = 1e38/; s/adam/sgd/; /clip_norm/d' fit.ail > wild.ail
$ for model in fit epochs wild; do
>   for on in cpu cuda; do
>     sh on_card fine train $model.ail --allow fileread -q --device $on --checkpoint-every 2 \
>       --out $model-$on --store ahead.db > $on.txt 2>&1
>   done
>   cmp cpu.txt cuda.txt && cmp $model-cpu/checkpoint $model-cuda/checkpoint
>   cmp $model-cpu/history.jsonl $model-cuda/history.jsonl
> done; grep -o 'E_NOT_FINITE' cuda.txt
| E_NOT_FINITE
$ sh on_card slow=100 train epochs.ail --allow fileread -q --device cuda --max-time 1 --out part \
>   --store ahead.db > /dev/null 2>&1
? 1
$ sh on_card fine train epochs.ail --allow fileread -q --device cuda --resume part --store ahead.db > /dev/null
$ cmp epochs-cpu/weights.safetensors part/weights.safetensors && tern verify part --allow fileread > /dev/null

# A plan says what stays on the CPU, and why.
$ sh on_card fine emit model.ail --as plan --device cuda
| 0: matmul input+0 param+0 param+0 -> @0
| 1: jump to 2
| 2: matmul @0 param+0 -> out+0
| device cuda: steps on the GPU: 2, on the CPU: 0; launched as one from the second run on
$ sh on_card fine emit model.ail --as plan --device auto | tail -n 1
| device cpu: the work is too small to be worth a GPU's start
$ printf 'model {\n  x [B, 3]\n  y = if mean(x) > 0 then exp(x) else x * now()\n}\n' > branch.ail
$ sh on_card fine emit branch.ail --as plan --device cuda
| 0: mean input+0 -> @0
| 1: gt @0 const+0 -> @64
| 2: unless @64 to 6; on the CPU: it decides which step is next
| 3: exp input+0 -> @128
| 4: reshape @128 -> out+0
| 5: jump to 10
| 6: enter; on the CPU: it checks whether the host's values may be used
| 7: host @192; on the CPU: its value comes from the host
| 8: mul input+0 @192 -> @256
| 9: reshape @256 -> out+0
| device cuda: steps on the GPU: 6, on the CPU: 3; launched one by one

# A product, its bias and relu are one kernel also in a training, and so are a product and relu's slope: relu
# adds none, though what V becomes follows the same product.
$ cat > layers.ail <<'END'
> model {
>   x [B, 3]
>   labels [B]
>   param W [3, 4]
>   param b [4]
>   param V [4, 2]
>   logits = matmul(relu(linear(x, W, b)), V)
> }
> train {
>   loss = xent(logits, labels)
>   steps = 1
>   batch = 4
> }
> END
$ sed 's/relu//' layers.ail > linear.ail
$ for model in layers linear; do
>   sh on_card count train $model.ail -q --device cuda --store ahead.db 2>&1 | grep -o '[0-9]* launches'
> done | awk '{ kernels[NR] = $1 } END { print kernels[1] - kernels[2] }'
| 0

# Windows of images are read by the product that needs them, forwards and for the gradient of the weights.
$ cp -r "$TESTS/../examples/ail/digits.ail" "$TESTS/../examples/ail/data" .
$ sh on_card fine emit digits.ail --as plan --device cuda | grep 'patches.*param'
| <*>: patches @0 param+0 -> @<*>
| <*>: patches @<*> param+0 -> @<*>
$ tern train digits.ail --allow fileread --steps 6 --json > here
$ sh on_card fine train digits.ail --allow fileread --steps 6 --json --device cuda | cmp here -

# A run of one device is verified on another, and resumed there.
$ sh on_card fine train model.ail -q --device cuda --out run --store runs.db
| Step 19: loss = <*>
| Training completed
$ tern verify run | head -n 1
| <*>
$ tern train model.ail -q --out other --steps 7 --store runs.db > /dev/null
$ sh on_card fine train model.ail -q --device cuda --resume other --store runs.db > /dev/null
$ sh on_card fine verify other --device cuda | tail -n 1
| <*>
$ cmp run/weights.safetensors other/weights.safetensors

# Where a run was trained is one of its facts, and none that decides bits.
$ tern runs show 1 --store runs.db | grep device
| device         cuda
$ tern runs --store runs.db | awk '{ print $1, $(NF-2) }'
| run device
| 3 cuda
| 2 cpu
| 1 cuda
$ tern runs --store runs.db --where device=cuda --json | grep -o '"device":"cuda"' | wc -l
| 2
$ tern train model.ail -q --out third --store runs.db > /dev/null
$ tern runs compare 1 4 --store runs.db
| seconds        <*> | <*>
| device         cuda | cpu
| folder         <*>
| the losses agree in every bit over 20 steps
| the weights agree in every bit

# MIND places tensors on a GPU if there is one.
$ printf 'let x: Tensor[f32,(2)]@gpu = [1, 2]\nprint(sum(x * x.to(gpu)).to(cpu))\n' > place.mind
$ sh on_card fine run place.mind --device cuda
| Tensor[f32,()] 5
$ tern run place.mind 2>&1 | head -n 1
| error[E5001]: there is no device `gpu` on this machine

# A GPU without enough memory, and one that is lost: the last whole checkpoint stays.
$ sh on_card memory=2000 train model.ail -q --device cuda 2>&1 | head -n 1
| error[E_DEVICE]: the device `cuda` cannot be used: the GPU has not enough memory left
$ sh on_card lost=40 train model.ail -q --device cuda --out lost --checkpoint-every 3 --store runs.db > said 2>&1
? 1
$ head -n 1 said
| error[E_DEVICE]: the device `cuda` cannot be used: unspecified launch failure
$ tern train model.ail -q --resume lost --store runs.db > /dev/null
$ cmp run/weights.safetensors lost/weights.safetensors

# A run that takes long is stopped.
$ sh on_card slow=400 run model.ail --device cuda --max-time 0.1 --input x='[[1, 2, 3]]' 2>&1 | head -n 1
| error[E_TIME_LIMIT]: <*>
