"""A callback for Lightning's Trainer."""

from __future__ import annotations

import functools
from typing import Any

import lightning
import torch

from . import _trainers
from .errors import UsageError
from .schedule import follow_position
from .session import Session
from .torch import join


class FastCallback(lightning.Callback):  # type: ignore[misc,unused-ignore]
    """Makes ``Trainer(..., callbacks=[FastCallback(32, ...)]).fit(..)`` a worker.

    `batch_size`: examples of a batch. `options` are those of fast_training.torch.join; where the
    budget is used, training stops: give the trainer more epochs than it will need. Schedules of
    learning rates then follow the share of the budget that all workers have used, and reach the
    end of the trainer's steps with it.

    Workers draw examples in orders of their own, though seeds be the same, and write checkpoints to
    ``worker-RANK`` in the folder of ModelCheckpoint, or where "{rank}" stands in its dirpath. The
    trainer must have one device and automatic optimization with one optimizer: start workers by
    ``fast run``.
    """

    def __init__(self, batch_size: int, **options: Any) -> None:
        self._batch_size, self._options = batch_size, options
        self._step = self._samples = 0
        self._folders = set[str]()  # of its own
        #: The session, from the beginning of training on; closed at its end.
        self.session: Session | None = None

    def setup(self, trainer: Any, module: Any, stage: str) -> None:
        """Gives the worker its folder and its randomness, before there are any data."""
        rank = _trainers.rank_of(self._options)
        if stage != "fit" or rank is None:
            return
        _trainers.own_randomness(rank)
        for checkpoint in trainer.checkpoint_callbacks:
            if hasattr(checkpoint, "dirpath") and checkpoint.dirpath not in self._folders:
                root = checkpoint.dirpath or f"{trainer.default_root_dir}/checkpoints"
                checkpoint.dirpath = _trainers.own_folder(root, rank)
                self._folders.add(checkpoint.dirpath)

    def on_train_start(self, trainer: Any, module: Any) -> None:
        """Opens the session and waits until this worker may begin."""
        if trainer.world_size > 1 or len(trainer.optimizers) != 1:
            raise UsageError(
                f"the trainer has {trainer.world_size} processes and {len(trainer.optimizers)} "
                "optimizers; give it devices=1 and one optimizer, and start workers by 'fast run'"
            )
        optimizer = getattr(trainer.optimizers[0], "optimizer", trainer.optimizers[0])
        self._step = trainer.global_step
        session = self.session = join(module, optimizer, **self._options)
        for config in trainer.lr_scheduler_configs if _trainers.steps_due(session, 1) else ():
            epochs = config.interval == "epoch"
            ends = trainer.max_epochs if epochs else trainer.estimated_stepping_batches
            if ends is not None and 0 < ends < float("inf"):
                position = functools.partial(_share, session, ends // config.frequency)
                follow_position(config.scheduler, position)

    def on_train_batch_end(
        self, trainer: Any, module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """The step boundary, where the batch has ended a step of the optimizer."""
        assert self.session is not None
        self._samples += self._batch_size
        if trainer.global_step == self._step:  # gradients are accumulated
            return
        loss = outputs["loss"] if isinstance(outputs, dict) else outputs
        value = loss if torch.is_tensor(loss) else 0.0
        self._step, samples, self._samples = trainer.global_step, self._samples, 0
        self.session.exchange(samples, value * trainer.accumulate_grad_batches)
        if self.session.done():
            trainer.should_stop = True

    def on_train_end(self, trainer: Any, module: Any) -> None:
        """Agrees with the neighbours on one model."""
        if self.session is not None:
            _trainers.ended(self.session, "raise max_epochs or max_steps")
            with self.session:
                pass


def _share(session: Session, total: float) -> float:
    return session.progress() * total
