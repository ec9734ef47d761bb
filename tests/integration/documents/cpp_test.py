"""The C++ and C of documents and headers, which the build has made programs of."""

import unittest

import support


class CppTest(unittest.TestCase):
    def run_program(self, topology, name, *arguments, **more):
        with support.folder() as where:
            command = [str(support.PROGRAMS / name), *arguments]
            return support.on_ranks(topology, command, where, **more)

    @unittest.skipUnless(support.TORCH, "this build has no LibTorch")
    def test_the_loop_of_the_first_page(self):
        self.run_program("torus:2x2", "embed_torch", "readme")

    @unittest.skipUnless(support.TORCH, "this build has no LibTorch")
    def test_the_header_of_the_trainer(self):
        self.run_program("ring:2", "embed_torch", "trainer")

    @unittest.skipUnless(support.TORCH, "this build has no LibTorch")
    def test_the_header_of_the_step_in_the_backward_pass(self):
        self.run_program("ring:2", "embed_torch", "overlap")

    @unittest.skipUnless(support.TORCH, "this build has no LibTorch")
    def test_the_header_of_a_scheduler(self):
        self.run_program("ring:2", "embed_torch", "schedule")

    @unittest.skipUnless(support.TORCH, "this build has no LibTorch")
    def test_the_header_of_a_sampler(self):
        self.run_program("ring:2", "embed_torch", "data")

    def test_the_header_of_a_session_and_where_its_options_come_from(self):
        out = self.run_program("ring:2", "embed_flat", FAST_BUDGET="20000")
        self.assertRegex(out, r"\[1\] rank 1")

    def test_the_header_of_the_c_library(self):
        self.run_program("ring:2", "embed_c")

    @unittest.skipUnless(support.DLIB, "this build has no dlib")
    def test_a_network_of_dlibs(self):
        self.run_program("ring:2", "embed_dlib", FAST_BUDGET="4000")
        self.run_program("ring:2", "embed_dlib", "header", FAST_BUDGET="4000")

    @unittest.skipUnless(support.TORCH, "this build has no LibTorch")
    def test_the_worker_program_of_ones_own(self):
        with support.folder() as where:
            program = str(support.PROGRAMS / "worker_main")
            job = "--model linear --data synthetic:200,100 --epochs 1 --topology ring:1 --out run"
            support.run([program, *job.split()], where)
            self.assertTrue((where / "run/worker-0/model.safetensors").exists())


if __name__ == "__main__":
    unittest.main()
