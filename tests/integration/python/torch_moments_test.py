"""Adam's second moments, which workers may average as they do weights."""

import json
import unittest

import fast_training as fast
import support
import torch
from fast_training._torch_moments import PREFIX


def adam(model, kind=torch.optim.Adam):
    return kind(model.parameters(), lr=0.01)


def step(model, optimizer, size):
    """With gradients of `size`."""
    optimizer.zero_grad()
    (model(torch.ones(1, 2)).sum() * size).backward()
    optimizer.step()


def moments(model, optimizer):
    """Without their bias."""
    found = [optimizer.state[one] for one in model.parameters()]
    return torch.cat([(s["exp_avg_sq"] / (1 - 0.999 ** float(s["step"]))).flatten() for s in found])


class SecondMoments(unittest.TestCase):
    def ring(self, kind, **options):
        """The moments of two workers with gradients of 1 and 3, after an exchange in lock step."""
        models = [torch.nn.Linear(2, 1) for _ in range(2)]
        optimizers = [adam(model, kind) for model in models]
        found = [None, None]
        with support.temporary_folder() as folder:

            def work(rank):
                with fast.join(
                    models[rank],
                    optimizers[rank],
                    topology="ring:2",
                    rank=rank,
                    mode="sync",
                    listen=f"ipc://{folder}/{rank}",
                    peers={1 - rank: f"ipc://{folder}/{1 - rank}"},
                    **options,
                ) as session:
                    for _ in range(3):
                        step(models[rank], optimizers[rank], 1.0 + 2 * rank)
                        session.exchange()
                        found[rank] = moments(models[rank], optimizers[rank])

            support.together([lambda: work(0), lambda: work(1)])
        return found

    def test_they_are_the_mean_over_neighbours(self):
        for kind in (torch.optim.Adam, torch.optim.AdamW):
            for found in self.ring(kind, mix_moments=True):
                self.assertTrue(torch.allclose(found, torch.full((3,), 5.0)), found)

    def test_and_each_workers_own_where_that_is_not_asked_for(self):
        for found, own in zip(self.ring(torch.optim.Adam), (1.0, 9.0)):
            self.assertTrue(torch.allclose(found, torch.full((3,), own)), found)

    def test_they_are_in_checkpoints_and_not_in_models(self):
        with support.temporary_folder() as folder:
            whole, half = f"{folder}/whole", f"{folder}/half"
            states = [self.trained(whole, 6)]
            self.trained(half, 3)
            states.append(self.trained(half, 6))
            saved = support.saved_tensors(f"{whole}.safetensors")
        self.assertEqual(*states)
        self.assertEqual(sorted(saved), ["bias", "weight"])

    def trained(self, path, steps):
        """Trains to this step from the checkpoint there, if there is one."""
        torch.manual_seed(1)
        model = torch.nn.Linear(2, 1)
        optimizer = adam(model)
        session = fast.join(
            model, optimizer, mix_moments=True, checkpoint=path, resume=path, checkpoint_every=0
        )
        self.assertIn(f"{PREFIX}exp_avg_sq/weight", session.adapter.parameters)
        while session.steps() < steps:
            step(model, optimizer, 1.0 + session.steps())
            session.exchange()
        session.save_checkpoint(path)
        session.save_model(f"{path}.safetensors")
        session.close()
        states = [model.state_dict(), optimizer.state_dict()]
        return json.dumps(states, default=lambda value: value.tolist())

    def test_with_a_neighbours_model_come_its_moments(self):
        model = torch.nn.Linear(2, 1)
        optimizer = adam(model)
        with fast.join(model, optimizer, mix_moments=True) as session:
            step(model, optimizer, 1.0)
            session.exchange()
            for name, array in session.adapter.parameters.items():  # as an adoption does
                if name.startswith(PREFIX):
                    array.owner.fill_(7.0)
            session.adapter.model_replaced()
            self.assertEqual(len(optimizer.state), 0)
            step(model, optimizer, 1.0)
            session.exchange()
            self.assertTrue(torch.allclose(moments(model, optimizer), torch.full((3,), 7.0)))

    def test_they_need_whole_steps(self):
        model = torch.nn.Linear(2, 1)
        with self.assertRaisesRegex(fast.UsageError, "mix_moments"):
            fast.join(model, adam(model), mix_moments=True, step_in_backward=True)


if __name__ == "__main__":
    unittest.main()
