"""Waits for a neighbour that never comes, until a signal that the process sends to itself.

usage: waiting.py usual | raises | exits | stops | ignores
"""

import array
import os
import signal
import sys
import threading

import fast_training as fast

what = sys.argv[1]
session = fast.Session(array.array("f", [1.0]), topology="ring:2", rank=0, start_deadline=1000)
signals = {"exits": signal.SIGTERM, "stops": signal.SIGUSR1, "ignores": signal.SIGUSR2}
sent = signals.get(what, signal.SIGINT)
handled = []


def handler(number, frame):
    handled.append(number)
    if what == "raises":
        raise KeyboardInterrupt
    if what == "exits":
        sys.exit(3)
    if what == "stops":
        session.stop()
    if what == "ignores" and len(handled) < 3:
        os.kill(os.getpid(), sent)  # and the wait goes on, in which this one comes
    elif what == "ignores":
        raise KeyError("the third")


def send():
    while not session._handle._in_use.locked():
        pass
    os.kill(os.getpid(), sent)


if what != "usual":
    signal.signal(sent, handler)
threading.Thread(target=send).start()
with session:
    try:
        session.join()
    except KeyError as error:
        print("handled", len(handled), error.args[0])
    except KeyboardInterrupt:
        print("interrupted", session.done())
        raise
    print("done", session.done())
    sys.exit(0)  # leaves the block by an error, so without finish()
