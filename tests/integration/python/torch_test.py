"""Sessions over PyTorch models: ways to train, statistics, checkpoints, momentum."""

import math
import random
import signal
import types
import unittest

import fast_training as fast
import numpy
import support
import torch
from fast_training._torch_momentum import OnDevice
from fast_training.torch import TorchAdapter, gather_statistics
from torch import nn
from torch_models import model_of, sgd, trained


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

    def test_workers_that_seed_nothing_begin_with_the_weights_of_rank_0(self):
        models, optimizers = [], []
        for seed in (11, 12):
            torch.manual_seed(seed)
            models.append(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)))
            optimizers.append(sgd(models[-1], momentum=0.9))
        first = [value.detach().clone() for value in models[0].parameters()]
        sessions = support.ring(
            [TorchAdapter(*both) for both in zip(models, optimizers)],
            budget=400,
            settle_target=1e-6,
        )
        support.together([session.join for session in sessions])
        for model in models:
            for value, other in zip(model.parameters(), first):
                self.assertTrue(torch.equal(value, other))
        x = torch.randn(8, 3)

        def step(index):
            loss = (models[index](x) - index).square().mean()
            loss.backward()
            optimizers[index].step()
            optimizers[index].zero_grad()
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
            with torch.no_grad():
                wrapped(torch.ones(100, 3))  # counts for nothing
            wrapped.eval()
            wrapped(torch.ones(100, 3))  # nor does this
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

    def test_parameters_that_are_no_numbers_end_the_session(self):
        model = nn.Linear(3, 2)
        nan = float("nan")
        with self.assertRaises(fast.NonFiniteError) as caught, fast.join(model) as session:
            session.exchange(samples=1, loss=model(torch.full((1, 3), nan)).sum())
            self.assertEqual(session.counters()["non_finite_losses"], 1)
            model.bias.data.fill_(nan)
            session.exchange(samples=1, loss=1.0)
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

    def test_they_begin_as_those_of_rank_0_which_count_once(self):
        """Rank 0's begin at mean 5 and variance 100, the other's at 0 and 1; data are N(0, 1)."""
        models = [model_of(lambda: nn.BatchNorm1d(3), lambda: nn.Linear(3, 1)) for _ in range(2)]
        models[0][0].running_mean.fill_(5)
        models[0][0].running_var.fill_(100)
        trained(models, [sgd(model) for model in models], steps=150)
        for model in models:
            self.assertLess(model[0].running_mean.abs().max().item(), 2)
            self.assertLess(model[0].running_var.max().item(), 4)
            self.assertTrue(torch.equal(model[0].running_mean, models[0][0].running_mean))

    def test_they_stay_its_own_where_workers_do_not_agree(self):
        model = model_of(lambda: nn.BatchNorm1d(3))
        with (
            self.assertLogs("fast_training", "WARNING"),
            fast.join(model, topology="ring:2", rank=0, start_deadline=0.1) as session,
        ):
            model(torch.randn(64, 3) + 1)
            own = {name: value.clone() for name, value in model.state_dict().items()}
            session.exchange()
            self.assertFalse(session.finish())
        for name in ("0.running_mean", "0.running_var"):
            self.assertTrue(torch.equal(model.state_dict()[name], own[name]))

    def test_models_of_float32_that_have_them_are_exchanged_in_place(self):
        model = model_of(lambda: nn.Linear(3, 4), lambda: nn.BatchNorm1d(4))
        with fast.join(model) as session:
            end = 0
            for memory in session.adapter.parameters.values():
                end = memory.address + 4 * math.prod(memory.shape)
            self.assertEqual(session.adapter.averages.address, end)

    def test_they_are_saved_as_they_are(self):
        model = model_of(lambda: nn.BatchNorm1d(3))
        with fast.join(model, budget=10) as session, support.temporary_folder() as folder:
            model(torch.full((4, 3), 5.0))
            now = model[0].running_mean.clone()
            session.save_model(f"{folder}/m.safetensors")
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


class Checkpoints(unittest.TestCase):
    def test_a_worker_goes_on_where_it_ended(self):
        with support.temporary_folder() as folder:
            options = {name: f"{folder}/c.safetensors" for name in ("checkpoint", "resume")}
            model = model_of(lambda: nn.Linear(3, 4), lambda: nn.BatchNorm1d(4))
            with fast.join(model, **options) as session:
                model(torch.randn(8, 3))
                model[0].bias.data.fill_(4.0)
                session.exchange()
            other = model_of(lambda: nn.Linear(3, 4), lambda: nn.BatchNorm1d(4))
            with fast.join(other, **options) as session:
                self.assertEqual(session.steps(), 1)
                for name, value in model.state_dict().items():
                    if "num_batches" not in name:
                        self.assertTrue(torch.equal(other.state_dict()[name], value), name)
                at_start = other[1].running_mean.clone()
            self.assertTrue(torch.equal(other[1].running_mean, at_start))

    def test_one_that_is_killed_in_mid_run_goes_on_as_if_nothing_had_been(self):
        with support.temporary_folder() as folder:
            arguments = (f"{folder}/c.safetensors", 1)
            code, _out, err = support.outcome(support.start("resuming_torch", *arguments))
            self.assertEqual(code, -signal.SIGKILL, err)
            (found,) = support.reports([support.start("resuming_torch", *arguments)])
            alone = support.start("resuming_torch", f"{folder}/other.safetensors", 0)
            (expected,) = support.reports([alone])
        self.assertGreater(found["resumed"], 0)
        self.assertEqual(expected["resumed"], 0)
        self.assertEqual(found["rate"], expected["rate"])
        self.assertEqual(found["state"], expected["state"])

    def test_what_is_kept_and_has_no_state_is_refused_by_name_at_once(self):
        model = model_of(lambda: nn.Linear(3, 4))
        bad = types.SimpleNamespace(
            state_dict=lambda: {"a": [object()]}, load_state_dict=lambda state: None
        )
        for one, said in ((bad, "state mine.*object"), (5, "'mine' of kept is a int")):
            with self.assertRaisesRegex(fast.UsageError, said):
                TorchAdapter(model, stateful={"mine": one})

    def test_a_state_that_cannot_be_kept_later_is_left_out_with_one_warning(self):
        model = model_of(lambda: nn.Linear(3, 4))
        optimizer = sgd(model, momentum=0.9)
        with (
            support.temporary_folder() as folder,
            self.assertLogs("fast_training", "WARNING") as lines,
            fast.join(model, optimizer, checkpoint=f"{folder}/c.safetensors") as session,
        ):
            for _ in range(2):
                model(torch.ones(1, 3)).sum().backward()
                optimizer.step()
                optimizer.state[model[0].bias]["projector"] = object()
                session.exchange()
                session.save_checkpoint(f"{folder}/now.safetensors")
            self.assertTrue(session.finish())
        self.assertEqual(len(lines.output), 1, lines.output)
        self.assertIn("'state optimizer' holds a object", lines.output[0])

    def test_generators_go_on_where_they_were(self):
        def drawn():
            return torch.randn(2).tolist(), random.random(), float(numpy.random.rand())

        with support.temporary_folder() as folder:
            options = {name: f"{folder}/c.safetensors" for name in ("checkpoint", "resume")}
            with fast.join(model_of(lambda: nn.Linear(3, 4)), **options) as session:
                drawn()
                session.exchange()
                session.save_checkpoint(options["checkpoint"])
                session.finish()
                expected = drawn()
            drawn()
            with fast.join(model_of(lambda: nn.Linear(3, 4)), **options):
                self.assertEqual(drawn(), expected)

    def test_a_state_that_cannot_be_taken_says_why(self):
        with support.temporary_folder() as folder:
            options = {name: f"{folder}/c.safetensors" for name in ("checkpoint", "resume")}
            for kind, raises in ((torch.optim.SGD, False), (torch.optim.Adam, True)):
                model = model_of(lambda: nn.Linear(3, 4))
                groups = [{"params": [one]} for one in model.parameters()]
                optimizer = kind(groups if raises else model.parameters(), lr=0.1)
                if not raises:
                    with fast.join(model, optimizer, **options) as session:
                        session.exchange()
                else:
                    with self.assertRaisesRegex(ValueError, "parameter group"):
                        fast.join(model, optimizer, **options)


class Momentum(unittest.TestCase):
    def wrong_by(self, dtype):
        """What two workers' momenta differ from what a share of a half makes them, at most."""
        parameters = [nn.Parameter(torch.ones(2, 3, dtype=dtype)) for _ in range(2)]
        optimizers = [torch.optim.SGD([one], lr=0.5, momentum=0.9) for one in parameters]
        adapters = [
            TorchAdapter({"p": one}, optimizer, momentum_correction=0.5)
            for one, optimizer in zip(parameters, optimizers)
        ]
        sessions = support.ring(adapters, mode="sync")
        wrong = []

        def work(rank):
            one, optimizer = parameters[rank], optimizers[rank]
            with sessions[rank] as session:
                session.join()
                one.grad = torch.full_like(one, rank + 1.0)
                optimizer.step()
                before = one.detach().clone()
                session.exchange()
                moved = (one.detach() - before).double()
                self.assertGreater(moved.abs().min(), 0.1)
                # Longer than by its own gradient it does not become.
                expected = (rank + 1.0 - 0.5 * moved / 0.5).clamp(max=rank + 1.0)
                found = optimizer.state[one]["momentum_buffer"].double()
                wrong.append((found - expected).abs().max().item())

        support.together([lambda: work(0), lambda: work(1)])
        return max(wrong)

    def test_the_exchange_enters_it_by_the_given_share(self):
        self.assertLess(self.wrong_by(torch.float32), 1e-5)
        self.assertLess(self.wrong_by(torch.float64), 1e-5)
        self.assertLess(self.wrong_by(torch.bfloat16), 0.05)

    def test_on_a_device_it_is_scaled_by_the_part_that_moves(self):
        parameter, momentum = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0])
        correction = OnDevice(share=0.5)
        correction.before_exchange([(parameter, momentum, {"lr": 0.5, "momentum": 0.9})])
        parameter.add_(torch.tensor([0.2, 0.0]))  # what neighbours moved, of half the numbers
        correction.after_exchange(lambda: 1.0)
        often = 0.9 * 1 + 0.1 * 0.5
        expected = torch.tensor([1.0 - 0.5 * often * 0.2 / 0.5, 1.0])
        self.assertTrue(torch.allclose(momentum, expected), momentum)

    def test_on_a_device_it_fades_and_is_bounded_as_in_the_library(self):
        """Beside what a fold does to momentum of one block, over steps of any lengths."""
        generator = torch.Generator().manual_seed(1)
        model = nn.Parameter(torch.zeros(500))
        momentum, own = torch.zeros(500), 0.0
        correction = OnDevice(share=0.5)
        for step in range(60):
            gradient = torch.randn(500, generator=generator)
            momentum.mul_(0.9).add_(gradient)
            own = 0.9 * own + gradient.norm()
            before = momentum.clone()
            correction.before_exchange([(model, momentum, {"lr": 0.1, "momentum": 0.9})])
            far = 10.0 ** (step % 5 - 3)
            with torch.no_grad():
                model.sub_(far * before)  # as quick neighbours do: on the way that it goes
            correction.after_exchange(lambda: 0.5)
            self.assertLess(momentum.norm(), 1.0001 * own)
            turned = momentum / momentum.norm() - before / before.norm()
            self.assertLess(turned.norm(), 0.01)
            if far < 0.01:
                wanted = before * (1 + 0.5 * 0.5 * far / 0.1)
                longest = torch.maximum(before.norm(), wanted.norm())
                self.assertLessEqual(momentum.norm(), longest * 1.0001)

    def test_it_comes_into_the_order_in_memory_of_its_parameter(self):
        parameter = nn.Parameter(torch.rand(2, 3, 4, 5))
        optimizer = torch.optim.SGD([parameter], lr=0.5, momentum=0.9)
        adapter = TorchAdapter({"p": parameter}, optimizer)
        momentum = torch.rand(2, 3, 4, 5).to(memory_format=torch.channels_last)
        optimizer.state[parameter]["momentum_buffer"] = momentum
        adapter.before("exchange")
        found = optimizer.state[parameter]["momentum_buffer"]
        self.assertEqual(found.stride(), parameter.stride())
        self.assertTrue(torch.equal(found, momentum))

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
