"""Second sessions of a process, sessions that are left behind, and signals under a launcher."""

import array
import os
import signal
import unittest
import unittest.mock

import fast_training as fast
import support


def numbers(*values):
    return array.array("f", values)


class SecondSessions(unittest.TestCase):
    def test_one_of_the_same_place_ends_the_one_before(self):
        with support.temporary_folder() as folder:
            place = {"topology": "ring:2", "rank": 0, "listen": f"ipc://{folder}/0"}
            with self.assertLogs("fast_training", "WARNING") as lines:
                first = fast.Session(numbers(1), **place)
                with fast.Session(numbers(1), **place) as second:
                    second.stop()
                    with self.assertRaisesRegex(fast.UsageError, "of the same rank has taken"):
                        first.exchange()
            self.assertIn("worker 0: another session of the same rank is opened", lines.output[0])

    def test_others_live_side_by_side(self):
        with (
            self.assertNoLogs("fast_training", "WARNING"),
            fast.Session(numbers(1)) as first,
            fast.Session(numbers(1)) as second,
        ):
            first.exchange()
            second.exchange()

    def test_one_of_a_launchers_run_is_another_run_with_files_of_its_own(self):
        with support.temporary_folder() as folder:
            variables = {
                "FAST_RUN_ID": f"of {folder}",
                "FAST_OUT": f"{folder}/r",
                "FAST_CHECKPOINT": f"{folder}/c.safetensors",
                "FAST_RESUME": f"{folder}/c.safetensors",
            }
            begun = []
            with unittest.mock.patch.dict(os.environ, variables):
                for _ in range(3):
                    x = numbers(0)
                    with fast.join(x, budget=10) as session:
                        begun.append((x[0], session.progress(), session.options()["run_id"][0]))
                        while not session.done():
                            x[0] += 1
                            session.exchange()
                named = fast.Session(numbers(0), run_id="mine", checkpoint=f"{folder}/mine")
                named.close()
            run = variables["FAST_RUN_ID"]
            self.assertEqual(begun, [(0, 0, run), (0, 0, f"{run}-2"), (0, 0, f"{run}-3")])
            self.assertEqual(named.options()["run_id"][0], "mine")
            for name in ("c", "c-2", "c-3"):
                self.assertTrue(os.path.exists(f"{folder}/{name}.safetensors"), name)
            for name in ("r", "r/session-2", "r/session-3"):
                self.assertTrue(os.path.exists(f"{folder}/{name}/worker-0"), name)

    def test_one_waits_for_neighbours_that_are_still_in_the_one_before(self):
        with support.temporary_folder() as folder:
            first, second = support.meeting_variables(folder)
            late = support.start("folds", "waits", FAST_RUN_ID="run", **first)
            early = support.start("folds", FAST_RUN_ID="run", **second)
            for expected in ("open 0\n", "open 1\n"):
                self.assertEqual(early.stdout.readline(), expected)
            late.stdin.write("\n")
            late.stdin.flush()
            found = support.reports([late, early])
        for one in found:
            self.assertEqual([fold["agreed"] for fold in one], [True, True])
            for fold, goal in zip(one, (1, 2)):
                self.assertAlmostEqual(fold["x"], goal, delta=0.1)
        # Alone, each would have made all 400 steps. Together, one may have made nearly all of them
        # by the time that the other has woken up.
        self.assertLess(sum(one[1]["steps"] for one in found), 600)


class Finish(unittest.TestCase):
    def test_a_program_that_leaves_without_it_is_told(self):
        code, _out, err = support.outcome(support.start("leaving", "end"))
        self.assertEqual(code, 0)
        self.assertIn("worker 0 ended without finish()", err)

    def test_a_session_that_is_closed_on_purpose_is_not(self):
        with self.assertNoLogs("fast_training", "WARNING"):
            session = fast.join(numbers(1))
            session.exchange()
            session.close()
            del session

    def test_values_that_change_after_it_are_named_when_they_are_saved(self):
        x, y = numbers(1), numbers(2)
        with (
            support.temporary_folder() as folder,
            self.assertLogs("fast_training", "WARNING") as lines,
            fast.join({"x": x, "y": y}) as session,
        ):
            session.exchange()
            session.finish()
            y[0] = 3
            session.save_model(f"{folder}/m.safetensors")
            session.save_model(f"{folder}/m.safetensors")
        self.assertEqual(len(lines.output), 1)
        self.assertIn("'y' was changed after finish()", lines.output[0])


class Codes(unittest.TestCase):
    """Of programs that launchers place; see workers/block.py."""

    def code(self, topology, how="end"):
        process = support.start("block", how, FAST_TOPOLOGY=topology, FAST_RANK=0)
        code, out, err = support.outcome(process)
        self.assertEqual("went on" in out, how == "end", err)
        return code

    def test_one_that_met_nobody_is_no_success(self):
        self.assertEqual(self.code("ring:2"), 11)

    def test_one_that_is_all_there_is_is(self):
        self.assertEqual(self.code("ring:1"), 0)

    def test_an_error_has_its_own(self):
        self.assertEqual(self.code("ring:2", "error"), 1)


class Signals(unittest.TestCase):
    def ended_by(self, *numbers, how=""):
        """Of a worker that these signals end: exit code, what it said, whether there are a
        checkpoint and a model, standard error."""
        with support.temporary_folder() as folder:
            process = support.start(
                "signalled",
                how,
                FAST_OUT=f"{folder}/r",
                FAST_CHECKPOINT=f"{folder}/c.safetensors",
            )
            self.assertEqual(process.stdout.readline(), "under way\n")
            said = ""
            for number in numbers:
                process.send_signal(number)
                said = process.stdout.readline()
            code, out, err = support.outcome(process)
            files = [
                os.path.exists(f"{folder}/{name}")
                for name in ("c.safetensors", "r/worker-0/model.safetensors")
            ]
        return code, said + out, files, err

    def test_the_first_one_ends_training_in_good_order(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            code, out, files, err = self.ended_by(number)
            self.assertEqual((code, files), (130, [True, True]), err)
            self.assertIn("finished", out)

    def test_a_loop_that_asks_for_nothing_ends_too(self):
        code, out, files, err = self.ended_by(signal.SIGTERM, how="deaf")
        self.assertEqual((code, files), (130, [True, True]), err)
        self.assertNotIn("finished", out)

    def test_the_second_one_ends_the_program(self):
        code, out, _files, err = self.ended_by(signal.SIGINT, signal.SIGTERM, how="again")
        self.assertEqual(code, -signal.SIGTERM, err)
        self.assertNotIn("finished", out)

    def test_an_error_that_follows_has_its_own_exit_code(self):
        code, _out, _files, err = self.ended_by(signal.SIGTERM, how="error")
        self.assertEqual(code, 1, err)

    def test_a_child_of_fork_ends_by_them(self):
        code, out, _files, err = self.ended_by(how="child")
        self.assertEqual(code, 0, err)
        self.assertIn(f"child ended by {signal.SIGTERM.value}", out)

    def test_handlers_are_given_back(self):
        def mine(_number, _frame):
            raise AssertionError("nobody sends one")

        with fast.join(numbers(1)), fast.join(numbers(1)):
            self.assertNotEqual(signal.getsignal(signal.SIGTERM), signal.SIG_DFL)
        self.assertEqual(signal.getsignal(signal.SIGTERM), signal.SIG_DFL)
        self.assertEqual(signal.getsignal(signal.SIGINT), signal.default_int_handler)
        before = signal.signal(signal.SIGTERM, mine)
        try:
            with fast.join(numbers(1)):
                self.assertEqual(signal.getsignal(signal.SIGTERM), mine)
        finally:
            signal.signal(signal.SIGTERM, before)


if __name__ == "__main__":
    unittest.main()
