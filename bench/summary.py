"""The head of docs/performance.md: one table of the most important rows, and the same as a picture. Both are computed
from the raw rows further down on the page, so that they always agree with them.

  python3 bench/summary.py docs/performance.md    rewrites both from the rows that are there
"""
import math
import os
import sys

# Of each kind of work the row that stands for it, by how its title begins, on one thread.
ROWS = ("matmul 1024×1024 by", "text classifier V=20 ", "text classifier V=10000 ", "MLP 784-", "MLP 1024-",
        "Ninth: an operation on 0-d", "relu(a*b+c)*d-e, 10 million", "softmax 4096", "tanh of", "layer_norm",
        "conv2d", "attention", "process start", "peak memory", "JSONL")
BEGIN, END = "<!-- summary -->", "<!-- end of summary -->"


def raw_rows(page):
    """The rows of the table of workloads: (title, threads, tern, fastest peer, its ratio)."""
    rows = []
    for line in page.split("\n## Workloads\n", 1)[1].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 9 and cells[2].isdigit():
            title = cells[1].replace("workload c", "MLP 784-512-512-10")
            rows.append((title, int(cells[2]), cells[3], cells[5].split(", ")[0], cells[6].split(", ")[0]))
    return rows


def chosen(page):
    rows = raw_rows(page)
    found = [next((r for r in rows if r[0].startswith(begin) and r[1] == 1 and r[4] != "–"), None) for begin in ROWS]
    return [r for r in found if r]


def table(rows):
    lines = ["| workload, one thread | tern | fastest peer | ratio |", "|---|---|---|---|"]
    return "\n".join(lines + [f"| {title} | {tern} | {peer} | {ratio} |" for title, _, tern, peer, ratio in rows])


def text(page):
    return f"""{BEGIN}
A ratio is how many times as long the fastest peer takes, or how much more memory it needs: above 1
tern is better. Every workload on one and two threads is [further down](#workloads).

{table(chosen(page))}

![how many times as long the fastest peer takes, workload by workload](performance.svg)
{END}"""


# ---- the picture ----

LEFT, WIDTH, STEP, TOP, BOTTOM = 345, 420, 22, 34, 30
LOW, HIGH = 0.5, 1000


def across(ratio):
    share = math.log(ratio / LOW) / math.log(HIGH / LOW)
    return LEFT + WIDTH * min(max(share, 0), 1)


def escape(words):
    return words.replace("&", "&amp;").replace("<", "&lt;")


def label(title):
    for ending in (": step", ": forward and backward", ": tern eval '1+1'"):
        title = title.removesuffix(ending)
    return title


def bar(number, row):
    title, _, _, _, ratio = row
    value = float(ratio.rstrip("×"))
    y, start, end = TOP + STEP * number, across(1), across(value)
    colour = "#2ca02c" if value >= 1 else "#d62728"
    return (f'<text x="{LEFT - 8}" y="{y + 14}" text-anchor="end">{escape(label(title))}</text>\n'
            f'<rect x="{min(start, end):.1f}" y="{y + 3}" width="{max(abs(end - start), 1):.1f}" height="{STEP - 7}" '
            f'fill="{colour}"/>\n<text x="{max(start, end) + 6:.1f}" y="{y + 14}">{ratio}</text>')


def draw(rows):
    height = TOP + STEP * len(rows)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 70}" height="{height + BOTTOM}" '
             'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="white"/>',
             f'<text x="{LEFT}" y="18" font-weight="bold">time (or memory) of the fastest peer over that of tern</text>']
    for tick in (1, 10, 100, 1000):
        x = across(tick)
        parts.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{height}" stroke="#ccc"/>\n'
                     f'<text x="{x:.1f}" y="{height + 16}" text-anchor="middle">{tick}×</text>')
    return "\n".join(parts + [bar(i, row) for i, row in enumerate(rows)] + ["</svg>"]) + "\n"


def rewrite(path):
    with open(path) as f:
        page = f.read()
    before, rest = page.split(BEGIN, 1)
    with open(path, "w") as f:
        f.write(before + text(page) + rest.split(END, 1)[1])
    with open(os.path.join(os.path.dirname(path), "performance.svg"), "w") as f:
        f.write(draw(chosen(page)))


if __name__ == "__main__":
    rewrite(sys.argv[1])
