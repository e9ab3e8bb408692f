# No option is silently ignored for an AILang program.
$ cat > model.ail <<'END'
> model { x [B, 2] param W [2, 1] y = matmul(x, W) }
> train { loss = mean(y) steps = 1 }
> END
$ cat > app.ail <<'END'
> model { x [2] y = x }
> state { n: int = 0 }
> on go { let step = 2 n = n + step + extra }
> END
$ cat > machine.ail <<'END'
> const K = 2
> state_machine M {
>   state First { let v = K + level on start -> Last }
>   state Last { if v > 1 -> End else -> End }
>   state End { end }
> }
> END
$ tern train model.ail --out run --store s.db -q > log

# Events need a machine under run, and something to handle them under app.
$ tern run model.ail --event start
! error[E_USAGE]: tern run offers events to a state machine, and the program has none
!    = hint: `tern app` runs the handlers of events
! 
? 2
$ tern run app.ail --event go 2>&1 | head -n 1
| error[E_USAGE]: tern run offers events to a state machine, and the program has none
$ tern run machine.ail --event go --set level=1 --set v=1 2>&1 | head -n 1
| error[E_EVENT_HANDLER_NOT_FOUND]: the app has no handler for event `go`
$ tern run machine.ail --event start --set level=1 --set v=1
| State machine M: First -> Last -> End (ended)
$ tern app model.ail
! error[E_USAGE]: tern app runs handlers and a state machine, and the program has neither
!    = hint: `tern run` runs a model
! 
? 2
$ tern app model.ail --event go 2>&1 | head -n 1
| error[E_EVENT_HANDLER_NOT_FOUND]: the app has no handler for event `go`

# Weights need parameters, and must match them even if nothing reads the model.
$ for verb in run app 'emit --as onnx'; do tern $verb app.ail --weights run/weights.safetensors 2>&1 | head -n 1; done
| error[E_USAGE]: the program has no parameters for --weights to fill
| error[E_USAGE]: the program has no parameters for --weights to fill
| error[E_USAGE]: the program has no parameters for --weights to fill
$ sed 's/^/state { n: int = 0 } on go { n = 1 } /; 1q' model.ail > both.ail
$ tern app both.ail --event go --weights run/weights.safetensors | head -n 1
| Event: go
$ sed 's/W \[2, 1\]/W [2, 2]/' both.ail > wide.ail
$ tern app wide.ail --event go --weights run/weights.safetensors 2>&1 | head -n 1
| error[E_WEIGHTS_MISMATCH]: the weights do not fit parameter `W`
$ tern app both.ail --event go --param W=1 2>&1 | head -n 1
| error[E_INPUT_RANK_MISMATCH]: input `W` has 2 dimensions, and the value has 0

# Names that nothing takes, for every verb.
$ for verb in run train 'emit --as graph' 'emit --as onnx'; do tern $verb model.ail --input q=1 2>&1 | head -n 1; done
| error[E_USAGE]: the program has no input `q`
| error[E_USAGE]: the program has no input `q`
| error[E_USAGE]: the program has no input `q`
| error[E_USAGE]: the program has no input `q`
$ tern app app.ail --event go --input q=1 2>&1 | head -n 1
| error[E_USAGE]: the program has no input `q`
$ for verb in run train 'emit --as graph' 'emit --as npz'; do tern $verb model.ail --param q=1 2>&1 | head -n 1; done
| error[E_USAGE]: the program has no param `q`
| error[E_USAGE]: the program has no param `q`
| error[E_USAGE]: the program has no param `q`
| error[E_USAGE]: the program has no param `q`

# --set is for names that the program does not bind itself: not for variables, constants, bindings and lets.
$ tern app app.ail --event go --set extra=3 | tail -n 1
|   n = 5
$ tern app app.ail --event go --set extra=3 --set n=1 2>&1 | head -n 2
| error[E_USAGE]: the program binds `n` itself, so --set has no effect on it
|    = hint: --input and --param give inputs and parameters their values
$ tern app app.ail --event go --set extra=3 --set step=1 2>&1 | head -n 1
| error[E_USAGE]: no state and no handler of the program reads `step`
$ tern run machine.ail --set level=1 --set v=1 --set K=1 2>&1 | head -n 1
| error[E_USAGE]: the program binds `K` itself, so --set has no effect on it

# A graph that is shown has no values: inputs give names their lengths, and parameters give nothing.
$ tern emit model.ail --as graph --input x='[[1, 2], [3, 4], [5, 6]]'
| graph(%x: f32[3, 2], param %W: f32[2, 1]) {
|   %1 = matmul %x, %W : f32[3, 1]
|   return y=%1
| }
$ tern emit model.ail --as mlir --param W='[[1], [2]]'
! error[E_USAGE]: --param and --weights change nothing in a form without the values of parameters
!    = hint: `--as onnx` and `--as npz` carry them
! 
? 2
$ tern emit model.ail --as grad --weights run/weights.safetensors 2>&1 | head -n 1
| error[E_USAGE]: --param and --weights change nothing in a form without the values of parameters

# Checkpoints need a folder.
$ tern train model.ail --checkpoint-every 3
! error[E_USAGE]: --checkpoint-every needs a folder for checkpoints
!    = hint: name one with --out or --resume
! 
? 2

# check takes the options of the verbs that run, in every language and in the reference's spelling.
$ echo '1 + 2' > a.mind; echo '1 [PRINT]' > a.nth
$ tern check model.ail a.mind a.nth --seed 3 --allow clock --allow fileread
| model.ail: ok
| a.mind: ok
| a.nth: ok
$ tern --validate a.mind --seed 3 --allow clock
| a.mind: ok
$ tern check a.nth --seed x 2>&1 | head -n 1
| error[E_USAGE]: --seed takes a whole number from 0 up, not x
