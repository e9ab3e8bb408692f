"""numpy/examples.py: the Python examples of a document, run in the order in which they stand.

  examples.py TERN PAGE

A `python` block runs, after the files and the commands before it, with what earlier ones have imported and bound;
the `text` block after it is what it must print.
"""
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r'(?:<!-- file: (\S+) -->\n)?```(\w+)[^\n]*\n(.*?)```', re.S)


def run_page(tern, page):
    """Runs the page in the current folder; gives how many outputs were compared, and what differed."""
    env = dict(os.environ, PATH=os.path.dirname(tern) + ':' + os.environ['PATH'], XDG_DATA_HOME=os.getcwd())
    printed, compared, wrong, names = None, 0, [], {}
    for name, kind, body in BLOCK.findall(open(page, encoding='utf-8').read()):
        if name:
            with open(name, 'w', encoding='utf-8') as file:
                file.write(body)
        elif kind == 'text' and printed is not None:
            compared += 1
            if printed != body:
                wrong.append('%s prints %r, not %r' % (page, printed, body))
        elif kind in ('console', 'sh'):
            for line in re.findall(r'^\$ (.*)$' if '\n$ ' in '\n' + body else r'^(tern .*)$', body, re.M):
                subprocess.run(line, shell=True, env=env, check=True, stdout=subprocess.DEVNULL)
        printed = None
        if kind == 'python' and not name:
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(body, names)
            printed = out.getvalue()
    return compared, wrong


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as folder:
        tern, page = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
        os.chdir(folder)
        compared, wrong = run_page(tern, page)
        os.chdir('/')
    print('\n'.join(wrong + ['%d examples, %d differ' % (compared, len(wrong))]))
    sys.exit(bool(wrong) or not compared)
