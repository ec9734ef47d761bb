"""One ``fast_session`` of libfast.so, safe to use from Python's threads, signals and forks."""

from __future__ import annotations

import ctypes
import functools
import logging
import os
import threading
from collections.abc import Callable, Generator
from typing import Any

from ._library import (
    CounterVisitor,
    LoadState,
    LogCallback,
    OptionVisitor,
    SaveState,
    StatusStruct,
    WaitingCallback,
    library,
)
from .adapter import Momentum
from .errors import FastError, UsageError, error_of

_LOGGER = logging.getLogger("fast_training")
_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)
_CLOSED = "the session is closed; open another one"
_CLOSE_SECONDS = 10.0  # for a call of another thread, which stop() has ended, to return


class ClosedError(UsageError):
    """The session is closed."""


def _logging_to(label: str) -> Callable[[int | None, int, bytes], None]:
    def log(_context: int | None, level: int, line: bytes) -> None:
        _LOGGER.log(_LEVELS[level], "%s: %s", label, line.decode(errors="replace"))

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
        self._closing = False
        self._in_use = threading.Lock()  # a session belongs to one thread at a time
        self._until_closed = threading.RLock()  # a handler of signals may interrupt its holder
        self._raised: list[BaseException] = []  # by handlers of signals during a wait
        stop = functools.partial(self._library.fast_stop, self._pointer)
        waiting = _signals(stop, self._raised)
        next(waiting)
        # Whatever the library uses until it is closed: functions, memory of parameters.
        self._kept: list[object] = [WaitingCallback(waiting.send)]
        self.call("fast_set_waiting", self._kept[0], None)

    def log_as(self, label: str) -> None:
        """Sends the session's log to the package's logger, each line after `label`."""
        self.keep(LogCallback(_logging_to(label)))
        self.call("fast_set_log", self._kept[-1], None)

    def keep(self, owner: object) -> None:
        """Keeps `owner` alive until the session is closed."""
        self._kept.append(owner)

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

    def get(self, name: str, *arguments: Any) -> Any:
        """What a function without a result code returns.

        Raises UsageError where the session is closed, in a child of fork(), and where another call
        of this session has not returned yet.
        """
        if os.getpid() != self._process:
            raise UsageError(
                f"the session belongs to process {self._process}, of which this one is a child; "
                "open a session of its own after fork()"
            )
        if not self._in_use.acquire(blocking=False):
            if self._closing:
                raise ClosedError(_CLOSED)
            raise UsageError(
                "the session is in another call, whose thread it belongs to until that returns; "
                "call it from one thread at a time (stop() may be called from any)"
            )
        try:
            if self._pointer is None:
                raise ClosedError(_CLOSED)
            return getattr(self._library, name)(self._pointer, *arguments)
        finally:
            self._in_use.release()

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function that returns a result code. Raises FastError by that code, or what a
        handler of signals has raised while the function waited (KeyboardInterrupt)."""
        code = self.get(name, *arguments)
        if self._raised:
            raise self._raised.pop()
        if code != 0:
            raise self._error(code)

    def follow(self, number: int, momentum: Momentum | None) -> None:
        """See Adapter.follow."""
        self.call("fast_momentum", number, *(momentum or (None, 0.0, 0.0, 0.0)))

    def likeness(self) -> float:
        """See Status.likeness."""
        seen = StatusStruct()
        self.call("fast_get_status", ctypes.byref(seen))
        return float(seen.likeness)

    def _error(self, code: int) -> FastError:
        text: bytes = self.get("fast_error")
        return error_of(code, text.decode(errors="replace"))

    def options(self) -> dict[str, tuple[str, str]]:
        """Each option's present value and a sentence on it."""
        found: dict[str, tuple[str, str]] = {}

        def visit(_context: int | None, key: bytes, value: bytes, text: bytes) -> None:
            found[key.decode()] = (value.decode(), text.decode())

        self.call("fast_options", OptionVisitor(visit), None)
        return found

    def counters(self) -> dict[str, int]:
        """Events since the session began."""
        found: dict[str, int] = {}

        def visit(_context: int | None, name: bytes, value: int) -> None:
            found[name.decode()] = value

        self.call("fast_counters", CounterVisitor(visit), None)
        return found

    def stop(self) -> None:
        """Ends every wait, of other threads too. Any thread and any handler of signals."""
        with self._until_closed:
            if self._pointer is not None:
                self._library.fast_stop(self._pointer)

    def close(self) -> None:
        """Leaves in good order (2 s at most) and frees the session. Does nothing once closed."""
        if os.getpid() != self._process:  # locks may be held by threads that are not here
            pointer, self._pointer = self._pointer, None
            self._library.fast_close(pointer)
            return
        self._closing = True
        self.stop()
        if not self._in_use.acquire(timeout=_CLOSE_SECONDS):
            _LOGGER.error("a session is still in a call of another thread and stays open")
            return
        try:
            with self._until_closed:
                pointer, self._pointer = self._pointer, None
            self._library.fast_close(pointer)
            self._kept.clear()
        finally:
            self._in_use.release()


def shape_argument(shape: tuple[int, ...]) -> Any:
    """`shape` as fast.h takes it."""
    return (ctypes.c_int64 * len(shape))(*shape)
