#!/usr/bin/env python3
"""What a model in bfloat16 loses: resnet8 in PyTorch, in bfloat16 and in float32, on CIFAR-10.

Trains rings of --workers workers in float32 and each of --types, by seeds. Prints the accuracy of
the first worker's model on the test set, as mean ± standard error over the seeds, and each type's
difference from float32 by the same seed. One worker alone shows what the type costs without any
exchange. Single runs are told as they end, on standard error.

    bench/float_types.py --data DIR                     DIR holds data_batch_1.bin, ...
    bench/float_types.py --data DIR --examples 2000 --epochs 1 --seeds 1     to try it

Needs PyTorch, and libfast.so (FAST_LIBRARY, or build/'s).
"""

import argparse
import math
import sys
import tempfile
from pathlib import Path

import runs


def resnet8():
    from torch import nn

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.first_norm = nn.BatchNorm2d(outputs)
            self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.second_norm = nn.BatchNorm2d(outputs)
            self.shortcut = nn.Sequential()
            if inputs != outputs:
                self.shortcut = nn.Sequential(
                    nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
                )

        def forward(self, x):
            y = self.first_norm(self.first(x)).relu()
            return (self.second_norm(self.second(y)) + self.shortcut(x)).relu()

    return nn.Sequential(
        nn.Conv2d(3, 16, 3, 1, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        Block(16, 16, 1),
        Block(16, 32, 2),
        Block(32, 64, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(64, 10),
    )


def cifar10(folder, names, count):
    """Images as float32 of mean 0 and deviation 1 by channel, and labels."""
    import torch

    rows = torch.cat(
        [
            torch.frombuffer(bytearray(Path(folder, name).read_bytes()), dtype=torch.uint8)
            for name in names
        ]
    ).reshape(-1, 3073)[:count]
    images = rows[:, 1:].reshape(-1, 3, 32, 32).float() / 255
    mean = torch.tensor([0.491, 0.482, 0.447]).reshape(1, 3, 1, 1)
    deviation = torch.tensor([0.247, 0.243, 0.262]).reshape(1, 3, 1, 1)
    return (images - mean) / deviation, rows[:, 0].long()


def train(args):
    """One worker, which knows its rank by FAST_*; prints its accuracy."""
    import fast_training as fast
    import torch
    from torch.nn import functional

    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    kind = getattr(torch, args.type)
    model = resnet8().to(kind)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    x, y = cifar10(args.data, [f"data_batch_{i}.bin" for i in range(1, 6)], args.examples)
    budget = int(args.epochs * len(x))
    with fast.join(model, optimizer, budget=budget) as session:
        rank, workers = session.status().rank, args.workers[0]
        shard = torch.arange(rank, len(x), workers)
        torch.manual_seed(1000 * args.seed + rank)
        order = shard[torch.randperm(len(shard))]
        while not session.done():
            if len(order) < args.batch:
                order = shard[torch.randperm(len(shard))]
            chosen, order = order[: args.batch], order[args.batch :]
            images = x[chosen]
            flips = torch.rand(len(chosen)) < 0.5
            images[flips] = images[flips].flip(3)
            rate = 0.05 * (1 + math.cos(math.pi * min(1, session.progress())))
            optimizer.param_groups[0]["lr"] = 2 * rate
            loss = functional.cross_entropy(model(images.to(kind)).float(), y[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            session.exchange(samples=len(chosen), loss=loss)
    x, y = cifar10(args.data, ["test_batch.bin"], 10_000)
    model.eval()
    with torch.no_grad():
        right = sum(
            int((model(x[i : i + 500].to(kind)).argmax(1) == y[i : i + 500]).sum())
            for i in range(0, len(x), 500)
        )
    print(100 * right / len(x), flush=True)


def accuracy(args, kind, workers, seed):
    with tempfile.TemporaryDirectory(prefix="fast-") as folder:

        def place(rank):
            around = {(rank + 1) % workers, (rank - 1) % workers} - {rank}
            return runs.with_package(
                FAST_TOPOLOGY=f"ring:{workers}",
                FAST_RANK=str(rank),
                FAST_LISTEN=f"ipc://{folder}/{rank}",
                FAST_PEER=",".join(f"{other}=ipc://{folder}/{other}" for other in around),
            )

        own = ["--type", kind, "--workers", str(workers), "--seed", str(seed), "--worker"]
        told = runs.told_by([[sys.executable, *sys.argv, *own]] * workers, place, args.deadline)
    return float(told[0])


def main():
    parser = runs.parser_of(__doc__, fast=False)
    parser.add_argument("--data", required=True, help="folder of CIFAR-10 in its binary format")
    parser.add_argument("--types", nargs="+", default=["bfloat16"], help="beside float32")
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 1], help="of each ring")
    parser.add_argument("--examples", type=int, default=20_000, help="of the training set")
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--batch", type=int, default=32, help="of each worker")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--deadline", type=float, default=1800, help="seconds for a run")
    parser.add_argument("--type", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        train(args)
        return
    kinds = ["float32", *args.types]
    for workers in args.workers:
        found = {kind: [] for kind in kinds}
        for seed in range(1, args.seeds + 1):
            for kind in kinds:
                found[kind].append(accuracy(args, kind, workers, seed))
                run = f"{workers} worker{'s' * (workers > 1)}, {kind}, seed {seed}"
                print(f"{run}: {found[kind][-1]:.2f} %", file=sys.stderr, flush=True)
        for kind in kinds:
            apart = [a - b for a, b in zip(found[kind], found["float32"])]
            own, beside = (runs.figure(values, digits=".2f") for values in (found[kind], apart))
            print(
                f"{workers} worker{'s' * (workers > 1):1}  {kind:10} {own} %"
                + (f"   beside float32 {beside}" if kind != "float32" else ""),
                flush=True,
            )


if __name__ == "__main__":
    main()
