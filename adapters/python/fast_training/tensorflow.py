"""Sessions over variables of TensorFlow: for training loops of one's own. Keras's fit() has
fast_training.keras."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .arrays import StatefulArrays
from .session import Session, begun


class VariablesAdapter(StatefulArrays):
    """The variables of a tf.Module, a Keras model, or a sequence of variables.

    Trainable ones are trained. Of the others, those for whose name, such as "3.moving_mean",
    `averaged` is true are running statistics, which become the mean over workers at the end; the
    rest is carried. Names are those of the variables after their number.

    `state`: variables that are each worker's own and belong in checkpoints, such as
    ``optimizer.variables`` once ``optimizer.build()`` was called. Where the model is replaced by a
    neighbour's, they become what they were when the session opened, but for a "learning_rate".
    """

    def __init__(
        self,
        model: Any,
        state: Iterable[Any] = (),
        averaged: Callable[[str], bool] = lambda name: False,
    ) -> None:
        self._variables = _named(getattr(model, "variables", model))
        own = _named(state)
        fixed = {name for name, variable in self._variables.items() if not variable.trainable}
        means = {name for name in fixed if averaged(name)}
        super().__init__(
            lambda: _values(self._variables),
            lambda values: _assign(self._variables, values),
            lambda: _values(own),
            lambda values: _assign(own, values),
            means,
            fixed - means,
        )
        rates = [name for name in self._first if name.endswith("learning_rate")]
        for name in rates:
            del self._first[name]
        self.owner = model


def _named(variables: Iterable[Any]) -> dict[str, Any]:
    return {f"{n}.{v.name.split(':')[0]}": v for n, v in enumerate(variables)}


def _values(variables: Mapping[str, Any]) -> dict[str, Any]:
    return {name: variable.numpy() for name, variable in variables.items()}


def _assign(variables: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        variables[name].assign(value)


def join(
    model: Any,
    state: Iterable[Any] = (),
    *,
    averaged: Callable[[str], bool] = lambda name: False,
    **options: Any,
) -> Session:
    """Opens a session over variables and waits until this worker may begin.

    The arguments are VariablesAdapter's, and `options` those of Session.
    """
    return begun(Session(VariablesAdapter(model, state, averaged), **options))
