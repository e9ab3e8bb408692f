# 100,000 steps with gradients of everything they read, in memory that grows linearly.
$ cat > loop.mind <<'END'
> let run = |a, xs| fold(|s, x| tanh(s * a + x), 0.0, xs)
> let (by_a, by_xs) = grad(run)(0.5, zeros((100000,)) + 0.25)
> print(by_a, sum(by_xs))
> END
$ tern run loop.mind --max-mem 800M
| 0.5937060983648974 Tensor[f32,()] 1.3586655

# Without one it is flat.
$ cat > flat.mind <<'END'
> print(fold(|s, x| tanh(s * 0.5 + x), 0.0, zeros((1000000,)) + 0.25))
> END
$ tern run flat.mind --max-mem 24M
| Tensor[f32,()] 0.4369774
