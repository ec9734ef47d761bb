"""Learning rates by the share of the budget that all workers have used.

A schedule that counts steps is wrong where workers are of unlike speed: training ends when all
together have used the budget, when a quick worker has made more steps than planned, and a slow one
fewer. ``session.progress()`` is the same everywhere, but for the time that news takes.

A shape is a function of that share, from 0 to 1, whose result multiplies the rate: cosine(),
linear(), steps(), or one of your own. by_progress() makes a scheduler of PyTorch of it, follow()
drives one that there is; elsewhere the rate is ``rate * shape(session.progress())``.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .errors import UsageError

if TYPE_CHECKING:
    import torch

    from .session import Session

__all__ = ["Shape", "by_progress", "cosine", "follow", "linear", "steps"]

Shape = Callable[[float], float]


def cosine(warmup: float = 0.0, end: float = 0.0) -> Shape:
    """From 1 to `end` by half a wave of a cosine, after a rise from 0 to 1 in the share `warmup` of
    the budget."""
    return _warmed(warmup, lambda share: end + (1 - end) * (1 + math.cos(math.pi * share)) / 2)


def linear(warmup: float = 0.0, end: float = 0.0) -> Shape:
    """The same in straight lines."""
    return _warmed(warmup, lambda share: 1 - (1 - end) * share)


def steps(factors: Mapping[float, float], warmup: float = 0.0) -> Shape:
    """1, and from each share of the budget on what `factors` gives for that: ``{0.5: 0.1, 0.75:
    0.01}``. In the share `warmup` of the budget it rises from 0."""
    shares = sorted(factors)
    if not all(0 <= share <= 1 for share in shares):
        raise UsageError(f"steps at {shares}; give shares of the budget, from 0 to 1")
    _demand_warmup(warmup)
    found = [1.0, *(factors[share] for share in shares)]

    def shape(share: float) -> float:
        risen = min(share / warmup, 1.0) if warmup > 0 else 1.0
        return risen * found[bisect.bisect_right(shares, share)]

    return shape


def _demand_warmup(warmup: float) -> None:
    if not 0 <= warmup < 1:
        raise UsageError(f"warmup is {warmup}; give a share of the budget, from 0 to below 1")


def _warmed(warmup: float, shape: Shape) -> Shape:
    _demand_warmup(warmup)

    def warmed(share: float) -> float:
        if share < warmup:
            return share / warmup
        return shape(min((share - warmup) / (1 - warmup), 1.0))

    return warmed


def by_progress(
    optimizer: torch.optim.Optimizer, session: Session, shape: Shape | None = None
) -> torch.optim.lr_scheduler.LambdaLR:
    """A scheduler of PyTorch by which the rates of `optimizer` follow `shape` (cosine()).

    Call its step() after each step, or as often as you like. A checkpoint need not keep it: where
    the session resumes, progress goes on, and the optimizer's state holds the first rates.

    Raises UsageError where the session has no end.
    """
    import torch

    _demand_end(session)
    form = cosine() if shape is None else shape
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: form(session.progress()))


def follow(scheduler: Any, session: Session, steps: float) -> Any:
    """From now on ``scheduler.step()``, which the loop goes on to call, brings `scheduler`, any of
    PyTorch, to where all workers are: to step `steps` when the budget is used. Those are the steps
    that it was made for, such as T_max, or the last milestone and some. Returns `scheduler`.

    Make it before join(), which a checkpoint then holds: ``stateful={"schedule": scheduler}``. One
    that looks at a loss instead of counting steps (ReduceLROnPlateau) stays as it is. Raises
    UsageError where the session has no end, and where it goes on from a checkpoint without the
    scheduler: its rates, which the optimizer holds, would be scaled once more.
    """
    _demand_end(session)
    if not 0 < steps < math.inf:
        raise UsageError(
            f"steps is {steps}; give those that the schedule was made for, such as T_max"
        )
    if session.steps() > 0 and session.progress() * steps >= 2 and _is_new(scheduler):
        raise UsageError(
            "the session goes on from a checkpoint that does not hold this scheduler; it would "
            "scale rates that are scaled already: give join() stateful={'schedule': scheduler}, "
            "and make it before"
        )
    follow_position(scheduler, lambda: session.progress() * steps)
    return scheduler


def follow_position(scheduler: Any, position: Callable[[], float]) -> None:
    """Lets a scheduler of PyTorch count `position` instead of calls of its step()."""
    import torch

    if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
        return
    kind = type(scheduler)

    class Following(kind):  # type: ignore[misc,valid-type]
        def step(self, *arguments: Any, **others: Any) -> None:
            target = position()
            while _steps_of(self) + 1 <= target:
                super().step()

    Following.__name__, Following.__qualname__ = kind.__name__, kind.__qualname__
    scheduler.__class__ = Following  # an attribute of its own would be in its state_dict()


def _is_new(scheduler: Any) -> bool:
    import torch

    counts = not isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau)
    return counts and _steps_of(scheduler) == 0


def _steps_of(scheduler: Any) -> int:
    while not hasattr(scheduler, "last_epoch"):  # ChainedScheduler
        scheduler = scheduler._schedulers[0]
    return int(scheduler.last_epoch)


def _demand_end(session: Session) -> None:
    options = session.options()
    if float(options["budget"][0]) <= 0 and float(options["epochs"][0]) <= 0:
        raise UsageError(
            "the session has no end, of which progress() could be a share; give it budget=, the "
            "samples over all workers after which training is over"
        )
