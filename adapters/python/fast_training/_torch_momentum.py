"""Momentum that follows the moves of the model, not only the worker's own steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from .adapter import Momentum

# Below this fraction of the highest learning rate so far, momentum is not corrected: what the
# exchange moved, divided by so small a rate, would be noise.
_LEAST_CORRECTED_RATE = 0.01

_Corrected = Iterable[tuple[torch.Tensor, torch.Tensor, dict[str, Any]]]


class MomentumCorrection:
    """What the exchange moves a model by enters the momentum of ``torch.optim.SGD``.

    SGD's momentum m sums up a worker's own gradients, but not what averaging takes back of its
    steps, and so keeps pushing towards the worker's own shard. Here

        m <- m - share * often * (parameter after the exchange - before it) / learning rate

    with `often`, the mean part of its elements that an exchange moves. fast/momentum.h gives the
    reasons; after Lin et al. 2021, "Quasi-global momentum". On the CPU the library corrects while
    it folds; on a device two passes do, for one copy of the parameters.
    """

    def __init__(self, optimizer: torch.optim.SGD, share: float, numbers: dict[int, int]) -> None:
        """`numbers`: of the parameters as the session counts them, by id."""
        self._optimizer = optimizer
        self._share = share
        self._numbers = numbers
        self._followed: dict[int, torch.Tensor] = {}  # momentum that the library knows, by number
        self._on_device = OnDevice(share)

    def before_exchange(self, correct: Callable[[int, Momentum | None], None]) -> None:
        """`correct` tells the session that momentum follows the parameter of a number."""
        away = []
        for parameter, momentum, group in self._corrected():
            if parameter.device.type != "cpu":
                away.append((parameter, momentum, group))
                continue
            number, rate = self._numbers[id(parameter)], float(group["lr"])
            correct(
                number, Momentum(momentum.data_ptr(), rate, float(group["momentum"]), self._share)
            )
            self._followed[number] = momentum
        self._on_device.before_exchange(away)

    def after_exchange(self, likeness: Callable[[], float]) -> None:
        """Corrects momentum on a device; `likeness` is the session's, see Status."""
        self._on_device.after_exchange(likeness)

    def model_replaced(self, correct: Callable[[int, Momentum | None], None]) -> None:
        """The model was replaced by a neighbour's."""
        for number in self._followed:
            correct(number, None)
        self._followed.clear()
        self._on_device = OnDevice(self._share)

    def _corrected(self) -> _Corrected:
        """Parameters that have momentum, in one order in memory, and their groups."""
        for group in self._optimizer.param_groups:
            if group["momentum"] <= 0:
                continue
            for parameter in group["params"]:
                state = self._optimizer.state.get(parameter)
                momentum = state.get("momentum_buffer") if state else None
                if momentum is None or not parameter.requires_grad or parameter.numel() == 0:
                    continue
                if momentum.stride() != parameter.stride():
                    ordered = torch.empty_strided(
                        parameter.shape,
                        parameter.stride(),
                        dtype=momentum.dtype,
                        device=momentum.device,
                    )
                    momentum = state["momentum_buffer"] = ordered.copy_(momentum)
                yield parameter, momentum, group


class OnDevice:
    """The same where parameters are on a device, which a fold does not reach.

    It is the rule of stencil/core/followers.h once more, with a parameter for a block: momentum is
    never made longer than this worker's own gradients can make it. The library's own would need
    momentum on the host and back for each step, twice what a step moves over the bus now. The tests
    hold both to the same numbers.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._corrected: _Corrected = []
        self._known: dict[int, _Known] = {}  # by id of parameter

    def before_exchange(self, corrected: _Corrected) -> None:
        """Keeps the parameters as the step has left them."""
        self._corrected = list(corrected)
        for parameter, _momentum, _group in self._corrected:
            if id(parameter) not in self._known:
                self._known[id(parameter)] = _Known(parameter.detach())
            self._known[id(parameter)].left.copy_(parameter.detach())

    def after_exchange(self, likeness: Callable[[], float]) -> None:
        """Corrects momentum by what the exchange has moved. Waits for no result of the device."""
        like = likeness() if self._corrected else 1.0
        for parameter, momentum, group in self._corrected:
            known = self._known[id(parameter)]
            rate, decay = float(group["lr"]), float(group["momentum"])
            moved = known.left.sub_(parameter.detach())  # the other way round
            often = known.note(moved, rate, decay)
            if rate > _LEAST_CORRECTED_RATE * known.highest:
                known.turn(momentum, moved * (often * (self._share * like / rate)), decay)


class _Known:
    """What is known of one parameter on a device, and of its momentum."""

    def __init__(self, parameter: torch.Tensor) -> None:
        self.left = torch.empty_like(parameter)  # values before the exchange
        self.highest = 0.0  # learning rate
        self._often = torch.ones((), device=parameter.device)
        self._own = torch.zeros((), device=parameter.device)  # see stencil::Follower::Block
        self._length = torch.zeros((), device=parameter.device)

    def note(self, moved: torch.Tensor, rate: float, decay: float) -> torch.Tensor:
        """One more exchange; returns the mean part of the parameter that an exchange moves."""
        self.highest = max(rate, self.highest)
        share = torch.count_nonzero(moved) / moved.numel()
        self._often.mul_(decay).add_(share, alpha=1 - decay)
        return self._often.to(moved.dtype)

    def turn(self, momentum: torch.Tensor, change: torch.Tensor, decay: float) -> None:
        """Adds `change` to the momentum, as far as its bound allows."""
        length = torch.linalg.vector_norm(momentum, dtype=torch.float32)
        self._own.mul_(decay).add_((length - decay * self._length).abs_())
        most = torch.maximum(length, self._own)
        change.add_(momentum)
        longer = torch.linalg.vector_norm(change, dtype=torch.float32)
        finite = torch.isfinite(longer)
        scale = torch.where(longer > most, most / longer, torch.ones_like(most))
        scaled = change.mul_(scale.to(change.dtype))
        momentum.copy_(torch.where(finite, scaled, momentum))
        self._length = torch.where(finite, torch.minimum(longer, most), length)
