# Kernels go over long rows in pieces of 65,536 elements and ask between two of them whether to stop. What lies
# after the first piece counts as what lies in it, with every instruction set.

$ cat > rows.mind <<'END'
> let x = arange(0.0, 196617.0)
> print((argmax(x), argmax(0.0 - x), max(x), min(0.0 - x)))
> print(argmax(concat([x, x * 0.0 / 0.0])))
> print(argmax(concat([zeros((65535)), x, x])))
> let u = zeros((131072))
> print((max(softmax(u)), min(softmax(u)), sum(softmax(u))))
> let w = concat([x, [1.0 / 0.0]])
> print((sum(relu(softmax(w) - softmax(w))), max(softmax(w))))
> let wide: Tensor[f64,(131072)] = 0.0
> print((max(softmax(wide)), min(softmax(wide))))
> let c = reshape(x, (65539, 3))
> print((argmax(c, 0), argmax(0.0 - c, 0), max(c, axes=[0])))
> let v = zeros((131072, 3))
> print((max(softmax(v, axis=0)), min(softmax(v, axis=0))))
> let r = ones((2, 131080))
> print(matmul(r, transpose(ones((3, 131080)))))
> print(matmul(r, ones((131080, 1))))
> print(cross_entropy(zeros((2, 131072)), argmax(zeros((2, 131072)), 1)))
> END
$ tern run rows.mind
| (Tensor[i32,()] 196616, Tensor[i32,()] 0, Tensor[f32,()] 196616, Tensor[f32,()] -196616)
| Tensor[i32,()] 196617
| Tensor[i32,()] 262151
| (Tensor[f32,()] 7.6293945e-6, Tensor[f32,()] 7.6293945e-6, Tensor[f32,()] 1)
| (Tensor[f32,()] NaN, Tensor[f32,()] NaN)
| (Tensor[f64,()] 7.62939453125e-6, Tensor[f64,()] 7.62939453125e-6)
| (Tensor[i32,(3)] [65538, 65538, 65538], Tensor[i32,(3)] [0, 0, 0], Tensor[f32,(3)] [196614, 196615, 196616])
| (Tensor[f32,()] 7.6293945e-6, Tensor[f32,()] 7.6293945e-6)
| Tensor[f32,(2,3)] [[131080, 131080, 131080], [131080, 131080, 131080]]
| Tensor[f32,(2,1)] [[131080], [131080]]
| Tensor[f32,()] 11.783502
$ TERN_ISA=portable tern run rows.mind
| (Tensor[i32,()] 196616, Tensor[i32,()] 0, Tensor[f32,()] 196616, Tensor[f32,()] -196616)
| Tensor[i32,()] 196617
| Tensor[i32,()] 262151
| (Tensor[f32,()] 7.6293945e-6, Tensor[f32,()] 7.6293945e-6, Tensor[f32,()] 1)
| (Tensor[f32,()] NaN, Tensor[f32,()] NaN)
| (Tensor[f64,()] 7.62939453125e-6, Tensor[f64,()] 7.62939453125e-6)
| (Tensor[i32,(3)] [65538, 65538, 65538], Tensor[i32,(3)] [0, 0, 0], Tensor[f32,(3)] [196614, 196615, 196616])
| (Tensor[f32,()] 7.6293945e-6, Tensor[f32,()] 7.6293945e-6)
| Tensor[f32,(2,3)] [[131080, 131080, 131080], [131080, 131080, 131080]]
| Tensor[f32,(2,1)] [[131080], [131080]]
| Tensor[f32,()] 11.783502
