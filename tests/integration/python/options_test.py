"""Options: their types and sentences, and the environment's."""

import array
import importlib.util
import inspect
import logging
import os
import pathlib
import types
import unittest
import unittest.mock

import fast_training as fast
import support
from fast_training._callbacks import demand_version
from fast_training._option_types import Options

PACKAGE = pathlib.Path(fast.__file__).parent


def numbers(*values):
    return array.array("f", values)


def maker():
    """make_option_types.py, where this is the tree and no installed package."""
    file = PACKAGE.parent / "make_option_types.py"
    if not file.exists():
        return None
    spec = importlib.util.spec_from_file_location("make_option_types", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Lists(unittest.TestCase):
    def test_types_are_those_of_the_librarys_list(self):
        with fast.Session(numbers(1)) as session:
            self.assertEqual(list(Options.__annotations__), list(session.options()))
        made = maker()
        if made is not None:
            self.assertEqual(
                made.text(), made.FILE.read_text(), "run adapters/python/make_option_types.py"
            )

    def test_signatures_and_documentation_name_each_option(self):
        for function in (fast.join, fast.Session, fast.Session.__init__, fast.rank, fast.workers):
            names = inspect.signature(function).parameters
            self.assertLessEqual(set(Options.__annotations__), set(names), function)
            documentation = function.__doc__ if function is not fast.Session else ""
            for name in () if function is fast.Session else Options.__annotations__:
                self.assertIn(f"\n{name}: ", documentation)

    def test_signatures_can_be_read(self):
        for function in (fast.join, fast.Session.__init__, fast.rank, fast.workers):
            shown = str(inspect.signature(function))
            self.assertNotIn("ForwardRef", shown)
            self.assertNotIn("'", shown, "annotations are shown without quotes")
            self.assertIn("topology: str | os.PathLike[str] | None = None", shown)
        self.assertIn("momentum_correction: float = 0.5", str(inspect.signature(fast.join)))


class Variables(unittest.TestCase):
    def test_those_of_no_option_are_named(self):
        variables = {"FAST_TOPOLGY": "ring:2", "FAST_CIFAR10": "there"}
        with (
            unittest.mock.patch.dict(os.environ, variables),
            self.assertLogs("fast_training", "INFO") as lines,
            fast.Session(numbers(1)),
        ):
            pass
        said = {line.getMessage().partition(": ")[2]: line.levelname for line in lines.records}
        near = "the variable FAST_TOPOLGY is no option's and says nothing"
        self.assertEqual(said[f"{near}; did you mean FAST_TOPOLOGY?"], "WARNING")
        self.assertEqual(said["the variable FAST_CIFAR10 is no option's and says nothing"], "INFO")

    def test_those_of_options_and_the_librarys_own_are_not(self):
        variables = {"FAST_MODE": "async", "FAST_LIBRARY": os.environ.get("FAST_LIBRARY", "")}
        with (
            unittest.mock.patch.dict(os.environ, variables),
            self.assertNoLogs("fast_training", "WARNING"),
            fast.join(numbers(1)),
        ):
            pass


class Versions(unittest.TestCase):
    def test_a_framework_that_is_too_old_is_named(self):
        for version, old in (("1.9.5", True), ("2.0.0", False), ("2.15.0+cpu", False)):
            module = types.SimpleNamespace(__name__="lightning", __version__=version)
            if not old:
                demand_version(module, (2, 0))
                continue
            with self.assertRaisesRegex(ImportError, r"lightning 1.9.5 is older than 2.0, .*-U"):
                demand_version(module, (2, 0))


class NoTopology(unittest.TestCase):
    def setUp(self):
        support.LOGGER.removeFilter(support.not_of_topology)
        self.addCleanup(support.LOGGER.addFilter, support.not_of_topology)

    def warnings(self, **options):
        with self.assertLogs("fast_training", "INFO") as logs:
            fast.Session(numbers(1), **options).close()
            logging.getLogger("fast_training").info("closed")
        return [one.getMessage() for one in logs.records if one.levelname == "WARNING"]

    def test_a_worker_that_will_be_alone_says_so(self):
        self.assertTrue(any("no topology is given" in line for line in self.warnings()))

    def test_one_that_is_meant_to_be_does_not(self):
        self.assertEqual(self.warnings(topology="ring:1"), [])
        with unittest.mock.patch.dict(os.environ, {"FAST_TOPOLOGY": "ring:1", "FAST_RANK": "0"}):
            self.assertEqual(self.warnings(), [])


class BeforeASession(unittest.TestCase):
    def test_rank_and_workers_are_those_that_it_will_have(self):
        with unittest.mock.patch.dict(os.environ, FAST_TOPOLOGY="torus:3x4", FAST_RANK="7"):
            self.assertEqual((fast.rank(), fast.workers()), (7, 12))
            self.assertEqual(fast.rank(rank=2), 2)
        self.assertEqual((fast.rank(), fast.workers()), (0, 1))
        self.assertEqual(fast.workers(topology="complete:5", rank=1), 5)
        with support.temporary_folder() as folder:
            edges = pathlib.Path(folder, "edges")
            edges.write_text("0 1\n1 2\n")
            self.assertEqual(fast.workers(topology=f"edges:{edges}", rank=0), 3)
        with self.assertRaisesRegex(fast.UsageError, "no rank"):
            fast.rank(topology="ring:3")

    def test_version_and_representation(self):
        self.assertRegex(fast.__version__, r"^\d+\.\d+\.\d+")
        self.assertIn("__version__", dir(fast))
        with fast.join(numbers(1), budget=4) as session:
            session.exchange()
            self.assertEqual(
                repr(session),
                "<fast_training.Session: rank 0 of 1 (ring:1), training, 1 steps, "
                "25 % of the budget>",
            )
        self.assertIn(", closed, 1 steps", repr(session))


if __name__ == "__main__":
    unittest.main()
