#!/usr/bin/env python3
"""What exchange costs a worker that computes all the time.

Trains two workers on ring:2, one computing thread each, and prints a table row for each model and
transport: the CPU time of the background threads and the training thread's time inside the boundary,
both as a share of the training thread's, over --seconds in the middle of the run. CPU time and not
steps per second, because what is sought is a few percent and steps vary by more. Linux only.

    bench/exchange_share.py --data cifar10:DIR
    bench/exchange_share.py --data cifar10:DIR --models resnet18 --sweeps 0.5
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


def wait_until_it_trains(run, trainer, patience):
    until = time.monotonic() + patience
    while trainer.poll() is None and time.monotonic() < until:
        lines = [progress(run, rank) for rank in (0, 1)]
        if all(line and line["step"] > 0 for line in lines):
            return
        time.sleep(0.2)
    sys.exit("the workers did not begin to train")


def measure(args, model, transport):
    with tempfile.TemporaryDirectory() as folder:
        run = f"{folder}/run"
        command = [args.fast, "train", "--topology", "ring:2", "--model", model, "--data", args.data,
                   "--epochs", "1000", "--transport", transport, "--sweeps", str(args.sweeps),
                   "--threads", "1", "--report-every", "0.5", "--out", run, "--quiet"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as t:
            try:
                wait_until_it_trains(run, t, 120)
                workers = [int(pid) for pid in subprocess.check_output(
                    ["pgrep", "-P", str(t.pid)], text=True).split()]
                before = [cpu_seconds(pid) for pid in workers]
                steps = [progress(run, rank)["step"] for rank in (0, 1)]
                began = time.monotonic()
                time.sleep(args.seconds)
                after = [cpu_seconds(pid) for pid in workers]
                lines = [progress(run, rank) for rank in (0, 1)]
                lasted = time.monotonic() - began
            finally:
                # The second one kills: neither agreement nor evaluation is wanted.
                t.send_signal(signal.SIGTERM)
                time.sleep(0.2)
                t.send_signal(signal.SIGTERM)
    training = sum(after[i][pid] - before[i][pid] for i, pid in enumerate(workers))
    everything = sum(sum(after[i].values()) - sum(before[i].values()) for i in (0, 1))
    boundary = sum(line["exchange_seconds"] for line in lines) / sum(
        line["training_seconds"] for line in lines)
    background = (everything - training) / training
    made = sum(lines[rank]["step"] - steps[rank] for rank in (0, 1)) / 2
    print(f"| {model} | {transport} | {1000 * lasted / made:.0f} | {100 * background:.2f} % | "
          f"{100 * boundary:.2f} % | {100 * (background + boundary):.2f} % |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fast", default="build/bin/fast", help="the program (%(default)s)")
    parser.add_argument("--data", default="synthetic", help="(%(default)s)")
    parser.add_argument("--models", nargs="+", default=["resnet8", "resnet20", "resnet18"])
    parser.add_argument("--transports", nargs="+", default=["auto", "tcp"],
                        help="auto: shared memory here (%(default)s)")
    parser.add_argument("--sweeps", type=float, default=1, help="per step (%(default)s)")
    parser.add_argument("--seconds", type=float, default=20, help="of each run (%(default)s)")
    args = parser.parse_args()
    print("| model | transport | ms per step | background | boundary | together |")
    print("|---|---|---|---|---|---|")
    for model in args.models:
        for transport in args.transports:
            measure(args, model, transport)


if __name__ == "__main__":
    main()
