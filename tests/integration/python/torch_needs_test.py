"""A model's averages are taken in layer by layer, just before each layer is used."""

import copy
import pickle
import threading
import unittest
import warnings

import support
import torch
from fast_training._torch_homes import grouped
from fast_training._torch_needs import Needs
from fast_training._torch_step import before_step
from fast_training.torch import TorchAdapter
from torch import nn


class Asked:
    """What a model asks for, by the names of its parameters."""

    def __init__(self, model, modules=None):
        self.groups = grouped(model.named_parameters())
        self.found = []
        self.changes = 0
        self.needs = Needs(modules or [model], self.groups, self._note, self._note_change)
        self.needs.next_step(asks=True)

    def _note(self, first, count):
        at, names = 0, []
        for group in self.groups:
            if first <= at < first + count:
                names.append(group.name)
            at += group.home.numel()
        self.found.append(names)

    def _note_change(self):
        self.changes += 1

    def of(self, call):
        """By one call, in its order."""
        self.found = []
        with torch.no_grad():
            call()
        return self.found


def layers(count=10):
    return nn.Sequential(*(nn.Linear(4, 4) for _ in range(count)))


def names(*modules):
    return [[f"{one}.weight", f"{one}.bias"] for one in modules]


class NeedsTest(unittest.TestCase):
    def test_each_module_asks_once_in_a_step_before_it_is_called(self):
        model = layers()
        asked = Asked(model)
        every = names(*range(10))
        self.assertEqual(asked.of(lambda: model(torch.ones(1, 4))), every)
        self.assertEqual(asked.of(lambda: model(torch.ones(1, 4))), [], "of one step")
        asked.needs.next_step(asks=True)
        self.assertEqual(asked.of(lambda: model[3](torch.ones(1, 4))), names(3))
        self.assertEqual(asked.of(lambda: model(torch.ones(1, 4))), names(*range(3), *range(4, 10)))
        asked.needs.next_step(asks=False)
        self.assertEqual(asked.of(lambda: model(torch.ones(1, 4))), [])
        asked.needs.next_step(asks=True)
        self.assertEqual(asked.of(lambda: model(torch.ones(1, 4))), every)

    def test_a_small_module_asks_for_all_in_it_and_a_large_one_for_its_own(self):
        class Whole(nn.Module):
            def __init__(self):
                super().__init__()
                self.own = nn.Parameter(torch.ones(4, 4))
                self.listed = nn.ParameterList([nn.Parameter(torch.ones(4, 4))])
                self.small = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
                self.many = nn.ModuleList(nn.Linear(8, 8) for _ in range(8))

            def forward(self, x):
                x = self.small(x @ self.own[:, :2] @ self.listed[0][:2, :2])
                for one in self.many:
                    x = one(x.repeat(1, 4)[:, :8])
                return x

        model = Whole()
        asked = Asked(model)
        found = asked.of(lambda: model(torch.ones(1, 4)))
        self.assertEqual(found[0], ["own", "listed.0"])
        self.assertEqual(
            found[1], [f"small.{i}.{what}" for i in (0, 1) for what in ("weight", "bias")]
        )
        self.assertEqual(found[2:], names(*(f"many.{i}" for i in range(8))))

    def test_the_parts_of_attention_that_are_never_called_are_asked_for(self):
        model = nn.ModuleList([nn.MultiheadAttention(4, 2), *(nn.Linear(16, 16) for _ in range(8))])
        asked = Asked(model)
        x = torch.ones(3, 1, 4)
        found = asked.of(lambda: model[0](x, x, x))
        self.assertIn("0.out_proj.weight", [name for part in found for name in part])

    def test_tied_parameters_and_modules_that_run_twice_are_asked_for_where_they_are_first_used(
        self,
    ):
        model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4))
        model[3].weight = model[0].weight
        model.append(model[1]) if hasattr(model, "append") else model.add_module("4", model[1])
        found = Asked(model).of(lambda: model(torch.ones(1, 4)))
        flat = [name for part in found for name in part]
        self.assertEqual(flat.index("0.weight"), 0)
        self.assertEqual(flat.count("1.weight"), 1)
        self.assertIn("3.bias", flat)

    def test_copies_and_other_threads_ask_for_nothing(self):
        model = layers()
        asked = Asked(model)
        for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            self.assertEqual(asked.of(lambda other=other: other(torch.ones(1, 4))), [])

        def elsewhere():
            thread = threading.Thread(target=lambda: model(torch.ones(1, 4)))
            thread.start()
            thread.join()

        self.assertEqual(asked.of(elsewhere), [])
        self.assertEqual(asked.of(lambda: model(torch.ones(1, 4))), names(*range(10)))

    def test_what_torch_jit_has_taken_in_asks_for_nothing_and_the_rest_does(self):
        model = nn.Sequential(torch.jit.script(nn.Linear(4, 4)), nn.Linear(4, 4))
        self.assertEqual(Asked(model).of(lambda: model(torch.ones(1, 4))), names(1))

    def test_before_each_step_of_the_optimizer_the_rest_is_taken_back(self):
        model = layers()
        asked = Asked(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        leave = before_step(optimizer, asked.needs.before_step)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            optimizer.step()
            schedule.step()
        self.assertEqual(asked.changes, 1)
        other = copy.deepcopy(optimizer)
        other.step()
        self.assertEqual(asked.changes, 1, "a copy is not the session's")
        optimizer.step(lambda: torch.zeros(()))
        self.assertEqual(asked.changes, 2)
        thread = threading.Thread(target=optimizer.step)
        thread.start()
        thread.join()
        self.assertEqual(asked.changes, 2, "in another thread")
        leave()
        optimizer.step()
        self.assertEqual(asked.changes, 2)

    def test_no_hook_is_left(self):
        model = layers()
        Asked(model).needs.leave()
        self.assertFalse(any(one._forward_pre_hooks for one in model.modules()))

    @unittest.skipUnless(hasattr(torch, "compile"), "this PyTorch has no torch.compile")
    def test_what_is_compiled_asks_for_nothing(self):
        model = layers()
        asked = Asked(model)
        compiled = torch.compile(model, backend="eager")
        self.assertEqual(asked.of(lambda: compiled(torch.ones(1, 4))), [])


class LayersTest(unittest.TestCase):
    def trained(self, steps, **options):
        """Two workers that train on unlike data; the models, and which of them moved in a forward
        pass."""
        models = [
            nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64), nn.Linear(64, 1))
            for _ in "01"
        ]
        optimizers = [torch.optim.SGD(one.parameters(), lr=0.01, momentum=0.9) for one in models]
        sessions = support.ring(
            [TorchAdapter(*both) for both in zip(models, optimizers)], **options
        )
        moved = [0, 0]

        def work(index):
            model, optimizer = models[index], optimizers[index]
            generator = torch.Generator().manual_seed(index)
            with sessions[index] as session:
                session.join()
                for _ in range(steps):
                    x = torch.randn(8, 6, generator=generator)
                    before = model[3].weight.detach().clone()
                    with torch.no_grad():
                        model(x)  # an evaluation, which asks for all
                    moved[index] += not torch.equal(before, model[3].weight)
                    loss = (model(x) - x.sum(1, keepdim=True) - index).square().mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    session.exchange(8, loss)
                self.assertTrue(session.finish())

        support.together([lambda index=index: work(index) for index in (0, 1)])
        return models, moved

    def test_workers_agree_in_the_end_and_averages_come_in_the_forward_pass(self):
        for mode, ahead in (("async", False), ("bounded:2", False), ("async", True)):
            with self.subTest(mode=mode, ahead=ahead):
                models, moved = self.trained(200, mode=mode, fold_ahead=ahead)
                if not ahead:  # otherwise it may have moved by then
                    self.assertGreater(sum(moved), 0)
                for one, other in zip(*(model.parameters() for model in models)):
                    self.assertTrue(torch.allclose(one, other, atol=1e-2))

    def test_by_layer_false_leaves_the_forward_pass_alone(self):
        self.assertEqual(self.trained(50, by_layer=False)[1], [0, 0])

    def test_in_lock_step_the_forward_pass_is_left_alone(self):
        self.assertEqual(self.trained(50, mode="sync")[1], [0, 0])


if __name__ == "__main__":
    unittest.main()
