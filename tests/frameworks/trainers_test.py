"""Callbacks for the trainers of Lightning and Hugging Face, over models of PyTorch."""

import logging
import tempfile
import unittest
import warnings

import fast_training as fast
import lightning
import torch
import transformers
from fast_training import lightning as fast_lightning
from fast_training import transformers as fast_transformers

torch.set_num_threads(1)
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
warnings.simplefilter("ignore")


class Module(lightning.LightningModule):
    def __init__(self, optimizers=1):
        super().__init__()
        torch.manual_seed(1)
        self.layer, self.optimizers_made = torch.nn.Linear(4, 1), optimizers

    def training_step(self, batch, index):
        return (self.layer(batch) - 1).square().mean()

    def configure_optimizers(self):
        made = [torch.optim.SGD(self.parameters(), lr=0.05) for _ in range(self.optimizers_made)]
        return made[0] if len(made) == 1 else made


class Lightning(unittest.TestCase):
    def fit(self, module, callback, **options):
        quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
        trainer = lightning.Trainer(
            accelerator="cpu", callbacks=[callback], enable_model_summary=False, **quiet, **options
        )
        x = torch.randn(64, 4, generator=torch.Generator().manual_seed(1))
        trainer.fit(module, torch.utils.data.DataLoader(x, 8))
        return trainer

    def test_training_stops_when_the_budget_is_used(self):
        callback = fast_lightning.FastCallback(8, budget=800)
        trainer = self.fit(Module(), callback, max_epochs=100)
        self.assertEqual(trainer.global_step, 100)
        self.assertIsNotNone(callback.session.agreed)

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
    def test_training_stops_when_the_budget_is_used_and_accumulation_counts(self):
        transformers.set_seed(1)
        config = transformers.GPT2Config(vocab_size=5, n_positions=4, n_embd=8, n_layer=1, n_head=2)
        line = torch.tensor([0, 1, 2, 3])
        callback = fast_transformers.FastCallback(budget=240)
        with tempfile.TemporaryDirectory() as folder:
            settings = transformers.TrainingArguments(
                folder,
                num_train_epochs=100,
                per_device_train_batch_size=4,
                gradient_accumulation_steps=3,
                use_cpu=True,
                report_to=[],
                save_strategy="no",
                logging_strategy="no",
                disable_tqdm=True,
            )
            trainer = transformers.Trainer(
                transformers.GPT2LMHeadModel(config),
                settings,
                train_dataset=[{"input_ids": line, "labels": line}] * 24,
                callbacks=[callback],
            )
            trainer.train()
        self.assertEqual(trainer.state.global_step, 20)  # of 12 examples each
        self.assertIsNotNone(callback.session.agreed)


if __name__ == "__main__":
    unittest.main()
