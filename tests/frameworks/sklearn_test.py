"""Estimators of scikit-learn."""

import re
import unittest

import fast_training as fast
import numpy as np
from contract import FrameworkContract, FrameworkModel, support
from fast_training import Session
from fast_training.sklearn import EstimatorAdapter, join
from sklearn.linear_model import SGDClassifier, SGDOneClassSVM, SGDRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor


class Model(FrameworkModel):
    """One layer, whose arrays are of the type of its first examples."""

    def __init__(self, kind="float32"):
        self.estimator = MLPRegressor(
            hidden_layer_sizes=(),
            random_state=1,
            solver="sgd",
            momentum=0.5,
            nesterovs_momentum=False,
            learning_rate_init=0.1,
        )
        self.estimator.partial_fit(np.ones((2, 3), kind), np.ones((2, 4), kind))
        for array in (*self.estimator.coefs_, *self.estimator.intercepts_):
            array[...] = 0.5
        for velocity in self.estimator._optimizer.velocities:
            velocity[...] = 0

    def session(self, **options):
        return Session(EstimatorAdapter(self.estimator), **options)

    def values(self):
        arrays = (*self.estimator.coefs_, *self.estimator.intercepts_)
        return [array.copy() for array in arrays]

    def assign(self, values):
        self.estimator.coefs_[0][...] = values[0]
        self.estimator.intercepts_[0][...] = values[1]

    def replace(self, values):
        self.estimator.coefs_, self.estimator.intercepts_ = [values[0]], [values[1]]

    def train(self):
        x = np.random.default_rng(1).normal(size=(50, 3)).astype("f")
        self.estimator.partial_fit(x, x @ np.ones((3, 4), "f") + 1)  # which draws their order

    def momentum(self):
        return max(np.abs(velocity).max() for velocity in self.estimator._optimizer.velocities)

    def statistics(self):  # it has none, and nothing that is frozen
        return np.zeros(0, "f")

    frozen = statistics

    def set(self, statistics, frozen):
        pass


class SklearnTest(FrameworkContract, unittest.TestCase):
    make = make_full = Model
    types = (("float64", "F64"),)

    def test_a_linear_classifier_learns(self):
        random = np.random.default_rng(1)
        x = random.normal(size=(500, 5))
        y = x[:, 0] + x[:, 1] > 0
        model = SGDClassifier(random_state=1)
        model.partial_fit(x[:10], y[:10], classes=[False, True])
        with join(model, budget=2000) as session:
            while not session.done():
                model.partial_fit(x, y)
                session.exchange(samples=len(x))
        self.assertGreater(model.score(x, y), 0.95)

    def test_one_without_weights_is_refused(self):
        with self.assertRaisesRegex(TypeError, "partial_fit"):
            EstimatorAdapter(SGDClassifier())

    def classifiers(self, classes, **options):
        """Two of them that have seen examples of classes of their own."""
        found = []
        for names in classes:
            model = SGDClassifier(random_state=1, **options)
            model.partial_fit(np.eye(len(names)), names, classes=names)
            found.append(model)
        return found

    def joined(self, models, **options):
        """What the join of each of two workers has raised, None where nothing."""
        sessions = []
        for rank, model in enumerate(models):
            peers = {0: sessions[0].endpoint()} if sessions else {}
            adapter = EstimatorAdapter(model)
            sessions.append(Session(adapter, topology="ring:2", rank=rank, peers=peers, **options))
            self.addCleanup(sessions[-1].close)
        raised = [None, None]

        def join(rank):
            try:
                sessions[rank].join()
            except fast.FastError as error:
                raised[rank] = error

        support.together([lambda rank=rank: join(rank) for rank in range(2)])
        return sessions, raised

    def test_other_classes_than_those_of_rank_0_are_refused_by_name(self):
        for classes in (([0, 1, 2], [1, 2, 3]), (["cat", "dog"], ["dog", "fox"])):
            models = self.classifiers(classes)
            _, raised = self.joined(models)
            self.assertIsNone(raised[0])
            self.assertIsInstance(raised[1], fast.ModelError)
            self.assertRegex(
                str(raised[1]),
                f"'classes_' are {re.escape(str(classes[0]))}.*{re.escape(str(classes[1]))} here",
            )
            self.assertEqual(list(models[1].classes_), classes[1])
        _, raised = self.joined(self.classifiers((["cat", "dog"], ["cat", "dog"])))
        self.assertEqual(raised, [None, None])

    def test_what_trains_is_exchanged_where_an_estimator_averages_by_itself(self):
        random = np.random.default_rng(1)
        x = random.normal(size=(60, 3))
        models = [
            SGDRegressor(average=20, random_state=1, learning_rate="constant", eta0=0.02)
            for _ in range(2)
        ]
        for model in models:
            model.partial_fit(x[:2], np.zeros(2))
        sessions, _ = self.joined(models, mode="bounded:3", budget=12_000, settle_target=1e-6)

        def work(index):
            with sessions[index] as session:
                while not session.done():
                    models[index].partial_fit(x, x.sum(1) + 4 * index)
                    session.exchange(samples=len(x))

        support.together([lambda index=index: work(index) for index in range(2)])
        for part in ("_standard_coef", "_standard_intercept", "coef_", "intercept_"):
            one, other = (getattr(model, part) for model in models)
            np.testing.assert_allclose(one, other, atol=1e-3, err_msg=part)
        np.testing.assert_array_equal(models[0].coef_, models[0]._average_coef)
        self.assertTrue((np.abs(models[0].intercept_ - 2) < 1).all(), models[0].intercept_)

    def test_an_offset_apart_from_what_is_averaged_is_refused(self):
        model = SGDOneClassSVM(average=True).partial_fit(np.eye(3))
        with self.assertRaisesRegex(fast.ModelError, "SGDOneClassSVM.*average=False"):
            EstimatorAdapter(model)
        model = SGDOneClassSVM().partial_fit(np.eye(3))
        self.assertEqual(list(EstimatorAdapter(model).parameters), ["coef_", "offset_"])

    def test_a_network_resumes_with_adam_and_its_order_of_examples(self):
        def model():
            found = MLPClassifier((4,), random_state=3)
            return found.partial_fit(np.eye(4), [0, 1, 0, 1], classes=[0, 1])

        def train(model, session, steps):
            for _ in range(steps):
                model.partial_fit(np.eye(4), [0, 1, 0, 1])
                session.exchange(samples=4)

        whole, resumed = model(), model()
        with support.temporary_folder() as folder:
            path = f"{folder}/c.safetensors"
            with join(whole) as session:
                train(whole, session, 3)
                session.save_checkpoint(path)
                train(whole, session, 3)
            with join(resumed, resume=path) as session:
                train(resumed, session, 3)
        for one, other in zip(whole.coefs_, resumed.coefs_):
            np.testing.assert_array_equal(one, other)


if __name__ == "__main__":
    unittest.main()
