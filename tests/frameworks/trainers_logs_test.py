"""What trainers' logs tell of the whole run, and what neighbours are told of the first batch."""

import tempfile
import unittest
from unittest import mock

import trainers_test
import transformers
from fast_training import lightning as fast_lightning
from fast_training import transformers as fast_transformers
from fast_training._handle import Handle
from fast_training._torch_first_batch import FirstBatch


class Logs(unittest.TestCase):
    def setUp(self):
        patch = mock.patch.object(Handle, "note_first_batch")
        self.noted = patch.start()
        self.addCleanup(patch.stop)

    def test_lightnings_metrics(self):
        callback = fast_lightning.FastCallback(8)
        trainer = trainers_test.Lightning().fit(trainers_test.Module(), callback, max_epochs=2)
        self.assertAlmostEqual(float(trainer.callback_metrics["network_progress"]), 1, delta=1e-6)
        self.noted.assert_called_once()

    def test_the_history_of_hugging_faces_trainer(self):
        class EveryStep(transformers.TrainerCallback):
            def on_step_end(self, args, state, control, **others):
                control.should_log = True

        with tempfile.TemporaryDirectory() as folder, mock.patch.object(FirstBatch, "_add") as seen:
            trainer = trainers_test.Transformers().train(
                folder, fast_transformers.FastCallback(), EveryStep(), num_train_epochs=2
            )
        told = [one["network_progress"] for one in trainer.state.log_history if "loss" in one]
        self.assertEqual(told, sorted(told))
        self.assertEqual(told[-1], 1)
        self.assertGreater(seen.call_count, 1, "arguments by name")


if __name__ == "__main__":
    unittest.main()
