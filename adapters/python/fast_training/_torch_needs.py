"""What a step of a PyTorch model is about to use, asked for before each module is called."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch

from ._torch_homes import Group
from ._torch_hooks import Hook, compiling

_PARTS = 8  # a module with a smaller part of the model asks for all that is in it

Range = tuple[int, int]  # first element, counted over all that is exchanged, and their number


class Needs:
    """Calls ``needed(first, count)`` for the parameters of a module, and of those in it, before the
    module is called for the first time in a step: averages are then taken in layer by layer; see
    Session.needed(). Calls ``changing()`` before the optimizer steps.

    Parameters of a module that is never called are asked for by the one around it, where that is
    small, or has them in a ParameterList; otherwise by nobody, which the exchange notices. Inside
    of what torch.compile() or torch.jit has taken in, nothing is asked for. A module that uses
    parameters of another one, before that is called in the same step, computes with values from
    before they were averaged, and its gradient is of those but for the averaging's move.
    """

    def __init__(
        self,
        modules: Iterable[torch.nn.Module],
        groups: Sequence[Group],
        needed: Callable[[int, int], None],
        changing: Callable[[], None],
    ) -> None:
        self._needed, self._changing = needed, changing
        self._places: dict[int, Range] = {}
        first = 0
        for group in groups:
            count = group.home.numel()
            self._places.update((id(tensor), (first, count)) for tensor in group.tensors)
            first += count
        self._most = first / _PARTS
        self._hooks: list[_Hook] = []
        self._seen: set[int] = set()
        self._owner = (0, 0)
        #: Of the session, as far as hooks know; -1: what is asked for is not taken in.
        self.step = -1
        for module in modules:
            self._split(module)

    def next_step(self, asks: bool) -> None:
        """The boundary of a step was passed. `asks`: the next one asks for its parts."""
        self._owner = (os.getpid(), threading.get_ident())
        self.step = abs(self.step) + 1 if asks else -abs(self.step)

    def ask(self, hook: _Hook) -> None:
        """The module of `hook` is about to be called, for the first time in this step."""
        if self.step < 0 or not self._is_owner():
            return
        hook.step = self.step
        for first, count in hook.ranges:
            self._needed(first, count)

    def before_step(self) -> None:
        """The optimizer is about to step, modules that were not called among its own."""
        if self._is_owner():
            self._changing()

    def _is_owner(self) -> bool:
        return self._owner == (os.getpid(), threading.get_ident())

    def leave(self) -> None:
        """Leaves the modules without hooks."""
        for hook in self._hooks:
            hook.leave()

    def _split(self, module: torch.nn.Module) -> None:
        """Finds the modules that ask, for `module` and all in it."""
        if id(module) in self._seen or isinstance(module, torch.jit.ScriptModule):
            return
        self._seen.add(id(module))
        inside = self._ranges(module.parameters())
        if not inside:
            return
        called = _is_called(module)
        if called and sum(count for _, count in inside) <= self._most:
            return self._ask_before(module, inside)
        if called:
            own = self._ranges(_own_parameters(module))
            if own:
                self._ask_before(module, own)
        for child in module.children():
            self._split(child)
        return None

    def _ask_before(self, module: torch.nn.Module, ranges: list[Range]) -> None:
        hook = _Hook(self, ranges)
        with contextlib.suppress(Exception):  # a kind of module that takes none
            hook.register(module)
            self._hooks.append(hook)

    def _ranges(self, parameters: Iterable[torch.Tensor]) -> list[Range]:
        """Where they are, as few ranges as possible."""
        found = sorted({self._places[id(p)] for p in parameters if id(p) in self._places})
        ranges: list[Range] = []
        for first, count in found:
            if ranges and sum(ranges[-1]) == first:
                ranges[-1] = (ranges[-1][0], ranges[-1][1] + count)
            else:
                ranges.append((first, count))
        return ranges


def _is_called(module: torch.nn.Module) -> bool:
    """Whether it has a forward pass: a ModuleList has none."""
    return type(module).forward is not torch.nn.Module.forward


def _own_parameters(module: torch.nn.Module) -> Iterator[torch.Tensor]:
    """Those of the module and of lists of parameters in it."""
    yield from module.parameters(recurse=False)
    for child in module.children():
        if isinstance(child, (torch.nn.ParameterList, torch.nn.ParameterDict)):
            yield from child.parameters()


class _Hook(Hook):
    """Sees the calls of a module."""

    def __init__(self, needs: Needs, ranges: Sequence[Range]) -> None:
        super().__init__()
        self.ranges = ranges
        self.step = 0  # that has asked last
        self._needs: Needs | None = needs

    def register(self, module: Any) -> None:
        """Is called before the module from now on."""
        self._handle = module.register_forward_pre_hook(self)

    def __call__(self, module: Any, inputs: Any, named: Any = None) -> None:
        needs = self._needs
        if compiling() or needs is None or needs.step == self.step:
            return
        needs.ask(self)

    def leave(self) -> None:
        """Leaves the module."""
        self._needs = None
        super().leave()
