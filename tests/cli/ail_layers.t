# Layers: params with names that last, in weights, on the command line and in every form.
$ cat > net.ail <<'END'
> const D = 2
> layer block(x) {
>   param W [D, D] init normal(0.5)
>   param b [D] init zeros
>   x + tanh(linear(x, W, b))
> }
> model {
>   x [B, D]
>   labels [B]
>   h = repeat 2 block(x)
>   param head [D, 2]
>   logits = matmul(dropout(h, 0.1), head)
> }
> train {
>   loss = xent(logits, labels)
>   steps = 20
>   optimizer = "adam"
> }
> END
$ tern train net.ail --out run --quiet > /dev/null && tern run net.ail --weights run/weights.safetensors --input x='[[1, 2]]' > trained
$ tern train net.ail --out half --quiet --steps 9 > /dev/null && tern train net.ail --resume half --steps 20 --quiet > /dev/null
$ cmp run/weights.safetensors half/weights.safetensors && echo the same
| the same
$ tern train net.ail --out four --quiet --threads 4 > /dev/null && cmp run/weights.safetensors four/weights.safetensors && echo the same
| the same
$ grep -ao '"[a-zA-Z0-9.]*":{"d' run/weights.safetensors | cut -d '"' -f 2
| head
| block.0.W
| block.0.b
| block.1.W
| block.1.b
$ tern run net.ail --weights run/weights.safetensors --param block.1.b='[9, 9]' --input x='[[1, 2]]' | cmp -s - trained || echo another value
| another value
$ tern run net.ail --param block.2.W='[[1, 0], [0, 1]]'
! error[E_USAGE]: the program has no param `block.2.W`
!    = hint: did you mean `block.0.W`?
!
? 2

# The text of a graph with such names is read back.
$ tern emit net.ail --as graph > net.graph && tern check net.graph
| net.graph: ok
$ tern emit net.ail --as dot | grep -c 'block\.[01]\.[Wb]'
| 4
$ tern emit net.ail --as onnx -o net.onnx && grep -ao 'block\.[01]\.[Wb]' net.onnx | sort | uniq -c | tr -s ' '
|  2 block.0.W
|  2 block.0.b
|  2 block.1.W
|  2 block.1.b

$ tern emit net.ail --as mlir > net.mlir

# Where layers are not allowed: functions of rows, states, handlers.
$ cat > where.ail <<'END'
> layer scale(x) {
>   param s [] init ones
>   x * s
> }
> model {
>   x [B, 2]
>   y = scale(x)
> }
> train {
>   loss = sum(y)
> }
> dataset {
>   format = "tsv"
>   path = "rows.tsv"
>   map scale(tokens)
> }
> state {
>   n: float = 0.0
> }
> on start {
>   n = scale(n)
> }
> state_machine M {
>   state A {
>     let v = scale(1)
>     end
>   }
> }
> END
$ tern check where.ail 2>&1 | grep -A1 '^error'
| error[E_DATASET_MAP_NOT_FOUND]: there is no function `scale` to map with
|    --> where.ail:15:7
| --
| error[E_FUNCTION_INVALID_CONTEXT]: function `scale` cannot be called in the on block
|    --> where.ail:21:7
| --
| error[E_FUNCTION_INVALID_CONTEXT]: function `scale` cannot be called in the state_machine block
|    --> where.ail:25:13

# The rounds of loops in layers count for every use.
$ cat > rounds.ail <<'END'
> layer inner(x) {
>   param s [] init ones
>   repeat 100 times init x do y * s end
> }
> layer outer(x) {
>   repeat 50 inner(x)
> }
> model {
>   x [2]
>   a = outer(x)
>   b = outer(a)
> }
> END
$ tern check rounds.ail
! error[E_LOOP_UNROLL_LIMIT_EXCEEDED]: the loops of this program unroll to 10100 iterations, and the limit is 10000
!    --> rounds.ail:11:7
!     |
!  11 |   b = outer(a)
!     |       ^^^^^ passed in layer
!     = limit: 10000
!     = requested: 10100
!     = context: layer
!     = hint: replace a loop by an operation on a whole tensor
!
? 1

# In a session a layer is a declaration.
$ printf 'layer twice(x) { param s [] init ones\nx * s * 2 }\nx [2]\nsum(repeat 2 twice(x * 0 + 1))\n' | tern repl --lang ail
| Output shape: []
| First 1 values: [8.0000]

$ tern fmt --lang ail - <<'END'
> layer   block( x,n ){  # of n
> param W[n,2*n]init zeros   # first
> h=repeat 2   relu( x );return matmul(h,W)}
> model { x [2,2]
> y=repeat   2*1 block(x , aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb) }
> END
| layer block(x, n) {  # of n
|   param W [n, 2 * n] init zeros  # first
|   h = repeat 2 relu(x)
|   return matmul(h, W)
| }
|
| model {
|   x [2, 2]
|   y = repeat 2 * 1 block(
|     x,
|     aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,
|     bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
|   )
| }
