"""What callbacks of any trainer need."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ._launched import launched
from .session import Session


def demand_version(module: Any, least: tuple[int, int]) -> None:
    """Raises ImportError where a framework is older than `least`."""
    version = str(getattr(module, "__version__", ""))
    found = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if version and found < least:
        wanted = ".".join(map(str, least))
        raise ImportError(
            f"{module.__name__} {version} is older than {wanted}, which FastCallback "
            f"needs; pip install -U '{module.__name__}>={wanted}'"
        )


def with_end(options: Mapping[str, Any], examples: float) -> dict[str, Any]:
    """`options`, with a budget of `examples`, all that a trainer would see by itself, where neither
    they nor the environment say when training is over. Where it has no end (infinite), as they
    are."""
    if not 0 < examples < math.inf or launched(options).has_end:
        return dict(options)
    return {**options, "budget": round(examples)}


def with_means(options: Mapping[str, Any], monitor: str | Sequence[str]) -> dict[str, Any]:
    """`options`, with the names in `monitor` among their means."""
    given = options.get("means") or ()
    names = [*_names(given), *(name for name in _names(monitor) if name not in _names(given))]
    return {**options, "means": names} if names else dict(options)


def _names(names: str | Sequence[str]) -> list[str]:
    return names.split(",") if isinstance(names, str) else list(names)


def shared(
    session: Session, monitor: str | Sequence[str], found: Mapping[str, Any]
) -> dict[str, float]:
    """Says what was `found` under the names in `monitor`, and returns by them the means that all
    workers read alike: those of before, a validation late. At first, and where there is one worker,
    what is known with the new values."""
    means = {}
    for name in (one for one in _names(monitor) if one in found):
        before, after = session.mean(name), session.mean(name, float(found[name]))
        means[name] = after if math.isnan(before) or session.status().workers == 1 else before
    return means


def stopped_early(session: Session) -> None:
    """The trainer has stopped before its end, as a callback wanted: so do all workers, whose models
    would go on without this one."""
    if not session.done():
        session.stop_all(f"the trainer of worker {session.status().rank} has stopped early")
