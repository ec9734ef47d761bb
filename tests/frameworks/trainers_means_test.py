"""Means over all workers: what the trainers of Lightning and Hugging Face stop and keep by."""

import logging
import pathlib
import tempfile
import unittest
import warnings

import lightning
import torch
import trainers_test
import transformers
from fast_training import lightning as fast_lightning
from fast_training import transformers as fast_transformers
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from trainers_test import Module, Neighbour

torch.set_num_threads(1)
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.simplefilter("ignore")


class Worsening(Neighbour):
    """One that says a worse number at each step."""

    def __init__(self, model, name):
        self.name = name
        super().__init__(model, means=name)

    def work(self):
        with self.session:
            while not self.session.done():
                self.session.mean(self.name, 1000 + self.session.steps())
                self.session.exchange()


class Validated(Module):
    def __init__(self):
        super().__init__()
        self.told = []

    def validation_step(self, batch, index):
        self.log("val_loss", (self.layer(batch) - 1).square().mean())

    def on_train_epoch_end(self):
        found = self.trainer.callback_metrics
        self.told.append((float(found["val_loss"]), float(found["network_val_loss"])))


class Means(unittest.TestCase):
    def test_lightning_stops_and_keeps_by_the_mean_over_all_workers(self):
        module = Validated()
        data = torch.utils.data.DataLoader(torch.randn(64, 4), 8)
        with (
            tempfile.TemporaryDirectory() as folder,
            Worsening(Module(), "val_loss") as other,
        ):
            callback = fast_lightning.FastCallback(monitor="val_loss", **other.options)
            stops = EarlyStopping("network_val_loss", patience=3)
            kept = ModelCheckpoint(folder, monitor="network_val_loss")
            trainer = lightning.Trainer(
                accelerator="cpu",
                callbacks=[callback, stops, kept],
                max_epochs=200,
                enable_progress_bar=False,
                enable_model_summary=False,
                logger=False,
            )
            trainer.fit(module, data, data)
            self.assertTrue(pathlib.Path(kept.best_model_path).exists())
        self.assertTrue(torch.tensor(module.told).isfinite().all())
        self.assertGreater(module.told[-1][1], 500)
        self.assertLess(trainer.current_epoch, 200)
        self.assertTrue(callback.session.agreed and other.session.agreed)

    def test_transformers_stops_and_keeps_by_the_mean_over_all_workers(self):
        told = []

        class Told(transformers.TrainerCallback):
            def on_evaluate(self, args, state, control, metrics, **others):
                told.append((metrics["eval_loss"], metrics["eval_network_loss"]))

        data = [torch.tensor([i % 30] * 4) for i in range(24)]
        with (
            tempfile.TemporaryDirectory() as folder,
            Worsening(trainers_test.Transformers.model(), "eval_loss") as other,
        ):
            settings = transformers.TrainingArguments(
                folder,
                use_cpu=True,
                report_to=[],
                logging_strategy="no",
                disable_tqdm=True,
                per_device_train_batch_size=4,
                num_train_epochs=200,
                eval_strategy="epoch",
                save_strategy="epoch",
                save_total_limit=1,
                load_best_model_at_end=True,
                metric_for_best_model="eval_network_loss",
                greater_is_better=False,
            )
            callback = fast_transformers.FastCallback("eval_loss", **other.options)
            stops = transformers.EarlyStoppingCallback(3)
            lines = [{"input_ids": line, "labels": line} for line in data]
            trainer = transformers.Trainer(
                trainers_test.Transformers.model(),
                settings,
                train_dataset=lines,
                eval_dataset=lines,
                callbacks=[callback, Told(), stops],
            )
            trainer.train()
        self.assertTrue(torch.tensor(told).isfinite().all())
        self.assertGreater(told[-1][1], 500)
        self.assertLess(len(told), 200)
        self.assertEqual(trainer.state.best_metric, min(mean for _own, mean in told))
        self.assertTrue(callback.session.agreed and other.session.agreed)


if __name__ == "__main__":
    unittest.main()
