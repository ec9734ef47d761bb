"""Variables of TensorFlow, copied."""

import unittest

import numpy as np
import tensorflow as tf
from contract import FrameworkContract
from fast_training import Session
from fast_training.arrays import CopiedArrays


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(np.full((3, 4), 0.5, "f"))
        self.b = tf.Variable(np.full(4, 0.5, "f"))

    def read(self):
        return {"w": self.w.numpy(), "b": self.b.numpy()}

    def write(self, values):
        self.w.assign(values["w"])
        self.b.assign(values["b"])

    def session(self, **options):
        return Session(CopiedArrays(self.read, self.write), **options)

    def values(self):
        return [array.copy() for array in self.read().values()]

    def assign(self, values):
        self.write(dict(zip("wb", values)))


class TensorflowTest(FrameworkContract, unittest.TestCase):
    make = Model


if __name__ == "__main__":
    unittest.main()
