"""What a session tells of itself, as libfast.so has it. Any thread may ask, also in the middle of a
call of another one."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

from ._library import CounterVisitor, NeighbourStruct, OptionVisitor, StatusStruct


class Status(NamedTuple):
    """A recent snapshot of a worker's exchange."""

    state: str  # "joining", "training", "settling", "settled", "frozen"
    rank: int
    workers: int  # in the topology
    neighbours: int  # of this worker
    joined_from: int | None  # rank whose model was adopted at the start
    consensus_distance: float  # rms distance to neighbours' models over the norm of this one
    flushed: bool  # nothing is in flight with any neighbour
    initial_from: int | None  # rank whose initial values were taken over
    likeness: float  # of this worker's steps and its neighbours' in length, 0 to 1


class Neighbour(NamedTuple):
    """One neighbour, as this worker sees it. Counters begin at 0 with the session."""

    rank: int
    shared: bool  # the model is averaged in shared memory
    # "connecting", "up", "suspect", "gone", "left", "refused", "paused": left, and will come back
    link: str
    state: str  # as last reported: see Status
    step: int  # last reported
    sweeps: int  # completed with it, begun here
    bytes_sent: int  # to it, headers included
    bytes_shared: int  # that this worker averaged in shared memory
    round_trip: float  # seconds, of a bucket, decayed mean; 0 before the first
    since_sweep: float | None  # seconds since the last sweep with it
    other_grid: bool  # it has not made the changes of the grid made here


_Call = Callable[..., None]  # (name of a function of fast.h, its arguments after the session)


def _read_status(call: _Call) -> Status:
    seen = StatusStruct()
    call("fast_get_status", ctypes.byref(seen))
    return Status(
        state=seen.state.decode(),
        rank=seen.rank,
        workers=seen.workers,
        neighbours=seen.neighbours,
        joined_from=None if seen.joined_from < 0 else seen.joined_from,
        consensus_distance=seen.consensus_distance,
        flushed=bool(seen.flushed),
        initial_from=None if seen.initial_from < 0 else seen.initial_from,
        likeness=seen.likeness,
    )


def _read_neighbours(call: _Call) -> list[Neighbour]:
    found = []
    for index in range(_read_status(call).neighbours):
        seen = NeighbourStruct()
        call("fast_get_neighbour", index, ctypes.byref(seen))
        values = {name: getattr(seen, name) for name in Neighbour._fields}
        values["shared"], values["other_grid"] = bool(seen.shared), bool(seen.other_grid)
        values["link"], values["state"] = seen.link.decode(), seen.state.decode()
        values["since_sweep"] = None if seen.since_sweep < 0 else seen.since_sweep
        found.append(Neighbour(**values))
    return found


def _read_counters(call: _Call) -> dict[str, int]:
    found: dict[str, int] = {}

    def visit(_context: int | None, name: bytes, value: int) -> None:
        found[name.decode()] = value

    call("fast_counters", CounterVisitor(visit), None)
    return found


def _read_options(call: _Call) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}

    def visit(_context: int | None, key: bytes, value: bytes, text: bytes) -> None:
        found[key.decode()] = (value.decode(), text.decode())

    call("fast_options", OptionVisitor(visit), None)
    return found


#: What a session tells: a function for each, which is given one that calls fast.h's.
READERS: dict[str, Callable[[_Call], Any]] = {
    "options": _read_options,
    "status": _read_status,
    "neighbours": _read_neighbours,
    "counters": _read_counters,
}
