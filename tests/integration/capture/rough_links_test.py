#!/usr/bin/env python3
"""Two workers over links as they are out there: each case a path of its own.

usage: rough_links_test.py FAST_WORKER [TESTS]
"""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable

from rough_path import RoughPath

PATIENCE = 150.0  # seconds
PORT = 5555
CUT = float(
    os.environ.get("FAST_CUT_SECONDS", "6")
)  # twice as long as until a neighbour is suspect
WORKER = ""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=60)


class Hosts:
    """Two hosts that a RoughPath joins, at 10.215.0.1 and .2."""

    def __init__(self) -> None:
        self.names = [f"rl{os.getpid() % 100_000}n{index}" for index in (0, 1)]
        with contextlib.ExitStack() as made:
            for name in self.names:
                ip("netns", "add", name)
                made.callback(ip, "netns", "del", name)
                ip("-n", name, "link", "set", "dev", "lo", "up")
            self.path = RoughPath((self.names[0], self.names[1]))
            made.callback(self.path.close)
            self.close = made.pop_all().close

    def address(self, rank: int, last: int = 0) -> str:
        return f"10.215.0.{last or rank + 1}"

    def raise_link(self, rank: int, last: int = 0) -> None:
        """Gives the host its address, with a route to all others."""
        address = f"{self.address(rank, last)}/24"
        ip("-n", self.names[rank], "addr", "add", address, "dev", RoughPath.DEVICE)
        ip("-n", self.names[rank], "link", "set", "dev", RoughPath.DEVICE, "up")

    def move(self, rank: int, last: int) -> None:
        ip("-n", self.names[rank], "addr", "flush", "dev", RoughPath.DEVICE)
        self.raise_link(rank, last)


class RoughLinks(unittest.TestCase):
    def setUp(self) -> None:
        try:
            self.hosts = Hosts()
        except (OSError, subprocess.CalledProcessError) as error:
            self.skipTest(f"no host can be made here: {error}")
        self.addCleanup(self.hosts.close)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.workers: list[subprocess.Popen[bytes]] = []
        self.addCleanup(self._end)

    def _end(self) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait()

    def start(self, rank: int, *words: str, transport: str = "zmq", peer: str = "") -> None:
        """Worker 1 dials worker 0, or `peer`, and is not dialled."""
        where = ["--listen", f"*:{PORT}"] if rank == 0 else []
        where += ["--peer", f"0={peer or self.hosts.address(0)}:{PORT}"] if rank == 1 else []
        with open(self.folder / f"log-{rank}", "wb") as log:
            self.workers.append(
                subprocess.Popen(
                    [
                        *("ip", "netns", "exec", self.hosts.names[rank], WORKER, *where, *words),
                        *("--topology", "ring:2", "--rank", str(rank), "--run-id", "rough"),
                        *("--insecure", "--transport", transport, "--out", str(self.folder)),
                        *("--model", "linear", "--data", "synthetic:512,128", "--threads", "1"),
                    ],
                    stdout=log,
                    stderr=subprocess.STDOUT,
                )
            )

    def log(self, rank: int) -> str:
        return (self.folder / f"log-{rank}").read_text()

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"{what}\n{self.log(0)}\n{self.log(1)}")
            time.sleep(0.1)

    def expect_agreement(self) -> None:
        for rank, worker in enumerate(self.workers):
            try:
                code = worker.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.fail(f"worker {rank} goes on\n{self.log(0)}\n{self.log(1)}")
            self.assertEqual(code, 0, f"worker {rank}\n{self.log(0)}\n{self.log(1)}")

    def raise_both(self) -> None:
        for rank in (0, 1):
            self.hosts.raise_link(rank)

    def test_a_long_way_that_loses_packets(self) -> None:
        """300 ms each way, 1 of 20 lost, 1 Mbit/s: they train, agree, and end well."""
        self.raise_both()
        self.hosts.path.delay, self.hosts.path.loss, self.hosts.path.mbit = 0.3, 0.05, 1.0
        for rank in (0, 1):
            self.start(rank, "--epochs", "20", "--slow", f"{rank}:10")
        self.expect_agreement()

    def test_a_path_that_drops_long_packets_is_named(self) -> None:
        self.raise_both()
        self.hosts.path.longest = 1200
        for rank in (0, 1):
            self.start(rank, "--epochs", "100000", "--slow", f"{rank}:50")
        line = "the path to it may drop large packets"
        self.wait_until(lambda: line in self.log(0) or line in self.log(1), "no word of it")
        self.assertIn("--packet-bytes 1200", self.log(0) + self.log(1))

    def test_packets_that_such_a_path_carries(self) -> None:
        for transport in ("zmq", "tcp"):
            with self.subTest(transport):
                if transport == "zmq":
                    self.raise_both()
                self.hosts.path.longest = 1200
                self.workers.clear()
                for rank in (0, 1):
                    self.start(
                        rank,
                        *("--epochs", "20", "--slow", f"{rank}:10", "--fresh"),
                        *("--packet-bytes", "1200"),
                        transport=transport,
                    )
                self.expect_agreement()

    def test_no_route_at_the_start(self) -> None:
        for rank in (0, 1):
            self.start(rank, "--epochs", "20", "--slow", f"{rank}:10")
        self.wait_until(lambda: "run folder" in self.log(0) + self.log(1), "no start")
        never = time.monotonic() + 3  # long enough to have been tried, and refused, often
        self.wait_until(lambda: time.monotonic() > never, "")
        self.raise_both()
        self.expect_agreement()

    def name(self, rank: int, address: str) -> None:
        """What the host calls "other"; nothing where there is no address."""
        folder = pathlib.Path("/etc/netns") / self.hosts.names[rank]
        if not folder.exists():
            folder.mkdir(parents=True)
            self.addCleanup(shutil.rmtree, folder)
        (folder / "hosts").write_text(f"{address} other\n" if address else "127.0.0.1 localhost\n")

    def test_a_name_that_is_known_later(self) -> None:
        self.raise_both()
        self.name(1, "")
        for rank in (0, 1):
            self.start(rank, "--epochs", "20", "--slow", f"{rank}:10", peer="other")
        self.wait_until(
            lambda: "'other'" in self.log(1) or "other:" in self.log(1), "no word of it"
        )
        self.name(1, self.hosts.address(0))
        self.expect_agreement()

    def test_hosts_whose_addresses_change(self) -> None:
        """First the one that dials, then the one that is dialled, by its name."""
        self.raise_both()
        self.name(1, self.hosts.address(0))
        for rank in (0, 1):
            self.start(rank, "--epochs", "100000", "--slow", f"{rank}:50", peer="other")
        self.wait_until(lambda: self.exchanged(1) > 0, "they never met")
        for rank, last in ((1, 7), (0, 9)):
            self.hosts.move(rank, last)
            if rank == 0:
                self.name(1, self.hosts.address(0, last))
            self.wait_for_averages(f"host {rank} moved, and was lost")

    def test_a_path_that_is_cut_for_a_while(self) -> None:
        self.raise_both()
        for rank in (0, 1):
            self.start(rank, "--epochs", "100000", "--slow", f"{rank}:50")
        self.wait_until(lambda: self.exchanged(1) > 0, "they never met")
        self.hosts.path.up = False
        self.wait_until(lambda: "is suspect" in self.log(0) + self.log(1), "nobody noticed")
        until = time.monotonic() + CUT
        self.wait_until(lambda: time.monotonic() > until, "")
        self.hosts.path.up = True
        self.wait_for_averages("they never met again")

    def wait_for_averages(self, why: str) -> None:
        before = self.exchanged(1)
        self.wait_until(lambda: self.exchanged(1) > before + 20, why)

    def exchanged(self, rank: int) -> int:
        """Sweeps with its neighbour so far, as its metrics tell."""
        file = self.folder / f"worker-{rank}" / "metrics.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []
        told = [line for line in lines if line.startswith('{"kind":"progress"')]
        return int(json.loads(told[-1])["neighbours"][0]["sweeps"]) if told else 0


if __name__ == "__main__":
    WORKER = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
