"""Two workers that begin with the same batch: a sampler was forgotten, and a warning says so."""

import copy
import pickle
import threading
import time
import unittest

import fast_training as fast
import support
import torch
from fast_training._torch_first_batch import FirstBatch
from fast_training.torch import TorchAdapter
from torch import nn

SECONDS = 60  # after which a warning counts as not given
BEGUN_ALIKE = "workers 0 and 1 have begun with the same batch"


def batch(seed):
    return torch.randn(8, 3, generator=torch.Generator().manual_seed(seed))


def hash_of(*batches, modules=1, grad=True):
    """What is known of a model that was given these batches first."""
    model = [nn.Linear(3, 2) for _ in range(modules)]
    first = FirstBatch(model)
    with torch.set_grad_enabled(grad):
        for index, one in enumerate(batches):
            model[index % modules](one)
    return first.take()


def warnings_of(batches, enough):
    """Trains a worker for each list of batches, until `enough(lines)`; the lines of their logs."""
    models = [nn.Linear(3, 2) for _ in batches]
    optimizers = [torch.optim.SGD(one.parameters(), lr=0.01) for one in models]
    sessions = support.ring([TorchAdapter(*both) for both in zip(models, optimizers)])
    found, until, all_told = [], time.monotonic() + SECONDS, threading.Barrier(len(batches))

    def work(index):
        with sessions[index] as session:
            session.join()
            while not session.done():
                loss = models[index](batches[index]).square().mean()
                loss.backward()
                optimizers[index].step()
                optimizers[index].zero_grad()
                session.exchange(8, loss)
                told = [one.getMessage() for one in logs.records]
                if enough(told, session) or time.monotonic() > until:
                    session.stop_all("seen")
            all_told.wait(SECONDS)

    with unittest.TestCase().assertLogs("fast_training", "DEBUG") as logs:
        support.together([lambda index=index: work(index) for index in range(len(batches))])
    found += [one.getMessage() for one in logs.records if one.levelname == "WARNING"]
    return [line for line in found if "without a budget" not in line and "budget" not in line]


class Forgotten(unittest.TestCase):
    def test_the_same_batch_at_two_ranks_is_said_once_by_both_names(self):
        said = warnings_of(
            [batch(1), batch(1)], lambda told, session: any(BEGUN_ALIKE in one for one in told)
        )
        alike = [line for line in said if BEGUN_ALIKE in line]
        self.assertEqual(len(alike), 1, said)
        self.assertIn("ShardedSampler", alike[0])

    def test_other_batches_and_constant_ones_are_well(self):
        def enough(_told, session):  # long after their heartbeats
            return all(one.sweeps > 20 for one in session.neighbours())

        for batches in ([batch(1), batch(2)], [torch.ones(8, 3)] * 2):
            said = warnings_of(batches, enough)
            self.assertFalse([line for line in said if "same batch" in line], said)

    def test_a_hash_of_one_s_own(self):
        arrays = [{"w": bytearray(16)} for _ in range(2)]
        with fast.Session(memoryview(arrays[0]["w"]).cast("f")) as session:
            session.note_first_batch(7)
            for wrong in (0, -1, 2**64):
                with self.assertRaisesRegex(fast.UsageError, f"{wrong} is no hash"):
                    session.note_first_batch(wrong)
            session.exchange()


class Hashes(unittest.TestCase):
    def test_are_of_content(self):
        self.assertNotEqual(hash_of(batch(1)), 0)
        self.assertEqual(hash_of(batch(1)), hash_of(batch(1)))
        self.assertNotEqual(hash_of(batch(1)), hash_of(batch(2)))
        self.assertNotEqual(hash_of(batch(1)), hash_of(batch(1)[:4]))

    def test_are_of_the_first_batch_of_training(self):
        self.assertEqual(hash_of(batch(1), batch(2)), hash_of(batch(1)))
        self.assertEqual(hash_of(batch(1), grad=False), 0)
        model = nn.Linear(3, 2)
        first = FirstBatch([model])
        model.eval()
        model(batch(1))
        model.train()
        model(batch(2))
        self.assertEqual(first.take(), hash_of(batch(2)))

    def test_what_tells_nothing_is_none(self):
        for one in (torch.zeros(8, 3), torch.ones(8, 3), torch.eye(3)):
            self.assertEqual(hash_of(one), 0)

    def test_several_models_have_one(self):
        noise = batch(1)  # may well be the same everywhere
        self.assertNotEqual(
            hash_of(noise, batch(2), modules=2), hash_of(noise, batch(3), modules=2)
        )

    def test_batches_in_dictionaries_and_by_name(self):
        class Net(nn.Module):
            def forward(self, batch):
                return batch["x"].sum()

        model, first = Net(), None
        first = FirstBatch([model])
        model({"x": torch.arange(10), "mask": torch.ones(10, dtype=torch.bool)})
        self.assertNotEqual(first.take(), 0)

    def test_hooks_leave(self):
        model = nn.Linear(3, 2)
        first = FirstBatch([model])
        copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
        for one in copies:
            one(batch(1))
        self.assertEqual(first.take(), 0)
        model(batch(1))  # too late
        self.assertEqual(first.take(), 0)
        self.assertFalse(model._forward_pre_hooks, "it was called")
        first = FirstBatch([model])
        first.leave()
        self.assertFalse(model._forward_pre_hooks)
        with fast.join(nn.Sequential(model)) as session:
            self.assertEqual(len(session.adapter.owner._forward_pre_hooks), 1)
        self.assertFalse(session.adapter.owner._forward_pre_hooks)

    def test_what_cannot_be_read_ends_nothing(self):
        model = nn.Embedding(4, 2)
        first = FirstBatch([model])
        first.see([torch.empty(3, device="meta"), object(), {"a": [torch.eye(3).to_sparse()]}])
        self.assertEqual(first.take(), 0)

    def test_a_scripted_module(self):
        model = torch.jit.script(nn.Linear(3, 2))
        first = FirstBatch([model])
        model(batch(1))
        first.take()
        model(batch(1))


if __name__ == "__main__":
    unittest.main()
