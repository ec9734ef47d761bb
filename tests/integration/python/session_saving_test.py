"""Sessions over arrays: threads, forks, and what they save."""

import array
import os
import time
import unittest

import fast_training as fast
import support


def numbers(*values):
    return array.array("f", values)


class Threads(unittest.TestCase):
    def test_a_wait_returns_whose_session_another_thread_closes(self):
        session = fast.Session(numbers(1), topology="ring:2", rank=0, start_deadline=60)

        def close():
            while not session._handle._in_use.locked():  # join() has not begun
                time.sleep(0.001)
            session.close()

        support.together([session.join, close])

    def test_two_sessions_of_a_process_agree(self):
        models = [numbers(1, 1), numbers(1, 1)]
        sessions = support.ring(models, budget=2000, settle_target=1e-6)

        def step(index):
            for i, value in enumerate(models[index]):
                models[index][i] = value - 0.2 * (value - (i + 1) * (index + 1))
            return 1.0

        support.train(sessions, step)
        self.assertEqual([session.agreed for session in sessions], [True, True])
        for one, other in zip(*models):
            self.assertAlmostEqual(one, other, delta=1e-4)

    def test_a_second_thread_is_refused_while_a_call_is_under_way(self):
        session = fast.Session(numbers(1), topology="ring:2", rank=0, start_deadline=1000)
        refused = []

        def intrude():
            while not session._handle._in_use.locked():
                pass
            try:
                session.exchange(samples=1, loss=1)
            except fast.UsageError as error:
                refused.append(str(error))
            session.stop()

        support.together([session.join, intrude])
        session.close()
        self.assertIn("one thread at a time", refused[0])

    def test_other_threads_may_look_at_any_time(self):
        """While one thread exchanges, others ask all that a session tells; neither fails."""
        session = fast.join(numbers(1))
        looks = []

        def look():
            while not session.done():
                looks.append(
                    (
                        session.status().state,
                        session.neighbours(),
                        session.counters()["sweeps"],
                        session.progress(),
                        session.loss(),
                        session.steps(),
                        session.exchange_seconds(),
                        session.endpoint(),
                    )
                )

        def work():
            try:
                for _ in range(3000):
                    session.exchange(samples=1, loss=1)
            finally:
                session.stop()

        support.together([work, look, look])
        session.close()
        self.assertTrue(looks)

    def test_one_worker_may_end_the_run_for_all(self):
        sessions = support.ring([numbers(1), numbers(1)], budget=10**9)

        def work(index):
            with sessions[index] as session:
                while not session.done():
                    session.exchange()
                    if index == 0 and session.steps() == 10:
                        session.stop_all("it is good enough")

        support.together([lambda: work(0), lambda: work(1)])
        self.assertEqual([session.agreed for session in sessions], [True, True])

    def test_it_may_be_looked_at_in_a_wait_and_after_the_end(self):
        session = fast.Session(numbers(1), topology="ring:2", rank=1, start_deadline=1000)
        seen = []

        def look():
            while not session._handle._in_use.locked():
                pass
            seen.append((session.status().state, session.steps(), session.done()))
            session.stop()
            seen.append(session.done())

        support.together([session.join, look])
        session.close()
        self.assertEqual(seen, [("joining", 0, False), True])
        self.assertEqual((session.status().rank, session.done()), (1, True))
        self.assertEqual([one.rank for one in session.neighbours()], [0])
        self.assertIn("sweeps", session.counters())
        self.assertEqual(session.options()["rank"][0], "1")
        self.assertIn("//", session.endpoint())


class Saving(unittest.TestCase):
    def test_checkpoints_are_named_by_rank_and_say_where_there_is_none(self):
        def sessions(folder):
            path = f"{folder}/c-{{rank}}.safetensors"
            return support.ring(models, budget=20, checkpoint=path, resume=path)

        def step(index):
            models[index][0] += 1
            return 1.0

        models = [numbers(1), numbers(1)]
        with support.temporary_folder() as folder:
            with self.assertLogs("fast_training", "INFO") as lines:
                support.train(sessions(folder), step)
            self.assertTrue(any("there is no checkpoint" in line for line in lines.output))
            for rank in range(2):
                self.assertTrue(os.path.exists(f"{folder}/c-{rank}.safetensors"))
            again = sessions(folder)
            for session in again:
                self.assertAlmostEqual(session.progress(), 1, delta=0.2)
                session.close()

    def test_a_checkpoint_that_cannot_be_written_is_refused_at_once(self):
        with self.assertRaises(fast.FastError):
            fast.Session(numbers(1), checkpoint="/proc/nowhere/c.safetensors")

    def test_a_state_that_cannot_be_saved_is_refused_at_once(self):
        class Unsaved(fast.Adapter):
            def save_state(self):
                raise ValueError("of the adapter")

        with support.temporary_folder() as folder, self.assertRaisesRegex(ValueError, "adapter"):
            fast.Session(Unsaved({"x": numbers(1)}), checkpoint=f"{folder}/c.safetensors")

    def test_parameters_and_buffers_are_saved(self):
        with support.temporary_folder() as folder:
            path = f"{folder}/model.safetensors"
            with fast.Session(
                {"x": numbers(1, 2), "y": array.array("d", [3])},
                buffers={"count": array.array("q", [1, 2, 3])},
            ) as session:
                session.save_model(path)
            self.assertEqual(
                support.saved_tensors(path),
                {"x": ("F32", (2,)), "y": ("F64", (1,)), "count": ("I64", (3,))},
            )


if __name__ == "__main__":
    unittest.main()
