"""A callback for Lightning's Trainer."""

from __future__ import annotations

from typing import Any

import lightning
import torch

from .errors import UsageError
from .session import Session
from .torch import join


class FastCallback(lightning.Callback):  # type: ignore[misc,unused-ignore]
    """Makes ``Trainer(..., callbacks=[FastCallback(32, ...)]).fit(..)`` a worker.

    `batch_size`: examples of a batch. `options` are those of fast_training.torch.join; where the
    budget is used, training stops. The trainer must have one device and automatic optimization with
    one optimizer: start workers by ``fast run``.
    """

    def __init__(self, batch_size: int, **options: Any) -> None:
        self._batch_size, self._options = batch_size, options
        self._step = self._samples = 0
        #: The session, from the beginning of training on; closed at its end.
        self.session: Session | None = None

    def on_train_start(self, trainer: Any, module: Any) -> None:
        """Opens the session and waits until this worker may begin."""
        if trainer.world_size > 1 or len(trainer.optimizers) != 1:
            raise UsageError(
                f"the trainer has {trainer.world_size} processes and {len(trainer.optimizers)} "
                "optimizers; give it devices=1 and one optimizer, and start workers by 'fast run'"
            )
        optimizer = getattr(trainer.optimizers[0], "optimizer", trainer.optimizers[0])
        self._step = trainer.global_step
        self.session = join(module, optimizer, **self._options)

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
            with self.session:
                pass
