#!/usr/bin/env python3
"""What exchange costs workers that compute all the time: steps with and without it.

Trains --topology, one computing thread for each worker (give each a core), and prints a table row for
each model and transport: the time of a step, without exchange first; the CPU time of the background
threads and the training threads' time inside the boundary, both as a share of the training threads',
over --seconds in the middle of the run. Steps vary by more than the few percent that are sought, so
the shares tell more; together they are a bound, for a boundary that waits for its sweeps is counted
with the background's work on them. Linux only.

    bench/overhead.py --data cifar10:DIR
    bench/overhead.py --data cifar10:DIR --models resnet18 --transports tcp --sweeps 0.5
"""
import argparse
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time


def cpu_seconds(pid):
    """thread -> seconds of CPU; the first thread, whose number is the process's, trains."""
    seconds = {}
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        with open(path, encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        ticks = int(fields[11]) + int(fields[12])
        seconds[int(path.split("/")[4])] = ticks / os.sysconf("SC_CLK_TCK")
    return seconds


def progress(run, rank):
    """The newest progress line of a worker, or None before its first."""
    try:
        with open(f"{run}/worker-{rank}/metrics.jsonl", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file if line.endswith("\n")]
    except FileNotFoundError:
        return None
    lines = [line for line in lines if line["kind"] == "progress"]
    return lines[-1] if lines else None


def workers_of(args):
    told = subprocess.check_output([args.fast, "topology", args.topology, "--json"], text=True)
    return json.loads(told)["workers"]


def wait_until_they_train(run, ranks, trainer, patience):
    until = time.monotonic() + patience
    while trainer.poll() is None and time.monotonic() < until:
        lines = [progress(run, rank) for rank in ranks]
        if all(line and line["step"] > 0 for line in lines):
            return
        time.sleep(0.2)
    sys.exit("the workers did not begin to train")


def measure(args, model, exchange):
    """(ms per step, background share, boundary share) with these options of fast train."""
    with tempfile.TemporaryDirectory() as folder:
        run = f"{folder}/run"
        command = [args.fast, "train", "--topology", args.topology, "--model", model, "--data",
                   args.data, "--epochs", "1000", *exchange, "--threads", "1",
                   "--report-every", "0.5", "--out", run, "--quiet"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as t:
            try:
                ranks = range(workers_of(args))
                wait_until_they_train(run, ranks, t, 120)
                workers = [int(pid) for pid in subprocess.check_output(
                    ["pgrep", "-P", str(t.pid)], text=True).split()]
                before = [cpu_seconds(pid) for pid in workers]
                first = [progress(run, rank) for rank in ranks]
                time.sleep(args.seconds)
                after = [cpu_seconds(pid) for pid in workers]
                last = [progress(run, rank) for rank in ranks]
            finally:
                # The second one kills: neither agreement nor evaluation is wanted.
                t.send_signal(signal.SIGTERM)
                time.sleep(0.2)
                t.send_signal(signal.SIGTERM)

    def gained(key):
        return sum(last[rank][key] - first[rank][key] for rank in ranks)

    training = sum(after[i][pid] - before[i][pid] for i, pid in enumerate(workers))
    everything = sum(sum(a.values()) - sum(b.values()) for a, b in zip(after, before))
    return (1000 * gained("training_seconds") / gained("step"), (everything - training) / training,
            gained("exchange_seconds") / gained("training_seconds"))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fast", default="build/bin/fast", help="the program (%(default)s)")
    parser.add_argument("--data", default="synthetic", help="(%(default)s)")
    parser.add_argument("--models", nargs="+", default=["resnet8", "resnet20", "resnet18"])
    parser.add_argument("--transports", nargs="+", default=["auto", "tcp"],
                        help="auto: shared memory here (%(default)s)")
    parser.add_argument("--topology", default="ring:2", help="(%(default)s)")
    parser.add_argument("--sweeps", default="auto", help="per step (%(default)s)")
    parser.add_argument("--codec", default="fp32", help="(%(default)s)")
    parser.add_argument("--linger", default="0.1", help="share of a step (%(default)s)")
    parser.add_argument("--seconds", type=float, default=20, help="of each run (%(default)s)")
    args = parser.parse_args()
    print("| model | transport | ms per step without | with | background | boundary | together |")
    print("|---|---|---|---|---|---|---|")
    for model in args.models:
        alone, _, _ = measure(args, model, ["--sweeps", "0", "--linger", "0"])
        for transport in args.transports:
            step, background, boundary = measure(
                args, model, ["--transport", transport, "--sweeps", args.sweeps,
                              "--codec", args.codec, "--linger", args.linger])
            print(f"| {model} | {transport} | {alone:.1f} | {step:.1f} | {100 * background:.2f} % | "
                  f"{100 * boundary:.2f} % | {100 * (background + boundary):.2f} % |", flush=True)


if __name__ == "__main__":
    main()
