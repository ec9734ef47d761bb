"""Second moments of Adam's kind, averaged with neighbours as the weights are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch

_MOMENT = "exp_avg_sq"
PREFIX = "state/"  # of arrays that are exchanged and belong to no model file; see model_file.h


class SecondMoments:
    """What Adam divides a gradient by, the root of the decayed mean of its square, is each worker's
    own, and where workers hold unlike data they divide by unlike numbers: a step that all agree on
    in the mean of their gradients is then none in the mean of their steps. Averaged with
    neighbours, as weights are, it is nearly one number for all (Chen et al. 2023, "On the
    convergence of decentralized adaptive gradient methods").

    What is exchanged is the moment without its bias, so that workers of any number of steps may
    meet. After each exchange the optimizer has the average.
    """

    def __init__(
        self,
        optimizers: Iterable[torch.optim.Optimizer],
        trained: Iterable[tuple[str, torch.Tensor]],
    ) -> None:
        names = {id(tensor): name for name, tensor in trained}
        self._kept: list[_Kept] = []
        for optimizer in optimizers:
            if not isinstance(optimizer, (torch.optim.Adam, torch.optim.AdamW)):
                continue
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    name = names.pop(id(parameter), None)  # a tied one has one moment
                    if name is not None:
                        self._kept.append(_Kept(name, optimizer, group, parameter))

    def arrays(self) -> Iterator[tuple[str, torch.Tensor]]:
        """What is to be exchanged beside the model."""
        for one in self._kept:
            yield f"{PREFIX}{_MOMENT}/{one.name}", one.shown

    def before_exchange(self) -> None:
        """The optimizer has made a step: shows its moments."""
        for one in self._kept:
            one.show()

    def after_exchange(self) -> None:
        """Gives it what has become of them."""
        for one in self._kept:
            one.give()

    def forget(self) -> None:
        """The optimizer begins anew, with the model of a neighbour and what that divides by."""
        for one in self._kept:
            one.begun = False


class _Kept:
    def __init__(
        self,
        name: str,
        optimizer: torch.optim.Optimizer,
        group: dict[str, Any],
        parameter: torch.Tensor,
    ) -> None:
        self.name = name
        self._optimizer, self._group, self._parameter = optimizer, group, parameter
        self.shown = torch.zeros_like(
            parameter.detach(), memory_format=torch.contiguous_format, requires_grad=False
        )
        self.begun = True  # the optimizer knows at least what is shown

    def _moment(self) -> tuple[torch.Tensor, float] | None:
        """The optimizer's own, and by what its bias has made it smaller."""
        state = self._optimizer.state.get(self._parameter)
        if not state or _MOMENT not in state:
            return None
        return state[_MOMENT], 1 - float(self._group["betas"][1]) ** float(state["step"])

    def show(self) -> None:
        found = self._moment()
        if found is None:
            return
        if not self.begun:
            self.begun = True
            if self.shown.any():  # the neighbour had made steps
                self.give()
                return
        moment, bias = found
        torch.div(moment, bias, out=self.shown)

    def give(self) -> None:
        found = self._moment()
        if found is None:
            return
        moment, bias = found
        # A difference that comes late may have been of more than is left.
        moment.copy_(self.shown.clamp_(min=0)).mul_(bias)
