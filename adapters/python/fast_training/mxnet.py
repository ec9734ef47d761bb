"""Sessions over Gluon's blocks of MXNet, whose parameters are exchanged in place."""

from __future__ import annotations

from typing import Any

import mxnet

from .adapter import Adapter
from .arrays import checked, flat_copies, packed, take, unpacked
from .errors import ModelError
from .session import Session, begun


class BlockAdapter(Adapter):
    """The parameters of an initialised block on the CPU. They become views of one memory, which
    Gluon's Trainer then moves. Of those without a gradient the moving statistics of BatchNorm are
    averaged at the end, the others, frozen ones say, carried.

    `trainer`: its state, such as momentum, is in checkpoints, and begins anew where the model is
    replaced; its schedule goes on.
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
        roles: tuple[dict[str, Any], dict[str, Any], dict[str, Any]] = ({}, {}, {})
        for name, parameter in self._places.items():
            statistics = name.rpartition(".")[2] in ("running_mean", "running_var")
            role = 0 if parameter.grad_req != "null" else 1 if statistics else 2
            roles[role][name] = parameter.data().asnumpy()
        trained, averaged, carried = map(flat_copies, roles)
        super().__init__(trained, carried, averaged)
        self.owner = block
        self._homes = {**trained, **averaged, **carried}
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
        for updater in self._updaters():
            updater.states.clear()
            updater.optimizer._index_update_count.clear()

    def save_state(self) -> bytes:
        """The state of the trainer."""
        arrays: dict[str, Any] = {}
        plain: dict[str, Any] = {}
        for updater in self._updaters():
            arrays = {name: one.asnumpy() for name, one in _slots(updater.states).items()}
            counts = updater.optimizer._index_update_count
            plain = {"states": list(updater.states), "counts": list(counts.items())}
            plain["updates"] = updater.optimizer.num_update
        return packed(arrays, **plain)

    def load_state(self, state: bytes) -> None:
        """Takes it over."""
        arrays, plain = unpacked(state)
        for updater in self._updaters():
            weights, create = self._trainer._params, updater.optimizer.create_state_multi_precision
            for index in plain.get("states", ()):
                updater.states[index] = create(index, weights[index].data())
                updater.states_synced[index] = True
            slots = _slots(updater.states)
            present = {name: one.asnumpy() for name, one in slots.items()}
            for name, array in checked(arrays, present, "trainer").items():
                slots[name][:] = array
            updater.optimizer._index_update_count.update(dict(plain.get("counts", ())))
            updater.optimizer.num_update = plain.get("updates", updater.optimizer.num_update)

    def _updaters(self) -> list[Any]:
        """The trainer's one updater, of the CPU; none without a trainer."""
        return list(getattr(self._trainer, "_updaters", ()))[:1]


def _slots(states: dict[int, Any]) -> dict[str, Any]:
    """The arrays of an updater's states by name; a state is an array, None or a tuple of states."""
    found = {}
    for index, state in states.items():
        if isinstance(state, (tuple, list)):
            inner = _slots(dict(enumerate(state)))
            found.update({f"{index}.{name}": array for name, array in inner.items()})
        elif state is not None:
            found[f"{index}"] = state
    return found


def join(block: Any, trainer: Any = None, **options: Any) -> Session:
    """Opens a session over a block and waits until this worker may begin.

    The arguments are BlockAdapter's, and `options` those of Session.
    """
    return begun(Session(BlockAdapter(block, trainer), **options))
