"""Sessions over PyTorch models."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from ._launched import launched
from ._options import documented
from ._torch_backward import StepInBackward
from ._torch_checks import demand_models_once, demand_one_momentum, demand_share, several
from ._torch_copies import WeightCopies
from ._torch_first_batch import FirstBatch
from ._torch_homes import Group, bring_home, check_away, grouped, memory_of, settle, tied_to
from ._torch_moments import SecondMoments
from ._torch_momentum import MomentumCorrection
from ._torch_needs import Needs
from ._torch_parts import (
    Held,
    aliases_of,
    first_of,
    is_model,
    modules_of,
    normalising,
    one_model,
    parts_of,
)
from ._torch_state import KeptState, unpacked
from ._torch_step import before_step
from ._torch_wrapper import Decentralized
from .adapter import Adapter
from .data import ShardedSampler
from .errors import ModelError, UsageError, exit_by_code
from .session import Session, begun

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._option_types import Options

__all__ = ["Decentralized", "TorchAdapter", "gather_statistics", "join"]

_LOGGER = logging.getLogger("fast_training")


@documented()
def join(
    model: Any,
    optimizer: torch.optim.Optimizer | Sequence[torch.optim.Optimizer] | None = None,
    *,
    momentum_correction: float = 0.5,
    mix_statistics: bool = True,
    mix_moments: bool = False,
    stateful: Mapping[str, Any] | None = None,
    step_in_backward: bool = False,
    **options: Unpack[Options],
) -> Session:
    """Opens a session over a model and waits until this worker may begin.

    The arguments are TorchAdapter's, and `options` those of Session.
    """
    exit_by_code()
    for one in (stateful or {}).values():
        if isinstance(one, ShardedSampler):
            one.demand(launched(options))
    adapter = TorchAdapter(
        model,
        optimizer,
        momentum_correction=momentum_correction,
        mix_statistics=mix_statistics,
        mix_moments=mix_moments,
        stateful=stateful,
        step_in_backward=step_in_backward,
    )
    return begun(Session(adapter, **options))


class TorchAdapter(Adapter):
    """The parameters of a module, or tensors by name, as a session exchanges them.

    Several modules, as of a GAN, are one model: a list of them, whose arrays are "0.weight" ..
    then, or a dictionary; `optimizer` may be several, too.

    Trainable parameters on the CPU become views of one memory, in which they are exchanged; those
    on a device are copied through pinned memory, and those in memory that other processes share
    stay there. Tied parameters stay tied. Types float32, float64, float16 and bfloat16 may be
    mixed. An optimizer made before or after works. Frozen parameters and buffers stay where they
    are, are saved, and begin as rank 0's. A parameter whose memory is replaced, and a buffer that
    is bound anew, are noticed at the next exchange; one whose type or shape is another is refused
    by name.

    `optimizer`: must have none but the model's parameters. Where it is SGD with momentum, the
    exchange's moves of the model enter momentum by the share `momentum_correction` (0: not), see
    MomentumCorrection. Copies of the weights in its state follow what the exchange does to those,
    see WeightCopies. Its state begins anew where the model is replaced by a neighbour's.

    `mix_statistics`: the running statistics of BatchNorm layers follow this worker's own batches in
    training; finish() makes them the mean over workers. gather_statistics() before it makes them
    exact.

    `mix_moments`: the second moments of Adam and AdamW are averaged, too, see SecondMoments: worth
    twice the bytes where workers hold unlike data. Without it an optimizer's state is this worker's
    own, but for SGD's momentum.

    Checkpoints hold the states of the optimizer and of what `stateful` names: schedulers, a
    GradScaler, a ShardedSampler, all that has ``state_dict()`` and ``load_state_dict()`` of plain
    values and tensors; and the generators of random numbers of PyTorch, NumPy and Python.

    `step_in_backward`: the backward pass takes the step layer by layer, and layers are exchanged
    while it goes on; see StepInBackward for what that refuses. Not by default, since anything may
    stand between backward() and step() in a loop of your own.
    """

    def __init__(
        self,
        model: Any,
        optimizer: torch.optim.Optimizer | Sequence[torch.optim.Optimizer] | None = None,
        *,
        momentum_correction: float = 0.5,
        mix_statistics: bool = True,
        mix_moments: bool = False,
        stateful: Mapping[str, Any] | None = None,
        step_in_backward: bool = False,
    ) -> None:
        demand_share("momentum_correction", momentum_correction)
        demand_models_once(model if is_model(model) else None)
        modules = modules_of(model)
        owner, model = first_of(model), one_model(model)
        optimizers = several(optimizer)
        parts = parts_of(model, mix_statistics)
        if not parts.trained:
            raise ModelError("the model has no trainable parameters; leave requires_grad set")
        self._optimizers, self._parts = optimizers, parts
        self._known = {id(one.tensor) for one in (*parts.trained, *parts.carried, *parts.apart)}
        self._check_trained()
        if momentum_correction > 0:
            names = {id(one.tensor): one.name for one in parts.trained}
            demand_one_momentum(optimizers, names)
        self._state = KeptState(optimizers, dict(stateful or {}), parts.apart)
        self._resumed: dict[str, Any] | None = None  # of a checkpoint, until it is applied
        trained = [(one.name, one.tensor) for one in parts.trained]
        self._moments = SecondMoments(optimizers if mix_moments else (), trained)
        self._groups = grouped([*trained, *self._moments.arrays()])
        tied = tied_to(self._groups, [(one.name, one.tensor) for one in parts.carried])
        self._carried = [Held(one) for one in parts.carried if one.name not in tied]
        self._averaged = [Held(one) for one in parts.averaged]
        self._at_home = [group for group in self._groups if group.on_host]
        self._away = [group for group in self._groups if not group.on_host]  # on a device
        with torch.no_grad():
            means = settle(self._groups, sum(one.tensor.numel() for one in parts.averaged))
        numbers = {id(t): n for n, group in enumerate(self._groups) for t in group.tensors}
        self._corrections = [
            MomentumCorrection(one, momentum_correction, numbers)
            for one in optimizers
            if isinstance(one, torch.optim.SGD) and momentum_correction > 0
        ]
        self._copies = [WeightCopies(one) for one in optimizers]
        self._stream = _stream_of(self._groups)
        self._leave: list[Callable[[], None]] = []  # at the end, the last first
        if step_in_backward:
            if mix_moments:
                raise UsageError(
                    "step_in_backward exchanges layers before the step has all moments; leave "
                    "mix_moments out, or step_in_backward"
                )
            if len(optimizers) != 1:
                raise UsageError(
                    f"step_in_backward is for one optimizer, and has {len(optimizers)}; give the "
                    "model's, or leave it out"
                )
            in_backward = StepInBackward(
                optimizers[0], self._groups, lambda first: self.ready_from(first)
            )
            self.at_close(in_backward.leave)
        self._needs: Needs | None = None
        if not self._away and not mix_moments:
            self._needs = Needs(
                modules, self._groups, lambda *part: self.needed(*part), lambda: self.changing()
            )
            self.at_close(self._needs.leave)
            for one in optimizers:
                self.at_close(before_step(one, self._needs.before_step))
        self._homes = {group.name: memory_of(group.home) for group in self._groups}
        super().__init__(self._homes)
        self.averages = means
        saved = [(group.name, group.tensors[0]) for group in self._groups]
        saved += [(one.name, one.tensor) for one in (*parts.carried, *parts.averaged)]
        self.aliases = aliases_of(model, [one for one in saved if one[0] not in tied])
        self.owner = owner if isinstance(model, torch.nn.Module) else parts.trained[0].tensor
        self._show()
        #: What the model is trained on first; None once neighbours have been told.
        self.first_batch: FirstBatch | None = FirstBatch(modules)
        self.at_close(self.first_batch.leave)

    def before(self, call: str) -> None:
        """Brings the memory that is exchanged up to date."""
        with torch.no_grad():
            self._before(call)

    def after(self, call: str) -> None:
        """Takes over what the exchange has made of it."""
        with torch.no_grad():
            self._after(call)

    def _before(self, call: str) -> None:
        self.changing()
        if call in ("exchange", "finish"):
            self._check_trained()
        moved = bring_home(self._at_home)
        if moved:
            _LOGGER.info("%d parameters were replaced (first: '%s')", len(moved), moved[0])
        check_away(self._away)
        others = [one.look(copy=True) for one in self._averaged]
        others += [one.look(copy=call not in ("join", "exchange")) for one in self._carried]
        if moved or any(others):
            self._show()
        if call == "exchange":
            self._tell_first_batch()
            self._moments.before_exchange()
        self._copy_device(pull=True)
        if call == "exchange":
            for copies in self._copies:
                copies.before_exchange()
            for correction in self._corrections:
                correction.before_exchange(self.correct_momentum)

    def _after(self, call: str) -> None:
        if call in ("save_model", "save_checkpoint"):
            return
        self._copy_device(pull=False)
        if call in ("open", "finish"):
            for one in (*self._averaged, *(self._carried if call == "open" else ())):
                one.give()
        if call == "exchange":
            self._moments.after_exchange()
            for copies in self._copies:
                copies.after_exchange()
            for correction in self._corrections:
                correction.after_exchange(self.likeness)
            self._next_step()
        if call == "open" and self._resumed is not None:  # the arrays hold a checkpoint's
            self._state.resume(self._resumed)
            self._resumed = None

    def _next_step(self) -> None:
        """The next step asks for its parts, but where copies of weights follow exchange() alone."""
        if self._needs is not None:
            self._needs.next_step(asks=not any(one.found for one in self._copies))

    def _tell_first_batch(self) -> None:
        """At the first exchange: neighbours are told what its step was made of."""
        if self.first_batch is not None:
            found, self.first_batch = self.first_batch.take(), None
            if found > 0:
                self.note_first_batch(found)

    def _show(self) -> None:
        """Names the memory of all tensors as it is now."""
        for group in self._groups:
            if self._homes[group.name].address != group.home.data_ptr():
                self._homes[group.name] = memory_of(group.home)
        self.averaged = {one.name: one.memory for one in self._averaged}
        self.buffers = {one.name: one.memory for one in self._carried}

    def made(self, samples: int) -> None:
        """Tells the samplers that checkpoints hold."""
        self._state.made(samples)

    def save_state(self) -> bytes:
        """What a checkpoint holds beside the session's arrays, which are saved after this: see
        KeptState."""
        with torch.no_grad():
            for one in self._carried:
                one.refresh()
        return self._state.packed()

    def load_state(self, state: bytes) -> None:
        """Reads the same; after("open") applies it, when parameters have been loaded."""
        if state:
            self._resumed = unpacked(state)

    def model_replaced(self) -> None:
        """Takes over what is not trained, and drops the state of the optimizer, which is of another
        model."""
        with torch.no_grad():
            for one in (*self._averaged, *self._carried):
                one.give()
        for correction in self._corrections:
            correction.model_replaced(self.correct_momentum)
        for copies in self._copies:
            copies.forget()
        self._moments.forget()
        for optimizer in self._optimizers:
            _forget(optimizer)

    def at_close(self, leave: Callable[[], None]) -> None:
        """Calls `leave` when the session is closed."""
        self._leave.append(leave)

    def close(self) -> None:
        """Gives back the optimizer's step, and the model without a hook."""
        while self._leave:
            self._leave.pop()()

    def _check_trained(self) -> None:
        """Raises where a tensor is trained that is not exchanged."""
        for part in self._parts.trained:
            if part.owner is not None and part.owner.get(part.key) is not part.tensor:
                raise ModelError(
                    f"'{part.name}' is another parameter than when the session was opened, and the "
                    "optimizer may not know it; load a state without assign=True, or open another "
                    "session"
                )
        for part in (*self._parts.carried, *self._parts.apart):
            if part.tensor.requires_grad or getattr(part.now(), "requires_grad", False):
                raise ModelError(
                    f"'{part.name}' was frozen when the session was opened, and is trained now; "
                    "leave it frozen, or open another session"
                )
        groups = [group for one in self._optimizers for group in one.param_groups]
        for number, group in enumerate(groups):
            for index, parameter in enumerate(group["params"]):
                if parameter.requires_grad and id(parameter) not in self._known:
                    raise UsageError(
                        f"parameter {index} of the optimizer's group {number}, of shape "
                        f"{tuple(parameter.shape)}, is none of the model and would not be "
                        "exchanged; register it in the model before the session is opened, or give "
                        "it an optimizer of its own"
                    )

    def _copy_device(self, pull: bool) -> None:
        """Copies parameters on a device to their homes, or back."""
        if self._stream is None:
            for group in self._away:
                _copy(group, pull, non_blocking=False)
            return
        device = self._stream.device
        present = torch.cuda.current_stream(device)
        self._stream.wait_stream(present)
        with torch.cuda.stream(self._stream):
            for group in self._away:
                _copy(group, pull, non_blocking=group.tensors[0].device == device)
        if pull:
            self._stream.synchronize()
        else:
            present.wait_stream(self._stream)


def _forget(optimizer: torch.optim.Optimizer) -> None:
    """Drops the state of an optimizer."""
    if isinstance(optimizer, torch.optim.Adagrad):  # requires its state to be there
        for state in optimizer.state.values():
            state["sum"].fill_(optimizer.defaults["initial_accumulator_value"])
        return
    optimizer.state.clear()


def gather_statistics(model: torch.nn.Module, batches: int, forward: Callable[[], object]) -> None:
    """Makes BatchNorm's running statistics the mean over `batches` calls of `forward`.

    `forward` computes the model on a batch, usually of training data. To be called when training is
    over, before finish(). Does nothing for a model without such layers.
    """
    if batches < 1:
        raise UsageError(f"statistics of {batches} batches; give 1 or more")
    layers = normalising(model)
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
