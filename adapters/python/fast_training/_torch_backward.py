"""The optimizer's step, taken part by part in the backward pass."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ._torch_homes import Group
from ._torch_step import StepAround
from .errors import ModelError, UsageError

_PARTS = 8


class _Part:
    def __init__(self, first: int) -> None:
        self.first = first  # element, counted over all that is exchanged
        self.groups: list[Group] = []
        self.parameters: list[torch.Tensor] = []
        self.awaited = 0  # gradients of this backward pass
        self.stepped = False
        self.ready = False

    def at_home(self) -> bool:
        """Whether the parameters are in the memory that is exchanged."""
        return all(g.tensors[0].data_ptr() == g.home.data_ptr() for g in self.groups)


class StepInBackward:
    """Takes each part of an optimizer's step as soon as its gradients are there, the last layer's
    first, and calls `ready(first)` where all elements from `first` on hold their new step: they are
    then exchanged while the backward pass goes on. ``optimizer.step()``, which must follow each
    backward pass, steps what is left, such as parameters without a gradient.

    It is the StepInBackward of adapters/torch. Its hooks need PyTorch 2.1. What needs all gradients
    before the first step raises UsageError: accumulation, clipping by the norm, a GradScaler.
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        groups: Sequence[Group],
        ready: Callable[[int], None],
    ) -> None:
        name = type(optimizer).__name__
        if not type(optimizer).__module__.startswith("torch.optim") or name in (
            "LBFGS",
            "SparseAdam",
        ):
            raise UsageError(
                f"{name} cannot step part by part; leave step_in_backward out, or use an optimizer "
                "of torch.optim that looks at each parameter alone"
            )
        if not hasattr(torch.Tensor, "register_post_accumulate_grad_hook"):
            raise UsageError(
                f"step_in_backward needs PyTorch 2.1 and this is {torch.__version__}; leave it out"
            )
        away = [group.name for group in groups if not group.on_host]
        if away:
            raise ModelError(
                f"'{away[0]}' is on a device, and step_in_backward is for the CPU; leave it out"
            )
        self._optimizer, self._ready = optimizer, ready
        self._step = type(optimizer).step  # without what schedulers have put around it
        self._versions: dict[torch.Tensor, tuple[int, int]] = {}
        self._parts = self._parts_of(groups)
        self._hooks = [
            parameter.register_post_accumulate_grad_hook(self._hook_of(part))
            for part in self._parts
            for parameter in part.parameters
        ]

        def step(before: Callable[[], Any], closure: Any = None) -> Any:
            if closure is not None:
                raise UsageError("step_in_backward takes no closure; compute the loss before step")
            if _by_scaler():
                raise UsageError(
                    "a GradScaler unscales gradients after the backward pass, which has taken the "
                    "step with scaled ones; leave step_in_backward out"
                )
            self._finish()
            with self._only(()):  # for schedulers, which count the calls
                return before()

        self._around = StepAround(optimizer, step)

    def leave(self) -> None:
        """Makes the backward pass and ``optimizer.step()`` what they were before."""
        for hook in self._hooks:
            hook.remove()
        self._around.leave()

    def _parts_of(self, groups: Sequence[Group]) -> list[_Part]:
        stepped = {p for group in self._optimizer.param_groups for p in group["params"]}
        total = sum(group.home.numel() for group in groups)
        parts: list[_Part] = []
        first, filled = 0, total
        for group in groups:
            if filled >= total / _PARTS:
                parts.append(_Part(first))
                filled = 0
            mine = [t for t in group.tensors if t in stepped and t.requires_grad]
            parts[-1].groups.append(group)
            parts[-1].parameters += mine
            first, filled = first + group.home.numel(), filled + group.home.numel()
        for part in parts:
            part.awaited = len(part.parameters)
        return parts

    def _hook_of(self, part: _Part) -> Callable[[torch.Tensor], None]:
        def hook(_parameter: torch.Tensor) -> None:
            if part.stepped:
                raise UsageError(
                    "a second backward pass came before optimizer.step(), but the first one has "
                    "taken the step; accumulate gradients without step_in_backward"
                )
            part.awaited -= 1
            if part.awaited == 0:
                self._make(part)

        return hook

    def _make(self, part: _Part) -> None:
        with self._only(part.parameters), torch.no_grad():
            self._step(self._optimizer)
        part.stepped = True
        for parameter in part.parameters:
            if parameter.grad is not None:
                self._versions[parameter] = (id(parameter.grad), parameter.grad._version)
        for one in reversed(self._parts):
            if not one.stepped or not one.at_home():
                break
            if not one.ready:
                one.ready = True
                self._ready(one.first)

    def _finish(self) -> None:
        """Steps what the backward pass has not, and awaits the next one."""
        for parameter, version in self._versions.items():
            grad = parameter.grad
            if grad is None or (id(grad), grad._version) != version:
                raise UsageError(
                    "gradients were changed between backward() and optimizer.step(), as by "
                    "clipping, but the backward pass has taken the step; leave "
                    "step_in_backward out"
                )
        self._versions.clear()
        for part in reversed(self._parts):
            if not part.stepped:
                self._make(part)
        self._versions.clear()
        for part in self._parts:
            part.awaited = len(part.parameters)
            part.stepped = part.ready = False

    def _only(self, parameters: Sequence[torch.Tensor]) -> Any:
        return _Only(self._optimizer, parameters)


def _by_scaler() -> bool:
    """Whether a GradScaler calls step(): what it does to gradients raises no version."""
    frame = sys._getframe(2)
    for _ in range(4):
        if frame is None:
            return False
        if str(frame.f_globals.get("__name__")).endswith("amp.grad_scaler"):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


class _Only:
    """An optimizer that knows some of its parameters alone, for the time of a ``with``."""

    def __init__(
        self, optimizer: torch.optim.Optimizer, parameters: Sequence[torch.Tensor]
    ) -> None:
        self._groups = optimizer.param_groups
        self._all = [group["params"] for group in self._groups]
        wanted = {id(parameter) for parameter in parameters}
        self._some = [[p for p in every if id(p) in wanted] for every in self._all]

    def __enter__(self) -> None:
        for group, some in zip(self._groups, self._some):
            group["params"] = some

    def __exit__(self, *_error: object) -> None:
        for group, every in zip(self._groups, self._all):
            group["params"] = every
