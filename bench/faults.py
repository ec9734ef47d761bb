#!/usr/bin/env python3
"""Goodput under failure: what it costs a run that workers die, or stand still, all the time.

Trains --topology to the same budget undisturbed and under each of --faults, in turn, --rounds times,
and prints a table row for each:

  kill     every --every seconds a worker drawn by chance is killed by SIGKILL, and started again by
           `fast train --restarts`; it goes on from its checkpoint, or from a neighbour's model
  freeze   every --every seconds one is stopped by SIGSTOP for --frozen seconds
  cut      every --every seconds a link drawn by chance is taken down for --frozen seconds. Each
           worker has a network namespace of its own then, and a virtual link to each neighbour, so
           its goodput is that over an undisturbed run over such links. As root, or under unshare -r

  seconds     from the first step to the end of training
  goodput     the undisturbed run's seconds over these, by rounds: both runs train to one budget, and
              what a death loses is trained again
  accuracy    of the mean model, on the test set
  back after  seconds from a kill to the first sweep of the new life: median and most

Each step is stretched by --slow, by waiting, so that a worker has the speed that it would have on a
device of its own although many share this machine's cores. Run nothing else. Linux only.

    bench/faults.py --data cifar10:DIR
    bench/faults.py --data synthetic:2000,500 --epochs 3 --every 5 --rounds 1    # to try it
"""
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import runs
from links import Links

UNDISTURBED = "undisturbed"
OVER_LINKS = "undisturbed, over links"
BESIDE = {"cut": OVER_LINKS}  # what a fault's figures are compared with


def beside(way):
    return BESIDE.get(way, OVER_LINKS if way == OVER_LINKS else UNDISTURBED)


def process_of(rank, trainer):
    """The worker of a rank, a child of `fast train`; None while it is not there."""
    for pid, words in runs.children_of(trainer.pid).items():
        if "--rank" in words and words[words.index("--rank") + 1] == str(rank):
            return pid
    return None


def training(run, rank):
    """Whether the newest life of a worker has trained and not ended."""
    lines = runs.metrics(run, rank)
    return bool(lines) and lines[-1]["kind"] == "progress" and lines[-1]["state"] == "training"


def disturb(fault, run, rank, trainer, args):
    """Returns whether the worker was met in training."""
    pid = process_of(rank, trainer)
    if pid is None or not training(run, rank):
        return False
    try:
        os.kill(pid, signal.SIGKILL if fault == "kill" else signal.SIGSTOP)
        if fault == "freeze":
            time.sleep(args.frozen)
            os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return False
    return True


def cut(links, drawn, args):
    edge = drawn.choice(links.edges())
    links.cut(edge)
    time.sleep(args.frozen)
    links.mend(edge)


def seconds_until_back(run, rank, moments):
    """From each kill of a worker to the first line of its next life with a sweep in it."""
    waits, start, lives = [], 0.0, []
    for line in runs.metrics(run, rank):
        if line["kind"] == "start":
            start = line["unix_time"]
        elif line["kind"] == "progress":
            if any(neighbour["sweeps"] for neighbour in line["neighbours"]):
                if not lives or lives[-1][0] != start:
                    lives.append((start, start + line["time"]))
    for moment in moments:
        back = [first for begun, first in lives if begun > moment]
        if back:
            waits.append(min(back) - moment)
    return waits


def common_words(args, seed, run):
    return runs.words_of(args, run, "--epochs", f"{args.epochs:g}", "--threads", "1", "--seed",
                         str(seed), "--report-every", "0.1", "--checkpoint-every",
                         f"{args.checkpoint_every:g}")


def figures(fault, seed, run, code, faults, waits):
    summary = runs.summary(run)
    return {"fault": fault, "seed": seed, "exit_code": code, "faults": faults,
            "seconds": summary["training_seconds"],
            "samples": summary["samples"],
            "accuracy": summary["test_accuracy"]["mean_model"], "back_after": waits}


def measure_over_links(args, fault, seed):
    """One run whose workers have nothing in common but the links of the grid."""
    drawn = random.Random(seed)
    grid = runs.grid_of(args)
    count = grid["workers"]
    with tempfile.TemporaryDirectory() as folder, Links(count, grid["edges"]) as links:
        run = f"{folder}/run"
        words = [f"{args.fast}-worker", *common_words(args, seed, run), "--run-id", "faults",
                 "--share-memory", "never"]
        workers = [runs.start(
            links.command(rank, [*words, "--rank", str(rank), "--slow", f"{rank}:{args.slow:g}",
                                 *links.worker_words(rank)]), errors=False)
                   for rank in range(count)]
        faults = 0
        try:
            while not all(training(run, rank) for rank in range(count)):
                if any(worker.poll() is not None for worker in workers):
                    raise RuntimeError("a worker ended before all trained")
                time.sleep(0.2)
            begun = time.time()
            while any(training(run, rank) for rank in range(count)):
                time.sleep(0.5)
                if fault == "cut" and time.time() >= begun + args.every * (1 + faults):
                    cut(links, drawn, args)
                    faults += 1
            code = max(worker.wait(timeout=600) for worker in workers)
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
        subprocess.run([args.fast, "report", run, "--model", args.model, "--data", args.data],
                       check=True, stdout=subprocess.DEVNULL)
        return figures(fault, seed, run, code, faults, [])


def measure(args, fault, seed):
    """One run; ends where its budget is used."""
    if fault in ("cut", OVER_LINKS):
        return measure_over_links(args, fault, seed)
    drawn = random.Random(seed)
    count = runs.grid_of(args)["workers"]
    slow = [word for rank in range(count) for word in ("--slow", f"{rank}:{args.slow:g}")]
    with tempfile.TemporaryDirectory() as folder:
        run = f"{folder}/run"
        command = [args.fast, "train", *common_words(args, seed, run), *slow, "--restarts", "1000"]
        kills = {rank: [] for rank in range(count)}
        with runs.start(command, errors=False) as t:
            try:
                while t.poll() is None and not all(training(run, r) for r in range(count)):
                    time.sleep(0.2)
                begun = time.time()
                while t.poll() is None and any(training(run, r) for r in range(count)):
                    time.sleep(0.5)
                    moment = time.time()
                    if fault == UNDISTURBED or moment < begun + args.every * (1 + total(kills)):
                        continue
                    rank = drawn.randrange(count)
                    if disturb(fault, run, rank, t, args):
                        kills[rank].append(moment)
                code = t.wait(timeout=600)
            finally:
                t.kill()
        waits = [wait for rank, moments in kills.items()
                 for wait in seconds_until_back(run, rank, moments)]
        return figures(fault, seed, run, code, total(kills), waits)


def total(kills):
    return sum(len(moments) for moments in kills.values())


def row_of(fault, measured, undisturbed):
    goodput = [other["seconds"] / run["seconds"] for run, other in zip(measured, undisturbed)]
    waits = [wait for run in measured for wait in run["back_after"]]
    back = f"{statistics.median(waits):.2g}, {max(waits):.2g}" if waits else ""
    return (f"| {fault} | {sum(run['faults'] for run in measured)} | "
            f"{runs.figure([run['seconds'] for run in measured])} | "
            f"{runs.figure(goodput, 100)} | "
            f"{runs.figure([run['accuracy'] for run in measured], 100)} | "
            f"{back} |")


def main():
    parser = runs.parser_of(__doc__)
    parser.add_argument("--data", default="synthetic", help="(%(default)s)")
    parser.add_argument("--model", default="resnet8", help="(%(default)s)")
    parser.add_argument("--topology", default="torus:3x3", help="(%(default)s)")
    parser.add_argument("--epochs", type=float, default=10, help="of each run (%(default)s)")
    parser.add_argument("--faults", nargs="*", default=["kill", "freeze", "cut"],
                        choices=["kill", "freeze", "cut"])
    parser.add_argument("--every", type=float, default=15,
                        help="seconds between two faults (%(default)s)")
    parser.add_argument("--frozen", type=float, default=5, help="seconds (%(default)s)")
    parser.add_argument("--checkpoint-every", type=float, default=60, help="seconds (%(default)s)")
    parser.add_argument("--slow", type=float, default=10,
                        help="what a step is stretched by (%(default)s)")
    parser.add_argument("--rounds", type=int, default=1, help="seeds (%(default)s)")
    parser.add_argument("--json", metavar="FILE", help="where the figures go, too")
    args = parser.parse_args()
    ways = [UNDISTURBED] if any(fault not in BESIDE for fault in args.faults) else []
    for fault in args.faults:
        ways += [BESIDE[fault], fault] if fault in BESIDE else [fault]
    measured = {way: [] for way in ways}
    for number, way in runs.in_turn(ways, args.rounds):
        measured[way].append(measure(args, way, number + 1))
        told = measured[way][-1]
        print(f"round {number + 1}, {way}: {told['seconds']:.4g} s, "
              f"accuracy {100 * told['accuracy']:.2f} %, {told['faults']} faults, exit code "
              f"{told['exit_code']}", file=sys.stderr)
    print("| | faults | seconds | goodput, % | accuracy, % | back after, s |")
    print("|---|---|---|---|---|---|")
    for way in ways:
        print(row_of(way, measured[way], measured[beside(way)]))
    if args.json:
        runs.write_json(args.json, {"options": vars(args), "runs": measured})


if __name__ == "__main__":
    main()
