"""What trainers of PyTorch need to be workers: data, folders and schedules of their own."""

from __future__ import annotations

import logging
import math
import os
import random
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch

from ._launched import launched
from .session import Session

_LOGGER = logging.getLogger("fast_training")


def rank_of(options: Mapping[str, Any]) -> int | None:
    """The rank that a session with these options will have; None where it will be alone."""
    found = launched(options)
    return None if found.workers == 1 else found.rank


class Passes(NamedTuple):
    """A trainer's passes over its data. Sizes that it does not tell are infinite."""

    batch: int  # examples
    batches: float  # of a pass
    examples: float  # of the data set
    accumulated: int  # batches of a step

    @classmethod
    def over(cls, loader: Any, batch: int, batches: float, accumulated: int) -> Passes:
        """Those of a trainer with this loader."""
        try:
            return cls(batch, batches, len(loader.dataset), accumulated)
        except (AttributeError, TypeError):
            return cls(batch, batches, math.inf, accumulated)

    def examples_of(self, steps: float, passes: float = math.inf) -> float:
        """Examples of so many steps, or of so many passes where those end before."""
        of_step = self.accumulated * self.batch
        of_pass = min(self.batches * self.batch, self.examples)
        if not math.isfinite(steps):
            return passes * of_pass
        if not math.isfinite(of_pass):
            return steps * of_step
        whole, rest = divmod(steps, math.ceil(of_pass / of_step))
        return min(whole * of_pass + min(rest * of_step, of_pass), passes * of_pass)


def own_folder(folder: str | os.PathLike[str], rank: int) -> str:
    """`folder` with the rank in place of "{rank}"; where it has none, one of the rank's own in it:
    workers that write to one folder remove each other's files."""
    path = os.fspath(folder)
    if "{rank}" in path:
        return path.replace("{rank}", str(rank))
    own = f"worker-{rank}"
    return path if os.path.basename(os.path.normpath(path)) == own else os.path.join(path, own)


def own_randomness(rank: int) -> None:
    """Gives each rank but 0 generators of its own, where all workers have seeded theirs alike: what
    they draw, such as the order of examples, must differ."""
    if rank == 0:
        return
    torch.manual_seed((torch.initial_seed() + rank) % 2**63)
    random.seed(f"{random.getrandbits(64)} {rank}")
    if "numpy" in sys.modules:
        numpy = sys.modules["numpy"]
        numpy.random.seed((int(numpy.random.randint(2**31)) + rank) % 2**32)


def own_order(loader: Any, rank: int) -> None:
    """The same for a loader whose sampler has a seed or a generator that own_randomness() does not
    reach."""
    for owner in (getattr(loader, "batch_sampler", None), loader):
        sampler = getattr(owner, "sampler", None)
        generator = getattr(sampler, "generator", None)
        if isinstance(getattr(sampler, "initial_seed", None), int):  # accelerate's
            sampler.initial_seed += rank  # type: ignore[union-attr]
            return
        if isinstance(generator, torch.Generator) and rank > 0:
            generator.manual_seed((generator.initial_seed() + rank) % 2**63)
            return


def steps_due(session: Session, samples: float) -> float:
    """Steps of `samples` examples that this worker makes until training is over, where all workers
    are as quick; 0 where training has no end of the session's."""
    options = session.options()
    budget, passes, size = (float(options[n][0]) for n in ("budget", "epochs", "data_size"))
    return (passes * size if passes > 0 else budget / session.status().workers) / samples


def position(progress: float, total: float, warmup: float, expected: float) -> float:
    """Step of a schedule of `total` steps at a share of the budget. Its `warmup` steps stay as many
    as they are, where this worker is expected to make `expected` steps."""
    made = progress * expected
    if not warmup < min(expected, total):
        return progress * total
    if made < warmup:
        return made
    return warmup + (made - warmup) / (expected - warmup) * (total - warmup)


def ended(session: Session, remedy: str) -> None:
    """Says so where training is at its end and the budget is not used."""
    if steps_due(session, 1) > 0 and not session.done():
        _LOGGER.warning(
            "worker %d: the trainer has ended when %.0f %% of the budget were used; %s",
            session.status().rank,
            100 * session.progress(),
            remedy,
        )
