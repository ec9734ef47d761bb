"""Parameters of PaddlePaddle, copied."""

import functools
import unittest

import numpy as np
import paddle
from contract import FrameworkContract
from copied import CopiedModel


class Model(CopiedModel):
    def __init__(self, full=False):
        super().__init__(full)
        self.layer = paddle.nn.Linear(3, 4)
        self.assign([np.full((3, 4), 0.5, "f"), np.full(4, 0.5, "f")])

    def read(self):
        return {name: p.numpy() for name, p in self.layer.named_parameters()}

    def write(self, values):
        for name, parameter in self.layer.named_parameters():
            parameter.set_value(values[name].copy())


class PaddleTest(FrameworkContract, unittest.TestCase):
    make, make_full = Model, functools.partial(Model, full=True)


if __name__ == "__main__":
    unittest.main()
