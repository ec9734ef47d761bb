"""Arrays that are bound anew, change their kind, or are not those that are trained."""

import array
import struct
import unittest

import fast_training as fast
import support


def numbers(*values):
    return array.array("f", values)


def saved(session, folder, size):
    """The floats at the end of a model that is saved."""
    session.save_model(f"{folder}/m.safetensors")
    with open(f"{folder}/m.safetensors", "rb") as file:
        return list(struct.unpack(f"<{size}f", file.read()[-4 * size :]))


class BoundAnew(unittest.TestCase):
    def trained(self, models, arrays_of):
        """Trains by new arrays at each step; the models' last values."""
        # Neither leaves the other behind, or it would bring both to its own target.
        sessions = support.ring(models, budget=2000, settle_target=1e-6, mode="bounded:3")

        def step(index):
            model = models[index]
            for key in model if isinstance(model, dict) else range(len(model)):
                model[key] = numbers(*(v - 0.2 * (v - index - 1) for v in model[key]))
            return 1.0

        support.train(sessions, step)
        self.assertEqual([session.agreed for session in sessions], [True, True])
        return [arrays_of(model) for model in models]

    def assert_between(self, found):
        for one, other in zip(*found):
            self.assertAlmostEqual(one, other, delta=1e-4)
            self.assertGreater(one, 1.05)
            self.assertLess(one, 1.95)

    def test_arrays_of_a_dictionary_are_exchanged_where_they_are_now(self):
        models = [{"w": numbers(0, 0), "b": numbers(0)} for _ in range(2)]
        self.assert_between(self.trained(models, lambda model: [*model["w"], *model["b"]]))

    def test_arrays_of_a_list_are_exchanged_where_they_are_now(self):
        models = [[numbers(0, 0), numbers(0)] for _ in range(2)]
        self.assert_between(self.trained(models, lambda model: [*model[0], *model[1]]))

    def test_what_is_saved_is_where_it_is_now(self):
        arrays, counts = {"w": numbers(1, 2)}, {"count": numbers(1)}
        with fast.join(arrays, buffers=counts) as session, support.temporary_folder() as folder:
            arrays["w"], counts["count"] = numbers(3, 4), numbers(5)
            self.assertEqual(sorted(saved(session, folder, 3)), [3, 4, 5])
            session.exchange()
            arrays["w"] = numbers(6, 7)
            session.finish()
            arrays["w"] = numbers(8, 9)
            self.assertEqual(sorted(saved(session, folder, 3)), [5, 8, 9])

    def test_another_kind_of_array_is_refused_by_name(self):
        for other in (numbers(1), array.array("d", [1, 2])):
            arrays = {"w": numbers(1, 2)}
            with (
                self.assertRaisesRegex(fast.ModelError, "'w' has become"),
                fast.join(arrays) as session,
            ):
                arrays["w"] = other
                session.exchange()

    def test_other_names_are_refused(self):
        for change, said in (
            (lambda arrays: arrays.pop("w"), "'w' is missing"),
            (lambda arrays: arrays.update(c=numbers(1)), "'c' was not there"),
        ):
            arrays = {"w": numbers(1, 2), "b": numbers(1)}
            with self.assertRaisesRegex(fast.ModelError, said), fast.join(arrays) as session:
                change(arrays)
                session.exchange()


class Standstill(unittest.TestCase):
    def test_a_session_whose_memory_stands_still_says_so_and_does_not_agree(self):
        w = numbers(1, 2)
        with (
            self.assertLogs("fast_training", "WARNING") as lines,
            fast.join({"w": w}) as session,
        ):
            for _ in range(150):
                w = numbers(*(0.9 * value for value in w))  # nobody can know
                session.exchange()
            self.assertFalse(session.finish())
        self.assertEqual(len(lines.output), 1, lines.output)
        self.assertIn("nothing of what is exchanged (first array: 'w')", lines.output[0])

    def test_a_rate_of_0_after_the_first_steps_is_no_more_than_said(self):
        w = numbers(1, 2)
        with self.assertLogs("fast_training", "WARNING"), fast.join({"w": w}) as session:
            for step in range(300):
                if step < 20:
                    w[0] += 1
                session.exchange()
            self.assertTrue(session.finish())

    def test_a_change_anywhere_counts(self):
        w = numbers(*([0] * 100_000))
        with self.assertNoLogs("fast_training", "WARNING"), fast.join({"w": w}) as session:
            for step in range(250):
                w[step] += 1
                session.exchange()
            self.assertTrue(session.finish())


if __name__ == "__main__":
    unittest.main()
