"""Sessions over PyTorch models: what neighbours average, and where it lives."""

import io
import unittest
import unittest.mock

import fast_training as fast
import support
import torch
from fast_training._torch_homes import Group
from fast_training.torch import TorchAdapter, gather_statistics
from torch import nn

torch.set_num_threads(1)


def model_of(*layers):
    """The same weights at each call."""
    torch.manual_seed(1)
    return nn.Sequential(*(layer() for layer in layers))


def trained(models, optimizers, inputs=3, steps=300, after_step=None, **options):
    """Trains the models, one worker each, on objectives of their own until their budget is used."""
    adapters = [TorchAdapter(*both) for both in zip(models, optimizers)]
    sessions = support.ring(adapters, budget=steps * len(models), settle_target=1e-6, **options)
    data = torch.Generator().manual_seed(3)
    x = torch.randn(8, inputs, generator=data)

    def step(index):
        output = models[index](x)
        loss = (output.float() - index).square().mean()
        loss.backward()
        optimizers[index].step()
        optimizers[index].zero_grad()
        if after_step is not None:
            after_step(index)
        return loss

    support.train(sessions, step)
    for session in sessions:
        assert session.agreed
    return sessions


def sgd(model, **options):
    return torch.optim.SGD(model.parameters(), lr=0.05, **options)


class TwoProcesses(unittest.TestCase):
    def test_they_learn_and_agree(self):
        with support.temporary_folder() as folder:
            found = support.reports(
                [
                    support.start("classify_torch", **variables)
                    for variables in support.meeting_variables(folder)
                ]
            )
        for one in found:
            self.assertTrue(one["agreed"])
            self.assertGreater(one["accuracy"], 0.9)
            for value, other in zip(one["bias"], found[0]["bias"]):
                self.assertAlmostEqual(value, other, delta=1e-3)


class Parameters(unittest.TestCase):
    def assert_equal_models(self, models, delta=1e-4):
        first, second = (list(model.parameters()) for model in models)
        for one, other in zip(first, second):
            self.assertLessEqual((one - other).abs().max().item(), delta)

    def test_they_are_views_of_one_memory_and_keep_their_values(self):
        model = model_of(lambda: nn.Linear(3, 4), lambda: nn.Linear(4, 2))
        values = [parameter.detach().clone() for parameter in model.parameters()]
        fast.join(model, sgd(model)).close()
        at = None
        for parameter, value in zip(model.parameters(), values):
            self.assertTrue(torch.equal(parameter, value))
            self.assertIn(at, (None, parameter.data_ptr()))
            at = parameter.data_ptr() + 4 * parameter.numel()

    def test_tied_ones_stay_tied(self):
        def make():
            model = model_of(lambda: nn.Linear(3, 3), nn.Tanh, lambda: nn.Linear(3, 3))
            model[2].weight = model[0].weight
            return model

        models = [make(), make()]
        trained(models, [sgd(model) for model in models])
        for model in models:
            self.assertIs(model[0].weight, model[2].weight)
        self.assert_equal_models(models)

    def test_memory_that_is_shared_as_a_transpose_stays_so(self):
        def make():
            model = model_of(lambda: nn.Linear(3, 2, bias=False), lambda: nn.Linear(2, 3))
            model[1].weight.data = model[0].weight.data.t()
            return model

        models = [make(), make()]
        trained(models, [sgd(model) for model in models])
        for model in models:
            self.assertEqual(model[0].weight.data_ptr(), model[1].weight.data_ptr())
            self.assertTrue(torch.equal(model[0].weight, model[1].weight.t()))
        self.assert_equal_models(models)

    def test_a_frozen_one_that_is_tied_to_a_trained_one_stays_tied(self):
        model = model_of(lambda: nn.Linear(3, 3, bias=False), lambda: nn.Linear(3, 3, bias=False))
        model[1].weight.requires_grad_(False)
        model[1].weight.data = model[0].weight.data
        model.register_buffer("part", model[0].weight.data.view(-1)[:4])
        with self.assertRaisesRegex(fast.ModelError, "'0.weight' and 'part' share"):
            TorchAdapter(model)
        del model.part
        with fast.join(model, sgd(model)) as session:
            self.assertEqual(list(session.adapter.parameters), ["0.weight"])
            model[0].weight.data.fill_(3.0)
            self.assertTrue((model[1].weight == 3.0).all())

    def test_memory_elsewhere_is_copied(self):
        models = [model_of(lambda: nn.Linear(3, 4), lambda: nn.BatchNorm1d(4)) for _ in range(2)]
        own = [parameter.data_ptr() for model in models for parameter in model.parameters()]
        with unittest.mock.patch.object(Group, "on_host", False):  # as on a device
            trained(models, [sgd(model) for model in models])
        self.assertEqual(own, [p.data_ptr() for model in models for p in model.parameters()])
        self.assert_equal_models(models)
        self.assertTrue(torch.allclose(models[0][1].running_mean, models[1][1].running_mean, 1e-3))

    def test_frozen_ones_stay_and_are_saved(self):
        models = [model_of(lambda: nn.Linear(3, 4), lambda: nn.Linear(4, 2)) for _ in range(2)]
        for index, model in enumerate(models):
            model[0].weight.requires_grad_(False)
            model[0].weight.fill_(index)
        with support.temporary_folder() as folder:
            sessions = trained(models, [sgd(model) for model in models])
            self.assertEqual(len(sessions[0].adapter.parameters), 3)
            with fast.join(models[0]) as session:
                session.save(f"{folder}/model.safetensors")
            saved = support.saved_tensors(f"{folder}/model.safetensors")
        self.assertEqual(saved["0.weight"], ("F32", (4, 3)))
        self.assertEqual(len(saved), 4)
        for index, model in enumerate(models):
            self.assertTrue((model[0].weight == index).all())

    def test_groups_with_rates_of_their_own_train(self):
        models = [model_of(lambda: nn.Linear(3, 4), lambda: nn.Linear(4, 2)) for _ in range(2)]
        start = [parameter.detach().clone() for parameter in models[0].parameters()]
        optimizers = [
            torch.optim.SGD(
                [
                    {"params": model[0].parameters(), "lr": 0.01, "momentum": 0.9},
                    {"params": model[1].parameters()},
                ],
                lr=0.1,
            )
            for model in models
        ]
        trained(models, optimizers)
        self.assert_equal_models(models)
        for parameter, before in zip(models[0].parameters(), start):
            self.assertFalse(torch.equal(parameter, before))

    def test_types_may_be_mixed(self):
        class Mixed(nn.Module):
            def __init__(self):
                super().__init__()
                torch.manual_seed(1)
                self.of_single = nn.Linear(3, 3)
                self.of_double = nn.Linear(3, 3).double()
                self.of_brain = nn.Linear(3, 1).bfloat16()

            def forward(self, x):
                return self.of_brain(self.of_double(self.of_single(x).double()).bfloat16())

        models = [Mixed(), Mixed()]
        trained(models, [sgd(model) for model in models])
        for model in models:
            self.assertEqual(model.of_double.weight.dtype, torch.float64)
            self.assertEqual(model.of_brain.weight.dtype, torch.bfloat16)
        self.assert_equal_models(models, delta=0.02)

    def test_a_channels_last_weight_is_exchanged_in_the_order_of_its_shape(self):
        models = [model_of(lambda: nn.Conv2d(2, 3, 3)) for _ in range(2)]
        models[1].to(memory_format=torch.channels_last)
        sessions = support.ring([TorchAdapter(model) for model in models])
        support.together([session.join for session in sessions])  # equal hashes: not refused
        for session in sessions:
            session.close()

    def test_one_that_was_replaced_is_taken_over(self):
        model = model_of(lambda: nn.Linear(3, 2))
        with fast.join(model) as session:
            model[0].weight.data = torch.full((2, 3), 7.0)
            session.exchange(samples=1, loss=1)
            session.exchange(samples=1, loss=1)
            with support.temporary_folder() as folder:
                session.save(f"{folder}/m.safetensors")
                with open(f"{folder}/m.safetensors", "rb") as file:
                    self.assertIn(torch.full((2, 3), 7.0).numpy().tobytes(), file.read())
            self.assertTrue((model[0].weight == 7).all())

    def test_one_that_was_replaced_by_another_type_is_refused_by_name(self):
        model = model_of(lambda: nn.Linear(3, 2))
        with (
            self.assertRaisesRegex(fast.ModelError, "'0.weight'.*float64"),
            fast.join(model) as session,
        ):
            model.double()
            session.exchange(samples=1, loss=1)

    def test_a_saved_tensor_is_no_larger_than_itself(self):
        model = model_of(lambda: nn.Linear(100, 100), lambda: nn.Linear(100, 1))
        with fast.join(model):
            file = io.BytesIO()
            torch.save(model[1].bias.detach(), file)
            self.assertLess(len(file.getvalue()), 2000)
            other = model_of(lambda: nn.Linear(100, 100), lambda: nn.Linear(100, 1))
            other.load_state_dict(model.state_dict())

    def test_what_cannot_be_exchanged_is_refused_by_name(self):
        complex_one = nn.ParameterDict({"c": nn.Parameter(torch.ones(2, dtype=torch.complex64))})
        lazy = nn.LazyLinear(3)
        expanded = nn.ParameterDict({"e": nn.Parameter(torch.ones(1).expand(4))})
        whole = torch.ones(6)
        overlapping = nn.ParameterList([whole[:4], whole[2:]])
        for model, name in (
            (complex_one, "'c'.*complex"),
            (lazy, "'weight'.*initialised"),
            (expanded, "'e'.*expanded"),
            (overlapping, "'0' and '1' share"),
        ):
            with self.assertRaisesRegex(fast.ModelError, name):
                TorchAdapter(model)
        frozen = nn.Linear(1, 1).requires_grad_(False)
        with self.assertRaisesRegex(fast.ModelError, "no trainable"):
            TorchAdapter(frozen)

    def test_an_optimizer_of_another_model_is_refused(self):
        model, other = nn.Linear(3, 2), nn.Linear(3, 2)
        with self.assertRaisesRegex(fast.UsageError, "none of the model"):
            fast.join(model, sgd(other))

    def test_what_is_trained_later_and_not_exchanged_is_refused(self):
        model = model_of(lambda: nn.Linear(3, 2), lambda: nn.Linear(2, 1))
        model[0].bias.requires_grad_(False)
        optimizer = sgd(model)
        with (
            self.assertRaisesRegex(fast.ModelError, "'0.bias' was frozen"),
            fast.join(model, optimizer) as session,
        ):
            session.exchange()
            model[0].bias.requires_grad_(True)
            session.exchange()
        with (
            self.assertRaisesRegex(fast.UsageError, "group 1"),
            fast.join(model, optimizer) as session,
        ):
            optimizer.add_param_group({"params": nn.Linear(1, 1).parameters()})
            session.exchange()

    def test_a_parameter_that_another_has_taken_the_place_of_is_refused_by_name(self):
        model = model_of(lambda: nn.Linear(3, 2))
        with (
            self.assertRaisesRegex(fast.ModelError, "'0.bias' is another"),
            fast.join(model) as session,
        ):
            model[0].bias = nn.Parameter(torch.zeros(2))
            session.exchange()

    def test_a_scripted_module_is_exchanged(self):
        models = [torch.jit.script(model_of(lambda: nn.Linear(3, 2))) for _ in range(2)]
        trained(models, [sgd(model) for model in models])
        self.assert_equal_models(models)


class Loops(unittest.TestCase):
    def test_accumulation_clipping_and_a_schedule(self):
        models = [model_of(lambda: nn.Linear(3, 4), lambda: nn.Linear(4, 2)) for _ in range(2)]
        optimizers = [torch.optim.AdamW(model.parameters(), lr=0.01) for model in models]
        rates = [torch.optim.lr_scheduler.StepLR(one, 50, 0.5) for one in optimizers]
        sessions = support.ring(
            [TorchAdapter(*both) for both in zip(models, optimizers)],
            budget=400,
            settle_target=1e-6,
        )
        x = torch.randn(8, 3)

        def step(index):
            for part in x.split(4):
                loss = (models[index](part) - index).square().mean() / 2
                loss.backward()
            nn.utils.clip_grad_norm_(models[index].parameters(), 0.1)
            optimizers[index].step()
            optimizers[index].zero_grad()
            rates[index].step()
            return loss

        support.train(sessions, step)
        for one, other in zip(models[0].parameters(), models[1].parameters()):
            self.assertLess((one - other).abs().max().item(), 1e-4)

    def test_a_wrapped_module_exchanges_with_each_step(self):
        model = model_of(lambda: nn.Linear(3, 2), lambda: nn.Linear(2, 1))
        optimizer = sgd(model, momentum=0.9)
        wrapped = fast.Decentralized(model, optimizer, budget=40)
        rates = torch.optim.lr_scheduler.StepLR(optimizer, 2)
        steps = 0
        while not wrapped.session.done():
            for _ in range(2):
                wrapped(torch.ones(4, 3)).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            rates.step()
            steps += 1
            wrapped.eval()
            wrapped(torch.ones(100, 3))  # counts for nothing
            wrapped.train()
        self.assertEqual((steps, wrapped.session.steps()), (5, 5))
        self.assertTrue(wrapped.session.finish())
        wrapped.session.close()
        self.assertIn("module.0.weight", wrapped.state_dict())

    def test_a_loader_that_forks_harms_nothing(self):
        model = model_of(lambda: nn.Linear(3, 2))
        optimizer = sgd(model)
        data = torch.utils.data.TensorDataset(torch.randn(40, 3))
        with fast.join(model, optimizer) as session:
            for _ in range(2):
                for (x,) in torch.utils.data.DataLoader(data, batch_size=4, num_workers=2):
                    loss = model(x).square().mean()
                    loss.backward()
                    optimizer.step()
                    optimizer.zero_grad()
                    session.exchange(samples=len(x), loss=loss)
            self.assertEqual(session.steps(), 20)
        self.assertTrue(session.agreed)

    def test_autocast(self):
        models = [model_of(lambda: nn.Linear(3, 4), lambda: nn.Linear(4, 2)) for _ in range(2)]
        forwards = [model.forward for model in models]
        for model, forward in zip(models, forwards):

            def under_autocast(x, forward=forward):
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    return forward(x)

            model.forward = under_autocast
        trained(models, [sgd(model) for model in models])
        for one, other in zip(models[0].parameters(), models[1].parameters()):
            self.assertLess((one - other).abs().max().item(), 1e-4)

    def test_a_loss_that_is_no_number_ends_the_session(self):
        model = nn.Linear(3, 2)
        with self.assertRaises(fast.NonFiniteError) as caught, fast.join(model) as session:
            session.exchange(samples=1, loss=model(torch.full((1, 3), float("nan"))).sum())
        self.assertEqual(caught.exception.exit_code, 7)


class Statistics(unittest.TestCase):
    def test_finish_makes_them_the_mean(self):
        models = [model_of(lambda: nn.BatchNorm1d(3), lambda: nn.Linear(3, 1)) for _ in range(2)]
        optimizers = [sgd(model) for model in models]
        adapters = [TorchAdapter(*both) for both in zip(models, optimizers)]
        sessions = support.ring(adapters, settle_target=1e-6)
        x = torch.randn(64, 3, generator=torch.Generator().manual_seed(4))

        def work(index):
            with sessions[index] as session:
                for _ in range(80):  # as long as they take to follow the batches
                    loss = models[index](x + 2 * index).square().mean()
                    loss.backward()
                    optimizers[index].step()
                    optimizers[index].zero_grad()
                    session.exchange(samples=64, loss=loss)

        support.together([lambda index=index: work(index) for index in range(2)])
        means = [model[0].running_mean for model in models]
        self.assertTrue(torch.allclose(means[0], means[1], atol=1e-3))
        self.assertTrue(torch.allclose(means[0], x.mean(0) + 1, atol=0.1))

    def test_they_are_saved_as_they_are(self):
        model = model_of(lambda: nn.BatchNorm1d(3))
        with fast.join(model, budget=10) as session, support.temporary_folder() as folder:
            model(torch.full((4, 3), 5.0))
            now = model[0].running_mean.clone()
            session.save(f"{folder}/m.safetensors")
            with open(f"{folder}/m.safetensors", "rb") as file:
                self.assertIn(now.numpy().tobytes(), file.read())
            self.assertTrue(torch.equal(model[0].running_mean, now))

    def test_they_can_be_gathered(self):
        model = model_of(lambda: nn.BatchNorm1d(3), lambda: nn.Linear(3, 1))
        model.eval()
        batches = [torch.randn(16, 3) + 4 for _ in range(5)]
        left = list(batches)
        gather_statistics(model, 5, lambda: model(left.pop()))
        mean = torch.stack([batch.mean(0) for batch in batches]).mean(0)
        self.assertTrue(torch.allclose(model[0].running_mean, mean, atol=1e-5))
        self.assertEqual(model[0].momentum, 0.1)
        self.assertFalse(model.training)


class Momentum(unittest.TestCase):
    def test_the_exchange_enters_it_by_the_given_share(self):
        parameter = nn.Parameter(torch.tensor([1.0, 2.0]))
        optimizer = torch.optim.SGD([parameter], lr=0.5, momentum=0.9)
        adapter = TorchAdapter({"p": parameter}, optimizer, momentum_correction=0.5)
        parameter.grad = torch.tensor([1.0, 1.0])
        optimizer.step()
        adapter.before("exchange")
        parameter.data.add_(torch.tensor([0.2, 0.0]))  # what neighbours moved, of half the numbers
        adapter.after("exchange")
        often = 0.9 * 1 + 0.1 * 0.5
        expected = torch.tensor([1.0 - 0.5 * often * 0.2 / 0.5, 1.0])
        found = optimizer.state[parameter]["momentum_buffer"]
        self.assertTrue(torch.allclose(found, expected), found)

    def test_it_begins_anew_with_the_model_of_a_neighbour(self):
        for kind in (torch.optim.SGD, torch.optim.Adagrad):
            model = nn.Linear(2, 1)
            options = {"momentum": 0.9} if kind is torch.optim.SGD else {}
            optimizer = kind(model.parameters(), lr=0.1, **options)
            adapter = TorchAdapter(model, optimizer)
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
            adapter.model_replaced()
            for state in optimizer.state.values():
                self.assertTrue((state["sum"] == 0).all())
            optimizer.step()


if __name__ == "__main__":
    unittest.main()
