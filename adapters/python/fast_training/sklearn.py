"""Sessions over scikit-learn's estimators that learn by ``partial_fit``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy

from .arrays import CopiedArrays, checked, packed, unpacked
from .errors import ModelError
from .session import Session, begun

_CLASS_BYTES = 64  # of the name of a class that is no number


class EstimatorAdapter(CopiedArrays):
    """The weights of an estimator that has seen its first ``partial_fit``: ``coef_`` and
    ``intercept_`` (SGDClassifier, SGDRegressor ..), or ``coefs_`` and ``intercepts_``
    (MLPClassifier, MLPRegressor).

    Where one averages its own weights (``SGDClassifier(average=True)``), those that train are
    exchanged, and the averages become the mean over workers at the end. Classes must be those of
    rank 0. Checkpoints hold the optimizer's state, counters of steps and the random generator.
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator
        if not any(hasattr(estimator, name) for name in ("coef_", "coefs_")):
            raise ModelError(
                f"{type(estimator).__name__} has no coef_ and no coefs_; call its partial_fit() "
                "once, on the same examples at every worker, before the session is opened"
            )
        self._trained, self._means = _attributes_of(estimator)
        self._classes = _classes_of(estimator)
        means = {name for name in self._arrays() if name in self._means}
        super().__init__(self._read_all, self._set, self._forget, means, {"classes_"})
        self.owner = estimator

    def after(self, call: str) -> None:
        """Copies the weights back. Raises ModelError where rank 0 has other classes."""
        super().after(call)
        others, mine = self.buffers.get("classes_"), self._classes
        if others is not None and not numpy.array_equal(others, mine):
            found = _shown(others)
            others[...] = mine
            raise ModelError(
                f"'classes_' are {found} at rank 0 or a neighbour and {_shown(mine)} here; give "
                "all classes to the first partial_fit(classes=) of every worker"
            )

    def _arrays(self) -> dict[str, Any]:
        """The estimator's own arrays by name; it may have replaced them since the last call."""
        found: dict[str, Any] = {}
        for name in (*self._trained, *self._means):
            value = getattr(self._estimator, name)
            if isinstance(value, list):
                found.update({f"{name}.{layer}": array for layer, array in enumerate(value)})
            else:
                found[name] = value
        return found

    def _read_all(self) -> dict[str, Any]:
        classes = {} if self._classes is None else {"classes_": self._classes}
        return {**self._arrays(), **classes}

    def _set(self, values: Mapping[str, Any]) -> None:
        for name, array in self._arrays().items():
            if name in values:
                numpy.copyto(array, values[name])
        if self._means:  # of which the estimator may hold other copies, for its predictions
            begun = self._estimator.average <= self._estimator.t_ - 1
            parts = self._means if begun else self._trained
            for shown, part in zip(("coef_", "intercept_"), parts):
                place = getattr(self._estimator, shown)
                numpy.copyto(place, getattr(self._estimator, part).reshape(place.shape))

    def _optimizer(self) -> dict[str, Any]:
        """The attributes of MLPClassifier's or MLPRegressor's optimizer that a step changes."""
        optimizer = getattr(self._estimator, "_optimizer", None)
        changing = ("learning_rate", "t", "velocities", "ms", "vs")
        return {name: getattr(optimizer, name) for name in changing if hasattr(optimizer, name)}

    def _forget(self) -> None:
        for name, value in self._optimizer().items():
            if isinstance(value, list):
                setattr(self._estimator._optimizer, name, [numpy.zeros_like(a) for a in value])
            elif name == "t":
                self._estimator._optimizer.t = 0

    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arrays and plain values that checkpoints hold beside the weights."""
        arrays: dict[str, Any] = {}
        plain: dict[str, Any] = {"t_": getattr(self._estimator, "t_", None)}
        for name, value in self._optimizer().items():
            if isinstance(value, list):
                arrays.update({f"{name}.{layer}": array for layer, array in enumerate(value)})
            else:
                plain[name] = value
        random = getattr(self._estimator, "_random_state", None)
        if isinstance(random, numpy.random.RandomState):
            _, arrays["random"], *plain["random"] = random.get_state()
        return arrays, plain

    def save_state(self) -> bytes:
        """The state of the optimizer, counters and the random generator."""
        arrays, plain = self._state()
        return packed(arrays, **plain)

    def load_state(self, state: bytes) -> None:
        """Takes them over."""
        arrays, plain = unpacked(state)
        arrays = checked(arrays, self._state()[0], "optimizer")
        if plain["t_"] is not None:
            self._estimator.t_ = plain["t_"]
        for name, value in self._optimizer().items():
            if isinstance(value, list):
                kept: Any = [arrays[f"{name}.{layer}"] for layer in range(len(value))]
            else:
                kept = plain[name]
            setattr(self._estimator._optimizer, name, kept)
        if "random" in arrays:
            saved = ("MT19937", arrays["random"], *plain["random"])
            self._estimator._random_state.set_state(saved)


def _attributes_of(estimator: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of what trains, and of the estimator's own averages of that."""
    if getattr(estimator, "average", 0) and getattr(estimator, "_average_coef", None) is not None:
        if hasattr(estimator, "offset_"):
            raise ModelError(
                f"{type(estimator).__name__}(average={estimator.average}) keeps its offset apart "
                "from what is trained; give it average=False"
            )
        return ("_standard_coef", "_standard_intercept"), ("_average_coef", "_average_intercept")
    known = ("coef_", "intercept_", "offset_", "coefs_", "intercepts_")
    return tuple(name for name in known if hasattr(estimator, name)), ()


def _classes_of(estimator: Any) -> Any:
    """The classes as an array that workers can compare, of one shape for one number of classes;
    None for a regressor."""
    classes = getattr(estimator, "classes_", None)
    if classes is None or numpy.asarray(classes).dtype.kind in "biuf":
        return classes
    names = (str(name).encode()[:_CLASS_BYTES].ljust(_CLASS_BYTES) for name in classes)
    return numpy.frombuffer(b"".join(names), numpy.uint8).reshape(-1, _CLASS_BYTES)


def _shown(classes: Any) -> list[Any]:
    if classes.ndim == 2:
        return [bytes(name).decode(errors="replace").strip() for name in classes]
    return list(classes.tolist())


def join(estimator: Any, **options: Any) -> Session:
    """Opens a session over an estimator and waits until this worker may begin.

    `options` are those of Session. The estimator must have seen its first ``partial_fit``, with the
    same classes at every worker.
    """
    return begun(Session(EstimatorAdapter(estimator), **options))
