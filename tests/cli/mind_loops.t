# Loops that are longer than a graph to be emitted should be.

# A loop without a derivative needs the memory of a few steps, however long it is.
$ cat > long.mind <<'END'
> print(fold(|s, x| s * 0.5 + x, 0.0, arange(0, 20000)))
> print(sum(scan(|s, x| (s * 0.5 + x, s), 0.0, ones((20000,))).1))
> print(fold(|s, i| s + i % 7, 0, 100000))
> // Numbers that older values get meanwhile, and a state that holds somebody else's tuple.
> let lazy = exp(zeros((3,)))
> let pair = (lazy, lazy)
> let held = fold(|s, i| if i % 2 == 0 { pair } else { (s.0 + lazy * 0.0, s.1 + i) }, (lazy, lazy), 4000)
> print(held.0, held.1, pair.0)
> END
$ tern run long.mind --max-mem 24M
| Tensor[f32,()] 39996
| Tensor[f32,()] 39996
| 299995
| Tensor[f32,(3)] [1, 1, 1] Tensor[f32,(3)] [4000, 4000, 4000] Tensor[f32,(3)] [1, 1, 1]

# Through many steps the graph is computed in parts; the sums are those of geometric series.
$ cat > gradients.mind <<'END'
> let (value, slopes) = value_and_grad(|xs| fold(|s, x| s * 0.5 + x, 0.0, xs))(ones((10000,)))
> print(value, sum(slopes), slopes[9999], slopes[9998])
> let (start, by) = value_and_grad(|a| fold(|s, i| s * a + 1.0, 0.0, 10000))(0.5)
> print(start, by)
> END
$ tern run gradients.mind
| Tensor[f32,()] 2 Tensor[f32,()] 1.9999999 Tensor[f32,()] 1 Tensor[f32,()] 0.5
| 2 4

# A tail call reuses the function's frame, however often.
$ cat > calls.mind <<'END'
> fn count(n: i32, total: i64) -> i64 = if n == 0 { total } else { count(n - 1, total + n) }
> print(count(100000, 0))
> fn even(n: i32) -> bool = if n == 0 { true } else { odd(n - 1) }
> fn odd(n: i32) -> bool {
>   if n == 0 { false } else if n == 1 { true } else { even(n - 1) }
> }
> print(even(30001), odd(30001))
> fn halve(x: Tensor[f32,(N)], n: i32) -> Tensor[f32,(N)] = if n == 0 { x } else { halve(x * 0.5, n - 1) }
> print(halve([1024, 2048], 10), sum(halve(ones((5,)), 300)))
> fn wide(n: i32) -> i64 = narrow(n)
> fn narrow(n: i32) -> i32 = if n == 0 { 7 } else { narrow(n - 1) }
> fn pair(n: i32) -> (i64, f32) = if n == 0 { (1, 2) } else { pair(n - 1) }
> print(wide(1000), pair(1000))
> fn power(x: f64, n: i32, y: f64) -> f64 = if n == 0 { y } else { power(x, n - 1, y * x) }
> print(grad(|x| power(x, 1000, 1.0))(1.0))
> END
$ tern run calls.mind
| 5000050000
| false true
| Tensor[f32,(2)] [1, 2] Tensor[f32,()] 0
| 7 (1, 2)
| 1000

# One that never ends is stopped by the limits of a run.
$ printf 'fn forever(n: i32) -> i32 = forever(n + 1)\nforever(0)\n' > forever.mind
$ tern run forever.mind --max-steps 100000 2>&1 | head -1
| error[E_LOOP_LIMIT]: the program took more than the 100000 steps that --max-steps allows
