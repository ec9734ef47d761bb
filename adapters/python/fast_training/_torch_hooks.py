"""Hooks that a session puts before the forward pass of a model's modules."""

from __future__ import annotations

from typing import Any

import torch

#: Whether torch.compile() is taking in what runs now; hooks do nothing then.
compiling = getattr(getattr(torch, "compiler", None), "is_compiling", bool)


class Hook:
    """Is called before a module, until it leaves. A copy of it, in a copy of the module, does
    nothing."""

    def __init__(self) -> None:
        self._handle: Any = None

    def __call__(self, module: Any, inputs: Any, named: Any = None) -> None:
        """The module is about to be called."""

    def leave(self) -> None:
        """Leaves the module."""
        if self._handle is not None:
            self._handle.remove()

    def __deepcopy__(self, known: Any) -> Hook:
        return Hook()

    def __reduce__(self) -> Any:
        return Hook, ()
