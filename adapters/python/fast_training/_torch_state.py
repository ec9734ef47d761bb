"""What a checkpoint holds of a PyTorch worker beside its arrays.

It is bytes that nobody can hide a program in, as in a pickle: those of torch.save() over a list, of
the structure as JSON and then its tensors. PyTorch since 1.13 loads that with ``weights_only``.
"""

from __future__ import annotations

import io
import json
import logging
import random
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ._torch_parts import Part
from .data import ShardedSampler
from .errors import UsageError

_LOGGER = logging.getLogger("fast_training")
_PLAIN = (str, int, float, bool, type(None))
_GENERATORS = "generators"


class KeptState:
    """The states of optimizers and of what the user names, tensors apart from the session's
    arrays, and the generators of random numbers."""

    def __init__(
        self,
        optimizers: Sequence[torch.optim.Optimizer],
        stateful: dict[str, Any],
        apart: list[Part],
    ) -> None:
        """Raises UsageError where one of `stateful` has no state, or one that cannot be packed."""
        for name, one in stateful.items():
            if not hasattr(one, "state_dict") or not hasattr(one, "load_state_dict"):
                raise UsageError(
                    f"'{name}' of kept is a {type(one).__name__}, which has no state_dict() and "
                    "load_state_dict(); give something that has both"
                )
            packed({f"state {name}": one.state_dict()})
        several = len(optimizers) > 1
        named = {f"optimizer {n}" if several else "optimizer": o for n, o in enumerate(optimizers)}
        self._stateful = {**stateful, **named}
        self._samplers = [one for one in stateful.values() if isinstance(one, ShardedSampler)]
        self.made(0)  # from now on it is told
        self._apart = apart
        self._left_out: set[str] = set()  # which was said

    def made(self, samples: int) -> None:
        """A step was made of so many examples."""
        for one in self._samplers:
            one.made(samples)

    def packed(self) -> bytes:
        """The present states. What cannot be packed is left out with a warning."""
        states: dict[str, Any] = {
            f"state {n}": one.state_dict() for n, one in self._stateful.items()
        }
        states |= {f"apart {one.name}": one.now() for one in self._apart if _dense(one.now())}
        states[_GENERATORS] = generators()
        for name in list(states):
            try:
                _tree_of(states[name], name, [])
            except UsageError as error:
                del states[name]
                if name not in self._left_out:
                    self._left_out.add(name)
                    _LOGGER.warning("checkpoints lack a part: %s", error)
        return packed(states)

    def resume(self, found: dict[str, Any]) -> None:
        """Sets all to the states of a checkpoint. What it does not hold begins anew, with a
        warning."""
        for part in self._apart:
            value = found.get(f"apart {part.name}")
            if value is not None:
                part.now().detach().copy_(value)
        for name, one in self._stateful.items():
            if f"state {name}" in found:
                one.load_state_dict(found[f"state {name}"])
            else:
                _LOGGER.warning("the checkpoint holds no state of '%s', which begins anew", name)
        set_generators(found.get(_GENERATORS, {}))


def generators() -> dict[str, Any]:
    """The states of the generators of PyTorch, NumPy (where it is in use) and Python."""
    states: dict[str, Any] = {"torch": torch.get_rng_state(), "random": random.getstate()}
    if torch.cuda.is_initialized():
        states["cuda"] = torch.cuda.get_rng_state_all()
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        kind, keys, *others = numpy.random.get_state()
        states["numpy"] = (kind, keys.tolist(), *others)
    return states


def set_generators(states: Mapping[str, Any]) -> None:
    """Sets them to what generators() has returned."""
    if "torch" in states:
        torch.set_rng_state(states["torch"])
    if "cuda" in states and len(states["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(states["cuda"])
    if "random" in states:
        random.setstate(states["random"])
    if "numpy" in states and "numpy" in sys.modules:
        sys.modules["numpy"].random.set_state(states["numpy"])


def _dense(value: Any) -> bool:
    return torch.is_tensor(value) and value.layout == torch.strided and not value.is_meta


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
