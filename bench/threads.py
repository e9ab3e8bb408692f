"""The effect of threads: every workload on 1, 2, 4, ... threads, and tern's default against the best number.

  /usr/bin/python3 bench/threads.py BUILD [--threads N...] [--only WORD] [--python PYTHON] [--quick]
                                          [--compile] [--default | --scaling]

BUILD is the folder that CMake built into, with the target `bench_tern`. Two tables are printed; --scaling and
--default leave one of them out. The first has a row for each workload and a column for each number of threads:
tern's time, how many times as fast that is as one thread, and PyTorch's time over tern's where PYTHON has
PyTorch, in its fastest form; torch.compile, which takes up to a minute for each cell, only with --compile.
Every time of this table is the best of the same number of samples: each round takes one of tern and one of
each form of PyTorch, in turn, for each number of threads. The second compares tern without --threads with the
best fixed number, on the machine as it is and beside a busy process on every core; the goal is at most 1.15
times the time. Its times are medians over the rounds.

All times are of the wall clock. Each side runs alone: the others are stopped meanwhile (SIGSTOP), since
threads that spin between two jobs, as OpenMP's do, take cores away from the side that is measured.
"""
import argparse
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import report       # noqa: E402
import workloads    # noqa: E402
from sides import Side    # noqa: E402

GOAL = 1.15
BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n  sum(range(100000))\n"


def scaling_rows():
    """What users wait for, and what bounds it: products, memory, elementary functions."""
    square = [row for row in workloads.square_rows() if row.tern.split()[1] in ("512", "2048")]
    for row in square:
        row.peers = workloads.torch(f"matmul_{row.tern.split()[1]}", "fast")
    small = [row for row in workloads.workload_rows() if row.key not in "e" and "loop" not in row.tern]
    return square + small + workloads.model_rows()


def default_rows():
    """The rows for which the default must be as good as any number."""
    rows = [row for row in workloads.workload_rows() if row.key in "acdhi" and "loop" not in row.tern]
    rows += [row for row in workloads.workload_rows() if row.key == "e" and "gradient" not in row.title]
    return rows + [workloads.Row("m", "Ninth: gradient of a 100×100 product", "run products.nth", [], per=10)]


def counts_up_to(cores):
    return [n for n in (1, 2, 4, 8, 16, 32, 64, 128) if n < cores] + [cores]


def tern_side(build, threads):
    return Side([os.path.join(build, "bench", "bench_tern"), str(threads), ".", "wall"], threads)


# ---- the first table ----

def peer_forms(row, compiled):
    """The forms of PyTorch that a row has, and those that only newer versions know."""
    requests = [request for _, side, request in row.peers if side == "torch"]
    name = requests[0].split()[0] if requests else ""
    more = {"mlp": ["compile"], "mlp_large": ["compile"], "conv2d": ["compile"], "attention": ["fused", "compile"]}
    requests += [f"{name} {form}" for form in more.get(name, [])]
    return [request for request in requests if compiled or not request.endswith(" compile")]


def is_missing(samples):
    return samples[0] != samples[0]     # a form that this version lacks answers nan


def sample_cell(cell, row, ours, peer, seconds, compiled):
    """Adds one sample of each side to a cell's lists: tern's under "tern", PyTorch's under the request of the form."""
    cell.setdefault("tern", []).append(ours.ask(f"{seconds} {row.tern}") / row.per)
    for request in peer_forms(row, compiled) if peer else []:
        samples = cell.setdefault(request, [])
        if not samples or not is_missing(samples):
            samples.append(peer.ask(f"{seconds} {request}") / row.peer_per)


def cell_text(cell, one):
    """tern's best time, times one thread's best, and the best of PyTorch's fastest form."""
    ours = min(cell["tern"])
    peers = [(min(samples), request.split()[1]) for request, samples in cell.items()
             if request != "tern" and not is_missing(samples)]
    beside = f" {min(peers)[0] / ours:.2f} {min(peers)[1]}" if peers else ""
    return f"{report.time_text(ours)} ×{one / ours:.3g}{beside}"


def print_scaling(build, python, counts, rows, rounds, seconds, compiled):
    has_torch = subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0
    sides = {n: tern_side(build, n) for n in counts}
    peers = {n: Side([python, os.path.join(HERE, "torch_peer.py"), str(n), "wall"], n)
             for n in (counts if has_torch else [])}
    print(f"{'':7}{'workload':41}" + "".join(f"{str(n) + ' threads':>25}" for n in counts))
    try:
        for row in rows:
            cells = {n: {} for n in counts}
            for _ in range(min(rounds, row.rounds)):
                for n in counts:
                    sample_cell(cells[n], row, sides[n], peers.get(n), seconds, compiled)
            for side in [*sides.values(), *peers.values()]:
                side.drop()
            one = min(cells[counts[0]]["tern"])
            print(f"{row.key:7}{row.title[:40]:41}" + "".join(f"{cell_text(cells[n], one):>25}" for n in counts),
                  flush=True)
    finally:
        for side in [*sides.values(), *peers.values()]:
            side.close()


# ---- the second ----

class Load:
    """A busy process on every core, as long as it lasts."""

    def __init__(self, count):
        self.count, self.processes = count, []

    def __enter__(self):
        self.processes = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(self.count)]

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


class Choice:
    """A row of the second table: samples for each number of threads, 0 being none given."""

    def __init__(self, row, load, seen):
        self.key, self.title, self.load, self.seen = row.key, row.title, load, seen

    def best(self):
        """The fixed number whose median is least, and that median."""
        return min((statistics.median(samples), n) for n, samples in self.seen.items() if n > 0)[::-1]

    def ratio(self):
        """Within rounds: what comes and goes on the machine meets both."""
        count, _ = self.best()
        return statistics.median(d / b for d, b in zip(self.seen[0], self.seen[count]))

    def line(self):
        count, best = self.best()
        default = statistics.median(self.seen[0])
        return (f"{self.key:4}{self.title[:58]:59}{self.load:>3} busy  {report.time_text(default):>9}  "
                f"{report.time_text(best):>9} on {count:<3} {self.ratio():.2f}{'' if self.ratio() <= GOAL else '  over'}")


def measure_choices(build, counts, rows, rounds, seconds, load):
    """Samples in turn, with `load` busy processes beside them."""
    sides = {n: tern_side(build, n) for n in [0] + [n for n in counts]}
    try:
        with Load(load):
            for row in rows:
                seen = {n: [] for n in sides}
                for _ in range(rounds):
                    for n, side in sides.items():
                        seen[n].append(side.ask(f"{seconds} {row.tern}") / row.per)
                for side in sides.values():
                    side.drop()
                choice = Choice(row, load, seen)
                print(choice.line(), flush=True)
                yield choice
    finally:
        for side in sides.values():
            side.close()


def all_choices(build, quick, only=""):
    """What `make bench` writes: idle, then loaded. Counts above the cores would be the cores again."""
    cores = len(os.sched_getaffinity(0))
    rounds, seconds = (5, 0.05) if quick else (9, 0.2)
    rows = [row for row in default_rows() if only in row.title]
    print(f"\n{'':4}{'without --threads, beside the best number':59}     load    default       best         ratio")
    return [choice for load in (0, cores)
            for choice in measure_choices(build, counts_up_to(cores), rows, rounds, seconds, load)]


def section(choices):
    """For docs/performance.md."""
    lines = ["| | workload | busy processes beside it | default | best number of threads | ratio |",
             "|---|---|---|---|---|---|"]
    for c in choices:
        count, best = c.best()
        lines.append(f"| {c.key} | {c.title} | {c.load or 'none'} | {report.time_text(statistics.median(c.seen[0]))} | "
                     f"{report.time_text(best)} on {count} | {c.ratio():.2f} |")
    rows = "\n".join(lines)
    return f"""
## Without --threads

How long a program takes that leaves the number of threads to tern, beside the best fixed number, on
the machine as it was and with a busy process on every core. The goal is a ratio of at most {GOAL}.

{rows}
"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--threads", type=int, nargs="*", default=counts_up_to(len(os.sched_getaffinity(0))))
    parser.add_argument("--only", default="", help="a word of a workload's title")
    parser.add_argument("--python", default="/usr/bin/python3", help="one that has PyTorch")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--compile", action="store_true", help="torch.compile too, where there is a C++ compiler")
    parser.add_argument("--default", action="store_true", help="the second table alone")
    parser.add_argument("--scaling", action="store_true", help="the first table alone")
    given = parser.parse_args()
    given.build = os.path.abspath(given.build)
    report.begin()
    print(report.machine_text())
    if not given.default:
        rows = [row for row in scaling_rows() if given.only in row.title]
        if not rows:
            parser.error(f"no workload has {given.only} in its title")
        rounds, seconds = (3, 0.05) if given.quick else (5, 0.1)
        print_scaling(given.build, given.python, given.threads, rows, rounds, seconds, given.compile)
    if not given.scaling:
        all_choices(given.build, given.quick, given.only)


if __name__ == "__main__":
    main()
