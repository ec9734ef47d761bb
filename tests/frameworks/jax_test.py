"""Pytrees of JAX."""

import unittest

import jax
import jax.numpy as jnp
import numpy as np
from contract import FrameworkContract
from fast_training.jax import TreeSession, join


class Model:
    def __init__(self):
        self.params = {"layer": [jnp.full((3, 4), 0.5), jnp.full(4, 0.5)]}

    def session(self, **options):
        tree = TreeSession(self.params, **options)
        return Looped(self, tree)

    def values(self):
        return [np.array(leaf) for leaf in self.params["layer"]]

    def assign(self, values):
        self.params = {"layer": [jnp.array(value) for value in values]}


class Looped:
    """Hands the model's parameters in and takes them back, as a training loop does."""

    def __init__(self, model, tree):
        self.model, self.tree = model, tree

    def __getattr__(self, name):
        return getattr(self.tree, name)

    def join(self):
        self.tree.join()
        self.model.params = self.tree.params

    def exchange(self, **arguments):
        self.model.params = self.tree.exchange(self.model.params, **arguments)

    def save(self, path):
        self.tree.params = self.model.params
        self.tree.save(path)

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        if kind is None:
            self.model.params = self.tree.finish(self.model.params)
        self.tree.__exit__(kind, *rest)


class JaxTest(FrameworkContract, unittest.TestCase):
    make = Model

    def test_types_and_structure_stay(self):
        params = (
            {"half": jnp.ones(3, jnp.bfloat16)},
            [jnp.ones((2, 2), jnp.float16)],
            jnp.ones(()),
        )
        with join(params) as session:
            for _ in range(3):
                params = session.exchange(params)
        self.assertEqual(
            [leaf.dtype for leaf in jax.tree_util.tree_leaves(params)],
            [jnp.bfloat16, jnp.float16, jnp.float32],
        )
        self.assertIsInstance(params, tuple)

    def test_arrays_of_an_earlier_step_do_not_change(self):
        params = jnp.zeros(1000)
        with join(params) as session:
            first = session.exchange(params + 1)
            kept = np.array(first)
            session.exchange(first + 1)
            np.testing.assert_array_equal(np.array(first), kept)


if __name__ == "__main__":
    unittest.main()
