"""A callback for Keras 3, on each of its backends."""

from __future__ import annotations

import functools
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras

from ._callbacks import demand_version, shared, stopped_early, with_end, with_means
from .arrays import CopiedArrays, checked, packed, unpacked
from .errors import ModelError, UsageError
from .session import Session, begun

demand_version(keras, (3, 0))

_LOGGER = logging.getLogger("fast_training")


class KerasAdapter(CopiedArrays):
    """The weights of a built model, by their number in get_weights() and their name.

    Trainable ones are trained; moving statistics of BatchNormalization layers are averaged at the
    end, unless their layer is frozen; all others are carried. States of random generators are none
    of them, and stay each worker's own. Checkpoints hold those and the state of the optimizer that
    the model was compiled with, which begins anew where the model is replaced.
    """

    def __init__(self, model: keras.Model) -> None:
        if not model.built:
            raise UsageError("the model is not built; call build() or give it an Input first")
        self._model = model
        statistics = {
            id(variable)
            for layer in model._flatten_layers()
            if isinstance(layer, keras.layers.BatchNormalization) and layer.trainable
            for variable in (layer.moving_mean, layer.moving_variance)
        }
        self._trained = self._trainable()
        weights = self._weights()
        averaged = {name for name, weight in weights.items() if id(weight) in statistics}
        super().__init__(
            self._arrays, self._set, self._forget, averaged, set(weights) - averaged - self._trained
        )
        self.owner = model

    def before(self, call: str) -> None:
        """Copies the model's values to the arrays."""
        changed = sorted(self._trained ^ self._trainable())
        if changed:
            raise ModelError(
                f"'{changed[0]}' was frozen or unfrozen since the session was opened; leave it as "
                "it is, or open another session"
            )
        super().before(call)

    def _weights(self) -> dict[str, Any]:
        return {f"{n}.{weight.name}": weight for n, weight in enumerate(self._model.weights)}

    def _trainable(self) -> set[str]:
        trained = {id(weight) for weight in self._model.trainable_weights}
        return {name for name, weight in self._weights().items() if id(weight) in trained}

    def _arrays(self) -> dict[str, Any]:
        return _values(self._weights())

    def _set(self, values: Mapping[str, Any]) -> None:
        weights = self._weights()
        for name, value in values.items():
            weights[name].assign(value.copy())

    def _optimizer(self) -> Any:
        """The model's optimizer, where it has one that has a state."""
        optimizer = getattr(self._model, "optimizer", None)
        return optimizer if getattr(optimizer, "built", False) else None

    def _states(self) -> dict[str, Any]:
        """Variables that only checkpoints hold: the optimizer's, and those of random generators."""
        weights = {id(weight) for weight in self._model.weights}
        optimizer = self._optimizer()
        found = {} if optimizer is None else {f"{n}": v for n, v in enumerate(optimizer.variables)}
        seeds = (v for v in self._model.variables if id(v) not in weights)
        return {**found, **{f"seed {n}": variable for n, variable in enumerate(seeds)}}

    def save_state(self) -> bytes:
        """The state of the optimizer and of random generators."""
        return packed(_values(self._states()), optimizer=self._optimizer() is not None)

    def load_state(self, state: bytes) -> None:
        """Takes them over."""
        arrays, plain = unpacked(state)
        if plain["optimizer"] and self._optimizer() is None and self._model.optimizer is not None:
            self._model.optimizer.build(self._model.trainable_variables)
        variables = self._states()
        for name, value in checked(arrays, _values(variables), "optimizer").items():
            variables[name].assign(value)

    def _forget(self) -> None:
        """Gives the optimizer the state of one that has made no step; a schedule goes on."""
        optimizer = self._optimizer()
        if optimizer is None:
            return
        fresh = type(optimizer).from_config(optimizer.get_config())
        fresh.build(self._model.trainable_variables)
        scheduled = not isinstance(optimizer._learning_rate, keras.Variable)
        stays = [optimizer._iterations] if scheduled else [optimizer._learning_rate]
        for variable, initial in zip(optimizer.variables, fresh.variables):
            if not any(variable is one for one in stays):
                variable.assign(initial)
        if optimizer.use_ema:
            averages = optimizer._model_variables_moving_average
            for average, variable in zip(averages, self._model.trainable_variables):
                average.assign(variable)


def _values(variables: Mapping[str, Any]) -> dict[str, Any]:
    return {name: keras.ops.convert_to_numpy(variable) for name, variable in variables.items()}


class FastCallback(keras.callbacks.Callback):  # type: ignore[misc,unused-ignore]
    """Makes ``model.fit()`` a worker: ``model.fit(x, y, callbacks=[FastCallback(...)])``.

    `options` are those of Session; where the budget is used, training stops. Without ``budget`` or
    ``epochs`` all workers together make as many passes over the data as fit() is told, where
    `batch_size`, the examples of a batch, is given here too. All workers begin with the weights of
    rank 0. Examples are counted as the model's loss counts them; `batch_size` is also for a
    train_step() that does not update it. `learning_rate` gives the rate by the share of the budget
    that all workers have used, from 0 to 1: Keras's own schedules count this worker's steps alone.

    The epochs are shared out: of fit()'s 4 among 2 workers each makes about 2. ``network_progress``
    is the share of the run that all have made, 1 at the end.

    Where one worker stops early, all do. For callbacks after this one, ``network_loss`` is the mean
    of the training loss over all workers at the end of an epoch. `monitor` names other logs, such
    as "val_loss", of which all workers read the same mean as ``network_val_loss``: that of an epoch
    before, since word takes some steps; at first it is this worker's own. So
    ``EarlyStopping("network_val_loss", mode="min", restore_best_weights=True)`` decides alike at
    all.

    Workers agree on one model when all callbacks have had their on_train_end(), so that weights
    which one puts back there count. Save the model after fit().
    """

    def __init__(
        self,
        batch_size: int | None = None,
        learning_rate: Callable[[float], float] | None = None,
        monitor: str | Sequence[str] = (),
        **options: Any,
    ) -> None:
        super().__init__()
        self._monitor = monitor
        self._batch_size = batch_size
        self._rate = learning_rate
        self._options = with_means(options, monitor)
        self._seen = (0, 0.0)  # of this epoch: examples, and their losses
        self._batch = -1  # the last one
        #: The session, from the beginning of training on; closed at its end.
        self.session: Session | None = None

    def on_train_begin(self, logs: Mapping[str, float] | None = None) -> None:
        """Opens the session and waits until this worker may begin."""
        options = with_end(self._options, self._examples())
        self.session = begun(Session(KerasAdapter(self.model), **options))
        schedule = getattr(self.model.optimizer, "_learning_rate", None)
        if isinstance(schedule, keras.optimizers.schedules.LearningRateSchedule):
            _LOGGER.warning(
                "%s counts this worker's steps, while training ends by what all have done; give "
                "FastCallback(learning_rate=) a function of the share that is done",
                type(schedule).__name__,
            )
        self._set_rate()

    def _examples(self) -> float:
        """Those of all steps that fit() would make by itself; infinite where it does not tell."""
        steps, epochs = self.params.get("steps"), self.params.get("epochs")
        if None in (steps, epochs, self._batch_size):
            return math.inf
        return float(epochs * steps * self._batch_size)

    def on_epoch_begin(self, epoch: int, logs: Mapping[str, float] | None = None) -> None:
        """Keras counts batches, examples and losses from 0 in each epoch."""
        self._seen, self._batch = (0, 0.0), -1

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        """What callbacks after this one may go by."""
        assert self.session is not None
        if logs is not None:
            logs["network_loss"] = self.session.loss()
            logs["network_progress"] = self.session.progress()
            means = shared(self.session, self._monitor, logs)
            logs.update({f"network_{name}": mean for name, mean in means.items()})

    def on_train_batch_end(self, batch: int, logs: Mapping[str, float] | None = None) -> None:
        """The step boundary."""
        assert self.session is not None
        if keras.backend.backend() == "jax":  # whose variables are elsewhere within fit()
            self.model.jax_state_sync()
        self.session.exchange(*self._made(batch, logs or {}))
        self._set_rate()
        if self.session.done():
            self.model.stop_training = True

    def _made(self, batch: int, logs: Mapping[str, float]) -> tuple[int, float]:
        """Examples since the last step boundary, and the mean of their loss."""
        steps, self._batch = batch - self._batch, batch
        tracker = getattr(self.model, "_loss_tracker", None)
        if tracker is not None:
            before, self._seen = self._seen, (int(tracker.count), float(tracker.total))
            samples = self._seen[0] - before[0]
            if samples > 0:
                return samples, (self._seen[1] - before[1]) / samples
        if self._batch_size is None:
            raise UsageError(
                "the model's train_step() does not update Keras's loss, which counts examples; "
                "give FastCallback(batch_size=)"
            )
        return steps * self._batch_size, float(logs.get("loss", 0.0))

    def _set_rate(self) -> None:
        if self._rate is not None:
            assert self.session is not None
            self.model.optimizer.learning_rate = self._rate(self.session.progress())

    def on_train_end(self, logs: Mapping[str, float] | None = None) -> None:
        """Agrees with the neighbours on one model, after all callbacks."""
        if self.session is None:
            return
        if self.model.stop_training:
            stopped_early(self.session)
        # The callback that fit() itself adds at the end.
        last = getattr(self.model, "history", None)
        if isinstance(last, keras.callbacks.Callback):
            last.on_train_end = functools.partial(_agree, self.session, last)
        else:
            _agree(self.session)


def _agree(session: Session, last: Any = None, logs: Any = None) -> None:
    """Called when all callbacks have had their on_train_end()."""
    if last is not None:
        del last.on_train_end
    with session:
        pass
