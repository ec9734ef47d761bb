"""A session's options, as libfast.so reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

_PAIRS = re.compile(r"\s*\d+=")


def text_of(value: Any) -> str:
    """An option's value as the command line has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):  # peers: {rank: endpoint}
        return ",".join(f"{key}={item}" for key, item in value.items())
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def from_arguments(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Options by name; None counts as not given.

    ``peers`` may be {rank: "host:port"} or the same as text, which the library calls ``peer``, or
    name a file, its ``peers``. The other of the two is then empty, so that the environment does not
    add to it.
    """
    options = {key: text_of(value) for key, value in arguments.items() if value is not None}
    if "peers" in options and (not options["peers"] or _PAIRS.match(options["peers"])):
        options.setdefault("peer", options.pop("peers"))
    if "peers" in options or "peer" in options:
        options = {"peer": "", "peers": "", **options}
    return options
