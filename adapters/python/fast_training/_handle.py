"""One ``fast_session`` of libfast.so, safe to use from Python's threads, signals and forks."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import logging
import math
import os
import threading
from collections.abc import Callable, Generator
from typing import Any

from ._library import (
    LoadState,
    LogCallback,
    ModelReplaced,
    SaveState,
    WaitingCallback,
    library,
)
from ._status import READERS, Status
from .adapter import Momentum
from .errors import FastError, UsageError, error_of

_LOGGER = logging.getLogger("fast_training")
_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)
_CLOSED = "the session is closed; open another one"
# What read() returns before it could look, by function.
_AT_FIRST = {
    "fast_done": 0,
    "fast_progress": 0.0,
    "fast_loss": math.nan,
    "fast_steps": 0,
    "fast_exchange_seconds": 0.0,
    "fast_endpoint": b"",
    "fast_workers": -1,
}
_CLOSE_SECONDS = 10.0  # for a call of another thread, which stop() has ended, to return


class ClosedError(UsageError):
    """The session is closed."""


def _logging_to(label: str, expected: str) -> Callable[[int | None, int, bytes], None]:
    def log(_context: int | None, level: int, line: bytes) -> None:
        text = line.decode(errors="replace")
        as_level = logging.INFO if expected and expected in text else _LEVELS[level]
        _LOGGER.log(as_level, "%s: %s", label, text)

    return log


def _signals(stop: Callable[[], None], raised: list[BaseException]) -> Generator[None, Any, None]:
    """Lets Python run its handlers of signals; where one raises, as Ctrl-C's does, calls `stop`.

    A generator, since Python runs the handlers as soon as a function is entered, which in an
    ordinary function would be before its ``try``: ctypes would drop the exception.
    """
    while True:
        try:
            yield
        except GeneratorExit:
            return
        except BaseException as error:
            raised.append(error)
            stop()


class Handle:
    """A session of libfast.so. Its functions are called by their name in fast.h.

    Holds no reference to the Session that uses it, so that it may outlive that.
    """

    def __init__(self) -> None:
        self._library = library()
        self._pointer: int | None = self._library.fast_new()
        if self._pointer is None:
            raise MemoryError("libfast.so is out of memory")
        self._process = os.getpid()
        self._why_closed = ""
        self._stopped = False
        self.finished = False  # finish() has returned; set by the session
        self._in_use = threading.Lock()  # held by a call of the training thread
        # A handler of signals may interrupt the holder of these and take them, too.
        self._reading = threading.RLock()  # held by that call too, and by read()
        self._until_closed = threading.RLock()  # the pointer does not change meanwhile
        self._seen: dict[str, Any] = dict(_AT_FIRST)  # what read() has returned at last
        self._last: dict[str, Any] = {}  # what told() returns once closed
        self._raised: list[BaseException] = []  # within callbacks
        self._leave: list[Callable[[], None]] = []
        self._replaced = [False]  # the model was, since take_replaced()
        stop = functools.partial(self._library.fast_stop, self._pointer)
        waiting = _signals(stop, self._raised)
        next(waiting)
        # Whatever the library uses until it is closed: functions, memory of parameters.
        self._kept: list[object] = [WaitingCallback(waiting.send)]
        self.call("fast_set_waiting", self._kept[0], None)
        self._hear_of_replaced()

    @property
    def is_own(self) -> bool:
        """Whether this is the process that opened the session, no child of it by fork()."""
        return os.getpid() == self._process

    @property
    def is_open(self) -> bool:
        """Whether it was not closed yet."""
        return self._pointer is not None

    @property
    def stopped(self) -> bool:
        """Whether stop() was called."""
        return self._stopped

    def log_as(self, label: str, expected: str) -> None:
        """Sends the session's log to the package's logger, each line after `label`. Lines with the
        text `expected`, unless it is empty, are no warnings."""
        self.keep(LogCallback(_logging_to(label, expected)))
        self.call("fast_set_log", self._kept[-1], None)

    def keep(self, owner: object) -> None:
        """Keeps `owner` alive until the session is closed."""
        self._kept.append(owner)

    def at_close(self, leave: Callable[[], None]) -> None:
        """Calls `leave` when the session has been closed."""
        self._leave.append(leave)

    def set_state(self, save: Callable[[], bytes], load: Callable[[bytes], None]) -> None:
        """What checkpoints hold beside the model. What `save` and `load` raise, the call raises
        that they are called in."""
        raised, kept = self._raised, [b""]

        def save_bytes(_context: int | None, bytes_at: Any, size_at: Any) -> int:
            try:
                kept[0] = save()
                bytes_at[0] = ctypes.cast(ctypes.c_char_p(kept[0]), ctypes.c_void_p).value
                size_at[0] = len(kept[0])
            except BaseException as error:
                raised.append(error)
                return 1
            return 0

        def load_bytes(_context: int | None, at: int | None, size: int) -> int:
            try:
                load(ctypes.string_at(at, size) if at else b"")
            except BaseException as error:
                raised.append(error)
                return 1
            return 0

        functions = SaveState(save_bytes), LoadState(load_bytes)
        self.keep(functions)
        self.call("fast_set_state", *functions, None)

    def _hear_of_replaced(self) -> None:
        replaced = self._replaced

        def hear(_context: int | None) -> None:
            replaced[0] = True

        self.keep(ModelReplaced(hear))
        self.call("fast_set_model_replaced", self._kept[-1], None)

    def take_replaced(self) -> bool:
        """Whether the model was replaced by another worker's since this was asked last."""
        found, self._replaced[0] = self._replaced[0], False
        return found

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function that returns a result code. Training thread.

        Raises FastError by that code, or what a handler of signals has raised while the function
        waited (KeyboardInterrupt). UsageError where the session is closed, in a child of fork(),
        and where another call of this session has not returned yet.
        """
        self._demand_own_process()
        if not self._in_use.acquire(blocking=False):
            self._demand_open()
            raise UsageError(
                "the session is in another call, whose thread it belongs to until that returns; "
                "call it from one thread at a time (what only looks, and stop(), any may call)"
            )
        try:
            with self._reading:
                self._demand_open()
                code = getattr(self._library, name)(self._pointer, *arguments)
                if self._raised:
                    raise self._raised.pop()
                if code != 0:
                    text: bytes = self._library.fast_error(self._pointer)
                    raise error_of(code, text.decode(errors="replace"))
        finally:
            self._in_use.release()

    def read(self, name: str) -> Any:
        """What a function without a result code returns. Any thread: while another one is in a
        call, and once the session is closed, it is what was seen last."""
        self._demand_own_process()
        if not self._in_use.locked() and self._reading.acquire(blocking=False):
            try:
                if self._pointer is not None:
                    self._seen[name] = getattr(self._library, name)(self._pointer)
            finally:
                self._reading.release()
        return self._seen[name]

    def told(self, what: str) -> Any:
        """What a session tells, by a name of READERS. Any thread; once closed, what it was."""
        self._demand_own_process()
        with self._until_closed:
            if self._pointer is not None:
                return READERS[what](self._call_of_any_thread)
        if what not in self._last:
            raise ClosedError(self._why_closed)
        return self._last[what]

    def _call_of_any_thread(self, name: str, *arguments: Any) -> None:
        code = getattr(self._library, name)(self._pointer, *arguments)
        if code != 0:
            raise error_of(code, "the session is not open; it tells this once it is")

    def correct_momentum(self, number: int, momentum: Momentum | None) -> None:
        """See Adapter.correct_momentum."""
        self.call("fast_momentum", number, *(momentum or (None, 0.0, 0.0, 0.0)))

    def note_first_batch(self, hash: int) -> None:
        """See Session.note_first_batch()."""
        if not 0 < hash < 2**64:
            raise UsageError(f"{hash} is no hash of a batch; give a number from 1 to 2**64 - 1")
        self.call("fast_note_first_batch", hash)

    def likeness(self) -> float:
        """See Status.likeness."""
        status: Status = self.told("status")
        return status.likeness

    def stop(self) -> None:
        """Ends every wait, of other threads too. Any thread and any handler of signals."""
        with self._until_closed:
            if self._pointer is not None:
                self._library.fast_stop(self._pointer)
                self._seen["fast_done"], self._stopped = 1, True

    def close(self, why: str = _CLOSED) -> bool:
        """Leaves in good order (2 s at most) and frees the session. Does nothing once closed.
        `why`: what calls that come later are told. Whether it was open in this process."""
        if not self.is_own:  # locks may be held by threads that are not here
            pointer, self._pointer = self._pointer, None
            self._library.fast_close(pointer)
            return False
        self._why_closed = self._why_closed or why
        if not self._in_use.acquire(blocking=False):
            self.stop()
            if not self._in_use.acquire(timeout=_CLOSE_SECONDS):
                _LOGGER.error("a session is still in a call of another thread and stays open")
                return False
        try:
            with self._reading:
                was_open = self._pointer is not None
                self._look_back()
                with self._until_closed:
                    pointer, self._pointer = self._pointer, None
                self._library.fast_close(pointer)
                self._kept.clear()
                while self._leave:
                    self._leave.pop()()
                return was_open
        finally:
            self._in_use.release()

    def _look_back(self) -> None:
        """Notes what is told from now on."""
        if self._pointer is None:
            return
        for name in self._seen.keys() - {"fast_done"}:
            self._seen[name] = getattr(self._library, name)(self._pointer)
        self._seen["fast_done"] = 1
        for what, read in READERS.items():
            with contextlib.suppress(FastError):  # where it was never open
                self._last[what] = read(self._call_of_any_thread)

    def _demand_open(self) -> None:
        if self._why_closed:
            raise ClosedError(self._why_closed)

    def _demand_own_process(self) -> None:
        if not self.is_own:
            raise UsageError(
                f"the session belongs to process {self._process}, of which this one is a child; "
                "open a session of its own after fork()"
            )
