"""Modules of PyTorch, and what newer versions of it do with their parameters."""

import copy
import io
import unittest

import fast_training as fast
import torch
from contract import FrameworkContract, FrameworkModel
from fast_training.torch import TorchAdapter

torch.set_num_threads(1)
of_pytorch_2 = unittest.skipUnless(hasattr(torch, "compile"), "of PyTorch 2")


class Model(FrameworkModel):
    def __init__(self, kind="float32"):
        kind = getattr(torch, kind)
        self.module = torch.nn.Module()
        self.module.w = torch.nn.Parameter(torch.full((3, 4), 0.5, dtype=kind))
        self.module.b = torch.nn.Parameter(torch.full((4,), 0.5, dtype=kind))

    def session(self, **options):
        return fast.Session(TorchAdapter(self.module), **options)

    def trained(self):
        return [self.module.w, self.module.b]

    def values(self):
        return [parameter.detach().numpy().copy() for parameter in self.trained()]

    def assign(self, values):
        with torch.no_grad():
            for parameter, value in zip(self.trained(), values):
                parameter.copy_(torch.from_numpy(value))

    def replace(self, values):
        for parameter, value in zip(self.trained(), values):
            parameter.data = torch.from_numpy(value)


class Full(Model):
    def __init__(self):
        super().__init__()
        self.module.norm = torch.nn.BatchNorm1d(4, affine=False)
        self.module.mask = torch.nn.Parameter(torch.zeros(2), requires_grad=False)
        self.optimizer = torch.optim.SGD(self.trained(), lr=0.1, momentum=0.5)

    def session(self, **options):
        return fast.Session(TorchAdapter(self.module, self.optimizer), **options)

    def train(self):
        sum((parameter - 1).square().sum() / 2 for parameter in self.trained()).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def momentum(self):
        states = self.optimizer.state.values()
        return max((s["momentum_buffer"].abs().max().item() for s in states), default=0)

    def statistics(self):
        return self.module.norm.running_mean.numpy().copy()

    def frozen(self):
        return self.module.mask.detach().numpy().copy()

    def set(self, statistics, frozen):
        self.module.norm.running_mean.fill_(statistics)
        self.module.mask.data.fill_(frozen)


class TorchTest(FrameworkContract, unittest.TestCase):
    make, make_full = Model, Full
    types = (("float16", "F16"), ("float64", "F64"))


class OneWorker(unittest.TestCase):
    """Ways to train that must go on as they are."""

    def trains(self, model, step, steps=20):
        x = torch.randn(16, 4, generator=torch.Generator().manual_seed(1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        losses = []
        with fast.join(model, optimizer) as session:
            for _ in range(steps):
                losses.append(step(model, optimizer, x))
                session.exchange(samples=16, loss=losses[-1])
            self.assertEqual(session.steps(), steps)
        self.assertLess(losses[-1], losses[0])

    @staticmethod
    def model():
        torch.manual_seed(1)
        return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))

    @staticmethod
    def step(model, optimizer, x):
        loss = (model(x) - 1).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    @of_pytorch_2
    def test_a_compiled_module(self):
        # Without code generation, which would need a compiler at run time.
        model = torch.compile(self.model(), backend="aot_eager")
        self.trains(model, self.step)

    @of_pytorch_2
    def test_a_module_that_is_compiled_later_is_compiled_whole_and_once(self):
        graphs = []

        def backend(graph, _inputs):
            graphs.append(graph)
            return graph.forward

        model = self.model()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        with fast.join(model, optimizer, topology="ring:1") as session:
            compiled = torch.compile(model, backend=backend, fullgraph=True)
            for _ in range(3):
                self.step(compiled, optimizer, torch.randn(16, 4))
                session.exchange(16)
        self.assertEqual(len(graphs), 1)

    @of_pytorch_2
    def test_a_scaled_gradient(self):
        scaler = torch.amp.GradScaler("cpu", init_scale=128.0)

        def step(model, optimizer, x):
            loss = (model(x) - 1).square().mean()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            return loss.item()

        self.trains(self.model(), step)

    def parameters_after(self, kind, **options):
        model = self.model()
        optimizer = kind(model.parameters(), lr=0.05)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 5, 0.5)
        x, told = torch.randn(16, 4, generator=torch.Generator().manual_seed(1)), []
        with fast.join(model, optimizer, **options) as session:
            ready = session.adapter.ready_from
            session.adapter.ready_from = lambda first: (told.append(first), ready(first))
            for _ in range(20):
                session.exchange(samples=16, loss=self.step(model, optimizer, x))
                scheduler.step()
        return [p.detach().clone() for p in model.parameters()], told

    @of_pytorch_2
    def test_a_step_in_the_backward_pass_is_the_same_step(self):
        for kind in (torch.optim.SGD, torch.optim.AdamW, torch.optim.Adagrad):
            expected, none = self.parameters_after(kind)
            found, told = self.parameters_after(kind, step_in_backward=True)
            self.assertEqual(none, [])
            self.assertEqual(told[: len(told) // 20][-1], 0)
            self.assertEqual(told[: len(told) // 20], sorted(told[: len(told) // 20])[::-1])
            self.assertGreaterEqual(len(told), 40)
            for one, other in zip(found, expected):
                self.assertTrue(torch.equal(one, other), kind)

    @of_pytorch_2
    def test_what_needs_all_gradients_is_refused_with_a_step_in_the_backward_pass(self):
        def session_of(model, **options):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
            return optimizer, fast.join(model, optimizer, step_in_backward=True, **options)

        x, model = torch.ones(4, 4), self.model()
        optimizer, session = session_of(model)
        model(x).sum().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        with session, self.assertRaisesRegex(fast.UsageError, "clipping.*step_in_backward"):
            optimizer.step()
        model = self.model()
        optimizer, session = session_of(model)
        model(x).sum().backward()
        with session, self.assertRaisesRegex(fast.UsageError, "second backward"):
            model(x).sum().backward()
        model = self.model()
        optimizer, session = session_of(model)
        scaler = torch.amp.GradScaler("cpu", init_scale=128.0)
        scaler.scale(model(x).sum()).backward()
        with session, self.assertRaisesRegex(fast.UsageError, "GradScaler"):
            scaler.step(optimizer)
        model = self.model()
        optimizer = torch.optim.LBFGS(model.parameters())
        with self.assertRaisesRegex(fast.UsageError, "LBFGS"):
            fast.join(model, optimizer, step_in_backward=True)

    @of_pytorch_2
    def test_a_state_that_is_assigned_is_refused_by_name(self):
        model, other = self.model(), self.model()
        with (
            self.assertRaisesRegex(fast.ModelError, "'0.weight'.*assign"),
            fast.join(model) as session,
        ):
            session.exchange()
            model.load_state_dict(other.state_dict(), assign=True)
            session.exchange()

    def test_a_copy_and_a_saved_state_are_on_their_own(self):
        model = self.model()
        with fast.join(model):
            twin = copy.deepcopy(model)
            file = io.BytesIO()
            torch.save(model.state_dict(), file)
        file.seek(0)
        twin.load_state_dict(torch.load(file, weights_only=True))
        with torch.no_grad():
            twin[0].bias.fill_(9.0)
        self.assertFalse((model[0].bias == 9.0).any())


if __name__ == "__main__":
    unittest.main()
