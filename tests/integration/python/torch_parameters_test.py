"""The parameters of PyTorch models: where they live, what is exchanged, and what is refused."""

import io
import unittest
import unittest.mock

import fast_training as fast
import support
import torch
from fast_training._torch_homes import Group
from fast_training.torch import TorchAdapter
from torch import nn
from torch_models import model_of, sgd, trained


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
        for model in models:
            model[0].weight.requires_grad_(False)
            model[0].weight.fill_(0.5)
        with support.temporary_folder() as folder:
            sessions = trained(models, [sgd(model) for model in models])
            self.assertEqual(len(sessions[0].adapter.parameters), 3)
            with fast.join(models[0]) as session:
                session.save_model(f"{folder}/model.safetensors")
            saved = support.saved_tensors(f"{folder}/model.safetensors")
        self.assertEqual(saved["0.weight"], ("F32", (4, 3)))
        self.assertEqual(len(saved), 4)
        for model in models:
            self.assertTrue((model[0].weight == 0.5).all())

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
                session.save_model(f"{folder}/m.safetensors")
                with open(f"{folder}/m.safetensors", "rb") as file:
                    self.assertIn(torch.full((2, 3), 7.0).numpy().tobytes(), file.read())
            self.assertTrue((model[0].weight == 7).all())

    def test_memory_elsewhere_that_becomes_another_type_is_refused_by_name(self):
        model = model_of(lambda: nn.Linear(3, 2))
        with (
            unittest.mock.patch.object(Group, "on_host", False),  # as on a device
            self.assertRaisesRegex(fast.ModelError, "'0.weight' was replaced.*float64"),
            fast.join(model) as session,
        ):
            model.double()
            session.exchange(samples=1, loss=1)

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


if __name__ == "__main__":
    unittest.main()
