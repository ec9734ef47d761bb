"""Sessions over PyTorch models."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from ._torch_backward import StepInBackward
from ._torch_homes import (
    TYPES,
    Group,
    bring_home,
    grouped,
    memory_of,
    refuse,
    settle,
    tied_to,
    why_not,
)
from ._torch_momentum import MomentumCorrection
from ._torch_state import packed, unpacked
from ._torch_wrapper import Decentralized
from .adapter import Adapter
from .errors import ModelError, UsageError
from .session import Session, begun

__all__ = ["Decentralized", "TorchAdapter", "gather_statistics", "join"]

_LOGGER = logging.getLogger("fast_training")


def join(
    model: torch.nn.Module | Mapping[str, torch.Tensor],
    optimizer: torch.optim.Optimizer | None = None,
    *,
    momentum_correction: float = 0.5,
    mix_statistics: bool = True,
    kept: Mapping[str, Any] | None = None,
    step_in_backward: bool = False,
    **options: Any,
) -> Session:
    """Opens a session over a model and waits until this worker may begin.

    The arguments are TorchAdapter's, and `options` those of Session.
    """
    adapter = TorchAdapter(
        model,
        optimizer,
        momentum_correction=momentum_correction,
        mix_statistics=mix_statistics,
        kept=kept,
        step_in_backward=step_in_backward,
    )
    return begun(Session(adapter, **options))


class TorchAdapter(Adapter):
    """The parameters of a module, or tensors by name, as a session exchanges them.

    Trainable parameters on the CPU become views of one memory, in which they are exchanged; those
    on a device are copied through pinned memory. Tied parameters stay tied; frozen ones stay where
    they are and are saved. Types float32, float64, float16 and bfloat16 may be mixed. An optimizer
    made before or after works. A parameter whose memory is replaced is noticed at the next
    exchange, and its values are taken, or refused by name where its type or shape is another.

    `optimizer`: must have none but the model's parameters. Where it is SGD with momentum, the
    exchange's moves of the model enter momentum by the share `momentum_correction` (0: not), see
    MomentumCorrection. Its state begins anew where the model is replaced by a neighbour's.

    `mix_statistics`: the running statistics of BatchNorm layers follow this worker's own batches in
    training; finish() makes them the mean over workers. gather_statistics() before it makes them
    exact.

    Checkpoints hold the states of the optimizer and of what `kept` names: schedulers, a
    GradScaler, a loader, all that has ``state_dict()`` and ``load_state_dict()`` of plain values
    and tensors.

    `step_in_backward`: the backward pass takes the step layer by layer, and layers are exchanged
    while it goes on; see StepInBackward for what that refuses.
    """

    def __init__(
        self,
        model: torch.nn.Module | Mapping[str, torch.Tensor],
        optimizer: torch.optim.Optimizer | None = None,
        *,
        momentum_correction: float = 0.5,
        mix_statistics: bool = True,
        kept: Mapping[str, Any] | None = None,
        step_in_backward: bool = False,
    ) -> None:
        self._kept_states = dict(kept or {})
        if optimizer is not None:
            self._kept_states["optimizer"] = optimizer
        self._resumed: dict[str, Any] | None = None  # of a checkpoint, until it is applied
        tensors, others, statistics = _parts_of(model, mix_statistics)
        trained = [(name, tensor) for name, tensor in tensors if tensor.requires_grad]
        if not trained:
            raise ModelError("the model has no trainable parameters; leave requires_grad set")
        self._optimizer, self._frozen = optimizer, list[tuple[str, torch.Tensor]]()
        self._known = {id(tensor) for _, tensor in tensors}
        self._places = _places_of(model)
        self._check_trained()
        self._correction: MomentumCorrection | None = None
        self._statistics = [(name, tensor, tensor.detach().clone()) for name, tensor in statistics]
        self._initial = [slot.clone() for _, _, slot in self._statistics]
        self._mixed = False  # the statistics are, by finish()
        self._groups = grouped(trained + [(name, slot) for name, _, slot in self._statistics])
        frozen = [(name, tensor) for name, tensor in tensors if not tensor.requires_grad]
        self._frozen = frozen
        tied = tied_to(self._groups, [*frozen, *others])
        self._saved = _homes_of([one for one in (*frozen, *others) if one[0] not in tied])
        with torch.no_grad():
            settle(self._groups)
        if isinstance(optimizer, torch.optim.SGD) and momentum_correction > 0:
            numbers = {id(t): n for n, group in enumerate(self._groups) for t in group.tensors}
            self._correction = MomentumCorrection(optimizer, momentum_correction, numbers)
        self._stream = _stream_of(self._groups)
        if step_in_backward:
            if optimizer is None:
                raise UsageError("step_in_backward has no optimizer; give the model's")
            StepInBackward(optimizer, self._groups, lambda first: self.ready_from(first))
        super().__init__(
            {group.name: memory_of(group.home) for group in self._groups},
            {name: memory_of(home) for name, _, home in self._saved},
        )

    def before(self, call: str) -> None:
        """Brings the memory that is exchanged up to date."""
        with torch.no_grad():
            self._before(call)

    def after(self, call: str) -> None:
        """Takes over what the exchange has made of it."""
        with torch.no_grad():
            self._after(call)

    def _before(self, call: str) -> None:
        moved = bring_home(self._groups)
        if moved:
            _LOGGER.info("%d parameters were replaced (first: '%s')", len(moved), moved[0])
        if call == "exchange":
            self._check_trained()
        if call == "finish" and not self._mixed:
            self._mixed = True
            # Neighbours that have finished before may have moved the slots already, so each worker
            # adds what it has found to what is there.
            for (_, tensor, slot), initial in zip(self._statistics, self._initial):
                slot.add_(tensor.detach() - initial)
        if call in ("open", "save"):
            self._fill()
        self._copy_device(pull=True)
        if call == "exchange" and self._correction is not None:
            self._correction.before_exchange(self.follow)

    def _after(self, call: str) -> None:
        self._copy_device(pull=False)
        if call == "exchange" and self._correction is not None:
            self._correction.after_exchange(self.likeness)
        if call == "open":  # which may have loaded a checkpoint
            self._initial = [slot.clone() for _, _, slot in self._statistics]
            for _, tensor, home in self._saved:
                if tensor.data_ptr() != home.data_ptr():
                    tensor.detach().copy_(home)
        if call in ("open", "finish"):
            for name, tensor, slot in self._statistics:
                # Cut off before all agreed, it may hold no variance, and then keeps its own.
                own = tensor if name.endswith("running_var") else slot
                tensor.copy_(torch.where(slot > 0, slot, own))
        if call == "open" and self._resumed is not None:
            self._resume(self._resumed)
            self._resumed = None
        if call == "save":
            for (_, _, slot), kept in zip(self._statistics, self._kept):
                slot.copy_(kept)

    def save_state(self) -> bytes:
        """The states of the optimizer and of what is kept, and buffers that a step changes."""
        copied = [(n, t) for n, t, home in self._saved if t.data_ptr() != home.data_ptr()]
        return packed(
            {
                **{f"state {n}": one.state_dict() for n, one in self._kept_states.items()},
                "statistics": {name: tensor for name, tensor, _ in self._statistics},
                "initial": self._initial,
                "mixed": self._mixed,
                "buffers": dict(copied),  # of the others the session has the present values
            }
        )

    def load_state(self, state: bytes) -> None:
        """Reads the same; after("open") applies it, when parameters have been loaded."""
        if state:
            self._resumed = unpacked(state)

    def _resume(self, found: dict[str, Any]) -> None:
        for kind, tensors in (("statistics", self._statistics), ("buffers", self._saved)):
            for name, tensor, _ in tensors:
                if name in found[kind]:
                    tensor.detach().copy_(found[kind][name])
        self._initial, self._mixed = found["initial"], found["mixed"]
        for name, one in self._kept_states.items():
            if f"state {name}" not in found:
                _LOGGER.warning("the checkpoint holds no state of '%s', which begins anew", name)
                continue
            one.load_state_dict(found[f"state {name}"])

    def model_replaced(self) -> None:
        """Drops the state of the optimizer, which is of another model."""
        if self._correction is not None:
            self._correction.model_replaced(self.follow)
        if self._optimizer is None:
            return
        if isinstance(self._optimizer, torch.optim.Adagrad):  # requires its state to be there
            for state in self._optimizer.state.values():
                state["sum"].fill_(self._optimizer.defaults["initial_accumulator_value"])
            return
        self._optimizer.state.clear()

    def _check_trained(self) -> None:
        """Raises where a tensor is trained that is not exchanged."""
        for owner, key, name, parameter in self._places:
            if owner.get(key) is not parameter:
                raise ModelError(
                    f"'{name}' is another parameter than when the session was opened, and the "
                    "optimizer may not know it; load a state without assign=True, or open another "
                    "session"
                )
        for name, tensor in self._frozen:
            if tensor.requires_grad:
                raise ModelError(
                    f"'{name}' was frozen when the session was opened, and is trained now; leave "
                    "it frozen, or open another session"
                )
        for number, group in enumerate(self._optimizer.param_groups if self._optimizer else ()):
            for index, parameter in enumerate(group["params"]):
                if parameter.requires_grad and id(parameter) not in self._known:
                    raise UsageError(
                        f"parameter {index} of the optimizer's group {number}, of shape "
                        f"{tuple(parameter.shape)}, is none of the model and would not be "
                        "exchanged; register it in the model before the session is opened, or give "
                        "it an optimizer of its own"
                    )

    def _fill(self) -> None:
        """Brings all that is saved up to date."""
        self._kept = [slot.clone() for _, _, slot in self._statistics]
        for _, tensor, slot in self._statistics:
            slot.copy_(tensor.detach())
        for name, tensor, home in self._saved:
            if tensor.shape != home.shape or tensor.dtype != home.dtype:
                raise refuse(name, "of another shape or type than before", "open another session")
            if tensor.data_ptr() != home.data_ptr():
                home.copy_(tensor.detach())

    def _copy_device(self, pull: bool) -> None:
        """Copies parameters on a device to their homes, or back."""
        away = [group for group in self._groups if not group.on_host]
        if self._stream is None:
            for group in away:
                _copy(group, pull, non_blocking=False)
            return
        device = self._stream.device
        present = torch.cuda.current_stream(device)
        self._stream.wait_stream(present)
        with torch.cuda.stream(self._stream):
            for group in away:
                _copy(group, pull, non_blocking=group.tensors[0].device == device)
        if pull:
            self._stream.synchronize()
        else:
            present.wait_stream(self._stream)


def gather_statistics(model: torch.nn.Module, batches: int, forward: Callable[[], object]) -> None:
    """Makes BatchNorm's running statistics the mean over `batches` calls of `forward`.

    `forward` computes the model on a batch, usually of training data. To be called when training is
    over, before finish(). Does nothing for a model without such layers.
    """
    layers = _normalising(model)
    if not layers:
        return
    training = {module: module.training for module in model.modules()}
    momenta = [layer.momentum for layer in layers]
    model.train()
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # the mean over all batches
    try:
        with torch.no_grad():
            for _ in range(batches):
                forward()
    finally:
        for layer, momentum in zip(layers, momenta):
            layer.momentum = momentum
        for module, before in training.items():
            module.training = before


_Named = list[tuple[str, torch.Tensor]]


def _normalising(model: torch.nn.Module) -> list[Any]:
    kinds = torch.nn.modules.batchnorm._NormBase
    found = (module for module in model.modules() if isinstance(module, kinds))
    return [module for module in found if module.running_mean is not None]


def _parts_of(model: Any, mix_statistics: bool) -> tuple[_Named, _Named, _Named]:
    """Parameters, other buffers, and buffers that are statistics to be exchanged."""
    if not isinstance(model, torch.nn.Module):
        named = [(str(name), tensor) for name, tensor in dict(model).items()]
        return named, [], []
    model = getattr(model, "_orig_mod", model)  # of torch.compile
    statistics = set()
    if mix_statistics:
        for layer in _normalising(model):
            statistics |= {id(layer.running_mean), id(layer.running_var)}
    buffers = list(model.named_buffers())
    return (
        list(model.named_parameters()),
        [(name, tensor) for name, tensor in buffers if id(tensor) not in statistics],
        [(name, tensor) for name, tensor in buffers if id(tensor) in statistics],
    )


def _places_of(model: Any) -> list[tuple[dict[str, Any], str, str, torch.Tensor]]:
    """Where a module keeps its parameters: dictionary, key, full name and parameter."""
    if not isinstance(model, torch.nn.Module) or isinstance(model, torch.jit.ScriptModule):
        return []
    model = getattr(model, "_orig_mod", model)
    return [
        (module._parameters, key, f"{prefix}.{key}" if prefix else key, parameter)
        for prefix, module in model.named_modules()
        for key, parameter in module._parameters.items()
        if parameter is not None
    ]


def _homes_of(tensors: _Named) -> list[tuple[str, torch.Tensor, torch.Tensor]]:
    """Tensors that are only saved, each with the memory that is: its own where it can be."""
    found = []
    for name, tensor in tensors:
        reason = why_not(tensor)
        if tensor.dtype not in TYPES or (reason and not reason.startswith("of type")):
            raise refuse(name, reason, "keep it out of the model, or convert it")
        own = tensor.detach()
        if tensor.device.type != "cpu" or not tensor.is_contiguous():
            own = torch.empty(tensor.shape, dtype=tensor.dtype)
        found.append((name, tensor, own))
    return found


def _stream_of(groups: Iterable[Group]) -> Any:
    make: Any = torch.cuda.Stream  # which has no types
    for group in groups:
        if group.tensors[0].is_cuda:
            return make(group.tensors[0].device)
    return None


def _copy(group: Group, pull: bool, non_blocking: bool) -> None:
    if pull:
        group.home.copy_(group.tensors[0].detach(), non_blocking=non_blocking)
    else:
        group.tensors[0].detach().copy_(group.home, non_blocking=non_blocking)
