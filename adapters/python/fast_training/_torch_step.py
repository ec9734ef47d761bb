"""A step of an optimizer with something put around it, for as long as a session lasts."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import torch

_Step = Callable[..., Any]


class StepAround:
    """Puts `around(step, *arguments)` in the place of ``optimizer.step(*arguments)``, until
    leave().

    It is a method of the optimizer, as schedules of the learning rate expect it.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, around: Callable[..., Any]) -> None:
        self._optimizer = optimizer
        self._before: _Step | None = vars(optimizer).get("step")  # None: the class's own
        self._left = False
        step = optimizer.step

        def mine(_self: torch.optim.Optimizer, *arguments: Any, **named: Any) -> Any:
            if self._left:  # and a schedule, say, has put its own step around this one
                return step(*arguments, **named)
            return around(step, *arguments, **named)

        mine.__dict__.update(vars(step))  # by which schedules know that they have seen it
        self._mine = types.MethodType(mine, optimizer)
        setattr(optimizer, "step", self._mine)

    def leave(self) -> None:
        """Gives back the step that was there before."""
        self._left = True
        if vars(self._optimizer).get("step") is not self._mine:
            return
        if self._before is None:
            del self._optimizer.__dict__["step"]
        else:
            setattr(self._optimizer, "step", self._before)


def before_step(optimizer: torch.optim.Optimizer, call: Callable[[], None]) -> Callable[[], None]:
    """Has `call` called before each ``optimizer.step()``, until what it returns is called."""

    def hook(_optimizer: torch.optim.Optimizer, _arguments: Any, _named: Any) -> None:
        call()

    try:
        handle: Any = optimizer.register_step_pre_hook(hook)
    except AttributeError:  # before PyTorch 2.0, and of wrappers that are no whole optimizer
        pass
    else:
        return lambda: handle.remove()

    def around(step: _Step, *arguments: Any, **named: Any) -> Any:
        call()
        return step(*arguments, **named)

    return StepAround(optimizer, around).leave
