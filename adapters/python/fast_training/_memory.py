"""The memory of arrays of any library: address, type and shape.

An array takes part by the buffer protocol (NumPy, array.array, mmap ..), by
``__array_interface__``, or by DLPack (tensors of most frameworks).
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, NamedTuple

from .errors import UsageError

# By kind and size: the names of safetensors.
_FLOATS = {2: "F16", 4: "F32", 8: "F64"}
_INTEGERS = {1: "I8", 2: "I16", 4: "I32", 8: "I64"}
BYTES_OF = {
    **{name: size for size, name in _FLOATS.items()},
    **{name: size for size, name in _INTEGERS.items()},
    "BF16": 2,
    "U8": 1,
    "BOOL": 1,
}


class Memory(NamedTuple):
    """One array: row-major, contiguous and writable."""

    address: int
    type: str  # "F32" ..
    shape: tuple[int, ...]
    owner: object  # keeps the memory alive, and where it is


def memory_of(array: Any, name: str) -> Memory:
    """The memory of `array`. Raises UsageError, which calls the array `name`, where it has none."""
    if isinstance(array, Memory):
        return array
    for read in (_by_interface, _by_buffer, _by_dlpack):
        found = read(array, name)
        if found is not None:
            return found
    raise UsageError(
        f"'{name}' is a {type(array).__name__}, which is no array; give one that has the buffer "
        "protocol, __array_interface__ or DLPack, such as a NumPy array"
    )


def lies_at(array: Any, memory: Memory) -> bool:
    """Whether `array`, which lay at `memory`, surely lies there still. Cheap; where it says no,
    memory_of() knows."""
    interface = getattr(array, "__array_interface__", None)
    if interface is None or not isinstance(interface.get("data"), tuple):
        return False
    return bool(interface["data"][0] == memory.address and interface["shape"] == memory.shape)


def _refuse(name: str, what: str, remedy: str) -> UsageError:
    return UsageError(f"'{name}' {what}; {remedy}")


def _not_contiguous(name: str) -> UsageError:
    return _refuse(name, "is not contiguous in row-major order", "give a copy that is (.copy())")


def _read_only(name: str) -> UsageError:
    return _refuse(
        name,
        "cannot be written to",
        "give a writable copy, or use session.exchange() of fast_training.jax for arrays that "
        "never change",
    )


def _type_of(kind: str, size: int, name: str) -> str:
    """`kind`: NumPy's letter f, i, u or b."""
    found = {
        "f": _FLOATS.get(size),
        "i": _INTEGERS.get(size),
        "u": {1: "U8"}.get(size),
        "b": {1: "BOOL"}.get(size),
    }.get(kind)
    if found is None:
        raise _refuse(
            name,
            f"has elements of a type ('{kind}{size}') that is not exchanged",
            "use float32, float64, float16 or bfloat16",
        )
    return found


def _strides_of(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    strides = []
    for side in reversed(shape):
        strides.append(size)
        size *= side
    return tuple(reversed(strides))


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...] | None, element: int) -> bool:
    if strides is None or 0 in shape:
        return True
    plain = _strides_of(shape, element)
    return all(s == p or side == 1 for side, s, p in zip(shape, strides, plain))


def _by_interface(array: Any, name: str) -> Memory | None:
    interface = getattr(array, "__array_interface__", None)
    if interface is None or not isinstance(interface.get("data"), tuple):
        return None
    address, read_only = interface["data"]
    order, kind, size = interface["typestr"][0], interface["typestr"][1], interface["typestr"][2:]
    shape = tuple(int(side) for side in interface["shape"])
    named = str(getattr(array, "dtype", ""))
    if order == (">" if sys.byteorder == "little" else "<"):
        raise _refuse(name, "has its bytes in the other order", "use this machine's (.astype())")
    found = "BF16" if named == "bfloat16" else _type_of(kind, int(size), name)
    if not _is_contiguous(shape, interface.get("strides"), BYTES_OF[found]):
        raise _not_contiguous(name)
    if read_only:
        raise _read_only(name)
    return Memory(int(address), found, shape, array)


def _by_buffer(array: Any, name: str) -> Memory | None:
    try:
        view = memoryview(array)
    except (TypeError, BufferError):
        return None
    shape = view.shape or ()
    letter = view.format.lstrip("@=<")
    kinds = {"e": "f", "f": "f", "d": "f", "?": "b", "B": "u", "c": "u"}
    kind = kinds.get(letter, "i" if letter in "bhilqn" else letter)
    found = _type_of(kind, view.itemsize, name)
    if view.readonly:
        raise _read_only(name)
    if not view.c_contiguous:
        raise _not_contiguous(name)
    if view.nbytes == 0:
        return Memory(0, found, shape, view)
    first = ctypes.c_char.from_buffer(view)  # keeps the buffer where it is
    return Memory(ctypes.addressof(first), found, shape, (view, first))


class _DLTensor(ctypes.Structure):
    """``DLTensor`` of dlpack.h, the first field of both managed structs' tensors."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_DL_KINDS = {0: "i", 1: "u", 2: "f", 6: "b"}
_DL_BFLOAT = 4
_DL_ON_THE_HOST = (1, 3)  # kDLCPU, kDLCUDAHost


def _by_dlpack(array: Any, name: str) -> Memory | None:
    export = getattr(array, "__dlpack__", None)
    if export is None:
        return None
    try:
        capsule = export()
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise _refuse(name, f"is not exported by DLPack ({error})", "detach or copy it") from error
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype = ctypes.c_void_p
    pointer_of.argtypes = (ctypes.py_object, ctypes.c_char_p)
    tensor = _DLTensor.from_address(pointer_of(capsule, b"dltensor"))
    if tensor.device_type not in _DL_ON_THE_HOST:
        raise _refuse(name, "is not in this host's memory", "move it there, or give a copy")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    size = tensor.bits // 8
    found = (
        "BF16"
        if tensor.code == _DL_BFLOAT and tensor.bits == 16
        else _type_of(_DL_KINDS.get(tensor.code, "?"), size, name)
    )
    strides = (
        tuple(tensor.strides[i] * size for i in range(tensor.ndim)) if tensor.strides else None
    )
    if not _is_contiguous(shape, strides, size):
        raise _not_contiguous(name)
    address = (tensor.data or 0) + tensor.byte_offset
    return Memory(address, found, shape, (array, capsule))  # the capsule frees it at its end
