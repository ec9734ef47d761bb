"""Arrays of NumPy, in place."""

import unittest

import fast_training as fast
import numpy as np
from contract import FrameworkContract


class Model:
    def __init__(self):
        self.arrays = {"w": np.full((3, 4), 0.5, "f"), "b": np.full(4, 0.5, "f")}

    def session(self, **options):
        return fast.Session(self.arrays, **options)

    def values(self):
        return [array.copy() for array in self.arrays.values()]

    def assign(self, values):
        for array, value in zip(self.arrays.values(), values):
            array[...] = value


class NumpyTest(FrameworkContract, unittest.TestCase):
    make = Model


if __name__ == "__main__":
    unittest.main()
