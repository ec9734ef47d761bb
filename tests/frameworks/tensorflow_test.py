"""Variables of TensorFlow, copied."""

import functools
import unittest

import numpy as np
import tensorflow as tf
from contract import FrameworkContract
from copied import CopiedModel


class Model(CopiedModel):
    def __init__(self, kind="float32", full=False):
        super().__init__(full)
        self.w = tf.Variable(np.full((3, 4), 0.5, kind))
        self.b = tf.Variable(np.full(4, 0.5, kind))

    def read(self):
        return {"w": self.w.numpy(), "b": self.b.numpy()}

    def write(self, values):
        self.w.assign(values["w"])
        self.b.assign(values["b"])


class TensorflowTest(FrameworkContract, unittest.TestCase):
    make, make_full = Model, functools.partial(Model, full=True)
    types = (("float16", "F16"), ("float64", "F64"))


if __name__ == "__main__":
    unittest.main()
