# The bits of a sharded training, by the number of shards: an odd one moves up the tree, each shard draws
# dropout of its own, and so does a draw whose key is a constant. An embedding, a parameter without gradient.
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
>   param Q [8, 8]
>   param U [3]
>   param O [8, 2]
>   x = embedding(tokens, E)
>   mixed = dropout(relu(matmul(x, Q)), 0.1) + uniform(7, [8]) * 0.01
>   logits = linear(meanpool(mixed), O)
> }
> train { loss = xent(logits, labels) steps = 8 lr = 0.05 batch = SIZE shards = PARTS optimizer = "KIND" LIMIT }
> dataset { format = "tsv" path = "points.tsv" }
> END
$ for s in 2 3 4 5 6 7 8; do
>   for how in 'sgd/' 'momentum/' 'adam/clip_norm = 0.1' 'adamw/weight_decay = 0.1'; do
>     sed "s/SIZE/$((2 * s))/; s/PARTS/$s/; s/KIND/${how%/*}/; s/LIMIT/${how#*/}/" part.ail > whole.ail
>     echo "$s ${how%/*} $(tern train whole.ail --allow fileread --json | grep -o 'weights_sha256":"[0-9a-f]\{16\}')"
>   done
> done
| 2 sgd weights_sha256":"fee979abda84ba65
| 2 momentum weights_sha256":"43b2828cf34ab270
| 2 adam weights_sha256":"92a3331e8507ad41
| 2 adamw weights_sha256":"5fe838f292920b62
| 3 sgd weights_sha256":"a312ca79c00c4069
| 3 momentum weights_sha256":"fa28aee4a496d775
| 3 adam weights_sha256":"ec53f52c4369c1a1
| 3 adamw weights_sha256":"3e924368454d91a3
| 4 sgd weights_sha256":"f2810d1056597894
| 4 momentum weights_sha256":"23d1bdf428d20607
| 4 adam weights_sha256":"52b5fff9cc1e2d54
| 4 adamw weights_sha256":"622d00925da16d10
| 5 sgd weights_sha256":"726b22a5de8176ff
| 5 momentum weights_sha256":"e2d4daead18e51c2
| 5 adam weights_sha256":"6c00879c01545eb3
| 5 adamw weights_sha256":"54720f568ddc462f
| 6 sgd weights_sha256":"be705e55912084ce
| 6 momentum weights_sha256":"c6e4b0897118063a
| 6 adam weights_sha256":"2e12eb0dad1b4d00
| 6 adamw weights_sha256":"326b19141d49060c
| 7 sgd weights_sha256":"219ee1ce16b1fe40
| 7 momentum weights_sha256":"38f2b9d97c4b3139
| 7 adam weights_sha256":"e1becfda564c8087
| 7 adamw weights_sha256":"a9fd41c6bf569820
| 8 sgd weights_sha256":"9c9facaff75c50e8
| 8 momentum weights_sha256":"178d9b251f83e67d
| 8 adam weights_sha256":"8f0bb137c5f436cf
| 8 adamw weights_sha256":"5b2d95b7d25bd3c8
