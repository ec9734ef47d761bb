"""PyTorch models whose tensors move, are bound anew, or lie in memory that processes share."""

import os
import unittest

import fast_training as fast
import support
import torch
from fast_training.torch import TorchAdapter
from torch import nn
from torch_models import model_of, sgd, trained


def send(module):
    """What happens to a model that is sent to another process."""
    queue = torch.multiprocessing.get_context("spawn").SimpleQueue()
    queue.put(module.state_dict(keep_vars=True))


def saved_model(session):
    """{name: tensor} of the model that it saves."""
    with support.temporary_folder() as folder:
        session.save_model(f"{folder}/m.safetensors")
        return support.saved_values(f"{folder}/m.safetensors")


class Shared(unittest.TestCase):
    def assert_trained_together(self, models, sessions):
        for one, other in zip(*(model.parameters() for model in models)):
            self.assertLess((one - other).abs().max().item(), 1e-4)
        for session, model in zip(sessions, models):
            self.assertTrue(session.agreed)
            for parameter in model.parameters():
                self.assertTrue(parameter.is_shared())

    def test_one_that_is_sent_to_another_process_goes_on_being_exchanged(self):
        for share in (nn.Module.share_memory, send):
            models = [model_of(lambda: nn.Linear(3, 4), lambda: nn.BatchNorm1d(4)) for _ in "ab"]
            steps = [0, 0]

            def after_step(index, models=models, steps=steps, share=share):
                steps[index] += 1
                if steps[index] == 20:
                    share(models[index])

            sessions = trained(models, [sgd(m) for m in models], after_step=after_step)
            self.assert_trained_together(models, sessions)

    def test_one_that_is_shared_before_stays_where_others_see_it(self):
        models = [model_of(lambda: nn.Linear(3, 4), lambda: nn.Linear(4, 2)) for _ in "ab"]
        for model in models:
            model.share_memory()
        seen = [[p.detach() for p in model.parameters()] for model in models]  # elsewhere
        sessions = trained(models, [sgd(model, momentum=0.9) for model in models])
        self.assert_trained_together(models, sessions)
        for model, others in zip(models, seen):
            for parameter, other in zip(model.parameters(), others):
                self.assertEqual(parameter.data_ptr(), other.data_ptr())

    def test_tied_ones_stay_tied(self):
        model = model_of(lambda: nn.Linear(3, 2, bias=False), lambda: nn.Linear(2, 3, bias=False))
        model[1].weight.data = model[0].weight.data.t()
        with fast.join(model) as session:
            model.share_memory()
            session.exchange()
            model[0].weight.data.fill_(5.0)
            self.assertTrue((model[1].weight == 5).all())
            model[1].weight.data = torch.full((3, 2), 6.0)
            session.exchange()
            self.assertTrue((model[0].weight == 6).all())
            self.assertEqual(model[0].weight.data_ptr(), model[1].weight.data_ptr())


class Counting(nn.Module):
    """Binds a buffer anew in each forward pass."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x):
        self.seen = self.seen + len(x)
        return self.layer(x)


class Buffers(unittest.TestCase):
    def test_one_that_is_bound_anew_is_saved_and_resumed_as_it_is(self):
        with support.temporary_folder() as folder:
            options = {name: f"{folder}/c.safetensors" for name in ("checkpoint", "resume")}
            model = Counting()
            with fast.join(model, **options) as session:
                model(torch.ones(5, 3))
                session.exchange()
                model(torch.ones(5, 3))
                self.assertEqual(saved_model(session)["seen"], [10.0])
            other = Counting()
            with fast.join(other, **options):
                self.assertEqual(other.seen.item(), 10)

    def test_one_that_is_copied_is_in_a_checkpoint_as_it_is_at_that_step(self):
        def strided():
            """As on a device: what a session has of it is a copy."""
            model = Counting()
            model.register_buffer("steps", torch.zeros(3, 2).t())
            return model

        with support.temporary_folder() as folder:
            options = {name: f"{folder}/c.safetensors" for name in ("checkpoint", "resume")}
            model = strided()
            session = fast.join(model, checkpoint_every=1e-6, **options)
            while not os.path.exists(options["checkpoint"]):
                model.steps += 1
                session.exchange()
            session.close()
            other = strided()
            with fast.join(other, checkpoint_every=0, **options) as session:
                self.assertGreater(session.steps(), 0)
                self.assertEqual(other.steps.unique().tolist(), [session.steps()])

    def test_one_of_another_shape_is_refused_by_name(self):
        model = Counting()
        with (
            self.assertRaisesRegex(fast.ModelError, "'seen' was replaced"),
            fast.join(model) as session,
        ):
            model.seen = torch.zeros(2)
            session.exchange()

    def test_a_frozen_body_that_changes_its_type_is_refused_by_name(self):
        model = model_of(lambda: nn.Linear(3, 3), lambda: nn.Linear(3, 1))
        model[0].requires_grad_(False)
        with (
            self.assertRaisesRegex(fast.ModelError, "'0.weight' was replaced.*bfloat16"),
            fast.join(model) as session,
        ):
            model[0].bfloat16()
            session.exchange()

    def test_frozen_ones_and_buffers_begin_as_those_of_rank_0(self):
        models = []
        for rank in range(2):
            torch.manual_seed(rank)
            model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
            model[0].requires_grad_(False)
            model.register_buffer("drawn", torch.randn(5))
            model.register_buffer("strided", torch.randn(4, 3).t())
            models.append(model)
        expected = {name: value.clone() for name, value in models[0].state_dict().items()}
        sessions = support.ring([TorchAdapter(model) for model in models])
        support.together([session.join for session in sessions])
        for model in models:
            for name, value in model.state_dict().items():
                self.assertTrue(torch.equal(value, expected[name]), name)
        for session in sessions:
            session.close()


class Replaced(unittest.TestCase):
    def test_parameters_replaced_at_the_end_are_refused_by_name(self):
        model = model_of(lambda: nn.Linear(3, 2))
        with (
            self.assertRaisesRegex(fast.ModelError, "'0.bias' is another"),
            fast.join(model) as session,
        ):
            session.exchange()
            model[0].bias = nn.Parameter(torch.zeros(2))
            session.finish()


if __name__ == "__main__":
    unittest.main()
