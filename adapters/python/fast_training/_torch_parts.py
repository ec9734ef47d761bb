"""The tensors of a PyTorch model: trained, averaged at the end, carried, or kept apart."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import torch

from ._memory import Memory
from ._torch_homes import TYPES, memory_of, why_not
from .errors import ModelError

_LOGGER = logging.getLogger("fast_training")


class Part(NamedTuple):
    """A tensor of a model, and where the model keeps it."""

    name: str
    tensor: torch.Tensor  # as the session found it
    owner: Mapping[str, Any] | None  # a module's parameters or buffers; None: nobody's
    key: str

    def now(self) -> Any:
        """What is in its place now."""
        return self.tensor if self.owner is None else self.owner.get(self.key)


class Parts(NamedTuple):
    """All tensors of a model."""

    trained: list[Part]
    averaged: list[Part]  # running statistics
    carried: list[Part]  # frozen parameters, other buffers
    apart: list[Part]  # not of the model file: persistent=False, or of a type that it cannot hold


def is_model(model: Any) -> bool:
    """Whether it is a module, or several: a list of modules or a dictionary."""
    several = list(model.values()) if isinstance(model, Mapping) else model
    if not isinstance(several, (list, tuple)):
        several = [several]
    return len(several) > 0 and all(isinstance(one, torch.nn.Module) for one in several)


def one_model(model: Any) -> Any:
    """One module where there are several; else what is given."""
    if isinstance(model, torch.nn.Module) or not is_model(model):
        return model
    if isinstance(model, Mapping):
        return torch.nn.ModuleDict({str(name): one for name, one in model.items()})
    return torch.nn.ModuleList(model)


def first_of(model: Any) -> Any:
    """The first of several modules; else what is given."""
    if isinstance(model, torch.nn.Module) or not is_model(model):
        return model
    return next(iter(model.values() if isinstance(model, Mapping) else model))


def modules_of(model: Any) -> list[torch.nn.Module]:
    """The modules that a loop calls; none where tensors are given."""
    if not is_model(model):
        return []
    if isinstance(model, torch.nn.Module):
        return [model]
    return list(model.values() if isinstance(model, Mapping) else model)


def parts_of(model: Any, average_statistics: bool) -> Parts:
    """The tensors of a module, or of a mapping from names. Names in a warning those that are left
    out of the model file because of their type."""
    parts = Parts([], [], [], [])
    if not isinstance(model, torch.nn.Module):
        for name, tensor in dict(model).items():
            kind = parts.trained if tensor.requires_grad else parts.carried
            kind.append(Part(str(name), tensor, None, ""))
        return parts
    model = getattr(model, "_orig_mod", model)  # of torch.compile
    statistics = set()
    if average_statistics:
        for layer in normalising(model):
            statistics |= {id(layer.running_mean), id(layer.running_var)}
    for part in _parameters(model):
        (parts.trained if part.tensor.requires_grad else parts.carried).append(part)
    for part, persistent in _buffers(model):
        if not persistent:
            parts.apart.append(part)
        elif id(part.tensor) in statistics:
            parts.averaged.append(part)
        else:
            parts.carried.append(part)
    for part in [part for part in parts.carried if not _can_be_carried(part.tensor)]:
        parts.carried.remove(part)
        parts.apart.append(part)
        _LOGGER.warning(
            "'%s' is %s: it stays each worker's own, and the saved model lacks it",
            part.name,
            why_not(part.tensor) or f"of type {part.tensor.dtype}",
        )
    return parts


def aliases_of(model: Any, saved: Iterable[tuple[str, torch.Tensor]]) -> dict[str, str]:
    """The names that state_dict() has beside those of `saved`, for the same memory: of tied
    parameters. By each the name of `saved`."""
    if not isinstance(model, torch.nn.Module):
        return {}
    model = getattr(model, "_orig_mod", model)
    names = {_memory_key(tensor): name for name, tensor in saved if tensor.numel() > 0}
    known = set(names.values())
    found = model.state_dict(keep_vars=True).items()
    tensors = [(key, one) for key, one in found if isinstance(one, torch.Tensor)]
    return {
        key: names[_memory_key(tensor)]
        for key, tensor in tensors
        if key not in known and tensor.layout == torch.strided and _memory_key(tensor) in names
    }


def _memory_key(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tensor.device, tensor.data_ptr(), tuple(tensor.shape), tensor.stride()


def normalising(model: torch.nn.Module) -> list[Any]:
    """The layers of a module that keep running statistics."""
    kinds = torch.nn.modules.batchnorm._NormBase
    found = (module for module in model.modules() if isinstance(module, kinds))
    return [module for module in found if module.running_mean is not None]


def _can_be_carried(tensor: torch.Tensor) -> bool:
    if torch.nn.parameter.is_lazy(tensor):
        return False
    reason = why_not(tensor)
    return tensor.dtype in TYPES and (not reason or reason.startswith("of type"))


def _modules(model: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Module]]:
    for prefix, module in model.named_modules():
        yield f"{prefix}." if prefix else "", module


def _parameters(model: torch.nn.Module) -> Iterator[Part]:
    if isinstance(model, torch.jit.ScriptModule):  # which keeps them elsewhere
        for name, tensor in model.named_parameters():
            yield Part(name, tensor, None, "")
        return
    seen = set()
    for prefix, module in _modules(model):
        for key, tensor in module._parameters.items():
            if tensor is not None and id(tensor) not in seen:
                seen.add(id(tensor))
                yield Part(prefix + key, tensor, module._parameters, key)


def _buffers(model: torch.nn.Module) -> Iterator[tuple[Part, bool]]:
    """Each with whether a model file holds it."""
    if isinstance(model, torch.jit.ScriptModule):
        held = model.state_dict()
        for name, tensor in model.named_buffers():
            yield Part(name, tensor, None, ""), name in held
        return
    for prefix, module in _modules(model):
        for key, tensor in module._buffers.items():
            if tensor is not None:
                part = Part(prefix + key, tensor, module._buffers, key)
                yield part, key not in module._non_persistent_buffers_set


class Held:
    """A tensor that is not trained, and the memory in which a session has it: its own where it is
    contiguous and on the CPU, else a copy."""

    def __init__(self, part: Part) -> None:
        self.name = part.name
        self._part = part
        self._like = part.tensor.detach()
        self._copy: torch.Tensor | None = None
        self.memory = self._memory_now()

    def tensor(self) -> torch.Tensor:
        """The tensor that is in its place now. Raises ModelError where it is of another type or
        shape than before."""
        found = self._part.now()
        like = self._like
        if not torch.is_tensor(found) or (found.shape, found.dtype) != (like.shape, like.dtype):
            what = f"{tuple(found.shape)} of {found.dtype}" if torch.is_tensor(found) else found
            raise ModelError(
                f"'{self.name}' was replaced since the session was opened, and is now {what}; keep "
                "its type and shape, or open another session"
            )
        tensor: torch.Tensor = found.detach()
        return tensor

    def look(self, copy: bool) -> bool:
        """Finds the memory, and tells whether it is another than before; where it is a copy, brings
        that up to date if `copy`."""
        found = self._part.now()
        known = found is self._part.tensor and self._copy is None
        if known and (found.data_ptr(), found.dtype) == (self.memory.address, self._like.dtype):
            return False
        tensor, before = self.tensor(), self.memory
        if _usable(tensor):
            if self._copy is not None or tensor.data_ptr() != self.memory.address:
                self._copy, self.memory = None, memory_of(tensor)
        elif self._copy is None:
            self.memory = self._memory_now()
        elif copy:
            self.refresh()
        return self.memory is not before

    def refresh(self) -> None:
        """Brings the memory up to date, where it is a copy."""
        if self._copy is not None:
            self._copy.copy_(self.tensor())

    def give(self) -> None:
        """Takes over what the session has made of it."""
        if self._copy is not None:
            self.tensor().copy_(self._copy)

    def _memory_now(self) -> Memory:
        tensor = self.tensor()
        if _usable(tensor):
            return memory_of(tensor)
        self._copy = torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu")
        self._copy.copy_(tensor)
        return memory_of(self._copy)


def _usable(tensor: torch.Tensor) -> bool:
    return bool(tensor.device.type == "cpu" and tensor.is_contiguous())
