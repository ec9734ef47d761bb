#!/usr/bin/env python3
"""Writes the API reference of fast_training, from its docstrings, by pdoc.

usage: make_reference.py OUT     with pdoc, NumPy and PyTorch; FAST_LIBRARY names libfast.so

Frameworks that are not installed are stood in for: a reference needs their names alone.
"""

import importlib.util
import pathlib
import sys
import types

import pdoc

PACKAGE = pathlib.Path(__file__).resolve().parent / "fast_training"
FRAMEWORKS = ("jax", "keras", "lightning", "mxnet", "tensorflow", "pytensor", "transformers")


class StandInClass(type):
    """A class in which every name is such a class."""

    def __getattr__(cls, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandInClass(name, (), {})


class StandIn(types.ModuleType):
    """A module in which every name is a class or, imported as one, a module."""

    __path__: list[str] = []  # noqa: RUF012

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandInClass(name, (), {})


def stand_in(framework: str, sources: str) -> None:
    """For `framework` and the modules of it that `sources` import."""
    for word in {framework, *sources.split()}:
        if word == framework or word.startswith(framework + "."):
            sys.modules[word] = StandIn(word)


def main() -> None:
    """What the command line asks for."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.path.insert(0, str(PACKAGE.parent))
    modules = sorted(path for path in PACKAGE.glob("*.py") if not path.name.startswith("_"))
    sources = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.glob("*.py"))
    for framework in FRAMEWORKS:
        if importlib.util.find_spec(framework) is None:
            stand_in(framework, sources)
    names = ["fast_training", *(f"fast_training.{path.stem}" for path in modules)]
    pdoc.pdoc(*names, output_directory=pathlib.Path(sys.argv[1]))


if __name__ == "__main__":
    main()
