# The GPT of the examples in its full shape and with full batches, 200 steps: on 1 to 4 threads, and killed
# three times and resumed on another number of threads, it ends with the same weights.
$ cp -r "$TESTS/../examples/ail/gpt.ail" "$TESTS/../examples/ail/data" .
$ export TERN_CORES=4
> train() { tern train gpt.ail --allow fileread --steps 200 -q "$@" > log; }
> train --threads 1 --out 1 && tail -n 1 log
| Training completed
$ TERN_CORES=4 tern train gpt.ail --allow fileread --steps 200 -q --threads 2 --out 2 > log
$ TERN_CORES=4 tern train gpt.ail --allow fileread --steps 200 -q --threads 3 --out 3 > log
$ TERN_CORES=4 tern train gpt.ail --allow fileread --steps 200 -q --threads 4 --out 4 > log

# Killed as soon as the history has so many steps; the steps after the last checkpoint are repeated.
$ export TERN_CORES=4
> lines() { [ -e killed/history.jsonl ] && wc -l < killed/history.jsonl || echo 0; }
> kill_at() {
>   steps=$1; shift
>   tern train gpt.ail --allow fileread --steps 200 -q --checkpoint-every 20 "$@" > log 2>&1 & pid=$!
>   while kill -0 $pid 2> none && [ "$(lines)" -lt "$steps" ]; do sleep 0.05; done
>   kill -9 $pid; wait $pid; echo "killed: $?"
> }
> { kill_at 30 --threads 2 --out killed; kill_at 70 --threads 3 --resume killed; kill_at 150 --threads 1 --resume killed; } 2> none
| killed: 137
| killed: 137
| killed: 137
$ TERN_CORES=4 tern train gpt.ail --allow fileread --steps 200 -q --threads 4 --resume killed > log; tail -n 1 log
| Training completed
$ sha256sum */weights.safetensors | cut -c 1-64 | sort | uniq -c | awk '{ print $1 }'
| 5
$ cat */history.jsonl | sort | uniq -c | awk '{ print $1 }' | sort -u
| 5
