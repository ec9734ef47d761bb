"""Gluon's blocks of MXNet, in place."""

import unittest

import fast_training as fast
import mxnet as mx
from contract import FrameworkContract, FrameworkModel
from fast_training.mxnet import BlockAdapter, join
from mxnet import autograd, gluon


class Model(FrameworkModel):
    def __init__(self, kind="float32"):
        self.block = gluon.nn.Block()
        self.w = gluon.Parameter("w", shape=(3, 4), init=mx.init.Constant(0.5), dtype=kind)
        self.b = gluon.Parameter("b", shape=(4,), init=mx.init.Constant(0.5), dtype=kind)
        self.block.w, self.block.b = self.w, self.b
        for parameter in (self.w, self.b):
            parameter.initialize()

    def session(self, **options):
        return fast.Session(BlockAdapter(self.block), **options)

    def values(self):
        return [parameter.data().asnumpy() for parameter in (self.w, self.b)]

    def assign(self, values):
        for parameter, value in zip((self.w, self.b), values):
            parameter.set_data(mx.nd.array(value, dtype=value.dtype))

    def replace(self, values):
        for parameter, value in zip((self.w, self.b), values):
            parameter._data = [mx.nd.array(value, dtype=value.dtype)]
            parameter._init_grad()


class Full(Model):
    def __init__(self):
        super().__init__()
        self.norm = gluon.nn.BatchNorm(center=False, scale=False, in_channels=4)
        self.last = gluon.nn.Dense(1, use_bias=False, in_units=2)
        self.block.norm, self.block.last = self.norm, self.last
        self.norm.initialize()
        self.last.initialize()
        for parameter in (*self.norm.collect_params().values(), self.last.weight):
            parameter.grad_req = "null"
        self.set(0, 0)
        options = {"learning_rate": 0.1, "momentum": 0.5}
        self.trainer = gluon.Trainer({"w": self.w, "b": self.b}, "sgd", options)

    def session(self, **options):
        return fast.Session(BlockAdapter(self.block, self.trainer), **options)

    def train(self):
        with autograd.record():
            loss = sum((p.data() - 1).square().sum() for p in (self.w, self.b)) / 2
        loss.backward()
        self.trainer.step(1)

    def momentum(self):
        states = self.trainer._updaters[0].states.values()
        return max((float(abs(state.asnumpy()).max()) for state in states), default=0)

    def statistics(self):
        return self.norm.running_mean.data().asnumpy()

    def frozen(self):
        return self.last.weight.data().asnumpy()

    def set(self, statistics, frozen):
        self.norm.running_mean.set_data(mx.nd.full((4,), statistics))
        self.last.weight.set_data(mx.nd.full((1, 2), frozen))


class MxnetTest(FrameworkContract, unittest.TestCase):
    make, make_full = Model, Full
    types = (("float16", "F16"), ("float64", "F64"))

    @staticmethod
    def normalised():
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Dense(8), gluon.nn.BatchNorm(), gluon.nn.Dense(1))
        net.initialize(mx.init.Xavier())
        net(mx.nd.ones((2, 4)))
        return net

    def test_the_trainer_moves_the_memory_that_is_exchanged(self):
        net = self.normalised()
        net.hybridize()
        trainer = gluon.Trainer(
            net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9}
        )
        x = mx.nd.random.normal(shape=(16, 4))
        losses = []
        with join(net, trainer) as session:
            homes = [home.copy() for home in session.adapter.parameters.values()]
            statistics = [home.copy() for home in session.adapter.averaged.values()]
            for _ in range(20):
                with autograd.record():
                    loss = (net(x) - 1).square().mean()
                loss.backward()
                trainer.step(1)
                losses.append(loss.asscalar())
                session.exchange(samples=16, loss=losses[-1])
            for home, before in zip(session.adapter.parameters.values(), homes):
                self.assertTrue((home != before).any())
            self.assertEqual(len(statistics), 2)
            for home, before in zip(session.adapter.averaged.values(), statistics):
                self.assertTrue((home != before).any())
            trainer._updaters[0].states[0][:] = 1
            session.adapter.model_replaced()
            self.assertEqual(trainer._updaters[0].states, {})
        self.assertLess(losses[-1], losses[0] / 4)

    def test_a_parameter_that_was_cast_is_refused_by_name(self):
        net = self.normalised()
        with self.assertRaisesRegex(fast.ModelError, "float16"), join(net) as session:
            net.cast("float16")
            session.exchange()

    def test_one_that_is_not_initialised_is_refused_by_name(self):
        with self.assertRaisesRegex(fast.ModelError, "'weight'.*initialised"):
            BlockAdapter(gluon.nn.Dense(3))

    def test_what_is_shared_is_exchanged_once(self):
        net = gluon.nn.HybridSequential()
        first = gluon.nn.Dense(4, in_units=4)
        net.add(first, gluon.nn.Dense(4, in_units=4, params=first.params))
        net.initialize()
        self.assertEqual(len(BlockAdapter(net).parameters), 2)


if __name__ == "__main__":
    unittest.main()
