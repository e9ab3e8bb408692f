# The GPT of the examples, in its full shape but with small batches: one hash, however it is computed.
$ cp -r "$TESTS/../examples/ail/gpt.ail" "$TESTS/../examples/ail/data" .
$ wc -l < gpt.ail | awk '{ print ($1 <= 60) }'
| 1
$ gpt() { tern train gpt.ail --allow fileread --set batch=1 --steps 3 --json "$@" | grep -o '"weights_sha256":"[0-9a-f]*"'; }
> for threads in 1 2 3 4; do gpt --threads $threads; done | sort | uniq -c | tr -s ' '
|  4 "weights_sha256":"476adab3ddf593f289a365c988e79392da54d8c5f767cfab619b306c5c2ff8e8"
$ tern train gpt.ail --allow fileread --set batch=1 --steps 3 --out whole > /dev/null
$ {
>   tern train gpt.ail --allow fileread --set batch=1 --steps 3 --out killed --checkpoint-every 1 > /dev/null & pid=$!
>   while kill -0 $pid && [ ! -e killed/checkpoint ]; do sleep 0.01; done
>   kill -9 $pid; wait $pid
> } 2> /dev/null
> tern train gpt.ail --allow fileread --set batch=1 --resume killed --steps 3 > /dev/null
> cmp whole/weights.safetensors killed/weights.safetensors && echo the same
| the same
