"""The sessions of this process: which takes the place of which, and what a signal ends."""

from __future__ import annotations

import logging
import os
import weakref
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ._options import with_number
from ._signals import Signals
from .errors import ALONE, CUT_OFF

if TYPE_CHECKING:
    from .session import Session

_LOGGER = logging.getLogger("fast_training")

#: What follows from an end without agreement.
OWN_MODEL = (
    ": the models that workers save now differ from one another. Of a run by 'fast run --out DIR', "
    "DIR/mean.safetensors is the mean of all; else take one worker's"
)

# Two sessions that have these options in common are one worker to its neighbours.
_PLACE = ("run_id", "topology", "rank", "listen", "peer", "peers", "peer_template")

_by_place: weakref.WeakValueDictionary[tuple[str, ...], Session] = weakref.WeakValueDictionary()
_by_owner: weakref.WeakValueDictionary[int, Session] = weakref.WeakValueDictionary()
_open: weakref.WeakSet[Session] = weakref.WeakSet()
_opened: Counter[tuple[str, str]] = Counter()  # by run id and rank, of a launcher's run


def run_of_launcher(given: Mapping[str, str]) -> tuple[str, str] | None:
    """Run id and rank where there is a launcher such as `fast run`, which starts one process for
    each rank; `given` are the options of arguments."""
    run_id = os.environ.get("FAST_RUN_ID", "")
    if not run_id:
        return None
    return run_id, given.get("rank", os.environ.get("FAST_RANK", ""))


def options_of_next(given: dict[str, str]) -> dict[str, str]:
    """The options of arguments, and those by which the second session of a launcher's run is a run
    of its own, which begins anew, and has files of its own."""
    run = run_of_launcher(given)
    if run is None or _opened[run] == 0:
        return given
    return with_number(given, os.environ, _opened[run] + 1)


def is_numbered(options: Mapping[str, str]) -> bool:
    """Whether the run id of a session with these options comes from a launcher, whose processes may
    be at different ones of their sessions."""
    run = run_of_launcher(options)
    return run is not None and options.get("run_id", run[0]).startswith(run[0])


def take_place(session: Session) -> None:
    """Ends the session that `session`, about to open, takes the place of: over the same model, or
    as the same worker, where a cell of a notebook is run again."""
    owner = session.adapter.owner
    options = {name: value for name, (value, _help) in session.options().items()}
    place = tuple(options[name] for name in _PLACE)
    if owner is not None:
        found = _by_owner.get(id(owner))
        if found is not None and found.adapter.owner is owner:
            _end(found, "over the same model")
        _by_owner[id(owner)] = session
    if not options["listen"].endswith(":0") or any(options[name] for name in _PLACE[-3:]):
        found = _by_place.get(place)
        if found is not None:
            _end(found, "of the same rank")
        _by_place[place] = session


def opened(session: Session, given: Mapping[str, str]) -> None:
    """`session` has opened, with `given` for arguments."""
    run = run_of_launcher(given)
    if run is not None:
        _opened[run] += 1
    _open.add(session)
    _signals.hear()


def ended_apart(session: Session) -> None:
    """The block of `session` has ended without agreement with its neighbours. A program that was
    placed by variables, as launchers do, then says so by its exit code, as fast-worker does."""
    if "FAST_TOPOLOGY" in os.environ:
        # SessionStatus::has_exchanged() of the library, by which the run's record tells the two.
        counters, copied = session.counters(), session.status().joined_from is not None
        met = copied or any(counters[n] for n in ("sweeps", "answers", "merges", "shares"))
        _signals.exit_by(CUT_OFF if met else ALONE)


def closed(session: Session) -> None:
    """`session` is no more."""
    _open.discard(session)
    if not _open:
        _signals.leave()


def _end(session: Session, what: str) -> None:
    if session not in _open:
        return
    level = logging.WARNING if session.agreed is None else logging.INFO
    _LOGGER.log(
        level, "worker %d: another session %s is opened; this one ends", session.status().rank, what
    )
    session.close(f"another session {what} has taken its place; go on with that one")


def _stop() -> bool:
    for session in list(_open):
        session.interrupt()
    return bool(_open)


_signals = Signals(_stop)
