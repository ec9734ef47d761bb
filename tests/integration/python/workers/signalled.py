"""Trains until a signal comes, alone.

usage: signalled.py [error | child | again | deaf]  what it does at the end, or before
"""

import array
import os
import signal
import sys
import time

import fast_training as fast

how = sys.argv[1] if len(sys.argv) > 1 else ""
if how == "deaf":
    fast.session._DEAF_SECONDS = 0
x = array.array("f", [0.5])
with fast.join(x) as session:
    while how == "deaf" or not session.done():
        x[0] += 1
        session.exchange()
        if session.steps() == 10:
            print("under way", flush=True)
        if session.steps() == 10 and how == "child":
            told, tell = os.pipe()
            child = os.fork()
            if not child:
                os.write(tell, b"here")
                while True:  # has no session, and ends by the signal
                    time.sleep(1)
            os.read(told, 4)
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
