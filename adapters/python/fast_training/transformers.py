"""A callback for Hugging Face's Trainer."""

from __future__ import annotations

import functools
from typing import Any

import transformers

from . import _trainers
from .errors import UsageError
from .schedule import follow_position
from .session import Session
from .torch import join


class FastCallback(transformers.TrainerCallback):  # type: ignore[misc,unused-ignore]
    """Makes ``Trainer(..., callbacks=[FastCallback(...)]).train()`` a worker.

    `options` are those of fast_training.torch.join; where the budget, counted in examples, is used,
    training stops: give the trainer more steps than it will need. Its schedule of learning rates
    then follows the share of the budget that all workers have used, and reaches its end with it; a
    warm-up keeps its number of steps. Accumulation and clipping stay as they are. The mean of the
    loss over workers is not known here.

    Workers draw examples in orders of their own, though seeds be the same, and write to
    ``output_dir/worker-RANK``, or where "{rank}" stands in output_dir. The trainer must see one
    process: start workers by ``fast run``, not by torchrun.
    """

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._placed = False
        #: The session, from the beginning of training on; closed at its end.
        self.session: Session | None = None

    def on_init_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Gives the worker its folder."""
        rank = _trainers.rank_of(self._options)
        if rank is not None and not self._placed:
            self._placed = True
            args.output_dir = _trainers.own_folder(args.output_dir, rank)

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Opens the session and waits until this worker may begin."""
        if args.world_size > 1:
            raise UsageError(
                f"the trainer shares its model among {args.world_size} processes by itself; start "
                "workers by 'fast run', each with a trainer of its own"
            )
        self.on_init_end(args, state, control)  # where the callback was added later
        optimizer = getattr(others["optimizer"], "optimizer", others["optimizer"])
        session = self.session = join(others["model"], optimizer, **self._options)
        rank, due = session.status().rank, _trainers.steps_due(session, _samples(args))
        _trainers.own_randomness(rank)
        _trainers.own_order(others.get("train_dataloader"), rank)
        scheduler = others.get("lr_scheduler")
        if due > 0 and scheduler is not None:
            steps = functools.partial(
                _trainers.position,
                total=state.max_steps,
                warmup=args.get_warmup_steps(state.max_steps),
                expected=due,
            )
            scheduler = getattr(scheduler, "scheduler", scheduler)  # of accelerate
            follow_position(scheduler, lambda: steps(session.progress()))

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """The step boundary."""
        assert self.session is not None
        self.session.exchange(_samples(args))
        if self.session.done():
            control.should_training_stop = True

    def on_train_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Agrees with the neighbours on one model."""
        if self.session is not None:
            _trainers.ended(self.session, "raise num_train_epochs or max_steps")
            with self.session:
                pass


def _samples(args: Any) -> int:
    """Examples of a step."""
    return int(args.train_batch_size * args.gradient_accumulation_steps)
