#!/usr/bin/env python3
"""What exchange costs a PyTorch loop: milliseconds a step, beside Decent-DP and DDP over Gloo.

Trains --model with --workers workers, one thread each, all on this machine, by SGD with momentum.
`linear` has 11.2 million parameters (28 layers), computes little and sleeps --sleep seconds a
step, as a host does while a device computes: a third of it spread over the forward pass, the rest
over the backward pass, where Decent-DP and DDP exchange too. `resnet18`, as large, computes on
batches of 32 images of 3x16x16. Each kind runs --rounds times in turn:

  none         no exchange
  ours         fast_training.torch, as it comes: a ring in shared memory
  boundary     the same with all averages taken in at the boundary (by_layer=False)
  phase 0      the same without waits for neighbours that end their steps (phase_lock=0)
  linger 0     the same without any wait
  uncorrected  the same as ours, without the correction of momentum
  decent       Decent-DP (complete for two workers, a ring for more), Gloo
  ddp          torch.nn.parallel.DistributedDataParallel, Gloo
  c++          with resnet18: `fast train` (--no-overlap), all steps, the first ones too

Prints for each kind the milliseconds of a step, as mean over workers, over --steps steps that
follow 5 others, and over the rounds; each round's; and the percentages of that time that
session.exchange() takes, and the library within it (c++ tells of the library alone).

Needs torch, for decent decent-dp too, and libfast.so (FAST_LIBRARY, or build/'s). To compare with
c++, run it by the Python whose torch the programs link: Debian's. Run nothing else.

    bench/python_overhead.py
    /usr/bin/python3 bench/python_overhead.py --model resnet18 --workers 2 \\
        --kinds none ours uncorrected "linger 0" c++
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import runs

OPTIONS = {
    "ours": {},
    "boundary": {"by_layer": False},
    "phase 0": {"phase_lock": 0},
    "linger 0": {"linger": 0},
    "uncorrected": {"momentum_correction": 0},
}
KINDS = ("none", *OPTIONS, "decent", "ddp", "c++")
LAYERS, WIDTH, WARM_UP, BATCH = 28, 632, 5, 32


def linear_layers(seconds):
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

    return torch.nn.Sequential(*(Layer(WIDTH, WIDTH) for _ in range(LAYERS)))


def resnet18():
    """As adapters/torch/models/resnet.cc has it."""
    from torch import nn

    def conv(inputs, outputs, size, stride):
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False),
            nn.BatchNorm2d(outputs),
        )

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.first, self.second = conv(inputs, outputs, 3, stride), conv(outputs, outputs, 3, 1)
            plain = stride == 1 and inputs == outputs
            self.shortcut = nn.Identity() if plain else conv(inputs, outputs, 1, stride)

        def forward(self, x):
            y = self.second(self.first(x).relu_())
            return y.add_(self.shortcut(x)).relu_()

    layers, inputs = [conv(3, 64, 3, 1), nn.ReLU(inplace=True)], 64
    for stage, width in enumerate((64, 128, 256, 512)):
        layers += [Block(inputs, width, 2 if stage > 0 else 1), Block(width, width, 1)]
        inputs = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 10))


def work(kind, rank, workers, folder, options):
    """One worker; prints the seconds of a step, and of its exchange in all and in the library."""
    import torch

    torch.manual_seed(1)
    torch.set_num_threads(1)

    def sgd(parameters):
        return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9)

    small = options.model == "linear"
    model = linear_layers(options.sleep) if small else resnet18()
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
    if kind in OPTIONS:
        import fast_training as fast

        session = fast.join(
            model,
            optimizer,
            topology=f"ring:{workers}",
            rank=rank,
            listen=f"ipc://{folder}/{rank}",
            peers={other: f"ipc://{folder}/{other}" for other in range(workers)},
            **OPTIONS[kind],
        )
    random = torch.Generator().manual_seed(rank)
    begun, called, inside = 0.0, 0.0, 0.0
    for step in range(WARM_UP + options.steps):
        if step == WARM_UP:
            begun, called = time.monotonic(), 0.0
            inside = session.exchange_seconds() if session is not None else 0.0
        if small:
            loss = model(torch.randn(4, WIDTH, generator=random)).square().mean()
        else:
            images = torch.randn(BATCH, 3, 16, 16, generator=random)
            labels = torch.randint(10, (BATCH,), generator=random)
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        if optimizer is not None:
            optimizer.step()
            optimizer.zero_grad()
        else:
            model.zero_grad()
        if session is not None:
            before = time.monotonic()
            session.exchange(loss=loss)
            called += time.monotonic() - before
    inside = session.exchange_seconds() - inside if session is not None else 0.0
    of_a_step = [value / options.steps for value in (time.monotonic() - begun, called, inside)]
    print(*of_a_step, flush=True)
    if session is not None and not all(one.shared for one in session.neighbours()):
        sys.exit("a neighbour is not in shared memory")
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


def run(kind, workers, options):
    """Seconds of a step, of its exchange() and of what of that is in the library: means."""
    if kind == "c++":
        return run_cpp(workers, options)
    with tempfile.TemporaryDirectory(prefix="fast-") as folder:
        command = [sys.executable, __file__, "--work", kind, "--sleep", str(options.sleep)]
        command += ["--steps", str(options.steps), "--workers", str(workers)]
        command += ["--model", options.model]
        commands = [[*command, "--rank", str(rank), "--folder", folder] for rank in range(workers)]
        told = runs.told_by(commands, lambda _: runs.with_package(), timeout=600)
        columns = zip(*([float(word) for word in text.split()[-3:]] for text in told))
        return tuple(statistics.mean(column) for column in columns)


def main():
    parser = runs.parser_of(__doc__, fast=False)
    parser.add_argument("--model", choices=("linear", "resnet18"), default="linear")
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4], help="(%(default)s)")
    parser.add_argument(
        "--kinds", nargs="+", choices=KINDS, default=["none", "ours", "linger 0", "decent", "ddp"]
    )
    parser.add_argument("--rounds", type=int, default=1, help="(%(default)s)")
    parser.add_argument("--steps", type=int, default=20, help="(%(default)s)")
    parser.add_argument("--sleep", type=float, default=0.2, help="(%(default)s)")
    for name in ("--work", "--folder"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if "c++" in options.kinds and options.model != "resnet18":
        parser.error("c++ has no model 'linear'; add --model resnet18")
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
