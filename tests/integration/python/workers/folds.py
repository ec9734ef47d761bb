"""Two sessions after each other, as for two folds. Options come from the environment.

usage: folds.py [WAITS]     where WAITS is given, the first is closed once a line has come
"""

import array
import json
import sys

import fast_training as fast

found = []
for fold in range(2):
    x = array.array("f", [0.0])
    with fast.Session(x, budget=400, settle_target=1e-6) as session:
        print("open", fold, flush=True)
        session.join()
        begun = x[0]
        while not session.done():
            x[0] -= 0.2 * (x[0] - fold - 1)
            session.exchange()
        agreed = session.finish()
        if fold == 0 and len(sys.argv) > 1:
            sys.stdin.readline()
    found.append({"begun": begun, "x": x[0], "agreed": agreed, "steps": session.steps()})
print(json.dumps(found))
