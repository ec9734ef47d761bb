"""The commands of documents, the projects that they speak of, and the spec of a comparison."""

import os
import re
import shutil
import sys
import unittest

import support

COMPARE = (support.BUILD / "bin/fast-compare").exists()
MAIN = """
#include "adapters/flat/flat_adapter.h"
#include "fast/session/session.h"
#include "fast/version.h"
#include <cstdio>
int main() {
  std::vector<float> model(10);
  fast::FlatAdapter adapter(model);
  fast::Session session(adapter, {.budget = 1});
  session.exchange({.samples = 1, .loss = 0});
  std::puts(FAST_VERSION);
  return session.finish() == fast::Agreement::kAgreed ? 0 : 1;
}
"""


class RunsTest(unittest.TestCase):
    def setUp(self):
        self.where = self.enterContext(support.folder())

    def test_training_on_real_data_of_the_first_page(self):
        support.write_cifar10(self.where / "DIR")
        (self.where / "build").symlink_to(support.BUILD)
        text = support.lines_of("README.md:sh:1")
        if not support.TORCH:
            text = support.replaced(text, {"resnet8": "linear"})
        support.shell(text, self.where)
        self.assertTrue((self.where / "runs/first/report.html").exists())

    def test_a_program_on_four_ranks_of_this_machine(self):
        environment = self.where / "env/bin"
        environment.mkdir(parents=True)
        (environment / "fast").symlink_to(support.BUILD / "bin/fast")
        (environment / "python").symlink_to(sys.executable)
        loop = (support.PRELUDES / "torch_loop.py").read_text(encoding="utf-8")
        train = loop + support.SNIPPETS["README.md:python:1"].code
        (self.where / "train.py").write_text(train, encoding="utf-8")
        support.shell(support.lines_of("README.md:sh:2"), self.where, HOME=str(self.where))

    @unittest.skipUnless(support.TORCH, "this build has no LibTorch")
    def test_a_model_and_data_of_ones_own_and_back_in_pytorch(self):
        programs = self.where / "programs"
        programs.mkdir()
        (programs / "fast").symlink_to(support.BUILD / "bin/fast")
        (programs / "python3").symlink_to(sys.executable)
        shutil.copy(support.ROOT / "examples/own_model/own_model.py", self.where)
        said = support.shell(
            support.lines_of("examples/own_model/README.md:sh:1"),
            self.where,
            PATH=f"{programs}:{os.environ['PATH']}",
        )
        right = re.search(r"(\d+\.\d+)% of the test points are told right", said)
        self.assertGreater(float(right.group(1)), 80)

    @unittest.skipUnless(support.TORCH, "this build has no LibTorch")
    def test_a_worker_program_with_a_model_and_data_of_its_own(self):
        (self.where / "build").mkdir()
        (self.where / "build/own_worker").symlink_to(support.BUILD / "bin/own_worker")
        said = support.shell(support.lines_of("examples/own_worker/README.md:sh:1"), self.where)
        loss = re.search(r"(\S+) test loss", said)
        self.assertLess(float(loss.group(1)), 0.05)
        again = support.run(
            [
                "fast",
                "report",
                "runs/latest",
                "--out",
                "again",
                "--worker-program",
                "build/own_worker",
            ],
            self.where,
        )
        self.assertIn(f"{loss.group(1)} test loss", again)

    def test_a_program_of_ones_own_with_restarts_and_a_report(self):
        (self.where / "train").symlink_to(support.PROGRAMS / "embed_flat")
        support.shell(
            support.lines_of("fast/session/README.md:sh:1"), self.where, FAST_BUDGET="40000"
        )
        self.assertTrue((self.where / "runs/mine/mean.safetensors").exists())

    @unittest.skipUnless(COMPARE, "this build has no fast-compare")
    def test_comparisons_that_are_finished(self):
        (self.where / "bench").symlink_to(support.ROOT / "bench")
        (self.where / "build").symlink_to(support.BUILD)
        for name in ("README.md:sh:5", "bench/README.md:sh:1"):
            self.assertIn("stencil-async", support.shell(support.lines_of(name), self.where))

    @unittest.skipUnless(COMPARE, "this build has no fast-compare")
    def test_the_spec_of_a_comparison_is_understood(self):
        # All but its training, which takes a minute of an idle machine.
        shutil.copytree(support.ROOT / "bench/specs", self.where / "bench/specs")
        spec = self.where / "bench/specs/slow-int8.toml"
        spec.write_text(support.SNIPPETS["bench/README.md:toml:1"].text, encoding="utf-8")
        command = ["fast-compare", str(spec), "--finished", "--cells", "cells", "--out", "out"]
        with self.assertRaisesRegex(AssertionError, "slow-int8: no cell was finished"):
            support.run(command, self.where)


class InstalledTest(unittest.TestCase):
    """An installed tree, and projects that use it."""

    def setUp(self):
        self.where = self.enterContext(support.folder())
        (self.where / "build").symlink_to(support.BUILD)
        configure, install = support.lines_of("README.md:sh:3").splitlines()
        self.configure = configure
        support.shell(install, self.where, HOME=str(self.where))
        self.prefix = self.where / "fast-training"

    def test_what_the_first_page_configures(self):
        own = {"cmake -S . -B build": f"cmake -S {support.ROOT} -B configured"}
        if not support.TORCH:
            own["-DFAST_BUILD_PROGRAMS=OFF"] = "-DFAST_BUILD_PROGRAMS=OFF -DFAST_WITH_TORCH=OFF"
        said = support.shell(support.replaced(self.configure, own), self.where)
        self.assertNotIn("not used by the project", said)

    def test_a_project_of_ones_own(self):
        lines = support.SNIPPETS["fast/README.md:cmake:1"].code
        if not support.TORCH:
            lines = support.replaced(lines, {" COMPONENTS torch": "", " fast::torch": ""})
        head = "cmake_minimum_required(VERSION 3.22)\nproject(mine LANGUAGES C CXX)\n"
        find, link = lines.splitlines()
        (self.where / "CMakeLists.txt").write_text(
            f"{head}{find}\nadd_executable(mine main.cc)\n{link}\n"
            "target_link_libraries(mine PRIVATE fast::flat)\n",
            encoding="utf-8",
        )
        (self.where / "main.cc").write_text(MAIN, encoding="utf-8")
        options = f"-G Ninja -DCMAKE_PREFIX_PATH={self.prefix}"
        support.shell(
            f"cmake -S . -B mine {options} && cmake --build mine && mine/mine", self.where
        )

    def test_a_program_in_c_by_pkg_config(self):
        shutil.copy(support.ROOT / "examples/embed_c/embed_c.c", self.where)
        config = next(self.prefix.rglob("fast.pc")).parent
        support.shell(
            support.lines_of("adapters/README.md:sh:1") + "\n./a.out",
            self.where,
            PKG_CONFIG_PATH=str(config),
            LD_LIBRARY_PATH=str(config.parent),
        )


class LikeOthersTest(unittest.TestCase):
    def test_the_models_of_a_framework_are_named_as_those_of_flat_are(self):
        lines = support.SNIPPETS["adapters/README.md:cmake:1"].code.replace("NAME", "flat")
        file = support.ROOT / "adapters/flat/models/CMakeLists.txt"
        self.assertIn(lines, file.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
