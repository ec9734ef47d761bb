"""What join() refuses of a PyTorch model's arguments, before anything is opened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from .errors import UsageError


def several(optimizer: Any) -> tuple[torch.optim.Optimizer, ...]:
    """The optimizers that are given. Raises UsageError for what is none, and for one given twice:
    its step would be taken twice, and its state saved twice."""
    if optimizer is None:
        return ()
    given = tuple(optimizer) if isinstance(optimizer, (list, tuple)) else (optimizer,)
    for one in given:
        if not hasattr(one, "param_groups"):
            raise UsageError(
                f"a {type(one).__name__} is no optimizer; give one of torch.optim, or a list of "
                "them"
            )
    demand_once("optimizer", list(enumerate(given)))
    return given


def demand_models_once(model: Any) -> None:
    """Raises UsageError where one of several models is given twice."""
    if isinstance(model, Mapping):
        demand_once("model", list(model.items()))
    elif isinstance(model, (list, tuple)):
        demand_once("model", list(enumerate(model)))


def demand_once(kind: str, named: Iterable[tuple[Any, Any]]) -> None:
    """Raises UsageError where something is given under two names."""
    seen: dict[int, Any] = {}
    for name, one in named:
        first = seen.setdefault(id(one), name)
        if first != name:
            raise UsageError(f"{kind} {name!r} is {kind} {first!r} again; give each once")


def demand_share(name: str, value: Any) -> None:
    """Raises UsageError where `value` is no number from 0 to 1."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        raise UsageError(
            f"{name} is {value!r}; give a share from 0 to 1: 0.5 is the default, 0 means none"
        )


def demand_one_momentum(
    optimizers: Sequence[torch.optim.Optimizer], names: Mapping[int, str]
) -> None:
    """Raises UsageError where a parameter has momentum of SGD in two optimizers: the exchange's
    moves can enter one. `names`: of the parameters, by id."""
    owners: dict[int, int] = {}
    for number, optimizer in enumerate(optimizers):
        if not isinstance(optimizer, torch.optim.SGD):
            continue
        for group in optimizer.param_groups:
            for parameter in group["params"] if group["momentum"] > 0 else ():
                first = owners.setdefault(id(parameter), number)
                if first != number:
                    raise UsageError(
                        f"parameter '{names.get(id(parameter), '')}' is in optimizers {first} and "
                        f"{number}, and has momentum in both; leave it in one, or give "
                        "momentum_correction=0"
                    )
