"""numpy/mind_gpt.py: the GPT of examples/mind/gpt.mind beside the same model in NumPy, in f64.

  mind_gpt.py TERN SOURCE_DIR

The program is run with its start weights saved and its windows printed. From those, the losses of every
step and the weights at the end are computed again: an independent forward pass, backward pass and Adam.
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

LETTERS, RATE, STEPS = 128, 0.01, 40
erf = np.vectorize(math.erf)


def read_tensor(path, name):
    with open(path, 'rb') as file:
        data = file.read()
    size = int.from_bytes(data[:8], 'little')
    low, high = json.loads(data[8:8 + size])[name]['data_offsets']
    return np.frombuffer(data[8 + size + low:8 + size + high], '<f4').astype(np.float64)


# ---- the parameters, as views of one vector ----

def views(w, n):
    """Every parameter by its name; of a stack [layers, ...], all of it."""
    layers, width, at, found = n['layers'], n['width'], 0, {}

    def take(name, *shape):
        nonlocal at
        count = int(np.prod(shape))
        found[name] = w[at:at + count].reshape(shape)
        at += count
    take('table', LETTERS, width)
    take('places', n['context'], width)
    take('qkv.W', layers, width, 3 * width)
    take('out.W', layers, width, width)
    take('wide.W', layers, width, 4 * width)
    take('narrow.W', layers, 4 * width, width)
    take('before.bias', layers, width)
    take('qkv.b', layers, 3 * width)
    take('out.b', layers, width)
    take('between.bias', layers, width)
    take('wide.b', layers, 4 * width)
    take('narrow.b', layers, width)
    take('last.bias', width)
    take('before.gain', layers, width)
    take('between.gain', layers, width)
    take('last.gain', width)
    assert at == len(w)
    return found


# ---- layers: each gives its result and a function from the gradient of that to the gradient of its input ----

def dense(w, g, name, i, x):
    def back(d):
        g[name + '.W'][i] += np.einsum('bti,bto->io', x, d)
        g[name + '.b'][i] += d.sum((0, 1))
        return d @ w[name + '.W'][i].T
    return x @ w[name + '.W'][i] + w[name + '.b'][i], back


def norm(w, g, name, i, x):
    centred = x - x.mean(-1, keepdims=True)
    deviation = np.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5)
    y = centred / deviation

    def back(d):
        g[name + '.gain'][i] += (d * y).sum((0, 1))
        g[name + '.bias'][i] += d.sum((0, 1))
        d = d * w[name + '.gain'][i]
        return (d - d.mean(-1, keepdims=True) - y * (d * y).mean(-1, keepdims=True)) / deviation
    return y * w[name + '.gain'][i] + w[name + '.bias'][i], back


def attend(qkv, heads):
    batch, time, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    size = width // heads
    q, k, v = qkv.reshape(batch, time, 3, heads, size).transpose(2, 0, 3, 1, 4)
    scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(size) + np.triu(np.full((time, time), -np.inf), 1)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)

    def back(d):
        d = d.reshape(batch, time, heads, size).transpose(0, 2, 1, 3)
        dp = d @ v.transpose(0, 1, 3, 2)
        ds = p * (dp - (dp * p).sum(-1, keepdims=True)) / math.sqrt(size)
        parts = np.stack([ds @ k, ds.transpose(0, 1, 3, 2) @ q, p.transpose(0, 1, 3, 2) @ d])
        return parts.transpose(1, 3, 0, 2, 4).reshape(qkv.shape)
    return (p @ v).transpose(0, 2, 1, 3).reshape(batch, time, width), back


def gelu(x):
    bell = np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    share = (1 + erf(x / math.sqrt(2))) / 2
    return x * share, lambda d: d * (share + x * bell)


def block(w, g, n, i, x):
    a, back_a = norm(w, g, 'before', i, x)
    qkv, back_qkv = dense(w, g, 'qkv', i, a)
    seen, back_seen = attend(qkv, n['heads'])
    out, back_out = dense(w, g, 'out', i, seen)
    middle = x + out
    c, back_c = norm(w, g, 'between', i, middle)
    wide, back_wide = dense(w, g, 'wide', i, c)
    bent, back_bent = gelu(wide)
    narrow, back_narrow = dense(w, g, 'narrow', i, bent)

    def back(d):
        d = d + back_c(back_wide(back_bent(back_narrow(d))))
        return d + back_a(back_qkv(back_seen(back_out(d))))
    return middle + narrow, back


def loss_and_gradient(vector, n, chunk):
    w, gradient = views(vector, n), np.zeros_like(vector)
    g = views(gradient, n)
    ids, targets = chunk[:, :-1], chunk[:, 1:]
    x, backs = w['table'][ids] + w['places'], []
    for i in range(n['layers']):
        x, back = block(w, g, n, i, x)
        backs.append(back)
    x, back_last = norm(w, g, 'last', ..., x)
    logits = x @ w['table'].T
    p = np.exp(logits - logits.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    rows, columns = np.indices(targets.shape)
    loss = -np.log(p[rows, columns, targets]).mean()
    d = p.copy()
    d[rows, columns, targets] -= 1
    d /= targets.size
    g['table'][...] += np.einsum('btv,btd->vd', d, x)
    d = back_last(d @ w['table'])
    for back in reversed(backs):
        d = back(d)
    np.add.at(g['table'], ids, d)
    g['places'][...] += d.sum(0)
    return loss, gradient


# ---- the program ----

def run_program(tern, source):
    """The numbers of the program, the bytes it learned, and the windows and losses of every step."""
    examples = os.path.join(source, 'examples/mind')
    text = open(os.path.join(examples, 'gpt.mind'), encoding='utf-8').read()
    text = re.sub(r'^let steps = .*$', 'let steps = %d' % STEPS, text, flags=re.M)
    n = {name: int(number) for name, number in re.findall(r'^let (\w+) = (\d+)$', text, re.M)}
    path = re.search(r'read_bytes\("([^"]*)"\)', text)[1]
    learned = np.frombuffer(open(os.path.join(examples, path), 'rb').read(), np.uint8).astype(int)
    old, last = '  let chunk = gather(text', 'print(losses[0], losses[steps - 1])'
    assert text.count(old) == text.count(last) == text.count(path) == 1
    text = text.replace(old, '  print(from)\n' + old).replace(path, 'text.bin').replace(last, 'print(losses)')
    text += '\nlet end = trained.0\nsave("weights.safetensors", [start, end])\n'
    learned.astype(np.uint8).tofile('text.bin')
    with open('gpt.mind', 'w', encoding='utf-8') as file:
        file.write(text)
    words = [tern, 'run', 'gpt.mind', '--allow', 'fileread=.', '--allow', 'filewrite=.']
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split('\n')
    numbers = [np.array(json.loads(line.split(' ', 1)[1])) for line in lines if line]
    assert len(numbers) == n['steps'] + 1
    return n, learned, numbers[:-1], numbers[-1]


def main():
    tern, source = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        n, learned, windows, losses = run_program(tern, source)
        w, end = (read_tensor('weights.safetensors', name) for name in ('start', 'end'))
        os.chdir('/')
    mean = square = np.zeros_like(w)
    for step in range(n['steps']):
        assert windows[step].shape == (n['batch'], 1) and windows[step].max() < len(learned) - n['context']
        loss, g = loss_and_gradient(w, n, learned[windows[step] + np.arange(n['context'] + 1)])
        assert abs(loss - losses[step]) < 1e-4 * loss, (step, loss, losses[step])
        mean, square = 0.9 * mean + 0.1 * g, 0.999 * square + 0.001 * g * g
        change = mean / (1 - 0.9 ** (step + 1))
        w = w - RATE * change / (np.sqrt(square / (1 - 0.999 ** (step + 1))) + 1e-8)
    assert losses[-1] < 0.8 * losses[0], losses
    for weights in (w, end):
        # A bias of keys moves all scores of a row alike. Its gradient is 0; Adam follows the rounding.
        views(weights, n)['qkv.b'][:, n['width']:2 * n['width']] = 0
    worst = np.abs(w - end).max()
    assert worst < 2e-4, worst
    print('%d steps, losses %.5f to %.5f, the worst weight differs by %.1e'
          % (n['steps'], losses[0], losses[-1], worst))


main()
