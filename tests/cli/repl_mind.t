# The interactive session of MIND, piped: no prompt, every line answered, everything kept.
$ tern repl <<'END'
> 1 + 2 * 3
> let x = [[1, 2], [3, 4]]
> x @ x
> fn twice(a: Tensor[f32,(N,M)]) -> Tensor[f32,(N,M)] = a * 2
> twice(x)
> let k = 3.0
> let scale = |v| v * k
> let k = 10.0
> scale(2.0)
> k = k + 1
> let (a, b) = (1, "text")
> b
> END
| 7
| Tensor[f32,(2,2)] [[1, 2], [3, 4]]
| Tensor[f32,(2,2)] [[7, 10], [15, 22]]
| Tensor[f32,(2,2)] [[2, 4], [6, 8]]
| 3
| fn closure
| 10
| 6
| 11
| (1, text)
| text

# Brackets, blocks, comments and lines that end in an operator, a comma or = continue in the next line.
$ tern repl <<'END'
> let m = [
>   [1, 2],
>   [3, 4]
> ]
> 1 +
>   2
> let y =
>   5
> fn f(a: f32,
>      b: f32) -> f32 {
>   let c = a + b
>   c * c
> }
> f(1, 2)
> /* a comment
>    that goes on */ 7
> if y > 3 {
>   "large"
> } else {
>   "small"
> }
> END
| Tensor[f32,(2,2)] [[1, 2], [3, 4]]
| 3
| 5
| 9
| 7
| large

# A line that fails changes nothing: no binding, no assignment, no function, no draw of the generator.
$ tern repl <<'END' > out
> let x = 1
> let x = 2; let y = 3; x / 0
> x
> x = 5; nothing_here
> x
> fn g(a: f32) -> f32 = a; 1 / 0
> :env
> let v: Tensor[f32,(2)] = [1, 2]
> v = "a"
> v
> print(rand([1])); 1 / 0
> rand([1])
> import not.there
> END
$ grep -v '^ \|^$' out
| 1
| error[E6001]: integer division by zero in div
| 1
| error[E2002]: there is nothing named `nothing_here` here
| 1
| error[E6001]: integer division by zero in div
| x: i32
| Tensor[f32,(2)] [1, 2]
| error[E2001]: expected Tensor[f32,(2)], got string
| Tensor[f32,(2)] [1, 2]
| Tensor[f32,(1)] [0.22408074]
| error[E6001]: integer division by zero in div
| Tensor[f32,(1)] [0.22408074]
| error[E7001]: there is no module `not.there`

# Commands.
$ mkdir -p nn; printf 'fn relu6(x: f32) -> f32 = if x > 6 { 6 } else { x }\nlet limit = 6\n' > nn/act.mind
$ printf 'let loaded = 41\nloaded + 1\n' > l.mind
$ tern repl <<'END'
> :load l.mind
> loaded
> :load missing.mind
> :load
> import nn.act
> act.relu6(9.0)
> let w = [1.0, 2.0]
> let loss = (w * w).sum()
> :type w * 2
> :type |x| x
> fn f(x: f32,
>   y: f32) -> f32 = x + y
> :type f
> :shape w.reshape((2, 1))
> :shape 1
> :shape "a"
> :grad loss
> :grad loss // after it
> :grad w
> :graph (w * w).sum()
> :env
> :type nothing
> w
> :tpye w
> :reset
> :env
> 5
> :quit
> 6
> END
| 42
| 41
| cannot read missing.mind: not_found
| :load needs the name of a file
| 6
| Tensor[f32,(2)] [1, 2]
| Tensor[f32,()] 5
| Tensor[f32,(2)]
| fn
| fn f(x: f32, y: f32) -> f32
| (2,1)
| ()
| a value of type string has no shape
| grad{ w: Tensor[f32,(2)] [2, 4] }
| grad{ w: Tensor[f32,(2)] [2, 4] }
| error[E4002]: grad needs a single number, and this has shape [2]
|   --> <line 7>:1:1
|    |
|  1 | grad(w)
|    | ^^^^^^^
|    = shape: [2]
|    = hint: reduce it with `sum` or `mean`, or use `jacobian`
|
| graph() {
|   %1 = const {value=f32[2] [1,2]} : f32[2]
|   %2 = mul %1, %1 : f32[2]
|   %3 = sum %2 {axes=[0]} : f32[]
|   return %3
| }
| loaded: i32
| import nn.act
| w: Tensor[f32,(2)]
| loss: Tensor[f32,()]
| fn f(x: f32, y: f32) -> f32
| error[E2002]: there is nothing named `nothing` here
|   --> <line 7>:1:1
|    |
|  1 | nothing
|    | ^^^^^^^ unknown name
|    = name: nothing
|    = hint: bind it first: `let nothing = ...`
|
| Tensor[f32,(2)] [1, 2]
| there is no command :tpye; did you mean :type? :help lists them
| 5
$ printf ':mlir 1.0 + 2.0\n' | tern repl | head -3
| module {
|   func.func @main() -> f64 {
|     %0 = arith.constant 1.0 : f64
$ printf ':time 1 + 1\n' | tern repl | sed 's/[0-9.]* ms/N ms/'
| 2
| time: N ms
$ printf ':help\n' | tern repl | cut -c1-16
|   :help         
|   :type EXPR    
|   :shape EXPR   
|   :grad EXPR    
|   :graph EXPR   
|   :mlir EXPR    
|   :env          
|   :time EXPR    
|   :reset        
|   :load FILE    
|   :quit         
$ printf ':help softmax\n' | tern repl | head -1
| softmax(x, axis=-1)

# End of input ends it, also inside an open bracket.
$ tern repl < /dev/null
$ printf '(1 +\n' | tern repl
! tern: the input ended inside an open block or bracket; its lines were not run

# A hundred thousand lines leave no more memory in use than a few do.
$ many() { n=100000; [ "$TERN_TEST_EFFORT" = small ] && n=2000; yes "$1" | head -$n > lines; }
> many 'let x = [1.0, 2.0, 3.0]; x * 2'
> tern repl --max-mem 32M < lines | uniq -c | sed "s/^ *$n /all /"
| all Tensor[f32,(3)] [2, 4, 6]
$ many() { n=60000; [ "$TERN_TEST_EFFORT" = small ] && n=2000; yes "$1" | head -$n > lines; }
> many 'x = x * a + 0.5'
> (echo 'let a = 0.5'; echo 'let x = 1.0'; cat lines) | tern repl --max-mem 64M | tail -1
| 1
$ many() { n=20000; [ "$TERN_TEST_EFFORT" = small ] && n=2000; yes "$1" | head -$n > lines; }
> many 'let y = [1, 2] + [1, 2, 3]'
> tern repl --max-mem 32M < lines | grep '^error' | uniq -c | sed "s/^ *$n /all /"
| all error[E2101]: add: shapes [2] and [3] do not broadcast
$ many() { n=20000; [ "$TERN_TEST_EFFORT" = small ] && n=2000; yes "$1" | head -$n > lines; }
> many 'fn f(x: f64) -> f64 = x * 2; let h = |v| f(v) + 1; let t = (1, "abc", h); h(1.0)'
> tern repl --max-mem 32M < lines | uniq -c | sed "s/^ *$n /all /"
| all 3

# Gradient history beyond 20,000 operations of earlier lines is dropped, with a note; values stay.
$ (echo 'let x = [1, 2]'; echo 'let y = x'; for i in $(seq 400); do echo "y = y$(printf ' + x%.0s' $(seq 100))"; done; echo ':grad sum(y)'; echo y) > long
$ tern repl < long > said; grep -c . said; grep note said; tail -n 2 said
| 405
| note: gradients no longer flow through what was computed up to here
| grad{ x: Tensor[f32,(2)] [<*>, <*>], y: Tensor[f32,(2)] [1, 1] }
| Tensor[f32,(2)] [40001, 80002]
$ tail -n 2 said | grep -c 'x: Tensor.f32,(2). .40001, 40001'
| 0
? 1

# Lines that fail leave nothing behind, not even their names.
$ seq 20000 | sed 's/^/nope/' | tern repl --max-mem 1M | grep -c '^error\[E2002\]'
| 20000

# A block that stays open for thousands of lines is discarded.
$ yes 'f((1,' | head -5000 | tern repl --lang mind 2>&1 | grep -c 'E_TOO_LARGE.*left open'
| 1
