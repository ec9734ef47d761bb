"""A path between two hosts that delays, loses, throttles and drops packets, or carries none."""

import contextlib
import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import threading
import time

_TUNSETIFF = 0x400454CA
_TUN_WITHOUT_HEADERS = 0x0001 | 0x1000
_CLONE_NEWNET = 0x40000000


def _open_in(namespace: str, device: str) -> int:
    """The other end of a network device that is made in `namespace`."""
    opened: list[int] = []

    def enter() -> None:  # a thread of its own, since it stays there
        with open(f"/run/netns/{namespace}", "rb") as place:
            if ctypes.CDLL(None, use_errno=True).setns(place.fileno(), _CLONE_NEWNET) != 0:
                return
        tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(tun, _TUNSETIFF, struct.pack("16sH22x", device.encode(), _TUN_WITHOUT_HEADERS))
        opened.append(tun)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    if not opened:
        raise OSError(f"no network device can be made in {namespace}")
    return opened[0]


class RoughPath:
    """Carries packets between a device in each of two namespaces, in a thread of its own."""

    DEVICE = "rough"
    QUEUE = 0.5  # seconds of packets that wait for their turn at most, as in a router

    def __init__(self, namespaces: tuple[str, str], seed: int = 1) -> None:
        self.delay = 0.0  # seconds, each way
        self.loss = 0.0  # share of packets
        self.mbit = float("inf")  # each way
        self.longest = 1 << 16  # bytes; longer packets are dropped without a word
        self.up = True
        self.carried = [0, 0]  # bytes, from the one and from the other
        self._ends = [_open_in(name, self.DEVICE) for name in namespaces]
        self._random = random.Random(seed)
        self._wake, self._waker = os.pipe()
        self._thread = threading.Thread(target=self._carry)
        self._thread.start()

    def close(self) -> None:
        os.close(self._waker)
        self._thread.join()
        for end in (*self._ends, self._wake):
            os.close(end)

    def _carry(self) -> None:
        due: list[tuple[float, int, int, bytes]] = []  # when, number, to which end, what
        free = [0.0, 0.0]  # when the way from each end is free again
        number = 0
        while True:
            timeout = max(0.0, due[0][0] - time.monotonic()) if due else None
            ready, _, _ = select.select([*self._ends, self._wake], [], [], timeout)
            if self._wake in ready:
                return
            now = time.monotonic()
            for origin in (0, 1):
                if self._ends[origin] not in ready:
                    continue
                packet = os.read(self._ends[origin], 1 << 16)
                begin = max(now, free[origin])
                if (
                    not self.up
                    or len(packet) > self.longest
                    or begin - now > self.QUEUE
                    or self._random.random() < self.loss
                ):
                    continue
                free[origin] = begin + 8 * len(packet) / (1e6 * self.mbit)
                number += 1
                heapq.heappush(due, (free[origin] + self.delay, number, 1 - origin, packet))
                self.carried[origin] += len(packet)
            while due and due[0][0] <= now:
                _, _, to, packet = heapq.heappop(due)
                with contextlib.suppress(OSError):  # the device is down
                    os.write(self._ends[to], packet)
