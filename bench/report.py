"""How results of the benchmarks are printed and written down."""
import os
import platform
import re
import statistics
import textwrap

import summary

START = {}
STEADY = 0.08  # a figure that spreads more was disturbed


def begin():
    START["load"] = os.getloadavg()[0]


def spread_of(samples):
    """Half of the distance between the quartiles, as a share of the median."""
    if len(samples) < 4:
        return 0.0
    low, _, high = statistics.quantiles(samples, n=4)
    return (high - low) / 2 / statistics.median(samples)


def time_text(seconds):
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


class Result:
    def __init__(self, key, title, threads, goal, samples, unit="time", amount=1):
        self.key, self.title, self.threads, self.goal = key, title, threads, goal
        self.samples, self.unit, self.amount = samples, unit, amount
        self.peers, self.share, self.limit = [], None, None

    def add_peer(self, name, samples):
        self.peers.append((name, samples))

    def text(self, samples):
        middle = statistics.median(samples)
        if self.unit == "bytes":
            return f"{middle / 2**20:.1f} MiB"
        if self.unit == "MB/s":
            return f"{self.amount / middle:.0f} MB/s"
        return time_text(middle)

    def spread(self):
        return spread_of(self.samples)

    def ratio(self, samples):
        """How many times as long the peer takes: within rounds where both were measured in turn."""
        if len(samples) == len(self.samples):
            return statistics.median(p / t for p, t in zip(samples, self.samples))
        return statistics.median(samples) / statistics.median(self.samples)

    def fastest_first(self):
        return sorted(self.peers, key=lambda peer: statistics.median(peer[1]))

    def peer_text(self):
        return ", ".join(f"{name} {self.text(samples)}" for name, samples in self.fastest_first()) or "–"

    def ratio_text(self):
        return ", ".join(f"{self.ratio(samples):.3g}×" for _, samples in self.fastest_first()) or "–"

    def share_text(self):
        return f"{self.share:.2f} of {'FMA' if self.limit == 'fma' else 'memory'}" if self.share else "–"

    def line(self):
        return (f"{self.key:7}{self.title[:58]:59}{self.threads}  {self.text(self.samples):>10} ±{self.spread():4.0%}  "
                f"{self.ratio_text():28} {self.share_text():15} [{self.peer_text()}]")


def limit_line(threads, limit):
    return (f"\nlimits on {threads} thread{'s' if threads > 1 else ''}: {limit['fma']:.0f} GFLOP/s; GB/s: L2 "
            f"{limit['L2']:.0f}, L3 {limit['L3']:.0f}, memory {limit['memory']:.1f} ({limit['stream']:.1f} written "
            f"around the caches, {limit['read']:.1f} read)\n"
            f"{'':7}{'workload':59}T  tern (spread)     ratio: peer / tern           share of limit  [peers]")


def noise(results):
    timed = [r for r in results if len(r.samples) >= 4]
    worst = statistics.median(r.spread() for r in timed) if timed else 0
    load = max(START["load"], 0)
    busy = load > 0.5
    words = f"median spread of a figure ±{worst:.0%}; load average at the start {load:.1f}"
    if worst > 0.05 or busy:
        return f"NOISY: {words}: other things were running, take ratios and not times"
    return f"quiet: {words}"


def machine_text():
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as f:
            model = re.search(r"^model name\s*:\s*(.*)$", f.read(), re.M).group(1)
    except (OSError, AttributeError):
        pass
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.release().split('-')[0]}"


def versions():
    """The versions of the peers, as far as they are there."""
    import subprocess
    found = []
    for package in ("python3-torch", "libopenblas0-openmp", "libdnnl2", "libdnnl3", "libsimdjson-dev", "libsimdjson14"):
        asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
        if asked.returncode == 0 and asked.stdout:
            found.append(f"{package} {asked.stdout}")
    return ", ".join(found)


def wrap(words):
    return textwrap.fill(words, 100, break_long_words=False, break_on_hyphens=False)


def table(results):
    lines = ["| | workload | threads | tern | spread | peers, fastest first | ratios | share of limit | goal |",
             "|---|---|---|---|---|---|---|---|---|"]
    for r in results:
        lines.append(f"| {r.key} | {r.title} | {r.threads} | {r.text(r.samples)} | ±{r.spread():.0%} | {r.peer_text()} | "
                     f"{r.ratio_text()} | {r.share_text()} | {r.goal or ''} |")
    return "\n".join(lines)


def limits_text(limits):
    lines = ["| threads | FMA, GFLOP/s | L2, GB/s | L3 | memory | written around the caches | read |",
             "|---|---|---|---|---|---|---|"]
    for threads, l in limits.items():
        lines.append(f"| {threads} | {l['fma']:.0f} | {l['L2']:.0f} | {l['L3']:.0f} | {l['memory']:.1f} | "
                     f"{l['stream']:.1f} | {l['read']:.1f} |")
    return "\n".join(lines)


def write(folder, here, results, limits, more, noise_text, quick, day):
    with open(os.path.join(here, "notes.md")) as f:
        notes = f.read().strip()
    command = "make bench-quick" if quick else "make bench"
    made = wrap(f"Generated by `{command}` on {day.isoformat()}; do not edit. `bench/notes.md` holds what is written by "
                f"hand, `bench/README.md` says how a row is measured. Machine: {machine_text()}. Peers: {versions()}. "
                f"This run: {noise_text}.")
    text = f"""# Performance

{summary.BEGIN}
{summary.END}

{made}

## How cost grows

![steps per second against model size and batch, memory against graph size, time to compile against length](growth.svg)

## What the machine can do

{limits_text(limits)}

## Workloads

All rows. A ratio is how many times as long the peer takes: above 1 tern is faster. Every figure of
tern is with the numeric contract in force. Each side was alone: while one was asked, the processes
of the others were stopped.

{table(results)}
{more}
{notes}
"""
    path = os.path.join(folder, "performance.md")
    with open(path, "w") as f:
        f.write(text)
    summary.rewrite(path)
