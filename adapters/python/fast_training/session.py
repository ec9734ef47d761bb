"""Session: one worker of a grid, called once per step of a training loop."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import logging
import math
import operator
import os
import weakref
from types import TracebackType
from typing import Any, NamedTuple, SupportsFloat

from . import _options
from ._handle import ClosedError, Handle, shape_argument
from ._library import NeighbourStruct, StatusStruct
from ._memory import memory_of
from .adapter import Adapter, named
from .errors import NonFiniteError, UsageError

_LOGGER = logging.getLogger("fast_training")


class Status(NamedTuple):
    """A recent snapshot of a worker's exchange."""

    state: str  # "joining", "training", "settling", "settled", "frozen"
    rank: int
    workers: int  # in the topology
    neighbours: int  # of this worker
    joined_from: int | None  # rank whose model was adopted at the start
    consensus_distance: float  # rms distance to neighbours' models over the norm of this one
    flushed: bool  # nothing is in flight with any neighbour
    initial_from: int | None  # rank whose initial values were taken over
    likeness: float  # of this worker's steps and its neighbours' in length, 0 to 1


class Neighbour(NamedTuple):
    """One neighbour, as this worker sees it. Counters begin at 0 with the session."""

    rank: int
    shared: bool  # the model is averaged in shared memory
    link: str  # "connecting", "up", "suspect", "gone", "left", "refused"
    state: str  # as last reported: see Status
    step: int  # last reported
    sweeps: int  # completed with it, begun here
    bytes_sent: int  # to it, headers included
    bytes_shared: int  # that this worker averaged in shared memory
    round_trip: float  # seconds, of a bucket, decayed mean; 0 before the first
    since_sweep: float | None  # seconds since the last sweep with it


class Session:
    """One worker: its options, its model and its exchange with its neighbours.

    `parameters` are the arrays that neighbours average: a mapping from names, a sequence, or one
    array; see Adapter, which may be given instead. Their memory must not move until close().
    `options` have the names and values of the command line (``topology="torus:2x2"``, ``rank=3``,
    ``listen="*:5555"``, ``peers={1: "node1:5555"}``, ``budget=250000`` (samples over all workers),
    ``codec="int8"`` ..; options() lists all). One that is not given comes from its environment
    variable (FAST_TOPOLOGY), and the rank from mpirun, srun or torchrun.

    The constructor binds the address and begins to look for neighbours, on a thread of its own.
    Parameters must then have their initial values. They may differ between workers: all begin with
    those of rank 0, unless ``initial`` is "same".

    Methods belong to one thread at a time, stop() to any. They raise FastError's classes. Ctrl-C
    ends a wait and with it the session's training: done() is then true. As a context manager a
    session finishes where the block ends well, and closes in any case.
    """

    def __init__(self, parameters: Any, buffers: Any = None, **options: Any) -> None:
        is_adapter = isinstance(parameters, Adapter)
        self.adapter: Adapter = parameters if is_adapter else Adapter(named(parameters))
        if buffers is not None:
            self.adapter.buffers = named(buffers)
        #: What finish() found: whether all neighbours agree; None before it.
        self.agreed: bool | None = None
        self._joined, self._passed = False, 0  # steps whose boundary was passed
        self._handle = Handle()
        self._closer = weakref.finalize(self, self._handle.close)
        try:
            self._configure(_options.from_arguments(options))
            self._open()
        except BaseException:
            self.close()
            raise

    def _configure(self, given: dict[str, str]) -> None:
        for key, value in given.items():
            self._handle.call("fast_set", key.encode(), value.encode())
        self._handle.call("fast_set_from_environment")
        self._handle.log_as(f"worker {self._handle.options()['rank'][0]}")

    def _open(self) -> None:
        self.adapter.before("open")
        for call, arrays in (
            ("fast_parameter", self.adapter.parameters),
            ("fast_buffer", self.adapter.buffers),
        ):
            for name, array in arrays.items():
                memory = memory_of(array, name)
                shape = memory.shape
                self._handle.keep(memory.owner)
                self._handle.call(
                    call,
                    name.encode(),
                    memory.type.encode(),
                    len(shape),
                    shape_argument(shape),
                    memory.address,
                )
        adapter = weakref.proxy(self.adapter)  # a session is closed when nobody refers to it
        self._handle.set_state(lambda: adapter.save_state(), lambda kept: adapter.load_state(kept))
        self._handle.call("fast_open")
        self.adapter.ready_from = functools.partial(self._handle.call, "fast_ready_from")
        self.adapter.follow = self._handle.follow
        self.adapter.likeness = self._handle.likeness
        self.adapter.after("open")

    def _run(self, call: str, *arguments: Any) -> None:
        """fast_`call`(), with the adapter's part before and after it."""
        self.adapter.before(call)
        try:
            self._handle.call(f"fast_{call}", *arguments)
        finally:
            self.adapter.after(call)

    def join(self) -> None:
        """Waits until this worker may begin.

        Its neighbours begin too, or it has copied the model of one that is ahead. After
        ``start_deadline`` it begins alone (mode sync: DeadlineError). The first exchange() calls it
        where nobody has.
        """
        self._run("join")
        if self._joined:
            return
        with contextlib.suppress(ClosedError):  # another thread may have closed it meanwhile
            self._joined, self._passed = True, self.steps()
            status = self.status()
            if status.joined_from is not None or status.initial_from is not None:
                self.adapter.model_replaced()

    def exchange(self, samples: int = 1, loss: SupportsFloat = 0.0) -> None:
        """The step boundary, to be called once after each step of the optimizer.

        Folds what was agreed with neighbours since the last one, and shows them the present model.
        `samples` (examples) and `loss` are of this step. Raises NonFiniteError where the loss or
        parameters are NaN or infinite.
        """
        if not self._joined:
            self.join()
        if operator.index(samples) < 0:
            raise UsageError(f"{samples} samples; give the number of examples of this step")
        # PyTorch warns where a tensor with a gradient becomes a number.
        value = float(loss.detach() if hasattr(loss, "detach") else loss)
        if not math.isfinite(value):
            raise NonFiniteError(
                f"the loss became {value} at step {self._passed + 1}; lower the learning rate"
            )
        self._run("exchange", samples, value)
        with contextlib.suppress(ClosedError):  # as in join()
            before, self._passed = self._passed, self.steps()
            if self._passed == before and not self.done():  # the step went with the old model
                self.adapter.model_replaced()

    def finish(self) -> bool:
        """Ends training: averages until neighbours agree or ``settle_deadline`` passes, then
        freezes the model. Returns whether they agree."""
        agreed = ctypes.c_int(0)
        self._run("finish", ctypes.byref(agreed))
        self.agreed = bool(agreed.value)
        return self.agreed

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes parameters and buffers as one safetensors file: the complete new file or none."""
        self._run("save", os.fsencode(path))

    def stop(self) -> None:
        """Ends every wait at once, and makes done() true. Any thread and any handler of signals."""
        self._handle.stop()

    def close(self) -> None:
        """Leaves in good order (lets neighbours settle what is in flight, 2 s at most) and frees
        the session. Also done when the session is collected and when the interpreter ends."""
        self._closer()

    def done(self) -> bool:
        """Whether the budget is used, counted over all workers, or stop() was called."""
        return bool(self._handle.get("fast_done"))

    def progress(self) -> float:
        """Share of the budget used by all workers together; 0 without a budget."""
        return float(self._handle.get("fast_progress"))

    def loss(self) -> float:
        """Decayed mean of the loss over all workers, as this worker knows it."""
        return float(self._handle.get("fast_loss"))

    def steps(self) -> int:
        """Steps whose boundary this worker has passed."""
        return int(self._handle.get("fast_steps"))

    def exchange_seconds(self) -> float:
        """Seconds spent in exchange(), without the adapter's copies."""
        return float(self._handle.get("fast_exchange_seconds"))

    def endpoint(self) -> str:
        """The address of this worker, such as "zmq://127.0.0.1:40123"."""
        text: bytes = self._handle.get("fast_endpoint")
        return text.decode()

    def options(self) -> dict[str, tuple[str, str]]:
        """Each option's value in this session and a sentence on it, by name."""
        return self._handle.options()

    def status(self) -> Status:
        """A recent snapshot of the exchange."""
        seen = StatusStruct()
        self._handle.call("fast_get_status", ctypes.byref(seen))
        return Status(
            state=seen.state.decode(),
            rank=seen.rank,
            workers=seen.workers,
            neighbours=seen.neighbours,
            joined_from=None if seen.joined_from < 0 else seen.joined_from,
            consensus_distance=seen.consensus_distance,
            flushed=bool(seen.flushed),
            initial_from=None if seen.initial_from < 0 else seen.initial_from,
            likeness=seen.likeness,
        )

    def neighbours(self) -> list[Neighbour]:
        """All neighbours, by rank."""
        found = []
        for index in range(self.status().neighbours):
            seen = NeighbourStruct()
            self._handle.call("fast_get_neighbour", index, ctypes.byref(seen))
            values = {name: getattr(seen, name) for name in Neighbour._fields}
            values["shared"] = bool(seen.shared)
            values["link"], values["state"] = seen.link.decode(), seen.state.decode()
            values["since_sweep"] = None if seen.since_sweep < 0 else seen.since_sweep
            found.append(Neighbour(**values))
        return found

    def counters(self) -> dict[str, int]:
        """Events since the session began: "sweeps", "bytes_sent" .."""
        return self._handle.counters()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None and self.agreed is None and not self.finish():
                _LOGGER.warning(
                    "worker %d ended without agreement with its neighbours", self.status().rank
                )
        finally:
            self.close()


def begun(session: Session) -> Session:
    """`session`, once its worker may begin; closed where that raises."""
    try:
        session.join()
    except BaseException:
        session.close()
        raise
    return session
