"""A hash of the first batch that a model is trained on, by which neighbours know a forgotten
sampler."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from ._torch_hooks import Hook, compiling

_MOST = 1 << 20  # elements of a tensor that are hashed, the first ones
_LOOKED_AT = 1 << 16  # of which values are counted
_LEAST_VALUES = 8  # different ones: masks and constants may well be alike everywhere


class FirstBatch:
    """What the modules of a model are given first, in training, from now until take().

    A hook leaves its module when that was called. Of a module that torch.compile() has taken in the
    hook sees nothing, and stays until leave(): to remove it would compile the module anew.

    Tensors of all modules together are one batch. It counts where one of them, of floats or
    integers, holds at least 8 different values: so constants and masks are no batch.
    """

    def __init__(self, modules: Iterable[torch.nn.Module]) -> None:
        self._hash = hashlib.blake2b(digest_size=8)
        self._tells = self._taken = False
        self._hooks: list[_Hook] = []
        for module in modules:
            hook = _Hook(self)
            with contextlib.suppress(Exception):  # a kind of module that takes none
                hook.register(module)
                self._hooks.append(hook)

    def see(self, batch: Any) -> None:
        """Adds what is given. A batch that cannot be read is left out: it is never a reason to end
        training."""
        if self._taken:
            return
        with contextlib.suppress(Exception):
            for tensor in _tensors(batch):
                self._add(tensor)

    def take(self) -> int:
        """The hash; 0 where nothing was seen that tells. Sees nothing more."""
        self._taken = True
        return int.from_bytes(self._hash.digest(), "little") if self._tells else 0

    def leave(self) -> None:
        """Leaves the modules without hooks."""
        for hook in self._hooks:
            hook.leave()

    def _add(self, tensor: torch.Tensor) -> None:
        if tensor.layout != torch.strided or tensor.device.type == "meta":
            return
        if tensor.is_cuda and torch.cuda.is_current_stream_capturing():
            return
        values = tensor.detach().reshape(-1)[:_MOST].cpu().contiguous()
        self._hash.update(f"{tuple(tensor.shape)} {tensor.dtype}".encode())
        self._hash.update(ctypes.string_at(values.data_ptr(), _bytes(values)))
        if tensor.dtype != torch.bool and not self._tells:
            self._tells = len(values[:_LOOKED_AT].unique()) >= _LEAST_VALUES


class _Hook(Hook):
    """Sees the first call of a module in training."""

    def __init__(self, seen: FirstBatch) -> None:
        super().__init__()
        self._seen: FirstBatch | None = seen

    def register(self, module: Any) -> None:
        """Is called before the module from now on."""
        try:
            self._handle = module.register_forward_pre_hook(self, with_kwargs=True)
        except TypeError:  # PyTorch 1, whose hooks do not see arguments by name
            self._handle = module.register_forward_pre_hook(self)

    def __call__(self, module: Any, inputs: Any, named: Any = None) -> None:
        if compiling() or self._seen is None:
            return
        if not (module.training and torch.is_grad_enabled()):
            return
        self._seen.see((inputs, named))
        self.leave()

    def leave(self) -> None:
        """Leaves the module."""
        self._seen = None
        super().leave()


def _tensors(batch: Any) -> Iterator[torch.Tensor]:
    """The tensors in a batch, in its order."""
    if torch.is_tensor(batch):
        yield batch
    elif isinstance(batch, (Mapping, list, tuple)):
        for part in batch.values() if isinstance(batch, Mapping) else batch:
            yield from _tensors(part)


def _bytes(tensor: torch.Tensor) -> int:
    return int(tensor.numel() * tensor.element_size())
