# A table, an array and a text become values; a header is skipped when its first cell is not a number.
$ printf 'age,income,kind\n1,2,cat\n3,4,dog\n5,6,cat\n' > t.csv
$ printf 'x\ty\n1\t2\n3\t4\n' > h.tsv
$ printf '1,2\n3,4\n' > n.csv
$ printf 'h\303\251llo' > s.txt
$ cat > read.nth <<'END'
> "h.tsv" [READ] [PRINT]
> "n.csv" [READ] [PRINT]
> "s.txt" [READ] [CHARS] ->> codes [PRINT]
> codes [TEXT] [PRINT]
> "t.csv" "age" [READ_COLUMNS] [PRINT]
> "t.csv" { "income" "age" } [LIST] [READ_COLUMNS] [PRINT]
> "n.csv" 1 [READ_COLUMNS] [PRINT]
> "n.csv" [1 0] [READ_COLUMNS] [PRINT]
> "t.csv" "kind" [READ_CLASSES] [PRINT] [PRINT]
> END
$ tern run read.nth --allow fileread
| ((1 2) (3 4))
| ((1 2) (3 4))
| (104 233 108 108 111)
| héllo
| (1 3 5)
| ((2 1) (4 3) (6 5))
| (2 4)
| ((2 1) (4 3))
| {cat dog}
| (0 1 0)
$ tern run read.nth --allow fileread=. | tail -1
| (0 1 0)

# Nothing is read without the capability, nor outside of the folders that were granted.
$ tern run read.nth
! error[E_CAPABILITY_DENIED]: the program may not read a file
!   --> read.nth:1:9
!    |
!  1 | "h.tsv" [READ] [PRINT]
!    |         ^^^^^^ needs capability FileRead
!    = capability: FileRead
!    = op: READ
!    = attempted_action: read a file
!    = hint: allow it with `--allow`: fileread=DIR or fileread for FileRead, filewrite=DIR or filewrite for FileWrite, clock for Clock
! 
? 1
$ mkdir sub
$ tern run read.nth --allow fileread=sub 2>&1 | head -1
| error[E_CAPABILITY_DENIED]: the program may not read a file: `h.tsv` is not beneath sub
$ tern check read.nth
| read.nth: ok

# An array of NumPy's, as f32.
$ printf '\223NUMPY\001\000\166\000' > a.npy
$ printf "%-117s\n" "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }" >> a.npy
$ printf '\001\000\002\000\003\000\004\000' >> a.npy
$ tern eval '"a.npy" [READ] [PRINT]' --lang ninth --allow fileread
| ((1 2) (3 4))
$ printf 'no array' > b.npy
$ tern eval '"b.npy" [READ]' --lang ninth --allow fileread 2>&1 | head -1
| error[E_FILE_CORRUPT]: `b.npy` is not a whole npy file: it is not an .npy file

# Errors in a file are reported with line and column.
$ printf '1,2\n3,x\n' > bad.csv
$ tern eval '"bad.csv" [READ]' --lang ninth --allow fileread 2>&1 | grep -v '^ *|'
| error[E_DATASET_SCHEMA_WRONG_TYPE]: `1` in line 2 of `bad.csv` is not a number
|   --> <eval>:1:11
|  1 | "bad.csv" [READ]
|    = path: bad.csv
|    = line: 2
|    = field: 1
|    = expected: a number
|    = received: x
|    = col: 3
|    = hint: found `x` at character 3 of the line
|
$ printf '1,x\n' > typo.csv
$ tern eval '"typo.csv" [READ]' --lang ninth --allow fileread 2>&1 | head -1
| error[E_DATASET_SCHEMA_WRONG_TYPE]: `1` in line 1 of `typo.csv` is not a number
$ printf 'a,b\n' > empty.csv
$ tern eval '"empty.csv" [READ]' --lang ninth --allow fileread 2>&1 | head -1
| error[E_DATASET_EMPTY]: the data set `empty.csv` has no rows
$ printf 'caf\351' > latin.txt
$ tern eval '"latin.txt" [READ]' --lang ninth --allow fileread 2>&1 | head -1
| error[E_FILE_INVALID_UTF8]: `latin.txt` is not UTF-8 text
$ tern eval '"none.csv" [READ]' --lang ninth --allow fileread 2>&1 | head -1
| error[E_FILE_NOT_FOUND]: there is no file `none.csv`
$ tern eval '"sub" [READ]' --lang ninth --allow fileread 2>&1 | head -1
| error[E_TYPE]: READ needs a path that ends in .csv, .tsv, .npy or .txt, and found sub
$ tern eval '"t.csv" "kinds" [READ_COLUMNS]' --lang ninth --allow fileread 2>&1 | grep -e error -e hint
| error[E_DATASET_SCHEMA_MISSING_FIELD]: line 1 of `t.csv` has no `kinds`
|    = hint: did you mean `kind`?
$ tern eval '"n.csv" 0.5 [READ_COLUMNS]' --lang ninth --allow fileread 2>&1 | head -1
| error[E_INDEX_OUT_OF_RANGE]: index 0 in READ_COLUMNS is outside [0, 65536)
$ tern eval '"t.csv" { } [LIST] [READ_COLUMNS]' --lang ninth --allow fileread 2>&1 | head -1
| error[E_TYPE]: READ_COLUMNS needs at least one column, and found list
$ tern eval '"t.csv" { "age" "kind" } [LIST] [READ_CLASSES]' --lang ninth --allow fileread 2>&1 | head -1
| error[E_TYPE]: READ_CLASSES needs one column, and found list
$ tern eval '"t.csv" [READ_COLUMNS]' --lang ninth --allow fileread 2>&1 | grep -e error -e hint
| error[E_STACK_UNDERFLOW]: READ_COLUMNS takes 2 from a stack of 1
|    = hint: its stack effect is `path columns -- x`: push what it needs first; [PEEK] shows the top and [DEPTH] counts

# Rows in an order of the generator: the same for a seed, another for the next call, each row once.
$ tern eval '10 4 [BATCHES] [PRINT] 10 4 [BATCHES] [PRINT]' --lang ninth
| {(0 3 5 7) (9 4 8 1) (6 2)}
| {(0 3 8 2) (5 7 4 6) (9 1)}
$ tern eval '10 4 [BATCHES] [PRINT]' --lang ninth --seed 7 | grep -c '(0 3 5 7)'
| 0
? 1
$ tern eval '1000 32 [BATCHES] ->> b [LENGTH] [PRINT] b 0 [CONCAT] 1000 [ONE_HOT] 0 [SUM_AXIS] ->> n [MIN] [PRINT] n [MAX] [PRINT]' --lang ninth
| 32
| 1
| 1
$ tern eval '0 4 [BATCHES] [PRINT]' --lang ninth
| {}
$ tern eval '5 0 [BATCHES]' --lang ninth 2>&1 | head -1
| error[E_SHAPE_MISMATCH]: shape [0] has no rows in BATCHES

# Parameters are written and read back by their paths.
$ cat > save.nth <<'END'
> "nn" [USE]
> "Stack" [MODULE]
>   [INIT] { 2 2 {Linear} 1 2 {Linear} } [LIST] -> @layers [RET]
> [END_MODULE]
> {Stack} -> net
> net "w.safetensors" [SAVE]
> net "layers" [STATE] 0 [INDEX] "W" [STATE] -> W
> W [DETACH] -> before
> W 1 (5 6) [SUB_ASSIGN_GRAD]
> W before [EQ] [MAX] [PRINT]
> net "w.safetensors" [LOAD_WEIGHTS]
> W before [EQ] [MIN] [PRINT]
> END
$ tern run save.nth --allow fileread --allow filewrite
| 0
| 1
$ head -c 400 w.safetensors | grep -ao '"layers[^"]*"'
| "layers.0.W"
| "layers.0.b"
| "layers.1.W"
| "layers.1.b"
$ sha256sum < w.safetensors > first; tern run save.nth --allow fileread=. --allow filewrite=. > again; sha256sum < w.safetensors | cmp - first

# All of them or none: names, shapes and dtypes must agree.
$ tern eval '"nn" [USE] 1 2 {Linear} ->> l "w.safetensors" [LOAD_WEIGHTS]' --lang ninth --allow fileread 2>&1 | grep -v '^ *|'
| error[E_WEIGHTS_MISMATCH]: the weights do not fit parameter `W`
|   --> <eval>:1:47
|  1 | "nn" [USE] 1 2 {Linear} ->> l "w.safetensors" [LOAD_WEIGHTS]
|    = name: W
|    = expected: f32[2 1]
|    = received: no tensor of this name
|    = hint: weights fit the program they were trained with; compare its parameters with the file's
|
$ tern eval '{ } [LIST] "w.safetensors" [LOAD_WEIGHTS]' --lang ninth --allow fileread 2>&1 | grep -e expected
|    = expected: no parameter of this name
$ tern eval '{ { (1 2 3) [VAR] } [LIST] } [LIST] "x.safetensors" [SAVE] { { (1 2) [VAR] } [LIST] } [LIST] "x.safetensors" [LOAD_WEIGHTS]' --lang ninth --allow fileread --allow filewrite 2>&1 | grep -e name: -e expected -e received
|    = name: 0.0
|    = expected: f32[2]
|    = received: f32[3]
$ printf 'nothing' > broken.safetensors
$ tern eval '{ } [LIST] "broken.safetensors" [LOAD_WEIGHTS]' --lang ninth --allow fileread 2>&1 | head -1
| error[E_FILE_CORRUPT]: `broken.safetensors` is not a whole safetensors file: <*>

# Nothing is written without the capability, nor outside of the folders that were granted.
$ tern eval '{ } [LIST] "y.safetensors" [SAVE]' --lang ninth --allow fileread 2>&1 | head -1
| error[E_CAPABILITY_DENIED]: the program may not write a file
$ tern eval '{ } [LIST] "y.safetensors" [SAVE]' --lang ninth --allow filewrite=sub 2>&1 | grep -e error -e hint
| error[E_CAPABILITY_DENIED]: the program may not write a file: `y.safetensors` is not beneath sub
|    = hint: `--allow filewrite=DIR` grants a folder, and may be repeated
$ tern eval '{ } [LIST] "sub/../y.safetensors" [SAVE]' --lang ninth --allow filewrite=sub 2>&1 | head -1
| error[E_CAPABILITY_DENIED]: the program may not write a file: `sub/../y.safetensors` is not beneath sub
$ test ! -e y.safetensors
$ tern eval '{ } [LIST] "sub/y.safetensors" [SAVE]' --lang ninth --allow filewrite=sub
$ tern eval '{ } [LIST] "none/y.safetensors" [SAVE]' --lang ninth --allow filewrite 2>&1 | head -1
| error[E_FILE_WRITE]: `none/y.safetensors` cannot be written: no such file
$ tern eval '{ } [LIST] "y.bin" [SAVE]' --lang ninth --allow filewrite 2>&1 | head -1
| error[E_TYPE]: SAVE needs a path that ends in .safetensors, and found y.bin
$ tern eval '5 "y.safetensors" [SAVE]' --lang ninth --allow filewrite 2>&1 | head -1
| error[E_TYPE]: SAVE needs instance or list, and found tensor

# Weights loaded by a session line are restored when the line fails.
$ printf '{ (1 2) [VAR] } [LIST] -> l\nl "z.safetensors" [SAVE]\nl 0 [INDEX] 1 (9 9) [SUB_ASSIGN_GRAD]\nl "z.safetensors" [LOAD_WEIGHTS] [ADD]\nl 0 [INDEX]\n' | tern repl --lang ninth --allow fileread --allow filewrite 2>&1 | tail -1
| stack: (-8 -7)
