"""Sessions over layers of PaddlePaddle, whose parameters are copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import paddle

from .arrays import CopiedArrays, checked, packed, unpacked
from .errors import ModelError
from .session import Session, begun

_HALVES = (paddle.float16, paddle.bfloat16)


class LayerAdapter(CopiedArrays):
    """The parameters and persistent buffers of a paddle.nn.Layer, by their names in its
    state_dict(); what is shared comes once.

    Trainable parameters are trained, statistics of BatchNorm are averaged at the end, unless they
    are used as they are (``use_global_stats``), and all else is carried.

    `optimizer`: its state, such as momentum, and that of its schedule are in checkpoints. Where the
    model is replaced by a neighbour's, it begins anew; the schedule goes on. One that keeps copies
    of weights (``multi_precision`` over halves) is refused: they would undo the exchange.
    """

    def __init__(self, layer: Any, optimizer: Any = None) -> None:
        self._optimizer = optimizer
        rate = getattr(optimizer, "_learning_rate", None)
        self._schedule: Any = rate if hasattr(rate, "set_state_dict") else None
        self._tensors = _distinct(layer.state_dict())
        trained = {id(one) for one in layer.parameters() if not one.stop_gradient}
        statistics = {
            id(getattr(inner, name))
            for inner in layer.sublayers(include_self=True)
            for name in ("_mean", "_variance")
            if hasattr(inner, name) and not getattr(inner, "_use_global_stats", None)
        }
        kinds = {
            name: "trained" if id(one) in trained else "averaged" if id(one) in statistics else ""
            for name, one in self._tensors.items()
        }
        self._trained = {self._tensors[n].name: n for n, kind in kinds.items() if kind == "trained"}
        masters = getattr(optimizer, "_multi_precision", False)
        halves = [n for n in self._trained.values() if self._tensors[n].dtype in _HALVES]
        if masters and halves:
            raise ModelError(
                f"the optimizer keeps a copy of '{halves[0]}' in float32, which neighbours cannot "
                "move; give it multi_precision=False, or parameters in float32"
            )
        super().__init__(
            lambda: _values(self._tensors),
            lambda values: _set(self._tensors, values),
            self._forget,
            {name for name, kind in kinds.items() if kind == "averaged"},
            {name for name, kind in kinds.items() if not kind},
        )
        self.owner = layer

    def _states(self) -> dict[str, Any]:
        """The optimizer's own tensors, by their kind and the parameter that they belong to. Paddle
        calls them by numbers that differ from one optimizer to the next."""
        found = getattr(self._optimizer, "_accumulators", {})
        return {
            f"{kind} of {self._trained[parameter]}": tensor
            for kind, tensors in found.items()
            for parameter, tensor in tensors.items()
            if parameter in self._trained
        }

    def save_state(self) -> bytes:
        """The state of the optimizer and of its schedule."""
        rates = self._schedule.state_dict() if self._schedule is not None else {}
        plain = {k: v for k, v in rates.items() if isinstance(v, (bool, int, float, str))}
        return packed(_values(self._states()), schedule=plain)

    def load_state(self, state: bytes) -> None:
        """Takes it over."""
        arrays, plain = unpacked(state)
        if arrays and not self._states() and self._optimizer is not None:
            block = paddle.static.default_main_program().global_block()
            own = [one for one in self._tensors.values() if one.name in self._trained]
            with paddle.no_grad():
                self._optimizer._create_accumulators(block, own)
        _set(self._states(), checked(arrays, _values(self._states()), "optimizer"))
        if plain.get("schedule") and self._schedule is not None:
            self._schedule.set_state_dict(plain["schedule"])

    def _forget(self) -> None:
        """Paddle makes an optimizer's state where there is none, at its next step."""
        if self._optimizer is not None:
            self._optimizer._accumulators.clear()
            self._optimizer._already_create_accumulator.clear()


def _distinct(tensors: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[int, tuple[str, Any]] = {}
    for name, tensor in tensors.items():
        found.setdefault(id(tensor), (name, tensor))
    return dict(found.values())


def _values(tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tensor.numpy() for name, tensor in tensors.items()}


def _set(tensors: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        tensors[name].set_value(value.copy())


def join(layer: Any, optimizer: Any = None, **options: Any) -> Session:
    """Opens a session over a layer and waits until this worker may begin.

    The arguments are LayerAdapter's, and `options` those of Session.
    """
    return begun(Session(LayerAdapter(layer, optimizer), **options))
