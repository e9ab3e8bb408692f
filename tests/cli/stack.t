# How deep a program may nest is measured against the stack there is. Calls 198 deep, each from inside of 30
# brackets, fit into 8 MB; where they do not fit that is said, with the size of the stack.
$ repeat() { i=0; while [ $i -lt $1 ]; do printf '%s' "$2"; i=$((i + 1)); done; }
> for depth in 30 180; do
>   (printf 'fn f(n: f64) -> f64 = if n < 1.0 { 0.0 } else { '; repeat $depth 'abs('; printf 'f(n - 1.0)'
>   repeat $depth ')'; printf ' }\nf(198.0)\n') > p$depth.mind
> done
$ (ulimit -s 8192; tern check p30.mind; tern run p30.mind; tern emit --as graph p30.mind | head -n 1; tern fmt p30.mind; tern run p30.mind)
| p30.mind: ok
| 0
| graph() {
| 0
$ (ulimit -s 256; tern run p30.mind)
! error[E_NESTING_LIMIT]: this is nested deeper than a stack of 262144 bytes allows
! ...
! <*>= hint: give an inner part a name of its own, or run it where the stack is larger (ulimit -s)
! 
? 1
$ (ulimit -s 256; tern run p30.mind --json) | grep -o '"code":"[^"]*"\|"limit":[^,}]*\|"unit":[^,}]*'
| "code":"E_NESTING_LIMIT"
| "limit":"262144"
| "unit":"bytes"

# The stack of tern itself grows past the usual 8 MB where the system allows it.
$ if [ "$(ulimit -H -s)" = unlimited ]; then (ulimit -S -s 8192; tern run p180.mind); else echo 0; fi; (ulimit -s 8192; tern run p180.mind 2>&1 | head -n 1)
| 0
| error[E_NESTING_LIMIT]: this is nested deeper than a stack of 8388608 bytes allows
