"""What a session over any framework must do; each NAME_test.py derives from FrameworkContract.

A model of the suite has two parameters, "w" of shape (3, 4) and "b" of shape (4,). A full one has
besides running statistics, a frozen array, and an optimizer with momentum.
"""

import pathlib
import sys
import threading
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "integration" / "python"))
import support

SECONDS = 60  # after which what has not come counts as lost


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

    def replace(self, values):
        """The same, by other arrays in the place of those that are there, where that can be."""
        self.assign(values)


class FullModel(FrameworkModel):
    """One that has all that a model may have; parameters begin at 0.5, all else at 0."""

    def train(self):
        """A step of an optimizer with momentum, by which parameters come to 1 in time."""
        raise NotImplementedError

    def momentum(self):
        """The greatest absolute value in the optimizer's state; 0 where that has none."""
        raise NotImplementedError

    def statistics(self):
        """A copy of the running statistics, of any shape."""
        raise NotImplementedError

    def frozen(self):
        """A copy of what is not trained, of any shape."""
        raise NotImplementedError

    def set(self, statistics, frozen):
        """Fills both with one number each."""
        raise NotImplementedError


def everything(model):
    return [*model.values(), model.statistics(), model.frozen(), model.momentum()]


class FrameworkContract:
    """The suite, to be mixed into a unittest.TestCase."""

    #: Types that a model may have beside float32, by NumPy's names and those of safetensors.
    types = ()

    def make(self, kind="float32"):
        """A FrameworkModel, whose parameters are 0.5."""
        raise NotImplementedError

    def make_full(self):
        """A FullModel."""
        raise NotImplementedError

    def ring(self, models, **options):
        """Sessions over two models, able to meet."""
        first = models[0].session(topology="ring:2", rank=0, **options)
        peers = {0: first.endpoint()}
        return [first, models[1].session(topology="ring:2", rank=1, peers=peers, **options)]

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

    def agree(self, assign):
        """Two workers that step towards 0 and 1 by `assign`(model, values)."""
        models = [self.make(), self.make()]
        sessions = self.ring(models, budget=400, mode="bounded:3", settle_target=1e-6)

        def work(index):
            with sessions[index] as session:
                session.join()
                while not session.done():
                    model = models[index]
                    assign(model, [array - 0.2 * (array - index) for array in model.values()])
                    session.exchange(samples=1, loss=1)

        support.together([lambda index=index: work(index) for index in range(2)])
        for one, other in zip(*(model.values() for model in models)):
            np.testing.assert_allclose(one, other, atol=1e-4)
            self.assertTrue((one > 0.05).all() and (one < 0.95).all(), one)

    def test_two_workers_agree_between_their_objectives(self):
        self.agree(lambda model, values: model.assign(values))

    def test_two_workers_agree_where_each_step_binds_arrays_anew(self):
        self.agree(lambda model, values: model.replace(values))

    def test_both_parameters_are_saved_as_they_are(self):
        model = self.make()
        with support.temporary_folder() as folder, model.session() as session:
            session.join()
            model.replace([array + 1 for array in model.values()])
            session.save_model(f"{folder}/m.safetensors")
            saved = support.saved_tensors(f"{folder}/m.safetensors")
            with open(f"{folder}/m.safetensors", "rb") as file:
                self.assertIn(np.full(12, 1.5, "f").tobytes(), file.read())
        self.assertEqual(sorted(saved.values()), [("F32", (3, 4)), ("F32", (4,))])

    def test_types_stay_in_models_and_checkpoints(self):
        for kind, name in self.types:
            with self.subTest(kind), support.temporary_folder() as folder:
                path = f"{folder}/checkpoint.safetensors"
                model = self.make(kind)
                with model.session() as session:
                    session.join()
                    model.assign([array - array / 3 for array in model.values()])
                    session.exchange(samples=1, loss=1)
                    session.save_checkpoint(path)
                    session.save_model(f"{folder}/m.safetensors")
                    kept = model.values()
                saved = support.saved_tensors(f"{folder}/m.safetensors")
                self.assertEqual({one for one, _ in saved.values()}, {name})
                again = self.make(kind)
                with again.session(resume=path) as session:
                    session.join()
                    for one, other in zip(again.values(), kept):
                        np.testing.assert_array_equal(one, other)

    def test_killed_and_resumed_equals_not_killed(self):
        def work(model, steps, saved_at=None, **options):
            with model.session(**options) as session:
                session.join()
                for step in range(steps):
                    if step == saved_at:
                        session.save_checkpoint(path)
                    model.train()
                    session.exchange(samples=1, loss=1)
                return everything(model)

        with support.temporary_folder() as folder:
            path = f"{folder}/checkpoint.safetensors"
            whole, resumed = self.make_full(), self.make_full()
            whole.set(statistics=2, frozen=3)
            expected = work(whole, 8, saved_at=4)
            found = work(resumed, 4, resume=path)
        self.assertGreater(expected[-1], 0)
        for one, other in zip(found, expected):
            np.testing.assert_array_equal(one, other)

    def test_statistics_become_the_mean_and_what_is_frozen_comes_from_rank_0(self):
        models = [self.make_full(), self.make_full()]
        for index, model in enumerate(models):
            model.set(statistics=3 + index, frozen=5 + index)
        sessions = self.ring(models, budget=40, mode="bounded:3", settle_target=1e-6)
        begun = [None, None]

        def work(index):
            model = models[index]
            with sessions[index] as session:
                session.join()
                begun[index] = [model.statistics(), model.frozen()]
                while not session.done():
                    model.train()
                    session.exchange(samples=1, loss=1)
                model.set(statistics=7 + index, frozen=5)
                session.finish()
                session.save_model(f"{folder}/{index}.safetensors")

        with support.temporary_folder() as folder:
            support.together([lambda index=index: work(index) for index in range(2)])
            files = [pathlib.Path(folder, f"{index}.safetensors") for index in range(2)]
            contents = [file.read_bytes() for file in files]
        for model, (statistics, frozen), content in zip(models, begun, contents):
            np.testing.assert_array_equal(statistics, np.full_like(statistics, 3))
            np.testing.assert_array_equal(frozen, np.full_like(frozen, 5))
            np.testing.assert_array_equal(model.frozen(), frozen)
            np.testing.assert_allclose(model.statistics(), 7.5, atol=1e-5)
            self.assertIn(model.statistics().tobytes(), content)
            self.assertIn(frozen.tobytes(), content)

    def test_who_has_hardly_begun_takes_the_model_over_and_begins_its_momentum_anew(self):
        models = [self.make_full(), self.make_full()]
        models[0].set(statistics=3, frozen=5)
        with support.temporary_folder() as folder:
            peers = pathlib.Path(
                folder, "peers"
            )  # nobody knows where the other is before it exists
            sessions = [
                model.session(
                    topology="ring:2",
                    rank=rank,
                    listen=f"ipc://{folder}/{rank}",
                    peers=str(peers),
                    start_deadline=0.05,
                    settle_deadline=1,
                )
                for rank, model in enumerate(models)
            ]
            for index, steps in ((0, 300), (1, 1)):
                sessions[index].join()
                for _ in range(steps):
                    models[index].train()
                    sessions[index].exchange(samples=1, loss=1)
            self.assertGreater(models[1].momentum(), 0)
            peers.write_text("".join(f"{rank} ipc://{folder}/{rank}\n" for rank in range(2)))
            until = time.monotonic() + SECONDS
            while sessions[1].status().joined_from is None and time.monotonic() < until:
                models[0].train()
                sessions[0].exchange(samples=1, loss=1)
            models[1].train()
            sessions[1].exchange(samples=1, loss=1)
            self.assertEqual(sessions[1].status().joined_from, 0)
            self.assertEqual(models[1].momentum(), 0)
            for one, other in zip(models[1].values(), models[0].values()):
                np.testing.assert_allclose(one, other, atol=0.05)
            np.testing.assert_array_equal(models[1].statistics(), models[0].statistics())
            np.testing.assert_array_equal(models[1].frozen(), models[0].frozen())
            for session in sessions:
                session.close()

    def test_all_begin_with_what_rank_0_has_loaded_however_late_it_comes(self):
        for late in (0, 2, 5):
            with self.subTest(late=late), support.temporary_folder() as folder:
                models = [self.make() for _ in range(4)]  # of which one is no neighbour of rank 0
                models[0].assign([np.full_like(array, 0.9) for array in models[0].values()])
                begun = [None] * 4

                def work(rank, folder=folder, late=late, models=models, begun=begun):
                    if rank == 0:
                        threading.Event().wait(late)
                    session = models[rank].session(
                        topology="ring:4",
                        rank=rank,
                        listen=f"ipc://{folder}/{rank}",
                        peer_template=f"ipc://{folder}/{{rank}}",
                    )
                    with session:
                        session.join()
                        begun[rank] = models[rank].values()

                support.together([lambda rank=rank: work(rank) for rank in range(4)])
                for values in begun:
                    for array in values:
                        np.testing.assert_array_equal(array, np.full_like(array, 0.9))
