"""Shared variables of PyTensor, copied: updates of a function replace their memory."""

import unittest

import numpy as np
import pytensor
from contract import FrameworkContract
from fast_training import Session
from fast_training.arrays import CopiedArrays


class Model:
    def __init__(self):
        self.shared = {
            "w": pytensor.shared(np.full((3, 4), 0.5, "f")),
            "b": pytensor.shared(np.full(4, 0.5, "f")),
        }

    def read(self):
        return {name: one.get_value(borrow=True) for name, one in self.shared.items()}

    def write(self, values):
        for name, one in self.shared.items():
            one.set_value(values[name])  # a copy, since not borrowed

    def session(self, **options):
        return Session(CopiedArrays(self.read, self.write), **options)

    def values(self):
        return [one.get_value() for one in self.shared.values()]

    def assign(self, values):
        self.write(dict(zip(self.shared, values)))


class PytensorTest(FrameworkContract, unittest.TestCase):
    make = Model


if __name__ == "__main__":
    unittest.main()
