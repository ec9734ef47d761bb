"""Variables of TensorFlow."""

import unittest

import numpy as np
import tensorflow as tf
from contract import FrameworkContract, FrameworkModel
from fast_training import Session
from fast_training.tensorflow import VariablesAdapter, join


class Model(FrameworkModel):
    def __init__(self, kind="float32"):
        self.module = tf.Module()
        self.module.w = tf.Variable(np.full((3, 4), 0.5, kind), name="w")
        self.module.b = tf.Variable(np.full(4, 0.5, kind), name="b")

    def session(self, **options):
        return Session(VariablesAdapter(self.module), **options)

    def trained(self):
        return [self.module.w, self.module.b]

    def values(self):
        return [variable.numpy() for variable in self.trained()]

    def assign(self, values):
        for variable, value in zip(self.trained(), values):
            variable.assign(value)


class Full(Model):
    def __init__(self):
        super().__init__()
        self.module.mean = tf.Variable(np.zeros(4, "f"), trainable=False, name="mean")
        self.module.mask = tf.Variable(np.zeros(2, "f"), trainable=False, name="mask")
        self.velocities = [tf.Variable(tf.zeros_like(one), name="v") for one in self.trained()]
        self.rate = tf.Variable(0.1, name="learning_rate")

    def session(self, **options):
        adapter = VariablesAdapter(
            self.module, [*self.velocities, self.rate], lambda name: name.endswith("mean")
        )
        return Session(adapter, **options)

    def train(self):
        for variable, velocity in zip(self.trained(), self.velocities):
            velocity.assign(0.5 * velocity + (variable - 1))
            variable.assign_sub(self.rate * velocity)

    def momentum(self):
        return max(float(abs(velocity.numpy()).max()) for velocity in self.velocities)

    def statistics(self):
        return self.module.mean.numpy()

    def frozen(self):
        return self.module.mask.numpy()

    def set(self, statistics, frozen):
        self.module.mean.assign(np.full(4, statistics, "f"))
        self.module.mask.assign(np.full(2, frozen, "f"))


class TensorflowTest(FrameworkContract, unittest.TestCase):
    make, make_full = Model, Full
    types = (("float16", "F16"), ("float64", "F64"))

    def test_a_learning_rate_stays_where_the_model_is_replaced(self):
        model = Full()
        with join(model.module, [*model.velocities, model.rate]) as session:
            model.rate.assign(0.25)
            model.train()
            session.adapter.model_replaced()
            self.assertEqual(float(model.rate), 0.25)
            self.assertEqual(model.momentum(), 0)

    def test_each_variable_has_its_part(self):
        adapter = VariablesAdapter(Full().module, averaged=lambda name: name.endswith("mean"))
        self.assertEqual([n.split(".")[1] for n in adapter.parameters], ["b", "w"])
        self.assertEqual([n.split(".")[1] for n in adapter.averaged], ["mean"])
        self.assertEqual([n.split(".")[1] for n in adapter.buffers], ["mask"])

    def test_a_sequence_of_variables_is_a_model(self):
        variables = [tf.Variable(np.ones(3, "f"), name="x"), tf.Variable(np.ones(3, "f"), name="x")]
        self.assertEqual(list(VariablesAdapter(variables).parameters), ["0.x", "1.x"])


if __name__ == "__main__":
    unittest.main()
