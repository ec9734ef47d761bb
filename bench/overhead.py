#!/usr/bin/env python3
"""The cost of the exchange for workers that compute all the time: steps with and without it.

Trains --topology, one computing thread for each worker, --rounds times without exchange and with it
over each of --transports, in turn and every second round the other way round, and prints a table
row for each model and transport, as mean +- standard error over the rounds:

  steps/s       of a worker, the mean over workers, without exchange and with it
  slower by     1 - with / without, by rounds: the result sought, sensitive to other load
  background    CPU time of all threads but the training threads, as a share of those threads' CPU
                time, with exchange
  boundary      time that training threads spend inside the boundary, as a share of their time

"Without" is --sweeps 0 --linger 0: no sweep, so no bytes of a model and no waiting. The rest is as
with exchange: each boundary shows the step (one pass over x and y) and wakes the background thread,
which sends heartbeats. So "slower by" lacks that pass; "boundary" includes the whole fold, and also
the wait for sweeps (--linger), which the background's CPU time counts again where it works on them.

With a core for each worker, background + boundary bound the cost from above. With more workers than
cores they do not: a training thread that waits leaves its core to another worker. Steps per second
remain comparable, since both kinds of run share the same cores; run nothing else. A run takes its
start and --seconds, which should hold ten steps or more. Linux only.

    bench/overhead.py --data cifar10:DIR
    bench/overhead.py --data cifar10:DIR --models resnet18 --transports tcp --sweeps 0.5
    bench/overhead.py --topology torus:2x4 --models resnet8 --rounds 6 --json overhead.json
"""
import glob
import os
import statistics
import sys
import tempfile
import time

import runs

WITHOUT = "without"  # instead of a transport
SHARED = "shared"
KEYS = ("steps_per_second", "background_share", "boundary_share")


def cpu_seconds(pid):
    """thread -> seconds of CPU; the first thread, whose number is the process's, trains."""
    seconds = {}
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        with open(path, encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        ticks = int(fields[11]) + int(fields[12])
        seconds[int(path.split("/")[4])] = ticks / os.sysconf("SC_CLK_TCK")
    return seconds


def newest_progress(run, rank):
    lines = runs.progress(run, rank)
    return lines[-1] if lines else None


def wait_until_they_train(run, ranks, trainer, patience):
    until = time.monotonic() + patience
    while trainer.poll() is None and time.monotonic() < until:
        lines = [newest_progress(run, rank) for rank in ranks]
        if all(line and line["step"] > 2 for line in lines):  # the first steps are a cold start
            return
        time.sleep(0.2)
    sys.exit("the workers did not begin to train")


def measure(args, model, exchange):
    """KEYS of one run with these options of fast train."""
    with tempfile.TemporaryDirectory() as folder:
        run = f"{folder}/run"
        args.model = model
        words = runs.words_of(args, run, "--epochs", "1000", "--threads", "1", "--report-every",
                              "0.5", *exchange)
        with runs.start([args.fast, "train", *words], errors=False) as t:
            try:
                ranks = range(runs.grid_of(args)["workers"])
                wait_until_they_train(run, ranks, t, 120)
                workers = list(runs.children_of(t.pid))
                before = [cpu_seconds(pid) for pid in workers]
                first = [newest_progress(run, rank) for rank in ranks]
                time.sleep(args.seconds)
                after = [cpu_seconds(pid) for pid in workers]
                last = [newest_progress(run, rank) for rank in ranks]
            finally:
                runs.end(t)

    def gained(key):
        return [last[rank][key] - first[rank][key] for rank in ranks]

    if min(gained("step")) == 0:
        sys.exit(f"a worker made no step of {model} within --seconds {args.seconds:g}")
    training = sum(after[i][pid] - before[i][pid] for i, pid in enumerate(workers))
    everything = sum(sum(a.values()) - sum(b.values()) for a, b in zip(after, before))
    rates = [steps / spent for steps, spent in zip(gained("step"), gained("training_seconds"))]
    return dict(zip(KEYS, (statistics.mean(rates), (everything - training) / training,
                           sum(gained("exchange_seconds")) / sum(gained("training_seconds")))))


def rounds_of(args, model):
    """transport or WITHOUT -> the measurement of each round."""
    ways = {WITHOUT: ["--sweeps", "0", "--linger", "0"]}
    for transport in args.transports:
        how = [] if transport == SHARED else ["--share-memory", "never", "--transport", transport,
                                                 "--insecure"]
        ways[transport] = [*how, "--sweeps", args.sweeps,
                           "--codec", args.codec, "--linger", args.linger]
    measured = {way: [] for way in ways}
    for number, way in runs.in_turn(ways, args.rounds):
        measured[way].append(measure(args, model, ways[way]))
        print(f"{model}, round {number + 1}, {way}: "
              f"{measured[way][-1]['steps_per_second']:.4g} steps/s", file=sys.stderr)
    return measured


def row_of(alone, beside):
    """name -> the values of all rounds"""
    return {"steps_per_second_without": [run["steps_per_second"] for run in alone],
            "steps_per_second_with": [run["steps_per_second"] for run in beside],
            "slower_by": [1 - run["steps_per_second"] / without["steps_per_second"]
                          for run, without in zip(beside, alone)],
            "background_share": [run["background_share"] for run in beside],
            "boundary_share": [run["boundary_share"] for run in beside]}


def main():
    parser = runs.parser_of(__doc__)
    parser.add_argument("--data", default="synthetic", help="(%(default)s)")
    parser.add_argument("--models", nargs="+", default=["resnet8", "resnet20", "resnet18"])
    parser.add_argument("--transports", nargs="+", default=[SHARED, "zmq", "tcp"],
                        help=f"{SHARED}: shared memory (%(default)s)")
    parser.add_argument("--topology", default="ring:2", help="(%(default)s)")
    parser.add_argument("--sweeps", default="auto", help="per step (%(default)s)")
    parser.add_argument("--codec", default="fp32", help="(%(default)s)")
    parser.add_argument("--linger", default="0.1", help="share of a step (%(default)s)")
    parser.add_argument("--seconds", type=float, default=20, help="of each run (%(default)s)")
    parser.add_argument("--rounds", type=int, default=4, help="two or more (%(default)s)")
    parser.add_argument("--json", metavar="FILE",
                        help="where the figures go, too, with the machine's name")
    args = parser.parse_args()
    if args.rounds < 2:
        parser.error("--rounds must be 2 or more: a standard error needs two")
    print("| model | transport | steps/s without | with | slower by, % | background, % "
          "| boundary, % |")
    print("|---|---|---|---|---|---|---|")
    rows, everything = [], {}
    for model in args.models:
        everything[model] = rounds_of(args, model)
        for transport in args.transports:
            row = row_of(everything[model][WITHOUT], everything[model][transport])
            rows.append({"model": model, "transport": transport,
                         **{key: runs.estimate(values) for key, values in row.items()}})
            shares = (runs.figure(row[key], 100)
                      for key in ("slower_by", "background_share", "boundary_share"))
            print(f"| {model} | {transport} | {runs.figure(row['steps_per_second_without'])} | "
                  f"{runs.figure(row['steps_per_second_with'])} | {' | '.join(shares)} |",
                  flush=True)
    if args.json:
        asked = {key: getattr(args, key) for key in
                 ("topology", "data", "sweeps", "codec", "linger", "seconds", "rounds")}
        runs.write_json(args.json, {"machine": runs.machine(), **asked, "rows": rows,
                                    "runs": everything})


if __name__ == "__main__":
    main()
