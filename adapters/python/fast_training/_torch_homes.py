"""Where the tensors of a PyTorch model live while they are exchanged."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable

import torch

from ._memory import Memory
from .errors import ModelError

TYPES = {
    torch.float32: "F32",
    torch.float64: "F64",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
    torch.complex64: "C64",
    **{
        getattr(torch, name): saved
        for name, saved in (  # of newer versions
            ("uint64", "U64"),
            ("uint32", "U32"),
            ("uint16", "U16"),
            ("float8_e4m3fn", "F8_E4M3"),
            ("float8_e5m2", "F8_E5M2"),
        )
        if hasattr(torch, name)
    },
}
_EXCHANGED = ("F32", "F64", "F16", "BF16")
_ALIGNMENT = 64  # bytes, of each home where not all are float32


def memory_of(tensor: torch.Tensor) -> Memory:
    """The memory of a contiguous tensor on the CPU, for a session."""
    return Memory(tensor.data_ptr(), TYPES[tensor.dtype], tuple(tensor.shape), tensor)


def refuse(name: str, what: str, remedy: str) -> ModelError:
    """An error for a tensor that cannot take part."""
    return ModelError(f"'{name}' cannot be exchanged: it is {what}; {remedy}")


def why_not(tensor: torch.Tensor) -> str:
    """Why the tensor cannot be exchanged, or ""."""
    if torch.nn.parameter.is_lazy(tensor):
        return "not initialised yet"
    if tensor.layout != torch.strided:
        return f"of layout {tensor.layout}"
    if type(tensor.data) not in (torch.Tensor, torch.nn.Parameter):
        return f"a {type(tensor.data).__name__}, whose memory is not its own"
    if TYPES.get(tensor.dtype) not in _EXCHANGED:
        return f"of type {tensor.dtype}"
    if tensor.is_meta:
        return "on the meta device, without values"
    if any(stride == 0 and side > 1 for side, stride in zip(tensor.shape, tensor.stride())):
        return "an expanded tensor"
    return ""


class Group:
    """Tensors of one memory: a parameter, or several that are tied."""

    def __init__(self, name: str, tensor: torch.Tensor) -> None:
        self.name = name
        self.names = [name]
        self.tensors = [tensor]
        self.device = tensor.device
        self.home = tensor  # of shape and type of the first; on the CPU, contiguous
        self.views: list[torch.Tensor] = []  # what each tensor's data is at home

    @property
    def on_host(self) -> bool:
        """Whether the home is the tensors' own memory, not a copy of a device's."""
        return bool(self.device.type == "cpu")


def _extent(tensor: torch.Tensor) -> tuple[int, int]:
    last = sum((side - 1) * stride for side, stride in zip(tensor.shape, tensor.stride()))
    begin = tensor.data_ptr()
    return begin, begin + (last + 1) * tensor.element_size() if tensor.numel() else begin


def grouped(tensors: Iterable[tuple[str, torch.Tensor]]) -> list[Group]:
    """Groups of the same memory, in the order of their first members.

    Raises ModelError for a tensor that cannot be exchanged, and where two share a part of their
    memory.
    """
    groups: dict[object, Group] = {}
    for name, tensor in tensors:
        reason = why_not(tensor)
        if reason:
            raise refuse(
                name,
                reason,
                "exchanged are dense tensors of float32, float64, float16 or bfloat16; convert it, "
                "or keep it out with requires_grad_(False)",
            )
        key: object = (tensor.device, _extent(tensor)) if tensor.numel() else id(tensor)
        group = groups.get(key)
        if group is None:
            groups[key] = Group(name, tensor)
            continue
        first = group.tensors[0]
        if tensor.dtype != first.dtype or (
            not first.is_contiguous() and tensor.stride() != first.stride()
        ):
            raise _overlap(group.name, name)
        group.names.append(name)
        group.tensors.append(tensor)
    _refuse_overlaps(groups.values())
    return list(groups.values())


def tied_to(groups: list[Group], others: Iterable[tuple[str, torch.Tensor]]) -> set[str]:
    """Adds each of `others`, tensors that are not exchanged for their own sake, to the group whose
    memory it is, and returns the names of those. Raises ModelError where one is a part of a group's
    memory."""
    found = set()
    for name, tensor in others:
        if tensor.layout != torch.strided or tensor.is_meta or tensor.numel() == 0:
            continue
        begin, end = _extent(tensor)
        for group in groups:
            first = group.tensors[0]
            group_begin, group_end = _extent(first)
            if tensor.device != first.device or end <= group_begin or group_end <= begin:
                continue
            if (begin, end) != (group_begin, group_end) or tensor.dtype != first.dtype:
                raise _overlap(group.name, name)
            if not first.is_contiguous() and tensor.stride() != first.stride():
                raise _overlap(group.name, name)
            group.names.append(name)
            group.tensors.append(tensor)
            found.add(name)
            break
    return found


def _overlap(one: str, other: str) -> ModelError:
    return ModelError(
        f"'{one}' and '{other}' share a part of their memory; give each its own (.clone()), or tie "
        "them whole"
    )


def _refuse_overlaps(groups: Iterable[Group]) -> None:
    placed = [(str(g.tensors[0].device), _extent(g.tensors[0]), g.name) for g in groups]
    placed = sorted(p for p in placed if p[1][0] != p[1][1])
    for (device, extent, name), (other, next_extent, next_name) in zip(placed, placed[1:]):
        if device == other and next_extent[0] < extent[1]:
            raise _overlap(name, next_name)


def settle(groups: list[Group], averages: int = 0) -> Memory | None:
    """Gives each group its home, and makes tensors on the CPU views of it. What lies in memory that
    is shared with other processes stays there, which is then its home.

    The other homes are one memory; where all are float32 they lie end to end, so that they are
    exchanged in place, and `averages` more floats follow, whose memory is returned.
    """
    plain = all(group.tensors[0].dtype == torch.float32 for group in groups)
    movers = [group for group in groups if not _stays(group)]
    offsets, end = [], 0
    for group in movers:
        offsets.append(end)
        first = group.tensors[0]
        end += first.numel() * first.element_size()
        if not plain:
            end = -(-end // _ALIGNMENT) * _ALIGNMENT
    on_device = any(not group.on_host for group in groups)
    size = end + (4 * averages if plain else 0)
    memory = torch.empty(
        size,
        dtype=torch.uint8,
        device="cpu",  # whatever the default is
        pin_memory=on_device and torch.cuda.is_available(),
    )
    for group, offset in zip(movers, offsets):
        _move_in(group, memory, offset)
    for group in groups:
        if group not in movers:
            _stay(group, group.tensors[0])
    if averages == 0 or not plain:
        return None
    return Memory(memory.data_ptr() + end, "F32", (averages,), memory)


def _stays(group: Group) -> bool:
    first = group.tensors[0]
    if not group.on_host or not _in_shared_memory(first):
        return False
    if not first.is_contiguous():
        raise refuse(
            group.name,
            "in memory that is shared with other processes, and not contiguous there",
            "share it after .contiguous()",
        )
    return True


def _in_shared_memory(tensor: torch.Tensor) -> bool:
    return bool(tensor.numel() > 0 and tensor.device.type == "cpu" and tensor.is_shared())


def _move_in(group: Group, memory: torch.Tensor, offset: int) -> None:
    first = group.tensors[0]
    was_contiguous = first.is_contiguous()
    group.home = _tensor_at(memory, offset, first.dtype, first.numel()).view(first.shape)
    group.home.copy_(first.detach())
    if not group.on_host:
        return
    # Sharing a tensor with another process moves its storage, which is not the home's, therefore.
    theirs = _tensor_at(memory, offset, first.dtype, first.numel())
    for tensor in group.tensors:
        # Tied tensors of another shape (a transposed view) keep their strides. If the first had to
        # be made contiguous, all get its layout.
        strides = tensor.stride() if was_contiguous else group.home.stride()
        group.views.append(theirs.as_strided(tuple(tensor.shape), strides))
        tensor.data = group.views[-1]


def _stay(group: Group, where: torch.Tensor) -> None:
    """Makes the memory of `where`, a tensor of the group, its home."""
    group.home = where.detach().view(group.tensors[0].shape)
    views = group.views or group.tensors
    group.views = [where.detach().as_strided(tuple(v.shape), v.stride()) for v in views]
    for tensor, view in zip(group.tensors, group.views):
        if tensor is not where:
            tensor.data = view


def _tensor_at(memory: torch.Tensor, offset: int, dtype: torch.dtype, count: int) -> torch.Tensor:
    """A part of `memory` as a tensor whose storage is that part: torch.save() writes whole
    storages, and would write all parameters for each."""
    if count == 0:
        return torch.empty(0, dtype=dtype, device="cpu")
    size = count * torch.empty(0, dtype=dtype, device="cpu").element_size()
    part = (ctypes.c_char * size).from_address(memory.data_ptr() + offset)
    setattr(part, "memory", memory)  # keeps it alive as long as the tensor
    return torch.frombuffer(part, dtype=dtype, count=count)


def bring_home(groups: list[Group]) -> list[str]:
    """Notices tensors on the host whose memory was replaced (by `p.data = ..`, say), takes their
    values, and makes them views again; those that were moved to memory that other processes share
    have their home there from now on. Returns their names. Raises ModelError where one has another
    type, shape or device, or where tied ones were given different values."""
    moved: list[str] = []
    for group in groups:
        at = group.home.data_ptr()
        for tensor in group.tensors:
            if tensor.data_ptr() != at:
                moved += _bring_group_home(group)
                break
    return moved


def check_away(groups: list[Group]) -> None:
    """Raises ModelError where a tensor on a device has another type, or is elsewhere."""
    for group in groups:
        for name, tensor in zip(group.names, group.tensors):
            if (tensor.device, tensor.dtype) != (group.device, group.home.dtype):
                _demand_same(name, tensor, tensor, group)


def _demand_same(name: str, tensor: torch.Tensor, like: torch.Tensor, group: Group) -> None:
    now = why_not(tensor)
    if not now and tensor.device != group.device:
        now = f"on {tensor.device}"
    if not now and (tensor.dtype, tensor.shape) != (group.home.dtype, like.shape):
        now = f"{tuple(tensor.shape)} of {tensor.dtype}"
    if now:
        raise ModelError(
            f"'{name}' was replaced since the session was opened, and is now {now}; keep the "
            "model in its types, shapes and places, or open another session"
        )


def _bring_group_home(group: Group) -> list[str]:
    at = group.home.data_ptr()
    moved: list[str] = []
    shared: torch.Tensor | None = None
    for name, tensor, view in zip(group.names, group.tensors, group.views):
        if tensor.data_ptr() == at:
            continue
        _demand_same(name, tensor, view, group)
        values = group.home.as_strided(tuple(view.shape), view.stride())
        if not moved:
            values.copy_(tensor.detach())
        elif not torch.equal(values, tensor.detach()):
            raise ModelError(
                f"'{name}' and '{moved[0]}' were tied when the session was opened, and were given "
                "different values; give both the same, or open another session"
            )
        moved.append(name)
        if _in_shared_memory(tensor) and tensor.stride() == group.home.stride():
            shared = tensor
    if shared is not None:
        _stay(group, shared)
        return moved
    if group.views[0].data_ptr() != at:  # their storage was shared before
        theirs = _tensor_at(group.home, 0, group.home.dtype, group.home.numel())
        group.views = [theirs.as_strided(tuple(v.shape), v.stride()) for v in group.views]
    for tensor, view in zip(group.tensors, group.views):
        tensor.data = view
    return moved
