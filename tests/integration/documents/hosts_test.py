"""The snippets that speak of several machines: each worker in a network namespace of its own, in
which node0, first-machine .. are names, with its own key alone."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import support

sys.path.insert(0, str(support.ROOT / "tests/integration/capture"))
from hosts import host, namespaces

NEIGHBOURS = {0: (1, 2), 1: (0, 3), 2: (0, 3), 3: (1, 2)}  # on torus:2x2
# A program in a namespace, in which /etc/hosts is ours. Ends with its parent.
ENTER = 'mount --bind "$0" /etc/hosts && exec bash -euo pipefail -c "$1"'


class Hosts:
    """Machines by number, each with a folder of its own."""

    def __init__(self, folder: pathlib.Path, names: list[str], stack: contextlib.ExitStack) -> None:
        self.folder, self.names, self.stack = folder, names, stack
        lines = [f"{host(index)} node{index}" for index in range(len(names))]
        lines += ["127.0.0.1 localhost", f"{host(0)} first-machine"]
        self.table = folder / "hosts"
        self.table.write_text("\n".join(lines) + "\n", encoding="ascii")
        for index in range(len(names)):
            self.place(index).mkdir()

    def place(self, index: int) -> pathlib.Path:
        return self.folder / f"host-{index}"

    def give_keys(self, command: str) -> None:
        """`command` makes the keys; each host gets the public ones and its own."""
        support.shell(command, self.folder)
        for index in range(len(self.names)):
            keys = self.place(index) / "keys"
            keys.mkdir()
            for name in ("public.keys", f"rank-{index}.key"):
                copy = keys / name
                copy.write_bytes((self.folder / "keys" / name).read_bytes())
                copy.chmod(0o600)

    def start(self, index: int, text: str, **more: str) -> subprocess.Popen:
        """`text`, a shell's, on a host. Its output is in that host's folder."""
        with open(self.place(index) / "output", "ab") as output:
            process = subprocess.Popen(
                [
                    *("ip", "netns", "exec", self.names[index], "unshare", "--mount"),
                    *("bash", "-c", ENTER, str(self.table), text),
                ],
                cwd=self.place(index),
                env=support.environment(**more),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.stack.callback(self.kill, process)
        return process

    def kill(self, process: subprocess.Popen) -> None:
        """It and all that it has started, without a word."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(support.SECONDS)

    def output(self, index: int) -> str:
        return (self.place(index) / "output").read_text("utf-8")

    def end_well(self, processes: list[subprocess.Popen]) -> None:
        for index, process in enumerate(processes):
            if process.wait(support.SECONDS) != 0:
                said = "\n".join(map(self.output, range(len(self.names))))
                raise AssertionError(f"host {index} ended with {process.returncode}:\n{said}")


def wait_for(condition: object) -> None:
    until = time.monotonic() + support.SECONDS
    while not condition():
        if time.monotonic() > until:
            raise AssertionError("waited in vain")
        time.sleep(0.02)


class HostsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.stack = self.enterContext(contextlib.ExitStack())

    def hosts(self, count: int) -> Hosts:
        try:
            names = self.stack.enter_context(namespaces(count))
        except (OSError, subprocess.CalledProcessError) as error:
            self.skipTest(f"network namespaces cannot be made here: {error}")
        folder = self.stack.enter_context(support.folder())
        return Hosts(folder, names, self.stack)

    def test_standalone_workers_of_the_first_page(self) -> None:
        keys, worker, report = support.lines_of("README.md:sh:4").splitlines()
        hosts = self.hosts(4)
        hosts.give_keys(keys)
        data = hosts.folder / "cifar10"
        support.write_cifar10(data)
        processes = []
        for rank, (one, other) in NEIGHBOURS.items():
            own = {
                "--rank 0": f"--rank {rank}",
                "--peer 1=node1:5555 --peer 2=node2:5555": f"--peer {one}=node{one}:5555 "
                f"--peer {other}=node{other}:5555",
                "cifar10:/data/cifar10": f"cifar10:{data}",
            }
            command = support.replaced(worker, own)
            more = {"FAST_MODEL": "linear", "FAST_EPOCHS": "2", "FAST_THREADS": "1"}
            processes.append(hosts.start(rank, command, **more))
        hosts.end_well(processes)
        one_place = hosts.place(0)
        for rank in (1, 2, 3):
            (hosts.place(rank) / f"runs/first/worker-{rank}").rename(
                one_place / f"runs/first/worker-{rank}"
            )
        support.shell(report, one_place)
        self.assertTrue((one_place / "runs/first/mean.safetensors").exists())

    def test_many_hosts_one_of_which_is_killed_and_goes_on(self) -> None:
        keys, *rest = support.lines_of("fast/session/README.md:sh:2").splitlines()
        hosts = self.hosts(4)
        hosts.give_keys(keys)
        commands = [
            support.replaced(
                "\n".join(rest),
                {"FAST_RANK=2": f"FAST_RANK={rank}", "./train": f"{support.PROGRAMS}/embed_flat"},
            )
            for rank in range(4)
        ]
        # After 1,000 steps, all wait for the word to go on.
        more = {"FAST_BUDGET": "400000", "FAST_CHECKPOINT_EVERY": "0.001"}
        for rank in range(4):
            os.mkfifo(hosts.place(rank) / "go-on")
        processes = [hosts.start(rank, commands[rank], **more) for rank in range(4)]
        wait_for(lambda: (hosts.place(2) / "checkpoint-2.safetensors").exists())
        hosts.kill(processes[2])
        processes[2] = hosts.start(2, commands[2], **more)
        for rank in range(4):
            fifo = hosts.place(rank) / "go-on"
            writer = os.open(fifo, os.O_RDWR)  # which waits for no reader
            fifo.unlink()
            os.close(writer)
        hosts.end_well(processes)
        metrics = hosts.place(2) / "runs/first/worker-2/metrics.jsonl"
        self.assertIn("goes on from step", metrics.read_text("utf-8"))

    @unittest.skipUnless(support.TORCH, "this build has no LibTorch")
    def test_options_by_hand_of_the_first_page(self) -> None:
        hosts = self.hosts(4)
        hosts.give_keys(support.lines_of("README.md:sh:4").splitlines()[0])
        program = support.PROGRAMS / "embed_torch"
        hosts.end_well([hosts.start(rank, f"{program} by-hand {rank}") for rank in range(4)])

    def test_options_by_hand_of_the_c_library(self) -> None:
        hosts = self.hosts(2)
        hosts.give_keys("fast keys --out keys --workers 2")
        program = support.PROGRAMS / "embed_c"
        more = {"FAST_TOPOLOGY": "ring:2", "FAST_RANK": "0", "FAST_KEYS": "keys"}
        first = hosts.start(0, str(program), FAST_LISTEN="*:5555", **more)
        hosts.end_well([first, hosts.start(1, f"{program} by-hand")])

    def test_the_examples_between_two_machines(self) -> None:
        for program, peer in (("embed_c", "0="), ("embed_torch", "")):
            if program == "embed_torch" and not support.TORCH:
                continue
            with self.subTest(program), contextlib.ExitStack() as self.stack:
                hosts = self.hosts(2)
                hosts.give_keys("fast keys --out keys --workers 2")
                commands = (
                    f"{program} 0 '*:5555'",
                    f"{program} 1 '*:5555' {peer}first-machine:5555",
                )
                hosts.end_well([hosts.start(rank, line) for rank, line in enumerate(commands)])


if __name__ == "__main__":
    unittest.main()
