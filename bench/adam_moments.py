#!/usr/bin/env python3
"""What averaging Adam's second moments is worth: an MLP on CIFAR-10 at 8x8, four workers on a ring.

Trains in lock step (mode sync), so that the figures do not depend on the machine, by seeds and
learning rates, with shares of the data that Dirichlet's distribution makes more unlike the smaller
its --alpha is. Prints the accuracy of the agreed model, as mean ± standard error over the seeds,
with each worker's own moments and with mix_moments, and the difference by the same seed.

    bench/adam_moments.py --data DIR                     DIR holds data_batch_1.bin, ...
    bench/adam_moments.py --data DIR --samples 5000 --seeds 1     to try it

Needs PyTorch, NumPy and the package: PYTHONPATH=adapters/python
FAST_LIBRARY=build/adapters/c/libfast.so
"""

import math
import threading
from pathlib import Path

import runs


def parsed():
    parser = runs.parser_of(__doc__, fast=False)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--alpha", type=float, nargs="+", default=[0.1, 1.0, 1000.0])
    parser.add_argument("--rate", type=float, nargs="+", default=[0.001, 0.003])
    parser.add_argument("--samples", type=int, default=50000, help="over all workers")
    parser.add_argument("--seeds", type=int, default=3)
    return parser.parse_args()


ARGUMENTS = parsed()  # before what it needs is looked for, so that --help needs nothing

import fast_training as fast
import fast_training.torch
import numpy
import torch
from torch import nn

WORKERS, BATCH, SIDE = 4, 32, 8


def images(files):
    rows = numpy.concatenate(
        [numpy.fromfile(file, numpy.uint8).reshape(-1, 3073) for file in files]
    )
    factor = 32 // SIDE
    x = rows[:, 1:].reshape(-1, 3, SIDE, factor, SIDE, factor).mean((3, 5), dtype=numpy.float32)
    return x.reshape(len(x), -1), torch.tensor(rows[:, 0].astype(numpy.int64))


def data_in(folder):
    (x, y), (tested, wanted) = (images(sorted(folder.glob(f"{n}*.bin"))) for n in ("data", "test"))
    mean, deviation = x.mean(0), x.std(0)
    return [torch.tensor((one - mean) / deviation) for one in (x, tested)], [y, wanted]


def shares(labels, alpha, seed):
    """The examples of each worker."""
    draw = numpy.random.default_rng(seed)
    parts = [[] for _ in range(WORKERS)]
    for label in range(10):
        found = draw.permutation(numpy.flatnonzero(labels.numpy() == label))
        cuts = numpy.cumsum(draw.dirichlet([alpha] * WORKERS))[:-1] * len(found)
        for part, some in zip(parts, numpy.split(found, cuts.astype(int))):
            part.extend(some)
    return [numpy.array(part) for part in parts]


def accuracy(arguments, data, alpha, rate, seed, mixed):
    """Of the model that one run ends with."""
    (x, tested), (y, wanted) = data
    parts = shares(y, alpha, seed)
    torch.manual_seed(seed)
    models = [
        nn.Sequential(nn.Linear(3 * SIDE**2, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU())
        for _ in range(WORKERS)
    ]
    models = [model.append(nn.Linear(128, 10)) for model in models]
    optimizers = [torch.optim.Adam(model.parameters(), rate) for model in models]
    endpoints, failed = {}, []
    sessions = []
    for rank in range(WORKERS):
        adapter = fast.torch.TorchAdapter(models[rank], optimizers[rank], mix_moments=mixed)
        options = {"topology": f"ring:{WORKERS}", "mode": "sync", "budget": arguments.samples}
        sessions.append(fast.Session(adapter, rank=rank, peers=dict(endpoints), **options))
        endpoints[rank] = sessions[rank].endpoint()

    def work(rank):
        session, model, optimizer = sessions[rank], models[rank], optimizers[rank]
        draw = numpy.random.default_rng([seed, rank])
        try:
            with session:
                session.join()
                while not session.done():
                    left = 0.5 * (1 + math.cos(math.pi * session.progress()))
                    optimizer.param_groups[0]["lr"] = max(rate * left, 1e-9)
                    some = draw.choice(parts[rank], BATCH)
                    loss = nn.functional.cross_entropy(model(x[some]), y[some])
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    session.exchange(BATCH, loss)
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise SystemExit(1)
    with torch.no_grad():
        mean = [sum(ones) / WORKERS for ones in zip(*(model.parameters() for model in models))]
        for parameter, value in zip(models[0].parameters(), mean):
            parameter.copy_(value)
        return 100 * (models[0](tested).argmax(1) == wanted).float().mean().item()


def main():
    arguments = ARGUMENTS
    torch.set_num_threads(1)
    data = data_in(arguments.data)
    for alpha in arguments.alpha:
        for rate in arguments.rate:
            own, mixed = (
                [accuracy(arguments, data, alpha, rate, s, kind) for s in range(arguments.seeds)]
                for kind in (False, True)
            )
            apart = [b - a for a, b in zip(own, mixed)]
            own, mixed, apart = (runs.figure(one, digits=".2f") for one in (own, mixed, apart))
            told = f"own {own}, mixed {mixed}, apart {apart}"
            print(f"alpha {alpha:g}, rate {rate:g}: {told}", flush=True)


if __name__ == "__main__":
    main()
