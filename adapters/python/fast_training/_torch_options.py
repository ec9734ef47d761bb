"""What join() takes for PyTorch's modules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._option_types import Options

#: Of the options below.
DEFAULTS = {
    "momentum_correction": 0.5,
    "mix_statistics": True,
    "mix_moments": False,
    "step_in_backward": False,
}


class TorchOptions(Options, total=False):
    """Options of a session and, for PyTorch's modules alone, those of TorchAdapter."""

    momentum_correction: float
    mix_statistics: bool
    mix_moments: bool
    stateful: Mapping[str, Any] | None
    step_in_backward: bool
