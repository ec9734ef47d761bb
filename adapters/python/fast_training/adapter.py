"""What a session asks of a framework: its parameters as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ._memory import Memory


class Momentum(NamedTuple):
    """The momentum of a parameter, after a step m <- decay m + gradient, x <- x - rate m."""

    address: int  # of m, of the parameter's type, shape and order in memory
    rate: float  # learning rate
    decay: float  # from 0 to 1
    share: float  # of what neighbours move the parameter by that enters m, from 0 to 1


class Adapter:
    """A model's arrays, by role and name. All methods: training thread.

    A session reads the three mappings at each call, and asks where each array lies: a framework may
    bind arrays anew, as long as the mappings show the present ones. Names, their order, types and
    shapes stay. An adapter of a framework whose memory is elsewhere (on a device, say) gives copies
    of its own, and brings them up to date in before() and after().

    The calls that before() and after() hear of are a session's "open", "join", "exchange",
    "finish", "save_model" and "save_checkpoint".
    """

    def __init__(
        self,
        parameters: Mapping[str, Any],
        buffers: Mapping[str, Any] | None = None,
        averaged: Mapping[str, Any] | None = None,
    ) -> None:
        #: Trained: what neighbours average at every step. By name and in one order on all workers:
        #: arrays of float32, float64, float16 or bfloat16, of any shape, row-major and contiguous.
        #: Those whose names begin with "state/" are an optimizer's, and in no model file.
        self.parameters = parameters
        #: Carried: saved beside them, and taken over with rank 0's initial values. Frozen
        #: parameters, counters, masks; whole numbers and other types, too.
        self.buffers: Mapping[str, Any] = {} if buffers is None else buffers
        #: Averaged: each worker's own while it trains, and the mean over workers where finish()
        #: finds that all agree: running statistics. Types as of parameters.
        self.averaged: Mapping[str, Any] = {} if averaged is None else averaged
        #: Optional: second names of arrays, for model files: alias to name, as of tied parameters.
        self.aliases: Mapping[str, str] = {}
        #: Optional: float32 memory for the means of averaged arrays. Where it begins at the end of
        #: the last parameter, all can be exchanged in place.
        self.averages: Memory | None = None
        #: Optional: what may be in one session at a time, such as a model. A session over the same
        #: one closes the one before.
        self.owner: object = None
        #: Optional, for a step that is computed layer by layer: to be called in mid-step, by the
        #: training thread, where all elements from the given one on, counted over all parameters in
        #: their order, hold the new step already, in the arrays too; they may then be exchanged. A
        #: session sets it.
        self.ready_from: Callable[[int], None] = lambda first: None
        #: Optional, likewise: to be called with the first element, so counted, and their number,
        #: before the next step uses these; see Session.needed(). A session sets it.
        self.needed: Callable[[int, int], None] = lambda first, count: None
        #: For who calls needed(): to be called before elements change that it has not asked for;
        #: see Session.changing(). A session sets it.
        self.changing: Callable[[], None] = lambda: None
        #: Optional, for an optimizer with momentum: to be called in before("exchange"), so that the
        #: momentum of parameter `number` (from 0) follows what neighbours do to that; see
        #: fast/momentum.h. Its memory must stay until the next call; None: it has no momentum any
        #: more. A session sets it.
        self.correct_momentum: Callable[[int, Momentum | None], None] = lambda number, momentum: (
            None
        )
        #: For an adapter that makes momentum follow by itself: see Status.likeness. A session sets
        #: it.
        self.likeness: Callable[[], float] = lambda: 1.0
        #: Optional, once: to be called in before("exchange") with a hash of the first batch; see
        #: Session.note_first_batch(). A session sets it.
        self.note_first_batch: Callable[[int], None] = lambda hash: None

    def before(self, call: str) -> None:
        """Called before a session's `call`: the arrays must now hold the framework's present
        values."""

    def after(self, call: str) -> None:
        """Called after it, where it failed too: the framework must now take the arrays' values.
        "open" (from a checkpoint), "join", "exchange" and "finish" may have changed each of
        them."""

    def made(self, samples: int) -> None:
        """Called before before("exchange"): the step was made of so many examples."""

    def save_state(self) -> bytes:
        """What a checkpoint holds beside the arrays, such as the state of an optimizer. Called
        where one is saved, and within "open" where one may be, so that what cannot be saved is
        known at once."""
        return b""

    def load_state(self, state: bytes) -> None:
        """Called within "open" with what save_state() has returned, where a session resumes."""

    def model_replaced(self) -> None:
        """Called where the model was replaced by a neighbour's, or by the initial values of rank
        0, once after() has brought it to the framework. What belongs to the steps of the old
        one, such as momentum, should begin anew, and copies of the arrays be made again."""

    def close(self) -> None:
        """Called once, at the session's end. Hooks must leave the framework."""


class _Numbered(Mapping[str, Any]):
    """The arrays of a sequence, as they are now, under "0", "1" .."""

    def __init__(self, arrays: Sequence[Any]) -> None:
        self._arrays = arrays

    def __getitem__(self, name: str) -> Any:
        try:
            return self._arrays[int(name)]
        except (ValueError, IndexError):
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return map(str, range(len(self._arrays)))

    def __len__(self) -> int:
        return len(self._arrays)


def named(parameters: Any) -> Mapping[str, Any]:
    """Arrays by name, as the caller's mapping or sequence holds them at each time. A sequence's are
    called "0", "1" .., a single one "values"."""
    if isinstance(parameters, Mapping):
        if all(isinstance(name, str) for name in parameters):
            return parameters
        return {str(name): array for name, array in parameters.items()}
    numbers = (int, float)  # an array.array is a sequence of those, and one array
    if isinstance(parameters, Sequence) and not all(isinstance(p, numbers) for p in parameters):
        return _Numbered(parameters)
    return {"values": parameters}
