"""Trains until a signal comes, alone.

usage: signalled.py [error | child | again]     what it does when training has ended, or before
"""

import array
import os
import signal
import sys
import time

import fast_training as fast

how = sys.argv[1] if len(sys.argv) > 1 else ""
x = array.array("f", [0.5])
with fast.join(x) as session:
    while not session.done():
        x[0] += 1
        session.exchange()
        if session.steps() == 10:
            print("under way", flush=True)
        if session.steps() == 10 and how == "child":
            child = os.fork()
            if not child:
                while True:  # has no session, and ends by the signal
                    time.sleep(1)
            os.kill(child, signal.SIGTERM)
            print("child ended by", os.waitpid(child, 0)[1], flush=True)
            break
    print("done", flush=True)
    if how == "error":
        raise LookupError("of the user")
    if how == "again":
        time.sleep(1000)
    session.finish()
print("finished", session.agreed)
