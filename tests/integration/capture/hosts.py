"""Hosts on one machine: network namespaces that a bridge joins."""

import contextlib
import os
import subprocess
from collections.abc import Iterator

_SECONDS = 60.0  # after which `ip` counts as hanging


def host(index: int) -> str:
    """The address of a host."""
    return f"10.214.1.{index}"


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, timeout=_SECONDS)


@contextlib.contextmanager
def namespaces(count: int) -> Iterator[list[str]]:
    """`count` of them, by name; the bridge is in another one.

    Throws OSError or CalledProcessError where they cannot be made here."""
    prefix = f"fs{os.getpid() % 100_000}"
    names = [f"{prefix}n{index}" for index in range(count)]
    with contextlib.ExitStack() as stack:
        for name in (prefix, *names):
            _ip("netns", "add", name)
            stack.callback(_ip, "netns", "del", name)
        _ip("-n", prefix, "link", "add", "bridge", "type", "bridge")
        _ip("-n", prefix, "link", "set", "bridge", "up")
        for index, name in enumerate(names):
            outside = f"o{index}"
            inside = ("peer", "name", "i", "netns", name)
            _ip("-n", prefix, "link", "add", outside, "type", "veth", *inside)
            _ip("-n", prefix, "link", "set", outside, "master", "bridge", "up")
            _ip("-n", name, "link", "set", "lo", "up")
            _ip("-n", name, "addr", "add", f"{host(index)}/16", "dev", "i")
            _ip("-n", name, "link", "set", "i", "up")
        yield names
