"""Chainer's links, in place."""

import unittest

import chainer
import fast_training as fast
import numpy as np
from chainer import functions as F
from chainer import links as L
from contract import FrameworkContract, FrameworkModel
from fast_training.chainer import LinkAdapter, join


class Model(FrameworkModel):
    def __init__(self, kind="float32"):
        self.link = chainer.Link()
        with self.link.init_scope():
            self.link.w = chainer.Parameter(np.full((3, 4), 0.5, kind))
            self.link.b = chainer.Parameter(np.full(4, 0.5, kind))

    def session(self, **options):
        return fast.Session(LinkAdapter(self.link), **options)

    def values(self):
        return [self.link.w.array.copy(), self.link.b.array.copy()]

    def assign(self, values):
        self.link.w.array[...], self.link.b.array[...] = values

    def replace(self, values):
        self.link.w.array, self.link.b.array = (value.copy() for value in values)


class Full(Model):
    def __init__(self):
        self.link = chainer.Chain(norm=L.BatchNormalization(4, use_gamma=False, use_beta=False))
        with self.link.init_scope():
            self.link.w = chainer.Parameter(np.full((3, 4), 0.5, "f"))
            self.link.b = chainer.Parameter(np.full(4, 0.5, "f"))
            self.link.mask = chainer.Parameter(np.zeros(2, "f"))
        self.optimizer = chainer.optimizers.MomentumSGD(0.1, 0.5).setup(self.link)
        self.link.mask.update_rule.enabled = False

    def train(self):
        loss = (F.sum((self.link.w - 1) ** 2) + F.sum((self.link.b - 1) ** 2)) / 2
        self.link.cleargrads()
        loss.backward()
        self.optimizer.update()

    def momentum(self):
        states = [p.update_rule.state for p in (self.link.w, self.link.b)]
        return max(float(abs(state["v"]).max()) if state else 0 for state in states)

    def statistics(self):
        return self.link.norm.avg_mean.copy()

    def frozen(self):
        return self.link.mask.array.copy()

    def set(self, statistics, frozen):
        self.link.norm.avg_mean = np.full(4, statistics, "f")  # which may be replaced
        self.link.mask.array[...] = frozen


class ChainerTest(FrameworkContract, unittest.TestCase):
    make, make_full = Model, Full
    types = (("float16", "F16"), ("float64", "F64"))

    def test_an_optimizer_moves_the_memory_that_is_exchanged(self):
        net = chainer.Sequential(L.Linear(4, 8), L.BatchNormalization(8), F.relu, L.Linear(8, 1))
        optimizer = chainer.optimizers.MomentumSGD(0.1).setup(net)
        x = np.random.default_rng(1).normal(size=(16, 4)).astype("f")
        losses = []
        with join(net) as session:
            arrays = {**session.adapter.parameters, **session.adapter.averaged}
            self.assertIn("avg_mean", " ".join(session.adapter.averaged))
            before = {name: array.copy() for name, array in arrays.items()}
            for _ in range(20):
                loss = F.mean((net(x) - 1) ** 2)
                net.cleargrads()
                loss.backward()
                optimizer.update()
                losses.append(float(loss.array))
                session.exchange(samples=16, loss=losses[-1])
            for name, array in arrays.items():
                self.assertTrue((array != before[name]).any(), name)
            session.adapter.model_replaced()
            self.assertIsNone(net[0].W.update_rule.state)
        self.assertLess(losses[-1], losses[0] / 4)

    def test_another_type_is_refused_by_name(self):
        net = L.Linear(4, 1)
        with self.assertRaisesRegex(fast.ModelError, "'/W'.*float64"), join(net) as session:
            net.W.array = net.W.array.astype("d")
            session.exchange()

    def test_one_that_is_not_initialised_is_refused_by_name(self):
        with self.assertRaisesRegex(fast.ModelError, "'/W'.*initialised"):
            LinkAdapter(L.Linear(None, 3))


if __name__ == "__main__":
    unittest.main()
