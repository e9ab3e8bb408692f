"""numpy/ninth_gpt.py: the GPT of examples/ninth/gpt.nth beside the same model in NumPy, in f64.

  ninth_gpt.py TERN SOURCE_DIR

The program is run with its start weights saved and its windows printed. From those, the losses of every
step and the weights at the end are computed again: an independent forward pass, backward pass and Adam.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

STEPS, CONTEXT, WIDTH, HEADS, BLOCKS, RATE = 20, 16, 24, 2, 2, 0.01


def read_weights(path):
    with open(path, 'rb') as file:
        data = file.read()
    size = int.from_bytes(data[:8], 'little')
    header = json.loads(data[8:8 + size])
    header.pop('__metadata__', None)
    body, found = data[8 + size:], {}
    for name, about in header.items():
        low, high = about['data_offsets']
        found[name] = np.frombuffer(body[low:high], '<f4').reshape(about['shape']).astype(np.float64)
    return found


# ---- the model: each layer gives its result and a function from the gradient of that to the gradient of its input ----

def dense(w, g, name, x):
    def back(d):
        g[name + '.W'] += np.einsum('bti,bto->io', x, d)
        g[name + '.b'] += d.sum((0, 1))
        return d @ w[name + '.W'].T
    return x @ w[name + '.W'] + w[name + '.b'], back


def norm(w, g, name, x):
    centred = x - x.mean(-1, keepdims=True)
    deviation = np.sqrt((centred ** 2).mean(-1, keepdims=True) + 1e-5)
    y = centred / deviation

    def back(d):
        g[name + '.gain'] += (d * y).sum((0, 1))
        g[name + '.bias'] += d.sum((0, 1))
        d = d * w[name + '.gain']
        return (d - d.mean(-1, keepdims=True) - y * (d * y).mean(-1, keepdims=True)) / deviation
    return y * w[name + '.gain'] + w[name + '.bias'], back


def attend(w, g, name, x):
    qkv, back_qkv = dense(w, g, name + '.qkv', x)
    size, time = WIDTH // HEADS, x.shape[1]
    hidden = np.triu(np.full((time, time), -np.inf), 1)
    heads, kept = [], []
    for h in range(HEADS):
        q, k, v = (qkv[..., part * WIDTH + h * size:part * WIDTH + (h + 1) * size] for part in range(3))
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(size) + hidden
        p = np.exp(scores - scores.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        heads.append(p @ v)
        kept.append((q, k, v, p))
    y, back_out = dense(w, g, name + '.out', np.concatenate(heads, -1))

    def back(d):
        d, dqkv = back_out(d), np.zeros_like(qkv)
        for h, (q, k, v, p) in enumerate(kept):
            dh = d[..., h * size:(h + 1) * size]
            dp = dh @ v.transpose(0, 2, 1)
            ds = p * (dp - (dp * p).sum(-1, keepdims=True)) / np.sqrt(size)
            for part, gradient in enumerate((ds @ k, ds.transpose(0, 2, 1) @ q, p.transpose(0, 2, 1) @ dh)):
                low = part * WIDTH + h * size
                dqkv[..., low:low + size] = gradient
        return back_qkv(dqkv)
    return y, back


def block(w, g, name, x):
    a, back_a = norm(w, g, name + '.before', x)
    b, back_b = attend(w, g, name + '.attention', a)
    middle = x + b
    c, back_c = norm(w, g, name + '.between', middle)
    wide, back_wide = dense(w, g, name + '.wide', c)
    narrow, back_narrow = dense(w, g, name + '.narrow', np.maximum(wide, 0))

    def back(d):
        d = d + back_c(back_wide(back_narrow(d) * (wide > 0)))
        return d + back_a(back_b(d))
    return middle + narrow, back


def loss_and_gradients(w, chunk):
    g = {name: np.zeros_like(value) for name, value in w.items()}
    ids, targets = chunk[:, :-1], chunk[:, 1:]
    x, backs = w['letters'][ids] + w['places'][:ids.shape[1]], []
    for i in range(BLOCKS):
        x, back = block(w, g, 'blocks.%d' % i, x)
        backs.append(back)
    x, back_last = norm(w, g, 'last', x)
    logits, back_head = dense(w, g, 'head', x)
    logits -= logits.max(-1, keepdims=True)
    p = np.exp(logits)
    p /= p.sum(-1, keepdims=True)
    rows, columns = np.indices(targets.shape)
    loss = -np.log(p[rows, columns, targets]).mean()
    d = p.copy()
    d[rows, columns, targets] -= 1
    d = back_last(back_head(d / targets.size))
    for back in reversed(backs):
        d = back(d)
    np.add.at(g['letters'], ids, d)
    g['places'][:ids.shape[1]] += d.sum(0)
    return loss, g


# ---- the program ----

def replace_once(text, old, new):
    assert text.count(old) == 1, old
    return text.replace(old, new)


def run_program(tern, source):
    """The windows and losses of every step, and the text that was learned."""
    text = open(os.path.join(source, 'examples/ninth/gpt.nth'), encoding='utf-8').read()
    learned = re.search(r'^"(the tern[^"]*)"', text, re.M)[1]
    text = replace_once(text, '{GPT} -> model\n', '{GPT} -> model\nmodel "start.safetensors" [SAVE]\n')
    text = replace_once(text, '0 [INDEX] -> starts\n', '0 [INDEX] ->> starts [PRINT]\n')
    text = replace_once(text, 'step 10 [DIV] [DUP] [ROUND] [EQ] [IF] loss [PRINT] [ENDIF]', 'loss [PRINT]')
    text = replace_once(text, '// ---- what it writes ----', 'model "end.safetensors" [SAVE] [RET]')
    with open('gpt.nth', 'w', encoding='utf-8') as file:
        file.write(text)
    words = [tern, 'run', 'gpt.nth', '--input', 'steps=%d' % STEPS, '--allow', 'filewrite=.']
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split('\n')
    windows = [np.array(lines[2 * i][1:-1].split(), dtype=np.float64).astype(int) for i in range(STEPS)]
    return learned, windows, [float(lines[2 * i + 1]) for i in range(STEPS)]


def main():
    tern, source = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        learned, windows, losses = run_program(tern, source)
        w, end = read_weights('start.safetensors'), read_weights('end.safetensors')
        os.chdir('/')
    alphabet = sorted(set(learned))
    text = np.array([alphabet.index(character) for character in learned])
    assert w['letters'].shape == (len(alphabet), WIDTH) and w['places'].shape == (CONTEXT, WIDTH)
    mean = {name: 0 for name in w}
    square = {name: 0 for name in w}
    for step in range(STEPS):
        assert len(set(windows[step])) == 8 and windows[step].max() < len(text) - CONTEXT
        loss, g = loss_and_gradients(w, text[windows[step][:, None] + np.arange(CONTEXT + 1)])
        assert abs(loss - losses[step]) < 2e-5 * loss, (step, loss, losses[step])
        for name in w:
            mean[name] = 0.9 * mean[name] + 0.1 * g[name]
            square[name] = 0.999 * square[name] + 0.001 * g[name] ** 2
            change = mean[name] / (1 - 0.9 ** (step + 1))
            w[name] = w[name] - RATE * change / (np.sqrt(square[name] / (1 - 0.999 ** (step + 1))) + 1e-8)
    assert losses[-1] < 0.8 * losses[0]
    assert set(w) == set(end)
    for i in range(BLOCKS):
        # A bias of keys moves all scores of a row alike. Its gradient is 0; Adam follows the rounding.
        for weights in (w, end):
            weights['blocks.%d.attention.qkv.b' % i][WIDTH:2 * WIDTH] = 0
    worst = max(np.abs(w[name] - end[name]).max() for name in w)
    assert worst < 2e-3, worst
    print('%d steps, losses %.5f to %.5f, the worst weight differs by %.1e' % (STEPS, losses[0], losses[-1], worst))


main()
