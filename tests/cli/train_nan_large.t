# No copy is kept of large parameters: the step that fails is found before it changes them.
$ cat > large.ail <<'END'
> model {
>   x [B, 2]
>   param W [2]
>   param E [2900000, 2] init zeros
>   y = sum(log(x * W)) + mean(E)
> }
> train {
>   loss = y
>   steps = 3
>   optimizer = "adamw"
> }
> END
$ tern train large.ail --param W=[-1,1] --input 'x=[[1,2],[3,4]]' --quiet 2> said.txt; echo $?; grep -e '^error' -e '-->' -e '= op' -e '= step' said.txt
| 1
| error[E_NOT_FINITE]: log gave NaN in step 0
|   --> large.ail:5:11
|    = op: log
|    = step: 0
