"""What a session over any framework must do; each NAME_test.py derives from FrameworkContract.

A model of the suite has two parameters of float32, "w" of shape (3, 4) and "b" of shape (4,).
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "integration" / "python"))
import support


class FrameworkModel:
    """A model in its framework."""

    def session(self, **options):
        """A session over it, open; with join(), exchange(), finish() and the rest."""
        raise NotImplementedError

    def values(self):
        """Copies of both parameters as NumPy arrays."""
        raise NotImplementedError

    def assign(self, values):
        """Gives both parameters other values, as a step of an optimizer does."""
        raise NotImplementedError


class FrameworkContract:
    """The suite, to be mixed into a unittest.TestCase."""

    def make(self):
        """A FrameworkModel, whose parameters are 0.5."""
        raise NotImplementedError

    def models(self, **options):
        """Two models whose sessions can meet, and these."""
        models = [self.make(), self.make()]
        first = models[0].session(topology="ring:2", rank=0, **options)
        peers = {0: first.endpoint()}
        second = models[1].session(topology="ring:2", rank=1, peers=peers, **options)
        return models, [first, second]

    def test_parameters_keep_their_values(self):
        model = self.make()
        with model.session() as session:
            session.join()
            for array, shape in zip(model.values(), ((3, 4), (4,))):
                np.testing.assert_array_equal(array, np.full(shape, 0.5, "f"))

    def test_a_worker_that_is_alone_trains_as_without_a_session(self):
        model = self.make()
        with model.session() as session:
            session.join()
            for step in range(3):
                stepped = [array - 0.25 for array in model.values()]
                model.assign(stepped)
                session.exchange(samples=1, loss=1)
                for array, expected in zip(model.values(), stepped):
                    np.testing.assert_array_equal(array, expected, f"step {step}")
            self.assertEqual(session.steps(), 3)

    def test_two_workers_agree_between_their_objectives(self):
        models, sessions = self.models(budget=400, mode="bounded:3", settle_target=1e-6)

        def work(index):
            with sessions[index] as session:
                session.join()
                while not session.done():
                    model = models[index]
                    model.assign([array - 0.2 * (array - index) for array in model.values()])
                    session.exchange(samples=1, loss=1)

        support.together([lambda index=index: work(index) for index in range(2)])
        for one, other in zip(*(model.values() for model in models)):
            np.testing.assert_allclose(one, other, atol=1e-4)
            self.assertTrue((one > 0.05).all() and (one < 0.95).all(), one)

    def test_both_parameters_are_saved_as_they_are(self):
        model = self.make()
        with support.temporary_folder() as folder, model.session() as session:
            session.join()
            model.assign([array + 1 for array in model.values()])
            session.save(f"{folder}/m.safetensors")
            saved = support.saved_tensors(f"{folder}/m.safetensors")
            with open(f"{folder}/m.safetensors", "rb") as file:
                self.assertIn(np.full(12, 1.5, "f").tobytes(), file.read())
        self.assertEqual(sorted(saved.values()), [("F32", (3, 4)), ("F32", (4,))])
