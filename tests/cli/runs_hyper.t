# Hyperparameters are columns of the history: shown where runs differ, filtered, ordered and compared.
$ cat > net.ail <<'END'
> const HIDDEN = 4
> const RATE = 0.1
>
> model {
>   x [B, 2]
>   param W [2, HIDDEN]
>   y = mean(matmul(x, W))
> }
>
> train {
>   loss = y * y
>   lr = RATE
>   steps = 3
> }
> END
$ sed 's/HIDDEN = 4/HIDDEN = 2 * 8/; s/steps = 3/steps = 4\n  schedule = "cosine"/' net.ail > other.ail
$ tern train net.ail --out a -q > log
$ tern train net.ail --out b -q --set HIDDEN=8 --set RATE=0.50 --set optimizer=momentum > log
$ tern train other.ail --out c -q --set batch=2 > log
$ tern runs --json | grep -o '"hyperparameters":{[^}]*}'
| "hyperparameters":{"lr":0.1,"batch":2,"optimizer":"sgd","schedule":"cosine","min_lr":0,"HIDDEN":16,"RATE":0.1}
| "hyperparameters":{"lr":0.5,"batch":4,"optimizer":"momentum","momentum":0.9,"schedule":"constant","HIDDEN":8,"RATE":0.5}
| "hyperparameters":{"lr":0.1,"batch":4,"optimizer":"sgd","schedule":"constant","HIDDEN":4,"RATE":0.1}

# A column for each in which two runs of the list differ. What only one run has is not compared with anything.
$ tern runs | sed 's/20[0-9-]* [0-9:]*/WHEN/; s/[0-9.]* s /TIME /; s/  */ /g; s/^ //'
| run started program status steps loss accuracy time seed lr batch optimizer schedule HIDDEN RATE weights
| 3 WHEN other.ail completed 4/4 <*> - TIME 42 0.1 2 sgd cosine 16 0.1 <*>
| 2 WHEN net.ail completed 3/3 <*> - TIME 42 0.5 4 momentum constant 8 0.5 <*>
| 1 WHEN net.ail completed 3/3 <*> - TIME 42 0.1 4 sgd constant 4 0.1 <*>
$ tern runs --where program=net.ail --where optimizer=sgd | head -n 1 | grep -c lr
| 0
? 1

# Numbers are compared as numbers; a run without that name does not match, and comes last.
$ ids() { grep -o '"id":[0-9]*' | tr -d '"id:' | xargs; }
> tern runs --where lr=0.10 --json | ids
> tern runs --where lr=0.10 --where HIDDEN=16.0 --json | ids
> tern runs --where optimizer=momentum --json | ids
> tern runs --where momentum=0.9 --json | ids
> tern runs --where optimizer=0.9 --json | ids
> tern runs --sort HIDDEN --json | ids
> tern runs --sort -HIDDEN --limit 2 --json | ids
> tern runs --sort momentum --json | ids
> tern runs --sort -lr --json | ids
> tern runs --sort optimizer --where status=completed --limit 2 --json | ids
| 3 1
| 3
| 2
| 2
|
| 1 2 3
| 3 2
| 2 1 3
| 2 3 1
| 2 1

# Other relations, as the board reads them: numbers by value, texts as texts, in upper or lower case.
$ ids() { grep -o '"id":[0-9]*' | tr -d '"id:' | xargs; }
> tern runs --where 'lr<0.5' --json | ids
> tern runs --where 'lr<=0.5' --where 'HIDDEN>4' --json | ids
> tern runs --where 'HIDDEN>=10' --json | ids
> tern runs --where 'optimizer!=SGD' --json | ids
> tern runs --where 'momentum!=0.5' --json | ids
> tern runs --where 'steps>3' --json | ids
> tern runs --where 'program<o' --where 'program!=net.ail' --json | ids
> tern runs --where 'program>n' --where 'run>=2' --json | ids
> tern runs --where 'started<2020' --json | ids
> tern runs --where 'loss<1e9' --sort -time --json | ids | wc -w
| 3 1
| 3 2
| 3
| 2
| 2
| 3
|
| 3 2
|
| 3

# A column of numbers is compared with a number.
$ tern runs --where 'loss<low'
! error[E_USAGE]: loss is compared with a number
! ...
? 2
$ tern runs --where accuracy= --json
! ...
| {"ok":false,<*>accuracy is compared with a number<*>
? 2
$ tern runs --where 'hiden<8'
! error[E_USAGE]: a run has no hiden
!    = hint: did you mean HIDDEN?
!
? 2

# A name that no run has is refused everywhere.
$ tern runs --where hiden=8
! error[E_USAGE]: a run has no hiden
!    = hint: did you mean HIDDEN?
!
? 2
$ tern runs --sort -optimiser
! error[E_USAGE]: a run has no optimiser
!    = hint: did you mean optimizer?
!
? 2
$ tern runs --where dropout=8
! error[E_USAGE]: a run has no dropout
!    = hint: columns: id, started, <*>, source; and the hyperparameters of the runs
!
? 2
$ tern train net.ail --set hiden=8
! error[E_USAGE]: --set hiden: the train block has no such field, and the program no such const
! ...
? 2
$ tern train net.ail --sweep hiden=8,16 --out s
! error[E_USAGE]: --set hiden: the train block has no such field, and the program no such const
! ...
? 2

# Two runs of one program: what --set gave them explains their bits.
$ tern runs compare a b | grep -v -E '^(loss|seconds|folder|weights_sha256)'
| lr             0.1 | 0.5
| optimizer      sgd | momentum
| HIDDEN         4 | 8
| RATE           0.1 | 0.5
| momentum       - | 0.9
| the losses differ from step 0 on: <*> | <*>
| the weights differ
$ tern runs compare a b --json | grep -o '"hyperparameters":.*"same_origin":false'
| "hyperparameters":{"lr":[0.1,0.5],"optimizer":["sgd","momentum"],"HIDDEN":[4,8],"RATE":[0.1,0.5],"momentum":[null,0.9]},"source":[],"first_different_step":0,"same_origin":false

# Two programs: the lines that only one of them has, as few as diff finds.
$ tern runs compare a c | sed -n '/^batch/,/^the losses/p'
| batch          4 | 2
| schedule       constant | cosine
| HIDDEN         4 | 16
| min_lr         - | 0
| @@ line 1 | line 1
| - const HIDDEN = 4
| + const HIDDEN = 2 * 8
| @@ line 13 | line 13
| -   steps = 3
| +   steps = 4
| +   schedule = "cosine"
| the losses differ from step 0 on: <*> | <*>
$ diff -d net.ail other.ail | grep -c '^[<>]'
| 5
$ tern runs compare c a --json | grep -o '"source":\[.*\],"first' | tr '{' '\n' | tail -n 3
| "run":0,"line":13,"text":"  steps = 4"},
| "run":0,"line":14,"text":"  schedule = \"cosine\""},
| "run":1,"line":13,"text":"  steps = 3"}],"first

# A resumed run has what it is resumed with; the same run again differs in nothing.
$ tern train net.ail --resume b --steps 5 -q > log; tern runs show b | grep -E '^(steps|RATE)'
| steps          5
| RATE           0.5
$ tern train net.ail --out d -q > log; tern runs compare a d --json | grep -o '"hyperparameters":.*'
| "hyperparameters":{},"source":[],"first_different_step":null,"same_origin":true,"same_weights":true}}
