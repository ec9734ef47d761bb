"""Sessions over arrays: two real processes, options, errors, signals, threads and forks."""

import array
import gc
import json
import math
import os
import pathlib
import signal
import threading
import time
import unittest
import unittest.mock
import weakref

import fast_training as fast
import support


def numbers(*values):
    return array.array("f", values)


class TwoProcesses(unittest.TestCase):
    def test_they_train_and_agree_over_sockets(self):
        first = support.start("average", 0)
        endpoint = first.stdout.readline().strip()
        second = support.start("average", 1, endpoint)
        found = support.reports([first, second])
        for one in found:
            self.assertTrue(one["agreed"])
            self.assertGreaterEqual(one["progress"], 1)
            self.assertAlmostEqual(one["loss"], 0.5, places=3)
            self.assertGreater(one["steps"], 0)
            self.assertFalse(one["shared"])
            self.assertIs(one["other_grid"], False)
            self.assertGreater(one["sent"], 0)
            for i, value in enumerate(one["weights"]):  # between the two objectives
                self.assertGreater(value, 1.05 * (i + 1))
                self.assertLess(value, 1.95 * (i + 1))
                self.assertAlmostEqual(value, found[0]["weights"][i], delta=1e-4)
        self.assertAlmostEqual(found[0]["bias"][0], found[1]["bias"][0], delta=1e-4)

    def test_the_environment_says_who_they_are(self):
        with support.temporary_folder() as folder:
            processes = [
                support.start("by_environment", **variables)
                for variables in support.meeting_variables(folder)
            ]
            found = support.reports(processes)
        self.assertEqual([one["rank"] for one in found], [0, 1])
        self.assertAlmostEqual(found[0]["x"], found[1]["x"], delta=1e-4)
        self.assertLess(abs(found[0]["x"] - 0.5), 0.49)

    def test_one_that_is_killed_does_not_stop_the_other(self):
        with support.temporary_folder() as folder:
            first, second = (
                support.start("by_environment", 50000, **{**variables, "FAST_MODE": "async"})
                for variables in support.meeting_variables(folder)
            )
            self.assertEqual(second.stdout.readline(), "under way\n")
            second.kill()
            code, _out, _err = support.outcome(second)
            self.assertEqual(code, -signal.SIGKILL)
            (found,) = support.reports([first])
        self.assertGreater(found["steps"], 1000)


class Environment(unittest.TestCase):
    def rank_of(self, variables, **options):
        with unittest.mock.patch.dict(os.environ, variables):
            session = fast.Session(numbers(1), **options)
        with session:
            session.stop()
            return session.status().rank

    def test_arguments_win_over_it(self):
        variables = {"FAST_TOPOLOGY": "ring:9", "FAST_RANK": "7", "FAST_LISTEN": ""}
        self.assertEqual(self.rank_of(variables), 7)
        self.assertEqual(self.rank_of(variables, rank=2), 2)
        self.assertEqual(self.rank_of(variables, rank=2, topology="ring:9"), 2)

    def test_a_topology_that_is_not_the_launchers_is_refused(self):
        with self.assertRaisesRegex(fast.UsageError, "ring:3, and FAST_TOPOLOGY is ring:9"):
            self.rank_of({"FAST_TOPOLOGY": "ring:9", "FAST_RANK": "1"}, topology="ring:3")

    def test_the_launcher_gives_the_rank(self):
        mpirun = {"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "3"}
        ring = {"topology": "ring:3", "peers": {0: "ipc://nobody"}}
        self.assertEqual(self.rank_of(mpirun, **ring), 2)
        self.assertEqual(self.rank_of({**mpirun, "FAST_RANK": "1"}, **ring), 1)
        torchrun = {"RANK": "1", "WORLD_SIZE": "3"}
        self.assertEqual(self.rank_of(torchrun, **ring), 1)

    def test_another_number_of_processes_is_refused(self):
        srun = {"SLURM_PROCID": "1", "SLURM_NTASKS": "2"}
        with self.assertRaisesRegex(fast.UsageError, "2 processes were started"):
            self.rank_of(srun, topology="ring:3")

    def test_several_workers_without_a_rank_are_refused(self):
        with self.assertRaisesRegex(fast.UsageError, "no rank.*FAST_RANK"):
            self.rank_of({"RANK": "1"}, topology="ring:3")

    def test_peers_of_arguments_replace_those_of_the_environment(self):
        with (
            unittest.mock.patch.dict(os.environ, {"FAST_PEER": "1=a:1,2=b:2", "FAST_PEERS": "p"}),
            fast.Session(numbers(1), topology="ring:3", rank=0, peers={1: "c:3"}) as session,
        ):
            session.stop()
            options = session.options()
            self.assertEqual((options["peer"][0], options["peers"][0]), ("1=c:3", ""))

    def test_peers_may_name_a_file(self):
        with (
            support.temporary_folder() as folder,
            unittest.mock.patch.dict(os.environ, {"FAST_PEERS": f"{folder}/peers"}),
            fast.Session(numbers(1), topology="ring:2", rank=0) as session,
        ):
            session.stop()
            self.assertEqual(session.options()["peers"][0], f"{folder}/peers")


class Options(unittest.TestCase):
    def test_a_wrong_name_raises_with_the_nearest(self):
        with self.assertRaisesRegex(fast.UsageError, "topolgy.*topology"):
            fast.Session(numbers(1), topolgy="ring:2")

    def test_a_wrong_value_raises_with_the_remedy(self):
        for options in ({"topology": "rang:2"}, {"rank": "one"}, {"sweeps": -1}, {"rank": 5}):
            with self.assertRaises(fast.UsageError, msg=options) as caught:
                fast.Session(numbers(1), **{"topology": "ring:2", "rank": 0, **options})
            self.assertIsInstance(caught.exception, ValueError)
            self.assertEqual(caught.exception.exit_code, 2)
            self.assertIn("; ", str(caught.exception))

    def test_peers_in_a_list_are_refused(self):
        with self.assertRaisesRegex(fast.UsageError, "peers is a list; give {rank: endpoint}"):
            fast.Session(numbers(1), topology="ring:2", rank=0, peers=["node1:5555"])

    def test_values_of_all_kinds_arrive(self):
        with fast.Session(
            numbers(1),
            topology="ring:3",
            rank=0,
            peers={1: "127.0.0.1:9", 2: "127.0.0.1:10"},
            overlap=False,
            sweeps=None,
            linger=0.25,
            budget=5e4,
        ) as session:
            session.stop()
            values = {name: value for name, (value, _help) in session.options().items()}
        self.assertIn("1=127.0.0.1:9", values["peer"])
        self.assertEqual(values["overlap"], "false")
        self.assertEqual(values["sweeps"], "auto")
        self.assertEqual(float(values["linger"]), 0.25)
        self.assertEqual(values["budget"], "50000")


class Errors(unittest.TestCase):
    def test_a_number_of_samples_below_0(self):
        with self.assertRaises(fast.UsageError), fast.join(numbers(1)) as session:
            session.exchange(samples=-1)

    def test_each_code_has_a_class(self):
        bases = {
            fast.UsageError: (2, ValueError),
            fast.DataError: (3, ValueError),
            fast.FileError: (4, OSError),
            fast.NetworkError: (5, OSError),
            fast.RefusedError: (6, ConnectionError),
            fast.NonFiniteError: (7, ArithmeticError),
            fast.ModelError: (9, TypeError),
            fast.DeadlineError: (10, TimeoutError),
            fast.FastError: (1, RuntimeError),
        }
        for kind, (code, base) in bases.items():
            self.assertEqual(kind.exit_code, code)
            self.assertTrue(issubclass(kind, base))
            self.assertTrue(issubclass(kind, fast.FastError))
            self.assertEqual(str(kind("cause; remedy")), "cause; remedy")

    def test_an_address_that_is_in_use(self):
        with fast.Session(numbers(1), topology="ring:2", rank=0, start_deadline=0.1) as first:
            first.stop()
            address = first.endpoint().split("//")[1]
            with self.assertRaises(fast.NetworkError):
                fast.Session(numbers(1), topology="ring:2", rank=0, listen=address)

    def test_a_file_that_cannot_be_written(self):
        with fast.Session(numbers(1)) as session, self.assertRaises(fast.FileError):
            session.save_model("/proc/nowhere/model.safetensors")

    def test_other_initial_weights_are_those_of_rank_0(self):
        models = [numbers(1, 2), numbers(3, 0.1)]
        sessions = support.ring(models)
        support.together([session.join for session in sessions])
        found = [session.status() for session in sessions]
        self.assertEqual([one.initial_from for one in found], [None, 0])
        self.assertEqual([one.joined_from for one in found], [None, None])
        self.assertEqual([list(model) for model in models], [[1, 2], [1, 2]])
        for session in sessions:
            session.close()

    def test_other_initial_weights_are_refused_where_they_must_be_the_same(self):
        sessions = support.ring([numbers(1, 2), numbers(1, 3)], initial="same")
        refused = []

        def join(session):
            try:
                session.join()
            except fast.RefusedError as error:
                refused.append(error.exit_code)
            for one in sessions:  # the end that refuses need not be refused too
                one.stop()

        support.together([lambda one=one: join(one) for one in sessions])
        for session in sessions:
            session.close()
        self.assertIn(6, refused)

    def test_a_deadline_in_lock_step(self):
        with self.assertRaises(fast.DeadlineError):
            fast.join(numbers(1), topology="ring:2", rank=0, mode="sync", start_deadline=0.1)

    def test_a_loss_that_is_no_number_is_counted_and_left_out(self):
        with fast.join(numbers(1)) as session:
            for loss in (2.0, float("nan"), float("inf")):
                session.exchange(samples=1, loss=loss)
            self.assertEqual(session.counters()["non_finite_losses"], 2)
            self.assertEqual(session.loss(), 2)

    def test_a_loss_that_is_not_given_is_shown_nowhere(self):
        with support.temporary_folder() as folder:
            with fast.join(numbers(1), out=folder) as session:
                session.exchange()
                self.assertTrue(math.isnan(session.loss()))
                self.assertEqual(session.counters()["non_finite_losses"], 0)
            lines = pathlib.Path(folder, "worker-0", "metrics.jsonl").read_text().splitlines()
        told = [json.loads(line) for line in lines]
        self.assertEqual([one["loss"] for one in told if one.get("loss") is not None], [])
        self.assertGreater(sum("samples" in one for one in told), 0)

    def test_parameters_that_are_no_numbers(self):
        x = numbers(1, 2)
        with self.assertRaises(fast.NonFiniteError), fast.join(x) as session:
            x[1] = float("nan")
            session.exchange(samples=1, loss=1)

    def test_arrays_that_cannot_be_exchanged(self):
        with self.assertRaises(fast.ModelError):
            fast.Session({"count": array.array("i", [1])})
        for bad in (b"12345678", "text", [1.0, 2.0], 3.5, array.array("H", [1])):
            with self.assertRaises(fast.UsageError, msg=bad):
                fast.Session({"x": bad})
        strided = memoryview(numbers(1, 2, 3, 4))[::2]
        with self.assertRaisesRegex(fast.UsageError, "contiguous"):
            fast.Session({"x": strided})

    def test_a_closed_session_says_so(self):
        session = fast.join(numbers(1))
        session.close()
        session.close()
        session.stop()
        with self.assertRaisesRegex(fast.UsageError, "closed"):
            session.exchange(samples=1, loss=1)


class Signals(unittest.TestCase):
    def test_ctrl_c_ends_a_wait(self):
        code, out, err = support.outcome(support.start("waiting", "usual"))
        self.assertEqual((code, out), (130, "done True\n"), err)
        self.assertIn("SIGINT: training ends where done() is asked for", err)

    def test_a_handler_of_the_user_may_interrupt_a_wait(self):
        code, out, err = support.outcome(support.start("waiting", "raises"))
        self.assertEqual(code, -signal.SIGINT, err)
        self.assertIn("interrupted True", out)

    def test_a_handler_of_the_user_may_raise_in_a_wait(self):
        code, _out, err = support.outcome(support.start("waiting", "exits"))
        self.assertEqual(code, 3, err)

    def test_a_handler_of_the_user_may_stop_the_session(self):
        code, out, err = support.outcome(support.start("waiting", "stops"))
        self.assertEqual((code, out), (0, "done True\n"), err)

    def test_a_handler_that_returns_does_not_end_the_wait(self):
        code, out, err = support.outcome(support.start("waiting", "ignores"))
        self.assertEqual((code, out), (0, "handled 3 the third\ndone True\n"), err)


class Ends(unittest.TestCase):
    def test_an_error_that_nobody_catches_gives_the_exit_code(self):
        for how, expected in (("usage", 2), ("early", 2), ("nan", 7), ("misspelt", 2)):
            code, _out, err = support.outcome(support.start("leaving", how))
            self.assertEqual(code, expected, err)
            self.assertIn("Traceback", err)
            self.assertNotIn("SystemExit", err)

    def test_the_interpreter_ends_without_finish(self):
        for how, expected in (("end", 0), ("error", 1), ("thread", 0)):
            code, _out, err = support.outcome(support.start("leaving", how))
            self.assertEqual(code, expected, err)
            self.assertNotIn("Fatal", err)

    def test_a_session_that_nobody_holds_is_closed(self):
        session = fast.join(numbers(1))
        handle = weakref.ref(session._handle)
        del session
        gc.collect()
        self.assertIsNone(handle())

    def test_an_error_in_the_block_skips_finish_and_tells_the_step(self):
        with self.assertRaises(LookupError) as caught, fast.join(numbers(1)) as session:
            session.exchange()
            raise LookupError
        self.assertIsNone(session.agreed)
        if hasattr(caught.exception, "add_note"):  # Python 3.11
            self.assertEqual(caught.exception.__notes__, ["worker 0 had made 1 steps"])
        with fast.join(numbers(1)) as session:
            pass
        self.assertTrue(session.agreed)

    def test_a_child_of_fork_cannot_use_it_and_harms_nothing(self):
        x = numbers(1)
        with fast.join(x) as session:
            child = os.fork()
            if child == 0:
                try:
                    session.exchange(samples=1, loss=1)
                except fast.UsageError as error:
                    session.close()
                    os._exit(7 if "fork" in str(error) else 1)
                os._exit(1)
            _pid, status = os.waitpid(child, 0)
            self.assertEqual(os.WEXITSTATUS(status), 7)
            session.exchange(samples=1, loss=1)
            self.assertEqual(session.steps(), 1)


class Pause(unittest.TestCase):
    def test_a_neighbour_that_will_come_back_is_paused(self):
        """A worker with a small allowance of data soon leaves for a while."""
        models = [numbers(1, 2), numbers(3, 4)]
        options = {"topology": "ring:2", "share_memory": "never", "sweeps": 4}
        first = fast.Session(models[0], rank=0, **options)
        second = fast.Session(
            models[1], rank=1, peers={0: first.endpoint()}, data_cap="100kB/hour", **options
        )
        seen = threading.Event()
        end = time.monotonic() + support.SECONDS

        def work(session):
            with session:
                while not seen.is_set() and time.monotonic() < end:
                    session.exchange(samples=1, loss=1)
                    if session is first and session.neighbours()[0].link == "paused":
                        seen.set()
                session.stop()

        support.together([lambda: work(first), lambda: work(second)])
        self.assertTrue(seen.is_set())


class Log(unittest.TestCase):
    def test_lines_go_to_the_logger(self):
        with (
            self.assertLogs("fast_training", "WARNING") as lines,
            fast.join(numbers(1), topology="ring:2", rank=1, start_deadline=0.1) as session,
        ):
            session.stop()
        self.assertTrue(
            any("worker 1: no neighbour (0) was reached" in line for line in lines.output)
        )


if __name__ == "__main__":
    unittest.main()
