"""Estimators of scikit-learn."""

import unittest

import numpy as np
from contract import FrameworkContract
from fast_training import Session
from fast_training.sklearn import EstimatorAdapter, join
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPRegressor


class Model:
    """One layer, whose arrays are of float32 as its first examples are."""

    def __init__(self):
        self.estimator = MLPRegressor(hidden_layer_sizes=(), random_state=1)
        self.estimator.partial_fit(np.ones((2, 3), "f"), np.ones((2, 4), "f"))
        for array in (*self.estimator.coefs_, *self.estimator.intercepts_):
            array[...] = 0.5

    def session(self, **options):
        return Session(EstimatorAdapter(self.estimator), **options)

    def values(self):
        arrays = (*self.estimator.coefs_, *self.estimator.intercepts_)
        return [array.copy() for array in arrays]

    def assign(self, values):
        self.estimator.coefs_[0][...] = values[0]
        self.estimator.intercepts_[0] = values[1]  # which it may replace


class SklearnTest(FrameworkContract, unittest.TestCase):
    make = Model

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


if __name__ == "__main__":
    unittest.main()
