# The version is that of the project, which one file names.
$ sed -n 's/^project(tern VERSION \([0-9.]*\).*/tern \1/p' "$TESTS/../CMakeLists.txt" >version.txt
$ tern version | diff - version.txt
$ tern help emit
| tern emit FILE --as KIND
|   export the compiled program: graph, grad, mlir, dot, svg, onnx, npz or plan
| ...
$ tern help emti
! error[E_USAGE]: there is no verb emti
!    = hint: did you mean tern help emit?
! 
? 2
$ tern --help | head -n 1
| tern: three small languages for tensors and neural networks, one set of kernels,
$ tern emit --help | head -n 1
| tern emit FILE --as KIND
$ tern explain e2101 | head -n 1
| error E2101: <op>: shapes <left> and <right> do not broadcast
$ tern explain E2111
! error[E_USAGE]: there is no code E2111
!    = hint: did you mean E2101?
! 
? 2
$ tern explain | grep -c '^ *E'
| <*>
$ tern ops | grep ' matmul '
|   matmul          x y               yes    yes    f32 f64 i32 i64       z[..., m, n] = sum of x[..., m, k] * y[..., k, n]: a chain of fma from +0 with k ascending; leading axes broadcast
$ tern ops --json | head -c 60
| {"ok":true,"ops":[{"name":"input","group":"source","operands
\ no newline
$ tern ops matmul
| matmul(x, y)
|   z[..., m, n] = sum of x[..., m, k] * y[..., k, n]: a chain of fma from +0 with k ascending; leading axes broadcast
|   result: [..., m, n], leading axes broadcast; the dtype of both
|   gradient: yes (vjp), yes (jvp)
|   dtypes: f32 f64 i32 i64
$ tern ops matmul --json | head -c 40
| {"ok":true,"ops":[{"name":"matmul","grou
\ no newline
$ tern ops matmull
! error[E_USAGE]: there is no operation matmull
!    = hint: did you mean matmul?
!
? 2
# The help has headings, every verb once; -v says what this machine runs.
$ tern help | grep '^[A-Z]'
| Programs
| Training
| Help, and this machine
| Examples
$ tern help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -v tern | sort | uniq -d
$ tern help --color always | grep -c "$(printf '\033')" | sed 's/[1-9][0-9]*/some/'; tern help | grep -c "$(printf '\033')"
| some
| 0
? 1
$ tern version -v | sed 's/:.*//'
| <*>
| kernels
| ...
| threads
| built with
| tern doctor says more

# A result that cannot be written is a failure.
$ tern ops > /dev/full
! tern: cannot write to standard output: No space left on device
? 1
