# Values of every kind stay what they were when the names they were made of change.
$ tern repl <<'END'
> let x = [1.0, 2.0]
> let s = shape([[1, 2], [3, 4]])
> let l = [x, x * 2]
> let g = grad(sum(x * x), wrt=[x])
> let t = (s, l, g, "text", true, sum, |v| v + 1)
> let (y, pull) = vjp(|v| v * v, x)
> let make = |k| |v| v * k
> let triple = make(3)
> t.5(x)
> t.6(1)
> pull(x)
> let x = 5
> pull([1, 1])
> triple(x)
> (s[1], l[1], g.x, t)
> :env
> END
| Tensor[f32,(2)] [1, 2]
| (2,2)
| [Tensor[f32,(2)] [1, 2], Tensor[f32,(2)] [2, 4]]
| grad{ x: Tensor[f32,(2)] [2, 4] }
| ((2,2), [Tensor[f32,(2)] [1, 2], Tensor[f32,(2)] [2, 4]], grad{ x: Tensor[f32,(2)] [2, 4] }, text, true, fn sum, fn closure)
| (Tensor[f32,(2)] [1, 4], fn pullback)
| fn closure
| fn closure
| Tensor[f32,()] 3
| 2
| Tensor[f32,(2)] [2, 8]
| 5
| Tensor[f32,(2)] [2, 4]
| 15
| (2, Tensor[f32,(2)] [2, 4], Tensor[f32,(2)] [2, 4], ((2,2), [Tensor[f32,(2)] [1, 2], Tensor[f32,(2)] [2, 4]], grad{ x: Tensor[f32,(2)] [2, 4] }, text, true, fn sum, fn closure))
| s: shape
| l: [Tensor[f32,(2)], Tensor[f32,(2)]]
| g: grad
| t: (shape, [Tensor[f32,(2)], Tensor[f32,(2)]], grad, string, bool, fn, fn)
| y: Tensor[f32,(2)]
| pull: fn
| make: fn
| triple: fn
| x: i32

# A name bound several times in one line, and in a branch; a tuple taken apart again.
$ tern repl <<'END'
> let w = 1; let w = 2; let w = w + 1
> if true { w = 10 } else { w = 20 }
> w
> let (a, b) = (1, 2)
> let (a, c) = (b, a)
> (a, b, c)
> END
| 3
| 10
| 10
| (1, 2)
| (2, 1)
| (2, 2, 1)

# A function sees the bindings before it, also when they change; a new binding is another variable.
$ tern repl <<'END'
> fn f(v: f32) -> f32 = v * k
> let k: f32 = 2
> fn f(v: f32) -> f32 = v * k
> f(3)
> k = 5
> f(3)
> let k: f32 = 7
> f(3)
> END
| error[E2002]: there is nothing named `k` here
|   --> <line 1>:1:27
|    |
|  1 | fn f(v: f32) -> f32 = v * k
|    |                           ^ unknown name
|    = name: k
|    = hint: bind it first: `let k = ...`
|
| 2
| 6
| 5
| 15
| 7
| 15

# Commands want an expression; a definition has a type, no shape and no graph.
$ tern repl <<'END'
> :type
> :shape
> :grad
> :graph
> :mlir
> :time
> :type // nothing
> :shape // nothing
> :graph // nothing
> :type let q = 3
> :shape let q = 3
> :graph let q = [1.0] * 2
> :graph fn u(a: f32) -> f32 = a
> :type (1, 2.5)
> :help nothing
> END
| :type needs an expression
| :shape needs an expression
| :grad needs an expression
| :graph needs an expression
| :mlir needs an expression
| :time needs an expression
| unit
| a value of type unit has no shape
| graph() {
|   return
| }
| i32
| ()
| graph() {
|   %1 = const {value=f32[1] [1]} : f32[1]
|   %2 = fill {dtype=f32, shape=[], number=2} : f32[]
|   %3 = mul %1, %2 : f32[1]
|   return %3
| }
| graph() {
|   return
| }
| (i32, f64)
| there is no library function nothing

# Sizes without a number.
$ tern repl <<'END'
> let r: Tensor[f32,(N,2)] = 3
> sum(r)
> :shape r
> :type r
> :shape r + 1
> fn rows(x: Tensor[f32,(N,2)], n: i32) -> Tensor[f32,(M,2)] = slice(x, 0, 0, n)
> :shape rows([[1, 2], [3, 4], [5, 6]], 2)
> :shape rows([[1, 2], [3, 4], [5, 6]], 7)
> END
| Tensor[f32,(N,2)] fill=3
| Tensor[f32,()]
| (N,2)
| Tensor[f32,(N,2)]
| (N,2)
| (2,2)
| error[E2109]: index 7 is out of range in slice; there are 3
|   --> <line 3>:1:62
|    |
|  1 | fn rows(x: Tensor[f32,(N,2)], n: i32) -> Tensor[f32,(M,2)] = slice(x, 0, 0, n)
|    |                                                              ^^^^^^^^^^^^^^^^^
|    = index: 7
|    = limit: 3
|    = op: slice
|    = hint: indices count from 0
| note: called here
|   --> <line 4>:1:1
|    |
|  1 | rows([[1, 2], [3, 4], [5, 6]], 7)
|    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
|

# A module under another name, in the list of names.
$ mkdir -p nn; printf 'fn relu6(x: f32) -> f32 = if x > 6 { 6 } else { x }\nlet limit = 6\nlet list = [1.0, 2.0]\n' > nn/act.mind
$ tern repl <<'END'
> import nn.act as deep
> deep.limit
> import nn.act
> act.relu6(7.0)
> act.list * 2
> :env
> END
| 6
| 6
| Tensor[f32,(2)] [2, 4]
| import nn.act as deep
| import nn.act

# `_` is the value of the last expression; a line that fails, a definition and a printed line leave it.
$ printf '6 * 7\n_ + 1\n_\nnothing\nlet x = 2\n_ * x\n:env\n' | tern repl 2>&1 | grep -v '^ \|^$'
| 42
| 43
| 43
| error[E2002]: there is nothing named `nothing` here
| 2
| 86
| x: i32
$ printf '[[1, 2], [3, 4]]\n_ @ _\n:grad sum(_)\n:help add\n:help addd\n' | tern repl
| Tensor[f32,(2,2)] [[1, 2], [3, 4]]
| Tensor[f32,(2,2)] [[7, 10], [15, 22]]
| grad{ _: Tensor[f32,(2,2)] [[1, 1], [1, 1]] }
| add(x, y)
|   x + y; integers wrap
|   result: x and y broadcast; the dtype of both
| there is no library function addd; did you mean add?
