"""GPU kernels beside PyTorch's (cuBLAS), in one call: a table of times and of bits that differ.

    python3 bench/gpu.py build/release/bench/bench_gpu [--tiles] [WORD...]

Needs a GPU and PyTorch with CUDA. TF32 is off: both sides compute in f32. Times are medians of batches of
launches, in microseconds; `peer` is PyTorch's time over ours, so above 1 is faster. Bits are compared with
those of the CPU by bench_gpu."""

import re
import statistics
import subprocess
import sys

import torch
import torch.nn.functional as F

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
BATCHES = 5


def seconds(work, budget=0.1):
    """The median over batches of launches, by the GPU's own clock."""
    def batch(launches):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(launches):
            work()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) / 1000 / launches
    batch(3)
    launches = int(budget / BATCHES / batch(3)) + 1
    return statistics.median(batch(launches) for _ in range(BATCHES))


def numbers(*shape):
    return torch.rand(*shape, device="cuda") * 2 - 1


def product(name):
    """matmul_[BATCHof]MxKxN[_LAYOUT], or matmul_SIZE."""
    batch, shape, layout = re.fullmatch(r"matmul_(?:(\d+)of)?([\dx]+)(?:_(..))?", name).groups()
    lengths = [int(part) for part in shape.split("x")]
    m, k, n = lengths if len(lengths) == 3 else lengths * 3
    if name == "matmul_1000":
        m, k, n = 1000, 1001, 999
    lead = (int(batch),) if batch else ()
    x = numbers(*lead, k, m).mT if layout in ("tn", "tt") else numbers(*lead, m, k)
    y = numbers(*lead, n, k).mT if layout in ("nt", "tt") else numbers(*lead, k, n)
    out = torch.empty(*lead, m, n, device="cuda")
    return lambda: torch.matmul(x, y, out=out), 2e-12 * (int(batch or 1)) * m * k * n, "TFLOP/s"


def attention(name):
    """attention[_grad]_HEADSofTOKENSxWIDTH, causal; its rate counts products of what a query sees."""
    heads, tokens, width = (int(part) for part in re.search(r"(\d+)of(\d+)x(\d+)", name).groups())
    q, k, v, g = (numbers(1, heads, tokens, width) for _ in range(4))
    products = 5 if "grad" in name else 2
    amount = 1e-12 * products * heads * tokens * (tokens + 1) * width
    if products == 2:
        return lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True), amount, "TFLOP/s"
    for x in (q, k, v):
        x.requires_grad = True
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return lambda: torch.autograd.grad(out, (q, k, v), g, retain_graph=True), amount, "TFLOP/s"


def memory(name):
    """The others, with the terabytes that they must move at least."""
    kind, _, size = name.rpartition("_")
    lengths = [int(part) for part in size.split("x")] if "^" not in size else [1 << int(size[2:])]
    total = 1
    for length in lengths * (2 if len(lengths) == 1 and "^" not in size else 1):
        total *= length
    if kind in ("add", "div", "pow", "maximum"):
        x, y, out = numbers(total), numbers(total), numbers(total)
        return lambda: getattr(torch, kind)(x, y, out=out), 12e-12 * total, "TB/s"
    if kind == "gt":
        x, y, out = numbers(total), numbers(total), torch.empty(total, dtype=torch.bool, device="cuda")
        return lambda: torch.gt(x, y, out=out), 9e-12 * total, "TB/s"
    if kind == "half":
        x, out = numbers(total), numbers(total)
        return lambda: torch.mul(x, 0.5, out=out), 8e-12 * total, "TB/s"
    if kind == "program":
        a, b, c, d, e = (numbers(total) for _ in range(5))
        return torch.compile(lambda: torch.relu(a * b + c) * d - e), 24e-12 * total, "TB/s"
    if kind == "program_rows":
        a, c, e = (numbers(total >> 12, 4096) for _ in range(3))
        b, d = numbers(4096), numbers(total >> 12, 1)
        return torch.compile(lambda: torch.relu(a * b + c) * d - e), 16e-12 * total, "TB/s"
    if kind in ("relu", "exp", "tanh", "sqrt", "log", "sigmoid", "erf", "sin"):
        x, out = numbers(total), numbers(total)
        if kind == "relu":
            return lambda: torch.clamp_min(x, 0, out=out), 8e-12 * total, "TB/s"
        return lambda: getattr(torch, kind)(x, out=out), 8e-12 * total, "TB/s"
    if kind in ("softmax", "log_softmax"):
        x = numbers(lengths[0], lengths[-1])
        return lambda: getattr(torch, kind)(x, 1), 8e-12 * total, "TB/s"
    if kind == "layer_norm":
        x, g, b = numbers(*lengths), numbers(lengths[1]), numbers(lengths[1])
        return lambda: F.layer_norm(x, (lengths[1],), g, b), 8e-12 * total, "TB/s"
    if kind == "layer_norm_grad":
        x, slope, g, b = numbers(*lengths), numbers(*lengths), numbers(lengths[1]), numbers(lengths[1])
        _, mean, scale = torch.native_layer_norm(x, (lengths[1],), g, b, 1e-5)
        return (lambda: torch.ops.aten.native_layer_norm_backward(slope, x, (lengths[1],), mean, scale, g, b,
                                                                  (True, True, True)), 12e-12 * total, "TB/s")
    if kind == "sum":
        x = numbers(total)
        return lambda: x.sum(), 4e-12 * total, "TB/s"
    if kind in ("sum_rows", "sum_columns", "max_rows"):
        x = numbers(*lengths)
        axis = 0 if kind == "sum_columns" else 1
        return (lambda: x.amax(axis)) if kind == "max_rows" else (lambda: x.sum(axis)), 4e-12 * total, "TB/s"
    if kind == "cross_entropy":
        x, label = numbers(*lengths), torch.randint(0, lengths[1], (lengths[0],), device="cuda")
        return lambda: F.cross_entropy(x, label), 4e-12 * total, "TB/s"
    rows, entries, width = lengths
    table, index = numbers(rows, width), torch.randint(0, rows, (entries,), device="cuda")
    if kind == "scatter_skewed":
        index = (torch.rand(entries, device="cuda") ** 3 * rows).long()
    if kind == "gather":
        return lambda: table[index], 8e-12 * entries * width, "TB/s"
    y = numbers(entries, width)
    return lambda: table.index_add(0, index, y), 4e-12 * width * (entries + 2 * rows), "TB/s"


def peer(name):
    torch.cuda.empty_cache()
    torch.manual_seed(1)
    of = product if name.startswith("matmul") else attention if name.startswith("attention") else memory
    work, amount, unit = of(name)
    return seconds(work), amount, unit


def copy_rate():
    x, y = numbers(1 << 29), numbers(1 << 29)
    return 8e-12 * (1 << 29) / seconds(lambda: y.copy_(x))


def main():
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, copy {copy_rate():.2f} TB/s")
    torch.cuda.empty_cache()
    ours = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
    print(f"{'workload':28} {'tile':10} {'us':>10} {'rate':>16} {'PyTorch us':>11} {'peer':>6} {'bits':>5}")
    known = {}
    for line in ours:
        fields = line.split()
        if len(fields) != 4 or fields[0] == "all":
            continue
        name, micro, bits, tile = fields[0], float(fields[1]), fields[2], fields[3]
        if name not in known:
            known[name] = peer(name)
        other, amount, unit = known[name]
        print(f"{name:28} {tile:10} {micro:10.2f} {amount / micro * 1e6:8.2f} {unit:7} {other * 1e6:11.2f} "
              f"{other * 1e6 / micro:6.2f} {bits:>5}", flush=True)
    print(next((line for line in ours if line.startswith("all ")), "incomplete"))


main()
