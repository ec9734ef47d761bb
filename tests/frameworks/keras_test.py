"""Keras 3, on the backend that KERAS_BACKEND names."""

import unittest

import fast_training as fast
import keras
import numpy as np
from contract import FrameworkContract, FrameworkModel, support
from fast_training import Session
from fast_training.keras import FastCallback, KerasAdapter


class Model(FrameworkModel):
    def __init__(self, kind="float32"):
        layer = keras.layers.Dense(4, kernel_initializer="zeros", dtype=kind)
        self.model = keras.Sequential([keras.Input((3,)), layer])
        self.assign([np.full((3, 4), 0.5, kind), np.full(4, 0.5, kind)])

    def session(self, **options):
        return Session(KerasAdapter(self.model), **options)

    def values(self):
        variables = self.model.trainable_variables
        return [np.array(keras.ops.convert_to_numpy(variable)) for variable in variables]

    def assign(self, values):
        for variable, value in zip(self.model.trainable_variables, values):
            variable.assign(value)


class Full(Model):
    def __init__(self):
        layer = keras.layers.Dense(4, kernel_initializer="zeros")
        self.norm = keras.layers.BatchNormalization(center=False, scale=False)
        self.last = keras.layers.Dense(1, use_bias=False)
        self.last.trainable = False
        # Dropout has a random generator, whose state is in checkpoints alone.
        parts = [layer, self.norm, keras.layers.Dropout(0.5), self.last]
        self.model = keras.Sequential([keras.Input((3,)), *parts])
        self.model.compile(keras.optimizers.SGD(0.1, 0.5), "mse")
        self.assign([np.full((3, 4), 0.5, "f"), np.full(4, 0.5, "f")])
        self.set(0, 0)

    def train(self):
        gradients = [keras.ops.convert_to_tensor(array - 1) for array in self.values()]
        self.model.optimizer.apply(gradients, self.model.trainable_variables)

    def momentum(self):
        slots = getattr(self.model.optimizer, "momentums", None) or ()
        return max((float(abs(np.array(slot)).max()) for slot in slots), default=0)

    def statistics(self):
        return np.array(keras.ops.convert_to_numpy(self.norm.moving_mean))

    def frozen(self):
        return np.array(keras.ops.convert_to_numpy(self.last.kernel))

    def set(self, statistics, frozen):
        self.norm.moving_mean.assign(np.full(4, statistics, "f"))
        self.last.kernel.assign(np.full((4, 1), frozen, "f"))


def data(count=64):
    x = np.random.default_rng(1).normal(size=(count, 3)).astype("f")
    return x, x @ np.ones((3, 4), "f")


class KerasTest(FrameworkContract, unittest.TestCase):
    make, make_full = Model, Full
    types = (("float16", "F16"),)

    def fit(self, callbacks, optimizer=None, count=64, batch_size=16, epochs=100, **compiled):
        model = self.make().model
        model.compile(optimizer or keras.optimizers.SGD(0.05), "mse", **compiled)
        x, y = data(count)
        model.fit(x, y, batch_size, epochs, callbacks=callbacks, verbose=0)
        return model

    def test_fit_trains_until_the_budget_is_used(self):
        callback = FastCallback(budget=400)
        model = self.fit([callback])
        self.assertEqual(int(model.optimizer.iterations), 25)
        self.assertTrue(callback.session.agreed)
        untrained = self.make().model
        untrained.compile("sgd", "mse")
        x, y = data()
        self.assertLess(model.evaluate(x, y, verbose=0), untrained.evaluate(x, y, verbose=0) / 2)

    def test_a_second_fit_is_a_run_of_its_own(self):
        callback, model = FastCallback(budget=256), self.make().model
        model.compile("sgd", "mse")
        for made in (16, 32):
            model.fit(*data(), 16, 100, callbacks=[callback], verbose=0)
            self.assertEqual(int(model.optimizer.iterations), made)
            self.assertTrue(callback.session.agreed)

    def test_examples_are_counted_as_they_are(self):
        callback = FastCallback(budget=350)
        model = self.fit([callback], count=100, batch_size=32)
        self.assertEqual(int(model.optimizer.iterations), 14)  # 3 epochs of 3 * 32 + 4, and 2 * 32

    def test_the_end_is_that_of_fit_where_none_is_told(self):
        callback = FastCallback(batch_size=16)
        model = self.fit([callback], epochs=3)
        self.assertEqual(callback.session.options()["budget"][0], "192")
        self.assertEqual(int(model.optimizer.iterations), 12)
        self.assertAlmostEqual(callback.session.progress(), 1)
        callback = FastCallback(batch_size=16, budget=128)
        self.assertEqual(int(self.fit([callback], epochs=3).optimizer.iterations), 8)

    def test_where_one_stops_early_all_do(self):
        losses, shares = [], []

        class Stops(keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None):
                losses.append(logs["network_loss"])
                shares.append(logs["network_progress"])
                self.model.stop_training = epoch == 1

        with support.temporary_folder() as folder:
            at = f"ipc://{folder}/0"
            common = {"topology": "ring:2", "mode": "bounded:3", "budget": 10**9}
            other = self.make().session(rank=0, listen=at, **common)

            def work():
                with other:
                    while not other.done():
                        other.exchange()

            callback = FastCallback(rank=1, listen="", peers={0: at}, **common)

            def fit():
                try:
                    self.fit([callback, Stops()])
                except BaseException:
                    other.stop()
                    raise

            support.together([work, fit])
        self.assertEqual(len(losses), 2)
        self.assertTrue(0 < shares[0] < shares[1], shares)
        self.assertTrue(callback.session.agreed and other.agreed)

    @unittest.skipIf(keras.backend.backend() == "torch", "PyTorch executes one step at a time")
    def test_steps_that_are_executed_together_are_counted(self):
        callback = FastCallback(budget=360)
        model = self.fit([callback], count=128, batch_size=32, steps_per_execution=4)
        self.assertEqual(int(model.optimizer.iterations), 12)  # 128 at a time

    def test_examples_of_named_inputs_are_counted(self):
        inputs = {name: keras.Input((3,), name=name) for name in "ab"}
        total = keras.layers.Add()(list(inputs.values()))
        model = keras.Model(inputs, keras.layers.Dense(4)(total))
        model.compile("sgd", "mse")
        x, y = data()
        callback = FastCallback(budget=128)
        model.fit({"a": x, "b": x}, y, 16, 100, callbacks=[callback], verbose=0)
        self.assertEqual(int(model.optimizer.iterations), 8)

    def test_a_step_that_does_not_count_needs_the_size_of_a_batch(self):
        class Uncounted(FastCallback):
            def on_train_begin(self, logs=None):
                super().on_train_begin(logs)
                self.model._loss_tracker.update_state = lambda *loss, **weight: None

        with self.assertRaisesRegex(fast.UsageError, "batch_size"):
            self.fit([Uncounted(budget=400)])
        model = self.fit([Uncounted(16, budget=400)])
        self.assertEqual(int(model.optimizer.iterations), 25)

    def test_what_a_callback_puts_back_is_what_workers_agree_on(self):
        class PutsBack(keras.callbacks.Callback):
            def on_train_end(self, logs=None):
                self.model.set_weights([0 * weight for weight in self.model.get_weights()])

        for order in (1, -1):
            callbacks = [FastCallback(budget=400), PutsBack()][::order]
            with self.assertNoLogs("fast_training", "WARNING"):
                model = self.fit(callbacks)
            self.assertFalse(any(weight.any() for weight in model.get_weights()))
            self.assertTrue(callbacks[::order][0].session.agreed)

    def test_early_stopping_goes_by_the_mean_over_all_workers(self):
        seen = []

        class Seen(keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None):
                seen.append((logs["val_loss"], logs["network_val_loss"]))

        with support.temporary_folder() as folder:
            at = f"ipc://{folder}/0"
            common = {"topology": "ring:2", "mode": "bounded:3", "budget": 10**9}
            other = self.make().session(rank=0, listen=at, means="val_loss", **common)

            def work():
                with other:
                    while not other.done():
                        other.mean("val_loss", 1000 + other.steps())  # worse and worse
                        other.exchange()

            callback = FastCallback(rank=1, listen="", peers={0: at}, monitor="val_loss", **common)
            stops = keras.callbacks.EarlyStopping(
                "network_val_loss", mode="min", patience=3, restore_best_weights=True
            )
            model = self.make().model
            model.compile(keras.optimizers.SGD(1e-3), "mse")

            def fit():
                try:
                    options = {"validation_data": data(), "verbose": 0}
                    model.fit(*data(), 16, 300, callbacks=[callback, Seen(), stops], **options)
                except BaseException:
                    other.stop()
                    raise

            support.together([work, fit])
        self.assertTrue(np.isfinite(seen).all())
        self.assertGreater(seen[-1][1], 500)
        self.assertLess(len(seen), 300)
        self.assertTrue(callback.session.agreed and other.agreed)

    def test_rates_go_by_the_share_of_the_budget(self):
        rates = []

        class Watched(keras.callbacks.Callback):
            def on_train_batch_begin(self, batch, logs=None):
                rates.append(float(self.model.optimizer.learning_rate))

        callback = FastCallback(budget=400, learning_rate=lambda share: 0.1 * (1 - share))
        self.fit([callback, Watched()])
        np.testing.assert_allclose(rates, 0.1 * (1 - np.arange(25) / 25), atol=1e-5)

    def test_a_schedule_that_counts_the_steps_of_one_worker_is_warned_of(self):
        decay = keras.optimizers.schedules.CosineDecay(0.05, 1000)
        with self.assertLogs("fast_training", "WARNING") as log:
            self.fit([FastCallback(budget=160)], keras.optimizers.SGD(decay))
        self.assertRegex(log.output[0], "CosineDecay.*learning_rate=")

    def test_each_weight_has_its_part_and_random_generators_none(self):
        adapter = KerasAdapter(Full().model)
        self.assertEqual(list(adapter.parameters), ["0.kernel", "1.bias"])
        self.assertEqual(list(adapter.averaged), ["2.moving_mean", "3.moving_variance"])
        self.assertEqual(list(adapter.buffers), ["4.kernel"])

    def test_statistics_of_a_frozen_layer_are_carried(self):
        model = Full()
        model.norm.trainable = False
        adapter = KerasAdapter(model.model)
        self.assertEqual(list(adapter.averaged), [])
        self.assertIn("2.moving_mean", adapter.buffers)

    def test_a_layer_that_is_frozen_meanwhile_is_refused_by_name(self):
        model = Full()
        with self.assertRaisesRegex(fast.ModelError, "4.kernel"), model.session() as session:
            session.join()
            model.last.trainable = True
            session.exchange()

    def test_an_optimizer_begins_anew_but_for_its_rate_and_its_schedule(self):
        for rate, iterations in (
            (0.25, 0),
            (keras.optimizers.schedules.CosineDecay(0.25, 1000), 3),
        ):
            model = Full()
            model.model.compile(keras.optimizers.Adam(rate, use_ema=True), "mse")
            for _ in range(3):
                model.train()
            model.assign([array + 1 for array in model.values()])
            KerasAdapter(model.model).model_replaced()
            optimizer = model.model.optimizer
            self.assertEqual(int(optimizer.iterations), iterations)
            self.assertGreater(float(optimizer.learning_rate), 0.24)
            for average, value in zip(optimizer._model_variables_moving_average, model.values()):
                np.testing.assert_array_equal(np.array(average), value)
            for slot in (*optimizer._momentums, *optimizer._velocities):
                self.assertFalse(np.array(slot).any())


if __name__ == "__main__":
    unittest.main()
