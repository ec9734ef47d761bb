"""Writes fast_training/_option_types.py, which types and documents the options of a session, from
the library's own list of them.

usage: python3 make_option_types.py, with PYTHONPATH=adapters/python and FAST_LIBRARY
"""

import pathlib
import textwrap

from fast_training._handle import Handle

FILE = pathlib.Path(__file__).parent / "fast_training" / "_option_types.py"
_TEXT = "str | os.PathLike[str] | None"
# Options whose values are more than their defaults show.
_TYPES = {
    "memory_budget": "str | int | None",
    "means": "str | Sequence[str] | None",
    "peer": "str | Mapping[int, str] | None",
    "peers": "str | os.PathLike[str] | Mapping[int, str] | None",
    "sweeps": "str | float | None",
}
_HEAD = '''"""The options of a session. Made by make_option_types.py; not to be edited."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypedDict


class Options(TypedDict, total=False):
    """Options of a session, by the names and values of the command line. One that is not given, or
    None, comes from its environment variable (FAST_TOPOLOGY for topology).

'''


def type_of(name: str, default: str) -> str:
    """The type of an option, as far as its default tells."""
    if name in _TYPES:
        return _TYPES[name]
    if default in ("true", "false"):
        return "bool | None"
    try:
        float(default)
    except ValueError:
        return _TEXT
    return "float | None"


def text() -> str:
    """What the file must hold."""
    handle = Handle()
    options: dict[str, tuple[str, str]] = handle.told("options")
    handle.close()
    sentences = []
    for name, (default, sentence) in options.items():
        line = f"{name}: {sentence}" + (f" (default: {default})" if default else "")
        sentences += textwrap.wrap(
            line, 96, initial_indent=" " * 4, subsequent_indent=" " * 8, break_on_hyphens=False
        )
    fields = [f"    {name}: {type_of(name, default)}" for name, (default, _) in options.items()]
    return _HEAD + "\n".join([*sentences, '    """', "", *fields]) + "\n"


if __name__ == "__main__":
    FILE.write_text(text())
