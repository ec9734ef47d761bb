"""A session's options, as libfast.so reads them."""

from __future__ import annotations

import inspect
import os
import pathlib
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ._option_types import Options
from .errors import UsageError

_PAIRS = re.compile(r"\s*\d+=")
_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Shown(str):
    """An annotation as help() and completion are to show it: as it is written, without quotes and
    without typing's ForwardRef(..) around it."""

    def __repr__(self) -> str:
        return str(self)


def _shown(annotation: Any) -> Any:
    """`annotation` in a signature; what is no text of a type stays as it is."""
    text = getattr(annotation, "__forward_arg__", annotation)
    return _Shown(text) if isinstance(text, str) else annotation


def documented(
    options: Any = Options, defaults: Mapping[str, Any] | None = None
) -> Callable[[_Function], _Function]:
    """Gives a function that takes `options` beside its own arguments a signature that names them,
    for completion, and adds their sentences to its documentation. `defaults`: of options whose
    default is not None, which stands for the environment's."""

    def document(function: _Function) -> _Function:
        signature = inspect.signature(function)
        own = [
            one.replace(annotation=_shown(one.annotation))
            for one in signature.parameters.values()
            if one.kind != one.VAR_KEYWORD
        ]
        named = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=(defaults or {}).get(name),
                annotation=_shown(kind),
            )
            for name, kind in options.__annotations__.items()
            if name not in signature.parameters
        ]
        shown = signature.replace(
            parameters=[*own, *named], return_annotation=_shown(signature.return_annotation)
        )
        setattr(function, "__signature__", shown)
        parts = [inspect.cleandoc(text) for text in (function.__doc__, Options.__doc__) if text]
        function.__doc__ = "\n\n".join(parts)
        return function

    return document


def text_of(value: Any) -> str:
    """An option's value as the command line has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():  # 5e4, of a budget
        return str(int(value))
    if isinstance(value, Mapping):  # peers: {rank: endpoint}
        return ",".join(f"{key}={item}" for key, item in value.items())
    if isinstance(value, (list, tuple)):  # means
        return ",".join(value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def from_arguments(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Options by name; None counts as not given.

    ``peers`` may be {rank: "host:port"} or the same as text, which the library calls ``peer``, or
    name a file, its ``peers``. The other of the two is then empty, so that the environment does not
    add to it. Raises UsageError for a list.
    """
    peers = arguments.get("peers")
    if isinstance(peers, (list, tuple, set)):
        raise UsageError(
            f"peers is a {type(peers).__name__}; give {{rank: endpoint}}, or the name of a file"
        )
    options = {key: text_of(value) for key, value in arguments.items() if value is not None}
    if "peers" in options and (not options["peers"] or _PAIRS.match(options["peers"])):
        options.setdefault("peer", options.pop("peers"))
    if "peers" in options or "peer" in options:
        options = {"peer": "", "peers": "", **options}
    return options


def with_number(
    given: Mapping[str, str], environment: Mapping[str, str], number: int
) -> dict[str, str]:
    """`given` for session `number` of a process, from 2 on: where run id and files come from the
    environment, it has its own."""
    options = dict(given)

    def derive(name: str, form: str) -> None:
        value = environment.get(f"FAST_{name.upper()}", "")
        if name not in options and value:
            path = pathlib.PurePath(value)
            options[name] = form.format(value, number, path.with_suffix(""), path.suffix)

    derive("run_id", "{0}-{1}")
    derive("out", "{0}/session-{1}")
    derive("checkpoint", "{2}-{1}{3}")
    derive("resume", "{2}-{1}{3}")
    return options
