"""Sessions over JAX's parameters: any pytree of arrays, of Flax, Optax or one's own."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any, SupportsFloat

import jax

from .arrays import CopiedArrays
from .session import Session, begun


class TreeSession:
    """A session whose parameters are a pytree: arrays that never change.

    What is not here, done() say, is of `session`, and may be called on this object too.
    """

    def __init__(self, params: Any, **options: Any) -> None:
        #: The parameters as of the last call.
        self.params = params
        self.session = Session(CopiedArrays(self._arrays, self._set), **options)

    def exchange(self, params: Any, samples: int = 1, loss: SupportsFloat = 0.0) -> Any:
        """The step boundary: see Session. Returns the parameters to go on with."""
        self.params = params
        self.session.exchange(samples, loss)
        return self.params

    def finish(self, params: Any) -> Any:
        """Ends training: see Session. Returns the parameters that all workers have agreed on."""
        self.params = params
        self.session.finish()
        return self.params

    def _arrays(self) -> dict[str, Any]:
        leaves = jax.tree_util.tree_leaves_with_path(self.params)
        return {jax.tree_util.keystr(path): leaf for path, leaf in leaves}

    def _set(self, values: Mapping[str, Any]) -> None:
        leaves, form = jax.tree_util.tree_flatten(self.params)
        placed = [
            jax.device_put(value.copy(), leaf.sharding)  # JAX may keep the copy as it is
            for value, leaf in zip(values.values(), leaves)
        ]
        self.params = jax.tree_util.tree_unflatten(form, placed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.session, name)

    def __enter__(self) -> TreeSession:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finishes where the block has not: the result is then `params`."""
        self.session.__exit__(kind, error, trace)


def join(params: Any, **options: Any) -> TreeSession:
    """Opens a session over a pytree of arrays and waits until this worker may begin.

    `options` are those of Session. The parameters to begin with are the result's `params`.
    """
    tree = TreeSession(params, **options)
    begun(tree.session)
    return tree
