"""PyTorch models and optimizers are what they were once their session has ended."""

import unittest

import fast_training as fast
import torch
from torch import nn
from torch_models import model_of, sgd

LATER = hasattr(torch.Tensor, "register_post_accumulate_grad_hook")


def step(model, optimizer):
    before = [parameter.detach().clone() for parameter in model.parameters()]
    model(torch.ones(2, 3)).square().sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    return [new.detach() - old for new, old in zip(model.parameters(), before)]


def models_of_two():
    return [model_of(lambda: nn.Linear(3, 2), lambda: nn.Linear(2, 1)) for _ in range(2)]


class Ends(unittest.TestCase):
    def assert_plain(self, model, optimizer, plain, plain_optimizer):
        """The model's next step is that of one that was in no session."""
        plain.load_state_dict(model.state_dict())
        for one, other in zip(step(model, optimizer), step(plain, plain_optimizer)):
            self.assertTrue(torch.equal(one, other))

    def test_a_wrapped_module_steps_as_before_once_its_session_is_closed(self):
        model, plain = models_of_two()
        optimizer, plain_optimizer = sgd(model), sgd(plain)
        wrapped = fast.Decentralized(model, optimizer)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 100)
        step(wrapped, optimizer)
        wrapped.session.finish()
        wrapped.session.close()
        self.assert_plain(model, optimizer, plain, plain_optimizer)
        schedule.step()
        self.assertEqual(wrapped.session.steps(), 1)

    def test_a_step_that_nobody_else_has_changed_is_the_classs_again(self):
        model = models_of_two()[0]
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        own = vars(optimizer).get("step")
        wrapped = fast.Decentralized(model, optimizer)
        self.assertIsNot(vars(optimizer).get("step"), own)
        wrapped.session.close()
        self.assertIs(vars(optimizer).get("step"), own)

    @unittest.skipUnless(LATER, "needs PyTorch 2.1")
    def test_a_backward_pass_takes_no_step_once_the_session_is_closed(self):
        model, plain = models_of_two()
        optimizer, plain_optimizer = sgd(model), sgd(plain)
        with fast.join(model, optimizer, step_in_backward=True) as session:
            step(model, optimizer)
            session.exchange()
        self.assert_plain(model, optimizer, plain, plain_optimizer)

    @unittest.skipUnless(LATER, "needs PyTorch 2.1")
    def test_a_second_session_does_not_double_the_step(self):
        model, plain = models_of_two()
        optimizer, plain_optimizer = sgd(model), sgd(plain)
        with self.assertLogs("fast_training", "WARNING"):
            first = fast.join(model, optimizer, step_in_backward=True)
            second = fast.join(model, optimizer, step_in_backward=True)
        with second:
            with self.assertRaisesRegex(fast.UsageError, "over the same model"):
                first.exchange()
            self.assert_plain(model, optimizer, plain, plain_optimizer)
            second.exchange()

    def test_a_second_session_over_a_model_ends_the_first_and_says_so(self):
        model = models_of_two()[0]
        optimizer = sgd(model)
        with self.assertLogs("fast_training", "WARNING") as lines:
            first = fast.join(model, optimizer)
            with fast.join(model, optimizer) as second:
                step(model, optimizer)
                second.exchange()
                with self.assertRaisesRegex(fast.UsageError, "over the same model"):
                    first.exchange()
        self.assertIn("another session over the same model is opened", lines.output[0])

    @unittest.skipUnless(hasattr(torch, "set_default_device"), "needs PyTorch 2.0")
    def test_a_default_device_without_memory_harms_nothing(self):
        model = models_of_two()[0]
        optimizer = sgd(model)
        torch.set_default_device("meta")
        try:
            with fast.join(model, optimizer) as session:
                session.exchange()
        finally:
            torch.set_default_device("cpu")


if __name__ == "__main__":
    unittest.main()
