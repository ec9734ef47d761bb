"""Sessions over Chainer's links, whose parameters are exchanged in place."""

from __future__ import annotations

from typing import Any

import numpy

from .adapter import Adapter
from .arrays import flat_copies, take
from .errors import ModelError
from .session import Session, begun


class LinkAdapter(Adapter):
    """The parameters of a link, initialised and on the CPU. They become views of one memory; the
    statistics of its layers are saved."""

    def __init__(self, link: Any) -> None:
        self._parameters: dict[str, Any] = {}
        for name, parameter in link.namedparams():
            if not isinstance(parameter.array, numpy.ndarray):
                raise ModelError(
                    f"'{name}' is not initialised, or not on the CPU; compute the link once, or "
                    "move it by to_cpu()"
                )
            self._parameters[name] = parameter
        super().__init__(flat_copies({n: p.array for n, p in self._parameters.items()}))
        statistics = {
            f"{path}/{name}": (part, name)
            for path, part in link.namedlinks()
            for name in part._persistent
            if isinstance(getattr(part, name), numpy.ndarray)
        }
        self.buffers = {key: getattr(*place) for key, place in statistics.items()}
        self._move()

    def _move(self) -> None:
        for name, parameter in self._parameters.items():
            parameter.array = self.parameters[name]

    def before(self, call: str) -> None:
        """Brings parameters home that were replaced."""
        for name, parameter in self._parameters.items():
            if parameter.array is not self.parameters[name]:
                take(name, self.parameters[name], parameter.array)
        self._move()

    def model_replaced(self) -> None:
        """Drops the optimizer's state, which is of another model."""
        for parameter in self._parameters.values():
            if parameter.update_rule is not None:
                parameter.update_rule._state = None


def join(link: Any, **options: Any) -> Session:
    """Opens a session over a link and waits until this worker may begin.

    `options` are those of Session.
    """
    return begun(Session(LinkAdapter(link), **options))
