"""Ranks of torchrun, which gives no addresses but that of its store."""

import os
import socket
import unittest
import unittest.mock

import fast_training as fast
import support
from fast_training import _torchrun

ALONE = {"RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}


def free_port():
    """A port that the store may have. Rank 0 binds it anew, as torchrun's does."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Torchrun(unittest.TestCase):
    def test_ranks_find_each_other_by_the_store(self):
        store = {"MASTER_ADDR": "localhost", "MASTER_PORT": free_port(), "WORLD_SIZE": 4}
        workers = [
            support.start("by_torchrun", "ring:4", RANK=rank, LOCAL_WORLD_SIZE=4, **store)
            for rank in range(4)
        ]
        found = support.reports(workers)
        for rank, sessions in enumerate(found):
            self.assertEqual([(s["rank"], s["workers"]) for s in sessions], [(rank, 4)] * 2)
            self.assertEqual([s["agreed"] for s in sessions], [True, True])
            for mine, others in zip(sessions, found[0]):
                self.assertAlmostEqual(mine["x"], others["x"], delta=0.05)

    def test_a_master_that_is_not_found_is_named(self):
        variables = {**ALONE, "MASTER_ADDR": "no-such-host.invalid", "MASTER_PORT": "1"}
        with (
            unittest.mock.patch.dict(os.environ, variables),
            self.assertRaisesRegex(fast.NetworkError, "MASTER_ADDR no-such-host.invalid cannot be"),
        ):
            fast.Session(b"", topology="ring:2")

    def test_one_that_nobody_keeps_is_named(self):
        variables = {**ALONE, "RANK": "1", "MASTER_ADDR": "localhost"}
        variables["MASTER_PORT"] = str(free_port())
        with (
            unittest.mock.patch.dict(os.environ, variables),
            self.assertRaisesRegex(fast.NetworkError, "no store is at localhost:"),
        ):
            fast.Session(b"", topology="ring:2", start_deadline=0.5)

    def test_between_hosts_all_interfaces_are_listened_to(self):
        variables = {**ALONE, "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": "localhost"}
        variables["MASTER_PORT"] = str(free_port())
        with unittest.mock.patch.dict(os.environ, variables):
            found = _torchrun.Meeting(10)
            self.assertNotIn("listen", found.options())  # the way to the master is loopback
            found._address = "192.0.2.7"
            self.assertEqual(found.options()["listen"], "*:0")
            found.begin(0, "zmq://name:5555", [])
            self.assertEqual(found._store.get(f"{found._prefix}/0"), b"zmq://192.0.2.7:5555")
            found.leave()


class WithoutAddresses(unittest.TestCase):
    def test_a_rank_that_would_train_alone_is_refused(self):
        for variables in ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, ALONE):
            with (
                unittest.mock.patch.dict(os.environ, variables),
                self.assertRaisesRegex(fast.UsageError, "rank . of 2 would train alone"),
            ):
                fast.Session(b"", topology="ring:2")

    def test_one_that_others_dial_is_not(self):
        with unittest.mock.patch.dict(os.environ, ALONE), support.temporary_folder() as folder:
            x = memoryview(bytearray(4)).cast("f")
            fast.Session(x, topology="ring:2", listen=f"ipc://{folder}/0").close()
            fast.Session(x, topology="ring:2", rank=0).close()


if __name__ == "__main__":
    unittest.main()
