# A graph keeps the names of dimensions; where two names only may be equal, it has the lengths of a bare run.
$ graph() { printf 'model {\n  x [B, D]\n  w [K, 2]\n  s [S]\n  u [1, N]\n%s\n}\n' "$1" | tern emit --lang ail - --as graph | grep 'graph(\|x'; }
> graph '  y = x + 1'
> graph '  y = matmul(x, w)'
> graph '  y = if sum(x) > 0 then x else w'
> graph '  y = for i in range(0, 2) do if i == 0 then x else w end'
> graph '  y = reduce add over range(0, 2) do if i == 0 then x else w end'
> graph '  y = reshape(x, [mul(B, 1), mul(D, 1)])'
> graph '  y = reshape(x, [mul(B, D)])'
> graph '  y = matmul(fill([2, 2], 1), w)'
| graph(%x: f32[B, D], %w: f32[K, 2], %s: f32[S], %u: f32[1, N]) {
|   %2 = add %x, %1 : f32[B, D]
| graph(%x: f32[2, 2], %w: f32[2, 2], %s: f32[2], %u: f32[1, 2]) {
|   %1 = matmul %x, %w : f32[2, 2]
| graph(%x: f32[2, 2], %w: f32[2, 2], %s: f32[2], %u: f32[1, 2]) {
|   %1 = sum %x {axes=[0, 1]} : f32[]
|     yield %x
|   %5 = pick %4 {index=0} : f32[2, 2]
| graph(%x: f32[2, 2], %w: f32[2, 2], %s: f32[2], %u: f32[1, 2]) {
|   %1 = reshape %x {shape=[1, 2, 2]} : f32[1, 2, 2]
|   %3 = concat %1, %2 {axis=0} : f32[2, 2, 2]
| graph(%x: f32[2, 2], %w: f32[2, 2], %s: f32[2], %u: f32[1, 2]) {
|   %1 = add %x, %w : f32[2, 2]
| graph(%x: f32[2, 2], %w: f32[2, 2], %s: f32[2], %u: f32[1, 2]) {
|   return y=%x
| graph(%x: f32[B, D], %w: f32[K, 2], %s: f32[S], %u: f32[1, N]) {
|   %1 = reshape %x {shape=[?]} : f32[?]
| graph(%x: f32[2, 2], %w: f32[2, 2], %s: f32[2], %u: f32[1, 2]) {

$ printf 'model {\n  s [S]\n  y = if s > 0 then 1 else 2\n}\n' | tern emit --lang ail - --as graph 2>&1 | grep '^error'
| error[E_IF_CONDITION_NOT_SCALAR]: the condition of `if` has shape [S=2], and must be a single value
$ printf 'model {\n  u [1, N]\n  y = squeeze(u, 1)\n}\n' | tern emit --lang ail - --as graph 2>&1 | grep '^error'
| error[E_INVALID_ARGUMENTS]: squeeze expects axes of length 1, and got [1, N=2]

# So has a long chain of conditions whose branches have named dimensions.
$ (printf 'model {\n  x [B, D]\n  s []\n  y = if s == 0 then x\n'; i=1; while [ $i -lt 40 ]; do echo "      else if s == $i then x * $i"; i=$((i + 1)); done; printf '      else x\n}\n') | tern emit --lang ail - --as graph | head -n 1
| graph(%x: f32[2, 2], %s: f32[]) {

# The gradient is that of the loss, of the loss block, or of an output that is one number.
$ grad() { printf 'model {\n  x [B, 2]\n  param W [2]\n  y = %s\n}\n%s\n' "$1" "$2" | tern emit --lang ail - --as grad 2>&1 | grep 'return\|^error\|-->'; }
> grad 'sum(x * W)' ''
> grad 'x * W' 'loss { return sum(y) }'
> grad 'x * W' 'train { loss = mean(y) }'
> grad 'x * W' ''
> grad 'sum(x * W) > 0' ''
> printf 'on start { emit initialized }\n' | tern emit --lang ail - --as graph 2>&1 | grep '^error'
|   return loss=%2, d_W=%6
|   return loss=%2, d_W=%6
|   return loss=%2, d_W=%8
| error[E_TRAIN_REQUIRES_LOSS]: training needs a loss
|   --> <stdin>:1:1
| error[E_BOOLEAN_USED_AS_TENSOR]: loss needs a tensor and was given a boolean
|   --> <stdin>:1:1
| error[E_UNSUPPORTED]: the graph of a program without a model is not supported here
