# A program in other forms. Named dimensions are index arguments in MLIR.
$ cat > affine.mind <<'END'
> let w: Tensor[f32,(2,2)] = [[1, 2], [3, 4]]
> fn affine(x: Tensor[f32,(N,2)]) -> Tensor[f32,(N,2)] = x @ w
> 1 + 2 * 3
> END
$ tern emit affine.mind --as graph
| graph() {
|   %1 = fill {dtype=i32, shape=[], number=7} : i32[]
|   return %1
| }
$ tern emit affine.mind --as mlir
| module {
|   func.func @main() -> i32 {
|     %0 = arith.constant 7 : i32
|     return %0 : i32
|   }
|   func.func @affine(%N: index, %x: tensor<?x2xf32>) -> tensor<?x2xf32> {
|     %c.2 = arith.constant 2 : index
|     %0 = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
|     %1 = arith.constant 0.0 : f32
|     %2 = tensor.empty(%N) : tensor<?x2xf32>
|     %3 = linalg.fill ins(%1 : f32) outs(%2 : tensor<?x2xf32>) -> tensor<?x2xf32>
|     %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %0 : tensor<?x2xf32>, tensor<2x2xf32>) outs(%3 : tensor<?x2xf32>) {
|     ^bb0(%5: f32, %6: f32, %7: f32):
|       %8 = math.fma %5, %6, %7 : f32
|       linalg.yield %8 : f32
|     } -> tensor<?x2xf32>
|     %9 = tensor.generate %N {
|     ^bb0(%10: index, %11: index):
|       %12 = tensor.extract %4[%10, %11] : tensor<?x2xf32>
|       %13 = arith.constant 0x7FC00000 : f32
|       %14 = arith.cmpf uno, %12, %12 : f32
|       %15 = arith.select %14, %13, %12 : f32
|       tensor.yield %15 : f32
|     } : tensor<?x2xf32>
|     return %9 : tensor<?x2xf32>
|   }
| }
$ tern emit affine.mind --as dot
| digraph {
|   node [shape=box, style="rounded,filled", fontname="monospace", fontsize=10];
|   edge [color="#7a828a", fontname="monospace", fontsize=9];
|   n1 [label="7\ni32[]", fillcolor="#f1f1ef", color="#9a9a94"];
|   out0 [label="result", fillcolor="#d5f0ea", color="#1f8a76"];
|   n1 -> out0;
| }

# A plan needs lengths. AILang gives named dimensions those of a bare run; a function of MIND has none.
$ printf 'model {\n  x [B, 3]\n  param w [3, 2]\n  y = softmax(matmul(x, w))\n}\n' > soft.ail
$ tern emit soft.ail --as plan
| 0: matmul input+0 param+0 -> @0
| 1: softmax @0 -> @64
$ printf 'fn f(x: Tensor[f32,(N,2)]) -> Tensor[f32,(N,2)] = relu(x)\nf\n' > named.mind
$ tern emit named.mind --as plan 2>&1 | head -n 1
| error[E_UNSUPPORTED]: a plan of named dimensions is not supported here
$ rm soft.ail named.mind

# grad is the gradient of the value with respect to every float tensor variable.
$ cat > loss.mind <<'END'
> let x = [1, 2]
> let n = 3
> let loss = sum(x * x)
> loss
> END
$ tern emit loss.mind --as grad
| graph() {
|   %1 = const {value=f32[2] [1,2]} : f32[2]
|   %2 = fill {dtype=f32, shape=[], number=1} : f32[]
|   %3 = broadcast_to %2 {shape=[2]} : f32[2]
|   %4 = mul %3, %1 : f32[2]
|   %5 = mul %3, %1 : f32[2]
|   %6 = add %4, %5 : f32[2]
|   return x=%6
| }

# Only a number has a gradient.
$ echo '[1, 2] * 2' | tern emit - --lang mind --as grad
! error[E4002]: grad needs a single number, and this has shape [2]
!   --> <stdin>:1:1
!    |
!  1 | [1, 2] * 2
!    | ^^^^^^^^^^
!    = shape: [2]
!    = hint: reduce it with `sum` or `mean`, or use `jacobian`
!
? 1
$ echo '(1, 2)' | tern emit - --lang mind --as grad
! error[E2001]: expected a single number, got (i32, i32)
!   --> <stdin>:1:1
!    |
!  1 | (1, 2)
!    | ^^^^^^ (i32, i32)
!    = expected: a single number
!    = got: (i32, i32)
!
? 1

# -o writes the whole file or none; with --json the object names the file.
$ tern emit loss.mind --as graph -o loss.graph && head -n 1 loss.graph
| graph() {
$ tern emit loss.mind --as graph -o loss.graph --json
| {"ok":true,"language":"mind","warnings":[],"form":"graph","file":"loss.graph"}
$ tern emit loss.mind --as graph --json
| {"ok":true,"language":"mind","warnings":[],"form":"graph","text":"graph() {\n  %1 = const {value=f32[2] [1,2]} : f32[2]\n  %2 = mul %1, %1 : f32[2]\n  %3 = sum %2 {axes=[0]} : f32[]\n  return %3\n}\n"}
$ tern emit loss.mind --as graph -o no/such/folder
! error[E_USAGE]: cannot write no/such/folder: its folder does not exist
!    = hint: tern does not make folders for files; `mkdir -p` does
!
? 2
$ echo '1 +' > broken.mind; tern emit broken.mind --as graph -o loss.graph 2>/dev/null
? 1
$ head -n 1 loss.graph
| graph() {
$ ls
| affine.mind
| broken.mind
| loss.graph
| loss.mind

# An AILang model, and a Ninth program as it ran.
$ cat > model.ail <<'END'
> model {
>   x [B, 2]
>   param W [2, 3]
>   y = relu(matmul(x, W))
> }
> END
$ tern emit model.ail --as mlir
| module {
|   func.func @main(%B: index, %x: tensor<?x2xf32>, %W: tensor<2x3xf32>) -> tensor<?x3xf32> {
|     %c.3 = arith.constant 3 : index
|     %0 = arith.constant 0.0 : f32
|     %1 = tensor.empty(%B) : tensor<?x3xf32>
|     %2 = linalg.fill ins(%0 : f32) outs(%1 : tensor<?x3xf32>) -> tensor<?x3xf32>
|     %3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %W : tensor<?x2xf32>, tensor<2x3xf32>) outs(%2 : tensor<?x3xf32>) {
|     ^bb0(%4: f32, %5: f32, %6: f32):
|       %7 = math.fma %4, %5, %6 : f32
|       linalg.yield %7 : f32
|     } -> tensor<?x3xf32>
|     %8 = tensor.empty(%B) : tensor<?x3xf32>
|     %10 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<?x3xf32>) outs(%8 : tensor<?x3xf32>) {
|     ^bb0(%9: f32, %11: f32):
|       %12 = arith.constant 0.0 : f32
|       %13 = arith.cmpf ole, %9, %12 : f32
|       %14 = arith.select %13, %12, %9 : f32
|       linalg.yield %14 : f32
|     } -> tensor<?x3xf32>
|     %15 = tensor.generate %B {
|     ^bb0(%16: index, %17: index):
|       %18 = tensor.extract %10[%16, %17] : tensor<?x3xf32>
|       %19 = arith.constant 0x7FC00000 : f32
|       %20 = arith.cmpf uno, %18, %18 : f32
|       %21 = arith.select %20, %19, %18 : f32
|       tensor.yield %21 : f32
|     } : tensor<?x3xf32>
|     return %15 : tensor<?x3xf32>
|   }
| }
$ echo '(1 2) [VAR] -> w  w w [MUL] [SUM]' > square.nth
$ tern emit square.nth --as mlir | grep main
|   func.func @main(%v0: tensor<2xf32>) -> tensor<f32> {
$ tern emit square.nth --as grad
| graph(param %v0: f32[2]) {
|   %1 = mul %v0, %v0 : f32[2]
|   %2 = sum %1 {axes=[0]} : f32[]
|   %3 = fill {dtype=f32, shape=[], number=1} : f32[]
|   %4 = broadcast_to %3 {shape=[2]} : f32[2]
|   %5 = mul %4, %v0 : f32[2]
|   %6 = mul %4, %v0 : f32[2]
|   %7 = add %5, %6 : f32[2]
|   return v0=%7
| }

# Every input counts: a Ninth program is run to see what it does.
$ echo '[INPUT] 2 [MUL]' > twice.nth
$ tern emit twice.nth --as graph --input x='[1, 2]'
| graph() {
|   %1 = const {value=f64[2] [1,2]} : f64[2]
|   %2 = cast %1 {dtype=f32} : f32[2]
|   %3 = fill {dtype=f32, shape=[], number=2} : f32[]
|   %4 = mul %2, %3 : f32[2]
|   return %4
| }

# What a format cannot express is reported.
$ echo 'model { x [2] y = x * now() }' > clock.ail
$ tern emit clock.ail --as mlir
! error[E_UNSUPPORTED]: asking the clock or a file in MLIR is not supported here
!   --> clock.ail:1:23
!    |
!  1 | model { x [2] y = x * now() }
!    |                       ^^^^^
!    = feature: asking the clock or a file in MLIR
!    = hint: `tern ops` lists the operations and where each one works
!
? 1
$ tern emit clock.ail --as dot | head -n 1
| digraph {
$ tern emit clock.ail --as png
! error[E_USAGE]: there is no form png; the forms are graph, grad, mlir, dot, svg, onnx, npz and plan
!
? 2
$ tern emit clock.ail
! error[E_USAGE]: tern emit needs --as graph, grad, mlir, dot, svg, onnx, npz or plan
!    = hint: such as `tern emit model.ail --as graph`; `tern help emit` shows its options
!
? 2
$ tern emit model.ail --as svg | head -n 1
| <svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="graph of a program" width="<*>" height="<*>" viewBox="<*>">

# Binary forms go to a file, or to standard output as they are.
$ tern emit model.ail --as npz --json
| {"ok":false,"diagnostics":[{"code":"E_USAGE","severity":"error","phase":"parse","title":"npz is no text; give a file with -o","fields":{"message":"npz is no text; give a file with -o"},"span":null,"hint":null}]}
? 2
$ tern emit model.ail --as npz --json -o model.npz
| {"ok":true,"language":"ail","warnings":[],"form":"npz","file":"model.npz"}
$ tern emit model.ail --as onnx | head -c 8 | tail -c 4
| tern
\ no newline

# A Ninth program that trains is shown as what it learnt: one parameter for each weight, with its number, and no step.
$ cat > learn.nth <<'END'
> (0 1 2 3) -> x (1 3 5 7) -> y
> 0 [VAR] -> w 0 [VAR] -> b
> 300 [REPEAT]
>   x w [MUL] b [ADD] y [MSE_LOSS] [DUP] [PRINT] [BACKWARD]
>   w 0.1 w [GRAD] [SUB_ASSIGN_GRAD] w [ZERO_GRAD]
>   b 0.1 b [GRAD] [SUB_ASSIGN_GRAD] b [ZERO_GRAD]
> [END]
> (10 20) w [MUL] b [ADD]
> END
$ tern emit learn.nth --as graph
| graph() {
|   %1 = const {value=f32[2] [10,20]} : f32[2]
|   %v0 = param {name="v0", dtype=f32, shape=[]} : f32[]
|   %v1 = param {name="v1", dtype=f32, shape=[]} : f32[]
|   %2 = mul %1, %v0 : f32[2]
|   %3 = add %2, %v1 : f32[2]
|   return %3
| }
$ tern emit learn.nth --as mlir | grep main
|   func.func @main(%v0: tensor<f32>, %v1: tensor<f32>) -> tensor<2xf32> {
$ tern emit learn.nth --as grad | head -n 1
| graph() {
$ tern emit learn.nth --as grad | grep -c param
| 2
$ tern emit learn.nth --as npz -o learn.npz && grep -ao 'v[0-9]*.npy' learn.npz | sort -u
| v0.npy
| v1.npy
$ tern emit learn.nth --as onnx -o learn.onnx && tern run learn.nth | tail -n 1 | cut -c 1-3
| (21

# A function that is the value of the module is shown with its arguments as inputs. What it reads of the module is
# the number that was computed, to the bit, and not how; nor is what else follows from no argument.
$ cat > line.mind <<'END'
> let x = [0, 1, 2, 3]
> let y = [1, 3, 5, 7]
> fn loss(w: f32, b: f32) -> f32 = mse_loss(x * w + b, y)
> fn descend(w: f32, b: f32, steps: i32) -> (f32, f32) {
>   if steps == 0 {
>     (w, b)
>   } else {
>     let (dw, db) = grad(loss)(w, b)
>     descend(w - 0.1 * dw, b - 0.1 * db, steps - 1)
>   }
> }
> let (w, b) = descend(0.0, 0.0, 100)
> fn predict(x: Tensor[f32,(N)]) -> Tensor[f32,(N)] = (x * w + b) * exp(sum(ones((8, 8))) - 64)
> END
$ (cat line.mind; echo '(w, b)') > both.mind
$ tern run both.mind
| (2.0000527, 0.9998874)
$ (cat line.mind; echo predict) > predict.mind
$ tern emit predict.mind --as graph
| graph(%x: f32[N]) {
|   %1 = const {value=f32[] [2.0000527]} : f32[]
|   %2 = const {value=f32[] [0.9998874]} : f32[]
|   %3 = mul %x, %1 : f32[N]
|   %4 = add %3, %2 : f32[N]
|   %5 = const {value=f32[] [1]} : f32[]
|   %6 = mul %4, %5 : f32[N]
|   return %6
| }
$ tern emit predict.mind --as dot | grep -c label
| 8
$ tern emit predict.mind --as svg | grep -c tanh
| 0
? 1
$ tern emit predict.mind --as onnx -o predict.onnx
$ test $(wc -c < predict.onnx) -lt 400

# In MLIR too, but there the operations of the function itself are all left.
$ tern emit predict.mind --as mlir | sed -n '/@predict/,/return/p' | grep -c -e 'constant 2.0000527' -e 'constant 0.9998874' -e 'call @tern_exp_f32'
| 3
$ tern emit predict.mind --as mlir | sed -n '/@predict/,/return/p' | grep -c linalg.generic
| 3

# An operation that would fail is not folded: the run may never reach it.
$ cat > fails.mind <<'END'
> let zero = 0
> fn f(x: Tensor[f32,(2)]) -> Tensor[f32,(2)] = if sum(x) > 9 { x + 7 / zero } else { x - sum([7, 8]) }
> f
> END
$ tern emit fails.mind --as graph | grep -e div -e const
|   %9 = const {value=f32[] [15]} : f32[]
|     %6 = div %5, %1 : i32[]

# A recursive function has no graph, so it is not a model.
$ printf 'fn f(n: i32) -> i32 = if n == 0 { 1 } else { n * f(n - 1) }\nf\n' > factorial.mind
$ tern emit factorial.mind --as graph
! error[E_UNSUPPORTED]: a graph of a function that calls itself, or whose types or sizes are open, is not supported here
!   --> factorial.mind:2:1
!    |
!  2 | f
!    | ^
!    = feature: a graph of a function that calls itself, or whose types or sizes are open,
!    = hint: `tern ops` lists the operations and where each one works
!
? 1
