#!/usr/bin/env python3
"""What someone who sees all of a run's traffic learns from it: with keys, nothing.

Two workers train through a relay that keeps every byte of both directions. Without keys what was said
can be read there: that shows that the search finds what is there.

usage: captured_traffic.py FAST FAST_WORKER
"""

import contextlib
import json
import os
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PATIENCE = 60  # seconds
RUN_ID = "monday-evening-run"
FAST, FAST_WORKER = sys.argv[1:3] if len(sys.argv) > 2 else ("", "")


class Relay:
    """Passes connections on to a port, and keeps what passes."""

    def __init__(self, port):
        self.port, self.seen, self.over = port, bytearray(), False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def endpoint(self):
        return f"127.0.0.1:{self.listener.getsockname()[1]}"

    def run(self):
        other = {}
        while not self.over:
            readable, _, _ = select.select([self.listener, *other], [], [], 0.1)
            for one in readable:
                if one is self.listener:
                    near, far = one.accept()[0], socket.create_connection(("127.0.0.1", self.port))
                    other[near], other[far] = far, near
                elif one in other:
                    self.pass_on(one, other)
        for one in other:
            one.close()
        self.listener.close()

    def pass_on(self, one, other):
        try:
            data = one.recv(1 << 16)
            self.seen += data
            other[one].sendall(data)
        except OSError:
            data = b""
        if not data:
            for end in (one, other[one]):
                other.pop(end).close()

    def close(self):
        self.over = True
        self.thread.join()


def parameters(file):
    """The bytes of a model file's tensors, in pieces of eight: two neighbouring parameters each."""
    with open(file, "rb") as model:
        (size,) = struct.unpack("<Q", model.read(8))
        json.loads(model.read(size))
        values = model.read()
    return {values[at : at + 8] for at in range(0, len(values) - 8, 4)} - {bytes(8)}


def trained(folder, transport, keys):
    """Trains two workers through a relay; returns what passed it, and the parameters at the end."""
    run = os.path.join(folder, "run")
    common = [
        "--topology",
        "ring:2",
        "--run-id",
        RUN_ID,
        "--model",
        "linear",
        "--data",
        "synthetic:256,64",
        "--epochs",
        "4",
        "--threads",
        "1",
        "--out",
        run,
        "--quiet",
        "--share-memory",
        "never",
        "--transport",
        transport,
        *keys,
    ]
    with contextlib.ExitStack() as stack:

        def start(*arguments):
            worker = subprocess.Popen([FAST_WORKER, *common, *arguments], stderr=subprocess.PIPE)
            stack.callback(worker.stderr.close)
            stack.callback(worker.wait)
            stack.callback(worker.kill)
            return worker

        first = start("--rank", "0", "--listen", "127.0.0.1:0")
        told = os.path.join(run, "worker-0", "endpoint")
        until = time.monotonic() + PATIENCE
        while not os.path.exists(told) and first.poll() is None and time.monotonic() < until:
            with contextlib.suppress(subprocess.TimeoutExpired):
                first.wait(0.05)
        with open(told, encoding="utf-8") as file:
            relay = Relay(int(file.read().rsplit(":", 1)[1]))
        stack.callback(relay.close)
        second = start("--rank", "1", "--listen", "", "--peer", f"0={relay.endpoint()}")
        for worker in (first, second):
            code = worker.wait(PATIENCE)
            if code != 0:
                raise AssertionError(f"exit code {code}: {worker.stderr.read().decode()}")
        models = [os.path.join(run, f"worker-{rank}", "model.safetensors") for rank in (0, 1)]
        return bytes(relay.seen), parameters(models[0]) | parameters(models[1])


class CapturedTraffic(unittest.TestCase):
    def found(self, transport, with_keys):
        """Which of these can be read in the traffic: the run's id, its mode, its model."""
        with tempfile.TemporaryDirectory() as folder:
            keys = []
            if with_keys:
                keys = ["--keys", os.path.join(folder, "keys")]
                subprocess.run(
                    [FAST, "keys", "--out", keys[1], "--workers", "2"],
                    check=True,
                    stdout=subprocess.DEVNULL,
                    timeout=PATIENCE,
                )
            seen, values = trained(folder, transport, keys)
        self.assertGreater(len(seen), 100_000, "hardly anything passed the relay")
        read = {seen[at : at + 8] for at in range(len(seen) - 8)}
        return {
            "run": RUN_ID.encode() in seen,
            "mode": b"async" in seen,
            "model": bool(values & read),
        }

    def test_with_keys_nothing_can_be_read(self):
        for transport in ("zmq", "tcp"):
            with self.subTest(transport):
                self.assertEqual(
                    self.found(transport, True), {"run": False, "mode": False, "model": False}
                )

    def test_without_keys_all_of_it_can(self):
        for transport in ("zmq", "tcp"):
            with self.subTest(transport):
                self.assertEqual(
                    self.found(transport, False), {"run": True, "mode": True, "model": True}
                )


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
