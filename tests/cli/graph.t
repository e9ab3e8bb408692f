# A graph is a program too.
$ cat > g.graph <<'END'
> graph(%x: f32[B, 3], %y: i32[B], param %w: f32[3, 4]) {
>   %1 = matmul %x, %w
>   %2 = cross_entropy %1, %y
>   return loss=%2
> }
> END
$ tern check g.graph
| g.graph: ok
$ tern run g.graph --input x='[[1, 2, 3]]' --input y='[0]' --param w='[[0,0,0,0],[0,0,0,0],[0,0,0,0]]' --json
| {"ok":true,"language":"graph","warnings":[],"outputs":[{"kind":"tensor","name":"loss","dtype":"f32","shape":[],"data":[1.3862944]}]}

# A person sees every output with its type; a large tensor is cut in the middle.
$ printf 'graph(%%x: i32[2], %%n: i32[]) {\n  %%1 = add %%x, %%n\n  return sum=%%1, %%n\n}\n' > i.graph
$ tern run i.graph --input x='[1, 2]' --input n=-3
| sum: i32[2] = [-2, -1]
| i32[] = -3

# Integers take whole numbers that they hold; any other is refused with its name, also from a file.
$ tern run i.graph --input x='[1, 2.5]' --input n=0
! error[E_USAGE]: the value of x has the number 2.5, which i32 cannot hold
!
? 2
$ tern run i.graph --input x='[1, 2]' --input n=2147483648
! error[E_USAGE]: the value of n has the number 2147483648, which i32 cannot hold
!
? 2
$ tern run i.graph --input x='[1, 2]' --input n=-2147483648
| sum: i32[2] = [-2147483647, -2147483646]
| i32[] = -2147483648
$ printf '[1, "NaN"]' > x.json; tern run i.graph --input x=@x.json --input n=0
! error[E_USAGE]: the value of x has the number NaN, which i32 cannot hold
!
? 2

# Threads and instruction sets do not change a bit.
$ tern run g.graph --input x='[[1, 2, 3]]' --input y='[2]' --json > one
$ tern run g.graph --input x='[[1, 2, 3]]' --input y='[2]' --json --threads 2 > two
$ TERN_ISA=portable tern run g.graph --input x='[[1, 2, 3]]' --input y='[2]' --json > portable
$ TERN_ISA=ref tern run g.graph --input x='[[1, 2, 3]]' --input y='[2]' --json > ref
$ tern run g.graph --input x='[[1, 2, 3]]' --input y='[2]' --json --without fold,cse,dce,fuse,recompute > plain
$ cmp one two && cmp one portable && cmp one ref && cmp one plain
$ tern run g.graph --input x='[[1, 2, 3]]' --input y='[2]' --json --seed 7 > other
$ cmp -s one other
? 1

# Values that do not fit.
$ tern run g.graph --input x='[[1, 2]]' --input y='[0]'
! error[E_INPUT_DIM_MISMATCH]: dimension 1 of input `x` is 3, and the value has 2
!    = input: x
!    = dimension: 1
!    = expected: 3
!    = received: 2
!    = hint: supply 3 numbers there, or declare the dimension with a name
! 
? 1
$ tern run g.graph --input x='[[1, 2, 3]]' --input y='[4]'
! error[E2109]: index 4 is out of range in cross_entropy; there are 4
!   --> g.graph:3:8
!    |
!  3 |   %2 = cross_entropy %1, %y
!    |        ^^^^^^^^^^^^^^^^^^^^
!    = index: 4
!    = limit: 4
!    = op: cross_entropy
!    = hint: indices count from 0
! 
? 1
$ tern run g.graph --input x='[[1, 2, 3]'
! error[E_USAGE]: the value of x is not valid JSON; it is a number, or numbers in brackets: [[1, 2]]
!
? 2
$ tern run g.graph --input z=1 --input x='[[1, 2, 3]]' --input y='[0]'
! error[E_USAGE]: the graph has no input z
!    = hint: there are x and y
!
? 2
$ tern run g.graph --input x=@x.npy
! error[E_USAGE]: x.npy: no such file
!
? 2

# Errors in a graph are reported with their place.
$ cat > bad.graph <<'END'
> graph(%x: f32[2, 3], %y: f32[4, 5]) {
>   %1 = matmul %x, %y
>   return %1
> }
> END
$ tern check bad.graph --json
| {"ok":false,"diagnostics":[{"code":"E2103",<*>"span":{"file":"bad.graph","line":2,"col":8,<*>
? 1

# A graph too large for memory is refused before memory is allocated.
$ cat > large.graph <<'END'
> graph(%x: f32[2]) {
>   %1 = fill {dtype=f32, shape=[1048576, 1048576, 1048576], number=1}
>   return %1
> }
> END
$ tern check large.graph --json
| {"ok":false,"diagnostics":[{"code":"E_TOO_LARGE",<*>
? 1
$ cat > limit.graph <<'END'
> graph(%x: f32[]) {
>   %1 = broadcast_to %x {shape=[1048576]}
>   %2 = cumsum %1 {axis=0}
>   return %2
> }
> END
$ tern run limit.graph --input x=1 --max-mem 1M --json
| {"ok":false,"diagnostics":[{"code":"E_MEMORY_LIMIT",<*>
? 1

# Invalid graphs, and graphs with wrong type annotations.
$ printf 'graph(%%x: f32[2]) {\n  %%1 = rleu %%x\n  return y=%%1\n}\n' | tern check - --lang graph --json
| {"ok":false,"diagnostics":[{"code":"E_GRAPH_SYNTAX",<*>
? 1
$ printf 'graph(%%x: f32[2]) {\n  %%1 = relu %%x : f32[3]\n  return y=%%1\n}\n' | tern check - --lang graph --json
| {"ok":false,"diagnostics":[{"code":"E_GRAPH_TYPE",<*>
? 1
