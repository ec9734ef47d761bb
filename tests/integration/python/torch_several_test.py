"""Several modules and optimizers in one session, as of a GAN."""

import json
import unittest

import fast_training as fast
import support
import torch
from fast_training.torch import gather_statistics


def pair(seed):
    torch.manual_seed(seed)
    first = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    second = torch.nn.Linear(3, 1)
    return first, second


def optimizers_of(first, second):
    return [
        torch.optim.SGD(first.parameters(), lr=0.05, momentum=0.9),
        torch.optim.Adam(second.parameters(), lr=0.02),
    ]


def step(models, optimizers, target):
    first, second = models
    x = torch.randn(16, 2)
    for optimizer in optimizers:  # in turns
        loss = (second(first(x)) - target).square().mean()
        for one in optimizers:
            one.zero_grad()
        loss.backward()
        optimizer.step()
    return loss


class Several(unittest.TestCase):
    def test_workers_end_with_one_model_of_all(self):
        models = [pair(1), pair(2)]
        optimizers = [optimizers_of(*pair) for pair in models]
        with support.temporary_folder() as folder:

            def work(rank):
                with fast.join(
                    list(models[rank]),
                    optimizers[rank],
                    topology="ring:2",
                    rank=rank,
                    listen=f"ipc://{folder}/{rank}",
                    peers={1 - rank: f"ipc://{folder}/{1 - rank}"},
                    budget=8000,
                ) as session:
                    while not session.done():
                        loss = step(models[rank], optimizers[rank], rank)
                        session.exchange(samples=16, loss=loss)
                    self.assertTrue(session.finish())
                    if rank == 0:
                        session.save_model(f"{folder}/m.safetensors")

            support.together([lambda: work(0), lambda: work(1)])
            loaded = pair(3)
            fast.load_model(f"{folder}/m.safetensors", list(loaded))
        for one, other, saved in zip(
            *[torch.nn.ModuleList(m).parameters() for m in [*models, loaded]]
        ):
            self.assertTrue(torch.allclose(one, other, rtol=1e-2, atol=1e-3))
            self.assertTrue(torch.equal(one, saved))

    def test_names_are_those_of_a_list_or_a_dictionary(self):
        first, second = pair(1)
        with support.temporary_folder() as folder:
            for models, name in (([first, second], "1.weight"), ({"d": second}, "d.weight")):
                with fast.join(models, list(optimizers_of(first, second))[-1:]) as session:
                    session.save_model(f"{folder}/m.safetensors")
                self.assertIn(name, support.saved_tensors(f"{folder}/m.safetensors"))

    def test_a_session_over_the_same_ones_ends_the_one_before(self):
        first, second = pair(1)
        with self.assertLogs("fast_training", "WARNING") as lines:
            before = fast.join([first, second])
            after = fast.join([first, second])
            with after, self.assertRaisesRegex(fast.UsageError, "over the same model"):
                before.exchange()
        self.assertIn("another session over the same model", lines.output[0])

    def test_resumed_is_not_interrupted(self):
        with support.temporary_folder() as folder:
            whole, half = f"{folder}/whole", f"{folder}/half"
            states = [self.trained(whole, 10)]
            self.trained(half, 5)
            states.append(self.trained(half, 10))
        self.assertEqual(*states)

    def trained(self, path, steps):
        """Trains to this step from the checkpoint there, if there is one."""
        models = pair(1)
        optimizers = optimizers_of(*models)
        session = fast.join(
            {"first": models[0], "second": models[1]},
            optimizers,
            checkpoint=path,
            resume=path,
            checkpoint_every=0,
        )
        while session.steps() < steps:
            session.exchange(samples=16, loss=step(models, optimizers, 1.0))
        session.save_checkpoint(path)
        session.close()
        states = [one.state_dict() for one in (*models, *optimizers)]
        return json.dumps(states, default=lambda value: value.tolist())

    def test_what_is_no_optimizer_is_refused(self):
        first, second = pair(1)
        with self.assertRaisesRegex(fast.UsageError, "a str is no optimizer"):
            fast.join([first, second], ["adam"])
        with self.assertRaisesRegex(fast.UsageError, "is none of the model"):
            fast.join([first], optimizers_of(first, second))

    def test_what_is_given_twice_is_refused(self):
        first, second = pair(1)
        optimizers = optimizers_of(first, second)
        with self.assertRaisesRegex(fast.UsageError, "optimizer 2 is optimizer 0 again"):
            fast.join([first, second], [*optimizers, optimizers[0]])
        with self.assertRaisesRegex(fast.UsageError, "model 1 is model 0 again"):
            fast.join([first, first], optimizers[:1])
        with self.assertRaisesRegex(fast.UsageError, "model 'b' is model 'a' again"):
            fast.join({"a": first, "b": first}, optimizers[:1])

    def test_a_parameter_of_two_momenta_is_refused(self):
        first, _second = pair(1)
        optimizers = [
            torch.optim.SGD(first.parameters(), lr=0.1, momentum=0.9),
            torch.optim.SGD([first[0].bias], lr=0.1, momentum=0.9),
        ]
        with self.assertRaisesRegex(fast.UsageError, "'0.bias' is in optimizers 0 and 1"):
            fast.join(first, optimizers)
        fast.join(first, optimizers, momentum_correction=0).close()
        optimizers[1] = torch.optim.Adam([first[0].bias])  # has no momentum that follows
        fast.join(first, optimizers).close()
        optimizers[1] = torch.optim.SGD([first[0].bias], lr=0.1)
        fast.join(first, optimizers).close()

    def test_numbers_out_of_range_are_refused(self):
        first, _second = pair(1)
        for wrong in (3, -0.1, float("nan"), "0.5", None, True):
            with self.assertRaisesRegex(fast.UsageError, f"momentum_correction is {wrong!r}; give"):
                fast.join(first, momentum_correction=wrong)
        with self.assertRaisesRegex(fast.UsageError, "0 batches"):
            gather_statistics(first, 0, lambda: None)


if __name__ == "__main__":
    unittest.main()
