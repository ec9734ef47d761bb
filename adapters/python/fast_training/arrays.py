"""Adapters for frameworks whose parameters are arrays. Needs NumPy."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Container, Mapping
from typing import Any

import numpy

from .adapter import Adapter, named
from .errors import FileError, ModelError

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


def packed(arrays: Mapping[str, Any], **plain: Any) -> bytes:
    """Arrays, and values that JSON has, as bytes for Adapter.save_state(). Raises ModelError, by
    name, for what is no array of numbers."""
    contents = {name: numpy.asarray(array) for name, array in arrays.items()}
    for name, array in contents.items():
        if array.dtype.hasobject:
            raise ModelError(
                f"{name} holds objects of Python, which a checkpoint cannot; keep arrays and "
                "numbers alone in what is saved"
            )
    heads = [[name, str(a.dtype), list(a.shape)] for name, a in contents.items()]
    text = json.dumps([heads, plain]).encode()
    return b"".join((text, b"\n", *(array.tobytes() for array in contents.values())))


def unpacked(state: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """What packed() was given. Raises FileError where it has not made `state`."""
    try:
        text, _, contents = state.partition(b"\n")
        heads, plain = json.loads(text)
        arrays, at = {}, 0
        for name, kind, shape in heads:
            arrays[name] = numpy.ndarray(shape, numpy.dtype(kind), contents, at).copy()
            at += arrays[name].nbytes
    except (ValueError, TypeError) as error:
        raise FileError(
            f"the checkpoint's optimizer state cannot be read ({error}); it was saved by another "
            "adapter or version: resume with that, or from another checkpoint"
        ) from error
    return arrays, plain


def checked(arrays: Mapping[str, Any], present: Mapping[str, Any], what: str) -> dict[str, Any]:
    """`arrays`, of a checkpoint. Raises FileError, which calls them `what`, where names, shapes or
    types are not those of the `present` ones."""
    forms = [
        [(name, numpy.shape(array), str(array.dtype)) for name, array in found.items()]
        for found in (arrays, present)
    ]
    for saved, here in itertools.zip_longest(*forms, fillvalue="nothing"):
        if saved != here:
            raise FileError(
                f"the checkpoint's {what} has {saved} where this one has {here}; resume with the "
                "model and the optimizer that it was saved with"
            )
    return dict(arrays)


class CopiedArrays(Adapter):
    """Arrays that are read and written as a whole, before and after each exchange.

    For frameworks whose memory is on a device, or is replaced in training. `read` returns the
    present values by name: anything that ``numpy.asarray`` takes, of the same names, shapes and
    types at each call. `write` gets by name the arrays that may have changed, of those shapes and
    types, and must copy them: the next exchange changes them. `replaced` is called where the model
    was replaced by a neighbour's. Of the names of `read`, those in `averaged` and `carried` have
    that role (see Adapter), all others are trained.
    """

    def __init__(
        self,
        read: Callable[[], Mapping[str, Any]],
        write: Callable[[Mapping[str, Any]], None],
        replaced: Callable[[], None] | None = None,
        averaged: Container[str] = (),
        carried: Container[str] = (),
    ) -> None:
        self._read = read
        self._write = write
        self._replaced = replaced
        values = dict(read())
        roles: tuple[dict[str, Any], dict[str, Any], dict[str, Any]] = ({}, {}, {})
        for name, value in values.items():
            roles[1 if name in averaged else 2 if name in carried else 0][name] = value
        trained, means, others = map(flat_copies, roles)
        super().__init__(trained, others, means)
        copies = {**trained, **means, **others}
        self._copies = {name: copies[name] for name in values}

    def before(self, call: str) -> None:
        """Copies the framework's values to the arrays."""
        if call == "open":
            return
        values = self._read()
        if list(values) != list(self._copies):
            changed = sorted(set(values).symmetric_difference(self._copies)) or ["their order"]
            raise ModelError(
                "the model's arrays are not those that the session was opened with "
                f"({', '.join(changed)}); keep them, or open another session"
            )
        for name, value in values.items():
            take(name, self._copies[name], value)

    def after(self, call: str) -> None:
        """Copies them back: all that `call` may have changed."""
        if call == "exchange":  # the others change where the model is replaced
            self._write(self.parameters)
        elif call not in ("save_model", "save_checkpoint"):
            self._write(self._copies)

    def model_replaced(self) -> None:
        """Copies the others, too, and passes it on."""
        self._write(self._copies)
        if self._replaced is not None:
            self._replaced()


class StatefulArrays(CopiedArrays):
    """CopiedArrays with a state that checkpoints hold beside, such as an optimizer's.

    `read_state` and `write_state` are as `read` and `write`. Where the model is replaced by a
    neighbour's, the state becomes what it was when the session opened.
    """

    def __init__(
        self,
        read: Callable[[], Mapping[str, Any]],
        write: Callable[[Mapping[str, Any]], None],
        read_state: Callable[[], Mapping[str, Any]],
        write_state: Callable[[Mapping[str, Any]], None],
        averaged: Container[str] = (),
        carried: Container[str] = (),
    ) -> None:
        self._read_state, self._write_state = read_state, write_state
        self._first = {name: numpy.array(value) for name, value in read_state().items()}
        super().__init__(read, write, lambda: write_state(self._first), averaged, carried)

    def save_state(self) -> bytes:
        """The state."""
        return packed(self._read_state())

    def load_state(self, state: bytes) -> None:
        """Takes it over."""
        present = {name: numpy.asarray(value) for name, value in self._read_state().items()}
        self._write_state(checked(unpacked(state)[0], present, "state"))
