# A million steps of training, and a hundred thousand instances created and freed, within one megabyte.
$ cat > steps.nth <<'END'
> (0.5 1 2) [VAR] -> w
> 1000000 [REPEAT]
>   w 3 [SUB] [DUP] [MUL] [SUM] [BACKWARD]
>   w 0.01 w [GRAD] [SUB_ASSIGN_GRAD]
>   w [ZERO_GRAD]
> [END]
> w [PRINT]
> END
$ tern run steps.nth --max-mem 1M
| (2.9999943 2.9999943 2.9999943)

$ cat > instances.nth <<'END'
> "M" [MODULE]
>   [INIT] -> n [n 20] [ZEROS] [VAR] -> @W [RET]
>   [FORWARD] @W [MATMUL] [RET]
> [END_MODULE]
> 0 -> total
> 100000 [REPEAT]
>   3 {M} -> m
>   [2 3] [ONES] m [CALL] [TANH] [SUM] [BACKWARD]
>   m [PARAMS] { [GRAD] [SUM] [DROP] } [FOREACH]
>   [5 total] [DROP] "name" [DROP] { total } [DROP]
>   m "kept" [STORE]
>   total 1 [ADD] -> total
> [END]
> total [PRINT]
> END
$ tern run instances.nth --max-mem 1M
| 100000
