"""What a session asks of a framework: its parameters as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple


class Momentum(NamedTuple):
    """The momentum of a parameter, after a step m <- lasting m + gradient, x <- x - rate m."""

    address: int  # of m, of the parameter's type, shape and order in memory
    rate: float  # learning rate
    lasting: float  # from 0 to 1
    share: float  # of what neighbours move the parameter by that enters m, from 0 to 1


class Adapter:
    """A model whose parameters are arrays that stay where they are. All methods: training thread.

    An adapter of a framework whose memory is elsewhere (on a device, say, or in arrays that never
    change) gives copies of its own as `parameters`, and brings them up to date in before() and
    after().
    """

    def __init__(
        self, parameters: Mapping[str, Any], buffers: Mapping[str, Any] | None = None
    ) -> None:
        #: What neighbours average, by name and in one order on all workers: arrays of float32,
        #: float64, float16 or bfloat16, of any shape, row-major and contiguous.
        self.parameters = parameters
        #: What is saved beside them and not exchanged; whole numbers too.
        self.buffers: Mapping[str, Any] = {} if buffers is None else buffers
        #: Optional, for a step that is computed layer by layer: to be called in mid-step, by the
        #: training thread, where all elements from the given one on, counted over all parameters in
        #: their order, hold the new step already, in the arrays too; they may then be exchanged. A
        #: session sets it.
        self.ready_from: Callable[[int], None] = lambda first: None
        #: Optional, for an optimizer with momentum: to be called in before("exchange"), so that the
        #: momentum of parameter `number` (from 0) follows what neighbours do to that; see
        #: fast/momentum.h. Its memory must stay until the next call; None: it has no momentum any
        #: more. A session sets it.
        self.follow: Callable[[int, Momentum | None], None] = lambda number, momentum: None
        #: For an adapter that makes momentum follow by itself: see Status.likeness. A session sets
        #: it.
        self.likeness: Callable[[], float] = lambda: 1.0

    def before(self, call: str) -> None:
        """Called before a session's "open", "join", "exchange", "finish" and "save": the arrays
        must now hold the framework's present values."""

    def after(self, call: str) -> None:
        """Called after it, where it failed too: the framework must now take the arrays' values."""

    def save_state(self) -> bytes:
        """What a checkpoint holds beside parameters and buffers, such as the state of an optimizer.
        Called within "exchange" and "finish" where a checkpoint is due."""
        return b""

    def load_state(self, state: bytes) -> None:
        """Called within "open" with what save_state() has returned, where a session resumes."""

    def model_replaced(self) -> None:
        """Called where the model was replaced by that of a neighbour that is ahead, after after():
        what belongs to the steps of the old one, such as momentum, should begin anew."""


def named(parameters: Any) -> dict[str, Any]:
    """Arrays by name. A sequence's are called "0", "1" .., a single one "values"."""
    if isinstance(parameters, Mapping):
        return {str(name): array for name, array in parameters.items()}
    numbers = (int, float)  # an array.array is a sequence of those, and one array
    if isinstance(parameters, Sequence) and not all(isinstance(p, numbers) for p in parameters):
        return {str(index): array for index, array in enumerate(parameters)}
    return {"values": parameters}
