"""Whether what a session exchanges is what its caller trains, and keeps."""

from __future__ import annotations

import ctypes
import math
import zlib
from collections.abc import Sequence

from ._memory import BYTES_OF, Memory
from ._places import Place

STEPS = 100  # in a row without a change, until that is said
_PLACES, _PLACE_BYTES = 16, 64  # that are compared at every step


class Standstill:
    """Compares the memory that is exchanged after each step with what it was before it.

    At every step a few places of it, which takes some microseconds; all of it where those have not
    changed for long, as those of an embedding may.
    """

    def __init__(self, places: Sequence[Place]) -> None:
        """`places`: of the arrays that are exchanged."""
        self._places = places
        self._some = places[:: -(-len(places) // _PLACES) or 1]
        self._steps = self._still = 0  # steps; those without a change since the last with one
        self._before: object = None
        self._elements = sum(math.prod(place.memory.shape) for place in places)
        self._taken_in = 0  # elements since the last exchange

    def exchanged(self) -> None:
        """The next step begins with what the memory holds now."""
        self._before = self._values()
        self._taken_in = 0

    def taken_in(self, count: int) -> None:
        """The exchange has changed so many elements, before the next step does."""
        self._taken_in += count
        if self._taken_in >= self._elements:
            self.exchanged()

    def stepped(self) -> str:
        """A step was made. What to say where it is the last of STEPS in a row that have changed
        nothing; else empty."""
        same = self._before == self._values()
        self._steps, self._still = self._steps + 1, self._still + 1 if same else 0
        if self._still != STEPS:
            return ""
        return (
            f"its last {STEPS} steps have changed nothing of what is exchanged (first array: "
            f"'{self._places[0].name}'); train the arrays that the session was given, or those "
            "that it is shown. With a learning rate of 0 all is well"
        )

    @property
    def trains(self) -> bool:
        """False where none of the steps, many of them, has changed anything."""
        return self._still < STEPS or self._still < self._steps

    def _values(self) -> object:
        if self._still == STEPS - 1:
            return sum(zlib.crc32(_bytes(place.memory)) for place in self._places)
        return b"".join(_some_bytes(place.memory) for place in self._some)


class Agreed:
    """The values that workers have agreed on, as sums of them."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places
        self._sums = [zlib.crc32(_bytes(place.memory)) for place in places]

    def changed(self) -> str:
        """What to say where an array holds other values now; else empty."""
        for place, one in zip(self._places, self._sums):
            if zlib.crc32(_bytes(place.memory)) != one:
                return (
                    f"'{place.name}' was changed after finish(), so this model is not the one that "
                    "its neighbours have; what puts weights back, such as early stopping, belongs "
                    "before finish()"
                )
        return ""


def _size(memory: Memory) -> int:
    size = BYTES_OF[memory.type]
    for side in memory.shape:
        size *= side
    return size


def _some_bytes(memory: Memory) -> bytes:
    size = _size(memory)
    count = min(_PLACE_BYTES, size)
    return ctypes.string_at(memory.address + (size - count) // 2, count) if count else b""


def _bytes(memory: Memory) -> ctypes.Array[ctypes.c_char]:
    size = _size(memory)
    return (ctypes.c_char * size).from_address(memory.address if size else 0)
