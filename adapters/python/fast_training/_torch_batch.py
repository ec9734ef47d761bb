"""Batches of PyTorch's programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch


def length_of(batch: Any) -> int | None:
    """Examples of a batch: the length of its first tensor, also one in dictionaries and sequences;
    None where there is none."""
    if torch.is_tensor(batch):
        return len(batch) if batch.dim() > 0 else 1
    if not isinstance(batch, (Mapping, list, tuple)):
        return None
    parts = batch.values() if isinstance(batch, Mapping) else batch
    return next((found for found in map(length_of, parts) if found is not None), None)
