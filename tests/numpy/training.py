"""numpy/training.py: metrics, optimisers and schedules beside the same formulas written with NumPy.

  training.py TERN

Every number that `tern train` reports here is computed a second time from the data, in f64 and without tern.
"""
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

TERN = os.path.abspath(sys.argv[1])
checked = 0


def train(program, *options, status=0):
    with open('m.ail', 'w', encoding='utf-8') as file:
        file.write(program)
    done = subprocess.run([TERN, 'train', 'm.ail', '--allow', 'fileread', '--json', *options],
                          stdout=subprocess.PIPE, check=False)
    answer = json.loads(done.stdout)
    assert done.returncode == status, answer
    return answer


def close(what, got, wanted, tolerance):
    global checked
    checked += 1
    if not np.allclose(got, wanted, rtol=tolerance, atol=tolerance):
        sys.exit('%s is %r, not %r' % (what, got, wanted))


def equal(what, got, wanted):
    global checked
    checked += 1
    if got != wanted:
        sys.exit('%s is %r, not %r' % (what, got, wanted))


def write_tsv(columns):
    with open('data.tsv', 'w', encoding='utf-8') as file:
        for row in zip(*columns):
            file.write('\t'.join(repr(float(v)) if isinstance(v, (float, np.floating)) else str(int(v))
                                 for v in row) + '\n')


# ---- metrics of classes ----

def class_metrics(logits, labels, k):
    """accuracy, top-k, precision, recall, f1 and perplexity, one row after the other."""
    classes = logits.shape[1]
    predicted = np.array([int(np.argmax(row)) for row in logits])
    order = [sorted(range(classes), key=lambda c, row=row: (-row[c], c)) for row in logits]
    top = np.mean([label in place[:k] for label, place in zip(labels, order)])
    scores = {}
    for c in range(classes):
        both = np.sum((predicted == c) & (labels == c))
        said, there = np.sum(predicted == c), np.sum(labels == c)
        if said + there == 0:
            continue
        p, r = (both / said if said else 0.0), (both / there if there else 0.0)
        scores[c] = (p, r, 2 * p * r / (p + r) if p + r else 0.0)
    three = scores.get(1, (0.0, 0.0, 0.0)) if classes == 2 else np.mean(list(scores.values()), axis=0)
    exact = logits.astype(np.float64)
    shifted = exact - exact.max(axis=1, keepdims=True)
    log_softmax = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    surprise = -log_softmax[np.arange(len(labels)), labels].mean()
    return {'accuracy': np.mean(predicted == labels), 'top%d' % k: top, 'precision': three[0], 'recall': three[1],
            'f1': three[2], 'perplexity': math.exp(surprise)}


CLASSES = '''
model {
  x [B, %(classes)d]
  labels [B]
  param W [%(classes)d, %(classes)d]
  logits = matmul(x, W)
}
train { loss = xent(logits, labels) steps = 1 lr = 0 }
dataset { format = "tsv" path = "data.tsv" }
eval { metrics = [%(metrics)s] split = "train" }
'''


def check_classes(rows, classes, k, missing=()):
    rng = np.random.default_rng(rows)
    logits = rng.integers(-8, 9, (rows, classes)).astype(np.float32) / 4  # with ties
    labels = rng.integers(0, classes, rows)
    for c in missing:
        labels[labels == c] = 0
        logits[:, c] = -100
    write_tsv([*logits.T, labels])
    wanted = class_metrics(logits, labels, k)
    if k >= classes:
        del wanted['top%d' % k]
    identity = json.dumps(np.eye(classes).tolist())
    answer = train(CLASSES % {'classes': classes, 'metrics': ', '.join(['loss', *wanted])}, '--param',
                   'W=' + identity)
    got = answer['history'][0]['eval']
    equal('the order of metrics', list(got), ['loss', *wanted])
    for name, value in wanted.items():
        close('%s of %d classes and %d rows' % (name, classes, rows), got[name], value, 1e-12)
    close('the loss of the perplexity', math.exp(got['loss']), got['perplexity'], 1e-5)


# ---- metrics of numbers ----

NUMBERS = '''
model {
  x [B, %(width)d]
  target [B%(more)s]
  param s []
  y = %(output)s
}
train { loss = mse_loss(y, target) steps = 1 lr = 0 }
dataset { format = "csv" path = "data.csv" x = 0-%(last)d target = %(columns)s header = false }
eval { metrics = [loss, mae, rmse, r2] split = "train" }
'''


def check_numbers(rows, width, constant=False):
    rng = np.random.default_rng(width)
    x = rng.normal(size=(rows, width)).astype(np.float32)
    target = (x + rng.normal(size=x.shape) / 3).astype(np.float32)
    if constant:
        target[:, 0] = 1.5
    with open('data.csv', 'w', encoding='utf-8') as file:
        for row in np.concatenate([x, target], axis=1):
            file.write(','.join('%.9g' % v for v in row) + '\n')
    one = width == 1
    answer = train(NUMBERS % {'width': width, 'last': width - 1, 'more': '' if one else ', %d' % width,
                              'columns': str(width) if one else '%d-%d' % (width, 2 * width - 1),
                              'output': 'reshape(x, [@0]) + s' if one else 'x + s'})
    got = answer['history'][0]['eval']
    exact, wanted = x.astype(np.float64), target.astype(np.float64)
    error = wanted - exact
    spread = ((wanted - wanted.mean(axis=0)) ** 2).sum(axis=0)
    parts = [1 - (error[:, j] ** 2).sum() / spread[j] if spread[j] > 0 else 0.0 for j in range(width)]
    close('mae', got['mae'], np.abs(error).mean(), 1e-12)
    close('rmse', got['rmse'], math.sqrt((error ** 2).mean()), 1e-12)
    close('r2', got['r2'], np.mean(parts), 1e-12)
    close('rmse squared', got['rmse'] ** 2, got['loss'], 1e-5)


# ---- optimisers and schedules ----

LINEAR = '''
model {
  x [B, 3]
  target [B]
  param W [3]
  param b []
  y = sum(x * W, axes=[1]) + b
}
train { loss = mse_loss(y, target) steps = %(steps)d batch = 2 lr = 0.1 %(fields)s }
dataset { format = "csv" path = "data.csv" x = 0-2 target = 3 header = false }
'''


def learning_rate(step, steps, lr, schedule='constant', warmup=0, min_lr=0.0):
    if step < warmup:
        return lr * (step + 1) / warmup
    done = (step - warmup) / (steps - warmup)
    shape = {'constant': 1.0, 'linear': 1 - done, 'cosine': (1 + math.cos(math.pi * done)) / 2}[schedule]
    return min_lr + (lr - min_lr) * shape


def update(p, g, state, t, lr, o, decay):
    kind = o.get('optimizer', 'sgd')
    if kind != 'adamw':
        g = g + decay * p
    if kind == 'sgd':
        return p - lr * g
    if kind == 'momentum':
        state['m'] = o.get('momentum', 0.9) * state.get('m', 0) + g
        return p - lr * state['m']
    b1, b2 = o.get('beta1', 0.9), o.get('beta2', 0.999)
    state['m'] = b1 * state.get('m', 0) + (1 - b1) * g
    state['v'] = b2 * state.get('v', 0) + (1 - b2) * g * g
    step = state['m'] / (1 - b1 ** t) / (np.sqrt(state['v'] / (1 - b2 ** t)) + o.get('eps', 1e-8))
    return p - lr * step - (lr * decay * p if kind == 'adamw' else 0)


def read_weights(path):
    data = open(path, 'rb').read()
    size = int.from_bytes(data[:8], 'little')
    head = json.loads(data[8:8 + size])
    out = {}
    for name, entry in head.items():
        if name != '__metadata__':
            first, last = entry['data_offsets']
            out[name] = np.frombuffer(data[8 + size + first:8 + size + last], '<f4').reshape(entry['shape'])
    return out


def check_optimizer(fields, exempt=(), steps=12, **o):
    """Two rows that are the same: every batch is known, whatever is drawn."""
    x, target = np.array([0.5, -1.25, 2.0]), 0.75
    with open('data.csv', 'w', encoding='utf-8') as file:
        file.write('0.5,-1.25,2,0.75\n' * 2)
    text = ' '.join('%s = %s' % (k, json.dumps(v)) for k, v in o.items()) + ' ' + fields
    start = {'W': np.array([0.3, -0.2, 0.1]), 'b': np.array(0.4)}
    answer = train(LINEAR % {'steps': steps, 'fields': text}, '--out', 'run', '--param', 'W=[0.3,-0.2,0.1]',
                   '--param', 'b=0.4')
    p, states = dict(start), {'W': {}, 'b': {}}
    for step in range(steps):
        error = float(x @ p['W'] + p['b'] - target)
        close('loss of step %d with %s' % (step, text), answer['history'][step]['loss'], error ** 2, 2e-4)
        grads = {'W': 2 * error * x, 'b': np.array(2 * error)}
        if 'clip_norm' in o:
            norm = math.sqrt(sum(float((g ** 2).sum()) for g in grads.values()))
            grads = {n: g * (o['clip_norm'] / max(norm, o['clip_norm'])) for n, g in grads.items()}
        lr = learning_rate(step, steps, 0.1, o.get('schedule', 'constant'), o.get('warmup', 0), o.get('min_lr', 0.0))
        for name in p:
            decay = 0.0 if name in exempt else o.get('weight_decay', 0.0)
            p[name] = update(p[name], grads[name], states[name], step + 1, lr, o, decay)
    weights = read_weights('run/weights.safetensors')
    for name, value in p.items():
        close('%s with %s' % (name, text), weights[name], value, 2e-4)
    done = subprocess.run([TERN, 'verify', 'run', '--allow', 'fileread'], stdout=subprocess.PIPE, check=False)
    equal('the status of tern verify', done.returncode, 0)


# ---- batches ----

BATCHES = '''
model {
  x [B, 2]
  labels [B]
  param W [2, 2]
  logits = dropout(matmul(x, W), 0.25)
}
train { loss = xent(logits, labels) steps = 6 lr = 0.5 optimizer = "adam" %s }
dataset { format = "tsv" path = "data.tsv" }
'''

EPOCHS = '''
model {
  x [B]
  y = sum(x)
}
train { loss = y epochs = %d batch = %d }
dataset { format = "csv" path = "data.csv" header = false x = 0 }
'''


def check_accumulate():
    rng = np.random.default_rng(1)
    write_tsv([*rng.normal(size=(2, 20)), rng.integers(0, 2, 20)])
    for small, large in [('batch = 4 accumulate = 3', 'batch = 12 shards = 3'),
                         ('batch = 4 shards = 2 accumulate = 2', 'batch = 8 shards = 4'),
                         ('batch = 4 accumulate = 1', 'batch = 4')]:
        one, other = train(BATCHES % small), train(BATCHES % large)
        equal('the weights of ' + small, one['weights_sha256'], other['weights_sha256'])
        equal('the history of ' + small, one['history'], other['history'])
        ranks = train(BATCHES % small, '--ranks', '2')
        equal('the weights of two ranks with ' + small, ranks['weights_sha256'], one['weights_sha256'])


def check_epochs():
    """The loss of a step is the row that was drawn; powers of two tell them apart."""
    with open('data.csv', 'w', encoding='utf-8') as file:
        file.write(''.join('%d\n' % 2 ** i for i in range(7)))
    losses = [row['loss'] for row in train(EPOCHS % (5, 1))['history']]
    equal('the steps of 5 epochs of 7 rows', len(losses), 35)
    epochs = [losses[i:i + 7] for i in range(0, 35, 7)]
    for epoch in epochs:
        equal('the rows of an epoch', sorted(epoch), [2.0 ** i for i in range(7)])
    equal('whether epochs have orders of their own', len({tuple(e) for e in epochs}) > 1, True)
    whole = train(EPOCHS % (2, 3))['history']
    equal('the steps of 2 epochs in batches of 3', len(whole), 5)
    equal('every row twice, before the last batch is filled', sum(row['loss'] for row in whole[:4]) > 2 * 127 - 128,
          True)
    equal('batches of 3 go through the same rows', [row['loss'] for row in whole[:2]],
          [sum(losses[0:3]), sum(losses[3:6])])
    train(EPOCHS % (5, 1), '--out', 'run', '--max-steps', '10', status=1)
    resumed = train(EPOCHS % (5, 1), '--resume', 'run')
    equal('a resumed run', [row['loss'] for row in resumed['history']], losses)


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ['XDG_DATA_HOME'] = folder
        check_classes(40, 2, 1)
        check_classes(200, 7, 3, missing=(2, 5))
        check_classes(2500, 4, 2)
        check_numbers(50, 1)
        check_numbers(30, 3)
        check_numbers(30, 2, constant=True)
        check_numbers(1500, 1)
        check_optimizer('')
        check_optimizer('', optimizer='momentum', momentum=0.5, weight_decay=0.05)
        check_optimizer('', optimizer='adam', beta1=0.8, beta2=0.9, eps=0.01)
        check_optimizer('', optimizer='adam', beta1=0.0, beta2=0.5)
        check_optimizer('no_decay = [b]', exempt=('b',), optimizer='adamw', weight_decay=0.3)
        check_optimizer('decay = ["W*"]', exempt=('b',), weight_decay=0.2)
        check_optimizer('no_decay = ["*"]', exempt=('W', 'b'), weight_decay=0.2, optimizer='adam')
        check_optimizer('', schedule='cosine', min_lr=0.02, warmup=3)
        check_optimizer('', schedule='linear', min_lr=0.05, clip_norm=0.5)
        check_accumulate()
        check_epochs()
        os.chdir('/')
    print('%d numbers compared' % checked)
