# A MIND program has no inputs, no parameters and no host that sets names.
$ printf 'let x = 1\nx\n' > p.mind
$ tern run p.mind --input x=2
! error[E_USAGE]: a MIND program has no inputs, parameters or host values to be set
!    = hint: write the value into the program, as in `let x = 2`, or read it there: `read_csv("x.csv")`
!
? 2
$ tern run p.mind --param x=2
! error[E_USAGE]: a MIND program has no inputs, parameters or host values to be set
!    = hint: write the value into the program, as in `let x = 2`, or read it there: `read_csv("x.csv")`
!
? 2
$ tern run p.mind --set x=2
! error[E_USAGE]: a MIND program has no inputs, parameters or host values to be set
!    = hint: write the value into the program, as in `let x = 2`, or read it there: `read_csv("x.csv")`
!
? 2

# A file that cannot be read is reported with the reason.
$ mkdir folder; printf 'read("folder")\n' > r.mind
$ tern run r.mind --allow fileread
! error[E_FILE_IO_ERROR]: `folder` cannot be read: is_a_directory
!   --> r.mind:1:1
!    |
!  1 | read("folder")
!    | ^^^^^^^^^^^^^^
!    = path: folder
!    = io_error_kind: is_a_directory
!    = hint: check what kind of file it is and who may read it
!
? 1

# A missing device is an error only when running; a graph may be for another machine.
$ printf 'let x: Tensor[f32,(2)]@gpu = [1, 2]\nx.to(gpu) * 2\n' > gpu.mind
$ tern run gpu.mind 2>&1 | head -n 1
| error[E5001]: there is no device `gpu` on this machine
$ tern emit gpu.mind --as graph
| graph() {
|   %1 = const {value=f32[2] [1,2]} : f32[2]
|   %2 = fill {dtype=f32, shape=[], number=2} : f32[]
|   %3 = mul %1, %2 : f32[2]
|   return %3
| }

# Integers are folded where the result is exact; one that overflows or divides by zero stays an operation.
$ printf '(2147483647 - -1, 9223372036854775807 + 1, -9223372036854775807 - 5, 9223372036854775807 * 2, 5000000000 * 2, 0 * 5000000000, -1 * 5000000000, 7 / 0, 7 %% 2, 7 - 9)\n' > fold.mind
$ tern emit fold.mind --as graph
| graph() {
|   %1 = fill {dtype=i32, shape=[], number=2147483647} : i32[]
|   %2 = fill {dtype=i32, shape=[], number=-1} : i32[]
|   %3 = sub %1, %2 : i32[]
|   %4 = const {value=i64[] [9223372036854775807]} : i64[]
|   %5 = fill {dtype=i64, shape=[], number=1} : i64[]
|   %6 = add %4, %5 : i64[]
|   %7 = const {value=i64[] [-9223372036854775807]} : i64[]
|   %8 = fill {dtype=i64, shape=[], number=5} : i64[]
|   %9 = sub %7, %8 : i64[]
|   %10 = const {value=i64[] [9223372036854775807]} : i64[]
|   %11 = fill {dtype=i64, shape=[], number=2} : i64[]
|   %12 = mul %10, %11 : i64[]
|   %13 = fill {dtype=i32, shape=[], number=7} : i32[]
|   %14 = fill {dtype=i32, shape=[], number=0} : i32[]
|   %15 = div %13, %14 : i32[]
|   %16 = fill {dtype=i32, shape=[], number=7} : i32[]
|   %17 = fill {dtype=i32, shape=[], number=2} : i32[]
|   %18 = rem %16, %17 : i32[]
|   %19 = fill {dtype=i64, shape=[], number=10000000000} : i64[]
|   %20 = fill {dtype=i64, shape=[], number=0} : i64[]
|   %21 = fill {dtype=i64, shape=[], number=-5000000000} : i64[]
|   %22 = fill {dtype=i32, shape=[], number=-2} : i32[]
|   return %3, %6, %9, %12, %19, %20, %21, %15, %18, %22
| }

# A record, a list and a shape in JSON.
$ tern eval 'let x = [1.0, 2.0]
> (grad(sum(x)), [x, x + 1], shape(x), (), "a", true, sum)' --json
| {"ok":true,"language":"mind","warnings":[],"value":{"kind":"tuple","items":[{"kind":"grad","entries":{"x":{"kind":"tensor","dtype":"f32","shape":[2],"data":[1,1]}}},{"kind":"list","items":[{"kind":"tensor","dtype":"f32","shape":[2],"data":[1,2]},{"kind":"tensor","dtype":"f32","shape":[2],"data":[2,3]}]},{"kind":"shape","dims":[2]},{"kind":"unit"},{"kind":"string","value":"a"},{"kind":"bool","value":true},{"kind":"function","name":"sum"}]},"type":"(grad, [Tensor[f32,(2)], Tensor[f32,(2)]], shape, unit, string, bool, fn)"}
$ tern eval 'let r: Tensor[f32,(N,2)] = 3
> (r, sum(r), max(r), sum(r) > 2, if sum(r) > 2 { 1 } else { 2 })' --json
| {"ok":true,"language":"mind","warnings":[],"value":{"kind":"tuple","items":[{"kind":"tensor","dtype":"f32","shape":["N",2],"data":null,"fill":3},{"kind":"tensor","dtype":"f32","shape":[],"data":null},{"kind":"tensor","dtype":"f32","shape":[],"data":[3]},{"kind":"tensor","dtype":"bool","shape":[],"data":null},{"kind":"tensor","dtype":"i32","shape":[],"data":null}]},"type":"(Tensor[f32,(N,2)], Tensor[f32,()], Tensor[f32,()], Tensor[bool,()], i32)"}

# A module that is empty, or only a comment, has a graph of nothing.
$ printf '// nothing\n' > empty.mind
$ tern emit empty.mind --as graph
| graph() {
|   return
| }
$ tern emit empty.mind --as grad
! error[E2001]: expected a single number, got unit
!    = expected: a single number
!    = got: unit
!
? 1
$ tern check empty.mind
| empty.mind: ok

# Blocks that nothing closes: each is looked for once in a while, not to the end of the text every time.
$ seq 60000 | sed 's/.*/while x& < 3 {/' > open.mind
$ tern check open.mind 2>&1 | grep -c 'this word has no meaning in MIND'
| 100
$ seq 60000 | sed 's/.*/y& = (3 + ]/' > open.mind
$ tern check open.mind 2>&1 | grep -c '^error'
| 100
