"""Ends without finish() and without close().

usage: leaving.py end | error | early | usage | misspelt | nan | thread
"""

import array
import sys
import threading

import fast_training as fast

if sys.argv[1] == "early":
    fast.join(array.array("f", [1.0]), "an optimizer")
session = fast.Session(array.array("f", [1.0]), topology="ring:2", rank=0, start_deadline=0.1)
session.join()
session.exchange(samples=1, loss=1.0)
if sys.argv[1] == "error":
    raise LookupError("of the user")
if sys.argv[1] == "usage":
    fast.Session(array.array("f", [1.0]), topolgy="ring:2")
if sys.argv[1] == "misspelt":
    sesion.join()  # noqa: F821
if sys.argv[1] == "nan":
    session.adapter.parameters["values"][0] = float("nan")
    session.exchange(samples=1, loss=1.0)
if sys.argv[1] == "thread":
    alone = fast.Session(array.array("f", [1.0]), topology="ring:2", rank=0, start_deadline=1000)
    threading.Thread(target=alone.join, daemon=True).start()
    while not alone._handle._in_use.locked():
        pass
print("left")
