"""States of optimizers and schedulers as bytes that nobody can hide a program in, as in a pickle.

The bytes are those of torch.save() over a list: the structure as JSON, then its tensors. PyTorch
since 1.13 loads that with ``weights_only``.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import torch

from .errors import UsageError

_PLAIN = (str, int, float, bool, type(None))


def packed(states: Mapping[str, Any]) -> bytes:
    """`states` as bytes. Raises UsageError, which names the state, for what is neither tensors,
    plain values nor containers of those."""
    tensors: list[torch.Tensor] = []
    tree = [[name, _tree_of(state, name, tensors)] for name, state in states.items()]
    text = json.dumps(tree).encode()
    written = io.BytesIO()
    torch.save([torch.frombuffer(bytearray(text), dtype=torch.uint8), *tensors], written)
    return written.getvalue()


def unpacked(kept: bytes) -> dict[str, Any]:
    """What packed() was given; tensors on the CPU."""
    text, *tensors = torch.load(io.BytesIO(kept), map_location="cpu", weights_only=True)
    return {name: _of_tree(tree, tensors) for name, tree in json.loads(bytes(text.tolist()))}


def _tree_of(value: Any, name: str, tensors: list[torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        tensors.append(value.detach())
        return {"tensor": len(tensors) - 1}
    if hasattr(value, "dtype") and hasattr(value, "item"):  # a number of NumPy
        value = value.item()
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Mapping):
        pairs = value.items()
        return {
            "dict": [[_tree_of(k, name, tensors), _tree_of(v, name, tensors)] for k, v in pairs]
        }
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [_tree_of(one, name, tensors) for one in value]}
    raise UsageError(
        f"'{name}' holds a {type(value).__name__}, which a checkpoint cannot hold; "
        "give something whose state_dict() holds tensors and plain values, or keep it by yourself"
    )


def _of_tree(tree: Any, tensors: list[torch.Tensor]) -> Any:
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = tree.items()
    if kind == "tensor":
        return tensors[content]
    if kind == "dict":
        return {_of_tree(k, tensors): _of_tree(v, tensors) for k, v in content}
    items = [_of_tree(one, tensors) for one in content]
    return items if kind == "list" else tuple(items)
