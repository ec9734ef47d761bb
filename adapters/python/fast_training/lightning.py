"""A callback for Lightning's Trainer, of Lightning 2.0 or later."""

from __future__ import annotations

import contextlib
import functools
import math
import os
from collections.abc import Sequence
from typing import Any

import lightning
import torch
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger

from . import _trainers
from ._callbacks import demand_version, shared, stopped_early, with_end, with_means
from ._torch_batch import length_of
from .errors import UsageError
from .schedule import follow_position
from .session import Session
from .torch import join

demand_version(lightning, (2, 0))

_NO_EVENTS = 128  # bytes, that a file of TensorBoard without an event is below


class FastCallback(lightning.Callback):  # type: ignore[misc,unused-ignore]
    """Makes ``Trainer(..., callbacks=[FastCallback(...)]).fit(..)`` a worker.

    `options` are those of fast_training.torch.join. Without ``budget`` or ``epochs`` all workers
    together make as many passes over the data set as the trainer is told (``max_epochs``,
    ``max_steps``); where each has a part of its own, say how many examples there are in all. With
    one, give the trainer more epochs than it will need: training stops where the budget is used.
    Schedules of learning rates follow the share of the budget that all workers have used, and reach
    the end of the trainer's steps with it. `batch_size`: examples of a batch, by default the length
    of its first tensor.

    Workers draw examples in orders of their own, though seeds be the same. They write checkpoints
    to ``worker-RANK`` in the folder of ModelCheckpoint, or where "{rank}" stands in its dirpath,
    and logs of CSVLogger and TensorBoardLogger to ``worker-RANK`` in theirs.

    The epochs are shared out: of ``max_epochs=4`` among 2 workers each makes about 2, so that the
    trainer's epoch ends near 2. The metric ``network_progress`` is the share of the run that all
    have made, 1 at the end.

    Where a trainer stops early, all do. The metric ``network_loss`` is the mean of the training
    loss over all workers. `monitor` names metrics of validation, such as "val_loss", of which all
    workers read the same mean as ``network_val_loss``: that of the validation before, since word
    takes some steps; at first it is this worker's own. So ``EarlyStopping("network_val_loss")`` and
    ``ModelCheckpoint(monitor="network_val_loss")``, after this callback, decide alike at all.

    The trainer must have one device and automatic optimization with one optimizer: start workers by
    ``fast run``.
    """

    def __init__(
        self,
        batch_size: int | None = None,
        monitor: str | Sequence[str] = (),
        **options: Any,
    ) -> None:
        self._batch_size, self._monitor = batch_size, monitor
        self._options = with_means(options, monitor)
        self._step = self._samples = 0
        self._folders = set[str]()  # of its own
        #: The session, from the beginning of training on; closed at its end.
        self.session: Session | None = None

    def setup(self, trainer: Any, module: Any, stage: str) -> None:
        """Gives the worker its folders and its randomness, before there are any data."""
        rank = _trainers.rank_of(self._options)
        if stage != "fit" or rank is None:
            return
        _trainers.own_randomness(rank)
        for checkpoint in trainer.checkpoint_callbacks:
            if hasattr(checkpoint, "dirpath") and checkpoint.dirpath not in self._folders:
                root = checkpoint.dirpath or f"{trainer.default_root_dir}/checkpoints"
                checkpoint.dirpath = _trainers.own_folder(root, rank)
                self._folders.add(checkpoint.dirpath)
        for logger in trainer.loggers:
            if isinstance(logger, (CSVLogger, TensorBoardLogger)):
                _own_logs(logger, rank)

    def on_train_start(self, trainer: Any, module: Any) -> None:
        """Opens the session and waits until this worker may begin."""
        if trainer.world_size > 1 or len(trainer.optimizers) != 1:
            raise UsageError(
                f"the trainer has {trainer.world_size} processes and {len(trainer.optimizers)} "
                "optimizers; give it devices=1 and one optimizer, and start workers by 'fast run'"
            )
        optimizer = getattr(trainer.optimizers[0], "optimizer", trainer.optimizers[0])
        self._step = trainer.global_step
        options = with_end(self._options, self._examples(trainer))
        session = self.session = join(module, optimizer, **options)
        for config in trainer.lr_scheduler_configs if _trainers.steps_due(session, 1) else ():
            epochs = config.interval == "epoch"
            ends = trainer.max_epochs if epochs else trainer.estimated_stepping_batches
            if ends is not None and 0 < ends < math.inf:
                position = functools.partial(_share, session, ends // config.frequency)
                follow_position(config.scheduler, position)

    def _examples(self, trainer: Any) -> float:
        """Those of all steps that the trainer would make by itself; infinite where that has no end,
        or does not tell."""
        loader = trainer.train_dataloader
        size = self._batch_size or getattr(loader, "batch_size", None)
        if size is None:
            return math.inf
        passes = _trainers.Passes.over(
            loader, size, trainer.num_training_batches, trainer.accumulate_grad_batches
        )
        steps, epochs = (
            math.inf if most is None or most < 0 else most
            for most in (trainer.max_steps, trainer.max_epochs)
        )
        return passes.examples_of(steps, epochs)

    def on_train_batch_start(self, trainer: Any, module: Any, batch: Any, batch_idx: int) -> None:
        """The first batch tells neighbours whether they train on the same examples: a module's
        forward() need not be called."""
        adapter: Any = self.session.adapter if self.session is not None else None
        if adapter is not None and adapter.first_batch is not None:
            adapter.first_batch.see(batch)

    def on_train_batch_end(
        self, trainer: Any, module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """The step boundary, where the batch has ended a step of the optimizer."""
        assert self.session is not None
        self._samples += self._length(batch)
        if trainer.global_step == self._step:  # gradients are accumulated
            return
        loss = outputs["loss"] if isinstance(outputs, dict) else outputs
        value = loss if torch.is_tensor(loss) else 0.0
        self._step, samples, self._samples = trainer.global_step, self._samples, 0
        self.session.exchange(samples, value * trainer.accumulate_grad_batches)
        module.log("network_loss", self.session.loss(), batch_size=1)
        module.log("network_progress", self.session.progress(), batch_size=1)
        if self.session.done():
            trainer.should_stop = True

    def on_validation_epoch_end(self, trainer: Any, module: Any) -> None:
        """What callbacks after this one may go by."""
        if self.session is None or trainer.state.fn != "fit":
            return
        means = shared(self.session, self._monitor, trainer.callback_metrics)
        for name, mean in means.items():
            module.log(f"network_{name}", mean, batch_size=1)

    def _length(self, batch: Any) -> int:
        found = self._batch_size or length_of(batch)
        if found is None:
            raise UsageError(
                f"a batch is a {type(batch).__name__}, which holds no tensor whose length would be "
                "the number of its examples; give FastCallback(batch_size=)"
            )
        return found

    def on_train_end(self, trainer: Any, module: Any) -> None:
        """Agrees with the neighbours on one model."""
        if self.session is None:
            return
        if trainer.should_stop:
            stopped_early(self.session)
        _trainers.ended(self.session, "raise max_epochs or max_steps")
        with self.session:
            pass


def _own_logs(logger: Any, rank: int) -> None:
    """Lets a logger begin again, in a folder of the rank's: the experiment that it has begun may be
    that of another worker, too."""
    shared = logger.log_dir
    if logger._experiment is not None and hasattr(logger._experiment, "close"):
        logger._experiment.close()
    logger._experiment = None
    for attribute in ("_root_dir", "_save_dir"):
        if hasattr(logger, attribute):
            own = _trainers.own_folder(getattr(logger, attribute), rank)
            setattr(logger, attribute, own)
    if isinstance(logger.version, int) and os.path.exists(logger.log_dir):
        logger._version = None  # the next that is free there
    with contextlib.suppress(OSError):
        for name in os.listdir(shared):
            events = os.path.join(shared, name)
            if name.startswith("events.") and os.path.getsize(events) < _NO_EVENTS:
                os.remove(events)
        os.rmdir(shared)
        if os.path.basename(os.path.dirname(shared)) == logger.name:
            os.rmdir(os.path.dirname(shared))


def _share(session: Session, total: float) -> float:
    return session.progress() * total
