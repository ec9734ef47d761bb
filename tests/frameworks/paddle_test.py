"""Parameters of PaddlePaddle, copied."""

import unittest

import numpy as np
import paddle
from contract import FrameworkContract
from fast_training import Session
from fast_training.arrays import CopiedArrays


class Model:
    def __init__(self):
        self.layer = paddle.nn.Linear(3, 4)
        self.assign([np.full((3, 4), 0.5, "f"), np.full(4, 0.5, "f")])

    def read(self):
        return {name: p.numpy() for name, p in self.layer.named_parameters()}

    def write(self, values):
        for name, parameter in self.layer.named_parameters():
            parameter.set_value(values[name].copy())

    def session(self, **options):
        return Session(CopiedArrays(self.read, self.write), **options)

    def values(self):
        return list(self.read().values())

    def assign(self, values):
        self.write(dict(zip(self.read(), values)))


class PaddleTest(FrameworkContract, unittest.TestCase):
    make = Model


if __name__ == "__main__":
    unittest.main()
