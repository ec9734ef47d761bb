"""A PyTorch module that exchanges by itself, after each step of its optimizer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from ._options import documented
from ._torch_batch import length_of
from ._torch_options import DEFAULTS, TorchOptions
from ._torch_step import StepAround
from .errors import UsageError
from .session import Session

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Decentralized(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """Wraps a module as DistributedDataParallel does: the training loop stays as it is.

    ``model = Decentralized(model, optimizer, topology="torus:2x2")``. Each ``optimizer.step()``
    ends with an exchange of as many samples as were in the batches since the last one: the length
    of the first tensor that the module is given in training, where gradients are taken. `options`
    are those of join(). The session is `session`: its ``done()`` ends a loop, its ``finish()``, to
    be called once after it, brings all workers to one model. The mean of the loss over workers is
    not known here. Once the session is closed, a step is a step.

    A copy of it (copy.deepcopy, AveragedModel, torch.save of the whole) is a module of its own,
    without a session.
    """

    @documented(TorchOptions, DEFAULTS)
    def __init__(
        self,
        module: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        **options: Unpack[TorchOptions],
    ) -> None:
        """Joins."""
        from .torch import join

        super().__init__()
        self.module = module
        session = join(module, optimizer, **options)
        self._session: Session | None = session
        self._samples = 0
        self._exchanges = True

        def step_and_exchange(step: Any, *args: Any, **kwargs: Any) -> Any:
            result = step(*args, **kwargs)
            if self._exchanges:
                samples, self._samples = self._samples, 0
                session.exchange(samples)
            return result

        adapter: Any = session.adapter
        adapter.at_close(StepAround(optimizer, step_and_exchange).leave)

    @property
    def session(self) -> Session:
        """The session. Raises UsageError for a copy."""
        if self._session is None:
            raise UsageError("this is a copy of a Decentralized, without a session; use the first")
        return self._session

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within it, a step of the optimizer ends without an exchange; its samples count at the
        next one. Accumulation of gradients does not need it, and may use it as with
        DistributedDataParallel."""
        before, self._exchanges = self._exchanges, False
        try:
            yield
        finally:
            self._exchanges = before

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_session": None}

    def forward(self, *inputs: Any, **named: Any) -> Any:
        """The module's own."""
        if self.training and torch.is_grad_enabled():
            found = length_of((*inputs, *named.values()))
            self._samples += 1 if found is None else found
        return self.module(*inputs, **named)
