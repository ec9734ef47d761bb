"""A block of a few steps, placed by variables; then goes on, or ends as it is asked to.

usage: block.py end | error
"""

import array
import sys

import fast_training as fast

x = array.array("f", [1.0])
with fast.join(x, start_deadline=0.1, settle_deadline=0.1) as session:
    for _ in range(3):
        session.exchange(samples=1, loss=1.0)
if sys.argv[1] == "error":
    raise LookupError("of the user")
print("went on")
