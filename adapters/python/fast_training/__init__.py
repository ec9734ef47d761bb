"""FAST: decentralised training on a grid, for every framework that has arrays.

    import fast_training as fast

    with fast.join(model, optimizer, topology="torus:2x2", rank=rank, budget=250000) as session:
        while not session.done():
            ...  # one step of training, which changes the model
            session.exchange(samples=len(x), loss=loss)

The module of a framework (fast_training.torch, .jax, .keras ..) has what that framework needs more.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from ._library import library
from ._model_file import load_arrays
from .adapter import Adapter, named
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
from .session import Neighbour, Session, Status, begun

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
    "load_model",
    "version",
]


def __getattr__(name: str) -> Any:
    """Decentralized, which needs PyTorch, when it is asked for."""
    if name == "Decentralized":
        from .torch import Decentralized

        return Decentralized
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def version() -> str:
    """The version of libfast.so, such as "0.1.0"."""
    text: bytes = library().fast_version()
    return text.decode()


def load_model(path: str | os.PathLike[str], model: Any) -> None:
    """Loads a model that a session or `fast report` has saved into `model`: a PyTorch module, or
    arrays as Session takes them.

    Each array must be there, of its type and shape; of tied ones, one. Raises ModelError, by name,
    and FileError.
    """
    framework = sys.modules.get("torch")
    if framework is not None and isinstance(model, framework.nn.Module):
        from ._torch_load import load

        load(path, model)
        return
    load_arrays(path, named(model))


def join(model: Any, optimizer: Any = None, **options: Any) -> Session:
    """Opens a session over `model` and waits until this worker may begin.

    `model` is a PyTorch module (`optimizer`, then, its optimizer, and `options` those of
    fast_training.torch.join too), arrays, or an Adapter; `options` are those of Session.
    """
    framework = sys.modules.get("torch")
    if framework is not None and isinstance(model, framework.nn.Module):
        from .torch import join as join_torch

        return join_torch(model, optimizer, **options)
    if optimizer is not None:
        raise UsageError(
            f"an optimizer is given with a {type(model).__name__}; it belongs to PyTorch's modules"
        )
    return begun(Session(model, **options))
