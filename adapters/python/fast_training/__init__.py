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
from typing import TYPE_CHECKING, Any

from . import _options
from ._launched import launched
from ._library import library
from ._model_file import load_arrays
from ._torch_options import DEFAULTS, TorchOptions
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
    exit_by_code,
)
from .session import Neighbour, Session, Status, begun

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._option_types import Options

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
    "rank",
    "workers",
]


def __getattr__(name: str) -> Any:
    """What is made when it is asked for: Decentralized, which needs PyTorch, and __version__, which
    is the library's."""
    if name == "Decentralized":
        from .torch import Decentralized

        return Decentralized
    if name == "__version__":
        text: bytes = library().fast_version()
        return text.decode()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), "Decentralized", "__version__"]


@_options.documented()
def rank(**options: Unpack[Options]) -> int:
    """The rank of this process, from 0, as a session with these options will have it: to choose
    data by, before there is one."""
    return launched(options).rank


@_options.documented()
def workers(**options: Unpack[Options]) -> int:
    """How many workers there will be in a session with these options."""
    return launched(options).workers


def _of_torch(model: Any) -> bool:
    if "torch" not in sys.modules:
        return False
    from ._torch_parts import is_model

    return is_model(model)


def load_model(path: str | os.PathLike[str], model: Any) -> None:
    """Loads a model that a session or `fast report` has saved into `model`: a PyTorch module,
    several as join() takes them, or arrays as Session takes them.

    Each array must be there, of its type and shape; of tied ones, one. Raises ModelError, by name,
    and FileError.
    """
    if _of_torch(model):
        from ._torch_load import load

        load(path, model)
        return
    load_arrays(path, named(model))


@_options.documented(TorchOptions, DEFAULTS)
def join(model: Any, optimizer: Any = None, **options: Unpack[TorchOptions]) -> Session:
    """Opens a session over `model` and waits until this worker may begin.

    `model` is a PyTorch module (`optimizer`, then, its optimizer, and `options` those of
    fast_training.torch.join too), several in a list or a dictionary, with as many optimizers as
    there are, arrays, or an Adapter; `options` are those of Session.
    """
    exit_by_code()
    if _of_torch(model):
        from .torch import join as join_torch

        return join_torch(model, optimizer, **options)
    others: dict[str, Any] = dict(options)
    if optimizer is not None:
        raise UsageError(
            f"an optimizer is given with a {type(model).__name__}; it belongs to PyTorch's modules"
        )
    return begun(Session(model, **others))
