# A closure with a declared type, and its gradient, are graphs; so are functions whose arguments are closures.
$ cat > square.mind <<'END'
> fn total(f: fn(Tensor[f32,(3)]) -> Tensor[f32,(3)], x: Tensor[f32,(3)]) -> f32 = sum(f(x))
> let f: fn(Tensor[f32,(3)]) -> f32 = |x| {
>   let y = x * x
>   total(|v| v + y, x)
> }
> grad(f)
> END
$ tern emit square.mind --as graph
| graph(%x: f32[3]) {
|   %1 = fill {dtype=f32, shape=[], number=1} : f32[]
|   %2 = broadcast_to %1 {shape=[3]} : f32[3]
|   %3 = mul %2, %x : f32[3]
|   %4 = mul %2, %x : f32[3]
|   %5 = add %2, %3 : f32[3]
|   %6 = add %5, %4 : f32[3]
|   return %6
| }
$ tern emit square.mind --as mlir | grep func.func
|   func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
$ tern emit square.mind --as onnx -o square.onnx
$ tern fmt --check square.mind
