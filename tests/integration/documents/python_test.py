"""The Python of documents and docstrings, by `fast run` on as many ranks as it says."""

import sys
import unittest

import support

LOOP = (support.PRELUDES / "torch_loop.py").read_text(encoding="utf-8")
AGREED = "\nassert session.agreed, session.status()\n"
# The two loops side by side: what both have before, and what both must have reached.
DATA = (support.PRELUDES / "torch_data.py").read_text(encoding="utf-8")
SHARDED = """
import fast_training as fast
from fast_training.data import ShardedSampler
from torch.utils.data import DataLoader

model = Net()
optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
"""
KEPT = """
with session:
    while not session.done():
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            session.exchange(samples=len(x), loss=loss)
    session.save_checkpoint(f"c-{fast.rank()}.safetensors")
"""
JUDGE = "\nassert accuracy(model) > 0.9, accuracy(model)\n"


def loop_of(name, replacements=None):
    code = support.SNIPPETS[name].code
    return LOOP + support.replaced(code, replacements or {}) + AGREED


class PythonTest(unittest.TestCase):
    def run_loop(self, name, replacements=None):
        with support.folder() as where:
            support.python_on_ranks("torus:2x2", loop_of(name, replacements), where)

    def test_the_loop_of_the_first_page(self):
        self.run_loop("README.md:python:1")

    def test_the_loop_of_adapters(self):
        self.run_loop("adapters/README.md:python:1")

    def test_the_loop_of_the_package(self):
        self.run_loop("adapters/python/fast_training/__init__.py:python:1")

    def test_the_loop_of_pytorch(self):
        self.run_loop("adapters/python/README.md:python:3")

    def test_a_schedule(self):
        self.run_loop("adapters/python/README.md:python:4")

    def test_a_scheduler_of_pytorch(self):
        self.run_loop("adapters/python/README.md:python:5")

    def test_mixed_precision_without_a_gpu(self):
        self.run_loop("adapters/python/README.md:python:6")

    def test_a_sampler_that_checkpoints_hold(self):
        code = support.SNIPPETS["adapters/python/README.md:python:7"].code
        with support.folder() as where:
            support.python_on_ranks("ring:2", DATA + SHARDED + code + KEPT + JUDGE, where)

    def test_ddp_beside_it(self):
        # One process: Debian's torchrun does not run with its Python.
        where = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0"}
        with support.folder() as folder:
            code = support.SNIPPETS["adapters/python/README.md:python:1"].code
            support.run([sys.executable, "-c", DATA + code + JUDGE], folder, **where)
            self.assertTrue((folder / "model.pt").exists())

    def test_the_same_by_fast(self):
        with support.folder() as where:
            code = support.SNIPPETS["adapters/python/README.md:python:2"].code
            support.python_on_ranks("ring:2", DATA + code + JUDGE, where)
            self.assertTrue((where / "model.pt").exists())

    def test_a_loop_with_a_misspelt_call_fails(self):
        with self.assertRaisesRegex(AssertionError, "exchnge"):
            self.run_loop("README.md:python:1", {"session.exchange": "session.exchnge"})


if __name__ == "__main__":
    unittest.main()
