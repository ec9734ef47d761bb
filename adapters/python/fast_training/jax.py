"""Sessions over JAX's parameters: any pytree of arrays, of Flax, Optax or one's own."""

from __future__ import annotations

import dis
import logging
import sys
from collections.abc import Callable, Mapping
from types import FrameType, TracebackType
from typing import Any, SupportsFloat

import jax
import numpy

from .arrays import CopiedArrays, checked, packed, unpacked
from .errors import ModelError, UsageError
from .session import Session, begun

_LOGGER = logging.getLogger("fast_training")


class TreeSession:
    """A session whose parameters are a pytree: arrays that never change.

    `params` may have all that belongs to a model. Leaves of floats are trained, except those for
    whose name, such as "['batch_stats']['mean']", `averaged` is true (the mean over workers at the
    end; running statistics) or `carried` (saved, and taken over from rank 0; frozen parameters), as
    leaves of whole numbers are. Random keys must stay out of it: they are each worker's own.

    `state`, any other pytree, is what checkpoints hold beside, such as an optimizer's state and
    random keys. Where the model is replaced by a neighbour's, it becomes ``renew(params)``, as of
    Optax's ``optimizer.init``; without `renew` it becomes what was given here.

    What is not here, done() say, is of `session`, and may be called on this object too.
    """

    def __init__(
        self,
        params: Any,
        state: Any = None,
        *,
        renew: Callable[[Any], Any] | None = None,
        averaged: Callable[[str], bool] = lambda name: False,
        carried: Callable[[str], bool] = lambda name: False,
        **options: Any,
    ) -> None:
        self._params = self._given = params
        #: The state as of the last call; a checkpoint's where the session resumes.
        self.state = state
        #: How often the model was replaced by a neighbour's, or rank 0's at the start.
        self.replaced = 0
        self._renew = renew or (lambda params: state)
        self._taken = self._checked = False  # params were read; exchange()'s caller was looked at
        self.session = Session(_TreeAdapter(self, averaged, carried), **options)

    def exchange(
        self, params: Any, samples: int = 1, loss: SupportsFloat = 0.0, state: Any = None
    ) -> Any:
        """The step boundary: see Session. Returns the parameters to go on with; where `state` is
        given, which it must be if the session has one, (parameters, state)."""
        if (state is None) != (self.state is None):
            raise UsageError(
                "exchange() needs the state where the session was given one, and nowhere else: "
                "join(params, state), and params, state = session.exchange(.., state=state)"
            )
        self._check_taken()
        self._check_caller(sys._getframe(1))
        self._params, self.state = params, state
        before = self.replaced
        self.session.exchange(samples, loss)
        if self.replaced != before and state is None:
            _LOGGER.warning(
                "the model was replaced by that of a neighbour that is ahead; an optimizer's state "
                "is of the old one, unless it is given as join(params, state)"
            )
        return self._params if state is None else (self._params, self.state)

    def finish(self, params: Any) -> Any:
        """Ends training: see Session. Returns the parameters that all workers have agreed on."""
        self._params = params
        self.session.finish()
        return self._params

    @property
    def params(self) -> Any:
        """The parameters as of the last call: after join() those to begin with. To be set where
        save_model() is to write others."""
        self._taken = True
        return self._params

    @params.setter
    def params(self, params: Any) -> None:
        self._params = params

    def _check_taken(self) -> None:
        """Raises at the first exchange where the parameters to begin with are others than the
        caller's, who has not looked at them."""
        given, self._given = self._given, None
        if self._taken or given is None:
            return
        self._taken = True
        pairs = zip(*map(jax.tree_util.tree_leaves, (given, self._params)))
        if not all(numpy.array_equal(one, other) for one, other in pairs):
            raise ModelError(
                "this worker begins with the parameters of another, and has trained its own; write "
                "params = session.params after join()"
            )

    def _check_caller(self, frame: FrameType) -> None:
        """Warns, once, where the next instruction of exchange()'s caller drops the result."""
        if not self._checked:
            self._checked = True
            following = (dis.opname[code] for code in frame.f_code.co_code[frame.f_lasti + 2 :: 2])
            if next((name for name in following if name != "CACHE"), "") == "POP_TOP":
                _LOGGER.warning(
                    "the result of exchange() is not used, and with it all that comes from "
                    "neighbours is lost; write params = session.exchange(params, ..)"
                )

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


class _TreeAdapter(CopiedArrays):
    """The leaves of a TreeSession's `params`, and its state."""

    def __init__(
        self, tree: TreeSession, averaged: Callable[[str], bool], carried: Callable[[str], bool]
    ) -> None:
        self._tree = tree
        leaves = _leaves(tree._params)
        fixed = {n for n, leaf in leaves.items() if _check(n, leaf) in "iub" or carried(n)}
        for name in leaves.keys() - fixed:
            if not jax.numpy.issubdtype(leaves[name].dtype, jax.numpy.floating):
                raise ModelError(
                    f"'{name}' is of {leaves[name].dtype}, which cannot be averaged; make it real "
                    "arrays, or let carried() name it"
                )
        means = {name for name in leaves.keys() - fixed if averaged(name)}
        super().__init__(lambda: _leaves(tree._params), self._set, self._forget, means, fixed)

    def _set(self, values: Mapping[str, Any]) -> None:
        leaves = _leaves(self._tree._params)
        form = jax.tree_util.tree_structure(self._tree._params)
        placed = [_as(values[n], leaf) if n in values else leaf for n, leaf in leaves.items()]
        self._tree._params = jax.tree_util.tree_unflatten(form, placed)

    def _forget(self) -> None:
        self._tree.replaced += 1
        if self._tree.state is not None:
            self._tree.state = self._tree._renew(self._tree._params)

    def save_state(self) -> bytes:
        """The session's state."""
        return packed({name: _plain(leaf) for name, leaf in _leaves(self._tree.state).items()})

    def load_state(self, state: bytes) -> None:
        """Takes it over, in the form of the one that the session was given."""
        leaves = _leaves(self._tree.state)
        present = {name: _plain(leaf) for name, leaf in leaves.items()}
        arrays = checked(unpacked(state)[0], present, "state")
        form = jax.tree_util.tree_structure(self._tree.state)
        loaded = [_as(arrays[name], leaf) for name, leaf in leaves.items()]
        self._tree.state = jax.tree_util.tree_unflatten(form, loaded)


def _leaves(tree: Any) -> dict[str, Any]:
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {jax.tree_util.keystr(path): leaf for path, leaf in leaves}


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _check(name: str, leaf: Any) -> str:
    """The letter of a leaf's kind in NumPy. Raises ModelError where it has no place in a model."""
    if not isinstance(leaf, (jax.Array, numpy.ndarray)):
        raise ModelError(
            f"'{name}' is a {type(leaf).__name__}, which is no array; give jax.numpy.asarray() of "
            "it, or keep it out of the parameters"
        )
    if _is_key(leaf) or leaf.dtype == numpy.uint32:
        raise ModelError(
            f"'{name}' is a random key ({leaf.dtype}), which is each worker's own; keep it out of "
            "the parameters, in join(params, state) say, or make whole numbers int32"
        )
    return str(leaf.dtype.kind)


def _plain(leaf: Any) -> Any:
    return numpy.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _as(value: Any, leaf: Any) -> Any:
    """A copy of `value`, of the kind of `leaf` and where that is."""
    if _is_key(leaf):
        return jax.random.wrap_key_data(value.copy(), impl=jax.random.key_impl(leaf))
    if isinstance(leaf, jax.Array):
        return jax.device_put(value.copy(), leaf.sharding)  # JAX may keep the copy as it is
    return value.copy() if isinstance(leaf, numpy.ndarray) else type(leaf)(value)


def join(params: Any, state: Any = None, **options: Any) -> TreeSession:
    """Opens a session over a pytree of arrays and waits until this worker may begin.

    The arguments are TreeSession's. What to begin with are the result's `params` and `state`.
    """
    tree = TreeSession(params, state, **options)
    begun(tree.session)
    return tree
