"""Layers of PaddlePaddle."""

import unittest

import fast_training as fast
import numpy as np
import paddle
from contract import FrameworkContract, FrameworkModel, support
from fast_training.paddle import LayerAdapter, join


class Model(FrameworkModel):
    def __init__(self, kind="float32"):
        self.layer = paddle.nn.Linear(3, 4)
        self.layer.to(dtype=kind)
        self.assign([np.full((3, 4), 0.5, kind), np.full(4, 0.5, kind)])

    def session(self, **options):
        return fast.Session(LayerAdapter(self.layer), **options)

    def trained(self):
        return [self.layer.weight, self.layer.bias]

    def values(self):
        return [parameter.numpy() for parameter in self.trained()]

    def assign(self, values):
        for parameter, value in zip(self.trained(), values):
            parameter.set_value(value.copy())


class Full(Model):
    def __init__(self):
        super().__init__()
        self.layer.norm = paddle.nn.BatchNorm1D(4, weight_attr=False, bias_attr=False)
        self.layer.last = paddle.nn.Linear(2, 1, bias_attr=False)
        self.layer.last.weight.stop_gradient = True
        for frozen in (self.layer.norm.weight, self.layer.norm.bias):
            if frozen is not None:
                frozen.stop_gradient = True
        self.set(0, 0)
        self.optimizer = paddle.optimizer.Momentum(0.1, 0.5, parameters=self.trained())

    def session(self, **options):
        return fast.Session(LayerAdapter(self.layer, self.optimizer), **options)

    def train(self):
        loss = sum((parameter - 1).square().sum() for parameter in self.trained()) / 2
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()

    def momentum(self):
        states = self.optimizer._accumulators.get("velocity", {}).values()
        return max((float(np.abs(state.numpy()).max()) for state in states), default=0)

    def statistics(self):
        return self.layer.norm._mean.numpy()

    def frozen(self):
        return self.layer.last.weight.numpy()

    def set(self, statistics, frozen):
        self.layer.norm._mean.set_value(np.full(4, statistics, "f"))
        self.layer.last.weight.set_value(np.full((2, 1), frozen, "f"))


class PaddleTest(FrameworkContract, unittest.TestCase):
    make, make_full = Model, Full
    types = (("float16", "F16"), ("float64", "F64"))

    def test_each_tensor_has_its_part(self):
        adapter = LayerAdapter(Full().layer)
        self.assertEqual(list(adapter.parameters), ["weight", "bias"])
        self.assertEqual(list(adapter.averaged), ["norm._mean", "norm._variance"])
        self.assertIn("last.weight", adapter.buffers)

    def test_statistics_that_are_used_as_they_are_are_carried(self):
        adapter = LayerAdapter(paddle.nn.BatchNorm1D(4, use_global_stats=True))
        self.assertEqual(list(adapter.averaged), [])
        self.assertIn("_mean", adapter.buffers)

    def test_what_is_shared_is_exchanged_once(self):
        first = paddle.nn.Linear(4, 4)
        second = paddle.nn.Linear(4, 4)
        second.weight = first.weight
        adapter = LayerAdapter(paddle.nn.Sequential(first, second))
        self.assertEqual(list(adapter.parameters), ["0.weight", "0.bias", "1.bias"])

    def test_copies_of_weights_in_the_optimizer_are_refused_by_name(self):
        layer = paddle.nn.Linear(3, 4)
        layer.to(dtype="float16")
        optimizer = paddle.optimizer.Momentum(
            0.1, parameters=layer.parameters(), multi_precision=True
        )
        with self.assertRaisesRegex(fast.ModelError, "'weight' in float32.*multi_precision"):
            LayerAdapter(layer, optimizer)

    def test_adam_and_its_schedule_go_on_from_a_checkpoint(self):
        def made():
            model = Model()
            rate = paddle.optimizer.lr.CosineAnnealingDecay(0.1, 20)
            return model, rate, paddle.optimizer.AdamW(rate, parameters=model.layer.parameters())

        def work(model, rate, optimizer, steps, saved_at=None, **options):
            with join(model.layer, optimizer, **options) as session:
                for step in range(steps):
                    if step == saved_at:
                        session.save_checkpoint(path)
                    (model.layer(paddle.ones([2, 3])) - 1).square().sum().backward()
                    optimizer.step()
                    optimizer.clear_grad()
                    rate.step()
                    session.exchange(samples=2)
            return model.values()

        with support.temporary_folder() as folder:
            path = f"{folder}/checkpoint.safetensors"
            expected = work(*made(), 8, saved_at=4)
            found = work(*made(), 4, resume=path)
        for one, other in zip(found, expected):
            np.testing.assert_array_equal(one, other)

    def test_a_checkpoint_of_another_optimizer_is_refused(self):
        with support.temporary_folder() as folder:
            path = f"{folder}/checkpoint.safetensors"
            model = Full()
            with model.session() as session:
                model.train()
                session.exchange()
                session.save_checkpoint(path)
            other = Full()
            other.optimizer = paddle.optimizer.AdamW(0.1, parameters=other.trained())
            with self.assertRaisesRegex(fast.FileError, "optimizer"):
                other.session(resume=path)


if __name__ == "__main__":
    unittest.main()
