#!/usr/bin/env python3
"""A grid of two architectures: torus:2x2, keys on, each worker a host of its own.

Ranks 0 and 3 are of this machine, 1 and 2 of another, by its emulator. They train, are stopped in
the middle, and go on with the architectures changed over, each from the other's checkpoint. In
the end all have one model, as near as the run's target promises.

usage: mixed_grid.py FAST WORKER OTHER_WORKER [EMULATOR WORD..]
"""

import array
import json
import math
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from hosts import host, namespaces

PATIENCE = 300.0  # seconds; emulated, and on a busy machine
NEIGHBOURS = {0: (1, 2), 1: (0, 3), 2: (0, 3), 3: (1, 2)}
TARGET = 1e-3  # settle_target's default
PORT = 5555


def model(file: pathlib.Path) -> list[float]:
    """All float32 numbers of a safetensors file, in the order of their names."""
    data = file.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    values: list[float] = []
    for name, entry in sorted(json.loads(data[8:end]).items()):
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, after = entry["data_offsets"]
        values += array.array("f", data[end + begin : end + after])
    return values


def distance(a: list[float], b: list[float]) -> float:
    """Between two models, over the norm of the one."""
    apart = math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))
    return apart / math.sqrt(sum(x * x for x in a))


def run(
    names: list[str], commands: list[list[str]], folder: pathlib.Path, stop_at: int | None
) -> list[int]:
    """Exit codes of four workers; all are stopped when they have made so many steps."""
    workers = []
    for rank, command in enumerate(commands):
        words = ["--topology", "torus:2x2", "--rank", str(rank), "--run-id", "mixed"]
        words += ["--keys", str(folder / "keys"), "--listen", f"*:{PORT}"]
        for other in NEIGHBOURS[rank]:
            words += ["--peer", f"{other}={host(other)}:{PORT}"]
        words += ["--model", "linear", "--data", "synthetic:2048,256", "--epochs", "60"]
        words += ["--threads", "1", "--out", str(folder / "run")]
        if len(command) == 1:  # about as slow as those that are emulated
            words += ["--slow", f"{rank}:20"]
        with open(folder / f"log-{rank}", "ab") as log:
            workers.append(
                subprocess.Popen(
                    ["ip", "netns", "exec", names[rank], *command, *words],
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )
    deadline = time.monotonic() + PATIENCE
    try:
        while stop_at is not None and steps(folder) < stop_at:
            if time.monotonic() > deadline or any(w.poll() is not None for w in workers):
                raise AssertionError("the workers do not get on")
            time.sleep(0.2)
        if stop_at is not None:
            for worker in workers:
                worker.send_signal(signal.SIGTERM)
        return [worker.wait(max(1.0, deadline - time.monotonic())) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def steps(folder: pathlib.Path) -> int:
    """Those of the worker that has made fewest."""
    made = []
    for rank in NEIGHBOURS:
        file = folder / "run" / f"worker-{rank}" / "metrics.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []
        told = [line for line in lines if line.startswith('{"kind":"progress"')]
        made.append(json.loads(told[-1])["step"] if told else 0)
    return min(made)


def main() -> None:
    fast, ours, theirs, *emulator = sys.argv[1:]
    here, there = [ours], [*emulator, theirs]
    with tempfile.TemporaryDirectory() as name, namespaces(4) as names:
        folder = pathlib.Path(name)
        subprocess.run([fast, "keys", "--out", folder / "keys", "--workers", "4"], check=True)
        try:
            codes = run(names, [here, there, there, here], folder, stop_at=40)
            assert codes == [130] * 4, f"stopped: {codes}"
            codes = run(names, [there, here, here, there], folder, stop_at=None)
            assert codes == [0] * 4, f"gone on with: {codes}"
            logs = [(folder / f"log-{rank}").read_text() for rank in NEIGHBOURS]
            for rank, log in enumerate(logs):
                assert "resumes" in log or "goes on" in log, f"rank {rank} has begun anew"
            models = [
                model(folder / "run" / f"worker-{r}" / "model.safetensors") for r in NEIGHBOURS
            ]
            apart = max(distance(models[0], other) for other in models[1:])
            assert apart < 2 * TARGET, f"models are {apart} apart"
            print(f"four workers, two architectures each way: {apart:.1e} apart at the end")
        except AssertionError:
            for rank in NEIGHBOURS:
                print(f"---- {rank}\n{(folder / f'log-{rank}').read_text()}", file=sys.stderr)
            raise


if __name__ == "__main__":
    main()
