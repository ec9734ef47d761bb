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
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile


def training_rates(run, slow_rank):
    """rank -> steps per second, first to last progress line while training."""
    rates = {}
    for name in sorted(os.listdir(run)):
        if not name.startswith("worker-") or int(name[7:]) == slow_rank:
            continue
        with open(os.path.join(run, name, "metrics.jsonl"), encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        training = [l for l in lines if l["kind"] == "progress" and l["state"] == "training"]
        # The first line comes before the first step; the first seconds are those of a cold start.
        if len(training) < 3:
            sys.exit(f"{name}: too short a run to measure; raise --epochs")
        first, last = training[1], training[-1]
        rates[int(name[7:])] = (last["step"] - first["step"]) / (last["time"] - first["time"])
    return rates


def train(args, slow):
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "run")
        command = [args.fast, "train", "--topology", args.topology, "--model", args.model,
                   "--data", args.data, "--epochs", str(args.epochs), "--out", run,
                   "--report-every", "0.5", "--quiet"]
        if slow:
            command += ["--slow", args.slow]
        subprocess.run(command, check=True, timeout=args.timeout, stdout=subprocess.DEVNULL)
        return training_rates(run, int(args.slow.split(":")[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fast", default="build/bin/fast", help="the program (%(default)s)")
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
    for number in range(args.rounds):
        # In turn, every second round in reverse order, so that a drift of the machine cancels.
        for slow in (False, True) if number % 2 == 0 else (True, False):
            rates = train(args, slow)
            (beside if slow else alone).append(statistics.mean(rates.values()))
            print(f"round {number + 1}, {'with' if slow else 'without'} --slow {args.slow}: "
                  f"{statistics.mean(rates.values()):.2f} steps/s", file=sys.stderr)
    without, with_slow = statistics.median(alone), statistics.median(beside)
    print(json.dumps({
        "topology": args.topology, "model": args.model, "slow": args.slow,
        "cores": len(os.sched_getaffinity(0)), "rounds": args.rounds,
        "steps_per_second_without": without, "steps_per_second_with": with_slow,
        "ratio": with_slow / without, "wanted": 0.9,
    }, indent=2))


if __name__ == "__main__":
    main()
