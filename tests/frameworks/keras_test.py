"""Keras 3, on the backend that KERAS_BACKEND names."""

import unittest

import keras
import numpy as np
from contract import FrameworkContract
from fast_training import Session
from fast_training.keras import FastCallback, KerasAdapter


class Model:
    def __init__(self):
        layer = keras.layers.Dense(4, kernel_initializer="zeros")
        self.model = keras.Sequential([keras.Input((3,)), layer])
        self.assign([np.full((3, 4), 0.5, "f"), np.full(4, 0.5, "f")])

    def session(self, **options):
        return Session(KerasAdapter(self.model), **options)

    def values(self):
        variables = self.model.trainable_variables
        return [np.array(keras.ops.convert_to_numpy(variable)) for variable in variables]

    def assign(self, values):
        for variable, value in zip(self.model.trainable_variables, values):
            variable.assign(value)


class KerasTest(FrameworkContract, unittest.TestCase):
    make = Model

    def test_fit_trains_until_the_budget_is_used(self):
        model = self.make().model
        model.compile(keras.optimizers.SGD(0.05), "mse")
        x = np.random.default_rng(1).normal(size=(64, 3)).astype("f")
        y = x @ np.ones((3, 4), "f")
        before = model.evaluate(x, y, verbose=0)
        callback = FastCallback(16, budget=400)
        history = model.fit(x, y, batch_size=16, epochs=100, callbacks=[callback], verbose=0)
        self.assertLess(len(history.epoch), 10)
        self.assertTrue(callback.session.agreed)
        self.assertLess(model.evaluate(x, y, verbose=0), before / 2)


if __name__ == "__main__":
    unittest.main()
