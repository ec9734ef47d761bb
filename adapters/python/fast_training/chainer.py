"""Sessions over Chainer's links, whose parameters are exchanged in place."""

from __future__ import annotations

from typing import Any

import numpy

from .adapter import Adapter
from .arrays import flat_copies, packed, take, unpacked
from .errors import ModelError
from .session import Session, begun

_STATISTICS = ("avg_mean", "avg_var")


class LinkAdapter(Adapter):
    """The parameters of a link, initialised and on the CPU. They become views of one memory.

    Statistics of BatchNormalization are averaged at the end; parameters that are not updated, and
    other persistent arrays, are carried. The state of an optimizer that was set up before is in
    checkpoints, and begins anew where the model is replaced.
    """

    def __init__(self, link: Any) -> None:
        self._parameters: dict[str, Any] = {}
        for name, parameter in link.namedparams():
            if not isinstance(parameter.array, numpy.ndarray):
                raise ModelError(
                    f"'{name}' is not initialised, or not on the CPU; compute the link once, or "
                    "move it by to_cpu()"
                )
            self._parameters[name] = parameter
        arrays = {name: parameter.array for name, parameter in self._parameters.items()}
        trained = {name for name, parameter in self._parameters.items() if _is_trained(parameter)}
        parameters = flat_copies({n: a for n, a in arrays.items() if n in trained})
        self._frozen = flat_copies({n: a for n, a in arrays.items() if n not in trained})
        self._homes = {**parameters, **self._frozen}
        self._persistent = {
            f"{path}/{name}": (part, name)
            for path, part in link.namedlinks()
            for name in part._persistent
            if isinstance(getattr(part, name), numpy.ndarray)
        }
        super().__init__(parameters)
        self.owner = link
        self._look()
        self._move()

    def _look(self) -> None:
        """Finds the persistent arrays where they are now."""
        found = {key: getattr(*place) for key, place in self._persistent.items()}
        means = {n: a for n, a in found.items() if n.rpartition("/")[2] in _STATISTICS}
        self.averaged = means
        self.buffers = {**self._frozen, **{n: a for n, a in found.items() if n not in means}}

    def _move(self) -> None:
        for name, parameter in self._parameters.items():
            parameter.array = self._homes[name]

    def before(self, call: str) -> None:
        """Brings parameters home that were replaced."""
        for name, parameter in self._parameters.items():
            if parameter.array is not self._homes[name]:
                take(name, self._homes[name], parameter.array)
        self._move()
        self._look()

    def model_replaced(self) -> None:
        """Drops the optimizer's state, which is of another model."""
        for rule in self._rules().values():
            rule._state, rule.t = None, 0

    def save_state(self) -> bytes:
        """The state of the optimizer."""
        rules = self._rules()
        arrays = {
            f"{name} {key}": array
            for name, rule in rules.items()
            for key, array in (rule.state or {}).items()
        }
        return packed(arrays, steps={name: rule.t for name, rule in rules.items()})

    def load_state(self, state: bytes) -> None:
        """Takes it over."""
        arrays, plain = unpacked(state)
        for name, rule in self._rules().items():
            own = {k[len(name) + 1 :]: a for k, a in arrays.items() if k.startswith(f"{name} ")}
            rule._state, rule.t = own or None, plain["steps"].get(name, 0)

    def _rules(self) -> dict[str, Any]:
        """What an optimizer has attached to parameters, by their names."""
        rules = {name: parameter.update_rule for name, parameter in self._parameters.items()}
        return {name: rule for name, rule in rules.items() if rule is not None}


def _is_trained(parameter: Any) -> bool:
    return bool(getattr(parameter.update_rule, "enabled", True))


def join(link: Any, **options: Any) -> Session:
    """Opens a session over a link and waits until this worker may begin.

    `options` are those of Session.
    """
    return begun(Session(LinkAdapter(link), **options))
