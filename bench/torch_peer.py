"""PyTorch's side of the benchmarks: answers the requests that bench/tern.c answers.

  /usr/bin/python3 torch_peer.py THREADS [wall]

A request is `SECONDS WORKLOAD FORM`; the answer is seconds for one repetition, or nan for a form that this version of
PyTorch does not have. `wall`: one thread is measured by the wall clock too. Forms:

  eager   modules and torch.optim, as most people write it
  fast    the fastest we know: functions and tensors without modules, gradients by autograd.grad, updates in
          place, results into memory that exists already
  jit     the same, with the forward part through torch.jit.trace
  compile the same through torch.compile
  fused   attention by scaled_dot_product_attention

Nothing here is slower than it need be: gradients are set to None, not to zero; no copies; no .item().
"""
import os
import sys
import time

import torch
import torch.nn.functional as F

THREADS = int(sys.argv[1])
torch.set_num_threads(THREADS)
torch.manual_seed(1)
now = time.process_time if THREADS == 1 and "wall" not in sys.argv else time.perf_counter
NEWER = {"compile": hasattr(torch, "compile"), "fused": hasattr(F, "scaled_dot_product_attention")}


def uniform(*shape):
    return torch.rand(shape) * 2 - 1


def sgd(loss_of, params, lr=0.01):
    """One step with functions alone; embeddings' gradients may be sparse."""
    def step():
        grads = torch.autograd.grad(loss_of(), params)
        with torch.no_grad():
            for p, g in zip(params, grads):
                p.add_(g, alpha=-lr)
    return step


def modules(model, inputs, labels, lr=0.01):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
    return step


def leaf(tensor):
    return tensor.requires_grad_()


class TextClassifier(torch.nn.Module):
    def __init__(self, V, D, C, sparse):
        super().__init__()
        self.embedding = torch.nn.Embedding(V, D, sparse=sparse)
        self.linear = torch.nn.Linear(D, C)

    def forward(self, tokens):
        return self.linear(self.embedding(tokens).mean(1))


def text(V, D, T, C, batch, form):
    tokens, labels = torch.randint(0, V, (batch, T)), torch.randint(0, C, (batch,))
    if form in ("eager", "sparse"):
        return modules(TextClassifier(V, D, C, form == "sparse"), tokens, labels)
    E, W, b = leaf(uniform(V, D)), leaf(uniform(C, D)), leaf(uniform(C))
    if form == "bag":      # one operation for the mean of the rows, with a sparse gradient
        return sgd(lambda: F.cross_entropy(F.linear(F.embedding_bag(tokens, E, mode="mean", sparse=True), W, b), labels),
                   (E, W, b))

    def loss(E, W, b):
        return F.cross_entropy(F.linear(F.embedding(tokens, E).mean(1), W, b), labels)
    if form == "jit":
        loss = torch.jit.trace(loss, (E, W, b))
    return sgd(lambda: loss(E, W, b), (E, W, b))


def mlp(widths, batch, form):
    x, labels = uniform(batch, widths[0]), torch.randint(0, widths[-1], (batch,))
    if form == "eager":
        layers = []
        for i in range(len(widths) - 1):
            layers += [torch.nn.Linear(widths[i], widths[i + 1]), torch.nn.ReLU()]
        return modules(torch.nn.Sequential(*layers[:-1]), x, labels)
    params = []
    for i in range(len(widths) - 1):
        params += [leaf(uniform(widths[i + 1], widths[i]) * widths[i] ** -0.5), leaf(uniform(widths[i + 1]))]

    def loss(*p):
        h = x
        for i in range(0, len(p), 2):
            h = F.linear(h, p[i], p[i + 1])
            if i + 2 < len(p):
                h = F.relu(h)
        return F.cross_entropy(h, labels)
    if form == "jit":
        loss = torch.jit.trace(loss, tuple(params))
    if form == "compile":
        loss = torch.compile(loss)
    return sgd(lambda: loss(*params), tuple(params))


class Block(torch.nn.Module):
    """A layer of a GPT, as in examples/ail/gpt.ail."""

    def __init__(self, width, heads, fused):
        super().__init__()
        self.heads, self.fused = heads, fused
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.q, self.k, self.v, self.out = (torch.nn.Linear(width, width) for _ in range(4))
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

    def attend(self, h):
        batch, tokens, width = h.shape
        q, k, v = (m(h).view(batch, tokens, self.heads, -1).transpose(1, 2) for m in (self.q, self.k, self.v))
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            later = torch.ones(tokens, tokens, dtype=torch.bool, device=h.device).triu(1)
            scores = q @ k.transpose(2, 3) * q.shape[-1] ** -0.5
            y = torch.softmax(scores.masked_fill(later, float("-inf")), -1) @ v
        return self.out(y.transpose(1, 2).reshape(batch, tokens, width))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(torch.nn.Module):
    def __init__(self, layers, width, heads, tokens, fused):
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(64, width) * 0.02)
        self.places = torch.nn.Parameter(torch.randn(tokens, width) * 0.02)
        self.blocks = torch.nn.Sequential(*(Block(width, heads, fused) for _ in range(layers)))
        self.norm = torch.nn.LayerNorm(width)

    def forward(self, tokens):
        return self.norm(self.blocks(F.embedding(tokens, self.table) + self.places)) @ self.table.t()


def gpt(layers, width, heads, tokens, batch, form):
    x, labels = torch.randint(0, 64, (batch, tokens)), torch.randint(0, 64, (batch, tokens))
    model = Gpt(layers, width, heads, tokens, fused=form != "eager" and NEWER["fused"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.001)
    forward = torch.compile(model) if form == "compile" else model

    def step():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(forward(x).reshape(-1, 64), labels.reshape(-1)).backward()
        optimizer.step()
    return step


class Cache:
    """The keys and values that a block has seen, by head."""

    def __init__(self, heads, tokens, width):
        self.keys = torch.zeros(1, heads, tokens, width // heads)
        self.values = torch.zeros(1, heads, tokens, width // heads)


def next_token(block, cache, x, place):
    """A block's answer for one token, x [1, 1, width]; earlier ones are in the cache."""
    h = block.norm1(x)
    q, k, v = (m(h).view(1, 1, block.heads, -1).transpose(1, 2) for m in (block.q, block.k, block.v))
    cache.keys[:, :, place:place + 1], cache.values[:, :, place:place + 1] = k, v
    keys, values = cache.keys[:, :, :place + 1], cache.values[:, :, :place + 1]
    if block.fused:
        y = F.scaled_dot_product_attention(q, keys, values)
    else:
        y = torch.softmax(q @ keys.transpose(2, 3) * q.shape[-1] ** -0.5, -1) @ values
    x = x + block.out(y.transpose(1, 2).reshape(1, 1, -1))
    return x + block.down(F.gelu(block.up(block.norm2(x))))


def generation(layers, width, heads, tokens, first, end, form):
    """The tokens at the places from `first` to `end`, always the likeliest one next."""
    model = Gpt(layers, width, heads, tokens, fused=form == "fused" and NEWER["fused"]).eval()
    caches = [Cache(heads, tokens, width) for _ in range(layers)]

    def text():
        token = torch.zeros(1, 1, dtype=torch.int64)
        with torch.no_grad():
            for place in range(first, end):
                x = F.embedding(token, model.table) + model.places[place]
                for block, cache in zip(model.blocks, caches):
                    x = next_token(block, cache, x, place)
                token = (model.norm(x) @ model.table.t()).argmax(-1)
        return token
    return text


def one_answer(form):
    """One row through the MLP, without gradients."""
    layers = [torch.nn.Linear(784, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512), torch.nn.ReLU(),
              torch.nn.Linear(512, 10), torch.nn.Softmax(1)]
    x, model = uniform(1, 784), torch.nn.Sequential(*layers).eval()
    if form == "jit":
        model = torch.jit.trace(model, x)
    if form == "compile":
        model = torch.compile(model)

    def once():
        with torch.no_grad():
            return model(x)
    return once


def chain(count, form):
    a, b, c, d, e = (uniform(count) for _ in range(5))
    out = torch.empty(count)
    if form == "eager":
        return lambda: torch.relu(a * b + c) * d - e

    def fast():
        torch.addcmul(c, a, b, out=out)
        out.relu_()
        out.mul_(d)
        out.sub_(e)
    return fast


def into(operation, *shape):
    """An operation on one tensor: eager makes its result, fast writes into one that exists."""
    def make(form):
        x = uniform(*shape)
        if form == "eager":
            return lambda: operation(x)
        out = torch.empty(*shape)
        return lambda: operation(x, out=out)
    return make


def softmax(x, out=None):
    return torch.softmax(x, -1) if out is None else torch._C._nn.softmax(x, -1, out=out) if hasattr(
        torch._C._nn, "softmax") else torch._softmax(x, -1, False, out=out)


def product(size):
    def make(form):
        x, y, out = uniform(size, size), uniform(size, size), torch.empty(size, size)
        return lambda: torch.mm(x, y, out=out)
    return make


def layer_norm(form):
    x, gamma, beta = uniform(4096, 1024), uniform(1024), uniform(1024)
    return lambda: F.layer_norm(x, (1024,), gamma, beta, 1e-5)


def total(form):
    x = uniform(16_000_000)
    return lambda: x.sum()


def backward_of(loss, leaves):
    def step():
        return torch.autograd.grad(loss(), leaves)
    return step


def conv(images, size, channels, outputs, stride, form, groups=1):
    # [n, c, h, w]; `last` is the layout in which channels are contiguous, as tern's are
    x, w = uniform(images, channels, size, size), uniform(outputs, channels // groups, 3, 3) * 0.447
    target = uniform(images, outputs, size // stride, size // stride)
    if form == "last":
        x, w, target = (t.contiguous(memory_format=torch.channels_last) for t in (x, w, target))
    leaf(x), leaf(w)

    def loss(x, w):
        return F.mse_loss(F.conv2d(x, w, padding=1, stride=stride, groups=groups), target)
    if form == "compile":
        loss = torch.compile(loss)
    return backward_of(lambda: loss(x, w), (x, w))


def attention(form):
    x, target = leaf(uniform(8, 128, 128)), uniform(8, 128, 128)
    q, k, v, o = (leaf(uniform(128, 128) * 0.153) for _ in range(4))   # as tern starts parameters

    def loss(x, q, k, v, o):
        Q, K, V = ((x @ m).view(8, 128, 4, 32).transpose(1, 2) for m in (q, k, v))
        if form == "fused":
            y = F.scaled_dot_product_attention(Q, K, V)
        else:
            y = torch.softmax(Q @ K.transpose(2, 3) * 0.17677669, -1) @ V
        return F.mse_loss(y.transpose(1, 2).reshape(8, 128, 128) @ o, target)
    if form == "jit":
        loss = torch.jit.trace(loss, (x, q, k, v, o))
    if form == "compile":
        loss = torch.compile(loss)
    return backward_of(lambda: loss(x, q, k, v, o), (x, q, k, v, o))


def opcodes(shape, backward, form):
    """1000 dependent operations; the caller divides."""
    a, b = uniform(*shape), uniform(*shape) * 0.001 + 1

    def forward(x):
        for _ in range(500):
            x = x * b
            x = x + b
        return x
    if not backward:
        return lambda: forward(a)
    leaf(a)
    return lambda: torch.autograd.grad(forward(a).sum(), a)


WORKLOADS = {
    "matmul_512": product(512),
    "matmul_2048": product(2048),
    "text_small": lambda form: text(20, 8, 6, 2, 4, form),
    "text_large": lambda form: text(10000, 64, 128, 10, 32, form),
    "mlp": lambda form: mlp((784, 512, 512, 10), 64, form),
    "mlp_large": lambda form: mlp((1024, 4096, 4096, 1000), 256, form),
    "chain_10000000": lambda form: chain(10_000_000, form),
    "chain_10000": lambda form: chain(10_000, form),
    "softmax_4096x4096": into(softmax, 4096, 4096),
    "softmax_64x1000": into(softmax, 64, 1000),
    "exp": into(torch.exp, 64000),
    "tanh": into(torch.tanh, 64000),
    "layer_norm": layer_norm,
    "sum": total,
    "conv2d": lambda form: conv(32, 28, 8, 16, 1, form),
    "conv2d_wide": lambda form: conv(8, 28, 64, 64, 1, form),
    "conv2d_strided": lambda form: conv(8, 56, 64, 128, 2, form),
    "depthwise": lambda form: conv(8, 28, 128, 128, 1, form, groups=128),
    "depthwise_strided": lambda form: conv(8, 28, 128, 128, 2, form, groups=128),
    "gpt_small": lambda form: gpt(4, 128, 4, 64, 12, form),
    "gpt_large": lambda form: gpt(6, 384, 6, 256, 4, form),
    "gpt_token": lambda form: generation(6, 384, 6, 256, 100, 200, form),
    "mlp_one": one_answer,
    "attention": attention,
    "scalar_forward": lambda form: opcodes((), False, form),
    "scalar_backward": lambda form: opcodes((), True, form),
    "eight_forward": lambda form: opcodes((8,), False, form),
    "eight_backward": lambda form: opcodes((8,), True, form),
}


def sample(step, seconds, rates, key):
    if key not in rates:
        for _ in range(3):
            step()
        start = now()
        step()
        rates[key] = 1 / max(now() - start, 1e-7)
    repeat = max(1, int(rates[key] * seconds))
    start = now()
    for _ in range(repeat):
        step()
    each = (now() - start) / repeat
    rates[key] = 1 / max(each, 1e-9)
    return each


def peak_memory():
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024


def main():
    kept, rates = {}, {}
    for line in sys.stdin:
        words = line.split()
        if words == ["drop"]:
            kept, rates = {}, {}
            print(0, flush=True)
            continue
        if words == ["memory"]:
            print(peak_memory(), flush=True)
            continue
        seconds, key = float(words[0]), (words[1], words[2])
        if not NEWER.get(words[2], True):
            print("nan", flush=True)
            continue
        try:
            if key not in kept:
                kept[key] = WORKLOADS[words[1]](words[2])
            answer = sample(kept[key], seconds, rates, key)
        except Exception as problem:     # torch.compile needs a compiler, and more: the row goes without
            print(f"torch_peer.py: {words[1]} {words[2]}: {problem}", file=sys.stderr)
            answer = float("nan")
        print(answer, flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", str(THREADS))
    main()
