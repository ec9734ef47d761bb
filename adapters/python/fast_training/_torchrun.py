"""How workers that torchrun has started find their neighbours: by the store at MASTER_ADDR.

Each writes its own endpoint there and reads those of its neighbours. None of the collectives of
torch.distributed is used, and nobody waits for all.
"""

from __future__ import annotations

import datetime
import functools
import ipaddress
import itertools
import logging
import os
import pathlib
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import NetworkError, UsageError

_LOGGER = logging.getLogger("fast_training")
_VARIABLES = ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE")
_ADDRESSES = ("peer", "peers", "peer_template")
_ANYWHERE = "127.0.0.1:0"  # the option listen where it is not given
_EVERY_SECONDS = 0.3
_CONNECT_SECONDS = 300.0  # without a start_deadline
_sessions = itertools.count()  # of this process, as of each other one


def meeting(options: Mapping[str, str], workers: int, given: Mapping[str, str]) -> Meeting | None:
    """Where a session of `options` meets its neighbours, if a launcher has told its rank and
    nothing its addresses. Raises UsageError where none of them could find another; `given` are the
    options of arguments."""
    by_launcher = "rank" not in given and not os.environ.get("FAST_RANK")
    known = any(options[name] for name in _ADDRESSES) or options["listen"] != _ANYWHERE
    if workers == 1 or not by_launcher or known:
        return None
    missing = [name for name in _VARIABLES if not os.environ.get(name)]
    if missing:
        raise UsageError(
            f"rank {options['rank']} of {workers} would train alone: no address of a neighbour is "
            f"known, and nobody knows where it listens ({_ANYWHERE}); give peers, or peer_template "
            "and listen, or start the program by fast run or torchrun"
        )
    return Meeting(float(options["start_deadline"]) or _CONNECT_SECONDS)


class Meeting:
    """Endpoints by way of the store, and a file of those that have come, which a session reads."""

    def __init__(self, seconds: float) -> None:
        """Connects, within `seconds`. Raises NetworkError."""
        host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
        self._address = _address_towards(host, port)
        self._store = _store_at(host, port, seconds)
        again = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        self._prefix = f"fast_training/{again}/{next(_sessions)}"
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="fast-torchrun-"))
        self._left = threading.Event()
        self._thread: threading.Thread | None = None

    def options(self) -> dict[str, str]:
        """What the session has to be set to."""
        here = os.environ.get("LOCAL_WORLD_SIZE") == os.environ["WORLD_SIZE"]
        alone = here or ipaddress.ip_address(self._address).is_loopback
        listen = {} if alone else {"listen": "*:0"}
        return {"peers": str(self._folder / "peers"), **listen}

    def begin(self, rank: int, endpoint: str, neighbours: Iterable[int]) -> None:
        """Shows others where this worker listens, and looks for its neighbours on a thread."""
        scheme, _, place = endpoint.partition("://")
        host, _, port = place.rpartition(":")
        if host != "127.0.0.1":  # a name, perhaps one that only this host knows
            host = f"[{self._address}]" if ":" in self._address else self._address
        try:
            self._store.set(f"{self._prefix}/{rank}", f"{scheme}://{host}:{port}")
            self._store.add(f"{self._prefix}/{rank}/is", 1)  # a number can be asked for at once
        except RuntimeError as error:
            raise NetworkError(
                f"whoever keeps the store at {os.environ['MASTER_ADDR']} has left ({error}); the "
                "run may be over: start all ranks again, together"
            ) from error
        self._thread = threading.Thread(target=self._look, args=(set(neighbours),), daemon=True)
        self._thread.start()

    def leave(self) -> None:
        """Looks for nobody any more."""
        self._left.set()
        if self._thread is not None:
            self._thread.join(1.0)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _look(self, missing: set[int]) -> None:
        found: dict[int, str] = {}
        try:
            while missing:
                here = {one for one in missing if self._store.add(f"{self._prefix}/{one}/is", 0)}
                found |= {one: self._store.get(f"{self._prefix}/{one}").decode() for one in here}
                missing -= here
                if here:
                    self._write(found)
                if self._left.wait(_EVERY_SECONDS):
                    return
        except RuntimeError as error:  # whoever keeps the store has left
            if not self._left.is_set():
                _LOGGER.warning("ranks %s are not found any more: %s", sorted(missing), error)

    def _write(self, found: Mapping[int, str]) -> None:
        written = self._folder / "written"
        written.write_text("".join(f"{rank} {place}\n" for rank, place in found.items()))
        written.replace(self._folder / "peers")


def _address_towards(host: str, port: int) -> str:
    """The address of this host on the way to another."""
    try:
        kind, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(kind, socket.SOCK_DGRAM) as way:  # which sends nothing
            way.connect(place)
            return str(way.getsockname()[0]).partition("%")[0]
    except OSError as error:
        raise NetworkError(
            f"MASTER_ADDR {host} cannot be found from here: {error}; give torchrun an address of "
            "its first host (--rdzv-endpoint or --master-addr), or the session its peers"
        ) from error


@functools.cache
def _store_at(host: str, port: int, seconds: float) -> Any:
    """The store, which stays for all sessions of this process: rank 0 may have made it."""
    try:
        from torch.distributed import TCPStore
    except ImportError as error:
        raise UsageError(
            f"without PyTorch MASTER_ADDR is of no use ({error}); give peers, or peer_template"
        ) from error
    agents = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    try:
        return TCPStore(
            host,
            port,
            is_master=not agents and os.environ["RANK"] == "0",
            timeout=datetime.timedelta(seconds=seconds),
            wait_for_workers=False,
            multi_tenant=True,  # as init_process_group() has it, if the program calls that
        )
    except (RuntimeError, OSError) as error:
        raise NetworkError(
            f"no store is at {host}:{port} (MASTER_ADDR, MASTER_PORT): {error}; start all ranks, "
            "or give the session its peers"
        ) from error
