"""How a training grows with ranks: tern's processes beside PyTorch's DistributedDataParallel over gloo.

  python3 bench/scaling.py TERN [--ranks 1,2,4] [--workloads gpt,mlp] [--batch N] [--mpi] [--alone]

Every rank has one thread. A figure is the time of one step: tern trains twice, with few steps and with more,
and the difference counts; PyTorch is timed after two steps, if it is there (--alone: never). Each side runs
by itself. The weights of tern must be the same for every number of ranks, or the program ends with status 1.

The GPT has 6 layers, 384 wide, 6 heads, 256 tokens (10.7 million parameters); its loss is over the mean of
the tokens, on both sides. The MLP is row d of the benchmarks: 1024-4096-4096-1000. Both use AdamW.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

SHARDS = 16
LAYERS, WIDTH, HEADS, TOKENS, VOCABULARY = 6, 384, 6, 256, 65
MLP = (1024, 4096, 4096, 1000)


def attention(i, lines):
    lines.append(f"  n{i} = layer_norm(x{i}, 1 + ga{i}, be{i})")
    q, k, v = (f"matmul(n{i}, W{name}{i})" for name in "qkv")
    lines.append(f"  y{i} = x{i} + matmul(attention({q}, {k}, {v}, {HEADS}), Wo{i})")


def gpt(batch):
    params = [f"  param E [{VOCABULARY}, {WIDTH}]", f"  param P [{TOKENS}, {WIDTH}]"]
    lines = ["  x0 = embedding(tokens, E) + P"]
    for i in range(LAYERS):
        params += [f"  param W{n}{i} [{WIDTH}, {WIDTH}]" for n in "qkvo"]
        params += [f"  param {n}{i} [{WIDTH}]" for n in ("ga", "be", "gc", "bc")]
        params += [f"  param Wu{i} [{WIDTH}, {4 * WIDTH}]", f"  param Wd{i} [{4 * WIDTH}, {WIDTH}]"]
        attention(i, lines)
        lines.append(f"  m{i} = layer_norm(y{i}, 1 + gc{i}, bc{i})")
        lines.append(f"  x{i + 1} = y{i} + matmul(gelu(matmul(m{i}, Wu{i})), Wd{i})")
    params.append(f"  param W [{WIDTH}, {VOCABULARY}]")
    lines.append(f"  logits = matmul(meanpool(x{LAYERS}), W)")
    return program(["  tokens [B, T]", "  labels [B]"], params, lines, batch, f"const T = {TOKENS}\n")


def mlp(batch):
    sizes = enumerate(zip(MLP, MLP[1:]))
    params = [f"  param W{i} [{a}, {b}]\n  param b{i} [{b}]" for i, (a, b) in sizes]
    lines = ["  h0 = relu(matmul(x, W0) + b0)", "  h1 = relu(matmul(h0, W1) + b1)",
             "  logits = matmul(h1, W2) + b2"]
    return program([f"  x [B, {MLP[0]}]", "  labels [B]"], params, lines, batch)


def program(inputs, params, lines, batch, head=""):
    body = "\n".join(inputs + params + lines)
    return (f"{head}model {{\n{body}\n}}\n"
            f"train {{\n  loss = xent(logits, labels)\n  steps = 1\n  lr = 0.0003\n"
            f"  batch = {batch}\n  shards = {SHARDS}\n  optimizer = \"adamw\"\n  weight_decay = 0.1\n}}\n")


WORKLOADS = {"gpt": (gpt, 32), "mlp": (mlp, 256)}


def train(tern, path, ranks, steps, mpi):
    words = [tern, "train", path, "--threads", "1", "--steps", str(steps), "--json"]
    if mpi and ranks > 1:
        words = ["mpirun", "-n", str(ranks), "--oversubscribe"] + words
    elif ranks > 1:
        words += ["--ranks", str(ranks)]
    start = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return seconds, json.loads(done.stdout)["weights_sha256"]


def measure_tern(tern, path, ranks, mpi, steps):
    """The better of two tries each: a process whose start was held up would make a step seem to take no time."""
    few, _ = min(train(tern, path, ranks, 1, mpi) for _ in range(2))
    more, digest = min(train(tern, path, ranks, 1 + steps, mpi) for _ in range(2))
    return (more - few) / steps, digest


# ---- PyTorch ----

def peer_model(name):
    import torch
    from torch import nn
    import torch.nn.functional as F

    def attend(q, k, v):
        """Fused where this version of PyTorch has that."""
        if hasattr(F, "scaled_dot_product_attention"):
            return F.scaled_dot_product_attention(q, k, v)
        return torch.softmax(q @ k.transpose(2, 3) * q.shape[-1] ** -0.5, -1) @ v

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.two = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
            self.out = nn.Linear(WIDTH, WIDTH, bias=False)
            self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
            self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)

        def forward(self, x):
            parts = self.qkv(self.one(x)).split(WIDTH, 2)
            q, k, v = (t.view(*t.shape[:2], HEADS, -1).transpose(1, 2) for t in parts)
            seen = attend(q, k, v).transpose(1, 2).reshape(x.shape)
            x = x + self.out(seen)
            return x + self.down(F.gelu(self.up(self.two(x))))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(VOCABULARY, WIDTH)
            self.places = nn.Parameter(torch.zeros(TOKENS, WIDTH))
            self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
            self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

        def forward(self, tokens):
            return self.head(self.blocks(self.words(tokens) + self.places).mean(1))

    if name == "gpt":
        return Gpt()
    layers = []
    for a, b in zip(MLP, MLP[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def peer(rank, ranks, name, batch, steps, port, queue):
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = peer_model(name)
    if ranks > 1:
        dist.init_process_group("gloo", rank=rank, world_size=ranks)
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1)
    part = batch // ranks
    x = torch.randint(VOCABULARY, (part, TOKENS)) if name == "gpt" else torch.rand(part, MLP[0])
    labels = torch.randint(VOCABULARY if name == "gpt" else MLP[-1], (part,))

    def step():
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(model(x), labels).backward()
        optimizer.step()
    for _ in range(2):
        step()
    start = time.perf_counter()
    for _ in range(steps):
        step()
    if rank == 0:
        queue.put((time.perf_counter() - start) / steps)


def can_distribute():
    try:
        import torch.distributed as dist
        return dist.is_available() and dist.is_gloo_available()
    except (ImportError, AttributeError):
        return False


def measure_peer(name, ranks, batch, steps, port):
    import torch.multiprocessing as mp
    context = mp.get_context("spawn")
    queue = context.SimpleQueue()
    mp.spawn(peer, (ranks, name, batch, steps, port, queue), nprocs=ranks)
    return queue.get()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tern")
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--workloads", default="gpt,mlp")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--mpi", action="store_true")
    parser.add_argument("--alone", action="store_true")
    given = parser.parse_args()
    has_peer = not given.alone and can_distribute()
    counts = [int(n) for n in given.ranks.split(",")]
    print("| workload | ranks | tern, s | over the first | DDP, s | over the first | DDP / tern |")
    print("|---|---|---|---|---|---|---|")
    for index, name in enumerate(given.workloads.split(",")):
        write, usual = WORKLOADS[name]
        batch, digests, first = given.batch or usual, set(), {}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, f"{name}.ail")
            with open(path, "w") as file:
                file.write(write(batch))
            for ranks in counts:
                steps = given.steps * max(1, min(ranks, 4))
                ours, digest = measure_tern(given.tern, path, ranks, given.mpi, steps)
                digests.add((steps, digest))
                first.setdefault("tern", ours)
                cells = [f"{ours:.3f}", f"{first['tern'] / ours:.2f}"]
                if has_peer:
                    theirs = measure_peer(name, ranks, batch, steps, 29500 + 64 * index + ranks)
                    first.setdefault("peer", theirs)
                    cells += [f"{theirs:.3f}", f"{first['peer'] / theirs:.2f}", f"{theirs / ours:.2f}"]
                cells += ["–"] * (5 - len(cells))
                print(f"| {name}, batch {batch} | {ranks} | {' | '.join(cells)} |", flush=True)
        if len({d for s, d in digests}) != len({s for s, d in digests}):
            sys.exit(f"{name}: the weights are not the same for every number of ranks: {digests}")


if __name__ == "__main__":
    main()
