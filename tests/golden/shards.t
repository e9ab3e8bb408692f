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
| 3 adam weights_sha256":"5342405f69f8d25b
| 3 adamw weights_sha256":"f0539714dced698e
| 4 sgd weights_sha256":"fbdb797cc104c6ab
| 4 momentum weights_sha256":"98a3b44a7fe4ebaa
| 4 adam weights_sha256":"0951a00d8a0eda77
| 4 adamw weights_sha256":"da4342e1209370e6
| 5 sgd weights_sha256":"97767bcd4fcdec51
| 5 momentum weights_sha256":"2aa382682142c37a
| 5 adam weights_sha256":"a41b44625e4e6b4c
| 5 adamw weights_sha256":"6155bcbe37549c67
| 6 sgd weights_sha256":"be705e55912084ce
| 6 momentum weights_sha256":"aaff8c490d45cb9f
| 6 adam weights_sha256":"c165b5f176b4055d
| 6 adamw weights_sha256":"a721f6f827e5bd6a
| 7 sgd weights_sha256":"abd8c2fd81e91b35
| 7 momentum weights_sha256":"38f2b9d97c4b3139
| 7 adam weights_sha256":"3251acd02cd5bd3c
| 7 adamw weights_sha256":"9d1ede77739a6d5d
| 8 sgd weights_sha256":"6dd0ed9960f72e19
| 8 momentum weights_sha256":"7f829b35de10c85e
| 8 adam weights_sha256":"cc858c1bc62d7f41
| 8 adamw weights_sha256":"d81950b3d7243582
