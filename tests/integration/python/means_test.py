"""Numbers that workers share by name."""

import array
import json
import math
import pathlib
import unittest

import fast_training as fast
import support


def numbers(*values):
    return array.array("f", values)


class Means(unittest.TestCase):
    def test_all_workers_read_the_same_mean(self):
        models = [numbers(0), numbers(0)]
        sessions = support.ring(models, means=["val_loss", "accuracy"], mode="bounded:3")
        known = [False, False]

        def work(rank):
            with sessions[rank] as session:
                self.assertTrue(math.isnan(session.mean("val_loss", math.nan)))
                self.assertEqual(session.mean("val_loss", 1 + rank), 1 + rank)
                session.join()
                while not all(known):
                    models[rank][0] += 0.1
                    session.exchange()
                    known[rank] = abs(session.mean("val_loss") - 1.5) < 1e-9
                self.assertTrue(math.isnan(session.mean("accuracy")))

        support.together([lambda rank=rank: work(rank) for rank in range(2)])

    def test_a_name_that_is_none_is_refused_with_the_nearest(self):
        refused = self.assertRaisesRegex(fast.UsageError, "val_los.*val_loss.*means")
        with refused, fast.join(numbers(1), means="val_loss") as session:
            session.mean("val_los", 1)
        with self.assertRaisesRegex(fast.UsageError, "twice"):
            fast.join(numbers(1), means=["a", "a"])

    def test_what_is_reported_is_recorded_with_the_mean(self):
        with support.temporary_folder() as folder:
            models = [numbers(0), numbers(0)]
            sessions = support.ring(models, means="f1", mode="bounded:3", out=folder)
            known = [False, False]

            def work(rank):
                with sessions[rank] as session:
                    self.assertEqual(session.report(f1=1 + rank), {"f1": 1 + rank})
                    session.join()
                    while not all(known):
                        models[rank][0] += 0.1
                        session.exchange()
                        known[rank] = abs(session.mean("f1") - 1.5) < 1e-9
                    session.finish()

            support.together([lambda rank=rank: work(rank) for rank in range(2)])
            for rank in range(2):
                text = (pathlib.Path(folder) / f"worker-{rank}/metrics.jsonl").read_text()
                lines = [json.loads(line) for line in text.splitlines()]
                said = [line["said"] for line in lines if "said" in line]
                self.assertEqual(said, [{"f1": 1 + rank}])
                last = [line["means"] for line in lines if "means" in line][-1]
                self.assertAlmostEqual(last["f1"], 1.5)

    def test_they_go_on_from_a_checkpoint(self):
        with support.temporary_folder() as folder:
            options = {"means": "val_loss", "checkpoint": f"{folder}/c", "resume": f"{folder}/c"}
            with fast.join(numbers(1), **options) as session:
                session.mean("val_loss", 3)
                session.exchange()
            with fast.join(numbers(1), **options) as session:
                self.assertEqual(session.mean("val_loss"), 3)
                self.assertEqual(session.mean("val_loss", 5), 5)


if __name__ == "__main__":
    unittest.main()
