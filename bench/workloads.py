"""What the benchmarks measure: each workload, the requests to tern and its peers, and its limit."""

FMA_SIZES = (128, 256, 512, 1024, 2048)


class Row:
    """One workload: what tern is asked, what its peers are asked, and what bounds it."""

    def __init__(self, key, title, tern, peers, flops=0, bytes=0, limit=None, goal="", per=1, peer_per=None, rounds=99):
        self.key, self.title, self.tern, self.peers = key, title, tern, peers
        self.rounds = rounds     # at most: for what takes seconds
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
            torch("conv2d", "eager", "last"), flops=3 * 2 * 32 * 28 * 28 * 72 * 16, goal="1.5×"),
        Row("h", "conv2d 8×28×28×64, 3×3, 64 channels: forward and backward", "grad conv2d_wide.graph -target",
            torch("conv2d_wide", "eager", "last"), flops=3 * 2 * 8 * 28 * 28 * 576 * 64, goal="1×"),
        Row("h", "conv2d 8×56×56×64, 3×3, stride 2, 128 channels: forward and backward",
            "grad conv2d_strided.graph -target", torch("conv2d_strided", "eager", "last"),
            flops=3 * 2 * 8 * 28 * 28 * 576 * 128, goal="1×"),
        Row("h", "conv2d 8×28×28×128, 3×3, depth-wise: forward and backward", "grad depthwise.graph -target",
            torch("depthwise", "eager", "last"), flops=3 * 2 * 8 * 28 * 28 * 9 * 128, goal="1.5×"),
        Row("h", "conv2d 8×28×28×128, 3×3, depth-wise, stride 2: forward and backward",
            "grad depthwise_strided.graph -target", torch("depthwise_strided", "eager", "last"),
            flops=3 * 2 * 8 * 14 * 14 * 9 * 128, goal="1.5×"),
        Row("i", "attention, batch 8, 128 tokens, 4 heads, width 128: forward and backward",
            "grad attention.graph -target", torch("attention", "eager", "jit"),
            flops=3 * 2 * (4 * 1024 * 128 * 128 + 2 * 8 * 128 * 128 * 128), goal="1.3×"),
    ]


def model_rows():
    """Whole models as people train and ask them."""
    return [
        Row("n", "GPT 4 layers, width 128, 64 tokens, batch 12: AdamW step", "loop gpt_small.ail",
            torch("gpt_small", "eager", "fused", "compile"), goal="1.3×"),
        Row("n", "GPT 6 layers, width 384, 256 tokens, batch 4: AdamW step", "loop gpt_large.ail",
            torch("gpt_large", "eager", "fused", "compile"), goal="1.3×", rounds=5),
        Row("n", "GPT 6 layers, width 384: a token after 100 to 200, cached", "generate gpt_large.ail",
            torch("gpt_token", "eager", "fused"), goal="1.3×", rounds=5, peer_per=100),
        Row("n", "MLP 784-512-512-10, batch 1: an answer", "run mlp_one.graph",
            torch("mlp_one", "eager", "jit", "compile"), goal="1.3×"),
    ]


def avx2_rows():
    """The same with AVX2, where the processor has more; rows that measure calls, not vectors, are left out."""
    rows = square_rows()[1:] + training_rows((64,)) + [row for row in workload_rows() if row.key not in "ae"]
    goals = {"b": "8×", "h": "1.3×", "matmul": "1.0 OpenBLAS, 1.0 oneDNN"}
    for row in rows:
        row.goal = "1.8×" if row.title == "softmax 64×1000" else goals.get(row.key, "")
        row.title += ", AVX2"
    for row in rows[:len(FMA_SIZES) - 1]:
        row.goal = "0.90 of FMA, " + row.goal
    return rows


def front_end_rows():
    return [
        Row("k", "check 1+2*3-4/2 (MIND)", "check arithmetic.mind", [], goal="2 µs"),
        Row("k", "check two annotated lets and a matmul (MIND)", "check product.mind", [], goal="4 µs"),
        Row("k", "check a 784-512-256-10 network (AILang)", "check network.ail", [], goal="15 µs"),
    ]
