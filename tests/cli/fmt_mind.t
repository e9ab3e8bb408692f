# tern fmt for MIND: one way to write a program, and nothing lost.
$ cat > p.mind <<'END'
> // head   
> /* block */ let x:tensor<f32[2,3]>=1.0; let y = - x+(2*  3) // trailing
> 
> 
> /* outer /* inner */
>    second */ let z:Tensor<f32,[2]>= 0
> fn f(a : Tensor[f32,(N,3)],b:f32,)->Tensor<f32,[N,3]> !io !random{ // body
>   let q=a*b ; q + 1   // sum
> 
>   // at the end
> }
> fn g(x: f32) -> f32 = x*x
> import nn.layers as l;import nn.layers { aa,bb , }
> export{f,g}
> let (a,b)=(1 ,2,)
> let t = (1,) ; /* next */ t . 0 . 0
> let h = |x,y : f32|x+y
> let k = ||1||true
> if x.sum()>0&&!true{1}else if y{2}else{3}
> if a { let w = 1
>  w } // one
> else { 2 }
> -  x [ 0 ] [1 ,- 2] . sum( axis =-1 )
> a - - b
> 1 .sum() + 1 .0
> END
$ tern fmt p.mind
$ cat p.mind
| // head
| /* block */ let x: Tensor[f32,(2,3)] = 1.0
| let y = -x + (2 * 3)  // trailing
|
| /* outer /* inner */
|    second */ let z: Tensor[f32,(2)] = 0
| fn f(a: Tensor[f32,(N,3)], b: f32) -> Tensor[f32,(N,3)] !io !random {  // body
|   let q = a * b
|   q + 1  // sum
|
|   // at the end
| }
| fn g(x: f32) -> f32 = x * x
| import nn.layers as l
| import nn.layers { aa, bb }
| export { f, g }
| let (a, b) = (1, 2)
| let t = (1,)
| /* next */ t.0.0
| let h = |x, y: f32| x + y
| let k = || 1 || true
| if x.sum() > 0 && !true { 1 } else if y { 2 } else { 3 }
| if a {
|   let w = 1
|   w
| }  // one
| else {
|   2
| }
| -x[0][1, -2].sum(axis=-1)
| a - -b
| 1.sum() + 1 .0
$ tern fmt --check p.mind

# A line longer than 100 columns is broken where the language allows it.
$ cat > long.mind <<'END'
> let long = concat([aaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, ccccccccccccccccccccccccccc, dddd], axis = 1)
> let data = [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]]
> let flat = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, -25, 26, 27, 28, 29, 30]
> let s = alpha_alpha_alpha_alpha * beta_beta_beta_beta + gamma_gamma_gamma_gamma * delta_delta_delta_delta + epsilon_epsilon
> grad(mse_loss(x @ w + b,   y), wrt = [x,   w, // the weights
>   // and the bias
>   b /* last */ ,])
> let total = 1 + // one
>   2 + /* two */ 3
> fn very_long_function_name(first_parameter: Tensor[f32,(N,3)], second_parameter: Tensor[f32,(3,M)], third: f32) -> Tensor[f32,(N,M)] { first_parameter @ second_parameter * third }
> let choice = if alpha_alpha_alpha_alpha > beta_beta_beta_beta && gamma_gamma_gamma_gamma < delta_delta_delta_delta { 1 } else { 2 }
> let text = "a string that is quite long with // no comment and /* none */ in it, \"quoted\", and then some more text"
> END
$ tern fmt - --lang mind < long.mind
| let long = concat(
|   [
|     aaaaaaaaaaaaaaaaaaaaaaaaaaaaa,
|     bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,
|     ccccccccccccccccccccccccccc,
|     dddd
|   ],
|   axis=1
| )
| let data = [
|   [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20],
|   [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
| ]
| let flat = [
|   1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, -25, 26,
|   27, 28, 29, 30
| ]
| let s = alpha_alpha_alpha_alpha * beta_beta_beta_beta +
|   gamma_gamma_gamma_gamma * delta_delta_delta_delta + epsilon_epsilon
| grad(
|   mse_loss(x @ w + b, y),
|   wrt=[
|     x,
|     w,  // the weights
|     // and the bias
|     b /* last */
|   ]
| )
| let total = 1 +  // one
|   2 + /* two */ 3
| fn very_long_function_name(
|   first_parameter: Tensor[f32,(N,3)],
|   second_parameter: Tensor[f32,(3,M)],
|   third: f32
| ) -> Tensor[f32,(N,M)] {
|   first_parameter @ second_parameter * third
| }
| let choice = if alpha_alpha_alpha_alpha > beta_beta_beta_beta &&
|     gamma_gamma_gamma_gamma < delta_delta_delta_delta {
|   1
| } else {
|   2
| }
| let text =
|   "a string that is quite long with // no comment and /* none */ in it, \"quoted\", and then some more text"

# --check and --diff change nothing.
$ printf 'let  x=1\n' > c.mind
$ tern fmt --check c.mind
| c.mind: not formatted
? 1
$ tern fmt --diff c.mind
| --- c.mind
| +++ c.mind (formatted)
| -let  x=1
| +let x = 1
$ cat c.mind
| let  x=1

# A file that cannot be read as a program stays as it is.
$ printf 'let  x = (1\nlet   y = 2\n' > bad.mind; cp bad.mind kept
$ tern fmt bad.mind 2>&1 | head -1
| error[E1001]: expected `,` or `)`
$ tern fmt bad.mind 2> /dev/null
? 1
$ cmp bad.mind kept

# Line ends of another system become our own; an empty file stays empty.
$ printf 'let a=1\r\n\r\n\r\n/* x\r\n y */\r\nlet b=2 // c\r\n' | tern fmt - --lang mind | od -c | grep -c '\\r'
| 0
? 1

$ printf '' | tern fmt - --lang mind
$ printf '\n\n\n' | tern fmt - --lang mind

# Every program of the tests and examples (with TERN_TEST_EFFORT=small every eighth, since fuzz/mind_check replays them
# all): formatting twice is formatting once, and the formatted program gives the same results.
$ cp -r $TESTS/mind before 2> /dev/null || mkdir before
$ cp -r $TESTS/../examples/mind before/examples 2> /dev/null || true
$ cp -r before after
$ find before -name '*.mind' | sort | awk -v e="$TERN_TEST_EFFORT" 'e != "small" || NR % 8 == 1' > list
$ while read f; do
>   g=after/${f#before/}
>   tern check -q $f > /dev/null 2> wrong
>   grep -qE '^error.(E1001|E_NESTING_LIMIT)' wrong && continue
>   tern fmt $g || echo "$f cannot be formatted"
>   tern fmt --check $g || echo "$f is not stable"
> done < list
$ while read f; do
>   g=after/${f#before/}
>   (cd $(dirname $f) && tern run --json $(basename $f)) | sed 's/"span":{[^}]*}//g' > a
>   (cd $(dirname $g) && tern run --json $(basename $g)) | sed 's/"span":{[^}]*}//g' > b
>   cmp -s a b || echo "$f gives something else"
> done < list
