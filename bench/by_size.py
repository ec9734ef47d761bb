#!/usr/bin/env python3
"""What a session takes by the size of a model: memory, bytes an hour and time of a step's boundary.

usage: by_size.py [--fast FAST] [--floats N,..] [--step SECONDS] [--seconds S]

Two workers of a ring on this machine hold a model of N floats and take steps that compute nothing
and last --step seconds, once in shared memory and once with ZeroMQ and keys over loopback, as
between hosts. Prints a table in Markdown; needs NumPy.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import runs


def resident() -> int:
    """Bytes of memory of this process, shared ones counted too."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def worker(floats: int, step: float, seconds: float) -> None:
    """One of the two; prints what it has measured as JSON."""
    import fast_training as fast
    import numpy

    model = numpy.ones(floats, numpy.float32)
    before = resident()
    with fast.join([model], budget=1 << 60, linger=0) as session:
        begin, sent, spent, steps = time.monotonic(), 0, 0.0, 0
        measured_from = begin + seconds / 4  # the first steps map memory
        while time.monotonic() < begin + seconds:
            time.sleep(step)
            model *= 0.999
            session.exchange()
            if not steps and time.monotonic() > measured_from:
                begin_measured = time.monotonic()
                sent = session.counters()["bytes_sent"]
                spent, steps = session.exchange_seconds(), session.steps()
        took = time.monotonic() - begin_measured
        print(
            json.dumps(
                {
                    "memory": resident() - before,
                    "rate": (session.counters()["bytes_sent"] - sent) / took,
                    "boundary": (session.exchange_seconds() - spent) / (session.steps() - steps),
                }
            ),
            flush=True,
        )
        session.stop_all("measured")


def measured(program: str, arguments: list[str], **variables: str) -> dict[str, float]:
    """What rank 0 has measured."""
    command = [program, "run", "--topology", "ring:2", "--", sys.executable, __file__]
    done = subprocess.run(
        [*command, "--worker", *arguments],
        env=runs.with_package(**variables),
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=600,
        check=True,
    )
    return next(json.loads(line[4:]) for line in done.stdout.splitlines() if line[:5] == "[0] {")


def main() -> None:
    parser = runs.parser_of(__doc__)
    parser.add_argument("--floats", default="270000,11200000,60000000", help="sizes of models")
    parser.add_argument("--step", type=float, default=0.25, help="seconds of a step")
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker is not None:
        worker(given.worker, given.step, given.seconds)
        return
    titles = "floats", "model MB", "memory beside it", "boundary ms, one host", "keys", "GB an hour"
    print(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    with tempfile.TemporaryDirectory() as folder:
        keys = f"{folder}/keys"
        made = [given.fast, "keys", "--out", keys, "--workers", "2"]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
        for floats in given.floats.split(","):
            arguments = [floats, "--step", str(given.step), "--seconds", str(given.seconds)]
            here = measured(given.fast, arguments)
            apart = measured(given.fast, arguments, FAST_SHARE_MEMORY="never", FAST_KEYS=keys)
            size = 4 * int(floats)
            print(
                f"| {int(floats):,} | {size / 1e6:.1f} | {apart['memory'] / size:.1f} x "
                f"| {1000 * here['boundary']:.1f} | {1000 * apart['boundary']:.1f} "
                f"| {3600 * apart['rate'] / 1e9:.2g} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
