"""A worker whose options come from the environment alone. Prints its rank and value at the end.

usage: by_environment.py [BUDGET]
"""

import array
import json
import sys

import fast_training as fast

x = array.array("f", [0.5])
budget = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
with fast.join(x, budget=budget, settle_target=1e-6) as session:
    rank = session.status().rank
    while not session.done():
        x[0] -= 0.2 * (x[0] - rank)
        session.exchange(samples=1, loss=0.5)
        if session.steps() == 20:
            print("under way", flush=True)
    session.finish()
    print(json.dumps({"rank": rank, "x": x[0], "steps": session.steps()}))
