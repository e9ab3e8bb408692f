"""numpy/formats.py: files that NumPy writes are read, and files that tern writes NumPy reads.

  formats.py TERN ROOT

Run by Debian's Python with Debian's NumPy. The Python examples of docs/formats.md are executed too, after the
commands that stand before them, and must print what the document says.
"""
import json
import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

import examples

TERN, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
failures = 0


def tern(*words, ok=True):
    done = subprocess.run([TERN, *words], capture_output=True, text=True)
    assert done.returncode == (0 if ok else done.returncode), done.stderr
    return done.stdout if ok else (done.returncode, done.stderr)


def check(what, condition):
    global failures
    if not condition:
        failures += 1
        print('FAILED:', what)


MODEL = 'model { x [B, 3] param W [3, 2] param b [2] y = linear(x, W, b) }'


def outputs(*words):
    answer = json.loads(tern('run', 'm.ail', '--json', *words))['outputs'][0]
    return np.array(answer['data'], np.float32).reshape(answer['shape'])


def reads_what_numpy_writes():
    with open('m.ail', 'w') as file:
        file.write(MODEL)
    rng = np.random.default_rng(1)
    x = rng.normal(size=(5, 3)).astype(np.float32)
    w, b = rng.normal(size=(3, 2)).astype(np.float32), rng.normal(size=2).astype(np.float32)
    np.save('x.npy', x)
    np.savez('stored.npz', x=x, W=w, b=b, other=np.arange(1000))
    np.savez_compressed('packed.npz', x=x, W=w, b=b, zeros=np.zeros((300, 300)), noise=rng.normal(size=5000))
    np.savez('one.npz', x)
    params = ['--param', 'W=@%s.npz:W', '--param', 'b=@%s.npz:b']
    wanted = outputs('--input', 'x=@x.npy', *[p % 'stored' if '%' in p else p for p in params])
    check('a model with weights of an archive computes', np.allclose(wanted, x @ w + b, atol=1e-5))
    packed = outputs('--input', 'x=@packed.npz:x', *[p % 'packed' if '%' in p else p for p in params])
    check('a packed archive is the same', (packed == wanted).all())
    eye = ['--param', 'W=[[1, 0], [0, 1], [0, 0]]', '--param', 'b=[0, 0]']
    check('the only array needs no name', outputs('--input', 'x=@one.npz').shape == (5, 2))
    check('the ending may be written', outputs('--input', 'x=@stored.npz:x.npy').shape == (5, 2))
    integers = [order + kind + size for order in '<>' for kind in 'iu' for size in '1248']
    for dtype in integers:
        numbers = np.array([[0, 1, 2], [100, 127, 7]]).astype(dtype)
        for order in 'CF':
            np.save('i.npy', np.array(numbers, order=order))
            check('%s is read in order %s' % (dtype, order),
                  (outputs('--input', 'x=@i.npy', *eye) == numbers[:, :2]).all())
    for dtype in (np.float64, np.bool_, '>f4', np.float16):
        np.savez_compressed('d.npz', x=np.asfortranarray((x > 0).astype(dtype)))
        check('%s is read' % dtype, outputs('--input', 'x=@d.npz:x').shape == (5, 2))


def refuses():
    for words, status, said in [
            (['x=@stored.npz:y'], 2, 'no array y'),
            (['x=@stored.npz'], 2, 'several arrays'),
            (['x=@missing.npz:x'], 2, 'missing.npz'),
            (['x=@x.txt'], 2, '.json, an .npy or an .npz'),
            (['x=@m.npz:x'], 1, 'E_FILE_CORRUPT')]:
        with open('m.npz', 'wb') as file:
            file.write(b'PK\x05\x06 no archive')
        got, message = tern('run', 'm.ail', '--input', *words, ok=False)
        check('%s gives %d and says %r: %d %s' % (words, status, said, got, message), got == status and said in message)
    whole = open('packed.npz', 'rb').read()
    for at in list(range(0, len(whole), 397)) + list(range(len(whole) - 60, len(whole))):
        for change in (lambda b: b[:at], lambda b: b[:at] + bytes([b[at] ^ 0x41]) + b[at + 1:]):
            with open('broken.npz', 'wb') as file:
                file.write(change(whole))
            got, message = tern('run', 'm.ail', '--input', 'x=@broken.npz:x', ok=False)
            check('damage at %d ends with %d: %s' % (at, got, message), got in (0, 1, 2))


def bombs():
    """An archive of 256 kB that unpacks to 256 MB: refused by what its header says, before memory is allocated."""
    np.save('head.npy', np.zeros((5, 2), np.float32))
    with zipfile.ZipFile('lie.npz', 'w', zipfile.ZIP_DEFLATED) as archive, archive.open('x.npy', 'w') as member:
        member.write(open('head.npy', 'rb').read())
        for _ in range(256):
            member.write(bytes(1 << 20))
    got, message = tern('run', 'm.ail', '--input', 'x=@lie.npz:x', '--max-mem', '4M', ok=False)
    check('a member that lies about its size: ' + message, got == 1 and 'size does not match its header' in message)
    np.savez_compressed('large.npz', x=np.zeros((1 << 13, 1 << 13), np.float32))
    got, message = tern('run', 'm.ail', '--input', 'x=@large.npz:x', '--max-mem', '4M', ok=False)
    check('an honest large one meets the limit: ' + message, got == 1 and 'E_MEMORY_LIMIT' in message)


def writes_what_numpy_reads():
    tern('emit', 'm.ail', '--as', 'npz', '-o', 'weights.npz', '--param', 'b=[7,8]')
    loaded = np.load('weights.npz')
    check('every parameter is there', sorted(loaded.files) == ['W', 'b'])
    check('with its values', (loaded['b'] == np.array([7, 8], np.float32)).all() and loaded['W'].shape == (3, 2))
    check('numpy finds no fault in it', __import__('zipfile').ZipFile('weights.npz').testzip() is None)


def documents():
    compared, wrong = examples.run_page(TERN, os.path.join(ROOT, 'docs/formats.md'))
    for what in wrong:
        check(what, False)
    check('the page has Python examples', compared >= 3)


for parts in ([reads_what_numpy_writes, refuses, bombs, writes_what_numpy_reads], [documents]):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in parts:
            part()
        os.chdir('/')
print('numpy: %d failures' % failures)
sys.exit(failures != 0)
