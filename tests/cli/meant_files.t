# A missing program: a similar file beside it is suggested.
$ cat > topics.ail <<'END'
> model {
>   x [B, 2]
>   labels [B]
>   param W [2, 2]
>   logits = matmul(x, W)
> }
> train {
>   loss = xent(logits, labels)
>   steps = 2
> }
> dataset {
>   format = "tsv"
>   path = "d.tsv"
> }
> END
$ tern run topcs.ail
! error[E_USAGE]: cannot read topcs.ail: no such file
!    = hint: did you mean `topics.ail`?
! 
? 2
$ tern run ./topics.mind
! error[E_USAGE]: cannot read ./topics.mind: no such file
!    = hint: did you mean `./topics.ail`?
! 
? 2
$ tern run elsewhere/x.ail
! error[E_USAGE]: cannot read elsewhere/x.ail: no such file
!
? 2

# A code by a part of it, and fields of the train block as options.
$ tern explain E_SHAPE
! error[E_USAGE]: there is no code E_SHAPE
!    = hint: did you mean E_SHAPE_MISMATCH?
! 
? 2
$ tern train topics.ail --lr 0.1
! error[E_USAGE]: there is no option --lr
!    = hint: `lr` is a field of the train block; --set lr=VALUE replaces it for one run
! 
? 2
$ tern train topics.ail --batch-size=3
! error[E_USAGE]: there is no option --batch-size=3
!    = hint: `batch` is a field of the train block; --set batch=VALUE replaces it for one run
! 
? 2
$ tern run topics.ail --lr 0.1 2>&1 | head -1
| error[E_USAGE]: there is no option --lr

# A column too many: the line of the data and the line of the program.
$ printf '1\t2\t0\n3\t4\t1\n3\t4\t1\t7\n' > d.tsv
$ tern train topics.ail --allow fileread 2>&1 >out.txt
| error[E_DATASET_DIM_MISMATCH]: row length 3 in line 3 of `d.tsv`, where `x` takes 2
|    --> topics.ail:13:10
|     |
|  13 |   path = "d.tsv"
|     |          ^^^^^^^
|     = path: d.tsv
|     = line: 3
|     = expected_T: 2
|     = received_T: 3
|     = input: x
|     = hint: declare `x` as long as the rows are, or choose other columns in the dataset block
| note: `x` is declared here
|    --> topics.ail:2:3
|     |
|   2 |   x [B, 2]
|     |   ^
| 
? 1

# A line of names is recognised where it can only be that: at the top.
$ printf 'a\tb\tlabel\n1\t2\t0\n' > d.tsv
$ tern train topics.ail --allow fileread 2>&1 >out.txt | tail -2
|     = hint: if this line names the columns, remove it, or read the file as a table: `header = true`
|
$ printf '1\t2\t0\na\tb\tlabel\n' > d.tsv
$ tern train topics.ail --allow fileread 2>&1 >out.txt | tail -2
|     = hint: a row is numbers, separated by tabs or by commas within a column, with the label last
| 

# Weights of another model: what the file holds, once.
$ printf '1\t2\t0\n3\t4\t1\n' > d.tsv
$ tern train topics.ail --allow fileread --out run -q > out.txt
$ sed 's/param W \[2, 2\]/param U [2, 3]\n  param V [3, 2]/; s/matmul(x, W)/matmul(matmul(x, U), V)/' topics.ail > other.ail
$ tern run other.ail --weights run/weights.safetensors
! error[E_WEIGHTS_MISMATCH]: the weights do not fit parameter `U`
!   --> other.ail:4:9
!    |
!  4 |   param U [2, 3]
!    |         ^ needs f32[2, 3], the file has no tensor of this name
!    = name: U
!    = expected: f32[2, 3]
!    = received: no tensor of this name
!    = hint: the file holds W f32[2, 2]; weights fit the program they were trained with
! 
? 1

# A folder that is not a run.
$ mkdir empty
$ for verb in "predict empty d.tsv" "verify empty" "train topics.ail --allow fileread --resume empty"; do
>   tern $verb 2>&1 > out.txt | grep hint
> done
|    = hint: a run is the folder that `tern train --out` made
|    = hint: a run is the folder that `tern train --out` made
|    = hint: a run is the folder that `tern train --out` made

# A missing data file, weights or text: a similar name is suggested.
$ sed 's/d.tsv/dd.tsv/' topics.ail > far.ail
$ tern train far.ail --allow fileread 2>&1 | grep -E 'error|hint'
| error[E_FILE_NOT_FOUND]: there is no file `dd.tsv`
|     = hint: did you mean `d.tsv`?
$ tern predict run d2.tsv 2>&1 | grep -E 'error|hint'
| error[E_FILE_NOT_FOUND]: there is no file `d2.tsv`
|    = hint: did you mean `d.tsv`?
$ tern eval 'read_csv("d3.tsv")' --allow fileread 2>&1 | grep -E 'error|hint'
| error[E_FILE_NOT_FOUND]: there is no file `d3.tsv`
|    = hint: did you mean `d.tsv`?
$ tern eval '"dx.tsv" [READ]' --lang ninth --allow fileread 2>&1 | grep -E 'error|hint'
| error[E_FILE_NOT_FOUND]: there is no file `dx.tsv`
|    = hint: did you mean `d.tsv`?
$ tern eval 'read("nothing_like_it.json")' --allow fileread 2>&1 | grep -E 'error|hint'
| error[E_FILE_NOT_FOUND]: there is no file `nothing_like_it.json`
|    = hint: paths are relative to the current folder
