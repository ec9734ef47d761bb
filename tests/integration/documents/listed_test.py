"""Every snippet is run by a test of this folder, or plan.py says why not."""

import pathlib
import re
import unittest

import plan
import support

HERE = pathlib.Path(__file__).parent


def named_by_tests():
    """The snippets whose names or files the tests and preludes of this folder contain."""
    sources = [*HERE.glob("*_test.py"), *(HERE / "preludes").iterdir()]
    text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    words = set(re.findall(r'"([^"\n]*)"', text))
    return {name for name, found in support.SNIPPETS.items() if {name, found.file} & words}


class ListedTest(unittest.TestCase):
    def test_each_snippet_runs_or_is_listed_with_a_reason(self):
        self.assertEqual(set(support.SNIPPETS), named_by_tests() | set(plan.NOT_RUN))

    def test_none_is_both(self):
        self.assertEqual(named_by_tests() & set(plan.NOT_RUN), set())

    def test_what_is_left_out_of_snippets_is_there(self):
        for name in plan.LEFT_OUT:
            support.lines_of(name)


if __name__ == "__main__":
    unittest.main()
