#!/bin/sh
# What the benchmarks measure and write, without measuring: the programs they name exist, a workload that does
# not is refused, the default number of threads is compared with the best one, a disturbed row is measured once more and the steadier one counts, docs/performance.md
# ends with bench/notes.md, and its summary and picture are those of its raw rows.
# Argument: the project's root.
root=$(cd "$1" && pwd)
cd "$root/bench" || exit 1
export PYTHONDONTWRITEBYTECODE=1
case $(python3 bench.py nowhere --only zzz 2>&1) in
  *"no workload is called zzz"*) ;;
  *) echo "FAILED: a workload that is not there"; exit 1 ;;
esac
exec python3 - <<'END'
import os
import sys

sys.path.insert(0, ".")
import bench
import report
import summary
import threads

rows = bench.square_rows() + bench.training_rows((32, 64, 256)) + bench.workload_rows()
rows += bench.model_rows() + bench.avx2_rows() + bench.front_end_rows()
letters = {row.key for row in rows}
assert letters == {"matmul", *"abcdefghikn"}, letters
for row in rows:
    words = row.tern.split()
    assert words[0] == "matmul" or os.path.exists(os.path.join("programs", words[1])), row.tern

for row in threads.scaling_rows() + threads.default_rows():
    words = row.tern.split()
    assert words[0] == "matmul" or os.path.exists(os.path.join("programs", words[1])), row.tern
assert {row.key for row in threads.default_rows()} == set("acdhiem")
attention = next(row for row in threads.scaling_rows() if row.title.startswith("attention"))
assert "attention fused" in threads.peer_forms(attention, False)
assert "attention compile" not in threads.peer_forms(attention, False)
assert "attention compile" in threads.peer_forms(attention, True)
assert threads.counts_up_to(1) == [1] and threads.counts_up_to(2) == [1, 2] and threads.counts_up_to(6) == [1, 2, 4, 6]

class Answers:
    """A side that answers what it is given, in order."""
    def __init__(self, requests, answers):
        self.requests, self.answers = requests, list(answers)
    def ask(self, request):
        self.requests.append(request.split()[1])
        return self.answers.pop(0) if self.answers else float("nan")

cell, asked = {}, []
ours, peer = Answers(asked, [4.0, 2.0, 3.0]), Answers(asked, [9.0, 8.0, float("nan"), 6.0, 7.0, 5.0, 8.0])
for _ in range(3):
    threads.sample_cell(cell, attention, ours, peer, 0.1, False)
forms = [request for request in cell if request != "tern"]
counted = {request: len(samples) for request, samples in cell.items()}
assert counted == {"tern": 3, forms[0]: 3, forms[1]: 3, forms[2]: 1}, counted
assert asked == (["grad"] + ["attention"] * 3 + (["grad"] + ["attention"] * 2) * 2), asked
assert threads.cell_text(cell, 4.0) == "2 s ×2 2.50 " + forms[0].split()[1], threads.cell_text(cell, 4.0)
alone = {}
threads.sample_cell(alone, attention, Answers([], [2.0]), None, 0.1, False)
assert threads.cell_text(alone, 4.0) == "2 s ×2"
choice = threads.Choice(threads.default_rows()[0], 2, {0: [3.0, 2.0, 2.4], 1: [2.0, 2.0, 2.0], 2: [4.0, 4.0, 1.0]})
assert choice.best() == (1, 2.0) and choice.ratio() == 1.2 and "over" in choice.line()
assert "| 2 | 2.4 s | 2 s on 1 | 1.20 |" in threads.section([choice])

class Peer:
    missing = set()
    seconds = 0.0
    def ask(self, side, request):
        return self.seconds

for Peer.seconds, left_out in ((2 * 512 ** 3 / 50e9, False), (2 * 512 ** 3 / 10e9, True)):
    machine = Peer()
    machine.missing = set()
    bench.doubt_torch(machine, 100, 0.1)
    assert ("torch" in machine.missing) == left_out, Peer.seconds

steady = report.Result("a", "steady", 1, "", [1.0, 1.0, 1.01, 1.0, 1.0])
shaken = report.Result("a", "shaken", 1, "", [1.0, 2.0, 1.0, 2.0, 1.5])
worse = report.Result("a", "worse", 1, "", [1.0, 4.0, 1.0, 4.0, 1.5])
for answers, title, asked in (([steady], "steady", 1), ([shaken, steady], "steady", 2), ([shaken, worse], "shaken", 2)):
    left = list(answers)
    bench.measure = lambda *_: left.pop(0)
    assert bench.measure_steadily(None, None, 5, 0.1).title == title
    assert len(answers) - len(left) == asked

report.START["load"] = 0.0
assert report.noise([steady]).startswith("quiet") and report.noise([shaken]).startswith("NOISY")
with open("notes.md") as notes, open("../docs/performance.md") as file, open("../docs/performance.svg") as picture:
    page = file.read()
    assert page.strip().endswith(notes.read().strip()), "docs/performance.md has other notes than bench/"
    shown = summary.chosen(page)
    assert len(shown) == len(summary.ROWS) == 15, f"{len(shown)} rows of the summary are in the raw table"
    assert summary.text(page) in page, "the summary says something else than the raw rows: python3 bench/summary.py"
    assert picture.read() == summary.draw(shown), "performance.svg is not of these rows: python3 bench/summary.py"
    row = next(line for line in page.splitlines() if f"| {shown[0][0]} | 1 | {shown[0][2]} |" in line)
    slower = page.replace(row, row.replace(f"| {shown[0][4]}, ", "| 0.5×, "), 1)
    assert summary.text(slower) not in slower, "a changed row goes unnoticed"
print("ok")
END
