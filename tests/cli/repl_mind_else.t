# An `else` in a line of its own continues its `if`; any other line, an empty one and the end of the input end it.
$ tern repl <<'END'
> if true { 1 }
> else { 2 }
> let x = 5
> if x > 7 {
>   1
> }
> else if x > 6 {
>   2 }
>   else {
>   3
> }
> if x > 2 { print("yes") }
> x + 1
> if x > 2 { print("after an empty line") }
> 
> let y = if x > 9 { 1 }
> else { 2 }
> :type y
> if x > 1 { x = 9 }
> :env
> let f = |q| { q + 1 }
> f(3)
> if x > 1 { y }  // nothing follows
> else { 4 }
> if x > 1 { print("at the end") }
> END
| 1
| 5
| 3
| yes
| 6
| after an empty line
| 2
| i32
| x: i32
| y: i32
| fn closure
| 4
| 2
| at the end

# Nothing is held back that no `else` can continue.
$ printf 'if true { 1 } else { 2 }\nfn f(x: i32) -> i32 { x }\nf(3)\nelse { 1 }\n4' | tern repl
| 1
| 3
| error[E1001]: expected an expression
|   --> <line 4>:1:1
|    |
|  1 | else { 1 }
|    | ^^^^
| 
| 4

# A session that ends inside an open block says so.
$ printf 'if true {\n' | tern repl
! tern: the input ended inside an open block or bracket; its lines were not run
$ printf 'if true { 1 }\nelse {' | tern repl
! tern: the input ended inside an open block or bracket; its lines were not run
