#!/usr/bin/env python3
"""The loss curve of examples/ail/gpt.ail beside PyTorch's, on the same text.

    /usr/bin/python3 bench/gpt_curve.py TERN [--text FILE] [--steps N] [--seeds N] [--threads N]

Both train the model of gpt.ail (4 layers, 4 heads, width 128, windows of 64 characters, batches of 12) with AdamW
and a cosine to 0, from several seeds. PyTorch's model is written out below and reads the vocabulary that tern
keeps in the run's folder, so both see the same tokens; each draws its own parameters and windows. Printed are the
mean losses of tenths of the steps, their standard deviation over the seeds, and how far the two means of the last
tenth are apart in standard errors: below about 3 the curves are equal within noise. Beside it: processor seconds
of a step.
"""
import argparse
import json
import math
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

from sides import environment

os.environ.update(environment(1))  # before PyTorch is loaded and reads it

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

V, T, D, HEADS, LAYERS, BATCH, RATE = 64, 64, 128, 4, 4, 12, 0.001
EXAMPLE = pathlib.Path(__file__).resolve().parent.parent / "examples" / "ail" / "gpt.ail"


# ---- tern ----

def run_tern(options, seed, folder):
    """The losses of all steps, and processor seconds of one."""
    command = [options.tern, "train", str(EXAMPLE), "--allow", "fileread", "--set", f'TEXT="{options.text}"', "--steps",
               str(options.steps), "--seed", str(seed), "--threads", str(options.threads), "--out", folder, "-q"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=EXAMPLE.parent,
                   env={**os.environ, "XDG_DATA_HOME": folder})
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    with open(f"{folder}/history.jsonl") as history:
        return [json.loads(line)["loss"] for line in history], spent / options.steps


def read_tokens(text, folder):
    """The tokens that tern trains on: the first nine tenths of the text, by the vocabulary of a run."""
    with open(f"{folder}/data.json") as facts:
        words = json.load(facts)["inputs"][0]["vocabulary"]
    number = {word: i + 2 for i, word in enumerate(words)}  # 0 is padding, 1 what is not in the vocabulary
    with open(text, newline="", encoding="utf-8") as file:
        tokens = [number.get(character, 1) for character in file.read()]
    return torch.tensor(tokens[:int(len(tokens) * 0.9)])


# ---- PyTorch ----

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(D) for _ in range(2))
        self.query, self.key, self.value, self.out = (torch.nn.Linear(D, D) for _ in range(4))
        self.up, self.down = torch.nn.Linear(D, 4 * D), torch.nn.Linear(4 * D, D)

    def heads(self, x):
        return x.view(x.shape[0], T, HEADS, D // HEADS).transpose(1, 2)

    def forward(self, x, hidden):
        h = self.norms[0](x)
        q, k, v = self.heads(self.query(h)), self.heads(self.key(h)), self.heads(self.value(h))
        scores = q @ k.transpose(2, 3) / math.sqrt(D // HEADS) + hidden
        seen = (scores.softmax(3) @ v).transpose(1, 2).reshape(x.shape)
        x = x + self.out(seen)
        return x + self.down(F.gelu(self.up(self.norms[1](x))))


class Gpt(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.places = torch.nn.Embedding(V, D), torch.nn.Parameter(torch.empty(T, D))
        self.blocks = torch.nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = torch.nn.LayerNorm(D)
        self.register_buffer("hidden", torch.full((T, T), -math.inf).triu(1))
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                torch.nn.init.normal_(parameter, std=0.02)
            elif name.endswith("bias"):
                torch.nn.init.zeros_(parameter)

    def forward(self, tokens):
        x = self.table(tokens) + self.places
        for block in self.blocks:
            x = block(x, self.hidden)
        return self.norm(x) @ self.table.weight.T


def run_torch(options, seed, tokens):
    torch.set_num_threads(options.threads)
    torch.manual_seed(seed)
    model = Gpt()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0)
    losses, before = [], time.process_time()
    for step in range(options.steps):
        optimizer.param_groups[0]["lr"] = RATE * 0.5 * (1 + math.cos(math.pi * step / options.steps))
        starts = torch.randint(0, len(tokens) - T, (BATCH,))
        windows = torch.stack([tokens[start:start + T + 1] for start in starts])
        loss = F.cross_entropy(model(windows[:, :-1]).reshape(-1, V), windows[:, 1:].reshape(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, (time.process_time() - before) / options.steps


# ---- both ----

def tenths(losses):
    size = len(losses) // 10
    return [statistics.mean(losses[i * size:(i + 1) * size]) for i in range(10)]


def show(options, curves, seconds):
    print(f"{options.seeds} seeds, {options.steps} steps, {options.threads} threads, PyTorch {torch.__version__}")
    print("steps           tern             PyTorch")
    for i in range(10):
        cells = [f"{statistics.mean(c[i] for c in side):.4f} ± {statistics.stdev(c[i] for c in side):.4f}" for side in curves]
        first = i * (options.steps // 10)
        print(f"{first:5}-{first + options.steps // 10 - 1:<5}  {cells[0]:>16}  {cells[1]:>16}")
    ends = [[curve[-1] for curve in side] for side in curves]
    error = math.sqrt(sum(statistics.variance(end) / len(end) for end in ends))
    apart = statistics.mean(ends[0]) - statistics.mean(ends[1])
    print(f"at the end tern's loss is {apart:+.4f} apart, {abs(apart) / error:.1f} standard errors")
    print(f"processor seconds of a step: tern {statistics.median(seconds[0]):.4f}, PyTorch {statistics.median(seconds[1]):.4f}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2].strip())
    parser.add_argument("tern", type=os.path.abspath)
    parser.add_argument("--text", type=os.path.abspath, default=EXAMPLE.parent / "data" / "terns.txt")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if options.steps < 10 or options.seeds < 2:
        parser.error("at least 10 steps and 2 seeds")
    curves, seconds, tokens = ([], []), ([], []), None
    for seed in range(1, options.seeds + 1):
        with tempfile.TemporaryDirectory() as folder:
            losses, spent = run_tern(options, seed, folder)
            tokens = read_tokens(options.text, folder) if tokens is None else tokens
        curves[0].append(tenths(losses)), seconds[0].append(spent)
        losses, spent = run_torch(options, seed, tokens)
        curves[1].append(tenths(losses)), seconds[1].append(spent)
    show(options, curves, seconds)


main()
