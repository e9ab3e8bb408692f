"""numpy/answers.py: data that NumPy wrote, and answers that NumPy computes again.

  answers.py TERN

Arrays of several dtypes, orders of axes and compressions train one model. Its answers, as npy, csv and jsonl, are
those of the same arithmetic in NumPy on the weights of the run; so are the confusion matrix and the worst rows
that an evaluation records. A text that a run generates at temperature 0 is the
one that NumPy finds by taking the largest score at every place.
"""
import csv
import hashlib
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

CLASSES = '''
model { x [B, 3, 2] labels [B] param W [6, 4] logits = matmul(reshape(x, [B, 6]), W) }
train { loss = xent(logits, labels) steps = 60 lr = 0.3 }
dataset { format = "npz" path = "data.npz" normalize = [x] }
'''
NUMBERS = '''
model { x [B, 5] y [B, 2] param W [5, 2] param b [2] p = linear(x, W, b) }
train { loss = mse_loss(p, y) steps = 100 lr = 0.05 }
dataset { format = "npz" path = "data.npz" normalize = [x, y] }
'''
TEXT = '''
const T = 5
model {
  tokens [B, T]
  labels [B, T]
  param E [16, 8]
  param P [T, 8]
  param W [8, 16]
  x = embedding(tokens, E) + P
  logits = matmul(x + attention(x, x, x, 2, causal=true), W)
}
train { loss = xent(logits, labels) steps = 400 lr = 0.5 batch = 8 }
dataset { format = "text" path = "text.txt" tokens = chars() }
'''


def tern(*words):
    return subprocess.run([TERN, *words], check=True, capture_output=True, text=True).stdout


def train(text, folder):
    with open(folder + '.ail', 'w', encoding='utf-8') as file:
        file.write(text)
    tern('train', folder + '.ail', '--allow', 'fileread', '--out', folder, '-q')
    return weights(folder)


def weights(folder):
    with open(folder + '/weights.safetensors', 'rb') as file:
        head = json.loads(file.read(int.from_bytes(file.read(8), 'little')))
        data = file.read()
    return {name: np.frombuffer(data[slice(*at['data_offsets'])], np.float32).reshape(at['shape'])
            for name, at in head.items() if name != '__metadata__'}


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def close(got, wanted, what):
    got, wanted = np.asarray(got, np.float64), np.asarray(wanted, np.float64)
    assert got.shape == wanted.shape, (what, got.shape, wanted.shape)
    assert np.allclose(got, wanted, rtol=1e-4, atol=1e-5), (what, np.abs(got - wanted).max())


def answers(folder, data):
    """The same answers in every form."""
    for form in ('npy', 'csv', 'jsonl'):
        tern('predict', folder, data, '-o', 'answers.' + form)
    with open('answers.csv', newline='', encoding='utf-8') as file:
        table = list(csv.reader(file))
    with open('answers.jsonl', encoding='utf-8') as file:
        return np.load('answers.npy'), table, [json.loads(line) for line in file]


def record(folder, data):
    tern('evaluate', folder, data, '--record')
    with open(folder + '/evaluation.json', encoding='utf-8') as file:
        found = json.load(file)
    with open(data, 'rb') as file:
        assert found['data_sha256'] == hashlib.sha256(file.read()).hexdigest()
    assert found['data'] == data and len(found['worst']) == 50
    return found


def worst_first(badness):
    """Places, the worst first, equal ones in their order; no two of the first 60 are nearly equal."""
    order = np.argsort(-badness, kind='stable')
    gaps = -np.diff(badness[order[:60]])
    assert (gaps > 1e-6 * badness.max()).all(), 'two rows are equally bad: choose another seed'
    return order[:50]


def check_recorded_classes(random, w, mean, deviation):
    rows = random.normal(3, 2, (1500, 3, 2)).astype(np.float32)
    labels = random.integers(0, 4, 1500)
    np.savez('judged.npz', x=rows, labels=labels)
    found = record('classes0', 'judged.npz')
    wanted = softmax(((rows.reshape(1500, 6) - mean) / deviation) @ w.astype(np.float64))
    confusion = np.zeros((4, 4), int)
    np.add.at(confusion, (labels, wanted.argmax(1)), 1)
    assert found['confusion'] == confusion.tolist() and found['classes'] == ['0', '1', '2', '3']
    assert found['rows'] == 1500 and found['class_count'] == 4
    own = wanted[np.arange(1500), labels]
    close(found['metrics']['loss'], -np.log(own).mean(), 'loss')
    order = worst_first(-np.log(own))
    assert [item['row'] for item in found['worst']] == (order + 1).tolist()
    assert [item['class'] for item in found['worst']] == [str(i) for i in labels[order]]
    assert [item['predicted'] for item in found['worst']] == [str(i) for i in wanted[order].argmax(1)]
    close([item['probability'] for item in found['worst']], own[order], 'probability')
    close([item['loss'] for item in found['worst']], -np.log(own[order]), 'losses')


def check_recorded_numbers(random, predict):
    rows, y = random.normal(0, 3, (1200, 5)), random.normal(1000, 200, (1200, 2))
    np.savez('judged.npz', x=rows, y=y)
    found = record('numbers', 'judged.npz')
    answer = predict(rows)
    order = worst_first(np.abs(answer - y).ravel())
    assert [(item['row'], item['place']) for item in found['worst']] == [(i // 2 + 1, i % 2 + 1) for i in order.tolist()]
    close([item['value'] for item in found['worst']], y.ravel()[order], 'value')
    close([item['answer'] for item in found['worst']], answer.ravel()[order], 'answer')
    close([item['error'] for item in found['worst']], np.abs(answer - y).ravel()[order], 'error')
    assert 'confusion' not in found


def check_classes(random):
    x = random.normal(3, 2, (200, 3, 2))
    labels = (x[:, 0, 0] > 3) * 2 + (x[:, 1, 1] > 3)
    single = x.astype(np.float32)
    forms = [dict(x=single, labels=labels),
             dict(x=np.asfortranarray(single), labels=labels.astype(np.uint8)),
             dict(x=single.astype('>f4').reshape(200, 6), labels=labels.astype(np.int16)[:, None])]
    hashes = set()
    for i, form in enumerate(forms):
        (np.savez_compressed if i == 1 else np.savez)('data.npz', **form)
        w = train(CLASSES, 'classes%d' % i)
        hashes.add(w['W'].tobytes())
    assert len(hashes) == 1, 'other dtypes and orders give other weights'
    rows = random.normal(3, 2, (1500, 3, 2)).astype(np.float32)
    np.savez('new.npz', x=rows)
    flat = single.reshape(200, 6).astype(np.float64)
    wanted = softmax(((rows.reshape(1500, 6) - flat.mean(0)) / flat.std(0)) @ w['W'])
    got, table, lines = answers('classes0', 'new.npz')
    close(got, wanted, 'npy')
    close(np.array([row[1:] for row in table[1:]], float), wanted, 'csv')
    close([line['probabilities'] for line in lines], wanted, 'jsonl')
    best = got.argmax(1)
    assert [int(row[0]) for row in table[1:]] == best.tolist()
    assert [int(line['prediction']) for line in lines] == best.tolist()
    check_recorded_classes(random, w['W'], flat.mean(0), flat.std(0))


def check_numbers(random):
    x = random.normal(0, 3, (100, 5))
    y = x[:, :2] * 40 + 1000
    np.savez('data.npz', x=x, y=y)
    w = train(NUMBERS, 'numbers')
    rows = random.normal(0, 3, (30, 5))
    np.savez('new.npz', x=rows)
    x, y = (a.astype(np.float32).astype(np.float64) for a in (x, y))

    def predict(rows):
        return (((rows - x.mean(0)) / x.std(0)) @ w['W'] + w['b']) * y.std(0) + y.mean(0)

    wanted = predict(rows)
    got, table, lines = answers('numbers', 'new.npz')
    close(got, wanted, 'npy')
    close(np.array(table[1:], float), wanted, 'csv')
    close([line['p'] for line in lines], wanted, 'jsonl')
    check_recorded_numbers(random, predict)


def scores(w, tokens):
    x = w['E'][tokens] + w['P'][:len(tokens)]
    parts = []
    for head in (x[:, :4], x[:, 4:]):
        s = np.where(np.tri(len(tokens), dtype=bool), head @ head.T / 2, -np.inf)
        parts.append(softmax(s) @ head)
    return (x + np.concatenate(parts, 1)) @ w['W']


def check_text():
    text = 'the tern turns, then the tern returns\n' * 5
    with open('text.txt', 'w', encoding='utf-8') as file:
        file.write(text)
    w = train(TEXT, 'text')
    with open('text/data.json', encoding='utf-8') as file:
        vocabulary = json.load(file)['inputs'][0]['vocabulary']
    window, made = [2 + vocabulary.index(c) for c in 'the'], ''
    for _ in range(30):
        row = scores(w, window)[-1].astype(np.float64)
        order = np.argsort(-row[2:2 + len(vocabulary)])
        assert row[2 + order[0]] - row[2 + order[1]] > 1e-4, 'two characters are equally likely: choose another seed'
        window = (window[-(5 // 2):] if len(window) == 5 else window) + [2 + int(order[0])]
        made += vocabulary[order[0]]
    for cache in ('on', 'off'):
        got = json.loads(tern('generate', 'text', '--prompt', 'the', '--tokens', '30', '--temperature', '0',
                              '--cache', cache, '--json'))
        assert len(set(made)) > 4 and got['text'] == made, (cache, got['text'], made)


if __name__ == '__main__':
    TERN = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ['XDG_DATA_HOME'] = folder
        check_classes(np.random.default_rng(1))
        check_numbers(np.random.default_rng(2))
        check_text()
        os.chdir('/')
