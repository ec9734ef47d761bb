"""libfast.so, with the functions of fast.h declared.

ctypes releases the interpreter's lock (GIL) for as long as one of them runs.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import pathlib
from ctypes import (
    POINTER,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint64,
    c_void_p,
)
from typing import Any

SYSTEM_LIBRARY = "libfast.so.0"
"""Of the ABI that is declared below."""

LogCallback = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)
WaitingCallback = ctypes.CFUNCTYPE(None, c_void_p)
OptionVisitor = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_char_p, c_char_p)
SaveState = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(c_void_p), POINTER(c_size_t))
LoadState = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)
ModelReplaced = ctypes.CFUNCTYPE(None, c_void_p)
CounterVisitor = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_uint64)


class StatusStruct(ctypes.Structure):
    """``fast_status``; its ``struct_size`` is set."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("state", c_char_p),
        ("rank", c_int32),
        ("workers", c_int32),
        ("neighbours", c_int32),
        ("joined_from", c_int32),
        ("consensus_distance", c_double),
        ("flushed", c_int32),
        ("initial_from", c_int32),
        ("likeness", c_double),
    )

    def __init__(self) -> None:
        super().__init__(struct_size=ctypes.sizeof(type(self)))


class NeighbourStruct(ctypes.Structure):
    """``fast_neighbour``; its ``struct_size`` is set."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("rank", c_int32),
        ("shared", c_int32),
        ("link", c_char_p),
        ("state", c_char_p),
        ("step", c_uint64),
        ("sweeps", c_uint64),
        ("bytes_sent", c_uint64),
        ("bytes_shared", c_uint64),
        ("round_trip", c_double),
        ("since_sweep", c_double),
        ("other_grid", c_int32),
    )

    def __init__(self) -> None:
        super().__init__(struct_size=ctypes.sizeof(type(self)))


NO_LOSS = -math.inf  # FAST_NO_LOSS
ROLES = ("trained", "averaged", "carried")  # fast_role, by number

# name: (result, arguments)
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "fast_version": (c_char_p, ()),
    "fast_new": (c_void_p, ()),
    "fast_close": (None, (c_void_p,)),
    "fast_error": (c_char_p, (c_void_p,)),
    "fast_set": (c_int, (c_void_p, c_char_p, c_char_p)),
    "fast_set_from_environment": (c_int, (c_void_p,)),
    "fast_options": (c_int, (c_void_p, OptionVisitor, c_void_p)),
    "fast_workers": (c_int32, (c_void_p,)),
    "fast_set_log": (c_int, (c_void_p, LogCallback, c_void_p)),
    "fast_set_waiting": (c_int, (c_void_p, WaitingCallback, c_void_p)),
    "fast_set_state": (c_int, (c_void_p, SaveState, LoadState, c_void_p)),
    "fast_set_model_replaced": (c_int, (c_void_p, ModelReplaced, c_void_p)),
    "fast_array": (
        c_int,
        (c_void_p, c_int, c_char_p, c_char_p, c_size_t, POINTER(c_int64), c_void_p),
    ),
    "fast_array_alias": (c_int, (c_void_p, c_char_p, c_size_t)),
    "fast_array_moved": (c_int, (c_void_p, c_size_t, c_void_p)),
    "fast_set_averages": (c_int, (c_void_p, c_void_p)),
    "fast_open": (c_int, (c_void_p,)),
    "fast_join": (c_int, (c_void_p,)),
    "fast_exchange": (c_int, (c_void_p, c_uint64, c_double)),
    "fast_ready_from": (c_int, (c_void_p, c_uint64)),
    "fast_changing": (c_int, (c_void_p,)),
    "fast_needed": (c_int, (c_void_p, c_uint64, c_uint64)),
    "fast_momentum": (c_int, (c_void_p, c_size_t, c_void_p, c_double, c_double, c_double)),
    "fast_mean": (c_int, (c_void_p, c_char_p, c_double, POINTER(c_double))),
    "fast_note_first_batch": (c_int, (c_void_p, c_uint64)),
    "fast_finish": (c_int, (c_void_p, POINTER(c_int))),
    "fast_save_model": (c_int, (c_void_p, c_char_p)),
    "fast_save_checkpoint": (c_int, (c_void_p, c_char_p)),
    "fast_stop_all": (c_int, (c_void_p, c_char_p)),
    "fast_stop": (None, (c_void_p,)),
    "fast_done": (c_int, (c_void_p,)),
    "fast_progress": (c_double, (c_void_p,)),
    "fast_loss": (c_double, (c_void_p,)),
    "fast_steps": (c_uint64, (c_void_p,)),
    "fast_exchange_seconds": (c_double, (c_void_p,)),
    "fast_endpoint": (c_char_p, (c_void_p,)),
    "fast_get_status": (c_int, (c_void_p, POINTER(StatusStruct))),
    "fast_get_neighbour": (c_int, (c_void_p, c_size_t, POINTER(NeighbourStruct))),
    "fast_counters": (c_int, (c_void_p, CounterVisitor, c_void_p)),
}


def _candidates() -> list[str]:
    """Where libfast.so may be, the first choice first."""
    beside = pathlib.Path(__file__).parent / "libfast.so"
    named = os.environ.get("FAST_LIBRARY", "")
    if beside.exists():
        return [str(beside)]
    return [named] if named else [SYSTEM_LIBRARY]


@functools.cache
def library() -> ctypes.CDLL:
    """The loaded library: beside this package, else FAST_LIBRARY's, else the system's.

    Raises ImportError where there is none.
    """
    (path,) = _candidates()
    # Its own protobuf first: TensorFlow shows another version of it to the whole process.
    mode = ctypes.DEFAULT_MODE | getattr(os, "RTLD_DEEPBIND", 0)
    try:
        loaded = ctypes.CDLL(path, mode=mode)
    except OSError as error:
        raise ImportError(
            f"libfast.so cannot be loaded: {error}; install this package by pip, which builds it, "
            "or set FAST_LIBRARY to the path of libfast.so"
        ) from error
    for name, (result, arguments) in _FUNCTIONS.items():
        try:
            function = getattr(loaded, name)
        except AttributeError:
            raise ImportError(
                f"{path} has no {name}() and is another library, or older than this package; "
                "set FAST_LIBRARY to the path of a newer libfast.so"
            ) from None
        function.restype = result
        function.argtypes = arguments
    return loaded
