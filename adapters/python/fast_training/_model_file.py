"""Model files, which are safetensors, read without any other package."""

from __future__ import annotations

import ctypes
import json
import os
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

from ._memory import memory_of
from .errors import FileError, ModelError


class Saved(NamedTuple):
    """An array of a file."""

    type: str  # "F32" ..
    shape: tuple[int, ...]
    bytes: memoryview  # writable


def read_model(path: str | os.PathLike[str]) -> dict[str, Saved]:
    """The arrays of a file, by name. Raises FileError where it cannot be read."""
    try:
        with open(path, "rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            header: dict[str, Any] = json.loads(file.read(size))
            data = memoryview(bytearray(file.read()))
        header.pop("__metadata__", None)
        return {
            name: Saved(entry["dtype"], tuple(entry["shape"]), data[slice(*entry["data_offsets"])])
            for name, entry in header.items()
        }
    except OSError as error:
        raise FileError(f"{os.fspath(path)} cannot be read: {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise FileError(
            f"{os.fspath(path)} is no whole safetensors file ({error}); give a model that a "
            "session or fast report has saved"
        ) from error


def load_arrays(path: str | os.PathLike[str], arrays: Mapping[str, Any]) -> None:
    """Copies the arrays of a file into `arrays`. Raises ModelError, by name, where one is not
    there or of another type or shape."""
    found = read_model(path)
    for name, array in arrays.items():
        memory = memory_of(array, name)
        saved = demand(found, name, memory.type, memory.shape, path)
        ctypes.memmove(memory.address, bytes(saved.bytes), saved.bytes.nbytes)


def demand(
    found: Mapping[str, Saved],
    name: str,
    kind: str | None,
    shape: tuple[int, ...],
    path: str | os.PathLike[str],
) -> Saved:
    """The array `name` of a file, which must be of this type and shape."""
    if name not in found:
        raise ModelError(f"{os.fspath(path)} has no '{name}'; give the file of this model")
    saved = found[name]
    if (saved.type, saved.shape) != (kind, shape):
        raise ModelError(
            f"'{name}' is {saved.type} of shape {saved.shape} in {os.fspath(path)}, and {kind} of "
            f"shape {shape} in the model; give the file of this model"
        )
    return saved
