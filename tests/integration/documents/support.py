"""How snippets run: in a folder of their own, with the programs of this build on the PATH."""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import plan
import snippets

ROOT = pathlib.Path(__file__).resolve().parents[3]
PRELUDES = pathlib.Path(__file__).parent / "preludes"
BUILD = pathlib.Path(os.environ["FAST_BUILD"])
PROGRAMS = pathlib.Path(os.environ["FAST_SNIPPETS"]) / "bin"
SECONDS = 300  # after which a snippet counts as hanging
SNIPPETS = snippets.all_snippets(ROOT)
TORCH = (PROGRAMS / "embed_torch").exists()  # whether this build has LibTorch
DLIB = (PROGRAMS / "embed_dlib").exists()


def environment(**more: str) -> dict[str, str]:
    path = f"{BUILD / 'bin'}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1", **more}


@contextlib.contextmanager
def folder() -> Iterator[pathlib.Path]:
    """A folder that is removed at the end of a ``with``."""
    with tempfile.TemporaryDirectory(prefix="fast-documents-") as name:
        yield pathlib.Path(name)


def replaced(text: str, replacements: dict[str, str]) -> str:
    """`text` with each replacement made; each must have something to replace."""
    for old, new in replacements.items():
        if old not in text:
            raise AssertionError(f"'{old}' is no longer in the snippet:\n{text}")
        text = text.replace(old, new)
    return text


def run(command: list[str], where: pathlib.Path, **more: str) -> str:
    """What a command prints; raises where it fails."""
    done = subprocess.run(
        command,
        cwd=where,
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def shell(text: str, where: pathlib.Path, **more: str) -> str:
    return run(["bash", "-euo", "pipefail", "-c", text], where, **more)


def lines_of(name: str) -> str:
    """A shell snippet, a command a line, without what plan.py leaves out."""
    commands = re.sub(r"\\\n\s*", "", SNIPPETS[name].code).splitlines()
    left_out = tuple(plan.LEFT_OUT.get(name, {}))
    for start in left_out:
        if not any(command.startswith(start) for command in commands):
            raise AssertionError(f"no command of {name} begins with '{start}'")
    return "\n".join(line for line in commands if not left_out or not line.startswith(left_out))


def on_ranks(topology: str, command: list[str], where: pathlib.Path, **more: str) -> str:
    """The output of `fast run` with a process of `command` on each rank."""
    return run(["fast", "run", "--topology", topology, "--", *command], where, **more)


def python_on_ranks(topology: str, code: str, where: pathlib.Path) -> str:
    (where / "train.py").write_text(code, encoding="utf-8")
    return on_ranks(topology, [sys.executable, "train.py"], where)


def write_cifar10(where: pathlib.Path) -> None:
    """A data set of CIFAR-10's format: 200 images for training, of one colour for each class."""
    where.mkdir()
    for name in (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"):
        images = (bytes([label]) + bytes([20 * label]) * 3072 for label in range(10))
        (where / f"{name}.bin").write_bytes(b"".join(images) * 4)
