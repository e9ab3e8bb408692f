# Blocks nest as deep as brackets do: 200, counted through every kind of them.
$ apps() { i=0; while [ $i -lt $1 ]; do printf 'app A%d {\n' $i; i=$((i + 1)); done; }
> for inside in 'model {' 'train {' 'fn f(x) {' 'on start {' 'state {' 'state_machine M {' 'app Z {'; do
>   (apps 200; echo "$inside") | tern check --lang ail - 2>&1 | grep -A1 '^error' | grep -v '^--'
> done
| error[E_NESTING_LIMIT]: the block is nested deeper than 200 levels
|     --> <stdin>:202:1
| error[E_NESTING_LIMIT]: the block is nested deeper than 200 levels
|     --> <stdin>:202:1
| error[E_NESTING_LIMIT]: the block is nested deeper than 200 levels
|     --> <stdin>:202:1
| error[E_NESTING_LIMIT]: the block is nested deeper than 200 levels
|     --> <stdin>:202:1
| error[E_NESTING_LIMIT]: the block is nested deeper than 200 levels
|     --> <stdin>:202:1
| error[E_NESTING_LIMIT]: the state machine is nested deeper than 200 levels
|     --> <stdin>:202:1
| error[E_NESTING_LIMIT]: the app is nested deeper than 200 levels
|     --> <stdin>:202:1
$ (i=0; while [ $i -lt 199 ]; do printf 'app A%d {\n' $i; i=$((i + 1)); done; printf 'state_machine M {\nstate A {\n') | tern check --lang ail - 2>&1 | grep -A1 '^error'
| error[E_NESTING_LIMIT]: the state is nested deeper than 200 levels
|     --> <stdin>:202:1

$ deep() { i=0; while [ $i -lt 201 ]; do printf "$1"; i=$((i + 1)); done; }
> for inside in 'sum(' '(' 'if ' 'for i in range(0, 1) do '; do
>   (printf 'model {\n  y = '; deep "$inside") | tern check --lang ail - 2>&1 | grep -A1 '^error' | grep -v '^--'
> done
| error[E_NESTING_LIMIT]: the call is nested deeper than 200 levels
|   --> <stdin>:2:806
| error[E_NESTING_LIMIT]: the expression is nested deeper than 200 levels
|   --> <stdin>:2:206
| error[E_NESTING_LIMIT]: the `if` is nested deeper than 200 levels
|   --> <stdin>:2:604
| error[E_NESTING_LIMIT]: the loop is nested deeper than 200 levels
|   --> <stdin>:2:4783
$ (printf 'model {\n  y = sum('; i=0; while [ $i -lt 201 ]; do printf '['; i=$((i + 1)); done) | tern check --lang ail - 2>&1 | grep -A1 '^error'
| error[E_NESTING_LIMIT]: the list is nested deeper than 200 levels
|   --> <stdin>:2:209

# A chain of emitted events is as long as nesting is deep, and one event sets off 10,000 others at most.
$ (i=0; while [ $i -lt 201 ]; do printf 'on e%d { emit e%d }\n' $i $((i + 1)); i=$((i + 1)); done; echo 'on e201 { emit result }') > chain.ail
$ tern app chain.ail --event e0 2>&1 | grep -A1 '^error'
| error[E_NESTING_LIMIT]: the chain of emitted events is nested deeper than 200 levels
|     --> chain.ail:202:4
$ (i=0; while [ $i -lt 14 ]; do printf 'on e%d { emit e%d emit e%d }\n' $i $((i + 1)) $((i + 1)); i=$((i + 1)); done; echo 'on e14 { emit result }') > double.ail
$ tern app double.ail --event e0 2>&1 | grep -A1 '^error'
| error[E_EXECUTION_FAILURE]: the program failed: one event emitted 10,000 others
|    --> double.ail:15:15

# Suggestions are made while mistakes are few.
$ (printf 'model {\n  value [2]\n'; i=0; while [ $i -lt 400 ]; do echo "  y$i = valu"; i=$((i + 1)); done; echo '}') | tern check --lang ail - --json | tr '}' '\n' | grep -c '"suggestion":"value"'
| 51

# A cycle of functions is shown by its first twenty.
$ (i=0; while [ $i -lt 30 ]; do echo "fn f$i(x) { f$(((i + 1) % 30))(x) }"; i=$((i + 1)); done; printf 'model {\n  x [2]\n  y = f0(x)\n}\n') | tern check --lang ail - --json | grep -o '"call_site":"[^"]*"'
| "call_site":"f0 -> f1 -> f2 -> f3 -> f4 -> f5 -> f6 -> f7 -> f8 -> f9 -> f10 -> f11 -> f12 -> f13 -> f14 -> f15 -> f16 -> f17 -> f18 -> f19 -> f20 -> ... -> f0"

# A machine's path and what it emits are shown to a person in part, whole in JSON.
$ (echo 'state_machine M {'; i=0; while [ $i -lt 60 ]; do printf '  state S%d {\n    emit %d\n    if 1 > 0 -> S%d\n    else -> S%d\n  }\n' $i $i $((i + 1)) $((i + 1)); i=$((i + 1)); done; printf '  state S60 {\n    end\n  }\n}\n') > long.ail
$ tern run long.ail
| State machine M: S0 -> S1 -> S2 -> S3 -> S4 -> S5 -> S6 -> S7 -> S8 -> S9 -> S10 -> S11 -> S12 -> S13 -> S14 -> S15 -> S16 -> S17 -> S18 -> S19 -> S20 -> S21 -> S22 -> S23 -> S24 -> S25 -> S26 -> S27 -> S28 -> S29 -> S30 -> S31 -> S32 -> S33 -> S34 -> S35 -> S36 -> S37 -> S38 -> S39 -> S40 -> S41 -> S42 -> S43 -> S44 -> S45 -> S46 -> S47 -> S48 -> S49 -> ... (ended)
| Emitted: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, ...

# A long chain of constants is not nested.
$ for i in $(seq 1 5000); do echo "const C$i = C$((i + 1)) + 1"; done > chain.ail
$ printf 'const C5001 = 0\nmodel { y = C1 }\n' >> chain.ail
$ tern run chain.ail | tail -n 1
| First 1 values: [5000.0000]
