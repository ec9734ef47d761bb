"""Copies of the weights in an optimizer's state."""

from __future__ import annotations

from typing import Any

import torch

_LOOKS = 10  # exchanges, since an optimizer's state comes with its first steps


class WeightCopies:
    """Copies of parameters that an optimizer keeps in its state and writes back: a master copy of
    higher precision, slow weights. What the exchange does to a parameter is done to them too, since
    the next step would undo it otherwise.

    A copy is a tensor of a parameter's shape that equals the parameter after a step, rounded to its
    type. A constant parameter tells nothing.
    """

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self._optimizer = optimizer
        self._found: dict[tuple[int, str], torch.Tensor] = {}  # parameter, by its id and the name
        self._looks = 0
        self._before: dict[int, torch.Tensor] = {}  # values before an exchange, by id

    @property
    def found(self) -> bool:
        """Whether there are any, as far as is known."""
        return bool(self._found)

    def forget(self) -> None:
        """The state is of another model and begins anew."""
        self._found.clear()
        self._before.clear()
        self._looks = 0

    def before_exchange(self) -> None:
        """The optimizer has made a step."""
        if self._looks < _LOOKS:
            self._looks += 1
            for parameter, state in list(self._optimizer.state.items()):
                self._look(parameter, state)
        for parameter in self._found.values():
            self._before[id(parameter)] = parameter.detach().clone()

    def after_exchange(self) -> None:
        """Moves the copies as the parameters were moved."""
        for (_, name), parameter in self._found.items():
            before = self._before.get(id(parameter))
            state = self._optimizer.state.get(parameter)
            copy = state.get(name) if state else None
            if before is not None and isinstance(copy, torch.Tensor):
                copy.add_(parameter.detach().to(copy.dtype) - before.to(copy.dtype))
        self._before.clear()

    def _look(self, parameter: Any, state: Any) -> None:
        if not torch.is_tensor(parameter) or not isinstance(state, dict):
            return
        values = parameter.detach()
        for name, kept in state.items():
            if (
                torch.is_tensor(kept)
                and kept.is_floating_point()
                and kept.layout == torch.strided
                and (kept.shape, kept.device) == (values.shape, values.device)
                and kept.numel() > 1
                and torch.equal(kept.to(values.dtype), values)
                and bool(values.min() != values.max())
            ):
                self._found[id(parameter), name] = parameter
