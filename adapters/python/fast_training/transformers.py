"""A callback for Hugging Face's Trainer."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import transformers

from . import _trainers
from ._callbacks import shared, stopped_early, with_end, with_means
from .errors import UsageError
from .schedule import follow_position
from .session import Session
from .torch import join


class FastCallback(transformers.TrainerCallback):  # type: ignore[misc,unused-ignore]
    """Makes ``Trainer(..., callbacks=[FastCallback(...)]).train()`` a worker.

    `options` are those of fast_training.torch.join. Without ``budget`` or ``epochs`` all workers
    together make as many passes over the data set as the trainer is told (``num_train_epochs``,
    ``max_steps``); where each has a part of its own, say how many examples there are in all. With
    one, give the trainer more steps than it will need: training stops where the budget is used. Its
    schedule of learning rates follows the share of the budget that all workers have used, and
    reaches its end with it; a warm-up keeps its number of steps. Accumulation and clipping stay as
    they are. The mean of the training loss over workers is not known here.

    The epochs are shared out: of 4 among 2 workers each makes about 2, so that the trainer's
    "epoch" ends near 2, and its bar of steps near the half. ``network_progress`` beside it in the
    logs is the share of the run that all have made, 1 at the end.

    Where a trainer stops early, all do. `monitor` names metrics of evaluation, such as "eval_loss",
    of which all workers read the same mean as ``eval_network_loss``: that of the evaluation before,
    since word takes some steps; at first it is this worker's own. With it as
    ``metric_for_best_model``, EarlyStoppingCallback and ``load_best_model_at_end`` decide alike at
    all.

    Workers draw examples in orders of their own, though seeds be the same, and write to
    ``output_dir/worker-RANK``, or where "{rank}" stands in output_dir. The trainer must see one
    process: start workers by ``fast run``, not by torchrun.
    """

    def __init__(self, monitor: str | Sequence[str] = (), **options: Any) -> None:
        self._monitor = monitor
        self._options = with_means(options, monitor)
        self._placed = False
        self._steps = 0  # of this pass over the data
        self._passes = _trainers.Passes(1, math.inf, math.inf, 1)
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
        self._passes = _passes(args, others.get("train_dataloader"))
        options = with_end(
            self._options,
            self._passes.examples_of(args.max_steps)
            if args.max_steps > 0
            else self._passes.examples_of(math.inf, args.num_train_epochs),
        )
        session = self.session = join(others["model"], optimizer, **options)
        rank = session.status().rank
        _trainers.own_randomness(rank)
        _trainers.own_order(others.get("train_dataloader"), rank)
        scheduler, due = (
            others.get("lr_scheduler"),
            _trainers.steps_due(session, self._passes.examples_of(1)),
        )
        if due > 0 and scheduler is not None:
            steps = functools.partial(
                _trainers.position,
                total=state.max_steps,
                warmup=args.get_warmup_steps(state.max_steps),
                expected=due,
            )
            scheduler = getattr(scheduler, "scheduler", scheduler)  # of accelerate
            follow_position(scheduler, lambda: steps(session.progress()))

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """A pass over the data begins."""
        self._steps = 0

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """The step boundary."""
        assert self.session is not None
        before, self._steps = self._passes.examples_of(self._steps), self._steps + 1
        self.session.exchange(int(self._passes.examples_of(self._steps) - before))
        if self.session.done():
            control.should_training_stop = True

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **others: Any) -> None:
        """Adds how much of the run all workers have made to what is logged: the trainer's "epoch"
        counts this worker's passes."""
        if self.session is None or logs is None:
            return
        logs["network_progress"] = round(self.session.progress(), 4)
        if state.log_history:  # which is written before callbacks are called
            state.log_history[-1]["network_progress"] = logs["network_progress"]

    def on_evaluate(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Adds the means to the metrics, which the trainer and callbacks after this one go by."""
        if self.session is None or self.session.agreed is not None:
            return
        metrics = others["metrics"]
        for name, mean in shared(self.session, self._monitor, metrics).items():
            metrics[f"eval_network_{name.removeprefix('eval_')}"] = mean

    def on_train_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Agrees with the neighbours on one model."""
        if self.session is None:
            return
        if control.should_training_stop and state.global_step < state.max_steps:
            stopped_early(self.session)
        _trainers.ended(self.session, "raise num_train_epochs or max_steps")
        with self.session:
            pass


def _passes(args: Any, loader: Any) -> _trainers.Passes:
    try:
        batches: float = len(loader)
    except TypeError:
        batches = math.inf
    return _trainers.Passes.over(
        loader, args.train_batch_size, batches, args.gradient_accumulation_steps
    )
