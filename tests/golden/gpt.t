# The GPT of the examples, in its full shape but with small batches: one hash, however it is computed.
$ cp "$TESTS/../examples/ail/gpt.ail" .
$ wc -l < gpt.ail | awk '{ print ($1 <= 60) }'
| 1
$ gpt() { tern train gpt.ail --set batch=1 --steps 3 --json "$@" | grep -o '"weights_sha256":"[0-9a-f]*"'; }
> for threads in 1 2 3 4; do gpt --threads $threads; done | sort | uniq -c | tr -s ' '
|  4 "weights_sha256":"614a09021203c154e812f8804b1c12e21fff56cfb93e06f959eb8d80b8da8a46"
$ tern train gpt.ail --set batch=1 --steps 3 --out whole > /dev/null
$ {
>   tern train gpt.ail --set batch=1 --steps 3 --out killed --checkpoint-every 1 > /dev/null & pid=$!
>   while kill -0 $pid && [ ! -e killed/checkpoint ]; do sleep 0.01; done
>   kill -9 $pid; wait $pid
> } 2> /dev/null
> tern train gpt.ail --set batch=1 --resume killed --steps 3 > /dev/null
> cmp whole/weights.safetensors killed/weights.safetensors && echo the same
| the same
