"""The benchmarks: tern beside what a user would pick instead, in one run, as ratios.

  /usr/bin/python3 bench/bench.py BUILD [--quick] [--only WORD] [--threads N] [--write DOCS]

Every side is a process of its own that answers requests for samples (bench/tern.c says how), so that samples
of all sides and of the machine's limit take turns and see the same machine. Figures are medians over the
rounds; a ratio is the median of the ratios within rounds. BUILD is the folder that CMake built into. --write
puts the table, with date and machine, into DOCS/performance.md, and growth.svg beside it.
"""
import argparse
import datetime
import os
import re
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import growth    # noqa: E402
import report    # noqa: E402

FMA_SIZES = (128, 256, 512, 1024, 2048)


def cpu_flags():
    try:
        with open("/proc/cpuinfo") as f:
            return re.search(r"^flags\s*:(.*)$", f.read(), re.M).group(1).split()
    except (OSError, AttributeError):
        return []


def environment(threads):
    """What each side is given; OpenBLAS does not know new processors and falls back to old kernels."""
    e = dict(os.environ, OMP_NUM_THREADS=str(threads), LC_ALL="C")
    if "avx512f" in cpu_flags():
        e.update(OPENBLAS_CORETYPE="SKYLAKEX", ATEN_CPU_CAPABILITY="avx512")
    return e


class Side:
    """A process that answers requests; started when it is first asked."""

    def __init__(self, command, threads):
        self.command, self.threads, self.process = command, threads, None

    def ask(self, request):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                            env=environment(self.threads), cwd=os.path.join(HERE, "programs"))
        self.process.stdin.write(request + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.command[0]} did not answer to: {request}")
        return float(answer)

    def drop(self):
        if self.process is not None:
            self.ask("drop")

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


class Machine:
    """All sides for one number of threads."""

    def __init__(self, build, threads):
        n = str(threads)
        self.threads = threads
        self.sides = {
            "tern": Side([os.path.join(build, "bench", "bench_tern"), n, "."], threads),
            "limit": Side([os.path.join(build, "bench", "bench_limits"), n], threads),
            "blas": Side([os.path.join(build, "bench", "bench_blas"), n], threads),
            "torch": Side(["/usr/bin/python3", os.path.join(HERE, "torch_peer.py"), n], threads),
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


class Row:
    """One workload: what tern is asked, what its peers are asked, and what bounds it."""

    def __init__(self, key, title, tern, peers, flops=0, bytes=0, limit=None, goal="", per=1, peer_per=None):
        self.key, self.title, self.tern, self.peers = key, title, tern, peers
        self.flops, self.bytes, self.limit = flops, bytes, limit
        self.goal, self.per, self.peer_per = goal, per, peer_per or per


def torch(name, *forms):
    return [("PyTorch " + form, "torch", f"{name} {form}") for form in forms]


def matmul_row(m, n, k, at=0, bt=0, goal=""):
    shape = f"{m} {n} {k} {at} {bt}"
    title = f"matmul {m}×{k}{'ᵀ' if at else ''} by {k}×{n}{'ᵀ' if bt else ''}"
    return Row("matmul", title, f"matmul {shape}", [("oneDNN", "blas", "onednn " + shape), ("OpenBLAS", "blas",
               "openblas " + shape)], flops=2 * m * n * k, goal=goal)


def square_rows():
    return [matmul_row(s, s, s, goal="0.85 of FMA, 1.0 OpenBLAS, 0.97 oneDNN" if s > 128 else "1.0 OpenBLAS")
            for s in FMA_SIZES]


def training_rows(batches):
    rows = []
    for batch in batches:
        for k, n in ((784, 512), (512, 512), (512, 10)):
            rows.append(matmul_row(batch, n, k))              # forward
            rows.append(matmul_row(k, n, batch, at=1))        # gradient of the weights
            if k != 784:
                rows.append(matmul_row(batch, k, n, bt=1))    # gradient of what came in
    return rows


def mlp_flops(widths, batch):
    pairs = [a * b for a, b in zip(widths, widths[1:])]
    return 2 * batch * (3 * sum(pairs) - pairs[0])


def workload_rows():
    big, small = 10_000_000, 10_000
    return [
        Row("a", "text classifier V=20 D=8 T=6 C=2, batch 4: step", "train text_small.graph tokens=20 labels=2",
            torch("text_small", "eager", "fast", "jit", "bag"), goal="150×"),
        Row("a", "the same as an .ail program, with its data", "loop text_small.ail",
            torch("text_small", "fast")),
        Row("b", "text classifier V=10000 D=64 T=128 C=10, batch 32: step",
            "train text_large.graph tokens=10000 labels=10",
            torch("text_large", "eager", "fast", "sparse", "bag"), goal="10×"),
        Row("c", "MLP 784-512-512-10, batch 64: step", "train mlp.graph labels=10",
            torch("mlp", "eager", "fast", "jit"), flops=mlp_flops((784, 512, 512, 10), 64), goal="1.6×, 0.75 of FMA"),
        Row("d", "MLP 1024-4096-4096-1000, batch 256: step", "train mlp_large.graph labels=1000",
            torch("mlp_large", "eager", "fast"), flops=mlp_flops((1024, 4096, 4096, 1000), 256),
            goal="1.35×, 0.78 of FMA"),
        Row("e", "Ninth: an operation on 0-d tensors", "run scalar_forward.nth", torch("scalar_forward", "eager"),
            per=10000, peer_per=1000, goal="60×, 20 ns"),
        Row("e", "the same, with its gradient", "run scalar_backward.nth", torch("scalar_backward", "eager"),
            per=10000, peer_per=1000, goal="60×, 100 ns"),
        Row("e", "Ninth: an operation on 8 numbers", "run eight_forward.nth", torch("eight_forward", "eager"),
            per=10000, peer_per=1000, goal="60×, 20 ns"),
        Row("e", "the same, with its gradient", "run eight_backward.nth", torch("eight_backward", "eager"),
            per=10000, peer_per=1000, goal="60×, 100 ns"),
        Row("f", "relu(a*b+c)*d-e, 10 million", f"run chain_{big}.graph", torch(f"chain_{big}", "eager", "fast"),
            bytes=24 * big, limit="stream", goal="7× eager, 0.85 of memory"),
        Row("f", "relu(a*b+c)*d-e, 10,000", f"run chain_{small}.graph", torch(f"chain_{small}", "eager", "fast"),
            goal="5× eager"),
        Row("g", "softmax 4096×4096", "run softmax_4096x4096.graph", torch("softmax_4096x4096", "eager", "fast"),
            bytes=8 * 4096 * 4096, limit="stream", goal="2.5×"),
        Row("g", "softmax 64×1000", "run softmax_64x1000.graph", torch("softmax_64x1000", "eager", "fast"), goal="2×"),
        Row("g", "exp of 64,000", "run exp.graph", torch("exp", "eager", "fast"), goal="2×"),
        Row("g", "tanh of 64,000", "run tanh.graph", torch("tanh", "eager", "fast"), goal="2×"),
        Row("g", "layer_norm 4096×1024", "run layer_norm.graph", torch("layer_norm", "eager"),
            bytes=8 * 4096 * 1024, limit="stream", goal="2×"),
        Row("g", "sum of 16 million", "run sum.graph", torch("sum", "eager"), bytes=64_000_000, limit="read",
            goal="0.9 of memory"),
        Row("h", "conv2d 32×28×28×8, 3×3, 16 channels: forward and backward", "grad conv2d.graph -target",
            torch("conv2d", "eager", "last"), flops=3 * 2 * 32 * 28 * 28 * 72 * 16, goal="1×"),
        Row("i", "attention, batch 8, 128 tokens, 4 heads, width 128: forward and backward",
            "grad attention.graph -target", torch("attention", "eager", "jit"),
            flops=3 * 2 * (4 * 1024 * 128 * 128 + 2 * 8 * 128 * 128 * 128), goal="1.3×"),
    ]


def front_end_rows():
    return [
        Row("k", "check 1+2*3-4/2 (MIND)", "check arithmetic.mind", [], goal="2 µs"),
        Row("k", "check two annotated lets and a matmul (MIND)", "check product.mind", [], goal="4 µs"),
        Row("k", "check a 784-512-256-10 network (AILang)", "check network.ail", [], goal="15 µs"),
    ]


LIMIT_REQUEST = {"fma": "fma", "stream": "stream 192000000", "read": "read 64000000"}


def measure(machine, row, rounds, seconds):
    """Samples in turn; returns what report.py prints."""
    peers = [p for p in row.peers if p[1] not in machine.missing]
    limit = "fma" if row.flops else row.limit
    seen = {"tern": [], **{p[0]: [] for p in peers}, "limit": []}
    for _ in range(rounds):
        seen["tern"].append(machine.ask("tern", f"{seconds} {row.tern}") / row.per)
        for name, side, request in peers:
            seen[name].append(machine.ask(side, f"{seconds} {request}") / row.peer_per)
        if limit:
            seen["limit"].append(machine.ask("limit", f"{seconds} {LIMIT_REQUEST[limit]}"))
    result = report.Result(row.key, row.title, machine.threads, row.goal, seen["tern"])
    for name, _, _ in peers:
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


MLP_TORCH = """
import sys; sys.argv = ["", "1"]; sys.path.insert(0, %r)
import torch_peer
step = torch_peer.WORKLOADS["mlp"]("eager")
for _ in range(5): step()
""" % HERE


def memory_row(build):
    request = "0.01 train mlp.graph labels=10\n"
    command = [os.path.join(build, "bench", "bench_tern"), "1", "."]
    with open(os.path.join(build, "bench", "request"), "w") as f:
        f.write(request)
    with open(os.path.join(build, "bench", "request")) as f:
        ours = process(command, stdin=f, cwd=os.path.join(HERE, "programs"))[2]
    row = report.Result("j", "peak memory of workload c", 1, "1/10 of PyTorch", [float(ours)], unit="bytes")
    if subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True).returncode == 0:
        row.add_peer("PyTorch eager", [float(process(["/usr/bin/python3", "-c", MLP_TORCH], env=environment(1))[2])])
    return row


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
    every = square_rows() + training_rows((32, 64, 256)) + workload_rows() + front_end_rows()
    if not wanted(every):
        parser.error(f"no workload is called {given.only}: name a letter of the table, or a word of a title")
    results, limits = [], {}
    report.begin()
    for threads in given.threads:
        machine = Machine(given.build, threads)
        limits[threads] = limits_of(machine, seconds)
        print(report.limit_line(threads, limits[threads]), flush=True)
        squares = square_rows()[:4] if given.quick else square_rows()
        training = training_rows((64,) if given.quick else (32, 64, 256))
        rows = squares + (training if threads == 1 or not given.quick else []) + workload_rows()
        if threads == 1:
            rows += front_end_rows()
        run_rows(machine, wanted(rows), rounds, seconds, results)
        machine.close()
    if not given.only:
        others = start_rows(given.build, rounds) + [memory_row(given.build)]
        others.append(data_row(given.build, 20_000_000 if given.quick else 200_000_000, 3 if given.quick else 7))
        curves = growth.measure(given.build, HERE, Side, given.quick)
        results += others + curves.results
        for result in others + curves.results:
            print(result.line(), flush=True)
    noise = report.noise(results)
    print(noise)
    if given.write:
        report.write(given.write, HERE, results, limits, noise, given.quick, datetime.date.today())
        if not given.only:
            curves.write_svg(os.path.join(given.write, "growth.svg"))


if __name__ == "__main__":
    main()
