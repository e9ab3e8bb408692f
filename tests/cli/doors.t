# Every verb answers for every language, if only by saying that it cannot.
$ echo '1 + 2' > x.mind
$ echo '1 2 [ADD] [PRINT]' > x.nth
$ cat > x.ail <<'END'
> model {
>   x [2]
>   y = relu(x)
> }
> END
$ for f in x.mind x.nth x.ail; do
>   for v in run check fmt 'emit --as graph' 'emit --as grad' 'emit --as mlir' 'emit --as dot' train app; do
>     set -- $v
>     verb=$1; shift
>     tern $verb $f "$@" --json > out 2> err
>     [ $? -le 2 ] || echo "$verb $f ended with $?"
>     [ -s err ] && echo "$verb $f wrote to standard error"
>   done
> done; true
$ for l in mind ninth ail; do
>   echo ':quit' | tern repl --lang $l > out 2>&1
>   [ $? -le 2 ] || echo "repl $l ended with $?"
> done; true
