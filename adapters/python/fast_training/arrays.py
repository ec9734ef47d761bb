"""Adapters for frameworks whose parameters are arrays. Needs NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy

from .adapter import Adapter, named
from .errors import ModelError

_ALIGNMENT = 64  # bytes, of each array where not all are float32


def flat_copies(arrays: Any) -> dict[str, Any]:
    """Copies of arrays (see Session) in one memory, by name, with the same values and types.

    Where all are float32 they lie end to end, so that a session exchanges them in place. A
    framework that lets its memory be replaced can use them as its parameters.
    """
    originals = {name: numpy.asarray(array) for name, array in named(arrays).items()}
    plain = all(array.dtype == numpy.float32 for array in originals.values())
    offsets, end = {}, 0
    for name, array in originals.items():
        offsets[name] = end
        end += array.nbytes
        if not plain:
            end = -(-end // _ALIGNMENT) * _ALIGNMENT
    memory = numpy.empty(end + _ALIGNMENT, dtype=numpy.uint8)
    memory = memory[-memory.ctypes.data % _ALIGNMENT :]
    copies = {}
    for name, array in originals.items():
        part = memory[offsets[name] : offsets[name] + array.nbytes]
        copies[name] = part.view(array.dtype).reshape(array.shape)
        copies[name][...] = array
    return copies


def take(name: str, place: Any, value: Any) -> None:
    """Copies `value`, an array, to `place`; raises ModelError where shape or type differ."""
    array = numpy.asarray(value)
    if (array.shape, array.dtype) != (place.shape, place.dtype):
        raise ModelError(
            f"'{name}' has become {array.dtype} of shape {array.shape}; keep {place.dtype} "
            f"of shape {place.shape}, or open another session"
        )
    place[...] = array


class CopiedArrays(Adapter):
    """Parameters that are read and written as a whole, before and after each exchange.

    For frameworks whose memory is on a device, or is replaced in training. `read` returns the
    present values by name: anything that ``numpy.asarray`` takes, of the same names, shapes and
    types at each call. `write` gets arrays of those shapes and types, which it must copy: the next
    exchange changes them. `replaced` is called where the model was replaced by a neighbour's.
    """

    def __init__(
        self,
        read: Callable[[], Mapping[str, Any]],
        write: Callable[[Mapping[str, Any]], None],
        replaced: Callable[[], None] | None = None,
    ) -> None:
        self._read = read
        self._write = write
        self._replaced = replaced
        super().__init__(flat_copies(dict(read())))

    def before(self, call: str) -> None:
        """Copies the framework's values to the arrays."""
        if call == "open":
            return
        for name, value in self._read().items():
            take(name, self.parameters[name], value)

    def after(self, call: str) -> None:
        """Copies them back."""
        if call != "save":  # "open" may have loaded a checkpoint
            self._write(self.parameters)

    def model_replaced(self) -> None:
        """Passes it on."""
        if self._replaced is not None:
            self._replaced()
