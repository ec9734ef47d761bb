"""Sessions over Gluon's blocks of MXNet, whose parameters are exchanged in place."""

from __future__ import annotations

from typing import Any

import mxnet

from .adapter import Adapter
from .arrays import flat_copies, take
from .errors import ModelError
from .session import Session, begun


class BlockAdapter(Adapter):
    """The parameters of an initialised block on the CPU. They become views of one memory, which
    Gluon's Trainer then moves; those without a gradient, such as statistics, are saved.

    `trainer`: its state, such as momentum, begins anew where the model is replaced.
    """

    def __init__(self, block: Any, trainer: Any = None) -> None:
        self._trainer = trainer
        self._places: dict[str, Any] = {}
        for name, parameter in block._collect_params_with_prefix().items():
            if parameter._data is None or parameter.list_ctx() != [mxnet.cpu()]:
                raise ModelError(
                    f"'{name}' is not initialised, or not on the CPU alone; compute the block once "
                    "on mxnet.cpu(), or copy parameters with arrays.CopiedArrays"
                )
            if not any(parameter is known for known in self._places.values()):
                self._places[name] = parameter
        trained = {n for n, parameter in self._places.items() if parameter.grad_req != "null"}
        arrays = {n: parameter.data().asnumpy() for n, parameter in self._places.items()}
        super().__init__(
            flat_copies({n: array for n, array in arrays.items() if n in trained}),
            flat_copies({n: array for n, array in arrays.items() if n not in trained}),
        )
        self._homes = {**self.parameters, **self.buffers}
        self._views = {name: self._move(name) for name in self._places}

    def _move(self, name: str) -> Any:
        """Makes a parameter a view of its home, with a gradient that is attached to that."""
        parameter = self._places[name]
        view = self._homes[name].view()  # which MXNet will make read-only for NumPy
        parameter._data = [mxnet.nd.from_numpy(view, zero_copy=True)]
        if parameter.grad_req != "null":
            parameter._init_grad()
        return parameter._data[0]

    def before(self, call: str) -> None:
        """Waits for MXNet's own threads, and brings parameters home that were replaced."""
        mxnet.nd.waitall()
        for name, parameter in self._places.items():
            if parameter.data() is not self._views[name]:
                take(name, self._homes[name], parameter.data().asnumpy())
                self._views[name] = self._move(name)

    def model_replaced(self) -> None:
        """Drops the trainer's state, which is of another model."""
        for updater in getattr(self._trainer, "_updaters", ()):
            updater.states.clear()


def join(block: Any, trainer: Any = None, **options: Any) -> Session:
    """Opens a session over a block and waits until this worker may begin.

    The arguments are BlockAdapter's, and `options` those of Session.
    """
    return begun(Session(BlockAdapter(block, trainer), **options))
