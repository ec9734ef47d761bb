"""A PyTorch module that exchanges by itself, after each step of its optimizer."""

from __future__ import annotations

import types
from typing import Any

import torch

from .session import Session


class Decentralized(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """Wraps a module as DistributedDataParallel does: the training loop stays as it is.

    ``model = Decentralized(model, optimizer, topology="torus:2x2")``. Each ``optimizer.step()``
    ends with an exchange of as many samples as were in the batches since the last one: the length
    of the first tensor that the module is given in training. `options` are those of join(). The
    session is `session`: its ``done()`` ends a loop, its ``finish()``, to be called once after it,
    brings all workers to one model. The mean of the loss over workers is not known here.
    """

    def __init__(
        self, module: torch.nn.Module, optimizer: torch.optim.Optimizer, **options: Any
    ) -> None:
        from .torch import join

        super().__init__()
        self.module = module
        self.session: Session = join(module, optimizer, **options)
        self._samples = 0
        step = optimizer.step

        def step_and_exchange(_self: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
            result = step(*args, **kwargs)
            samples, self._samples = self._samples, 0
            self.session.exchange(samples)
            return result

        # A method, as schedules of the learning rate expect it.
        setattr(optimizer, "step", types.MethodType(step_and_exchange, optimizer))

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """The module's own."""
        if self.training:
            tensors = (one for one in (*inputs, *named.values()) if torch.is_tensor(one))
            first = next(tensors, None)
            self._samples += len(first) if first is not None and first.dim() > 0 else 1
        return self.module(*inputs, **named)
