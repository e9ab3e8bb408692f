# A program imports only from its own folder: importing needs no capability.

$ mkdir -p clone/lib outside; printf 'SECRET = 12345\n' > outside/.env; printf 'root:x:0:0:root\n' > outside/passwd
$ printf 'fn twice(x: f64) -> f64 = 2.0 * x\n' > clone/lib/math.mind; cp clone/lib/math.mind outside/math.mind
$ printf 'import lib.math\nmath.twice(4.0)\n' > clone/good.mind; tern run clone/good.mind; (cd clone; tern run good.mind; tern run ./good.mind; tern run ../clone/good.mind)
| 8
| 8
| 8
| 8

# A link is not followed, whatever it leads to: a secret, a file of this project, a folder, a magic link.
$ ln -s ../outside/.env clone/env.mind; printf 'import env\nenv.SECRET\n' > clone/steal.mind
$ for words in run check 'emit --as graph' 'run --sandbox=require' 'run --json'; do tern $words clone/steal.mind > said 2>&1; echo $?; grep -c 12345 said; done
| 1
| 0
| 1
| 0
| 1
| 0
| 1
| 0
| 1
| 0
? 1
$ tern run clone/steal.mind
! error[E_FILE_IO_ERROR]: `clone/env.mind` cannot be read: symbolic_link
!   --> clone/steal.mind:1:8
!    |
!  1 | import env
!    |        ^^^
!    = path: clone/env.mind
!    = io_error_kind: symbolic_link
!    = hint: a module is a plain file below the program's folder; symbolic links are not followed
!
? 1
$ ln -s ../outside/passwd clone/users.mind; ln -s lib/math.mind clone/near.mind; ln -s ../outside clone/far; ln -s lib clone/same; ln -s /proc/self/root clone/magic; ln -s none clone/gone.mind
$ for module in users near far.math same.math magic.etc.passwd gone; do echo "import $module" > clone/a.mind; tern check clone/a.mind 2>&1 | grep -o '^error.*\|root:.*'; done
| error[E_FILE_IO_ERROR]: `clone/users.mind` cannot be read: symbolic_link
| error[E_FILE_IO_ERROR]: `clone/near.mind` cannot be read: symbolic_link
| error[E_FILE_IO_ERROR]: `clone/far/math.mind` cannot be read: symbolic_link
| error[E_FILE_IO_ERROR]: `clone/same/math.mind` cannot be read: symbolic_link
| error[E_FILE_IO_ERROR]: `clone/magic/etc/passwd.mind` cannot be read: symbolic_link
| error[E_FILE_IO_ERROR]: `clone/gone.mind` cannot be read: symbolic_link

# A module that is imported has no more rights than the program.
$ printf 'import deep.er\n' > clone/a.mind; mkdir -p clone/deep; printf 'import up.math\n' > clone/deep/er.mind; ln -s ../../outside clone/deep/up; tern check clone/a.mind 2>&1 | head -n 2
| error[E_FILE_IO_ERROR]: `clone/deep/up/math.mind` cannot be read: symbolic_link
|   --> clone/deep/er.mind:1:8

# FIFOs, devices and folders are refused at once; what is missing is missing.
$ mkfifo clone/pipe.mind; mkdir clone/folder.mind; for module in pipe folder none none.none good.none; do echo "import $module" > clone/a.mind; tern check clone/a.mind 2>&1 | head -n 1; done
| error[E_FILE_IO_ERROR]: `clone/pipe.mind` cannot be read: not_a_plain_file
| error[E_FILE_IO_ERROR]: `clone/folder.mind` cannot be read: is_a_directory
| error[E7001]: there is no module `none`
| error[E7001]: there is no module `none.none`
| error[E7001]: there is no module `good.none`

# The folder of the program may be reached through a link: the user has named it.
$ ln -s clone linked; tern run linked/good.mind
| 8

# Text from the command line, standard input and a session import from the current folder, by the same rules.
$ cd clone; tern eval 'import lib.math; math.twice(1.0)'; printf 'import lib.math\nmath.twice(3.0)\n' | tern run --lang mind -; printf 'import lib.math\nmath.twice(5.0)\nimport env\nimport pipe\n' | tern repl | grep -v '^ \|^$'
| 2
| 6
| 10
| error[E_FILE_IO_ERROR]: `env.mind` cannot be read: symbolic_link
| error[E_FILE_IO_ERROR]: `pipe.mind` cannot be read: not_a_plain_file
$ cd clone; printf 'import env\nenv.SECRET\n' | tern run --lang mind --sandbox=require - 2>&1 | grep -c 12345
| 0
? 1

# ---- programs ----

# What is wrong with a program is quoted, so a program that is a link must lead to a file named like one.
$ for name in demo.mind demo.nth demo.ail; do ln -s ../outside/passwd clone/$name; for verb in check run fmt 'emit --as graph'; do tern $verb clone/$name > said 2>&1; echo $? $(grep -c root: said); done; done | sort | uniq -c | tr -s ' '
|  12 2 0
$ tern check clone/demo.mind
! error[E_USAGE]: cannot read clone/demo.mind: it is a symbolic link to a file that is not named like a program
!    = hint: if that file is a program, name it itself, with --lang
!
? 2
$ tern check --lang mind clone/demo.mind 2>&1 | grep -c root:; ln -s demo.mind clone/again.mind; tern check clone/again.mind 2>&1 | grep -c root:
| 0
| 0
? 1
$ for lang in mind ninth ail; do echo ':load clone/demo.mind' | tern repl --lang $lang; done
| cannot read clone/demo.mind: it is a symbolic link to a file that is not named like a program
| cannot read clone/demo.mind: it is a symbolic link to a file that is not named like a program
| cannot read clone/demo.mind: it is a symbolic link to a file that is not named like a program
$ printf '1 + 2\n' > outside/sum.mind; ln -s ../outside/sum.mind clone/sum.mind; tern run clone/sum.mind; echo ':load clone/sum.mind' | tern repl
| 3
| 3
$ tern check --lang mind outside/passwd 2>&1 | grep -c root:
| 1

# Data is reported by its line and never quoted.
$ cat > clone/d.ail <<'END'
> model {
>   x [B, 2]
>   labels [B]
>   param W [2, 2]
>   logits = matmul(x, W)
> }
> train { loss = cross_entropy(logits, labels) steps = 3 lr = 0.1 }
> dataset { format = "jsonl" path = "outside/passwd" }
> END
$ tern train clone/d.ail --allow fileread > said 2>&1; grep '^error' said; sed 's/jsonl/tsv/' clone/d.ail > clone/t.ail; tern train clone/t.ail --allow fileread >> said 2>&1; ln -s ../outside/passwd clone/v.json; tern run clone/d.ail --input x=@clone/v.json >> said 2>&1; grep -c root: said
| error[<*>
| 0
? 1
