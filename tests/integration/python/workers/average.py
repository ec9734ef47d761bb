"""A worker whose objective is |x - target|^2 / 2, over sockets alone.

usage: average.py RANK [ENDPOINT of 0]     prints its endpoint, and at the end its values
"""

import array
import json
import sys

import fast_training as fast

rank = int(sys.argv[1])
weights, bias = array.array("f", [0.5] * 4), array.array("d", [0.5])
session = fast.Session(
    {"weights": weights, "bias": bias},
    topology="ring:2",
    rank=rank,
    peers={0: sys.argv[2]} if rank else {},
    share_memory="never",
    mode="bounded:3",
    settle_target=1e-6,
    budget=20000,
)
print(session.endpoint(), flush=True)
with session:
    session.join()
    while not session.done():
        for values in (weights, bias):
            for i, value in enumerate(values):
                values[i] = value - 0.2 * (value - (i + 1) * (rank + 1))
        session.exchange(samples=10, loss=0.5)
    agreed = session.finish()
    neighbour = session.neighbours()[0]
    print(
        json.dumps(
            {
                "weights": list(weights),
                "bias": list(bias),
                "agreed": agreed,
                "progress": session.progress(),
                "loss": session.loss(),
                "steps": session.steps(),
                "shared": neighbour.shared,
                "other_grid": neighbour.other_grid,
                "sent": neighbour.bytes_sent,
            }
        )
    )
