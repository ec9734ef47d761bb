"""The programs of examples/known_programs learn, on two ranks and by DDP, and its table is true."""

import re
import sys
import unittest

import support

FOLDER = support.ROOT / "examples/known_programs"
PROGRAMS = ("mnist", "word_language_model", "gan")


class KnownProgramsTest(unittest.TestCase):
    def test_each_learns_on_two_ranks(self):
        command = support.lines_of("examples/known_programs/README.md:sh:1")
        for name in PROGRAMS:
            with self.subTest(name), support.folder() as where:
                own = {"python3": sys.executable, "mnist.py": str(FOLDER / f"{name}.py")}
                support.shell(support.replaced(command, own), where)
                self.assertTrue((where / f"{name}.pt").exists())

    def test_each_learns_by_ddp(self):
        # One process: Debian's torchrun does not run with its Python.
        alone = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
        for name in PROGRAMS:
            with self.subTest(name), support.folder() as where:
                support.run([sys.executable, str(FOLDER / f"{name}_ddp.py")], where, **alone)

    def test_the_table_counts_their_lines(self):
        table = (FOLDER / "README.md").read_text("utf-8")
        for name in PROGRAMS:
            counted = tuple(
                (FOLDER / file).read_text("utf-8").count(mark)
                for file, mark in ((f"{name}.py", "  # FAST"), (f"{name}_ddp.py", "  # DDP"))
            )
            said = re.search(rf"\({name}\.py\).*\| (\d+) \| (\d+) \|", table)
            self.assertEqual(tuple(map(int, said.groups())), counted, name)


if __name__ == "__main__":
    unittest.main()
