"""Model files, for PyTorch's modules."""

from __future__ import annotations

import os
from typing import Any

import torch

from ._model_file import demand, read_model
from ._torch_homes import TYPES
from ._torch_parts import one_model


def load(path: str | os.PathLike[str], model: Any) -> None:
    """See fast_training.load_model. Of tied tensors one name is enough; those that no file holds,
    of sparse layout, say, stay as they are."""
    model = one_model(model)
    model = getattr(model, "_orig_mod", model)  # of torch.compile
    found = read_model(path)
    tensors = {n: t for n, t in model.state_dict(keep_vars=True).items() if torch.is_tensor(t)}
    names: dict[object, list[str]] = {}
    for name, tensor in tensors.items():
        if tensor.layout == torch.strided and tensor.dtype in TYPES:
            place = (tensor.data_ptr(), tensor.device) if tensor.numel() else name
            names.setdefault(place, []).append(name)
    with torch.no_grad():
        for tied in names.values():
            name = next((one for one in tied if one in found), tied[0])
            tensor = tensors[name]
            saved = demand(found, name, TYPES[tensor.dtype], tuple(tensor.shape), path)
            if tensor.numel():
                values = torch.frombuffer(saved.bytes, dtype=tensor.dtype)
                tensor.copy_(values.view(tensor.shape))
