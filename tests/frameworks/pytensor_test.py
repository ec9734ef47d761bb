"""Shared variables of PyTensor, copied: updates of a function replace their memory."""

import functools
import unittest

import numpy as np
import pytensor
from contract import FrameworkContract
from copied import CopiedModel


class Model(CopiedModel):
    def __init__(self, kind="float32", full=False):
        super().__init__(full)
        self.shared = {
            "w": pytensor.shared(np.full((3, 4), 0.5, kind)),
            "b": pytensor.shared(np.full(4, 0.5, kind)),
        }

    def read(self):
        return {name: one.get_value(borrow=True) for name, one in self.shared.items()}

    def write(self, values):
        for name, one in self.shared.items():
            one.set_value(values[name])  # a copy, since not borrowed


class PytensorTest(FrameworkContract, unittest.TestCase):
    make, make_full = Model, functools.partial(Model, full=True)
    types = (("float16", "F16"), ("float64", "F64"))


if __name__ == "__main__":
    unittest.main()
