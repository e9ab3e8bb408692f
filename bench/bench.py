"""The benchmarks: tern beside what a user would pick instead, in one run, as ratios.

  /usr/bin/python3 bench/bench.py BUILD [--quick] [--only WORD] [--threads N] [--write DOCS]

Every side is a separate process that answers requests for samples (bench/tern.c says how), so that samples of
all sides and of the machine's limit take turns and see the same machine. While one is measured, the others are
stopped. Figures are medians over the rounds; a ratio is the median of the ratios within rounds. BUILD is the folder that CMake built into. --write
puts the table, with date and machine, into DOCS/performance.md, and growth.svg beside it.
"""
import argparse
import datetime
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import growth     # noqa: E402
import report     # noqa: E402
import threads    # noqa: E402
from sides import Side, cpu_flags, environment    # noqa: E402
from workloads import (Row, avx2_rows, front_end_rows, model_rows, square_rows, training_rows,    # noqa: E402
                       workload_rows)


class Machine:
    """All sides for one number of threads."""

    def __init__(self, build, threads, avx2=False):
        n = str(threads)
        self.threads = threads
        self.sides = {
            "tern": Side([os.path.join(build, "bench", "bench_tern"), n, "."], threads, avx2),
            "limit": Side([os.path.join(build, "bench", "bench_limits"), n], threads, avx2),
            "blas": Side([os.path.join(build, "bench", "bench_blas"), n], threads, avx2),
            "torch": Side(["/usr/bin/python3", os.path.join(HERE, "torch_peer.py"), n], threads, avx2),
        }
        self.missing = set()
        if not os.path.exists(self.sides["blas"].command[0]):
            self.missing.add("blas")
        if subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True).returncode != 0:
            self.missing.add("torch")

    def ask(self, side, request):
        return self.sides[side].ask(request)

    def drop(self):
        self.sides["tern"].drop()
        if "torch" not in self.missing:
            self.sides["torch"].drop()

    def close(self):
        for side in self.sides.values():
            side.close()


LIMIT_REQUEST = {"fma": "fma", "stream": "stream 192000000", "read": "read 64000000"}


def measure(machine, row, rounds, seconds):
    """Samples in turn; returns what report.py prints."""
    peers = [p for p in row.peers if p[1] not in machine.missing]
    limit = "fma" if row.flops else row.limit
    seen = {"tern": [], **{p[0]: [] for p in peers}, "limit": []}
    for _ in range(min(rounds, row.rounds)):
        seen["tern"].append(machine.ask("tern", f"{seconds} {row.tern}") / row.per)
        for name, side, request in peers:
            seen[name].append(machine.ask(side, f"{seconds} {request}") / row.peer_per)
        if limit:
            seen["limit"].append(machine.ask("limit", f"{seconds} {LIMIT_REQUEST[limit]}"))
    result = report.Result(row.key, row.title, machine.threads, row.goal, seen["tern"])
    for name, _, _ in peers:
        if all(sample == sample for sample in seen[name]):     # nan: this version lacks the form
            result.add_peer(name, seen[name])
    if limit:
        amount = row.flops or row.bytes
        result.share = statistics.median(amount * l / t for l, t in zip(seen["limit"], seen["tern"]))
        result.limit = limit
    return result


# ---- whole processes ----

def process(command, **options):
    """Wall seconds, processor seconds and peak bytes of one process."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, **options)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status != 0:
        raise RuntimeError(f"{command} ended with {status}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def start_rows(build, rounds):
    tern = [os.path.join(build, "tern"), "eval", "1+1"]
    seen = [process(tern)[0] for _ in range(rounds * 4)]
    start = report.Result("j", "process start to first result: tern eval '1+1'", 1, "3 ms", seen)
    peer = ["/usr/bin/python3", "-c", "import torch; print(torch.tensor(1) + 1)"]
    if subprocess.run(peer, capture_output=True).returncode == 0:
        start.add_peer("PyTorch", [process(peer)[0] for _ in range(3)])
    return [start]


TORCH_STEPS = """
import sys; sys.argv = ["", "1"]; sys.path.insert(0, %r)
import torch_peer
step = torch_peer.WORKLOADS[%r]("eager")
for _ in range(%d): step()
"""


def memory_row(build, title, goal, command, request, peer, steps):
    """The peak of a process that takes some steps."""
    with open(os.path.join(build, "bench", "request"), "w") as f:
        f.write(request)
    with open(os.path.join(build, "bench", "request")) as f:
        ours = process([os.path.join(build, command[0]), *command[1:]], stdin=f,
                       cwd=os.path.join(HERE, "programs"))[2]
    row = report.Result("j", title, 1, goal, [float(ours)], unit="bytes")
    if subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True).returncode == 0:
        script = TORCH_STEPS % (HERE, peer, steps)
        row.add_peer("PyTorch eager", [float(process(["/usr/bin/python3", "-c", script], env=environment(1))[2])])
    return row


def memory_rows(build):
    return [memory_row(build, "peak memory of workload c", "1/10 of PyTorch",
                       ["bench/bench_tern", "1", "."], "0.01 train mlp.graph labels=10\n", "mlp", 5),
            memory_row(build, "peak memory of a GPT step, 6 layers, width 384, 256 tokens, batch 4", "250 MB",
                       ["tern", "train", "gpt_large.ail", "--steps", "2", "--threads", "1", "--allow", "fileread",
                        "-q"], "", "gpt_large", 2)]


# ---- data ----

ROWS_PROGRAM = """model {
  tokens [B, T]
  labels [B]
  param E [30000, 2]
  logits = meanpool(embedding(tokens, E))
}
train { loss = xent(logits, labels) steps = 1 lr = 0.1 batch = 1 }
dataset { format = "jsonl" path = "%s" tokens = "tokens" labels = "label" }
"""


def write_rows(path, size):
    state, rows, written = 1, [], 0
    for _ in range(2000):
        tokens = []
        for _ in range(64):
            state = (state * 1103515245 + 12345) & 0x7fffffff
            tokens.append(str((state >> 8) % 30000))
        rows.append('{"tokens":[%s],"label":%d}\n' % (",".join(tokens), state % 2))
    with open(path, "w") as f:
        while written < size:
            text = "".join(rows)
            f.write(text)
            written += len(text)
    return written


PYTHON_JSON = """
import json, sys, time
start = time.process_time()
rows = [json.loads(line) for line in open(sys.argv[1])]
print(time.process_time() - start)
"""


def data_row(build, size, rounds):
    """`tern train` on all rows less the same on few: what reading the rows takes, on one core."""
    folder = os.path.join(build, "bench")
    big, few = os.path.join(folder, "rows.jsonl"), os.path.join(folder, "few.jsonl")
    size = write_rows(big, size)
    write_rows(few, 1)
    programs = {}
    for path in (big, few):
        programs[path] = path.replace(".jsonl", ".ail")
        with open(programs[path], "w") as f:
            f.write(ROWS_PROGRAM % path)

    def train(path):
        return process([os.path.join(build, "tern"), "train", programs[path], "--allow", "fileread", "--threads", "1",
                        "-q"])[1]
    seen, peers = [], {}
    simdjson = Side([os.path.join(folder, "bench_json")], 1)
    has_simdjson = os.path.exists(simdjson.command[0])
    for _ in range(rounds):
        seen.append(train(big) - train(few))
        if has_simdjson:
            peers.setdefault("simdjson", []).append(simdjson.ask(f"0 rows {big}"))
    python = subprocess.run(["/usr/bin/python3", "-c", PYTHON_JSON, big], capture_output=True, text=True)
    peers["Python json"] = [float(python.stdout)]
    simdjson.close()
    os.remove(big)
    row = report.Result("l", f"JSONL of 64 tokens and a label, {size / 1e6:.0f} MB", 1, "500 MB/s, 1× simdjson", seen,
                        unit="MB/s", amount=size / 1e6)
    for name, samples in peers.items():
        row.add_peer(name, samples)
    return row


CSV_PROGRAM = """model {
  x [B, %d]
  param W [%d, 1]
  y = matmul(x, W)
}
train { loss = mean(y * y) steps = 1 lr = 0 batch = 1 }
dataset { format = "csv" path = "%s" header = false x = 0-%d }
"""

CSV_TABLES = (("CSV of ten numbers of three decimals", 10, lambda n: "%.3f" % (n % 20001 / 1000 - 10)),
              ("CSV of two numbers of three decimals", 2, lambda n: "%.3f" % (n % 2001 / 1000 - 1)),
              ("CSV of one digit", 1, lambda n: str(n % 10)))

# Each peer as its users call it; the time is that of reading.
CSV_PEERS = {
    "pandas": "import pandas\nread = lambda path: pandas.read_csv(path, header=None, dtype='float32')",
    "NumPy loadtxt": "import numpy\nread = lambda path: numpy.loadtxt(path, 'float32', delimiter=',')",
    "Python csv": "import csv\nread = lambda path: [[float(cell) for cell in row] for row in csv.reader(open(path))]",
}
CSV_TIME = """
import sys, time
start = time.process_time()
read(sys.argv[1])
print(time.process_time() - start)
"""


def write_table(path, size, columns, number):
    state, lines, written = 1, [], 0
    for _ in range(5000):
        row = []
        for _ in range(columns):
            state = (state * 1103515245 + 12345) & 0x7fffffff
            row.append(number(state >> 8))
        lines.append(",".join(row) + "\n")
    text = "".join(lines)
    with open(path, "w") as f:
        while written < size:
            f.write(text)
            written += len(text)
    return written


def csv_row(build, size, rounds, table):
    """The same for a table of numbers, beside what reads it in Python."""
    name, columns, number = table
    folder = os.path.join(build, "bench")
    big, few = os.path.join(folder, "rows.csv"), os.path.join(folder, "few.csv")
    size = write_table(big, size, columns, number)
    write_table(few, 1, columns, number)

    def train(path):
        program = path.replace(".csv", "_csv.ail")
        with open(program, "w") as f:
            f.write(CSV_PROGRAM % (columns, columns, path, columns - 1))
        return process([os.path.join(build, "tern"), "train", program, "--allow", "fileread", "--threads", "1",
                        "-q"])[1]
    seen = [train(big) - train(few) for _ in range(rounds)]
    row = report.Result("l", f"{name}, {size / 1e6:.0f} MB", 1, "400 MB/s", seen, unit="MB/s", amount=size / 1e6)
    for peer, read in CSV_PEERS.items():
        python = subprocess.run(["/usr/bin/python3", "-c", read + CSV_TIME, big], capture_output=True, text=True)
        if python.returncode == 0:
            row.add_peer(peer, [float(python.stdout)])
    os.remove(big)
    return row


# ---- the whole ----

def measure_steadily(machine, row, rounds, seconds):
    """A row that was disturbed is measured once more, on all sides; the steadier of the two counts."""
    result = measure(machine, row, rounds, seconds)
    if result.spread() <= report.STEADY:
        return result
    return min(result, measure(machine, row, rounds, seconds), key=lambda r: r.spread())


def run_rows(machine, rows, rounds, seconds, out):
    for row in rows:
        result = measure_steadily(machine, row, rounds, seconds)
        print(result.line(), flush=True)
        out.append(result)
        machine.drop()


def doubt_torch(machine, fma, seconds):
    """Debian's PyTorch falls back to a reference BLAS where OpenBLAS is missing, and is then 14 times as slow: beside
    that anything looks fast. A product of 512×512 must reach a fifth of the machine's multiply-adds."""
    if "torch" in machine.missing:
        return
    reached = 2e-9 * 512 ** 3 / machine.ask("torch", f"{seconds} matmul_512 fast")
    if reached < fma / 5:
        print(f"PyTorch multiplies matrices at {reached:.1f} of {fma:.0f} GFLOP/s: it has no proper BLAS (on Debian: "
              "libopenblas0-openmp), and is left out")
        machine.missing.add("torch")


def limits_of(machine, seconds):
    ask = lambda request: 1e-9 / statistics.median(machine.ask("limit", f"{seconds} {request}") for _ in range(5))
    return {"fma": ask("fma"), "L2": ask("triad 600000"), "L3": ask("triad 8000000"),
            "memory": ask("triad 192000000"), "stream": ask("stream 192000000"), "read": ask("read 64000000")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="a workload's letter, or a word of its title")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--write", default="")
    given = parser.parse_args()
    rounds, seconds = (5, 0.02) if given.quick else (15, 0.15)
    wanted = lambda rows: [r for r in rows if given.only == r.key or len(given.only) != 1 and given.only in r.title]
    every = square_rows() + training_rows((32, 64, 256)) + workload_rows() + model_rows() + front_end_rows()
    if not wanted(every):
        parser.error(f"no workload is called {given.only}: name a letter of the table, or a word of a title")
    results, limits = [], {}
    report.begin()
    for count in given.threads:
        machine = Machine(given.build, count)
        limits[count] = limits_of(machine, seconds)
        print(report.limit_line(count, limits[count]), flush=True)
        doubt_torch(machine, limits[count]["fma"], seconds)
        squares = square_rows()[:4] if given.quick else square_rows()
        training = training_rows((64,) if given.quick else (32, 64, 256))
        rows = squares + (training if count == 1 or not given.quick else []) + workload_rows() + model_rows()
        if count == 1:
            rows += front_end_rows()
        run_rows(machine, wanted(rows), rounds, seconds, results)
        machine.close()
    if "avx512f" in cpu_flags() and 1 in given.threads and not given.quick:
        machine = Machine(given.build, 1, avx2=True)
        run_rows(machine, wanted(avx2_rows()), rounds, seconds, results)
        machine.close()
    if not given.only:
        others = start_rows(given.build, rounds) + memory_rows(given.build)
        others.append(data_row(given.build, 20_000_000 if given.quick else 200_000_000, 3 if given.quick else 7))
        others += [csv_row(given.build, 4_000_000 if given.quick else 20_000_000, 3 if given.quick else 7, table)
                   for table in CSV_TABLES]
        curves = growth.measure(given.build, HERE, Side, given.quick)
        results += others + curves.results
        for result in others + curves.results:
            print(result.line(), flush=True)
    more = threads.section(threads.all_choices(given.build, given.quick)) if not given.only else ""
    noise = report.noise(results)
    print(noise)
    if given.write:
        report.write(given.write, HERE, results, limits, more, noise, given.quick, datetime.date.today())
        if not given.only:
            curves.write_svg(os.path.join(given.write, "growth.svg"))


if __name__ == "__main__":
    main()
