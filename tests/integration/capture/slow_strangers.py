"""Strangers and key holders whose bytes come a few at a time, and never to an end."""

import contextlib
import select
import socket
import threading
import time
from collections.abc import Callable

PATIENCE = 150.0  # seconds
PAUSE = 0.2  # seconds before each byte: a greeting takes thirteen


def drip(one: socket.socket, take: Callable[[], bytes]) -> None:
    """Sends a byte at a time of what `take` gives, until the worker hangs up."""
    end = time.monotonic() + PATIENCE
    one.setblocking(False)
    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
        while time.monotonic() < end:
            time.sleep(PAUSE)
            with contextlib.suppress(BlockingIOError):
                if not one.recv(4096):
                    return
            with contextlib.suppress(BlockingIOError):
                one.send(take()[:1])
        raise AssertionError("nobody hung up on a slow one")


def dialled(worker: tuple[str, int]) -> socket.socket:
    return socket.create_connection(worker, timeout=PATIENCE)


class Slow:
    """Does one slow thing to a worker on a thread of its own."""

    def __init__(self, what: Callable[[], None]) -> None:
        self.what = what
        self.failure: BaseException | None = None
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        try:
            self.what()
        except BaseException as failure:  # for wait()
            self.failure = failure

    def wait(self) -> None:
        self.thread.join()
        if self.failure is not None:
            raise self.failure


class GreetsSlowly(Slow):
    """As a stranger, with the greeting of one who wants CURVE."""

    def __init__(self, worker: tuple[str, int]) -> None:
        greeting = iter(b"\xff" + bytes(8) + b"\x7f\x03\x01CURVE" + bytes(48))
        far = dialled(worker)
        super().__init__(lambda: drip(far, lambda: bytes([next(greeting, 0)])))


class SlowWay(Slow):
    """Passes on one connection to a worker: as quickly as it can, and once it is slow a byte at a
    time."""

    def __init__(self, listener: socket.socket, worker: tuple[str, int]) -> None:
        self.listener, self.worker = listener, worker
        self.to_be_slow, self.is_slow = threading.Event(), threading.Event()
        super().__init__(self.pass_on)

    def pass_on(self) -> None:
        with self.listener.accept()[0] as near, dialled(self.worker) as far:
            ends = {near: far, far: near}
            while not self.to_be_slow.is_set():
                for one in select.select(list(ends), [], [], 0.01)[0]:
                    data = one.recv(65536)
                    if not data:
                        raise AssertionError("a key holder was hung up on before it was slow")
                    ends[one].sendall(data)
            self.is_slow.set()
            near.setblocking(False)
            drip(far, lambda: near.recv(1))

    def be_slow(self) -> None:
        """What is sent from now on is slow."""
        self.to_be_slow.set()
        self.is_slow.wait(PATIENCE)
