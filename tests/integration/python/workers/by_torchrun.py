"""A worker without any address, of whose rank torchrun tells. Prints its place and value.

usage: by_torchrun.py TOPOLOGY     two sessions, one after the other
"""

import array
import json
import sys

import fast_training as fast

found = []
for goal in (1, 2):
    x = array.array("f", [0.5])
    with fast.join(
        x, topology=sys.argv[1], budget=4000, settle_target=1e-6, wait_at_end=120
    ) as session:
        while not session.done():
            x[0] -= 0.2 * (x[0] - goal * session.status().rank)
            session.exchange()
        agreed = session.finish()
    status = session.status()
    found.append({"rank": status.rank, "workers": status.workers, "x": x[0], "agreed": agreed})
print(json.dumps(found))
