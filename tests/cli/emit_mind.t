# What becomes of MIND programs that are not run: every way through an `if`, functions that nothing calls, results
# of several parts.
$ cat > m.mind <<'END'
> fn main(x: f32) -> f32 = x * 2
> fn fn_main(x: f32) -> f32 = x
> fn tern_x(x: f32) -> f32 = x
> fn pair(a: Tensor[f32,(N,)], n: i32, b: bool) -> (Tensor[f32,(N,)], i32) = (a * 2, n + 1)
> fn words(s: string) -> i32 = 3
> fn clocked() -> f64 !clock = now()
> fn loud(x: f32) -> f32 !io { print(x); x }
> fn rec(n: i32) -> i32 = if n > 0 { rec(n - 1) } else { 0 }
> let x = [1.0, 2.0]
> let k = 2147483647 + 1
> let n = 1.5
> (x * n, [sum(x), 2], grad(sum(x * x)), k, -(-2147483648))
> END

# A sum that does not fit stays a sum; a record's parts have their names.
$ tern emit m.mind --as graph
| graph() {
|   %1 = const {value=f32[2] [1,2]} : f32[2]
|   %2 = fill {dtype=i32, shape=[], number=2147483647} : i32[]
|   %3 = fill {dtype=i32, shape=[], number=1} : i32[]
|   %4 = add %2, %3 : i32[]
|   %5 = fill {dtype=f64, shape=[], number=1.5} : f64[]
|   %6 = cast %5 {dtype=f32} : f32[]
|   %7 = mul %1, %6 : f32[2]
|   %8 = sum %1 {axes=[0]} : f32[]
|   %9 = reshape %8 {shape=[1]} : f32[1]
|   %10 = fill {dtype=f32, shape=[], number=2} : f32[]
|   %11 = reshape %10 {shape=[1]} : f32[1]
|   %12 = concat %9, %11 {axis=0} : f32[2]
|   %13 = fill {dtype=f32, shape=[], number=1} : f32[]
|   %14 = broadcast_to %13 {shape=[2]} : f32[2]
|   %15 = mul %14, %1 : f32[2]
|   %16 = mul %14, %1 : f32[2]
|   %17 = add %15, %16 : f32[2]
|   %18 = fill {dtype=i32, shape=[], number=-2147483648} : i32[]
|   %19 = neg %18 : i32[]
|   return %7, %12, x=%17, %4, %19
| }

# Functions keep their names, unless those are ours; words, clocks and endless calls have no graph.
$ tern emit m.mind --as mlir | grep -o 'func.func @[^{]*'
| func.func @main() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, i32, i32) 
| func.func @fn_main(%x: f32) -> f32 
| func.func @fn_fn_main(%x: f32) -> f32 
| func.func @fn_tern_x(%x: f32) -> f32 
| func.func @pair(%N: index, %a: tensor<?xf32>, %n: i32, %b: i1) -> (tensor<?xf32>, i32) 
| func.func @loud(%x: f32) -> f32 

# Names that a branch assigns, tuples, && and || are results of the `if`.
$ cat > open.mind <<'END'
> fn open(x: Tensor[f32,(N,M)]) -> Tensor[f32,()] {
>   let t = sum(x)
>   if t > 2 { t = t * 2; 1 } else if t < 0 { t = t - 1; 2 } else { 3 }
>   t
> }
> open
> END
$ tern emit open.mind --as graph
| graph(%x: f32[N, M]) {
|   %1 = sum %x {axes=[0, 1]} : f32[]
|   %2 = fill {dtype=f32, shape=[], number=2} : f32[]
|   %3 = gt %1, %2 : bool[]
|   %16 = if %3 {
|     %4 = fill {dtype=f32, shape=[], number=2} : f32[]
|     %5 = mul %1, %4 : f32[]
|     %15 = fill {dtype=i32, shape=[], number=1} : i32[]
|     yield %15, %5
|   } else {
|     %6 = fill {dtype=f32, shape=[], number=0} : f32[]
|     %7 = lt %1, %6 : bool[]
|     %12 = if %7 {
|       %8 = fill {dtype=f32, shape=[], number=1} : f32[]
|       %9 = sub %1, %8 : f32[]
|       %10 = fill {dtype=i32, shape=[], number=2} : i32[]
|       yield %10, %9
|     } else {
|       %11 = fill {dtype=i32, shape=[], number=3} : i32[]
|       yield %11, %1
|     }
|     %13 = pick %12 {index=0} : i32[]
|     %14 = pick %12 {index=1} : f32[]
|     yield %13, %14
|   }
|   %17 = pick %16 {index=1} : f32[]
|   return %17
| }
$ cat > logic.mind <<'END'
> fn f(a: bool, b: f32) -> bool = a && b > 1 || !a
> f
> END
$ tern emit logic.mind --as graph
| graph(%a: bool[], %b: f32[]) {
|   %4 = if %a {
|     %1 = fill {dtype=f32, shape=[], number=1} : f32[]
|     %2 = gt %b, %1 : bool[]
|     yield %2
|   } else {
|     %3 = fill {dtype=bool, shape=[], number=0} : bool[]
|     yield %3
|   }
|   %5 = pick %4 {index=0} : bool[]
|   %8 = if %5 {
|     %7 = fill {dtype=bool, shape=[], number=1} : bool[]
|     yield %7
|   } else {
|     %6 = not %a : bool[]
|     yield %6
|   }
|   %9 = pick %8 {index=0} : bool[]
|   return %9
| }
$ cat > tuple.mind <<'END'
> fn f(c: bool, x: Tensor[f32,(2)]) -> (Tensor[f32,(2)], f32, i32) = if c { (x, 1, 5) } else { (x * 2, 2, 5) }
> f
> END
$ tern emit tuple.mind --as graph
| graph(%c: bool[], %x: f32[2]) {
|   %7 = if %c {
|     %3 = fill {dtype=i32, shape=[], number=1} : i32[]
|     %5 = fill {dtype=i32, shape=[], number=5} : i32[]
|     yield %x, %3, %5
|   } else {
|     %1 = fill {dtype=f32, shape=[], number=2} : f32[]
|     %2 = mul %x, %1 : f32[2]
|     %4 = fill {dtype=i32, shape=[], number=2} : i32[]
|     %6 = fill {dtype=i32, shape=[], number=5} : i32[]
|     yield %2, %4, %6
|   }
|   %8 = pick %7 {index=0} : f32[2]
|   %9 = pick %7 {index=1} : i32[]
|   %10 = pick %7 {index=2} : i32[]
|   %11 = cast %9 {dtype=f32} : f32[]
|   return %8, %11, %10
| }

# An index argument is applied when the graph runs, from the end if it is below 0.
$ cat > pick.mind <<'END'
> fn f(x: Tensor[f32,(N,3)], i: i32) -> Tensor[f32,()] = x[i, 2]
> f
> END
$ tern emit pick.mind --as graph
| graph(%x: f32[N, 3], %i: i32[]) {
|   %1 = cast %i {dtype=i64} : i64[]
|   %2 = count %x {dtype=i64, axes=[0]} : i64[]
|   %3 = fill {dtype=i64, shape=[], number=0} : i64[]
|   %4 = lt %1, %3 : bool[]
|   %5 = add %1, %2 : i64[]
|   %6 = select %4, %5, %1 : i64[]
|   %7 = gather %x, %6 {axis=0} : f32[3]
|   %8 = slice %7 {low=[2], high=[3]} : f32[1]
|   %9 = reshape %8 {shape=[]} : f32[]
|   return %9
| }

# What cannot be in a graph is reported.
$ tern emit --lang mind - --as graph <<'END'
> read("a.txt")
> END
! error[E_UNSUPPORTED]: reading a file in a graph is not supported here
!   --> <stdin>:1:1
!    |
!  1 | read("a.txt")
!    | ^^^^^^^^^^^^^
!    = feature: reading a file in a graph
!    = hint: `tern ops` lists the operations and where each one works
!
? 1
$ tern emit --lang mind - --as graph <<'END'
> fn f(x: Tensor[f32,(N,)]) -> Tensor[f32,(M,)] = if sum(x) > 0 { [1] } else { [1, 2] }
> f
> END
! error[E2102]: expected shape [1], got [2]
!   --> <stdin>:1:49
!    |
!  1 | fn f(x: Tensor[f32,(N,)]) -> Tensor[f32,(M,)] = if sum(x) > 0 { [1] } else { [1, 2] }
!    |                                                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ dimension 0 differs
!    = expected: [1]
!    = got: [2]
!    = dimension: 0
!    = hint: change the annotation or the value; a name such as N in an annotation fits any size
!
? 1
$ tern emit --lang mind - --as grad <<'END'
> let x = [1.0, 2.0]
> let y = [3.0]
> x
> END
! error[E4002]: grad needs a single number, and this has shape [2]
!   --> <stdin>:3:1
!    |
!  3 | x
!    | ^
!    = shape: [2]
!    = hint: reduce it with `sum` or `mean`, or use `jacobian`
!
? 1
$ tern emit --lang mind - --as grad <<'END'
> let b = [1.0, 2.0]
> let a = b * 3
> let c = 2
> sum(a * b)
> END
| graph() {
|   %1 = const {value=f32[2] [1,2]} : f32[2]
|   %2 = fill {dtype=f32, shape=[], number=3} : f32[]
|   %3 = mul %1, %2 : f32[2]
|   %4 = fill {dtype=f32, shape=[], number=1} : f32[]
|   %5 = broadcast_to %4 {shape=[2]} : f32[2]
|   %6 = mul %5, %1 : f32[2]
|   %7 = fill {dtype=f32, shape=[], number=1} : f32[]
|   %8 = broadcast_to %7 {shape=[2]} : f32[2]
|   %9 = mul %8, %1 : f32[2]
|   %10 = mul %8, %3 : f32[2]
|   %11 = mul %9, %2 : f32[2]
|   %12 = add %10, %11 : f32[2]
|   return a=%6, b=%12
| }

# A module whose value is a function is that function, in MLIR too; so is grad(f).
$ cat > function.mind <<'END'
> fn f(x: Tensor[f32,(2)], k: f32) -> Tensor[f32,()] = sum(x * x) * k
> grad(f)
> END
$ tern emit function.mind --as graph
| graph(%x: f32[2], %k: f32[]) {
|   %1 = mul %x, %x : f32[2]
|   %2 = sum %1 {axes=[0]} : f32[]
|   %3 = fill {dtype=f32, shape=[], number=1} : f32[]
|   %4 = mul %3, %k : f32[]
|   %5 = mul %3, %2 : f32[]
|   %6 = broadcast_to %4 {shape=[2]} : f32[2]
|   %7 = mul %6, %x : f32[2]
|   %8 = mul %6, %x : f32[2]
|   %9 = add %7, %8 : f32[2]
|   return %9, %5
| }
$ tern emit function.mind --as mlir | grep 'func.func @'
|   func.func @main(%x: tensor<2xf32>, %k: f32) -> (tensor<2xf32>, f32) {
|   func.func @f(%x: tensor<2xf32>, %k: f32) -> tensor<f32> {
# A closure declares no types.
$ cat > closure.mind <<'END'
> |x| x * 2
> END
$ tern emit closure.mind --as mlir
! error[E_UNSUPPORTED]: a graph of a function that calls itself, or whose types or sizes are open, is not supported here
!   --> closure.mind:1:1
!    |
!  1 | |x| x * 2
!    | ^^^^^^^^^
!    = feature: a graph of a function that calls itself, or whose types or sizes are open,
!    = hint: `tern ops` lists the operations and where each one works
!
? 1
