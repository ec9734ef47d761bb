#!/usr/bin/env python3
"""Milliseconds a step of a PyTorch loop, by how it exchanges: ours, Decent-DP, DDP, hivemind.

Trains --model with --workers workers, one thread each, all on this machine, by SGD with momentum.
`linear` has --millions of parameters in 28 layers, computes little and sleeps --sleep seconds a
step, as a host does while a device computes: a third of it spread over the forward pass, the rest
over the backward pass, where Decent-DP and DDP exchange too. `resnet18` (11.2 million) computes
on batches of 32 images of 3x16x16. Each kind runs --rounds times in turn:

  none         no exchange
  ours         fast_training.torch, as it comes: a ring, over --transport
  boundary     the same with all averages taken in at the boundary (by_layer=False)
  not ahead    the same without the exchange's own thread adding averages (fold_ahead=False)
  one sweep    the same, averaged with one neighbour a step, as Decent-DP is (sweeps=1)
  phase 0      the same without waits for neighbours that end their steps (phase_lock=0)
  linger 0     the same without any wait
  uncorrected  the same as ours, without the correction of momentum
  decent       Decent-DP (complete for two workers, a ring for more), Gloo over TCP
  ddp          torch.nn.parallel.DistributedDataParallel, Gloo over TCP
  hivemind     hivemind.Optimizer with local updates, averaged as often as it manages
  c++          with resnet18: `fast train` (--no-overlap), all steps, the first ones too

Prints for each kind the milliseconds of a step, as mean over workers, over --steps steps that
follow 5 others, and over the rounds; each round's; and the percentages of that time that
session.exchange() takes, and the library in all (its part within forward passes too; c++ tells of
the library alone).

Needs libfast.so (FAST_LIBRARY, or build/'s), and the packages of README.md beside it. To compare
with c++, run it by the Python whose torch the programs link: Debian's. Run nothing else.

    bench/peers/step_time.py
    bench/peers/step_time.py --millions 44.7 --sleep 1 --workers 4 --transport tcp
    /usr/bin/python3 bench/peers/step_time.py --model resnet18 --workers 2 \\
        --kinds none ours uncorrected "linger 0" c++
"""

import argparse
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1]))
import runs

KINDS = ("none", "ours", "boundary", "not ahead", "one sweep", "phase 0", "linger 0", "uncorrected", "decent",
         "ddp", "hivemind", "c++")  # fmt: skip
WARM_UP, BATCH, SMALL_BATCH = 5, 32, 4


def work(kind, rank, workers, folder, options):
    """One worker; prints the seconds of a step, and of its exchange in all and in the library."""
    import kinds
    import models
    import torch

    torch.manual_seed(1)
    torch.set_num_threads(1)
    small = options.model == "linear"
    model = models.linear_layers(options.millions, options.sleep) if small else models.resnet18()
    batch = SMALL_BATCH if small else BATCH
    loop = kinds.begin(kind, model, rank, workers, folder, options.transport, batch)
    random = torch.Generator().manual_seed(rank)
    width = models.WIDTHS[options.millions]
    begun, before = 0.0, (0.0, 0.0)
    for step in range(WARM_UP + options.steps):
        if step == WARM_UP:
            begun, before = time.monotonic(), loop.exchange_seconds()
        if small:
            loss = loop.model(torch.randn(batch, width, generator=random)).square().mean()
        else:
            images = torch.randn(batch, 3, 16, 16, generator=random)
            labels = torch.randint(10, (batch,), generator=random)
            loss = torch.nn.functional.cross_entropy(loop.model(images), labels)
        loop.step(loss)
    seconds = time.monotonic() - begun
    shares = [now - then for now, then in zip(loop.exchange_seconds(), before)]
    print(*(value / options.steps for value in (seconds, *shares)), flush=True)
    loop.end()
    os._exit(0)  # without the end of a run, which is not measured


def run_cpp(workers, options):
    """The same figures of `fast train`; its own share of exchange() is all in the library."""
    with tempfile.TemporaryDirectory(prefix="fast-") as folder:
        examples = BATCH * workers * (WARM_UP + options.steps)
        words = f"--model resnet18 --data synthetic:{examples},10 --batch {BATCH} --epochs 1"
        words += f" --topology ring:{workers} --threads 1 --no-overlap --quiet --out {folder}/run"
        subprocess.run(
            [runs.ROOT / "build/bin/fast", "train", *words.split()],
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=600,
        )
        summary = runs.summary(f"{folder}/run")
    step = summary["training_seconds"] * workers * BATCH / summary["samples"]
    inside = step * summary["exchange_share"]
    return step, inside, inside


def free_ports(count):
    """Of the loopback interface, given by the system."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def run(kind, workers, options):
    """Seconds of a step, of its exchange() and of what the library takes: means."""
    if kind == "c++":
        return run_cpp(workers, options)
    with tempfile.TemporaryDirectory(prefix="fast-") as folder:
        for rank, port in enumerate(free_ports(workers)):
            pathlib.Path(folder, f"port-{rank}").write_text(f"127.0.0.1:{port}", encoding="utf-8")
        command = [sys.executable, __file__, "--work", kind, "--sleep", str(options.sleep)]
        command += ["--steps", str(options.steps), "--workers", str(workers)]
        command += ["--model", options.model, "--millions", str(options.millions)]
        command += ["--transport", options.transport]
        commands = [[*command, "--rank", str(rank), "--folder", folder] for rank in range(workers)]
        told = runs.told_by(commands, lambda _: runs.with_package(), timeout=options.timeout)
        columns = zip(*([float(word) for word in text.split()[-3:]] for text in told))
        return tuple(statistics.mean(column) for column in columns)


def parsed():
    parser = runs.parser_of(__doc__, fast=False)
    parser.add_argument("--model", choices=("linear", "resnet18"), default="linear")
    parser.add_argument("--millions", type=float, choices=(1.1, 11.2, 44.7), default=11.2,
                        help="of parameters of `linear` (%(default)s)")  # fmt: skip
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4], help="(%(default)s)")
    parser.add_argument(
        "--kinds", nargs="+", choices=KINDS, default=["none", "ours", "linger 0", "decent", "ddp"]
    )
    parser.add_argument("--transport", choices=("shared", "zmq", "tcp"), default="shared",
                        help="of ours (%(default)s)")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=1, help="(%(default)s)")
    parser.add_argument("--steps", type=int, default=20, help="(%(default)s)")
    parser.add_argument("--sleep", type=float, default=0.2, help="seconds a step (%(default)s)")
    parser.add_argument("--timeout", type=float, default=600, help="seconds a run (%(default)s)")
    for name in ("--work", "--folder"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if "c++" in options.kinds and options.model != "resnet18":
        parser.error("c++ has no model 'linear'; add --model resnet18")
    return options


def main():
    options = parsed()
    if options.work:
        work(options.work, options.rank, options.workers[0], options.folder, options)
    for workers in options.workers:
        found = {kind: [] for kind in options.kinds}
        for _ in range(options.rounds):
            for kind in options.kinds:
                found[kind].append(run(kind, workers, options))
        for kind, values in found.items():
            step, called, inside = (statistics.mean(column) for column in zip(*values))
            each = ", ".join(f"{1000 * value[0]:.0f}" for value in values)
            shares = f"{100 * called / step:.1f} | {100 * inside / step:.1f}" if called else " | "
            print(f"| {workers} | {kind} | {1000 * step:.0f} | {each} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
