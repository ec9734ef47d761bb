"""Exceptions of a session: one class per result code of libfast.so."""

from __future__ import annotations

import functools
import sys
from types import TracebackType


class FastError(RuntimeError):
    """A failure of a session. The text gives the cause and the remedy.

    ``exit_code`` is what a program that ends by this error should exit with. The codes are those of
    ``fast`` and ``fast-worker``.
    """

    exit_code: int = 1


class UsageError(FastError, ValueError):
    """An option, the topology or an array is not usable, or a call comes out of order."""

    exit_code = 2


class DataError(FastError, ValueError):
    """A data set is missing, truncated or wrong."""

    exit_code = 3


class FileError(FastError, OSError):
    """A file cannot be read or written."""

    exit_code = 4


class NetworkError(FastError, OSError):
    """The address is in use or not usable."""

    exit_code = 5


class RefusedError(FastError, ConnectionRefusedError):
    """A neighbour refused this worker: another model, run, version or start."""

    exit_code = 6


class NonFiniteError(FastError, ArithmeticError):
    """Parameters became NaN or infinite."""

    exit_code = 7


class ModelError(FastError, TypeError):
    """A model that cannot be exchanged."""

    exit_code = 9


class DeadlineError(FastError, TimeoutError):
    """A wait passed its deadline (modes sync and bounded)."""

    exit_code = 10


def error_of(code: int, text: str) -> FastError:
    """The exception for a result code of libfast.so other than 0."""
    classes: tuple[type[FastError], ...] = (
        UsageError,
        DataError,
        FileError,
        NetworkError,
        RefusedError,
        NonFiniteError,
        ModelError,
        DeadlineError,
    )
    for one in classes:
        if one.exit_code == code:
            return one(text)
    return FastError(text)


CUT_OFF, ALONE = 8, 11  #: of one whose workers did not agree, or that never met one
INTERRUPTED = 130  #: exit code of a program whose training a signal has ended


class Interrupted(SystemExit):
    """A signal has ended the training of a loop that does not ask done()."""

    def __init__(self) -> None:
        super().__init__(INTERRUPTED)


_USELESS = (NameError, SyntaxError, ImportError, TypeError)  # the program's text is wrong


@functools.cache
def exit_by_code() -> None:
    """From now on a program that ends by an exception exits with a code by which a launcher knows
    whether to start it again: a FastError's own, UsageError's for what is wrong in the program's
    text, and Python's, 1, for all else."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        before(kind, error, trace)
        if isinstance(error, FastError):
            raise SystemExit(error.exit_code)
        if isinstance(error, _USELESS):
            raise SystemExit(UsageError.exit_code)

    sys.excepthook = hook
