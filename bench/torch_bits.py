#!/usr/bin/env python3
"""What PyTorch promises about bits: the same training on 1, 2, 3 and 4 threads, in deterministic mode.

    /usr/bin/python3 bench/torch_bits.py      (Debian's python3-torch)

A network of two layers with a normalisation between them takes five steps of SGD from the same seed on the
same data. Printed is the SHA-256 of its weights for each number of threads; tern's answer to the same
question is `tools/test_bits.sh threads`.
"""
import hashlib

import torch


def train(threads):
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    torch.manual_seed(42)
    x = torch.randn(512, 784)
    y = torch.randint(0, 10, (512,))
    model = torch.nn.Sequential(torch.nn.Linear(784, 512), torch.nn.LayerNorm(512), torch.nn.ReLU(),
                                torch.nn.Linear(512, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    digest = hashlib.sha256()
    for parameter in model.parameters():
        digest.update(parameter.detach().numpy().tobytes())
    return digest.hexdigest()


def main():
    print("PyTorch", torch.__version__, "with use_deterministic_algorithms(True)")
    hashes = [train(threads) for threads in (1, 2, 3, 4)]
    for threads, digest in enumerate(hashes, 1):
        print(f"{threads} threads  {digest[:16]}...")
    print(len(set(hashes)), "different sets of weights")


main()
