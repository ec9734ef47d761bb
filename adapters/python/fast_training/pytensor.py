"""Sessions over shared variables of PyTensor, which its updates replace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .arrays import StatefulArrays
from .errors import ModelError
from .session import Session, begun


class SharedAdapter(StatefulArrays):
    """Shared variables by name, or a sequence of them that have names.

    Those for whose name `averaged` is true are running statistics, which become the mean over
    workers at the end; those for whose name `carried` is true are saved, and begin as rank 0's; all
    others are trained.

    `state`: shared variables that are each worker's own and belong in checkpoints, such as
    momentum. Where the model is replaced by a neighbour's, they become what they were when the
    session opened.
    """

    def __init__(
        self,
        shared: Mapping[str, Any] | Iterable[Any],
        state: Mapping[str, Any] | Iterable[Any] = (),
        averaged: Callable[[str], bool] = lambda name: False,
        carried: Callable[[str], bool] = lambda name: False,
    ) -> None:
        self._shared, own = _named(shared), _named(state)
        means = {name for name in self._shared if averaged(name)}
        fixed = {name for name in self._shared if name not in means and carried(name)}
        super().__init__(
            lambda: _values(self._shared),
            lambda values: _set(self._shared, values),
            lambda: _values(own),
            lambda values: _set(own, values),
            means,
            fixed,
        )


def _named(shared: Mapping[str, Any] | Iterable[Any]) -> dict[str, Any]:
    if isinstance(shared, Mapping):
        return dict(shared)
    found: dict[str, Any] = {}
    for number, one in enumerate(shared):
        if not one.name or one.name in found:
            raise ModelError(
                f"shared variable {number} has the name {one.name!r}; give each a name of its own, "
                "or a dictionary"
            )
        found[one.name] = one
    return found


def _values(shared: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one.get_value(borrow=True) for name, one in shared.items()}


def _set(shared: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        shared[name].set_value(value)  # a copy, since not borrowed


def join(
    shared: Mapping[str, Any] | Iterable[Any],
    state: Mapping[str, Any] | Iterable[Any] = (),
    *,
    averaged: Callable[[str], bool] = lambda name: False,
    carried: Callable[[str], bool] = lambda name: False,
    **options: Any,
) -> Session:
    """Opens a session over shared variables and waits until this worker may begin.

    The arguments are SharedAdapter's, and `options` those of Session.
    """
    return begun(Session(SharedAdapter(shared, state, averaged, carried), **options))
