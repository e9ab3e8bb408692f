# NumPy arrays as a data set. make.py writes them as numpy.save and numpy.savez do.
$ cat > make.py <<'TEXT'
> import struct, sys, zipfile
> def npy(kind, shape, numbers):
>     head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (kind, repr(tuple(shape)))
>     head += " " * (63 - (10 + len(head)) % 64) + "\n"
>     code = {"<f4": "f", "<f8": "d", "<i8": "q", "|u1": "B", "|b1": "?"}[kind]
>     return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%d%s" % (len(numbers), code), *numbers)
> def npz(path, **arrays):
>     with zipfile.ZipFile(path, "w") as archive:
>         for name, array in arrays.items(): archive.writestr(name + ".npy", npy(*array))
> x = [(i * 7 % 11) / 4 for i in range(40)]
> y = [int(x[2 * i] > x[2 * i + 1]) for i in range(20)]
> npz("a.npz", x=("<f8", [20, 2], x), labels=("<i8", [20], y))
> npz("b.npz", pairs=("<f4", [20, 1, 2], x), answers=("|u1", [20, 1], y), more=("|b1", [1], [True]))
> npz("new.npz", x=("<f4", [3, 2], [2, 0, 0, 2, 1, 0.5]))
> npz("many.npz", x=("<f4", [2500, 2], [2, 0, 0, 2] * 1250))
> npz("rows.npz", x=("<f8", [20, 2], x), labels=("<i8", [19], y[:19]))
> npz("shape.npz", x=("<f8", [10, 4], x), labels=("<i8", [10], y[:10]))
> npz("real.npz", x=("<f8", [20, 2], x), labels=("<f8", [20], y))
> npz("nan.npz", x=("<f8", [20, 2], x[:39] + [float("nan")]), labels=("<i8", [20], y))
> npz("wide.npz", x=("<f8", [20, 2], x), labels=("<i8", [20], y[:19] + [1 << 40]))
> npz("class.npz", x=("<f8", [20, 2], x), labels=("<i8", [20], y[:19] + [2]))
> npz("empty.npz", x=("<f8", [0, 2], []), labels=("<i8", [0], []))
> npz("scalar.npz", x=("<f8", [], [1]), labels=("<i8", [20], y))
> open("x.npy", "wb").write(npy("<f4", [20, 2], x))
> open("a.csv", "w").write("a,b,labels\n" + "".join("%r,%r,%d\n" % (x[2 * i], x[2 * i + 1], y[i]) for i in range(20)))
> TEXT
$ python3 make.py
$ cat > a.ail <<'TEXT'
> model {
>   x [B, 2]
>   labels [B]
>   param W [2, 2]
>   logits = matmul(x, W)
> }
> train {
>   loss = xent(logits, labels)
>   steps = 40
>   lr = 0.5
> }
> dataset {
>   format = "npz"
>   path = "a.npz"
>   normalize = [x]
>   shuffle = true
>   split = 0.75
> }
> eval {
>   metrics = [accuracy]
> }
> TEXT
$ tern fmt a.ail && tern train a.ail --allow fileread --out npz -q > log

# The numbers of a CSV file give the same model, to the bit; so do other names, other dtypes and other shapes of
# a row.
$ sed -e 's/npz/csv/g' -e 's/normalize/x = ["a", "b"]\n  normalize/' a.ail > c.ail
$ tern train c.ail --allow fileread --out csv -q > log && cmp npz/weights.safetensors csv/weights.safetensors
$ sed -e 's/a\.npz/b.npz/' -e 's/normalize/x = "pairs"\n  labels = "answers"\n  normalize/' a.ail > b.ail
$ tern train b.ail --allow fileread --out other -q > log && cmp npz/weights.safetensors other/weights.safetensors
$ tern verify npz --allow fileread
| verified: every step, the history and the weights agree in every bit

# Predictions and metrics for other files; the labels may be missing. Rows are processed in chunks.
$ tern predict npz new.npz | cut -c 1
| 1
| 0
| 1
$ tern predict npz --input x='[[2, 0]]' > one; tern predict npz new.npz | head -n 1 | cmp - one
$ tern predict npz many.npz | sort | uniq -c | sed 's/^ *//;s/\..*//'
| 1250 0 0
| 1250 1 0
$ tern evaluate npz a.npz | head -n 1
| rows = 20

# A file of one array feeds one input.
$ cat > n.ail <<'TEXT'
> model { x [B, 2] param W [2, 2] y = matmul(x, W) }
> train { loss = mse_loss(y, x) steps = 200 lr = 0.2 }
> dataset { format = "npy" path = "x.npy" }
> TEXT
$ tern train n.ail --allow fileread --out npy -q > log && tern predict npy x.npy -o y.npy && python3 - <<'TEXT'
> import struct
> read = lambda path: struct.unpack("<40f", open(path, "rb").read()[-160:])
> print(max(abs(a - b) for a, b in zip(read("x.npy"), read("y.npy"))) < 1e-3)
> TEXT
| True

# ---- what is refused: one diagnostic each, with the array and what is wrong with it ----
$ for f in rows shape real nan wide scalar new; do
>   sed "s/a\.npz/$f.npz/" a.ail > w.ail; tern train w.ail --allow fileread 2>&1 | grep '^error'
> done
| error[E_DATASET_ARRAY]: the array `labels` of `rows.npz` has another number of rows than the arrays before it: 19
| error[E_DATASET_ARRAY]: the array `x` of `shape.npz` has the shape [10, 4], and the input is [B, 2]
| error[E_DATASET_ARRAY]: the array `labels` of `real.npz` holds numbers with a fraction, and the input takes integers
| error[E_DATASET_ARRAY]: the array `x` of `nan.npz` has NaN, an infinity or a number beyond f32 in row 20
| error[E_DATASET_ARRAY]: the array `labels` of `wide.npz` has a number beyond 32 bits in row 20
| error[E_DATASET_ARRAY]: the array `x` of `scalar.npz` is a single number, without rows
| error[E_DATASET_ARRAY]: the array `labels` of `new.npz` is not in the archive
$ sed "s/a\.npz/class.npz/" a.ail > w.ail; tern train w.ail --allow fileread 2>&1 | grep '^error'
| error[E_DATASET_LABEL_OUT_OF_RANGE]: label 2 in line 20 of `class.npz` is not one of the 2 classes
$ sed "s/a\.npz/empty.npz/" a.ail > w.ail; tern train w.ail --allow fileread 2>&1 | grep '^error'
| error[E_DATASET_EMPTY]: the data set `empty.npz` has no rows
$ head -c 300 a.npz > cut.npz; sed "s/a\.npz/cut.npz/" a.ail > w.ail; tern train w.ail --allow fileread 2>&1 | grep '^error'
| error[E_FILE_CORRUPT]: `cut.npz` is not a whole npz file: <*>
$ tern predict npz shape.npz 2>&1 | grep '^error'
| error[E_DATASET_ARRAY]: the array `x` of `shape.npz` has the shape [10, 4], and the input is [B, 2]
$ sed 's/x\.npy"/x.npy" x = "a"/' n.ail > w.ail; tern check w.ail 2>&1 | grep '^error'
| error[E_SYNTAX_ERROR]: an npy file is one array, which has no name
$ sed 's/npz/npy/' a.ail > w.ail; tern check w.ail 2>&1 | grep '^error'
| error[E_SYNTAX_ERROR]: an npy file is one array, which feeds one input: several arrays are an npz file
$ sed 's/normalize.*/header = true/' a.ail > w.ail; tern check w.ail 2>&1 | grep '^error'
| error[E_SYNTAX_ERROR]: `header` is not a field of the dataset block
$ sed 's/normalize.*/x = 3/' a.ail > w.ail; tern check w.ail 2>&1 | grep '^error'
| error[E_SYNTAX_ERROR]: arrays have names: "images"
