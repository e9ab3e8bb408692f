# Ninth on the command line: text output, JSON output, and the interactive session.
$ printf '1 2 [ADD] [PRINT] (1 2) "a"' > p.nth
$ tern run p.nth
| 3
| (1 2)
| a
$ tern run p.nth --json
| {"ok":true,"language":"ninth","warnings":[],"printed":["3"],"stack":[{"kind":"tensor","dtype":"f32","shape":[2],"data":[1,2]},{"kind":"string","value":"a"}]}
$ tern eval '5 [DUP] [MUL]' --lang ninth
| 25

# What was printed before a failure stays, and is in the answer.
$ tern eval '1 [PRINT] [ADD]' --lang ninth --json
| {"ok":false,"diagnostics":[{"code":"E_STACK_UNDERFLOW","severity":"error","phase":"run","title":"ADD takes 2 from a stack of 0","fields":{"opcode":"ADD","needed":"2","have":"0"},"span":{"file":"<eval>","line":1,"col":11,"end_line":1,"end_col":16},"hint":"its stack effect is `x y -- z`: push what it needs first; [PEEK] shows the top and [DEPTH] counts"}],"printed":["1"]}
? 1

# The first hundred errors are shown, with the number of others.
$ printf '%01000d' 0 | tr 0 ')' > many.nth
$ tern check many.nth 2>&1 | tail -2 | head -1
| 900 more not shown
$ tern check many.nth --json | grep -o '"omitted":[0-9]*'
| "omitted":900
$ tern check many.nth many.nth p.nth --json | grep -o '"omitted":[0-9]*,"ok":false'
| "omitted":1800,"ok":false
$ tern check p.nth --json | grep -c omitted
| 0
? 1

# No option is ignored.
$ printf '\010\000\000\000\000\000\000\000{}      ' > w.safetensors
$ tern run p.nth --weights w.safetensors
! error[E_USAGE]: a Ninth program has no named parameters that --weights could fill
!    = hint: [LOAD_WEIGHTS] reads a .safetensors file in the program
!
? 2
$ tern emit p.nth --as graph --weights w.safetensors
! error[E_USAGE]: a Ninth program has no named parameters that --weights could fill
!    = hint: [LOAD_WEIGHTS] reads a .safetensors file in the program
!
? 2

# Large tensors are shortened for people, never in JSON.
$ tern eval '[2000] [ONES] [PRINT]' --lang ninth
| (1 1 1 ... 1 1 1)
$ tern eval '[2000] [ONES] [PRINT]' --lang ninth --json | wc -c
| 4072

# The seed decides every draw.
$ tern eval '[2] [RANDN] [PRINT]' --lang ninth
| (-0.71772873 1.8654591)
$ tern eval '[2] [RANDN] [PRINT]' --lang ninth --seed 7 > a; tern eval '[2] [RANDN] [PRINT]' --lang ninth --seed 7 | cmp a -

$ printf '5->x   x[PRINT]' > f.nth
$ tern fmt f.nth
$ cat f.nth
| 5 -> x x [PRINT]
$ tern fmt --check f.nth

$ printf '(1 2) [VAR] 3 [MUL] [SUM]' > g.nth
$ tern emit g.nth --as graph
| graph(param %v0: f32[2]) {
|   %1 = fill {dtype=f32, shape=[], number=3} : f32[]
|   %2 = mul %v0, %1 : f32[2]
|   %3 = sum %2 {axes=[0]} : f32[]
|   return %3
| }

$ printf '1 2\n[ADD]\n[DROP] [DROP]\n[DEF] "f" 2 [MUL]\n[RET]\n4 [CALL] "f"\n:quit\n9\n' | tern repl --lang ninth
| stack: 1 2
| stack: 3
| error[E_STACK_UNDERFLOW]: DROP takes 1 from a stack of 0
|   --> <line 3>:1:8
|    |
|  1 | [DROP] [DROP]
|    |        ^^^^^^
|    = opcode: DROP
|    = needed: 1
|    = have: 0
|    = hint: its stack effect is `a --`: push what it needs first; [PEEK] shows the top and [DEPTH] counts
|
| stack: 3
| stack: 3
| stack: 3 8
$ tern repl --lang ninth < /dev/null

# A Ninth program has no named parameters or host values.
$ tern run p.nth --param w=1 2>&1 | head -1
| error[E_USAGE]: a Ninth program takes its values with --input; there is no --param
