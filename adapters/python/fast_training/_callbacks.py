"""What callbacks of any trainer need."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ._launched import launched
from .session import Session


def with_end(options: Mapping[str, Any], examples: float) -> dict[str, Any]:
    """`options`, with a budget of `examples`, all that a trainer would see by itself, where neither
    they nor the environment say when training is over. Where it has no end (infinite), as they
    are."""
    if not 0 < examples < math.inf or launched(options).has_end:
        return dict(options)
    return {**options, "budget": round(examples)}


def stopped_early(session: Session) -> None:
    """The trainer has stopped before its end, as a callback wanted: so do all workers, whose models
    would go on without this one."""
    if not session.done():
        session.stop_all(f"the trainer of worker {session.status().rank} has stopped early")
