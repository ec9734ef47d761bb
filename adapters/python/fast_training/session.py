"""Session: one worker of a grid, called once per step of a training loop."""

from __future__ import annotations

import ctypes
import functools
import logging
import math
import operator
import os
import time
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, SupportsFloat

from . import _options, _sessions, _torchrun
from ._handle import Handle
from ._library import NO_LOSS
from ._places import Places
from ._standstill import Agreed, Standstill
from ._status import Neighbour, Status
from .adapter import Adapter, named
from .errors import Interrupted, RefusedError, UsageError, exit_by_code

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._option_types import Options

__all__ = ["Neighbour", "Session", "Status", "begun"]

_LOGGER = logging.getLogger("fast_training")
_OTHER_RUN = "run id differs"  # as the library says it
_DEAF_SECONDS = 10.0  # that a loop may go on after a signal and not ask done()
_AGAIN_SECONDS = 0.2  # between two attempts to begin


class Session:
    """One worker: its options, its model and its exchange with its neighbours.

    `parameters` are the arrays that neighbours average: a mapping from names, a sequence, or one
    array; see Adapter, which may be given instead. A mapping or a sequence may be given new arrays
    between two calls, of the same names, types and shapes. `buffers` are saved, and begin as those
    of rank 0. `options` have the names and values of the command line (``topology="torus:2x2"``,
    ``rank=3``, ``listen="*:5555"``, ``keys="keys"``, ``peers={1: "node1:5555"}``,
    ``budget=250000`` (samples over all workers), ``codec="int8"`` ..; options() lists all). One
    that is not given comes from its environment variable (FAST_TOPOLOGY), and the rank from mpirun,
    srun or torchrun.

    The constructor binds the address and begins to look for neighbours, on a thread of its own.
    Parameters must then have their initial values. They may differ between workers: all begin with
    those of rank 0, unless ``initial`` is "same".

    A session over the same model ends the one before, as does one of the same rank and addresses.
    Of a process that `fast run` has started, each session is a run of its own, with files of its
    own, which begins anew.

    Methods belong to one thread at a time, stop() and what only looks to any. They raise
    FastError's classes. Ctrl-C ends a wait and with it the session's training: done() is then true.
    As a context manager a session finishes where the block ends well, and closes in any case.
    """

    @_options.documented()
    def __init__(self, parameters: Any, buffers: Any = None, **options: Unpack[Options]) -> None:
        """Opens the session."""
        exit_by_code()
        is_adapter = isinstance(parameters, Adapter)
        self.adapter: Adapter = parameters if is_adapter else Adapter(named(parameters))
        if buffers is not None:
            self.adapter.buffers = named(buffers)
        #: What finish() found: whether all neighbours agree; None before it.
        self.agreed: bool | None = None
        self._joined = False
        self._interrupted: float | None = None  # by a signal, when; None: done() has told
        self._result: Agreed | None = None  # of finish(), where all agree
        given = _options.from_arguments(options)
        self._options = _sessions.options_of_next(given)
        self._take_handle()
        try:
            self._configure()
            _sessions.take_place(self)
            self._open()
            _sessions.opened(self, given)
        except BaseException:
            self.close()
            raise

    def _take_handle(self) -> None:
        self._handle = Handle()
        self._closer = weakref.finalize(self, _end, self._handle, weakref.ref(self.adapter))

    def _configure(self) -> None:
        for key, value in self._options.items():
            self._handle.call("fast_set", key.encode(), value.encode())
        self._handle.call("fast_set_from_environment")
        self._meeting = self._meet()
        expected = _OTHER_RUN if _sessions.is_numbered(self._options) else ""
        self._handle.log_as(f"worker {self.options()['rank'][0]}", expected)

    def _meet(self) -> _torchrun.Meeting | None:
        """Where neighbours are to be found, if nothing else says it."""
        options = {name: value for name, (value, _help) in self.options().items()}
        workers = int(self._handle.read("fast_workers"))
        found = _torchrun.meeting(options, workers, self._options)
        if found is not None:
            self._handle.at_close(found.leave)
            for key, value in found.options().items():
                self._handle.call("fast_set", key.encode(), value.encode())
        return found

    def _open(self) -> None:
        self.adapter.before("open")
        self._places = Places(self._handle, self.adapter)
        self._standstill = Standstill(self._places.trained)
        adapter = weakref.proxy(self.adapter)  # a session is closed when nobody refers to it
        self._handle.set_state(lambda: adapter.save_state(), lambda kept: adapter.load_state(kept))
        self._handle.call("fast_open")
        if self._meeting is not None:
            ranks = [one.rank for one in self.neighbours()]
            self._meeting.begin(self.status().rank, self.endpoint(), ranks)
        self.adapter.ready_from = functools.partial(self._handle.call, "fast_ready_from")
        self.adapter.needed = self._taker()
        self.adapter.changing = functools.partial(self._handle.call, "fast_changing")
        self.adapter.note_first_batch = self._handle.note_first_batch
        self.adapter.correct_momentum = self._handle.correct_momentum
        self.adapter.likeness = self._handle.likeness
        self.adapter.after("open")
        if self.options()["checkpoint"][0]:
            self.adapter.save_state()  # what cannot be saved is known now, and not in a minute

    def _taker(self) -> Callable[[int, int], None]:
        """What Adapter.needed is: the session is not kept alive by it."""
        call, standstill = self._handle.call, self._standstill

        def take_in(first: int, count: int) -> None:
            call("fast_needed", first, count)
            standstill.taken_in(count)

        return take_in

    def _run(self, call: str, *arguments: Any) -> None:
        """fast_`call`(), with the adapter's part before and after it."""
        self.adapter.before(call)
        try:
            self._places.look(self.adapter)
            if call == "exchange" and (still := self._standstill.stepped()):
                _LOGGER.warning("worker %d: %s", self.status().rank, still)
            if call == "save_model":
                self._note_changes()
            self._handle.call(f"fast_{call}", *arguments)
            self._standstill.exchanged()
        finally:
            self.adapter.after(call)
        if self._handle.take_replaced():
            self.adapter.model_replaced()

    def join(self) -> None:
        """Waits until this worker may begin.

        Its neighbours begin too, or it has copied the model of one that is ahead. After
        ``start_deadline`` (0: never) it begins alone (mode sync: DeadlineError). The first
        exchange() calls it where nobody has.
        """
        if self._joined:
            return
        until = time.monotonic() + (float(self.options()["start_deadline"][0]) or math.inf)
        while not self._joined:
            try:
                self._run("join")
                self._joined = True
            except RefusedError as error:
                # A neighbour may still be in the session before this one, which is another run.
                early = _sessions.is_numbered(self._options) and _OTHER_RUN in str(error)
                if not early or time.monotonic() > until:
                    raise
                time.sleep(_AGAIN_SECONDS)
                # One that has come by itself meanwhile would go on alone if this session closed.
                if not any(one.link == "up" for one in self.neighbours()):
                    self._begin_again()

    def _begin_again(self) -> None:
        """Opens the session anew."""
        was_stopped = self._handle.stopped
        self._handle.close()
        self._closer.detach()
        self._take_handle()
        self._configure()
        self._open()
        if was_stopped:
            self.stop()

    def exchange(self, samples: int = 1, loss: SupportsFloat | None = None) -> None:
        """The step boundary, to be called once after each step of the optimizer.

        Folds what was agreed with neighbours since the last one, and shows them the present model.
        `samples` (examples) and `loss` are of this step; a loss that is NaN or infinite is counted
        and left out, None is shown nowhere. Raises NonFiniteError where parameters are NaN or
        infinite, and ModelError, by name, where an array has become another.
        """
        if self._interrupted and time.monotonic() - self._interrupted > _DEAF_SECONDS:
            raise Interrupted
        if not self._joined:
            self.join()
        if operator.index(samples) < 0:
            raise UsageError(f"{samples} samples; give the number of examples of this step")
        value = NO_LOSS if loss is None else _number(loss)
        self.adapter.made(samples)
        self._run("exchange", samples, value)

    def needed(self, first: int, count: int) -> None:
        """Optional: the next step is about to use `count` elements from `first` on, counted over
        all parameters in their order, and has not used them yet.

        Takes in what has been agreed on for these since exchange(), waiting for what is just coming
        as exchange() would. Where each step asks so for its layers, one after the other, exchange()
        waits for no averages: those of a layer have the time until then to come. What nobody asks
        for is taken in at the next exchange(). Models of PyTorch do it by themselves.

        A part that one step has asked for belongs to the session from the end of exchange() until
        the next step asks for it: averages are added to it there (option ``fold_ahead``). Ask for
        it before it is changed, or call changing().
        """
        self.adapter.needed(first, count)

    def changing(self) -> None:
        """To be called before parameters are changed between exchange() and the next step's use of
        them, as by clipping weights: all are the caller's until the end of exchange()."""
        self.adapter.changing()

    def mean(self, name: str, value: SupportsFloat | None = None) -> float:
        """A number that workers share by name, one of option ``means``, for decisions that all
        should take alike.

        Says this worker's latest `value`, unless it is None or not finite, and returns the mean of
        what each worker that has said one said last, as this one knows it; NaN where none is known.

        The mean travels with the exchange, without a collective: here a new value counts at once,
        as one worker's, and at the others after some steps. When nobody has said a new one for so
        long, all read the same number; in mode sync on topology complete, after one step. Decide
        by what is read just before the next value is said. What workers that died said fades as
        others say new values, over some thousand steps. Checkpoints hold it all.
        """
        mean, said = ctypes.c_double(), math.nan if value is None else _number(value)
        self._handle.call("fast_mean", name.encode(), said, ctypes.byref(mean))
        return mean.value

    def report(self, **values: SupportsFloat) -> dict[str, float]:
        """Numbers of your own, such as ``session.report(val_accuracy=0.71)``, of which option
        ``means`` names each.

        Says them to the other workers and returns, by name, what mean() does: the means as this
        worker knows them now. With ``out`` they are recorded, and the page shows for each name this
        worker's values and the mean over all.
        """
        return {name: self.mean(name, value) for name, value in values.items()}

    def note_first_batch(self, hash: int) -> None:
        """A hash of the content of this worker's first batch, of 64 bits and not 0, to be called
        once, before the first exchange(). Where a neighbour has the same, a warning says that both
        train on the same examples. Models of PyTorch do it by themselves."""
        self._handle.note_first_batch(hash)

    def finish(self) -> bool:
        """Ends training: averages until neighbours agree or ``settle_deadline`` passes, then
        freezes the model.

        Returns whether they agree. False, too, where none of many steps has changed what is
        exchanged: what was trained is then something else.
        """
        agreed = ctypes.c_int(0)
        self._run("finish", ctypes.byref(agreed))
        self._handle.finished = True
        self.agreed = bool(agreed.value) and self._standstill.trains
        if self.agreed:
            self._result = Agreed(self._places.trained)
        return self.agreed

    def _note_changes(self) -> None:
        """Says where the model is no longer what all agreed on."""
        if self._result and (changed := self._result.changed()):
            self._result = None
            _LOGGER.warning("worker %d: %s", self.status().rank, changed)

    def save_model(self, path: str | os.PathLike[str]) -> None:
        """Writes the model as one safetensors file: the complete new file or none."""
        self._run("save_model", os.fsencode(path))

    def save_checkpoint(self, path: str | os.PathLike[str]) -> None:
        """Saves a checkpoint now, between two steps, as ``checkpoint`` does every minute: all that
        it takes to go on with the run (``resume``). A thread of its own writes it."""
        self._run("save_checkpoint", os.fsencode(path))

    def stop_all(self, reason: str) -> None:
        """Ends the run for all workers, without loss: done() becomes true here, and at each other
        worker as soon as word has come to it. All then call finish() and agree. `reason` is for the
        log. In mode sync all must call it at the same step."""
        self._handle.call("fast_stop_all", reason.encode())

    def stop(self) -> None:
        """Ends every wait at once, and makes done() true. Any thread and any handler of signals."""
        self._handle.stop()

    def interrupt(self) -> None:
        """A signal ends training: stop(). From a loop that does not ask done() in 10 s, exchange()
        raises SystemExit, after which the block of a session still ends with finish()."""
        self._interrupted = time.monotonic()
        self.stop()

    def close(self, why: str = "the session is closed; open another one") -> None:
        """Leaves in good order (lets neighbours complete what is in flight, 2 s at most) and frees
        the session. Also done when the session is collected and when the interpreter ends.
        Afterwards what a session tells is what it was at last. `why`: what calls that come later
        are told."""
        if self._handle.is_own:
            self._note_changes()
        self._handle.close(why)
        self._closer()
        _sessions.closed(self)

    # What follows looks only, and belongs to any thread.

    def done(self) -> bool:
        """Whether the budget is used, counted over all workers, or stop_all() or stop() was
        called."""
        self._interrupted = None
        return bool(self._handle.read("fast_done"))

    def progress(self) -> float:
        """Share of the budget used by all workers together; 0 without a budget."""
        return float(self._handle.read("fast_progress"))

    def loss(self) -> float:
        """Decayed mean of the loss over all workers, as this worker knows it; NaN where none is
        known."""
        return float(self._handle.read("fast_loss"))

    def steps(self) -> int:
        """Steps whose boundary this worker has passed."""
        return int(self._handle.read("fast_steps"))

    def exchange_seconds(self) -> float:
        """Seconds spent in exchange(), without the adapter's copies."""
        return float(self._handle.read("fast_exchange_seconds"))

    def endpoint(self) -> str:
        """The address of this worker, such as "zmq://127.0.0.1:40123"."""
        text: bytes = self._handle.read("fast_endpoint")
        return text.decode()

    def options(self) -> dict[str, tuple[str, str]]:
        """Each option's value in this session and a sentence on it, by name."""
        found: dict[str, tuple[str, str]] = self._handle.told("options")
        return found

    def status(self) -> Status:
        """A recent snapshot of the exchange."""
        found: Status = self._handle.told("status")
        return found

    def neighbours(self) -> list[Neighbour]:
        """All neighbours, by rank."""
        found: list[Neighbour] = self._handle.told("neighbours")
        return found

    def counters(self) -> dict[str, int]:
        """Events since the session began: "sweeps", "bytes_sent" .."""
        found: dict[str, int] = self._handle.told("counters")
        return found

    def __repr__(self) -> str:
        try:
            status = self.status()
        except UsageError:  # not open yet, or in a child of fork()
            return "<fast_training.Session, which is not open>"
        place = f"rank {status.rank} of {status.workers} ({self.options()['topology'][0]})"
        ended = "" if self._handle.is_open else ", closed"
        return (
            f"<fast_training.Session: {place}, {status.state}{ended}, "
            f"{self.steps()} steps, {100 * self.progress():.0f} % of the budget>"
        )

    def __reduce__(self) -> Any:
        raise UsageError(
            "a session cannot be copied or sent to another process, since it belongs to this one; "
            "copy or send its model"
        )

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            ends = kind is None or issubclass(kind, Interrupted)
            if error is not None and not ends and self._handle.is_own:
                # By the step a launcher knows whether a crash repeats. From Python 3.11 on.
                note = f"worker {self.status().rank} had made {self.steps()} steps"
                getattr(error, "add_note", str)(note)
            if ends and self.agreed is None and not self.finish():
                _LOGGER.warning(
                    "worker %d ended without agreement with its neighbours%s",
                    self.status().rank,
                    _sessions.OWN_MODEL if self.status().workers > 1 else "",
                )
                if kind is None:
                    _sessions.ended_apart(self)
        finally:
            self.close()


def _number(value: SupportsFloat) -> float:
    # PyTorch warns where a tensor with a gradient becomes a number.
    return float(getattr(value, "detach", lambda: value)())


def _end(handle: Handle, adapter: weakref.ref[Adapter]) -> None:
    """A session is closed, was collected, or is left behind at the end of the interpreter."""
    try:
        if handle.close() and handle.read("fast_steps") and not handle.finished:
            _LOGGER.warning(
                "worker %d ended without finish() at step %d: its model is its own, not one that "
                "its neighbours agree with",
                handle.told("status").rank,
                handle.read("fast_steps"),
            )
    finally:
        found = adapter()
        if found is not None:
            found.close()


def begun(session: Session) -> Session:
    """`session`, once its worker may begin; closed where that raises."""
    try:
        session.join()
    except BaseException:
        session.close()
        raise
    return session
