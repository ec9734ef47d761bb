"""Arrays of NumPy, in place."""

import unittest

import fast_training as fast
import numpy as np
from contract import FrameworkContract, FrameworkModel
from fast_training.arrays import packed, unpacked


class Model(FrameworkModel):
    def __init__(self, kind="float32"):
        self.arrays = {"w": np.full((3, 4), 0.5, kind), "b": np.full(4, 0.5, kind)}

    def session(self, **options):
        return fast.Session(self.arrays, **options)

    def values(self):
        return [array.copy() for array in self.arrays.values()]

    def assign(self, values):
        for array, value in zip(self.arrays.values(), values):
            array[...] = value

    def replace(self, values):
        for name, value in zip("wb", values):
            self.arrays[name] = value


class Full(Model):
    """With an adapter of its own, as a user may write one."""

    def __init__(self):
        super().__init__()
        self.mean, self.mask = np.zeros(4, "f"), np.zeros(2, "f")
        self.velocities = {name: np.zeros_like(array) for name, array in self.arrays.items()}

    def session(self, **options):
        return fast.Session(MomentumAdapter(self), **options)

    def train(self):
        for array, velocity in zip(self.arrays.values(), self.velocities.values()):
            velocity[...] = 0.5 * velocity + (array - 1)
            array -= 0.1 * velocity

    def momentum(self):
        return max(np.abs(velocity).max() for velocity in self.velocities.values())

    def statistics(self):
        return self.mean.copy()

    def frozen(self):
        return self.mask.copy()

    def set(self, statistics, frozen):
        self.mean[...], self.mask[...] = statistics, frozen


class MomentumAdapter(fast.Adapter):
    def __init__(self, model):
        super().__init__(model.arrays, {"mask": model.mask}, {"mean": model.mean})
        self.velocities = model.velocities

    def save_state(self):
        return packed(self.velocities)

    def load_state(self, state):
        for name, velocity in unpacked(state)[0].items():
            self.velocities[name][...] = velocity

    def model_replaced(self):
        for velocity in self.velocities.values():
            velocity[...] = 0


class NumpyTest(FrameworkContract, unittest.TestCase):
    make, make_full = Model, Full
    types = (("float16", "F16"), ("float64", "F64"))


if __name__ == "__main__":
    unittest.main()
