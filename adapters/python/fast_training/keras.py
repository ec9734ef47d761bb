"""A callback for Keras 3, on each of its backends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import keras

from .arrays import CopiedArrays
from .errors import UsageError
from .session import Session, begun


class KerasAdapter(CopiedArrays):
    """The trainable variables of a built model, on each of Keras's backends."""

    def __init__(self, model: keras.Model) -> None:
        if not model.built:
            raise UsageError("the model is not built; call build() or give it an Input first")
        self._model = model
        super().__init__(self._arrays, self._set)

    def _arrays(self) -> dict[str, Any]:
        return {
            f"{number}.{variable.name}": keras.ops.convert_to_numpy(variable)
            for number, variable in enumerate(self._model.trainable_variables)
        }

    def _set(self, values: Mapping[str, Any]) -> None:
        for variable, value in zip(self._model.trainable_variables, values.values()):
            variable.assign(value.copy())


class FastCallback(keras.callbacks.Callback):  # type: ignore[misc,unused-ignore]
    """Makes ``model.fit()`` a worker: ``model.fit(x, y, callbacks=[FastCallback(32, ...)])``.

    `batch_size`: examples of a step. `options` are those of Session; where the budget is used,
    training stops. All workers begin with the weights of rank 0.
    """

    def __init__(self, batch_size: int, **options: Any) -> None:
        super().__init__()
        self._batch_size = batch_size
        self._options = options
        #: The session, from the beginning of training on; closed at its end.
        self.session: Session | None = None

    def on_train_begin(self, logs: Mapping[str, float] | None = None) -> None:
        """Opens the session and waits until this worker may begin."""
        self.session = begun(Session(KerasAdapter(self.model), **self._options))

    def on_train_batch_end(self, batch: int, logs: Mapping[str, float] | None = None) -> None:
        """The step boundary."""
        assert self.session is not None
        if keras.backend.backend() == "jax":  # whose variables are elsewhere within fit()
            self.model.jax_state_sync()
        self.session.exchange(self._batch_size, float((logs or {}).get("loss", 0.0)))
        if self.session.done():
            self.model.stop_training = True

    def on_train_end(self, logs: Mapping[str, float] | None = None) -> None:
        """Agrees with the neighbours on one model."""
        if self.session is not None:
            with self.session:
                pass
