"""Which examples are whose: a sampler that shares a data set out among the workers of a run."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator, Mapping, Sequence, Sized
from typing import Any

from ._launched import Launched, launched
from .errors import UsageError


class ShardedSampler:
    """The indices of this worker's examples, each pass in an order of its own.

    ``DataLoader(dataset, 32, sampler=ShardedSampler(dataset))``, or any loop over it; it needs no
    framework. In each pass, or epoch, all workers share out one order of all examples, which
    follows from `seed` (by default the run's) and the number of the epoch: each example is one
    worker's, and in the next epoch perhaps another's. Workers need not be in the same epoch.
    ``shuffle=False`` keeps the data's order and the same part for each epoch.

    `data`: the data set, or the number of its examples. `rank` and `workers` are those that a
    session would find in the environment, as of `fast run`; give both where they are known from
    elsewhere. Parts are equal but for one example, or as long as `shares` says, a number for each
    rank: ``shares=[2, 1, 1]`` gives rank 0 half of the data.

    Each iter() begins the next epoch. ``set_epoch()``, which trainers call, is not needed.

    It can go on in the middle of an epoch: give it to a session, ``join(model, optimizer,
    stateful={"data": sampler})``, which then counts the examples that steps were made of, whatever
    processes of a loader have read ahead; or keep its state_dict() yourself.
    """

    def __init__(
        self,
        data: Sized | int,
        *,
        shuffle: bool = True,
        seed: int | None = None,
        shares: Sequence[float] | None = None,
        rank: int | None = None,
        workers: int | None = None,
    ) -> None:
        if (rank is None) != (workers is None):
            raise UsageError("rank and workers belong together; give both or neither")
        if rank is None or workers is None or seed is None:
            found = launched({"rank": rank})
            if rank is None or workers is None:
                rank, workers = found.rank, found.workers
            seed = found.seed if seed is None else seed
        if not 0 <= rank < workers:
            raise UsageError(f"rank {rank} of {workers} workers; ranks are from 0 to {workers - 1}")
        if shares is not None and (len(shares) != workers or min(shares) < 0 or sum(shares) <= 0):
            raise UsageError(
                f"shares are {list(shares)}; give a number from 0 for each of {workers} workers"
            )
        #: Its place among those that share the data.
        self.rank, self.workers = rank, workers
        self._examples = data if isinstance(data, int) else len(data)
        self._shuffle, self._seed = shuffle, seed
        if self._examples < 0:
            raise UsageError(f"{self._examples} examples; give the data set, or their number")
        parts = [1] * workers if shares is None else list(shares)
        self._first, self._end = (
            round(self._examples * sum(parts[:ranks]) / sum(parts)) for ranks in (rank, rank + 1)
        )
        self._next = (0, 0)  # epoch and place of what iter() begins
        # Of the last one begun: its epoch and place, how far it was read, and, where a session
        # tells, how many examples steps were made of since.
        self._epoch = self._begin = self._drawn = 0
        self._made: int | None = None

    def __len__(self) -> int:
        """Examples of this worker in an epoch."""
        return self._end - self._first

    def __iter__(self) -> Iterator[int]:
        self._begun(*self._next)
        self._next = (self._epoch + 1, 0)
        return self._draw(self._epoch, self._begin)

    def _begun(self, epoch: int, place: int) -> None:
        self._epoch, self._begin, self._drawn = epoch, place, place
        self._made = None if self._made is None else 0

    def _draw(self, epoch: int, begin: int) -> Iterator[int]:
        part = self._part(epoch)
        for place in range(begin, len(part)):
            if self._epoch == epoch:  # not, where another iter() has begun meanwhile
                self._drawn = place + 1
            yield part[place]

    def _part(self, epoch: int) -> Sequence[int]:
        if not self._shuffle:
            return range(self._first, self._end)
        order = array("q", range(self._examples))
        random.Random(f"{self._seed} {epoch}").shuffle(order)
        return order[self._first : self._end]

    def set_epoch(self, epoch: int) -> None:
        """The next iter() begins this epoch; where that is its epoch already, nothing changes."""
        if epoch != self._next[0]:
            self._next = (epoch, 0)

    def made(self, samples: int) -> None:
        """A step was made of so many examples. A session calls it that keeps the sampler."""
        self._made = (self._made or 0) + samples

    def state_dict(self) -> dict[str, int]:
        """Where it is: plain numbers."""
        known = self._drawn if self._made is None else min(self._begin + self._made, self._drawn)
        return {
            "examples": self._examples,
            "seed": self._seed,
            "epoch": self._epoch,
            "position": known,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The next iter() goes on there. Raises UsageError where the data are others."""
        if state["examples"] != self._examples:
            raise UsageError(
                f"the state of the sampler is of {state['examples']} examples, the data have "
                f"{self._examples}; go on with the data of before, or begin anew"
            )
        self._seed = state["seed"]
        over = state["position"] >= len(self)
        self._next = (state["epoch"] + 1, 0) if over else (state["epoch"], state["position"])
        self._begun(*self._next)

    def demand(self, found: Launched) -> None:
        """Raises UsageError where a session of this rank among these workers has other data than
        the sampler's."""
        if (self.rank, self.workers) != (found.rank, found.workers):
            raise UsageError(
                f"the sampler is that of rank {self.rank} of {self.workers} workers, the session "
                f"rank {found.rank} of {found.workers}; give ShardedSampler rank= and workers=, or "
                "the session its topology by FAST_TOPOLOGY, as 'fast run' does"
            )
