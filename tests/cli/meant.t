# A list of numbers and rows: the first of each kind is shown.
$ tern eval '[1, 2, [3]]'
! error[E2104]: a row is mixed with numbers
!   --> <eval>:1:1
!    |
!  1 | [1, 2, [3]]
!    | ^^^^^^^^^^^
!    = expected: a number
!    = got: a row
!    = hint: the elements of a list are all numbers, or all rows of the same length
! note: a number
!   --> <eval>:1:2
!    |
!  1 | [1, 2, [3]]
!    |  ^
! note: a row
!   --> <eval>:1:8
!    |
!  1 | [1, 2, [3]]
!    |        ^^^
!
? 1

# An error inside a function of Ninth shows where the program called it, also through a library.
$ cat > called.nth <<'END'
> [DEF] "add_three" (1 2 3) [ADD] [RET]
> (1 2) [CALL] "add_three"
> END
$ tern run called.nth
! error[E_SHAPE_MISMATCH]: shapes [2] and [3] do not fit together in ADD
!   --> called.nth:1:27
!    |
!  1 | [DEF] "add_three" (1 2 3) [ADD] [RET]
!    |                           ^^^^^
!    = opcode: ADD
!    = left: [2]
!    = right: [3]
!    = hint: shapes are compared from the right; a dimension of 1 fits any other, and matmul needs [m, k] and [k, n]
! note: called here
!   --> called.nth:2:7
!    |
!  2 | (1 2) [CALL] "add_three"
!    |       ^^^^^^^^^^^^^^^^^^
! 
? 1
$ cat > library.nth <<'END'
> "nn" [USE]
> 2 3 {Linear} -> layer
> ((1 2)) layer [CALL] [PRINT]
> END
$ tern run library.nth
! error[E_SHAPE_MISMATCH]: shapes [1 2] and [3 2] do not fit together in MATMUL
!    --> nn.nth:<*>
!     |
! <*>
! <*>
!     = opcode: MATMUL
!     = left: [1 2]
!     = right: [3 2]
!     = hint: shapes are compared from the right; a dimension of 1 fits any other, and matmul needs [m, k] and [k, n]
! note: called here
!    --> library.nth:3:15
!     |
!   3 | ((1 2)) layer [CALL] [PRINT]
!     |               ^^^^^^
! 
? 1

# A block runs where it is written, and the check that runs nothing knows calls too.
$ tern eval '1 [REPEAT] (1 2) (1 2 3) [ADD] [END]' --lang ninth 2>&1 | grep -c note
| 0
? 1
$ printf '[DEF] "two" [ADD] [RET]\n1 [CALL] "two"\n' > short.nth
$ tern check short.nth 2>&1 | grep -A 4 note
| note: called here
|   --> short.nth:2:3
|    |
|  2 | 1 [CALL] "two"
|    |   ^^^^^^^^^^^^

# So does one inside a function of AILang.
$ cat > called.ail <<'END'
> fn square(a) { matmul(a, a) }
> model {
>   x [B, 2]
>   y = square(x)
> }
> END
$ tern run called.ail --input 'x=[[1,2],[3,4],[5,6]]'
! error[E_SHAPE_MISMATCH]: shapes [B=3, 2] and [B=3, 2] do not fit together in matmul
!   --> called.ail:1:16
!    |
!  1 | fn square(a) { matmul(a, a) }
!    |                ^^^^^^^^^^^^ dimension 1 differs
!    = function: matmul
!    = left: [B=3, 2]
!    = right: [B=3, 2]
!    = dimension: 1
!    = hint: shapes are compared from the right; a dimension of 1 fits any other, and matmul needs [m, k] and [k, n]
! note: called here
!   --> called.ail:4:7
!    |
!  4 |   y = square(x)
!    |       ^^^^^^^^^
! 
? 1

# Words that users type instead of commands with a colon; inside a statement they are names.
$ for lang in mind ninth ail; do printf 'help\nexit\nnothing gets here\n' | tern repl --lang $lang 2>&1 | grep -c 'nothing gets here'; done
| 0
| 0
| 0
? 1
$ printf 'help\n' | tern repl --lang mind | grep ':quit'
|   :quit <*>

# An error inside a function of MIND shows the calls that led to it, the nearest first.
$ cat > calls.mind <<'EOF'
> let grown = |x| x + [1, 2, 3]
> let twice = |x| grown(x) * 2
> twice([1, 2])
> EOF
$ tern check calls.mind 2>&1 | grep -A 3 '^note: called'
| note: called here
|   --> calls.mind:2:17
|    |
|  2 | let twice = |x| grown(x) * 2
| --
| note: called here
|   --> calls.mind:3:1
|    |
|  3 | twice([1, 2])
$ cat > taken.mind <<'EOF'
> fn at(x: Tensor[f32,(N)], i: i32) -> Tensor[f32,()] = x[i]
> fn last(x: Tensor[f32,(N)]) -> Tensor[f32,()] = at(x, 7) + 1
> last([1, 2])
> EOF
$ tern run taken.mind 2>&1 | sed -n '1p; /^note: called/,$p'
| error[E2109]: index 7 is out of range in index; there are 2
| note: called here
|   --> taken.mind:2:49
|    |
|  2 | fn last(x: Tensor[f32,(N)]) -> Tensor[f32,()] = at(x, 7) + 1
|    |                                                 ^^^^^^^^
| note: called here
|   --> taken.mind:3:1
|    |
|  3 | last([1, 2])
|    | ^^^^^^^^^^^^
|

# A function that takes its own place calls from where it last did; one that is written in its call needs no note.
$ cat > tail.mind <<'EOF'
> fn down(x: Tensor[f32,(N)], i: i32) -> Tensor[f32,()] = if i > 5 { x[i] } else { down(x, i + 1) }
> down([1, 2], 0)
> EOF
$ tern run tail.mind 2>&1 | grep -A 3 '^note: called'
| note: called here
|   --> tail.mind:1:82
|    |
|  1 | fn down(x: Tensor[f32,(N)], i: i32) -> Tensor[f32,()] = if i > 5 { x[i] } else { down(x, i + 1) }
$ tern eval 'fold(|s, i| s + [1, 2, 3], [1, 2], 3)' 2>&1 | grep -c '^note: called'
| 0
? 1

# So does one in a module of Ninth's library.
$ printf '"nn" [USE]\n3 2 {Linear} -> layer\n(1 2 3 4 5) layer [CALL]\n' > layer.nth
$ tern run layer.nth 2>&1 | sed -n '1,2p; /^note: called/,$p'
| error[E_SHAPE_MISMATCH]: shapes [5] and [2 3] do not fit together in MATMUL
|    --> nn.nth:21:16
| note: called here
|    --> layer.nth:3:19
|     |
|   3 | (1 2 3 4 5) layer [CALL]
|     |                   ^^^^^^
|

# What is no variable of the instance may be one of the program, and a function is called.
$ tern eval '3 -> x @x' --lang ninth 2>&1 | grep hint
|    = hint: did you mean `x`?
$ tern eval '[DEF] "f" 2 [MUL] [RET] 3 f' --lang ninth 2>&1 | grep hint
|    = hint: did you mean `[CALL] "f"`?

# Options before the source of eval.
$ tern eval --lang ninth '1 2 [ADD] [PRINT]'
! error[E_USAGE]: tern eval takes one text; what is ninth?
!    = hint: the word after eval is the source, even if it begins with a minus; options come after it, as in `tern eval '1 2 [ADD] [PRINT]' --lang ninth`
!
? 2
$ tern eval '1 2 [ADD] [PRINT]' --lang ninth
| 3
$ tern eval '-3'
| -3
