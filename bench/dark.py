#!/usr/bin/env python3
"""A grid that goes dark: what a run loses where all of its processes are killed at once.

Trains --topology once undisturbed and once with a blackout, for each of --seeds: at a moment drawn by
chance between --from and --to of the undisturbed run's time, the launcher and all workers are killed
by SIGKILL, and `fast train --resume` goes on from their checkpoints. Prints a table row for each run:

  lost, s     from the oldest of the workers' newest checkpoints to the blackout; at most
              --checkpoint-every, and the time that writing one takes
  killed in   milliseconds from the first kill to the last
  accuracy    of the mean model, on the test set

Accuracy does not depend on what else runs on the machine; seconds do. Linux only.

    bench/dark.py --data cifar10:DIR
    bench/dark.py --data synthetic:2000,500 --seeds 1    # to try it
"""
import os
import random
import signal
import tempfile
import time

import runs


def train(args, seed, run):
    return runs.start([args.fast, "train", *runs.words_of(
        args, run, "--epochs", f"{args.epochs:g}", "--threads", "1", "--seed", str(seed),
        "--checkpoint-every", f"{args.checkpoint_every:g}")])


def newest_checkpoints(args, run):
    """When each worker wrote its newest checkpoint; empty while one has none."""
    try:
        return [os.stat(f"{run}/worker-{rank}/checkpoint.safetensors").st_mtime
                for rank in range(args.workers)]
    except FileNotFoundError:
        return []


def blackout(trainer):
    """Kills all of a run; returns how long that took."""
    begun = time.time()
    for pid in [*runs.children_of(trainer.pid), trainer.pid]:
        os.kill(pid, signal.SIGKILL)
    trainer.wait()
    return time.time() - begun


def finished(args, trainer, run, seed):
    code = trainer.wait(timeout=args.patience)
    summary = runs.summary(run)
    return {"seed": seed, "exit_code": code, "samples": summary["samples"],
            "accuracy": summary["test_accuracy"]["mean_model"]}


def measure(args, seed):
    drawn = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        begun = time.time()
        usual = finished(args, train(args, seed, f"{folder}/usual"), f"{folder}/usual", seed)
        seconds = time.time() - begun
        run = f"{folder}/dark"
        trainer = train(args, seed, run)
        at = time.time() + seconds * drawn.uniform(args.begin, args.end)
        while trainer.poll() is None and (time.time() < at or not newest_checkpoints(args, run)):
            time.sleep(0.05)
        if trainer.poll() is not None:
            raise RuntimeError("the run was over before its blackout; give --to a smaller share")
        saved = newest_checkpoints(args, run)
        moment = time.time()
        took = blackout(trainer)
        resumed = runs.start([args.fast, "train", "--resume", run, "--quiet"])
        dark = finished(args, resumed, run, seed)
        dark |= {"lost": moment - min(saved), "killed_in": took}
        return usual, dark


def main():
    parser = runs.parser_of(__doc__)
    parser.add_argument("--data", default="synthetic", help="(%(default)s)")
    parser.add_argument("--model", default="resnet8", help="(%(default)s)")
    parser.add_argument("--topology", default="ring:2", help="(%(default)s)")
    parser.add_argument("--epochs", type=float, default=1, help="of each run (%(default)s)")
    parser.add_argument("--checkpoint-every", type=float, default=10, help="seconds (%(default)s)")
    parser.add_argument("--from", dest="begin", type=float, default=0.3, help="(%(default)s)")
    parser.add_argument("--to", dest="end", type=float, default=0.7, help="(%(default)s)")
    parser.add_argument("--seeds", type=int, default=3, help="how many (%(default)s)")
    parser.add_argument("--patience", type=float, default=3600, help="seconds (%(default)s)")
    parser.add_argument("--json", metavar="FILE", help="where the figures go, too")
    args = parser.parse_args()
    args.workers = runs.grid_of(args)["workers"]
    pairs = []
    print("| seed | lost, s | killed in, ms | exit code | accuracy, % | undisturbed, % |")
    print("|---|---|---|---|---|---|")
    for seed in range(1, args.seeds + 1):
        usual, dark = measure(args, seed)
        pairs.append((usual, dark))
        print(f"| {seed} | {dark['lost']:.1f} | {1000 * dark['killed_in']:.0f} | "
              f"{dark['exit_code']} | {100 * dark['accuracy']:.2f} | {100 * usual['accuracy']:.2f} |",
              flush=True)
    differences = [100 * (dark["accuracy"] - usual["accuracy"]) for usual, dark in pairs]
    changed = runs.figure(differences, digits="+.2f")
    print(f"\nA blackout changed accuracy by {changed} points.")
    if args.json:
        runs.write_json(args.json, {"options": vars(args), "runs": pairs})


if __name__ == "__main__":
    main()
