# Ninth's session: what its commands say, files that are loaded, and names that blocks find.
$ printf '[DEF] "twice" 2 [MUL] [RET]\n3 -> three\n' > defs.nth; printf '[DEF] "open" 1\n' > open.nth
# Commands.
$ tern repl --lang ninth <<'END'
> :help [ADD]
> :help ADD
> :help NOSUCH
> :nosuch
> :load defs.nth
> three [CALL] "twice"
> :load open.nth
> :load none.nth
> :load
> :vars
> :stack
> :clear
> :quit
> END
| [ADD]  ( x y -- z )  x + y, broadcasting.
| [ADD]  ( x y -- z )  x + y, broadcasting.
| there is no opcode NOSUCH
| there is no command :nosuch; :help lists them
| stack: (empty)
| stack: 6
| the file ends inside a block
| stack: 6
| cannot read none.nth: not_found
| :load needs the name of a file
| three = 3
| function twice
| stack: 6
| stack: (empty)
# A block reads the session's variables; one that a function runs reads those of the function, then the state.
$ tern repl --lang ninth <<'END'
> 5 -> five
> "M" [MODULE] [INIT] 1 [VAR] -> @a [RET] [END_MODULE]
> {M} [PARAMS] -> list
> list { five [MUL] [PRINT] } [FOREACH]
> [DEF] "each" -> body -> items items body [FOREACH] [RET]
> list { six [PRINT] } [CALL] "each"
> 6 -> @six
> list { [DROP] six [PRINT] } [CALL] "each"
> END
| stack: (empty)
| stack: (empty)
| stack: (empty)
| 5
| stack: (empty)
| stack: (empty)
| error[E_UNDEFINED_VARIABLE]: variable `six` has no value here
|   --> <line 6>:1:8
|    |
|  1 | list { six [PRINT] } [CALL] "each"
|    |        ^^^ read before anything was bound to it
|    = name: six
|    = hint: bind it first: `5 -> six`
| note: called here
|   --> <line 6>:1:22
|    |
|  1 | list { six [PRINT] } [CALL] "each"
|    |                      ^^^^^^^^^^^^^
|
| stack: (empty)
| stack: (empty)
| 6
| stack: (empty)
# A program in a line is one line; a trace shows what each token finds.
$ tern repl --lang ninth <<'END'
> [PROGRAM_START] 1 [PRINT] [PROGRAM_END]
> :trace on
> 1 2 [ADD]
> :trace off
> 3
> END
| 1
| stack: (empty)
|   1  stack: (empty)
|   2  stack: 1
|   [ADD]  stack: 1 2
| stack: 3
| stack: 3 3

# A session that ends inside an open block says so; that is no failure.
$ printf '1\n[DEF] "f"\n2 [PRINT]\n' | tern repl --lang ninth
| stack: 1
! tern: the input ended inside an open block or bracket; its lines were not run
$ printf '1 [PRINT]\n( 1 2\n)\n' | tern repl --lang ninth
| 1
| stack: (empty)
| stack: (1 2)

# A module without anything, whose line is gone when it is made.
$ printf '"N" [MODULE] [END_MODULE]\n{N}\n' | tern repl --lang ninth
| stack: (empty)
| stack: <N>

# A block that stays open for thousands of lines is discarded, because each line parses all of it again.
$ (echo '"a" [DEF]'; yes '1 [DROP]' | head -3000) | tern repl --lang ninth 2>&1 | grep -A3 '^error'
| error[E_TOO_LARGE]: the reading of a block that is left open is larger than the limit of 33554432
|    = what: the reading of a block that is left open
|    = limit: 33554432
|    = hint: put it into a file and `:load` it

# `_` is what was on top of the stack after the last line. Opcodes and operations are explained.
$ printf '6 7 [MUL]\n_ 1 [ADD]\n:clear\n_\n:vars\n:help mul\n:help layer_norm\n:help nothing_at_all\n' | tern repl --lang ninth
| stack: 42
| stack: 42 43
| stack: (empty)
| stack: 43
| [MUL]  ( x y -- z )  x * y, broadcasting.
| layer_norm(x, gamma, beta)
|   over the last axis: <*>
|   result: as x
| there is no opcode nothing_at_all
