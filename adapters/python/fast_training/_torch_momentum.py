"""Momentum that follows the moves of the model, not only the worker's own steps."""

from __future__ import annotations

from typing import Any

import torch

# Below this fraction of the highest learning rate so far, momentum is not corrected: what the
# exchange moved, divided by so small a rate, would be noise.
_LEAST_CORRECTED_RATE = 0.01


class MomentumCorrection:
    """What the exchange moves a model by enters the momentum of ``torch.optim.SGD``.

    SGD's momentum m sums up a worker's own gradients, but not what averaging takes back of its
    steps, and so keeps pushing towards the worker's own shard. Here

        m <- m - share * often * (parameter after the exchange - before it) / learning rate

    with `often`, the mean part of its elements that an exchange moves. It is the
    MomentumCorrection of adapters/torch, whose header gives the reasons; after Lin et al. 2021,
    "Quasi-global momentum". It costs a copy of the parameters.
    """

    def __init__(self, optimizer: torch.optim.SGD, share: float) -> None:
        self._optimizer = optimizer
        self._share = share
        self._left: dict[int, torch.Tensor] = {}  # values before the exchange, by id of parameter
        self._often: dict[int, torch.Tensor] = {}
        self._highest: dict[int, float] = {}  # learning rate, by id of parameter

    def before_exchange(self) -> None:
        """Keeps the parameters as the step has left them."""
        for parameter, _group in self._corrected():
            left = self._left.get(id(parameter))
            if left is None:
                self._left[id(parameter)] = parameter.detach().clone()
            else:
                left.copy_(parameter.detach())

    def after_exchange(self) -> None:
        """Corrects momentum by what the exchange has moved."""
        for parameter, group in self._corrected():
            key, rate = id(parameter), float(group["lr"])
            left = self._left.get(key)
            if left is None:
                continue
            moved = left.sub_(parameter.detach())  # the other way round
            lasting = float(group["momentum"])
            often = self._often.setdefault(key, torch.ones((), device=moved.device))
            share = torch.count_nonzero(moved) / max(1, moved.numel())
            often.mul_(lasting).add_(share, alpha=1 - lasting)
            self._highest[key] = max(rate, self._highest.get(key, 0.0))
            if rate <= _LEAST_CORRECTED_RATE * self._highest[key]:
                continue
            momentum = self._optimizer.state[parameter]["momentum_buffer"]
            momentum.addcmul_(moved, often.to(moved.dtype), value=self._share / rate)

    def model_replaced(self) -> None:
        """The model was replaced by a neighbour's."""
        self._left.clear()

    def _corrected(self) -> list[tuple[torch.Tensor, dict[str, Any]]]:
        """Parameters that have momentum, with their groups."""
        found = []
        for group in self._optimizer.param_groups:
            if group["momentum"] <= 0:
                continue
            for parameter in group["params"]:
                state = self._optimizer.state.get(parameter)
                if parameter.requires_grad and state and state.get("momentum_buffer") is not None:
                    found.append((parameter, group))
        return found
