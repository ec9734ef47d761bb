"""A callback for Hugging Face's Trainer."""

from __future__ import annotations

from typing import Any

import transformers

from .errors import UsageError
from .session import Session
from .torch import join


class FastCallback(transformers.TrainerCallback):  # type: ignore[misc,unused-ignore]
    """Makes ``Trainer(..., callbacks=[FastCallback(...)]).train()`` a worker.

    `options` are those of fast_training.torch.join; where the budget, counted in examples, is used,
    training stops. Accumulation, clipping and schedules stay as they are. The mean of the loss over
    workers is not known here. The trainer must see one process: start workers by ``fast run``, not
    by torchrun.
    """

    def __init__(self, **options: Any) -> None:
        self._options = options
        #: The session, from the beginning of training on; closed at its end.
        self.session: Session | None = None

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Opens the session and waits until this worker may begin."""
        if args.world_size > 1:
            raise UsageError(
                f"the trainer shares its model among {args.world_size} processes by itself; start "
                "workers by 'fast run', each with a trainer of its own"
            )
        optimizer = getattr(others["optimizer"], "optimizer", others["optimizer"])
        self.session = join(others["model"], optimizer, **self._options)

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """The step boundary."""
        assert self.session is not None
        self.session.exchange(args.train_batch_size * args.gradient_accumulation_steps)
        if self.session.done():
            control.should_training_stop = True

    def on_train_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Agrees with the neighbours on one model."""
        if self.session is not None:
            with self.session:
                pass
