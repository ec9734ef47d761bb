"""FAST: decentralised training on a grid, for every framework that has arrays.

    import fast_training as fast

    with fast.join(model, optimizer, topology="torus:2x2", rank=rank, budget=250000) as session:
        while not session.done():
            ...  # one step of training, which changes the model
            session.exchange(samples=len(x), loss=loss)
"""

from __future__ import annotations

from typing import Any

from ._library import library
from .adapter import Adapter
from .errors import (
    DataError,
    DeadlineError,
    FastError,
    FileError,
    ModelError,
    NetworkError,
    NonFiniteError,
    RefusedError,
    UsageError,
)
from .session import Neighbour, Session, Status

__all__ = [
    "Adapter",
    "DataError",
    "DeadlineError",
    "FastError",
    "FileError",
    "ModelError",
    "Neighbour",
    "NetworkError",
    "NonFiniteError",
    "RefusedError",
    "Session",
    "Status",
    "UsageError",
    "join",
    "version",
]


def version() -> str:
    """The version of libfast.so, such as "0.1.0"."""
    text: bytes = library().fast_version()
    return text.decode()


def join(model: Any, **options: Any) -> Session:
    """Opens a session over `model` and waits until this worker may begin; see Session."""
    session = Session(model, **options)
    try:
        session.join()
    except BaseException:
        session.close()
        raise
    return session
