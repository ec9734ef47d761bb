"""Sessions over scikit-learn's estimators that learn by ``partial_fit``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy

from .arrays import CopiedArrays
from .errors import ModelError
from .session import Session, begun


class EstimatorAdapter(CopiedArrays):
    """The weights of an estimator that has seen its first ``partial_fit``: ``coef_`` and
    ``intercept_`` (SGDClassifier, SGDRegressor ..), or ``coefs_`` and ``intercepts_``
    (MLPClassifier, MLPRegressor)."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator
        if not any(hasattr(estimator, name) for name in ("coef_", "coefs_")):
            raise ModelError(
                f"{type(estimator).__name__} has no coef_ and no coefs_; call its partial_fit() "
                "once, on the same examples at every worker, before the session is opened"
            )
        super().__init__(self._arrays, self._set)

    def _arrays(self) -> dict[str, Any]:
        """The estimator's own arrays by name; it may have replaced them since the last call."""
        found: dict[str, Any] = {}
        for name in ("coef_", "intercept_"):
            if hasattr(self._estimator, name):
                found[name] = getattr(self._estimator, name)
        for name in ("coefs_", "intercepts_"):
            for layer, array in enumerate(getattr(self._estimator, name, ())):
                found[f"{name}.{layer}"] = array
        return found

    def _set(self, values: Mapping[str, Any]) -> None:
        for name, array in self._arrays().items():
            numpy.copyto(array, values[name])


def join(estimator: Any, **options: Any) -> Session:
    """Opens a session over an estimator and waits until this worker may begin.

    `options` are those of Session. The estimator must have seen its first ``partial_fit``, on the
    same examples at every worker, so that all begin with equal weights.
    """
    return begun(Session(EstimatorAdapter(estimator), **options))
