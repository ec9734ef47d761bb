"""What the scripts beside this file have in common: starting runs, reading what they leave, and
making figures of them. Needs no packages."""
import argparse
import json
import os
import pathlib
import platform
import signal
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]


def parser_of(text, fast=True):
    """A parser whose --help begins with a script's docstring; `fast`: with --fast."""
    parser = argparse.ArgumentParser(description=text,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    if fast:
        parser.add_argument("--fast", default=str(ROOT / "build/bin/fast"),
                            help="the program (%(default)s)")
    return parser


def grid_of(args):
    """What `fast topology` tells of --topology: "workers", "edges" .."""
    told = subprocess.check_output([args.fast, "topology", args.topology, "--json"], text=True)
    return json.loads(told)


def words_of(args, run, *more):
    """The options of `fast train` and of a worker that all runs share."""
    return ["--topology", args.topology, "--model", args.model, "--data", args.data,
            "--out", run, "--quiet", *more]


def start(words, errors=True):
    """A process that prints nothing, or nothing but errors."""
    return subprocess.Popen(words, stdout=subprocess.DEVNULL,
                            stderr=None if errors else subprocess.DEVNULL)


def end(trainer):
    """Ends `fast train` without settling and evaluation: its second request, two seconds after the
    first, kills the workers."""
    trainer.send_signal(signal.SIGTERM)
    try:
        trainer.wait(2.2)
    except subprocess.TimeoutExpired:
        trainer.send_signal(signal.SIGTERM)


def children_of(pid):
    """process -> its command line"""
    listed = subprocess.run(["pgrep", "-a", "-P", str(pid)], text=True, capture_output=True,
                            check=False).stdout
    return {int(line.split()[0]): line.split()[1:] for line in listed.splitlines()}


def told_by(commands, environment, timeout):
    """What processes that run side by side print, once all have ended; fails where one has failed.
    `environment(number)`: each one's."""
    processes = [subprocess.Popen(command, env=environment(number), stdout=subprocess.PIPE,
                                  text=True) for number, command in enumerate(commands)]
    try:
        told = [process.communicate(timeout=timeout)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    for number, process in enumerate(processes):
        if process.returncode != 0:
            command = " ".join(map(str, commands[number]))
            raise RuntimeError(f"ended with {process.returncode}: {command}")
    return told


def with_package(**own):
    """This environment, in which fast_training can be imported from the tree and its build."""
    return {"FAST_LIBRARY": str(ROOT / "build/adapters/c/libfast.so"), **os.environ,
            "PYTHONPATH": str(ROOT / "adapters/python"), **own}


def metrics(run, rank):
    """The lines of a worker's metrics, oldest first; a torn last line is left out."""
    try:
        with open(f"{run}/worker-{rank}/metrics.jsonl", encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]
    except FileNotFoundError:
        return []


def progress(run, rank):
    return [line for line in metrics(run, rank) if line["kind"] == "progress"]


def summary(run):
    return json.loads(pathlib.Path(run, "summary.json").read_text(encoding="utf-8"))


def in_turn(ways, rounds):
    """(round, way), every second round in reverse order, so that a drift of the machine cancels."""
    for number in range(rounds):
        for way in list(ways) if number % 2 == 0 else reversed(list(ways)):
            yield number, way


def estimate(values):
    """Mean and standard error; the latter is None for one value."""
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else None
    return {"mean": statistics.mean(values), "standard_error": error}


def figure(values, scale=1.0, digits=".4g"):
    """Mean ± standard error, as text."""
    told = estimate(values)
    mean = f"{scale * told['mean']:{digits}}"
    error = told["standard_error"]
    return mean if error is None else f"{mean} ± {scale * error:.2g}"


def write_json(path, everything):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(everything, file, indent=1)
        file.write("\n")


def machine():
    """Its processor, cores and system, as benchmarks in C++ name it."""
    facts = {}
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            name, _, value = line.partition(":")
            facts.setdefault(name.strip(), value.strip())
    return (f"{facts.get('model name', 'unknown')} (family {facts.get('cpu family', 'unknown')}, "
            f"model {facts.get('model', 'unknown')}), {os.cpu_count()} cores, "
            f"{platform.system()} {platform.release()}")
