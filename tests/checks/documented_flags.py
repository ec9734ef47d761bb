#!/usr/bin/env python3
"""Checks that no document names an option that its program does not have.

usage: documented_flags.py ROOT BIN     ROOT: source tree, BIN: folder of fast and fast-worker

A flag behind a command ("fast train ... --epochs 5", continued lines joined) must be in the --help
of that command; a flag anywhere else must be in some --help, or be one of a named foreign tool.
"""
import os
import re
import subprocess
import sys

DOCUMENTS = ("README.md", "CONTRIBUTING.md", "examples/quickstart.sh")
COMMANDS = {
    "fast train": ["fast", "train"],
    "fast topology": ["fast", "topology"],
    "fast simulate": ["fast", "simulate"],
    "fast report": ["fast", "report"],
    "fast-worker": ["fast-worker"],
    "fast-compare": ["fast-compare"],
}
SCRIPTS = ("tests/run.sh", "examples/quickstart.sh", "tests/install-packages.sh")
FOREIGN = {  # of cmake, ctest, GoogleTest and our checks
    "--preset", "--build", "--install", "--prefix", "--target", "--test-dir", "--output-on-failure",
    "--parallel", "--gtest", "--gtest_random_seed", "--gtest_filter", "--self-test", "--fix", "--version",
    "--help"}
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9_-]*[a-z0-9]")
COMMAND = re.compile(r"(?<![\w-])(fast (?:train|topology|simulate|report)|fast-worker|fast-compare)(?= -| \S+ )"
                     r"([^`#|;]*)")


def flags_of(command):
    run = subprocess.run(command + ["--help"], text=True, capture_output=True, timeout=60,
                         stdin=subprocess.DEVNULL, check=True)
    return set(FLAG.findall(run.stdout))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    root, programs = sys.argv[1:]
    built = {name: [os.path.join(programs, words[0])] + words[1:] for name, words in COMMANDS.items()}
    left_out = [name for name, words in built.items() if not os.path.exists(words[0])]
    if left_out not in ([], ["fast-compare"]):
        sys.exit(f"not built: {left_out}")  # only the comparison is left out of some builds
    known = {name: flags_of(words) for name, words in built.items() if name not in left_out}
    everything = FOREIGN.union(*known.values())
    for script in SCRIPTS:
        everything |= flags_of([os.path.join(root, script)])

    wrong = seen = 0
    for document in DOCUMENTS:
        path = os.path.join(root, document)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as opened:
            lines = re.sub(r"\\\n\s*", " ", opened.read()).splitlines()
        for line in lines:
            for name in left_out:
                line = line.split(name)[0]
            problems = {flag: "no program has it" for flag in FLAG.findall(line)
                        if flag not in everything}
            for command, rest in COMMAND.findall(line):
                problems.update({flag: f"{command} has no such option" for flag in FLAG.findall(rest)
                                 if flag not in known[command] | {"--help", "--version"}})
            seen += len(FLAG.findall(line))
            for flag, why in problems.items():
                print(f"{document}: {flag}: {why}: {line.strip()}")
                wrong += 1
    print(f"{seen} flags documented, {wrong} wrong")
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
