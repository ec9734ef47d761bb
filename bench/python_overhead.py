#!/usr/bin/env python3
"""What exchange costs a PyTorch loop: milliseconds a step, beside Decent-DP and DDP over Gloo.

Trains a model of 11.2 million parameters (28 linear layers, SGD with momentum), one thread for each
worker, all on this machine. A step computes little by itself and sleeps --sleep seconds, as a host
does while a device computes: a third of it spread over the forward pass, the rest over the backward
pass, where Decent-DP and DDP exchange too. Each kind runs --rounds times in turn, and a run's time
is the mean over its workers and over --steps steps that follow 5 others. Prints a table: for each
kind and number of workers, the mean over the rounds and, where there are several, each round's.

  none       no exchange
  ours       fast_training.torch, as it comes: a ring in shared memory
  linger 0   the same without the boundary's waits
  decent     Decent-DP (complete for two workers, a ring for more), Gloo
  ddp        torch.nn.parallel.DistributedDataParallel, Gloo

Needs torch and decent-dp from PyPI, and libfast.so (FAST_LIBRARY, or build/'s). Run nothing else.

    bench/python_overhead.py --workers 2 4 --kinds none ours "linger 0" decent ddp
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[1]
KINDS = ("none", "ours", "linger 0", "decent", "ddp")
LAYERS, WIDTH, WARM_UP = 28, 632, 5


def model_of(seconds):
    import torch

    class Sleep(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            time.sleep(seconds / 3 / LAYERS)
            return x.view_as(x)

        @staticmethod
        def backward(context, gradient):
            time.sleep(seconds * 2 / 3 / LAYERS)
            return gradient

    class Layer(torch.nn.Linear):
        def forward(self, x):
            return torch.relu(super().forward(Sleep.apply(x)))

    torch.manual_seed(1)
    torch.set_num_threads(1)
    return torch.nn.Sequential(*(Layer(WIDTH, WIDTH) for _ in range(LAYERS)))


def work(kind, rank, workers, folder, options):
    """One worker; prints the seconds of a step."""
    import torch

    def sgd(parameters):
        return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9)

    model = model_of(options.sleep)
    optimizer, session = None, None
    if kind in ("decent", "ddp"):
        torch.distributed.init_process_group(
            "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=workers
        )
    if kind == "decent":
        from decent_dp.ddp import DecentralizedDataParallel

        topology = "complete" if workers == 2 else "ring"
        model = DecentralizedDataParallel(
            model, lambda named: sgd([p for _, p in named]), topology=topology, _local_world_size=1
        )
    elif kind == "ddp":
        model = torch.nn.parallel.DistributedDataParallel(model)
    if kind != "decent":  # which steps by itself, in the backward pass
        optimizer = sgd(model.parameters())
    if kind in ("ours", "linger 0"):
        import fast_training as fast

        waits = {"linger": 0} if kind == "linger 0" else {}
        session = fast.join(
            model,
            optimizer,
            topology=f"ring:{workers}",
            rank=rank,
            listen=f"ipc://{folder}/{rank}",
            peers={other: f"ipc://{folder}/{other}" for other in range(workers)},
            **waits,
        )
    random = torch.Generator().manual_seed(rank)
    begun = 0.0
    for step in range(WARM_UP + options.steps):
        if step == WARM_UP:
            begun = time.monotonic()
        loss = model(torch.randn(4, WIDTH, generator=random)).square().mean()
        loss.backward()
        if optimizer is not None:
            optimizer.step()
            optimizer.zero_grad()
        else:
            model.zero_grad()
        if session is not None:
            session.exchange(samples=4, loss=loss)
    print((time.monotonic() - begun) / options.steps, flush=True)
    if session is not None and not all(one.shared for one in session.neighbours()):
        sys.exit("a neighbour is not in shared memory")
    os._exit(0)  # without the end of a run, which is not measured


def run(kind, workers, options):
    with tempfile.TemporaryDirectory(prefix="fast-") as folder:
        command = [sys.executable, __file__, "--work", kind, "--sleep", str(options.sleep)]
        command += ["--steps", str(options.steps), "--workers", str(workers)]
        environment = {
            "FAST_LIBRARY": str(ROOT / "build/adapters/c/libfast.so"),
            **os.environ,
            "PYTHONPATH": str(ROOT / "adapters/python"),
        }
        processes = [
            subprocess.Popen(
                [*command, "--rank", str(rank), "--folder", folder],
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
            )
            for rank in range(workers)
        ]
        told = [process.communicate(timeout=120)[0] for process in processes]
        if any(process.returncode for process in processes):
            raise RuntimeError(f"{kind} with {workers} workers failed")
        return statistics.mean(float(text.split()[-1]) for text in told)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--sleep", type=float, default=0.2)
    for name in ("--work", "--folder"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, options.rank, options.workers[0], options.folder, options)
    for workers in options.workers:
        found = {kind: [] for kind in options.kinds}
        for _ in range(options.rounds):
            for kind in options.kinds:
                found[kind].append(1000 * run(kind, workers, options))
        for kind, values in found.items():
            each = ", ".join(f"{value:.0f}" for value in values)
            print(f"| {workers} | {kind} | {statistics.mean(values):.0f} | {each} |", flush=True)


if __name__ == "__main__":
    main()
