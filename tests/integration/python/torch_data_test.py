"""A ShardedSampler in a loader of PyTorch, kept by a session."""

import unittest

import fast_training as fast
import support
import torch
from fast_training.data import ShardedSampler

torch.set_num_threads(1)


class Kept(unittest.TestCase):
    def train(self, steps, processes, saved=None, **options):
        """The examples of each step of a worker, which saves a checkpoint at step 9 in `saved`."""
        torch.manual_seed(1)
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        data = torch.arange(50.0).unsqueeze(1)
        sampler = ShardedSampler(data)
        loader = torch.utils.data.DataLoader(
            data, 8, sampler=sampler, num_workers=processes, drop_last=True
        )
        seen = []
        with fast.join(model, optimizer, stateful={"data": sampler}, **options) as session:
            while True:
                for x in loader:
                    model(x / 50).square().mean().backward()
                    optimizer.step()
                    optimizer.zero_grad()
                    session.exchange(samples=len(x))
                    seen.append(x.flatten().tolist())
                    if saved and len(seen) == 9:
                        session.save_checkpoint(saved)
                    if len(seen) == steps:
                        return seen

    def test_a_worker_that_resumes_goes_on_with_the_next_example(self):
        for processes in (0, 2):  # which read ahead
            with self.subTest(processes=processes), support.temporary_folder() as folder:
                path = f"{folder}/c.safetensors"
                whole = self.train(16, processes, saved=path)
                again = self.train(7, processes, resume=path)
            self.assertEqual(again, whole[9:])
            self.assertEqual(len({tuple(batch) for batch in whole}), 16)


class Wrong(unittest.TestCase):
    def test_a_sampler_of_other_workers_is_refused(self):
        model = torch.nn.Linear(1, 1)
        sampler = ShardedSampler(100)
        with self.assertRaisesRegex(fast.UsageError, "rank 0 of 1 workers.*rank 1 of 2"):
            fast.join(model, stateful={"data": sampler}, topology="ring:2", rank=1)


if __name__ == "__main__":
    unittest.main()
