"""Training steps on an NVIDIA GPU: tern beside PyTorch, in fp32 with TF32 off, on the same GPU.

  python3 bench/gpu_steps.py BENCH_TERN [SECONDS [--alone]]

BENCH_TERN is build/bench/bench_tern. PyTorch's forms are those of torch_peer.py; its times end with a synchronisation.
--alone leaves PyTorch out.
Prints a line for each workload: milliseconds of a step, and how many times as fast tern is.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).parent
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 2.0
ROWS = [  # name, request to bench_tern, how to make PyTorch's, its forms
    ("text classifier V=20, batch 4", "train text_small.graph tokens=20 labels=2",
     lambda t, form: t.text(20, 8, 6, 2, 4, form), ("eager", "fast", "bag")),
    ("MLP 784-512-512-10, batch 64", "train mlp.graph labels=10",
     lambda t, form: t.mlp((784, 512, 512, 10), 64, form), ("eager", "fast", "compile")),
    ("MLP 1024-4096-4096-1000, batch 256", "train mlp_large.graph labels=1000",
     lambda t, form: t.mlp((1024, 4096, 4096, 1000), 256, form), ("eager", "fast", "compile")),
    ("GPT 6/384/256, batch 64", "loop gpt_card.ail",
     lambda t, form: t.gpt(6, 384, 6, 256, 64, form), ("eager", "fused", "compile")),
]


def programs(to):
    """The benchmarks' programs, and the GPT with a batch that fills a GPU."""
    for file in (FOLDER / "programs").iterdir():
        (to / file.name).write_bytes(file.read_bytes())
    text = (FOLDER / "programs" / "gpt_large.ail").read_text()
    (to / "gpt_card.ail").write_text(text.replace("batch = 4", "batch = 64"))


def tern_times(bench, folder):
    times = {}
    for name, request, _, _ in ROWS:
        ask = f"{SECONDS / 4} {request}\n" + f"{SECONDS} {request}\n" * 2
        done = subprocess.run([bench, "0", str(folder), "wall"], input=ask, capture_output=True, text=True,
                              env={**os.environ, "TERN_DEVICE": "cuda"}, cwd=folder)
        got = [float(x) for x in done.stdout.split()]
        if done.returncode != 0 or len(got) < 3:
            print(f"{name}: bench_tern failed: {done.stderr.strip()[-300:]}")
            continue
        times[name] = min(got[1:])
    return times


def torch_time(torch, step):
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    best, repeat, end = float("inf"), 1, time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(repeat):
            step()
        torch.cuda.synchronize()
        each = (time.perf_counter() - start) / repeat
        best, repeat = min(best, each), max(1, int(0.2 * SECONDS / each))
    return best


def torch_times():
    sys.argv = ["torch_peer.py", "16", "wall"]
    sys.path.insert(0, str(FOLDER))
    import torch
    import torch_peer
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    times = {}
    for name, _, make, forms in ROWS:
        for form in forms:
            torch.set_default_device("cuda")
            step = make(torch_peer, form)
            torch.set_default_device(None)   # it slows every call down
            try:
                times[name, form] = torch_time(torch, step)
            except Exception as problem:
                print(f"{name}, {form}: {str(problem)[:200]}")
    return times


def main():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        programs(folder)
        ours = tern_times(os.path.abspath(sys.argv[1]), folder)
    theirs = torch_times() if "--alone" not in sys.argv else {}
    for name, _, _, forms in ROWS:
        if name not in ours:
            continue
        peers = [(form, theirs[name, form]) for form in forms if (name, form) in theirs]
        line = "  ".join(f"{form} {1e3 * t:.3f} ({t / ours[name]:.2f}x)" for form, t in peers)
        print(f"{name:36} tern {1e3 * ours[name]:.3f} ms   PyTorch: {line}", flush=True)


main()
