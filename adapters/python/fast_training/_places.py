"""Where the arrays of a model lie: said when a session opens, and again where one has moved."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from typing import Any

from ._handle import Handle
from ._library import ROLES
from ._memory import Memory, lies_at, memory_of
from .adapter import Adapter
from .errors import ModelError

_Arrays = Mapping[str, Any]


class Place:
    """An array, and where it lies."""

    __slots__ = ("array", "is_memory", "memory", "name", "role")

    def __init__(self, role: str, name: str, array: Any) -> None:
        self.role, self.name, self.array = role, name, array
        self.memory = memory_of(array, name)
        self.is_memory = isinstance(array, Memory)  # which never changes


class Places:
    """The arrays of an adapter as libfast.so knows them, in the order in which it counts them:
    trained, averaged, carried. Training thread."""

    def __init__(self, handle: Handle, adapter: Adapter) -> None:
        """Before fast_open(). Raises FastError where an array has no usable memory."""
        self._handle = handle
        self._places = [Place(*one) for one in _arrays_of(adapter)]
        #: Those that neighbours average.
        self.trained = [place for place in self._places if place.role == "trained"]
        handle.keep(self._places)  # and with it the memory
        for place in self._places:
            shape = place.memory.shape
            handle.call(
                "fast_array",
                ROLES.index(place.role),
                place.name.encode(),
                place.memory.type.encode(),
                len(shape),
                (ctypes.c_int64 * len(shape))(*shape),
                place.memory.address,
            )
        numbers = {place.name: number for number, place in enumerate(self._places)}
        for alias, name in adapter.aliases.items():
            handle.call("fast_array_alias", alias.encode(), numbers[name])
        if adapter.averages is not None:
            handle.keep(adapter.averages)
            handle.call("fast_set_averages", adapter.averages.address)

    def look(self, adapter: Adapter) -> None:
        """Asks `adapter` where its arrays lie now. Raises ModelError, by name, where one is
        missing, or of another type or shape."""
        known = iter(self._places)
        for index, (role, name, array) in enumerate(_arrays_of(adapter)):
            place = next(known, None)
            if place is None:
                raise _new(name)
            if place.name != name or place.role != role:
                raise _missing(place.name)
            if array is place.array and (place.is_memory or lies_at(array, place.memory)):
                continue
            memory = memory_of(array, name)
            if (memory.type, memory.shape) != (place.memory.type, place.memory.shape):
                raise ModelError(
                    f"'{name}' has become {memory.type} of shape {memory.shape}; keep "
                    f"{place.memory.type} of shape {place.memory.shape}, or open another session"
                )
            if memory.address != place.memory.address:
                self._handle.call("fast_array_moved", index, memory.address)
            place.array, place.memory = array, memory
            place.is_memory = isinstance(array, Memory)
        left = next(known, None)
        if left is not None:
            raise _missing(left.name)


def _arrays_of(adapter: Adapter) -> Iterator[tuple[str, str, Any]]:
    for role, arrays in (
        ("trained", adapter.parameters),
        ("averaged", adapter.averaged),
        ("carried", adapter.buffers),
    ):
        for name, array in arrays.items():
            yield role, name, array


def _missing(name: str) -> ModelError:
    return ModelError(
        f"'{name}' is missing now, or comes in another order than when the session opened; keep "
        "the arrays' names and order, or open another session"
    )


def _new(name: str) -> ModelError:
    return ModelError(
        f"'{name}' was not there when the session was opened; open another session for it"
    )
