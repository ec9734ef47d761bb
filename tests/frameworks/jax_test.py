"""Pytrees of JAX."""

import unittest
from unittest import mock

import fast_training as fast
import jax
import jax.numpy as jnp
import numpy as np
from contract import FrameworkContract, FrameworkModel, support
from fast_training.jax import TreeSession, join


class Model(FrameworkModel):
    def __init__(self, kind="float32"):
        self.params = {"layer": [jnp.full((3, 4), 0.5, kind), jnp.full(4, 0.5, kind)]}

    def session(self, **options):
        return Looped(self, TreeSession(self.params, **options))

    def values(self):
        return [np.array(leaf) for leaf in self.params["layer"]]

    def assign(self, values):
        self.params = {**self.params, "layer": [jnp.array(value) for value in values]}


class Full(Model):
    """With statistics as Flax has them, and a state as Optax has it, with a random key."""

    def __init__(self):
        super().__init__()
        self.params |= {"batch_stats": jnp.zeros(4), "body": jnp.zeros(2)}
        self.state = (self.fresh(self.params), jax.random.key(7))

    @staticmethod
    def fresh(params):
        return [jnp.zeros_like(leaf) for leaf in params["layer"]]

    def session(self, **options):
        tree = TreeSession(
            self.params,
            self.state,
            renew=lambda params: (self.fresh(params), self.state[1]),
            averaged=lambda name: "batch_stats" in name,
            carried=lambda name: "body" in name,
            **options,
        )
        return Looped(self, tree)

    def train(self):
        velocities, key = self.state
        leaves = self.params["layer"]
        velocities = [0.5 * v + (leaf - 1) for v, leaf in zip(velocities, leaves)]
        self.assign([leaf - 0.1 * v for v, leaf in zip(velocities, leaves)])
        self.state = (velocities, jax.random.split(key, 1)[0])

    def momentum(self):
        return max(float(abs(velocity).max()) for velocity in self.state[0])

    def statistics(self):
        return np.array(self.params["batch_stats"])

    def frozen(self):
        return np.array(self.params["body"])

    def set(self, statistics, frozen):
        self.params |= {
            "batch_stats": jnp.full(4, statistics, "f"),
            "body": jnp.full(2, frozen, "f"),
        }


class Looped:
    """Hands the model's parameters in and takes them back, as a training loop does."""

    def __init__(self, model, tree):
        self.model, self.tree = model, tree
        self.finished = False

    def __getattr__(self, name):
        return getattr(self.tree, name)

    def join(self):
        self.tree.join()
        self.model.params, self.model.state = self.tree.params, self.tree.state

    def exchange(self, **arguments):
        model = self.model
        if self.tree.state is None:
            model.params = self.tree.exchange(model.params, **arguments)
        else:
            model.params, model.state = self.tree.exchange(
                model.params, state=model.state, **arguments
            )

    def save_model(self, path):
        self.tree.params = self.model.params
        self.tree.save_model(path)

    def finish(self):
        self.finished = True
        self.model.params = self.tree.finish(self.model.params)

    def __enter__(self):
        return self

    def __exit__(self, kind, *rest):
        if kind is None and not self.finished:
            self.finish()
        self.tree.__exit__(kind, *rest)


class JaxTest(FrameworkContract, unittest.TestCase):
    make, make_full = Model, Full
    types = (("float16", "F16"), ("bfloat16", "BF16"))

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

    def pair(self, *values):
        """Two sessions that have joined, over parameters of these values."""
        models = [Model(), Model()]
        for model, value in zip(models, values):
            model.assign([array + value for array in model.values()])
        sessions = [one.tree for one in self.ring(models)]
        support.together([session.join for session in sessions])
        self.addCleanup(lambda: [session.close() for session in sessions])
        return models, sessions

    def test_who_trains_on_from_its_own_initial_values_is_told(self):
        models, sessions = self.pair(0, 1)
        with self.assertRaisesRegex(fast.ModelError, "params = session.params"):
            sessions[1].exchange(models[1].params)
        models, sessions = self.pair(1, 1)  # all have the same: nothing to take
        sessions[1].exchange(models[1].params)
        models, sessions = self.pair(0, 1)
        sessions[1].exchange(sessions[1].params)

    def test_who_drops_what_an_exchange_returns_is_told_once(self):
        with join(jnp.ones(3)) as session, self.assertNoLogs("fast_training"):
            params = session.exchange(session.params)
        with join(jnp.ones(3)) as session, self.assertLogs("fast_training") as log:
            session.exchange(params)
            session.exchange(params)
        self.assertEqual(len(log.output), 1)
        self.assertIn("params = session.exchange(params", log.output[0])

    def test_leaves_of_numpy_and_whole_numbers_stay_what_they_are(self):
        params = {"w": np.ones(3, "f"), "b": jnp.ones(2), "step": jnp.array(3)}
        with join(params) as session:
            params = session.exchange(session.params)
        self.assertIsInstance(params["w"], np.ndarray)
        self.assertEqual(list(session.session.adapter.buffers), ["['step']"])
        self.assertEqual(int(params["step"]), 3)

    def test_leaves_that_have_no_place_in_a_model_are_refused_by_name(self):
        for leaf, why in (
            (1.5, "'x'.*float.*asarray"),
            (jax.random.key(1), "'x'.*random key"),
            (jax.random.PRNGKey(1), "'x'.*random key"),
            (jnp.ones(2, "complex64"), "'x'.*complex64"),
        ):
            with self.assertRaisesRegex(fast.ModelError, why):
                TreeSession({"w": jnp.ones(3), "x": leaf})

    def test_a_model_that_was_replaced_is_counted_and_told_where_no_state_can_begin_anew(self):
        for state in (None, {"m": jnp.ones(3)}):
            with join(jnp.ones(3), state, renew=jnp.zeros_like) as session:
                params, whole = session.params, session.session.exchange

                def replaced(*step, session=session, whole=whole):
                    whole(*step)
                    session.session.adapter.model_replaced()

                with mock.patch.object(session.session, "exchange", replaced):
                    if state is None:
                        with self.assertLogs("fast_training", "WARNING") as log:
                            params = session.exchange(params)
                        self.assertRegex(log.output[0], r"optimizer's state.*join\(params, state\)")
                    else:
                        params, state = session.exchange(params, state=state)
                        np.testing.assert_array_equal(state, np.zeros(3))
                self.assertEqual(session.replaced, 1)

    def test_a_state_belongs_to_each_exchange_or_to_none(self):
        with join(jnp.ones(3), {"m": jnp.zeros(3)}) as session:
            with self.assertRaisesRegex(fast.UsageError, "state=state"):
                session.exchange(session.params)
            params, state = session.exchange(session.params, state=session.state)
        self.assertEqual((params.shape, list(state)), ((3,), ["m"]))

    def test_a_state_that_a_checkpoint_cannot_hold_is_told_at_join(self):
        with (
            support.temporary_folder() as folder,
            self.assertRaisesRegex(fast.ModelError, r"\['m'\].*object"),
        ):
            join(jnp.ones(3), {"m": object()}, checkpoint=f"{folder}/c.safetensors")


if __name__ == "__main__":
    unittest.main()
