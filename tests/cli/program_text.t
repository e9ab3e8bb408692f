# A NUL byte anywhere in a program is a syntax error at that byte, also in comments, strings and prose, and the
# only one that is reported: such a file is rarely a text.
$ printf 'let x = 1 /* a\0b */\nx + \n' > comment.mind; tern check comment.mind
! error[E1001]: a NUL byte; a program is a text and has none
!   --> comment.mind:1:15
!    |
!  1 | let x = 1 /* a\x00b */
!    |               ^^^^
!
? 1
$ printf 'print("a\0b")\n' > string.mind; tern run string.mind
! error[E1001]: a NUL byte; a program is a text and has none
!   --> string.mind:1:9
!    |
!  1 | print("a\x00b")
!    |         ^^^^
!
? 1
$ printf 'let x = 1\n\0\0\0' > end.mind; tern fmt end.mind; tern emit end.mind --as graph
! error[E1001]: a NUL byte; a program is a text and has none
!   --> end.mind:2:1
!    |
!  2 | \x00\x00\x00
!    | ^^^^
!
! error[E1001]: a NUL byte; a program is a text and has none
!   --> end.mind:2:1
!    |
!  2 | \x00\x00\x00
!    | ^^^^
!
? 1
$ printf '1 [PRINT] // a\0b\n)\n' > comment.nth; tern check comment.nth
! error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
!   --> comment.nth:1:15
!    |
!  1 | 1 [PRINT] // a\x00b
!    |               ^^^^
!    = line: 1
!    = col: 15
!
? 1
$ printf '"a\0b" [PRINT]\n' > string.nth; tern run string.nth
! error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
!   --> string.nth:1:3
!    |
!  1 | "a\x00b" [PRINT]
!    |   ^^^^
!    = line: 1
!    = col: 3
!
? 1
$ printf 'prose \0 [PROGRAM_START] 1 [PRINT] [PROGRAM_END]' > prose.nth; tern run prose.nth; tern fmt prose.nth; tern emit prose.nth --as graph
! error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
!   --> prose.nth:1:7
!    |
!  1 | prose \x00 [PROGRAM_START] 1 [PRINT] [PROGRAM_END]
!    |       ^^^^
!    = line: 1
!    = col: 7
!
! error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
!   --> prose.nth:1:7
!    |
!  1 | prose \x00 [PROGRAM_START] 1 [PRINT] [PROGRAM_END]
!    |       ^^^^
!    = line: 1
!    = col: 7
!
! error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
!   --> prose.nth:1:7
!    |
!  1 | prose \x00 [PROGRAM_START] 1 [PRINT] [PROGRAM_END]
!    |       ^^^^
!    = line: 1
!    = col: 7
!
? 1
$ printf 'model { logits = 1 } # a\0b\n' > comment.ail; tern check comment.ail; tern run comment.ail; tern fmt comment.ail
! error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
!   --> comment.ail:1:25
!    |
!  1 | model { logits = 1 } # a\x00b
!    |                         ^^^^
!    = line: 1
!    = col: 25
!
! error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
!   --> comment.ail:1:25
!    |
!  1 | model { logits = 1 } # a\x00b
!    |                         ^^^^
!    = line: 1
!    = col: 25
!
! error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
!   --> comment.ail:1:25
!    |
!  1 | model { logits = 1 } # a\x00b
!    |                         ^^^^
!    = line: 1
!    = col: 25
!
? 1
$ printf 'const s = "a\0b"\nmodel { logits = 1 }\n' > string.ail; tern run string.ail
! error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
!   --> string.ail:1:13
!    |
!  1 | const s = "a\x00b"
!    |             ^^^^
!    = line: 1
!    = col: 13
!
? 1
$ printf 'graph() {\n  %%1 = fill {dtype=f32, shape=[], number=1} : f32[]\n  return y=%%1 // \0\n}\n' > comment.graph; tern check comment.graph
! error[E_GRAPH_SYNTAX]: graph text: a NUL byte; a program is a text and has none
!   --> comment.graph:3:18
!    |
!  3 |   return y=%1 // \x00
!    |                  ^^^^
!    = line: 3
!    = message: a NUL byte; a program is a text and has none
!    = hint: `tern emit FILE --as graph` shows the form
!
? 1
$ printf '1 + \0002' | tern run - --lang mind
! error[E1001]: a NUL byte; a program is a text and has none
!   --> <stdin>:1:5
!    |
!  1 | 1 + \x002
!    |     ^^^^
!
? 1

# Modules and libraries are programs too.
$ printf 'fn f(x: f32) -> f32 = x // \0\n' > inner.mind; printf 'import inner\ninner.f(1.0)\n' > outer.mind; tern run outer.mind
! error[E1001]: a NUL byte; a program is a text and has none
!   --> inner.mind:1:28
!    |
!  1 | fn f(x: f32) -> f32 = x // \x00
!    |                            ^^^^
!
? 1
$ printf '1 + 1\n2 \0+ 2\n3 + 3 // \0\n(4 +\n4 \0)\n5 + 5\n' | tern repl
| 2
| error[E1001]: a NUL byte; a program is a text and has none
|   --> <line 2>:1:3
|    |
|  1 | 2 \x00+ 2
|    |   ^^^^
|
| error[E1001]: a NUL byte; a program is a text and has none
|   --> <line 3>:1:10
|    |
|  1 | 3 + 3 // \x00
|    |          ^^^^
|
| error[E1001]: a NUL byte; a program is a text and has none
|   --> <line 4>:2:3
|    |
|  2 | 4 \x00)
|    |   ^^^^
|
| 10
$ printf '1\n2 \0 [ADD]\n"a\0" [PRINT]\n2 [ADD] [PRINT]\n' | tern repl --lang ninth
| stack: 1
| error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
|   --> <line 2>:1:3
|    |
|  1 | 2 \x00 [ADD]
|    |   ^^^^
|    = line: 1
|    = col: 3
|
| stack: 1
| error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
|   --> <line 3>:1:3
|    |
|  1 | "a\x00" [PRINT]
|    |   ^^^^
|    = line: 1
|    = col: 3
|
| stack: 1
| 3
| stack: (empty)
$ printf 'x = 1\ny = x \0 + 1\nx + 1\n' | tern repl --lang ail
| Output shape: []
| First 1 values: [1.0000]
| error[E_SYNTAX_ERROR]: a NUL byte; a program is a text and has none
|   --> <session>:3:7
|    |
|  3 | y = x \x00 + 1
|    |       ^^^^
|    = line: 3
|    = col: 7
|
| Output shape: []
| First 1 values: [2.0000]

# A byte order mark at the start is skipped, and columns are counted after it; anywhere else it is a mistake.
$ printf '\357\273\277print(1)\nq\n' > mark.mind; tern run mark.mind
! error[E2002]: there is nothing named `q` here
!   --> mark.mind:2:1
!    |
!  2 | q
!    | ^ unknown name
!    = name: q
!    = hint: bind it first: `let q = ...`
!
? 1
$ printf '\357\273\277q' > column.mind; tern check column.mind
! error[E2002]: there is nothing named `q` here
!   --> column.mind:1:1
!    |
!  1 | q
!    | ^ unknown name
!    = name: q
!    = hint: bind it first: `let q = ...`
!
? 1
$ printf '\357\273\277"nn" [USE] 1 [PRINT]\n' > mark.nth; tern run mark.nth; tern check mark.nth; tern emit mark.nth --as graph
| 1
| mark.nth: ok
| graph() {
|   %1 = fill {dtype=f32, shape=[], number=1} : f32[]
|   return %1
| }
$ printf '\357\273\277model { logits = 1 }\n' > mark.ail; tern run mark.ail; tern fmt mark.ail; tern fmt --check mark.ail; head -c 5 mark.ail
| Output: logits
| Output shape: []
| First 1 values: [1.0000]
| model
\ no newline
$ printf '\357\273\277graph() {\n  %%1 = fill {dtype=f32, shape=[], number=1} : f32[]\n  return y=%%1\n}\n' > mark.graph; tern check mark.graph
| mark.graph: ok
$ printf '\357\273\277fn f(x: f32) -> f32 = x\n' > inner.mind; tern run outer.mind
| 1
$ printf '\357\273\277(1 +\n1)\n' | tern repl; printf '\357\273\2771 [PRINT]\n' | tern repl --lang ninth; printf '\357\273\277x = 1\n' | tern repl --lang ail
| 2
| 1
| stack: (empty)
| Output shape: []
| First 1 values: [1.0000]
$ printf '1 \357\273\277+ 1' | tern run - --lang mind
! error[E1001]: this character has no meaning here
!   --> <stdin>:1:3
!    |
!  1 | 1 \u{feff}+ 1
!    |   ^^^^^^^^
!
? 1
$ printf '\357\273\277[[1, 2]]' > v.json; printf 'model { x [B, 2] y = x }\n' > v.ail; tern run v.ail --input x=@v.json
| Output: y
| Output shape: [1, 2]
| First 2 values: [1.0000, 2.0000]
