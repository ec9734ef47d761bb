#!/usr/bin/env python3
"""Checks that no document names an option that its program does not have.

usage: documented_flags.py ROOT BIN     ROOT: source tree, BIN: folder of fast and fast-worker

A flag behind a command ("fast train ... --epochs 5", continued lines joined) must be in the --help
of that command; a flag anywhere else must be in some --help, or be one of a named foreign tool. In
builds without some programs, their flags and flags without a command are not checked.
"""
import glob
import os
import pathlib
import re
import subprocess
import sys

DOCUMENTS = ("*.md", "*/README.md", "*/*/README.md", "examples/quickstart.sh", "bench/results/*.md")
BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
SCRIPTS_OF_BENCH = sorted(str(path.relative_to(BENCH)) for path in BENCH.glob("**/*.py")
                          if os.access(path, os.X_OK))
COMMANDS = {  # the first word: a program's name, or a script's place in the tree
    **{name: [f"bench/{name}"] for name in SCRIPTS_OF_BENCH},
    "make_data.py": ["examples/edge/make_data.py"],
    "fast train": ["fast", "train"],
    "fast run": ["fast", "run"],
    "fast topology": ["fast", "topology"],
    "fast simulate": ["fast", "simulate"],
    "fast report": ["fast", "report"],
    "fast keys": ["fast", "keys"],
    "fast replay": ["fast", "replay"],
    "fast completion": ["fast", "completion"],
    "fast-worker": ["fast-worker"],
    "fast-compare": ["fast-compare"],
    "mix_bench": ["mix_bench"],
    "codec_bench": ["codec_bench"],
    "wire_bench": ["wire_bench"],
    "idle_bench": ["idle_bench"],
    "shared_bench": ["shared_bench"],
    "exchange_bench": ["exchange_bench"],
}
NEEDED = ("fast train", "fast run", "fast topology", "fast simulate", "fast report", "fast keys", "fast-worker")
SCRIPTS = ("tests/run.sh", "examples/quickstart.sh", "tests/install-packages.sh")
FOREIGN = {  # of cmake, ctest, pkg-config, venv, pip, GoogleTest, Slurm, podman, dpkg, apt, systemd, our checks
    "--now", "--no-pager",
    "--add-architecture", "--no-install-recommends", "--rm", "--name", "--hostname", "--network", "--entrypoint", "--build-arg",
    "--nodes", "--ntasks-per-node", "--requeue", "--signal",
    "--preset", "--build", "--install", "--prefix", "--target", "--test-dir", "--output-on-failure",
    "--parallel", "--gtest", "--gtest_random_seed", "--gtest_filter", "--self-test", "--fix", "--version",
    "--help", "--cflags", "--libs", "--system-site-packages", "--no-deps"}
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9_-]*[a-z0-9]")
COMMAND = re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, COMMANDS)) + r")(?= -| \S+ )([^`#|;&]*)")
CODE = re.compile(r"```.*?```|`[^`]*`", re.S)


def lines_of(path):
    """A document's lines; continued commands, and code within a sentence, in one line each."""
    with open(path, encoding="utf-8") as opened:
        text = re.sub(r"\\\n\s*", " ", opened.read())
    if path.endswith(".md"):
        text = CODE.sub(lambda code: code.group() if code.group().startswith("```")
                        else code.group().replace("\n", " "), text)
    return text.splitlines()


def flags_of(command):
    """A script in Python answers without packages."""
    if command[0].endswith(".py"):
        command = [sys.executable, "-S", *command]
    run = subprocess.run(command + ["--help"], text=True, capture_output=True, timeout=60,
                         stdin=subprocess.DEVNULL, check=True)
    return set(FLAG.findall(run.stdout))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    root, programs = sys.argv[1:]
    built = {name: [os.path.join(root if "/" in words[0] else programs, words[0])] + words[1:]
             for name, words in COMMANDS.items()}
    left_out = [name for name, words in built.items() if not os.path.exists(words[0])]
    if set(left_out) & set(NEEDED):
        sys.exit(f"not built: {left_out}")
    known = {name: flags_of(words) for name, words in built.items() if name not in left_out}
    everything = FOREIGN.union(*known.values())
    for script in SCRIPTS:
        everything |= flags_of([os.path.join(root, script)])

    wrong = seen = 0
    documents = [path for name in DOCUMENTS for path in sorted(glob.glob(os.path.join(root, name)))]
    for document in documents:
        for line in lines_of(document):
            problems = {flag: "no program has it" for flag in FLAG.findall(line)
                        if flag not in everything and not left_out}
            for command, rest in COMMAND.findall(line):
                if command in left_out:
                    continue
                problems.update({flag: f"{command} has no such option" for flag in FLAG.findall(rest)
                                 if flag not in known[command] | {"--help", "--version"}})
            seen += len(FLAG.findall(line))
            for flag, why in problems.items():
                print(f"{os.path.relpath(document, root)}: {flag}: {why}: {line.strip()}")
                wrong += 1
    print(f"{seen} flags documented, {wrong} wrong")
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
