"""A model of the contract for frameworks whose arrays CopiedArrays copies."""

import numpy as np
from contract import FullModel
from fast_training import Session
from fast_training.arrays import CopiedArrays, packed, unpacked


class CopiedModel(FullModel):
    """Derived ones have read() and write(), by "w" and "b", of their framework; statistics, what is
    frozen, and the optimizer are NumPy's."""

    def __init__(self, full=False):
        self.others = {"mean": np.zeros(4, "f"), "mask": np.zeros(2, "f")} if full else {}
        self.velocities = [np.zeros((3, 4), "f"), np.zeros(4, "f")]

    def read(self):
        raise NotImplementedError

    def write(self, values):
        raise NotImplementedError

    def session(self, **options):
        return Session(_Adapter(self), **options)

    def values(self):
        return [np.array(array) for array in self.read().values()]

    def assign(self, values):
        self.write(dict(zip(self.read(), values)))

    def train(self):
        for velocity, array in zip(self.velocities, self.values()):
            velocity[...] = np.float32(0.5) * velocity + (array - 1)
        pairs = zip(self.values(), self.velocities)
        self.assign([array - np.float32(0.1) * velocity for array, velocity in pairs])

    def momentum(self):
        return max(np.abs(velocity).max() for velocity in self.velocities)

    def statistics(self):
        return self.others["mean"].copy()

    def frozen(self):
        return self.others["mask"].copy()

    def set(self, statistics, frozen):
        self.others["mean"][...], self.others["mask"][...] = statistics, frozen


class _Adapter(CopiedArrays):
    def __init__(self, model):
        self.model = model
        super().__init__(
            lambda: {**model.read(), **model.others}, self.write, self.forget, {"mean"}, {"mask"}
        )

    def write(self, values):
        self.model.write({name: values[name] for name in self.model.read()})
        for name, array in self.model.others.items():
            if name in values:
                array[...] = values[name]

    def forget(self):
        for velocity in self.model.velocities:
            velocity[...] = 0

    def save_state(self):
        return packed(dict(zip("wb", self.model.velocities)))

    def load_state(self, state):
        self.model.velocities = list(unpacked(state)[0].values())
