"""Shared variables of PyTensor."""

import unittest

import fast_training as fast
import numpy as np
import pytensor
from contract import FrameworkContract, FrameworkModel
from fast_training import Session
from fast_training.pytensor import SharedAdapter, join


class Model(FrameworkModel):
    def __init__(self, kind="float32"):
        self.shared = {
            "w": pytensor.shared(np.full((3, 4), 0.5, kind)),
            "b": pytensor.shared(np.full(4, 0.5, kind)),
        }

    def session(self, **options):
        return Session(SharedAdapter(self.shared), **options)

    def trained(self):
        return [self.shared["w"], self.shared["b"]]

    def values(self):
        return [one.get_value() for one in self.trained()]

    def assign(self, values):
        for one, value in zip(self.trained(), values):
            one.set_value(value)


class Full(Model):
    def __init__(self):
        super().__init__()
        self.shared["mean"] = pytensor.shared(np.zeros(4, "f"))
        self.shared["mask"] = pytensor.shared(np.zeros(2, "f"))
        self.state = {
            f"velocity of {name}": pytensor.shared(np.zeros_like(self.shared[name].get_value()))
            for name in "wb"
        }
        updates = {}
        for one, velocity in zip(self.trained(), self.state.values()):
            changed = np.float32(0.5) * velocity + (one - np.float32(1))
            updates |= {velocity: changed, one: one - np.float32(0.1) * changed}
        self.train = pytensor.function([], updates=updates, mode="FAST_COMPILE")

    def session(self, **options):
        adapter = SharedAdapter(
            self.shared, self.state, lambda name: name == "mean", lambda name: name == "mask"
        )
        return Session(adapter, **options)

    def momentum(self):
        return max(float(abs(one.get_value()).max()) for one in self.state.values())

    def statistics(self):
        return self.shared["mean"].get_value()

    def frozen(self):
        return self.shared["mask"].get_value()

    def set(self, statistics, frozen):
        self.shared["mean"].set_value(np.full(4, statistics, "f"))
        self.shared["mask"].set_value(np.full(2, frozen, "f"))


class PytensorTest(FrameworkContract, unittest.TestCase):
    make, make_full = Model, Full
    types = (("float16", "F16"), ("float64", "F64"))

    def test_a_sequence_needs_names(self):
        one = pytensor.shared(np.ones(3, "f"), name="one")
        with join([one]) as session:
            self.assertEqual(list(session.adapter.parameters), ["one"])
        for more in (one, pytensor.shared(np.ones(3, "f"))):
            with self.assertRaisesRegex(fast.ModelError, "shared variable 1"):
                SharedAdapter([one, more])


if __name__ == "__main__":
    unittest.main()
