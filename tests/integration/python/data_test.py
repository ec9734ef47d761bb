"""ShardedSampler: who gets which examples, in which order, and where it goes on."""

import itertools
import os
import subprocess
import sys
import unittest
from unittest import mock

import fast_training as fast
import support
from fast_training.data import ShardedSampler


def samplers(workers, data=100, **options):
    return [ShardedSampler(data, rank=rank, workers=workers, **options) for rank in range(workers)]


class Parts(unittest.TestCase):
    def test_workers_share_out_all_examples_in_each_epoch(self):
        for workers, size in itertools.product((1, 3, 4), (1, 10, 100)):
            found = samplers(workers, size)
            for _ in range(3):
                parts = [list(one) for one in found]
                self.assertEqual(sorted(itertools.chain(*parts)), list(range(size)))
                self.assertEqual([len(part) for part in parts], [len(one) for one in found])
                self.assertLessEqual(max(map(len, parts)) - min(map(len, parts)), 1)

    def test_orders_differ_by_epoch_and_seed_and_come_again(self):
        def orders(**options):
            sampler = ShardedSampler(1000, rank=1, workers=2, **options)
            return [list(sampler) for _ in range(2)]

        first, second = orders(seed=7)
        self.assertNotEqual(first, second)
        self.assertNotEqual(set(first), set(second))  # another part, too
        self.assertNotEqual(first, sorted(first))
        self.assertEqual(orders(seed=7), [first, second])
        self.assertNotEqual(orders(seed=8)[0], first)

    def test_unshuffled_parts_stay(self):
        found = samplers(3, 10, shuffle=False)
        for _ in range(2):
            parts = [list(one) for one in found]
            self.assertEqual(list(itertools.chain(*parts)), list(range(10)))

    def test_parts_are_as_long_as_told(self):
        found = samplers(3, 100, shares=[0.5, 0, 1.5])
        self.assertEqual([len(list(one)) for one in found], [25, 0, 75])
        self.assertEqual(sorted(itertools.chain(*found)), list(range(100)))
        for tenths in itertools.product(range(1, 8), repeat=3):
            shares = [one / 10 for one in tenths]
            self.assertEqual(sum(len(one) for one in samplers(3, 1009, shares=shares)), 1009)

    def test_what_makes_no_sense_is_refused(self):
        for options in (
            {"rank": 1},
            {"rank": 2, "workers": 2},
            {"rank": 0, "workers": 2, "shares": [1]},
            {"rank": 0, "workers": 2, "shares": [1, -1]},
            {"rank": 0, "workers": 2, "shares": [0, 0]},
        ):
            with self.assertRaises(fast.UsageError):
                ShardedSampler(10, **options)
        with self.assertRaisesRegex(fast.UsageError, "-3 examples"):
            ShardedSampler(-3)


class Environment(unittest.TestCase):
    def found(self, **variables):
        with mock.patch.dict(os.environ, variables):
            sampler = ShardedSampler(range(10))
        return sampler.rank, sampler.workers, list(sampler)

    def test_rank_workers_and_seed_are_those_of_a_session(self):
        whole = self.found()
        self.assertEqual(whole[:2], (0, 1))
        for topology, workers in (
            ("ring:4", 4),
            ("torus:2x3", 6),
            ("grid:2x2x2:moore", 8),
            ("complete:5", 5),
        ):
            found = self.found(FAST_TOPOLOGY=topology, FAST_RANK="2")
            self.assertEqual(found[:2], (2, workers))
        self.assertNotEqual(self.found(FAST_SEED="7")[2], whole[2])
        self.assertEqual(self.found(FAST_SEED="1")[2], whole[2])

    def test_a_file_of_edges_is_read(self):
        with support.temporary_folder() as folder:
            path = f"{folder}/edges"
            with open(path, "w", encoding="utf-8-sig") as file:
                file.write("0 1  # the first\n\n1 4\n4 2\n2 3\n")
            found = self.found(FAST_TOPOLOGY=f"edges:{path}", FAST_RANK="3")
        self.assertEqual(found[:2], (3, 5))

    def test_a_rank_that_is_given_wins(self):
        with mock.patch.dict(os.environ, {"FAST_TOPOLOGY": "ring:4", "FAST_RANK": "2"}):
            sampler = ShardedSampler(10, rank=7, workers=9)
        self.assertEqual((sampler.rank, sampler.workers), (7, 9))

    def test_a_topology_without_a_rank_is_refused(self):
        with self.assertRaises(fast.UsageError):
            self.found(FAST_TOPOLOGY="ring:4")

    def test_no_framework_is_needed(self):
        code = (
            "import sys, fast_training.data as d; list(d.ShardedSampler(9)); "
            "sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=support.SECONDS)


class Resuming(unittest.TestCase):
    def sampler(self):
        return ShardedSampler(100, rank=1, workers=3)

    def test_it_goes_on_in_the_middle_of_an_epoch(self):
        whole = self.sampler()
        expected = [list(whole) for _ in range(3)]
        begun, resumed = self.sampler(), self.sampler()
        list(begun)
        read = list(itertools.islice(begun, 20))
        resumed.load_state_dict(begun.state_dict())
        self.assertEqual(resumed.state_dict(), begun.state_dict())
        self.assertEqual(read + list(resumed), expected[1])
        self.assertEqual(list(resumed), expected[2])

    def test_a_state_at_the_end_of_an_epoch_goes_on_with_the_next(self):
        begun, resumed = self.sampler(), self.sampler()
        list(begun)
        resumed.load_state_dict(begun.state_dict())
        self.assertEqual(list(resumed), list(begun))

    def test_what_was_read_ahead_is_not_left_out(self):
        begun, resumed = self.sampler(), self.sampler()
        begun.made(0)
        expected = list(itertools.islice(begun, 30))
        begun.made(8)
        begun.made(4)
        resumed.load_state_dict(begun.state_dict())
        self.assertEqual(list(resumed)[:18], expected[12:])
        resumed.made(8)  # of a life that is told so, too
        again = self.sampler()
        again.load_state_dict(resumed.state_dict())
        self.assertEqual(list(again)[:10], expected[20:])

    def test_an_epoch_that_a_trainer_sets_is_begun_but_a_place_in_it_stays(self):
        whole = self.sampler()
        epochs = [list(whole) for _ in range(3)]
        sampler = self.sampler()
        sampler.set_epoch(2)
        self.assertEqual(list(sampler), epochs[2])
        sampler.set_epoch(0)
        list(itertools.islice(sampler, 5))
        state = sampler.state_dict()
        sampler = self.sampler()
        sampler.load_state_dict(state)
        sampler.set_epoch(0)
        self.assertEqual(list(sampler), epochs[0][5:])

    def test_an_epoch_that_was_broken_off_is_over(self):
        whole, sampler = self.sampler(), self.sampler()
        list(whole)
        old = iter(sampler)
        next(old)
        self.assertEqual(list(sampler), list(whole))
        list(old)
        self.assertEqual(sampler.state_dict(), whole.state_dict())

    def test_a_state_of_other_data_is_refused(self):
        state = ShardedSampler(101, rank=1, workers=3).state_dict()
        with self.assertRaisesRegex(fast.UsageError, "101 examples.*100"):
            self.sampler().load_state_dict(state)


if __name__ == "__main__":
    unittest.main()
