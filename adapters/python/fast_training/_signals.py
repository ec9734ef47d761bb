"""SIGTERM and Ctrl-C, which end the training of this process's sessions in good order."""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from .errors import INTERRUPTED

_LOGGER = logging.getLogger("fast_training")
_USUAL: dict[int, Any] = {
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGINT: signal.default_int_handler,
}


class Signals:
    """Hears the signals for which the program has no handler of its own, from hear() to leave().

    The first one calls `stop`, which tells whether there was anything to be stopped; the next one
    does what it usually does. A program that was stopped so and then ends by itself has
    INTERRUPTED for its exit code, so that no launcher takes it for one that has reached its end.
    Nor for one whose workers agree, where it has ended without: see exit_by().
    """

    def __init__(self, stop: Callable[[], bool]) -> None:
        self._stop = stop
        self._interrupted = False
        self._process = 0
        self._code, self._failed = 0, 0  # and the process of that code
        atexit.register(self._at_exit)
        os.register_at_fork(after_in_child=self.leave)

    def hear(self) -> None:
        """From now on. Handlers belong to the main thread: another one changes nothing. Nor does an
        interpreter at a prompt lose its Ctrl-C, whose sessions live on."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._process = os.getpid()
        for number, usual in _USUAL.items():
            at_prompt = number == signal.SIGINT and hasattr(sys, "ps1")
            if signal.getsignal(number) == usual and not at_prompt:
                signal.signal(number, self._heard)

    def leave(self) -> None:
        """Gives the handlers back."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number, usual in _USUAL.items():
            if signal.getsignal(number) == self._heard:
                signal.signal(number, usual)

    def exit_by(self, code: int) -> None:
        """Where this process ends by itself, its exit code is `code`."""
        self._code, self._failed = code, os.getpid()

    def _heard(self, number: int, _frame: FrameType | None) -> None:
        self.leave()
        if os.getpid() != self._process or not self._stop():  # else a child of fork()
            os.kill(os.getpid(), number)
            return
        self._interrupted = True
        _LOGGER.warning(
            "%s: training ends where done() is asked for (in 10 s also where it is not); once more "
            "ends the program",
            signal.Signals(number).name,
        )

    def _at_exit(self) -> None:
        code = INTERRUPTED if self._interrupted else self._code
        of_another = not self._interrupted and self._failed != os.getpid()  # a child of fork()
        if not code or of_another or hasattr(sys, "last_value"):  # or an error ends the program
            return
        # What ends later than this, since it was registered earlier.
        others = sys.modules.get("multiprocessing.util")
        if others is not None:
            others._exit_function()
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(code)
