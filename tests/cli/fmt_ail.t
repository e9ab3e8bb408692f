# Formatting keeps the meaning of every AILang program (with TERN_TEST_EFFORT=small of every eighth, since fuzz/ail_check
# replays them all): the graph of the formatted text is the same graph, and formatting twice changes nothing.
$ find "$TESTS/ail" "$TESTS/../examples/ail" -name '*.ail' | sort |
>   awk -v e="$TERN_TEST_EFFORT" 'e != "small" || NR % 8 == 1' > list
$ compared=0
> for f in $(cat list); do
>   cp "$f" before.ail
>   tern emit before.ail --as graph > before.graph 2> /dev/null || continue
>   tern fmt - --lang ail < "$f" > after.ail || { echo "$f is not formatted"; continue; }
>   tern emit after.ail --as graph > after.graph 2> /dev/null || { echo "$f has no graph any more"; continue; }
>   cmp -s before.graph after.graph || echo "$f has another graph"
>   tern fmt - --lang ail < after.ail | cmp -s - after.ail || echo "$f changes twice"
>   compared=$((compared + 1))
> done
> test $((compared * 3)) -gt $(wc -l < list) || echo "only $compared programs were compared"

# Strings keep their escapes, a head its comment, and loops that do not fit a line stand on lines of their own wherever they are.
$ tern fmt --lang ail - <<'END'
> const T = "a\"b\\c\n\td\e"
> fn none() { # nothing { here
>   1 }
> model { # first
> x [2] # x
> y = for i in range(0, 3) do end
> z = -(reduce add over range(0, 1000) do relu(relu(relu(relu(relu(relu(relu(x * iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii))))))) end)
> w = not (reduce add over range(0, 1000) do relu(relu(relu(relu(relu(relu(relu(x * iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii))))))) end)
> v = relu(for i in range(0, 10) do relu(relu(relu(relu(relu(relu(relu(relu(x * iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii)))))))) end) + 1
> u = 1 + for i in range(0, 10) do relu(relu(relu(relu(relu(relu(relu(relu(x * iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii)))))))) end
> t = if (for i in range(0, 10) do relu(relu(relu(relu(relu(relu(relu(relu(x * iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii)))))))) end) > 1 then 1 else 2
> s = if 1 > 0 then for i in range(0, 10) do relu(relu(relu(relu(relu(relu(relu(relu(x * iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii)))))))) end else 2
> }
> END
| const T = "a\"b\\c\n\tde"
|
| fn none() {  # nothing { here
|   1
| }
|
| model {  # first
|   x [2]  # x
|   y = for i in range(0, 3) do end
|   z = -(reduce add over range(0, 1000) do
|     relu(relu(relu(relu(relu(relu(relu(x * iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii)))))))
|   end)
|   w = not (reduce add over range(0, 1000) do
|     relu(relu(relu(relu(relu(relu(relu(x * iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii)))))))
|   end)
|   v = relu(
|     for i in range(0, 10) do
|       relu(relu(relu(relu(relu(relu(relu(relu(x * iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii))))))))
|     end
|   ) +
|     1
|   u = 1 +
|     for i in range(0, 10) do
|       relu(relu(relu(relu(relu(relu(relu(relu(x * iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii))))))))
|     end
|   t = if (for i in range(0, 10) do
|       relu(relu(relu(relu(relu(relu(relu(relu(x * iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii))))))))
|     end) >
|       1
|     then 1
|     else 2
|   s = if 1 > 0
|     then for i in range(0, 10) do
|       relu(relu(relu(relu(relu(relu(relu(relu(x * iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii))))))))
|     end
|     else 2
| }

# A loop that was written over several lines stays so, wherever it stands.
$ tern fmt --lang ail - <<'END'
> model {
> x [2]
> a = sum(for i in range(0, 2) do
> x * i end)
> b = 1 + sum(x) + (reduce add over range(0, 2) do
> x end)
> c = if sum(for i in range(0, 2) do
> x end) > 0 then for i in range(0, 2) do
> x end else for i in range(0, 2) do
> x * 2 end
> d = if sum(x) > 0 then x else (for i in range(0, 2) do
> sum(x) end)
> e = -(repeat 2 times init x do
> y end)
> }
> END
| model {
|   x [2]
|   a = sum(
|     for i in range(0, 2) do
|       x * i
|     end
|   )
|   b = 1 +
|     sum(x) +
|     (reduce add over range(0, 2) do
|       x
|     end)
|   c = if sum(
|       for i in range(0, 2) do
|         x
|       end
|     ) >
|       0
|     then for i in range(0, 2) do
|       x
|     end
|     else for i in range(0, 2) do
|       x * 2
|     end
|   d = if sum(x) > 0
|     then x
|     else (for i in range(0, 2) do
|       sum(x)
|     end)
|   e = -(repeat 2 times init x do
|     y
|   end)
| }

# Computed constants and dimensions: blanks around operators, parentheses kept.
$ tern fmt --lang ail - <<'END'
> const D=2*( 3+1 )/4
> model {
> x[B,D/2+1]
> y=reshape(x,[@0*D,-1])
> }
> END
| const D = 2 * (3 + 1) / 4
|
| model {
|   x [B, D / 2 + 1]
|   y = reshape(x, [@0 * D, -1])
| }

# How a parameter starts.
$ tern fmt --lang ail - <<'END'
> param W:[2,2]init   normal( 0 ,1/4.0 )
> model {
> param b[2]   init zeros # here
> init = W + b }
> END
| param W [2, 2] init normal(0, 1 / 4.0)
|
| model {
|   param b [2] init zeros  # here
|   init = W + b
| }
