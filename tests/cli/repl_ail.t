# The interactive session of AILang: declarations and assignments stay, expressions are evaluated against them.
$ tern repl --lang ail <<'END'
> const N = 2
> input x [N, 3]
> param W [3, 2]
> matmul(x, W)
> h = relu(matmul(x, W))
> fn double(a) {
>   a * 2
> }
> double(h) +
>   1
> :shape double(h)
> let k = h * 3
> if 1 > 0 then k else h
> model {
>   y = matmul(x, W)
> }
> :env
> :reset
> :env
> 1 + 2
> :quit
> 4
> END
| Output shape: [2, 2]
| First 4 values: [0.4959, -0.3719, 1.0631, -0.8486]
| Output shape: [2, 2]
| First 4 values: [0.4959, 0.0000, 1.0631, 0.0000]
| Output shape: [2, 2]
| First 4 values: [1.9917, 1.0000, 3.1262, 1.0000]
| [2, 2]
| Output shape: [2, 2]
| First 4 values: [1.4876, 0.0000, 3.1892, 0.0000]
| Output shape: [2, 2]
| First 4 values: [1.4876, 0.0000, 3.1892, 0.0000]
| Output: y
| Output shape: [2, 2]
| First 4 values: [0.4959, -0.3719, 1.0631, -0.8486]
| const N = 2
| input x [N, 3]
| param W [3, 2]
| fn double(a) {
|   a * 2
| }
| h = relu(matmul(x, W))
| let k = h * 3
| Output shape: []
| First 1 values: [3.0000]

# An input may be declared as it is in a model.
$ tern repl --lang ail <<'END'
> param W [2, 2]
> x [B, 2]
> y = matmul(x, W)
> tokens [B, T]
> :shape tokens
> :env
> END
| Output shape: [2, 2]
| First 4 values: [0.0945, -0.2934, 0.0597, -0.3622]
| [2, 6]
| param W [2, 2]
| x [B, 2]
| y = matmul(x, W)
| tokens [B, T]

# A line that fails changes nothing.
$ tern repl --lang ail <<'END' | grep -v '^ \|^$'
> const N = 2
> const N = 3
> input x [N]
> y = x + nothing
> y
> x = x * 0
> fn f(a) { a + }
> f(x)
> :env
> END
| error[E_CONST_REDECLARED]: constant `N` is declared twice
| error[E_IDENTIFIER_NOT_FOUND]: there is nothing named `nothing` here
| error[E_IDENTIFIER_NOT_FOUND]: there is nothing named `y` here
| Output shape: [2]
| First 2 values: [0.0000, -0.0000]
| error[E_SYNTAX_ERROR]: expected a value, found `}`
| error[E_FUNCTION_NOT_FOUND]: there is no function `f`
| const N = 2
| input x [N]
| x = x * 0
$ printf 'const K = 3\nfn twice(a) {\n  a * 2\n}\ntwice(K)\n' > l.ail
$ printf ':load l.ail\ntwice(twice(K))\n:load none.ail\n:graph twice(K)\n:nope\n' | tern repl --lang ail
| Output shape: []
| First 1 values: [6.0000]
| Output shape: []
| First 1 values: [12.0000]
| cannot read none.ail: not_found
| graph() {
|   %1 = fill {dtype=f32, shape=[], number=6} : f32[]
|   return logits=%1
| }
| there is no command :nope; :help lists them
$ tern repl --lang ail < /dev/null
$ printf '(1 +\n' | tern repl --lang ail
! tern: the input ended inside an open block or bracket; its lines were not run

# Whole programs are run as they are, and a file need not end with a line break.
$ tern repl --lang ail <<'END' | grep -v '^ \|^$'
> const N = 2
> forward { x [N, 2]; let y = x * 0; return y; }
> state_machine M {
>   state A {
>     emit N
>     end
>   }
> }
> app Counter {
>   on start {
>     emit initialized
>   }
> }
> x: [N]
> :shape x +
> :shape x
> :shape
> :time
> :mlir
> :graph
> model
> fn
> app
> END
| Output: y
| Output shape: [2, 2]
| First 4 values: [0.0000, -0.0000, 0.0000, -0.0000]
| State machine M: A (ended)
| Emitted: 2
| error[E_SYNTAX_ERROR]: expected a value after `+`
| [2]
| :shape needs an expression
| :time needs an expression
| :mlir needs an expression
| :graph needs an expression
| error[E_IDENTIFIER_NOT_FOUND]: there is nothing named `model` here
| error[E_IDENTIFIER_NOT_FOUND]: there is nothing named `fn` here
| error[E_IDENTIFIER_NOT_FOUND]: there is nothing named `app` here
$ printf 'a = 3\na + 1' > open.ail
$ printf ':load open.ail\n' | tern repl --lang ail
| Output shape: []
| First 1 values: [3.0000]
| Output shape: []
| First 1 values: [4.0000]
$ printf ':time 1 + 2\n' | tern repl --lang ail | sed 's/[0-9.]* ms/T ms/'
| Output shape: []
| First 1 values: [3.0000]
| time: T ms
$ printf ':mlir 1\n' | tern repl --lang ail | head -n 2
| module {
|   func.func @main() -> tensor<f32> {

# Each line runs with the lines it needs; what was replaced is gone. A number that many lines lead to is kept as such.
$ { echo 'a = 1'; echo 'a = 2'; echo 'b = a'; echo 'a = 3'; echo ':env'; } | tern repl --lang ail | grep =
| a = 2
| b = a
| a = 3
$ { echo 'y = 0.1'; for i in $(seq 300); do echo 'y = y + 0.1'; done; echo 'y * 10'; } | tern repl --lang ail | tail -n 1
| First 1 values: [301.0008]

# A block that stays open for thousands of lines is discarded.
$ yes 'y = x +' | head -5000 | tern repl --lang ail 2>&1 | grep -c 'E_TOO_LARGE.*left open'
| 1

# `_` is the value of the last expression. Operations are explained, with their arguments.
$ printf '6 * 7\n_ + 1\ny = _ * 2\n_\n:env\n:help softmax\n:help nothing_at_all\n' | tern repl --lang ail | grep -v shape
| First 1 values: [42.0000]
| First 1 values: [43.0000]
| First 1 values: [86.0000]
| First 1 values: [43.0000]
| y = _ * 2
| softmax(x, axis?)
|   <*>
|   result: as x
| there is no operation nothing_at_all
