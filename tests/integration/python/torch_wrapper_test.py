"""Decentralized as DistributedDataParallel is used: copied, saved, with accumulation, in cells."""

import copy
import io
import pickle
import unittest

import fast_training as fast
import support  # noqa: F401, which knows what is not worth a warning here
import torch


def wrapped():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return fast.Decentralized(model, optimizer), optimizer


def backward(model):
    model(torch.randn(4, 2)).square().mean().backward()


class Copies(unittest.TestCase):
    def setUp(self):
        self.model, self.optimizer = wrapped()
        self.addCleanup(self.model.session.close)

    def check(self, copied):
        """It computes the same and is its own."""
        self.model.eval()
        copied.eval()
        x = torch.randn(3, 2)
        self.assertTrue(torch.equal(copied(x), self.model(x)))
        self.model.train()
        backward(self.model)
        self.optimizer.step()
        self.model.eval()
        self.assertFalse(torch.equal(copied(x), self.model(x)))
        self.assertEqual(self.model.session.steps(), 1)

    def test_a_deep_copy(self):
        copied = copy.deepcopy(self.model)
        self.check(copied)
        with self.assertRaisesRegex(fast.UsageError, "a copy of a Decentralized"):
            copied.session.done()

    def test_a_pickle(self):
        self.check(pickle.loads(pickle.dumps(self.model)))

    def test_a_saved_module(self):
        file = io.BytesIO()
        torch.save(self.model, file)
        file.seek(0)
        self.check(torch.load(file, weights_only=False) if weights_only() else torch.load(file))

    def test_averaged_weights(self):
        averaged = torch.optim.swa_utils.AveragedModel(self.model)
        averaged.update_parameters(self.model)
        self.check(averaged.module)
        averaged.update_parameters(self.model)

    def test_a_session_says_that_it_cannot(self):
        for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(fast.UsageError, "copy or send its model"):
                attempt(self.model.session)


def weights_only():
    """Whether torch.load() has to be told to load whole modules."""
    return int(torch.__version__.split(".")[0]) >= 2


class Accumulation(unittest.TestCase):
    def test_steps_within_no_sync_count_at_the_next_exchange(self):
        model, optimizer = wrapped()
        with model.session:
            with model.no_sync():
                backward(model)
                optimizer.step()
            self.assertEqual(model.session.steps(), 0)
            backward(model)
            optimizer.step()
            self.assertEqual(model.session.steps(), 1)

    def test_passes_before_a_step_are_one_exchange(self):
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model = fast.Decentralized(model, optimizer, budget=24)
        with model.session as session:
            with model.no_sync():
                backward(model)
                backward(model)
            backward(model)
            optimizer.step()
            self.assertEqual((session.steps(), session.progress()), (1, 0.5))


CELL = """
session = fast.join(model, optimizer, budget=40, rank=0)
while not session.done():
    optimizer.zero_grad()
    model(torch.randn(4, 2)).square().mean().backward()
    optimizer.step()
    session.exchange(samples=4)
    if session.steps() == stop:
        raise KeyboardInterrupt
agreed = session.finish()
"""


class Cells(unittest.TestCase):
    def test_one_that_is_run_again_begins_anew(self):
        model = torch.nn.Linear(2, 2)
        names = {
            "fast": fast,
            "torch": torch,
            "model": model,
            "optimizer": torch.optim.SGD(model.parameters(), lr=0.1),
            "stop": 3,
        }
        with self.assertRaises(KeyboardInterrupt):
            exec(CELL, names)
        interrupted = names["session"]
        names["stop"] = None
        with self.assertLogs("fast_training", "WARNING") as lines:
            exec(CELL, names)
        self.assertIn("another session over the same model is opened", lines.output[0])
        with self.assertNoLogs("fast_training", "WARNING"):
            exec(CELL, names)
        self.assertEqual((interrupted.steps(), names["session"].steps()), (3, 10))
        self.assertTrue(names["agreed"])
        names["session"].close()


if __name__ == "__main__":
    unittest.main()
