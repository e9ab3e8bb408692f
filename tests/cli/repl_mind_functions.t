# Functions that have a type stay what they are when the lines that made them are gone.
$ tern repl <<'END'
> let k = |x| x + 1.0
> let h: fn(f64) -> f64 = |x| { let y = x * 5.0; y }
> let g: fn(f64) -> f64 = k
> fn apply(f: fn(f64) -> f64, x: f64) -> f64 = f(x)
> fn adder(a: f64) -> fn(f64) -> f64 = |x| x + a
> let plus = adder(10.0)
> let q = if true { h } else { k }
> h(2.0)
> g(1.0)
> plus(1.0)
> apply(k, 2.0)
> apply(g, 3.0)
> apply(plus, 4.0)
> q(3.0)
> grad(q)(1.0)
> h = |x| x * 6.0
> h(2.0)
> q(2.0)
> let t = (h, 3)
> t.0(1.0)
> h(true)
> :type h
> :type apply
> :graph h
> END
| fn closure
| fn closure
| fn closure
| fn closure
| fn closure
| 10
| 2
| 11
| 3
| 4
| 14
| 15
| 5
| fn closure
| 12
| 10
| (fn closure, 3)
| 6
| error[E2001]: expected f64, got bool
|   --> <line 21>:1:3
|    |
|  1 | h(true)
|    |   ^^^^ bool
|    = expected: f64
|    = got: bool
| 
| fn(f64) -> f64
| fn apply(f: fn(f64) -> f64, x: f64) -> f64
| graph(%x: f64[]) {
|   %1 = fill {dtype=f64, shape=[], number=6} : f64[]
|   %2 = mul %x, %1 : f64[]
|   return %2
| }

# A closure that names a variable of an earlier line does not name itself.
$ tern repl <<'END'
> let k = 3.0
> let scale = |v| v * k
> scale(2.0)
> let f = |x| f(x)
> END
| 3
| fn closure
| 6
| error[E2002]: there is nothing named `f` here
|   --> <line 4>:1:13
|    |
|  1 | let f = |x| f(x)
|    |             ^ unknown name
|    = name: f
|    = hint: a closure has no name inside itself; a function that calls itself is a `fn`, as in `fn f(n: i32) -> i32 = ...`
| 
