"""Callbacks for the trainers of Lightning and Hugging Face, over models of PyTorch."""

import logging
import math
import os
import pathlib
import random
import tempfile
import threading
import unittest
import warnings
from unittest import mock

import fast_training as fast
import lightning
import numpy as np
import torch
import transformers
from contract import support
from fast_training import _trainers
from fast_training import lightning as fast_lightning
from fast_training import transformers as fast_transformers
from fast_training._torch_batch import length_of
from fast_training.torch import TorchAdapter

torch.set_num_threads(1)
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
logging.getLogger("fast_training").addHandler(logging.NullHandler())  # nothing on stderr
warnings.simplefilter("ignore")


class Module(lightning.LightningModule):
    def __init__(self, optimizers=1, interval=None):
        super().__init__()
        torch.manual_seed(1)
        self.layer, self.optimizers_made = torch.nn.Linear(4, 1), optimizers
        self.interval, self.seen = interval, []

    def training_step(self, batch, index):
        self.seen.append(batch[0, 0].item())
        return (self.layer(batch) - 1).square().mean()

    def configure_optimizers(self):
        made = [torch.optim.SGD(self.parameters(), lr=0.05) for _ in range(self.optimizers_made)]
        if self.interval is None:
            return made[0] if len(made) == 1 else made
        steps = self.trainer.estimated_stepping_batches
        ends = steps if self.interval == "step" else self.trainer.max_epochs
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(made[0], ends)
        return {
            "optimizer": made[0],
            "lr_scheduler": {"scheduler": schedule, "interval": self.interval},
        }


def second_of_two(**options):
    """Options of a worker of rank 1 whose neighbour never comes."""
    return {
        "topology": "ring:2",
        "rank": 1,
        "peers": {0: "ipc:///nowhere/0"},
        "start_deadline": 0.05,
        "settle_deadline": 0.05,
        **options,
    }


class Neighbour:
    """Rank 0 of two on a thread of its own, over `model`, which it does not train; it ends with the
    ``with``."""

    def __init__(self, model, **options):
        self.folder = support.temporary_folder()
        at = f"ipc://{self.folder.name}/0"
        common = {"topology": "ring:2", "mode": "bounded:3", "budget": 10**9}
        self.session = fast.Session(TorchAdapter(model), rank=0, listen=at, **common, **options)
        #: Those of the other worker.
        self.options = {"rank": 1, "listen": "", "peers": {0: at}, **common}
        self.thread = threading.Thread(target=self.work)

    def work(self):
        with self.session:
            while not self.session.done():
                self.session.exchange()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.thread.join(0 if any(error) else support.SECONDS)
        self.session.stop()  # where it goes on
        self.thread.join()
        self.folder.cleanup()


class Sizes(unittest.TestCase):
    def test_examples_of_a_trainers_steps(self):
        inf = math.inf
        for passes, steps, most, expected in (
            (_trainers.Passes(8, 8, 64, 1), inf, 3, 192),
            (_trainers.Passes(8, 8, 60, 1), inf, 3, 180),  # the last batch has 4
            (_trainers.Passes(8, 7, 60, 1), inf, 3, 168),  # which is dropped
            (_trainers.Passes(8, 8, 60, 1), 7, inf, 56),
            (_trainers.Passes(8, 8, 60, 1), 8, inf, 60),
            (_trainers.Passes(8, 8, 60, 1), 9, inf, 68),
            (_trainers.Passes(8, 8, 60, 3), 2, inf, 48),
            (_trainers.Passes(8, 8, 60, 3), 3, inf, 60),
            (_trainers.Passes(8, 8, 60, 3), 4, inf, 84),
            (_trainers.Passes(8, 8, 60, 1), 100, 2, 120),
            (_trainers.Passes(8, inf, inf, 2), 5, inf, 80),
            (_trainers.Passes(8, inf, inf, 2), inf, 3, inf),
        ):
            self.assertEqual(passes.examples_of(steps, most), expected)

    def test_the_length_of_a_batch_is_that_of_its_first_tensor(self):
        x = torch.zeros(5, 2)
        for batch, length in (
            (x, 5),
            ([x, x[:2]], 5),
            ({"text": ["a"], "more": {"x": x}}, 5),
            (("a", 3), None),
            (torch.tensor(1.0), 1),
            (x[:0], 0),
        ):
            self.assertEqual(length_of(batch), length)


class Randomness(unittest.TestCase):
    """What workers draw who have seeded their generators alike."""

    def drawn(self, rank):
        torch.manual_seed(42)
        random.seed(42)
        np.random.seed(42)
        _trainers.own_randomness(rank)
        return torch.rand(()).item(), random.random(), float(np.random.random())

    def test_each_rank_draws_its_own_and_the_same_again(self):
        drawn = [self.drawn(rank) for rank in range(3)]
        for kind in zip(*drawn):
            self.assertEqual(len(set(kind)), 3)
        self.assertEqual([self.drawn(rank) for rank in range(3)], drawn)

    def test_rank_0_draws_as_without_a_session(self):
        torch.manual_seed(42)
        expected = torch.rand(()).item()
        self.assertEqual(self.drawn(0)[0], expected)

    def test_a_generator_of_the_sampler_gets_a_seed_of_its_own(self):
        orders = []
        for rank in range(2):
            generator = torch.Generator().manual_seed(42)
            loader = torch.utils.data.DataLoader(range(50), 5, shuffle=True, generator=generator)
            _trainers.own_order(loader, rank)
            orders.append(torch.cat(list(loader)).tolist())
        self.assertNotEqual(*orders)


class Folders(unittest.TestCase):
    def test_each_rank_has_its_own_once(self):
        for folder, own in (
            ("out", "out/worker-3"),
            ("out/", "out/worker-3"),
            ("out/worker-3", "out/worker-3"),
            ("out/{rank}/last", "out/3/last"),
        ):
            self.assertEqual(_trainers.own_folder(folder, 3), own)


class Schedules(unittest.TestCase):
    def test_a_warm_up_keeps_its_number_of_steps(self):
        def at(share, **sizes):
            return _trainers.position(share, **{"total": 1000, "warmup": 10, **sizes})

        self.assertAlmostEqual(at(0.05, expected=100), 5)
        self.assertAlmostEqual(at(0.10, expected=100), 10)
        self.assertAlmostEqual(at(0.55, expected=100), 505)
        self.assertAlmostEqual(at(1.00, expected=100), 1000)
        self.assertAlmostEqual(at(0.50, expected=5), 500)  # no room for it
        self.assertAlmostEqual(at(0.50, expected=100, warmup=0), 500)


class Lightning(unittest.TestCase):
    def fit(self, module, callback, *more, shuffle=False, examples=64, **options):
        quiet = {"enable_progress_bar": False, "enable_model_summary": False, "logger": False}
        quiet["enable_checkpointing"] = bool(more)
        trainer = lightning.Trainer(
            accelerator="cpu", callbacks=[callback, *more], **{**quiet, **options}
        )
        x = torch.randn(examples, 4, generator=torch.Generator().manual_seed(1))
        trainer.fit(module, torch.utils.data.DataLoader(x, 8, shuffle=shuffle))
        return trainer

    def test_rates_come_to_their_end_with_the_budget(self):
        for interval, most in (("step", 0.001), ("epoch", 0.02)):
            trainer = self.fit(
                Module(interval=interval), fast_lightning.FastCallback(8, budget=512), max_epochs=50
            )
            self.assertEqual(trainer.global_step, 64)  # of 400
            self.assertLess(trainer.optimizers[0].param_groups[0]["lr"], most)

    def test_workers_of_one_seed_see_examples_in_other_orders(self):
        seen = []
        for options in ({}, second_of_two(), second_of_two()):
            lightning.seed_everything(42, verbose=False)
            module = Module()
            callback = fast_lightning.FastCallback(8, **options)
            self.fit(module, callback, shuffle=True, max_epochs=1)
            seen.append(module.seen)
        self.assertNotEqual(seen[0], seen[1])
        self.assertEqual(seen[1], seen[2])

    def test_each_worker_has_a_folder_of_checkpoints(self):
        with tempfile.TemporaryDirectory() as folder:
            for root in (None, f"{folder}/own"):
                kept = lightning.pytorch.callbacks.ModelCheckpoint(root)
                callback = fast_lightning.FastCallback(8, **second_of_two())
                self.fit(Module(), callback, kept, max_epochs=1, default_root_dir=folder)
                where = pathlib.Path(root or f"{folder}/checkpoints", "worker-1")
                self.assertEqual(len(list(where.glob("*.ckpt"))), 1)
            kept = lightning.pytorch.callbacks.ModelCheckpoint(f"{folder}/alone")
            self.fit(Module(), fast_lightning.FastCallback(8), kept, max_epochs=1)
            self.assertEqual(kept.dirpath, f"{folder}/alone")

    def test_an_end_before_the_budgets_is_told(self):
        with self.assertLogs("fast_training", "WARNING") as log:
            self.fit(Module(), fast_lightning.FastCallback(8, budget=640), max_epochs=2)
        self.assertRegex(log.output[-1], "20 %.*max_epochs")

    def test_training_stops_when_the_budget_is_used(self):
        callback = fast_lightning.FastCallback(8, budget=800)
        trainer = self.fit(Module(), callback, max_epochs=100)
        self.assertEqual(trainer.global_step, 100)
        self.assertIsNotNone(callback.session.agreed)

    def budget(self, variables=(), **options):
        """What a session takes for its end that is told none."""
        callback = fast_lightning.FastCallback()
        with mock.patch.dict(os.environ, variables):
            self.fit(Module(), callback, examples=60, **options)
        self.assertIsNotNone(callback.session.agreed)
        self.assertAlmostEqual(callback.session.progress(), 1)
        return callback.session.options()["budget"][0]

    def test_the_end_is_that_of_the_trainer_where_none_is_told(self):
        self.assertEqual(self.budget(max_epochs=3), "180")
        self.assertEqual(self.budget(max_epochs=3, accumulate_grad_batches=3), "180")
        self.assertEqual(self.budget(max_steps=12), "92")
        self.assertEqual(self.budget(max_epochs=3, limit_train_batches=4), "96")
        self.assertEqual(self.budget({"FAST_BUDGET": "92"}, max_epochs=3), "92")
        passes = {"FAST_EPOCHS": "2", "FAST_DATA_SIZE": "60"}
        self.assertEqual(self.budget(passes, max_epochs=3), "0")

    def test_examples_are_counted_as_they_are(self):
        module, callback = Module(), fast_lightning.FastCallback(budget=130)
        trainer = self.fit(module, callback, examples=60, max_epochs=100)
        self.assertEqual(trainer.global_step, 18)  # 2 epochs of 7 * 8 + 4, and 2 * 8

    def test_where_one_stops_early_all_do(self):
        class Stops(lightning.Callback):
            def on_train_epoch_end(self, trainer, module):
                trainer.should_stop = trainer.current_epoch == 1

        with Neighbour(Module()) as other:
            callback = fast_lightning.FastCallback(**other.options)
            trainer = self.fit(
                Module(), callback, Stops(), max_epochs=100, enable_checkpointing=False
            )
        self.assertEqual(trainer.current_epoch, 2)
        self.assertIn("network_loss", trainer.callback_metrics)  # for EarlyStopping
        self.assertTrue(callback.session.agreed and other.session.agreed)

    def test_each_worker_has_a_folder_of_logs(self):
        with tempfile.TemporaryDirectory() as folder:
            for version in range(2):
                logger = lightning.pytorch.loggers.CSVLogger(folder, flush_logs_every_n_steps=1)
                callback = fast_lightning.FastCallback(**second_of_two())
                self.fit(Module(), callback, logger=logger, max_epochs=1, log_every_n_steps=1)
                where = pathlib.Path(folder, "worker-1", "lightning_logs", f"version_{version}")
                self.assertIn("network_loss", (where / "metrics.csv").read_text())
            self.assertEqual(os.listdir(folder), ["worker-1"])

    def test_each_step_of_the_optimizer_is_a_boundary(self):
        steps = []

        class Counted(fast_lightning.FastCallback):
            def on_train_end(self, trainer, module):
                steps.append((self.session.steps(), trainer.global_step, self.session.loss()))
                super().on_train_end(trainer, module)

        self.fit(Module(), Counted(8), max_epochs=2, accumulate_grad_batches=3)
        (boundaries, made, loss) = steps[0]
        self.assertEqual(boundaries, made)  # the last of an epoch has fewer batches
        self.assertGreater(loss, 0.1)

    def test_two_optimizers_are_refused(self):
        module = Module(optimizers=2)
        module.automatic_optimization = False
        with self.assertRaisesRegex(fast.UsageError, "2 optimizers"):
            self.fit(module, fast_lightning.FastCallback(8), max_epochs=1)


class Transformers(unittest.TestCase):
    @staticmethod
    def model():
        transformers.set_seed(1)
        config = transformers.GPT2Config(
            vocab_size=30,
            n_positions=4,
            n_embd=8,
            n_layer=1,
            n_head=2,
            bos_token_id=None,
            eos_token_id=None,
        )
        return transformers.GPT2LMHeadModel(config)

    def train(self, folder, callback, *more, **options):
        data = [torch.tensor([i % 30] * 4) for i in range(24)]
        self.seen = []

        def collate(batch):
            self.seen.append(int(batch[0]["labels"][0]))
            return {name: torch.stack([one[name] for one in batch]) for name in batch[0]}

        settings = transformers.TrainingArguments(
            folder,
            use_cpu=True,
            report_to=[],
            logging_strategy="no",
            disable_tqdm=True,
            **{
                "per_device_train_batch_size": 4,
                "num_train_epochs": 100,
                "save_strategy": "no",
                **options,
            },
        )
        trainer = transformers.Trainer(
            self.model(),
            settings,
            data_collator=collate,
            train_dataset=[{"input_ids": line, "labels": line} for line in data],
            callbacks=[callback, *more],
        )
        trainer.train()
        return trainer

    def test_training_stops_when_the_budget_is_used_and_accumulation_counts(self):
        callback = fast_transformers.FastCallback(budget=240)
        with tempfile.TemporaryDirectory() as folder:
            trainer = self.train(folder, callback, gradient_accumulation_steps=3)
        self.assertEqual(trainer.state.global_step, 20)  # of 12 examples each
        self.assertIsNotNone(callback.session.agreed)

    def test_the_end_is_that_of_the_trainer_where_none_is_told(self):
        for options, budget in (
            ({"num_train_epochs": 2}, "48"),
            ({"num_train_epochs": 2, "per_device_train_batch_size": 5}, "48"),  # of 5 and 4
            ({"num_train_epochs": 2, "gradient_accumulation_steps": 4}, "48"),
            ({"max_steps": 8}, "32"),
        ):
            callback = fast_transformers.FastCallback()
            with tempfile.TemporaryDirectory() as folder:
                self.train(folder, callback, **options)
            self.assertEqual(callback.session.options()["budget"][0], budget)
            self.assertAlmostEqual(callback.session.progress(), 1)
            self.assertIsNotNone(callback.session.agreed)

    def test_where_one_stops_early_all_do(self):
        class Stops(transformers.TrainerCallback):
            def on_step_end(self, args, state, control, **others):
                control.should_training_stop = state.global_step == 5

        with (
            tempfile.TemporaryDirectory() as folder,
            Neighbour(self.model()) as other,
            self.assertNoLogs("fast_training", "ERROR"),
        ):
            callback = fast_transformers.FastCallback(**other.options)
            trainer = self.train(folder, callback, Stops())
        self.assertEqual(trainer.state.global_step, 5)
        self.assertTrue(callback.session.agreed and other.session.agreed)

    def test_rates_come_to_their_end_with_the_budget_after_a_whole_warm_up(self):
        class Watched(fast_transformers.FastCallback):
            def on_step_end(self, args, state, control, **others):
                rates.append(others["optimizer"].param_groups[0]["lr"])
                super().on_step_end(args, state, control, **others)

        for kind in ("linear", "cosine"):
            rates = []
            schedule = {"learning_rate": 1e-3, "lr_scheduler_type": kind, "warmup_steps": 20}
            with tempfile.TemporaryDirectory() as folder:
                self.train(folder, Watched(budget=400), num_train_epochs=200, **schedule)
            self.assertEqual(len(rates), 100)  # of 1,200
            self.assertLess(rates[9], 0.6e-3)
            self.assertGreater(max(rates[18:24]), 0.95e-3)
            self.assertLess(rates[-1], 0.02e-3)

    def test_workers_of_one_seed_see_examples_in_other_orders(self):
        seen = []
        for options in ({}, second_of_two(), second_of_two()):
            with tempfile.TemporaryDirectory() as folder:
                callback = fast_transformers.FastCallback(**options)
                self.train(folder, callback, num_train_epochs=1)
            seen.append(self.seen)
        self.assertNotEqual(seen[0], seen[1])
        self.assertEqual(seen[1], seen[2])

    def test_each_worker_has_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            callback = fast_transformers.FastCallback(**second_of_two())
            trainer = self.train(
                folder, callback, num_train_epochs=1, save_strategy="epoch", save_total_limit=1
            )
            self.assertEqual(trainer.args.output_dir, f"{folder}/worker-1")
            self.assertEqual([path.name for path in pathlib.Path(folder).iterdir()], ["worker-1"])
            alone = self.train(folder, fast_transformers.FastCallback(), num_train_epochs=1)
            self.assertEqual(alone.args.output_dir, folder)

    def test_an_end_before_the_budgets_is_told(self):
        callback = fast_transformers.FastCallback(budget=480)
        with (
            tempfile.TemporaryDirectory() as folder,
            self.assertLogs("fast_training", "WARNING") as log,
        ):
            self.train(folder, callback, num_train_epochs=2)
        self.assertRegex(log.output[-1], "10 %.*num_train_epochs")


if __name__ == "__main__":
    unittest.main()
