# A list of numbers and rows: the first of each kind is shown.
$ tern eval '[1, 2, [3]]'
! error[E2104]: a row stands among numbers
!   --> <eval>:1:1
!    |
!  1 | [1, 2, [3]]
!    | ^^^^^^^^^^^
!    = expected: 1
!    = got: 1
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

# Words for those who do not know of the colon yet; inside a statement they are names.
$ for lang in mind ninth ail; do printf 'help\nexit\nnothing gets here\n' | tern repl --lang $lang 2>&1 | grep -c 'nothing gets here'; done
| 0
| 0
| 0
? 1
$ printf 'help\n' | tern repl --lang mind | grep ':quit'
|   :quit <*>
