# An unknown verb is a usage error and names the nearest one.
$ tern trian model.ail
! error[E_USAGE]: there is no verb trian
!    = hint: did you mean tern train?
! 
? 2

# So is an unknown option.
$ tern run g.graph --sed 3
! error[E_USAGE]: there is no option --sed
!    = hint: did you mean --seed?
! 
? 2

# An option that belongs to another verb.
$ tern ops --as graph
! error[E_USAGE]: --as is not an option of tern ops
!    = hint: --as is for tern emit; `tern help ops` lists the options of tern ops
!
? 2

# Invalid values.
$ tern run g.graph --seed -1
! error[E_USAGE]: --seed takes a whole number from 0 up, not -1
!    = hint: --seed N: random seed; default 42
!
? 2
$ tern run g.graph --seed 18446744073709551616
! error[E_USAGE]: --seed takes a whole number below 2^64, not 18446744073709551616
!    = hint: --seed N: random seed; default 42
!
? 2
$ tern run g.graph --threads 0
! error[E_USAGE]: --threads takes a whole number from 1 up, not 0
!    = hint: --threads N: at most N threads; never changes a bit; default: one per usable core
!
? 2
$ tern run g.graph --max-mem lots
! error[E_USAGE]: --max-mem takes a size such as 512M, not lots
!    = hint: --max-mem SIZE: limit memory: bytes, or 512K, 64M, 2G
!
? 2
$ tern run g.graph --allow time
! error[E_USAGE]: there is no capability time; there are fileread, filewrite, clock, network, fileread=DIR and filewrite=DIR
!
? 2
$ tern run g.graph --color sometimes
! error[E_USAGE]: --color takes auto, always or never, not sometimes
!
? 2
$ tern run g.graph --seed
! error[E_USAGE]: --seed needs a value: --seed N
!    = hint: --seed N: random seed; default 42
!
? 2
$ tern run g.graph --input x
! error[E_USAGE]: --input takes NAME=VALUE, not x
!    = hint: --input NAME=VALUE: value of an input: JSON, or @file of .json, .npy or .npz:NAME; repeatable
!
? 2

# A missing file, and a name without a language.
$ tern run missing.graph
! error[E_USAGE]: cannot read missing.graph: no such file
!
? 2
$ : > program; tern ./program
! error[E_USAGE]: ./program: say the language with --lang ail|mind|ninth
!
? 2
$ tern run
! error[E_USAGE]: tern run needs a file: tern run FILE
!    = hint: such as `tern run model.ail --input x='[[1, 2]]'`; `tern help run` shows its options
!
? 2
$ tern run a.graph b.graph
! error[E_USAGE]: tern run takes one file; what is b.graph?
!    = hint: such as `tern run model.ail --input x='[[1, 2]]'`; `tern help run` shows its options
!
? 2

# With --json the mistake is an object on standard output, and standard error stays empty.
$ tern trian --json
| {"ok":false,"diagnostics":[{"code":"E_USAGE","severity":"error","phase":"parse","title":"there is no verb trian","fields":{"message":"there is no verb trian"},"span":null,"hint":"did you mean tern train?"}]}
? 2

# Also if --json follows the error.
$ tern check --bogus --json
| {"ok":false,"diagnostics":[{"code":"E_USAGE","severity":"error","phase":"parse","title":"there is no option --bogus","fields":{"message":"there is no option --bogus"},"span":null,"hint":"`tern help check` lists the options of tern check"}]}
? 2

# An instruction set that the machine cannot have.
$ TERN_ISA=abacus tern version
! error[E_USAGE]: TERN_ISA=abacus: this machine or this build does not have that instruction set
!    = hint: `tern doctor` lists the instruction sets of this machine
!
? 2

# A name has one value: no option is silently dropped.
$ printf 'model {\n  x [2]\n  param W [2]\n  y = x * W\n}\n' > twice.ail
$ tern run twice.ail --input x=[1,2] --input x=[3,4]
! error[E_USAGE]: --input x is given twice
!    = hint: a name has one value
!
? 2
$ tern run twice.ail --param W=[1,2] --input x=[1,2] --param W=[1,2] --json
| {"ok":false,"diagnostics":[{"code":"E_USAGE",<*>"title":"--param W is given twice",<*>}]}
? 2
$ tern run twice.ail --set a=1 --set a=1 2>&1 | head -n 1
| error[E_USAGE]: --set a is given twice
$ tern emit twice.ail --as graph --input x=[1,2] --input x=[1,2] 2>&1 | head -n 1
| error[E_USAGE]: --input x is given twice
$ printf 'x: Tensor[f32,(2)]\nx\n' > twice.mind; tern run twice.mind --input x=[1,2] --input x=[3,4] 2>&1 | head -n 1
| error[E_USAGE]: --input x is given twice
# One name may be an input and something else; Ninth takes inputs in their order, whatever their names.
$ tern run twice.ail --input x=[1,2] --param W=[2,3] | tail -n 1
| First 2 values: [2.0000, 6.0000]
$ printf '[INPUT] [PRINT] [INPUT] [PRINT] [INPUT] [PRINT]\n' > order.nth
$ tern run order.nth --input a=1 --input a=2 --input a=3
| 1
| 2
| 3

# check runs nothing, so that --set has nothing to set.
$ tern check twice.ail --set lr=0.1
! error[E_USAGE]: --set is not an option of tern check
!    = hint: --set is for tern run, tern eval, tern app, tern train; `tern help check` lists the options of tern check
!
? 2
