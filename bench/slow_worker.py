#!/usr/bin/env python3
"""The cost of one slow worker for the others.

Runs `fast train` with and without `--slow RANK:FACTOR`, in turn, and prints as JSON the steps per
second of the other workers with the slow one, divided by those without it; at least 0.9 is
expected.

With fewer cores than workers the others even get faster, because the slow worker leaves its core to
them while it waits; `cores` and `workers` are printed, so that the number can be judged. On a
machine with two cores, compare on ring:2, where each worker has a core of its own:

    bench/slow_worker.py --fast build/bin/fast --topology ring:2 --slow 1:4

--model linear is a stand-in that builds without LibTorch; its steps are so short that the exchange
weighs more than it does for a real model.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

import runs


def training_rates(args, run, slow_rank):
    """rank -> steps per second, first to last progress line while training."""
    rates = {}
    for rank in range(runs.grid_of(args)["workers"]):
        if rank == slow_rank:
            continue
        training = [line for line in runs.progress(run, rank) if line["state"] == "training"]
        # The first line comes before the first step; the first seconds are those of a cold start.
        if len(training) < 3:
            sys.exit(f"worker {rank}: too short a run to measure; raise --epochs")
        first, last = training[1], training[-1]
        rates[rank] = (last["step"] - first["step"]) / (last["time"] - first["time"])
    return rates


def train(args, slow):
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "run")
        words = runs.words_of(args, run, "--epochs", str(args.epochs), "--report-every", "0.5",
                              *(("--slow", args.slow) if slow else ()))
        subprocess.run([args.fast, "train", *words], check=True, timeout=args.timeout,
                       stdout=subprocess.DEVNULL)
        return training_rates(args, run, int(args.slow.split(":")[0]))


def main():
    parser = runs.parser_of(__doc__)
    parser.add_argument("--topology", default="torus:2x2", help="(%(default)s)")
    parser.add_argument("--model", default="resnet8", help="(%(default)s)")
    parser.add_argument("--data", default="synthetic", help="(%(default)s)")
    parser.add_argument("--epochs", type=float, default=2, help="of each run (%(default)s)")
    parser.add_argument("--slow", default="3:4", help="RANK:FACTOR (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3,
                        help="pairs of runs, taken in turn; medians count (%(default)s)")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds per run (%(default)s)")
    args = parser.parse_args()

    alone, beside = [], []
    for number, slow in runs.in_turn((False, True), args.rounds):
        rate = statistics.mean(train(args, slow).values())
        (beside if slow else alone).append(rate)
        print(f"round {number + 1}, {'with' if slow else 'without'} --slow {args.slow}: "
              f"{rate:.2f} steps/s", file=sys.stderr)
    without, with_slow = statistics.median(alone), statistics.median(beside)
    print(json.dumps({
        "topology": args.topology, "model": args.model, "slow": args.slow,
        "cores": len(os.sched_getaffinity(0)), "rounds": args.rounds,
        "steps_per_second_without": without, "steps_per_second_with": with_slow,
        "ratio": with_slow / without, "wanted": 0.9,
    }, indent=2))


if __name__ == "__main__":
    main()
