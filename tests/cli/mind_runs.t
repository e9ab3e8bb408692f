# Errors that only a run can find: the code and the place are those of the operation.

# Sizes.
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,2)] = zeros((n, 2))
> f(0)' 2>&1 | sed -n 1,2p
| error[E2105]: shape [0, 2] has a dimension of size 0
|   --> <eval>:1:37
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,2)] = zeros((n, 2))
> f(-1)' 2>&1 | sed -n 1,2p
| error[E2001]: expected a size of at least 1, got -1
|   --> <eval>:1:37
$ tern eval 'fn f(n: i64) -> Tensor[f32,(M,2)] = zeros((n, 2))
> f(9999999999999999)' 2>&1 | sed -n 1,2p
| error[E_TOO_LARGE]: the number of elements is larger than the limit of 1099511627776
|   --> <eval>:1:37
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,)] = zeros(n)
> f(-2)' 2>&1 | sed -n 1,2p
| error[E2001]: expected a size of at least 1, got -2
|   --> <eval>:1:36
$ tern eval 'fn f(p: (i32, i32)) -> Tensor[f32,(M,K)] = zeros(p)
> f((2, -2))' 2>&1 | sed -n 1,2p
| error[E2001]: expected a size of at least 1, got -2
|   --> <eval>:1:44
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,)] = arange(0, n)
> f(0)' 2>&1 | sed -n 1,2p
| error[E2105]: shape [0] has a dimension of size 0
|   --> <eval>:1:36
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,)] = arange(0, 4, n)
> f(0)' 2>&1 | sed -n 1,2p
| error[E2001]: expected a step other than 0, got 0
|   --> <eval>:1:36
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,)] = linspace(0, 4, n)
> f(-3)' 2>&1 | sed -n 1,2p
| error[E2001]: expected a size of at least 1, got -3
|   --> <eval>:1:36
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,K)] = eye(n)
> f(-3)' 2>&1 | sed -n 1,2p
| error[E2001]: expected a size of at least 1, got -3
|   --> <eval>:1:37
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,K)] = reshape(ones((2, 3)), (n, -1))
> f(4)' 2>&1 | sed -n 1,2p
| error[E2104]: expected 6 elements, got [4, ?]
|   --> <eval>:1:37
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,K)] = reshape(ones((2, 3)), (n, n))
> f(-1)' 2>&1 | sed -n 1,2p
| error[E2104]: expected 6 elements, got [?, ?]
|   --> <eval>:1:37
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,K)] = reshape(ones((2, 3)), (n, 2))
> f(-2)' 2>&1 | sed -n 1,2p
| error[E2001]: expected a size of at least 1, got -2
|   --> <eval>:1:37

# Axes.
$ tern eval 'fn f(n: i64) -> Tensor[f32,(M,)] = sum(ones((2, 3)), axes=n)
> f(9999999999)' 2>&1 | sed -n 1,2p
| error[E2106]: axis 9999999999 is not possible in sum for a tensor with 2 dimensions
|   --> <eval>:1:36
$ tern eval 'fn f(n: i64) -> Tensor[f32,(M,K)] = softmax(ones((2, 3)), n)
> f(9999999999)' 2>&1 | sed -n 1,2p
| error[E2106]: axis 9999999999 is not possible in softmax for a tensor with 2 dimensions
|   --> <eval>:1:37
$ tern eval 'fn f(n: i64) -> Tensor[f32,(M,)] = concat([ones(2), ones(3)], n)
> f(9999999999)' 2>&1 | sed -n 1,2p
| error[E2106]: axis 9999999999 is not possible in concat for a tensor with 1 dimension
|   --> <eval>:1:36
$ tern eval 'fn f(n: i64) -> Tensor[f32,(M,)] = index(ones((2, 3)), n, 0)
> f(9999999999)' 2>&1 | sed -n 1,2p
| error[E2106]: axis 9999999999 is not possible in index for a tensor with 2 dimensions
|   --> <eval>:1:36
$ tern eval 'fn f(n: i64) -> Tensor[f32,(M,K)] = gather(ones((2, 3)), [0, 1], n)
> f(9999999999)' 2>&1 | sed -n 1,2p
| error[E2106]: axis 9999999999 is not possible in gather for a tensor with 2 dimensions
|   --> <eval>:1:37
$ tern eval 'fn f(n: i64) -> Tensor[i32,(M,)] = argmax(ones((2, 3)), n)
> f(-9999999999)' 2>&1 | sed -n 1,2p
| error[E2106]: axis -9999999999 is not possible in argmax for a tensor with 2 dimensions
|   --> <eval>:1:36
$ tern eval 'fn f(n: i32, m: i32) -> Tensor[f32,()] = sum(ones((2, 3)), axes=[n, m])
> f(0, -2)' 2>&1 | sed -n 1,2p
| error[E2106]: axis -2 is named twice in sum
|   --> <eval>:1:42
$ tern eval 'fn f(n: i32, m: i32) -> Tensor[f32,(M,K)] = transpose(ones((2, 3)), [n, m])
> f(0, 0)' 2>&1 | sed -n 1,2p
| error[E2107]: [0, 0] is not an order of 2 axes
|   --> <eval>:1:45
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,)] = squeeze(ones((2, 1)), n)
> f(0)' 2>&1 | sed -n 1,2p
| error[E2108]: axis 0 has size 2 and cannot be squeezed
|   --> <eval>:1:36
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,)] = slice(ones(3), n, 0, 3)
> f(1)' 2>&1 | sed -n 1,2p
| error[E2106]: axis 1 is not possible in slice for a tensor with 1 dimension
|   --> <eval>:1:36

# Places.
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,)] = ones((2, 3))[n]
> f(2)' 2>&1 | sed -n 1,2p
| error[E2109]: index 2 is out of range in index; there are 2
|   --> <eval>:1:36
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,)] = slice(ones(3), 0, n, 3)
> f(3)' 2>&1 | sed -n 1,2p
| error[E2109]: slice from 3 to 3 is empty; axis 0 has length 3
|   --> <eval>:1:36
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,)] = slice(ones(3), 0, 0, n)
> f(9)' 2>&1 | sed -n 1,2p
| error[E2109]: index 9 is out of range in slice; there are 3
|   --> <eval>:1:36
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,)] = slice(ones(3), 0, 0, 3, n)
> f(0)' 2>&1 | sed -n 1,2p
| error[E2001]: expected a step of at least 1, got 0
|   --> <eval>:1:36
$ tern eval 'fn f(n: i32) -> Tensor[f32,(M,)] = gather(ones(3), [0, n])
> f(3)' 2>&1 | sed -n 1,2p
| error[E2109]: index 3 is out of range in gather; there are 3
|   --> <eval>:1:36
$ tern eval 'fn f(n: i32) -> i32 = shape(ones((2, 3)))[n]
> f(2)' 2>&1 | sed -n 1,2p
| error[E2109]: index 2 is out of range; there are 2
|   --> <eval>:1:23
$ tern eval 'fn f(n: i32) -> i32 = shape(ones((2, 3)))[n]
> f(-3)' 2>&1 | sed -n 1,2p
| error[E2109]: index -3 is out of range; there are 2
|   --> <eval>:1:23

# Words.
$ tern eval 'fn f(p: string) -> Tensor[f32,(1,M,K,1)] = conv2d(ones((1,3,3,1)), ones((2,2,1,1)), padding=p)
> f("smae")' 2>&1 | sed -n 1,2p
| error[E2001]: expected "valid" or "same", got smae
|   --> <eval>:1:44
$ tern eval 'fn f(n: i32) -> Tensor[f32,(1,M,K,1)] = conv2d(ones((1,3,3,1)), ones((2,2,1,1)), strides=n)
> f(0)' 2>&1 | sed -n 1,2p
| error[E2001]: expected a stride of at least 1, got 0
|   --> <eval>:1:41
