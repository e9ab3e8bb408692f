"""numpy/models.py: first values, composed operations and a whole GPT, beside the same in NumPy.

  models.py TERN ROOT

NumPy computes in f64 from the definitions, so results agree to f32's precision. The generator is written down
here again, from docs/numerics.md; first values agree to the last bit, normal ones to one unit.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

TERN, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
failures = checks = 0


def check(what, condition, *why):
    global failures, checks
    checks += 1
    if not condition:
        failures += 1
        print('FAILED:', what, *why)


def tern(*words):
    done = subprocess.run([TERN, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def write(name, text):
    with open(name, 'w', encoding='utf-8') as file:
        file.write(text)


# ---- the generator ----

def key_of(seed):
    words, mask = [], (1 << 64) - 1
    for _ in range(8):
        seed = (seed * 6364136223846793005 + 11634580027462260723) & mask
        x, right = (((seed >> 18) ^ seed) >> 27) & 0xFFFFFFFF, seed >> 59
        words.append((x >> right | x << (32 - right) % 32) & 0xFFFFFFFF)
    return words


def words_of(seed, count):
    """The first words of a seed's sequence: ChaCha with 8 rounds, a column of the state for each block."""
    blocks = (count + 15) // 16
    head = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] + key_of(seed)
    start = np.zeros((16, blocks), np.uint32)
    start[:12] = np.array(head, np.uint32)[:, None]
    start[12] = np.arange(blocks)
    s = start.copy()

    def turn(a, bits):
        return a << np.uint32(bits) | a >> np.uint32(32 - bits)

    def quarter(a, b, c, d):
        s[a] += s[b]; s[d] = turn(s[d] ^ s[a], 16)
        s[c] += s[d]; s[b] = turn(s[b] ^ s[c], 12)
        s[a] += s[b]; s[d] = turn(s[d] ^ s[a], 8)
        s[c] += s[d]; s[b] = turn(s[b] ^ s[c], 7)

    for _ in range(4):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return (s + start).T.reshape(-1)[:count]


class Draws:
    def __init__(self, seed):
        self.u, self.at = (words_of(seed, 1 << 20) >> np.uint32(8)).astype(np.float64) * 2.0 ** -24, 0

    def uniform(self, *shape):
        count = int(np.prod(shape))
        self.at += count
        return self.u[self.at - count:self.at].reshape(shape)

    def normal(self, deviation, *shape):
        u = self.uniform(*shape, 2)
        first = np.where(u[..., 0] == 0, 2.0 ** -25, u[..., 0])
        z = np.sqrt(-2 * np.log(first)) * np.cos(2 * np.pi * u[..., 1])
        return (deviation * z.astype(np.float32).astype(np.float64)).astype(np.float32)


# ---- the operations ----

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def standard(x, axes, eps):
    mean = x.mean(axes, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + eps)


def attention(q, k, v, heads=1, causal=False):
    def split(x):
        return x.reshape(*x.shape[:-1], heads, -1).swapaxes(-3, -2)
    q, k, v = split(q), split(k), split(v)
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        queries, keys = scores.shape[-2:]
        scores = np.where(np.tril(np.ones((queries, keys)), keys - queries) > 0, scores, -np.inf)
    return (softmax(scores) @ v).swapaxes(-3, -2).reshape(*q.shape[:-3], q.shape[-2], -1)


def pool(x, kh, kw, sh, sw, how):
    n, h, w, c = x.shape
    return np.array([[[how(x[i, y:y + kh, z:z + kw].reshape(-1, c), 0) for z in range(0, w - kw + 1, sw)]
                      for y in range(0, h - kh + 1, sh)] for i in range(n)])


def huber(a, b, delta):
    d = np.abs(a - b)
    return np.where(d <= delta, d * d / 2, delta * (d - delta / 2)).mean()


def erf(x):
    import math
    return np.vectorize(math.erf)(x)


def gelu(x):
    return x * (1 + erf(x / np.sqrt(2))) / 2


def check_operations():
    random = np.random.default_rng(1)
    shapes = {'x': (2, 5, 6), 'k': (2, 7, 6), 'v': (2, 7, 8), 'image': (2, 5, 7, 6), 'g': (6,), 'b': (6,)}
    values = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    wide = {name: value.astype(np.float64) for name, value in values.items()}
    x, k, v, image, g, b = (wide[name] for name in shapes)
    split = image.reshape(2, 5, 7, 3, 2)
    cases = {
        'attention(x, x, x)': attention(x, x, x),
        'attention(x, k, v, 2)': attention(x, k, v, 2),
        'attention(x, x, x, heads=3, causal=true)': attention(x, x, x, 3, True),
        'attention(x, k, v, 2, true)': attention(x, k, v, 2, True),
        'softmax(causal(matmul(x, transpose(x, [0, 2, 1]))))':
            softmax(np.where(np.tril(np.ones((5, 5))) > 0, x @ x.swapaxes(1, 2), -np.inf)),
        'rms_norm(x, g)': x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * g,
        'rms_norm(x, g, 0.5)': x / np.sqrt((x * x).mean(-1, keepdims=True) + 0.5) * g,
        'layer_norm(x, g, b)': standard(x, -1, 1e-5) * g + b,
        'group_norm(image, 3, g, b)': standard(split, (1, 2, 4), 1e-5).reshape(image.shape) * g + b,
        'group_norm(image, 1, g, b, 0.1)': standard(image, (1, 2, 3), 0.1) * g + b,
        'instance_norm(image, g, b)': standard(image, (1, 2), 1e-5) * g + b,
        'instance_norm(x, g, b, 0.1)': standard(x, 1, 0.1) * g + b,
        'maxpool(x)': x.max(1),
        'meanpool(x)': x.mean(1),
        'maxpool2d(image, 2)': pool(image, 2, 2, 2, 2, np.max),
        'maxpool2d(image, [3, 2], stride=[1, 2])': pool(image, 3, 2, 1, 2, np.max),
        'meanpool2d(image, 3, 2)': pool(image, 3, 3, 2, 2, np.mean),
        'mse(x, x * 0)': (x * x).mean(), 'mae(x, g)': np.abs(x - g).mean(),
        'huber(x, g)': huber(x, g, 1), 'huber(x, g, 0.3)': huber(x, g, 0.3),
        'gelu(x)': gelu(x),
    }
    words = []
    for name, value in values.items():
        np.save(name + '.npy', value)
        words += ['--input', name + '=@' + name + '.npy']
    inputs = 'x [B, T, 6] k [B, S, 6] v [B, S, 8] image [B, H, W, 6] g [6] b [6]'
    for call, want in cases.items():
        write('op.ail', 'model { %s\n  y = %s\n}\n' % (inputs, call))
        got = json.loads(tern('run', 'op.ail', '--json', *words))['outputs'][0]
        same = got['shape'] == list(np.shape(want))
        far = np.abs(np.array(got['data']) - np.ravel(want)).max() if same else None
        check(call, same and far < 2e-6, got['shape'], far)


# ---- first values ----

def check_starts():
    write('starts.ail', '''model {
  param usual [3, 5]
  param none [4] init zeros
  param narrow [7, 3] init normal(0.02)
  param wide [5] init uniform(2.5)
  param between [2, 2] init uniform(-1, 3)
  param kernel [3, 3, 2, 4] init glorot
  param all [2] init ones
  y = usual
}
''')
    tern('emit', 'starts.ail', '--as', 'npz', '-o', 'starts.npz', '--seed', '7')
    got, draws = np.load('starts.npz'), Draws(7)
    want = {'usual': ((2 * draws.uniform(3, 5) - 1) * np.sqrt(6 / 8)), 'none': np.zeros(4),
            'narrow': draws.normal(0.02, 7, 3), 'wide': 5 * draws.uniform(5) - 2.5,
            'between': 4 * draws.uniform(2, 2) - 1,
            'kernel': (2 * draws.uniform(3, 3, 2, 4) - 1) * np.sqrt(6 / (9 * 2 + 9 * 4)), 'all': np.ones(2)}
    for name, value in want.items():
        value = value.astype(np.float32)
        units = np.abs(got[name].view(np.int32).astype(np.int64) - value.view(np.int32)).max()
        check('first values of ' + name, units <= (1 if name == 'narrow' else 0), units)


# ---- a GPT ----

def gpt_loss(p, tokens, labels, layers, heads):
    """The model of examples/ail/gpt.ail, from its description: pre-norm blocks, causal attention, a tied table."""
    def dense(x, name):
        return x @ p[name + '.W'] + p[name + '.b']

    def norm(x, name):
        return standard(x, -1, 1e-5) * p[name + '.gamma'] + p[name + '.beta']
    x = p['E'][tokens] + p['P']
    for i in range(layers):
        block = 'block.%d.' % i
        h = norm(x, block + 'norm.0')
        q, k, v = (dense(h, block + 'dense.%d' % n) for n in range(3))
        x = x + dense(attention(q, k, v, heads, True), block + 'dense.3')
        h = dense(norm(x, block + 'norm.1'), block + 'dense.4')
        x = x + dense(gelu(h), block + 'dense.5')
    logits = norm(x, 'norm') @ p['E'].T
    rows = logits - logits.max(-1, keepdims=True)
    chosen = np.take_along_axis(rows, labels[..., None], -1)[..., 0]
    return logits, (np.log(np.exp(rows).sum(-1)) - chosen).mean()


def read_weights(path):
    with open(path, 'rb') as file:
        size = int.from_bytes(file.read(8), 'little')
        header, body = json.loads(file.read(size)), file.read()
    return {name: np.frombuffer(body[slice(*entry['data_offsets'])], np.float32).reshape(entry['shape'])
            for name, entry in header.items() if name != '__metadata__'}


def check_gpt():
    text = open(os.path.join(ROOT, 'examples/ail/gpt.ail'), encoding='utf-8').read()
    for old, new in (('D = 128', 'D = 16'), ('T = 64', 'T = 8'), ('LAYERS = 4', 'LAYERS = 2'), ('0.02', '0.2')):
        assert old in text
        text = text.replace(old, new)
    model = text[:text.index('\ntrain {')]
    write('gpt.ail', model + '\ntrain {\n  loss = xent(logits, labels)\n  steps = 1\n  lr = 0.5\n  batch = 3\n}\n')
    vocabulary = int(text[text.index('const V = '):].split()[3])
    random = np.random.default_rng(2)
    tokens, labels = (random.integers(0, vocabulary, (3, 8)).astype(np.int32) for _ in range(2))
    np.save('tokens.npy', tokens)
    np.save('labels.npy', labels)
    words = ['gpt.ail', '--input', 'tokens=@tokens.npy', '--input', 'labels=@labels.npy']
    answer = json.loads(tern('train', *words, '--json', '--out', 'run'))
    after = {name: value.astype(np.float64) for name, value in read_weights('run/weights.safetensors').items()}
    tern('emit', 'gpt.ail', '--as', 'npz', '-o', 'gpt.npz')
    before = {name: value.astype(np.float64) for name, value in np.load('gpt.npz').items()}
    check('a GPT has the params of its layers', sorted(before) == sorted(p['name'] for p in answer['params']))
    logits, loss = gpt_loss(before, tokens, labels, 2, 4)
    got = json.loads(tern('run', *words, '--json'))['outputs'][0]
    far = np.abs(np.array(got['data']) - logits.ravel()).max()
    check('the logits of a GPT', got['shape'] == [3, 8, vocabulary] and far < 2e-5, far)
    check('the loss of a GPT', abs(answer['history'][0]['loss'] - loss) < 1e-5, answer['history'][0], loss)
    # What the step took off, divided by the rate, is the gradient: the slope of the loss along it is its square.
    gradient = {name: (before[name] - after[name]) / 0.5 for name in before}
    square = sum((g * g).sum() for g in gradient.values())
    along = [gpt_loss({n: before[n] + h * gradient[n] for n in before}, tokens, labels, 2, 4)[1] for h in (-1e-4, 1e-4)]
    slope = (along[1] - along[0]) / 2e-4
    check('the gradient of a GPT', abs(slope - square) < 1e-4 * square, slope, square)
    moved = [name for name, g in gradient.items() if not np.abs(g).max() > 0]
    check('every param of a GPT gets a gradient', not [n for n in moved if not n.endswith('dense.1.b')], moved)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    check_starts()
    check_operations()
    check_gpt()
    os.chdir('/')
print('%d comparisons, %d differ' % (checks, failures))
sys.exit(bool(failures))
