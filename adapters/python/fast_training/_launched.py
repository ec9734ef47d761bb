"""Who this process is among the workers, as a session would find it, before there is one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from . import _options
from ._handle import Handle


class Launched(NamedTuple):
    """A process among the workers of a run."""

    rank: int
    workers: int
    seed: int  # of the run, the same everywhere
    has_end: bool  # a budget, or passes over the data


def launched(options: Mapping[str, Any]) -> Launched:
    """What a session with these options will be: they come first, then the environment. Options
    that are no session's are left out."""
    handle = Handle()
    try:
        given = {n: v for n, v in options.items() if n in (*handle.told("options"), "peers")}
        for key, value in _options.from_arguments(given).items():
            handle.call("fast_set", key.encode(), value.encode())
        handle.call("fast_set_from_environment")
        told = {name: value for name, (value, _help) in handle.told("options").items()}
        workers = int(handle.read("fast_workers"))
    finally:
        handle.close()
    has_end = float(told["budget"]) > 0 or float(told["epochs"]) > 0
    return Launched(int(told["rank"]), workers, int(told["seed"]), has_end)
