"""A session's options, as libfast.so reads them: from arguments and from the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .errors import UsageError

# The launchers that name a rank: its variable, and that of the number of processes. RANK is too
# common a name to be trusted without WORLD_SIZE.
_LAUNCHERS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMIX_RANK", ""),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("RANK", "WORLD_SIZE"),
    ("JOB_COMPLETION_INDEX", ""),
)
_PAIRS = re.compile(r"\s*\d+=")


def text_of(value: Any) -> str:
    """An option's value as the command line has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):  # peers: {rank: endpoint}
        return ",".join(f"{key}={item}" for key, item in value.items())
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def from_arguments(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Options by name; None counts as not given. ``peers`` may be {rank: "host:port"}, or name a
    file."""
    options = {key: text_of(value) for key, value in arguments.items() if value is not None}
    return _with_peers(options)


def from_environment(names: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Options that FAST_* variables set: FAST_TOPOLOGY for ``topology`` and so on.

    An empty variable counts as not set. FAST_PEERS may be "0=host:port,1=host:port" or a file's
    name.
    """
    found = {name: environment.get(f"FAST_{name.upper()}", "") for name in names}
    return _with_peers({name: value for name, value in found.items() if value})


class Launched(NamedTuple):
    """The place of this process among those that mpirun, srun or torchrun has started."""

    rank: str
    workers: str  # "" where the launcher does not tell
    variable: str  # of `workers`


def by_launcher(environment: Mapping[str, str]) -> Launched | None:
    """What the launcher of this process says, where there is one."""
    for variable, size in _LAUNCHERS:
        if variable in environment and (variable != "RANK" or size in environment):
            return Launched(environment[variable], environment.get(size, ""), size)
    return None


def check_workers(launched: Launched, workers: int) -> None:
    """Raises UsageError where other than `workers` processes were started."""
    if launched.workers in ("", str(workers)):
        return
    raise UsageError(
        f"{launched.workers} processes were started ({launched.variable}), but the topology has "
        f"{workers} workers; start {workers}, or choose a topology of {launched.workers}"
    )


def _with_peers(options: dict[str, str]) -> dict[str, str]:
    """The same, with peers that are given as pairs under the library's name for those, ``peer``."""
    if _PAIRS.match(options.get("peers", "")):
        options["peer"] = options.pop("peers")
    return options
