# Tables, arrays and bytes from files; weights to files and back.
$ printf 'a,b\n1,2\n3,4.5\n' > t.csv
$ printf '1\t2\n' > t.tsv
$ printf 'h\303\251' > t.txt
$ printf '\223NUMPY\001\000\166\000' > a.npy
$ printf "%-117s\n" "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }" >> a.npy
$ printf '\000\000\200\077\000\000\000\100' >> a.npy
$ cat > files.mind <<'END'
> print(read_csv("t.csv"), read_csv("t.tsv"), read_bytes("t.txt"))
> let x: Tensor[f32,(1,2)] = read_npy("a.npy", 2)
> fn table(path: string) -> Tensor[f32,(N,M)] !fileread = read_csv(path)
> print(x, sum(table("t.csv")), mean(read_csv("t.csv"), axes=0))
> END
$ tern run files.mind --allow fileread
| Tensor[f32,(2,2)] [[1, 2], [3, 4.5]] Tensor[f32,(1,2)] [[1, 2]] Tensor[i32,(3)] [104, 195, 169]
| Tensor[f32,(1,2)] [[1, 2]] Tensor[f32,()] 10.5 Tensor[f32,(2)] [2, 3.25]

# Each needs its capability.
$ tern run files.mind 2>&1 | head -1
| error[E_CAPABILITY_DENIED]: the program may not read file from filesystem
$ mkdir d
$ tern run files.mind --allow fileread=d 2>&1 | head -1
| error[E_CAPABILITY_DENIED]: the program may not read file from filesystem: `t.csv` is not beneath d

# Errors in a file are reported with their line.
$ printf 'a,b\n1,x\n' > bad.csv
$ tern eval 'read_csv("bad.csv")' --allow fileread 2>&1 | head -1
| error[E_DATASET_SCHEMA_WRONG_TYPE]: `b` in line 2 of `bad.csv` is not a number
$ tern eval 'read_csv("a.npy")' --allow fileread 2>&1 | head -1
| error[E2001]: expected a path that ends in .csv or .tsv, got a.npy
$ tern eval 'read_csv("no.csv")' --allow fileread 2>&1 | head -1
| error[E_FILE_NOT_FOUND]: there is no file `no.csv`
$ tern eval 'read_npy("t.csv", 1)' --allow fileread 2>&1 | head -1
| error[E_FILE_CORRUPT]: `t.csv` is not a whole npy file: it is not an .npy file
$ tern eval 'read_npy("a.npy", 1)' --allow fileread 2>&1 | head -1
| error[E2102]: expected shape [UNK], got [1, 2]
$ tern eval 'read_npy("a.npy", 2, i32)' --allow fileread 2>&1 | head -1
| error[E2006]: read_npy needs i32, and got f32
$ tern eval 'read_npy("a.npy", 9)' --allow fileread 2>&1 | head -1
| error[E_RANK_LIMIT]: a tensor has at most 8 dimensions
$ : > empty.txt
$ tern eval 'read_bytes("empty.txt")' --allow fileread 2>&1 | head -1
| error[E2105]: shape [0] has a dimension of size 0
$ tern emit files.mind --as graph --allow fileread 2>&1 | head -1
| error[E_UNSUPPORTED]: reading a file in a graph is not supported here

# Weights are saved under the names of their variables, and loaded for them.
$ cat > weights.mind <<'END'
> let W = [[1, 2], [3, 4]]
> let state = (0.5, ([7], W * 2.0))
> save("w.safetensors", [W, state])
> W = W * 0.0
> let (A, B) = load("w.safetensors", [W, state])
> print(A, B, load("w.safetensors", W))
> print(grad(sum(A * A), wrt=[A]))
> END
$ tern run weights.mind --allow fileread --allow filewrite
| Tensor[f32,(2,2)] [[1, 2], [3, 4]] (0.5, (Tensor[f32,(1)] [7], Tensor[f32,(2,2)] [[2, 4], [6, 8]])) Tensor[f32,(2,2)] [[1, 2], [3, 4]]
| grad{ A: Tensor[f32,(2,2)] [[2, 4], [6, 8]] }
$ tern run weights.mind --allow fileread 2>&1 | head -1
| error[E_CAPABILITY_DENIED]: the program may not write a file
$ tern run weights.mind --allow fileread --allow filewrite=d 2>&1 | head -1
| error[E_CAPABILITY_DENIED]: the program may not write a file: `w.safetensors` is not beneath d
$ printf 'let V = [1]\nload("w.safetensors", V)\n' > other.mind
$ tern run other.mind --allow fileread 2>&1 | grep -E '^error|needs'
| error[E_WEIGHTS_MISMATCH]: the weights do not fit parameter `V`
|    | ^^^^^^^^^^^^^^^^^^^^^^^^ needs f32[1], the file has no tensor of this name
$ printf 'let W = [1]\nload("w.safetensors", W)\n' > other.mind
$ tern run other.mind --allow fileread 2>&1 | grep needs
|    | ^^^^^^^^^^^^^^^^^^^^^^^^ needs f32[1], the file has f32[2, 2]
$ printf 'let W = [1]\nload("t.csv", W)\n' > other.mind
$ tern run other.mind --allow fileread 2>&1 | head -1
| error[E2001]: expected a path that ends in .safetensors, got t.csv
$ printf 'no weights' > x.safetensors
$ printf 'let W = [1]\nload("x.safetensors", W)\n' > other.mind
$ tern run other.mind --allow fileread 2>&1 | head -1 | cut -c 1-55
| error[E_FILE_CORRUPT]: `x.safetensors` is not a whole s

# Mistakes that no run is needed for.
$ printf 'save("w.safetensors", [1])\nsave("w.safetensors", [])\nsave(3, [x])\nlet f = |x| x\nsave("w.safetensors", f)\nlet y = 1\nsave(3, y)\nread_npy("a.npy", shape([1])[0] - 1)\nfn g(y: f32) -> () = save("w.safetensors", y)\n' > wrong.mind
$ tern check wrong.mind 2>&1 | grep '^error'
| error[E2001]: expected the name of a variable, got i32
| error[E2001]: expected names that are written out, as in `[W, b]`, got none
| error[E2002]: there is nothing named `x` here
| error[E2001]: expected a number, a tensor or a tuple of them, got fn
| error[E2001]: expected a string, got i32
| error[E8001]: `save` has effect filewrite, which the enclosing function does not declare
