#!/usr/bin/env python3
"""One worker: softmax regression on data of its own, held open until a file says that it may end.

Half of its budget used, it goes on exchanging, without steps of its own, for as long as the file is
not there. So whoever watches it has as long as it takes, however quick the machine is. Prints its
counters, as JSON, when all agree.

usage: held_open.py RELEASE MODEL    RELEASE: that file; MODEL: where the model goes
"""

import json
import logging
import os
import pathlib
import sys
import time

import fast_training as fast
import numpy as np

FEATURES, CLASSES, EXAMPLES, BATCH = 64, 10, 500, 25
PASSES = 20


def examples(stream: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten overlapping clouds; `stream` 0 is the test set."""
    centres = np.random.default_rng(1).normal(size=(CLASSES, FEATURES))
    random = np.random.default_rng([2, stream])
    labels = random.integers(0, CLASSES, count)
    noise = random.normal(scale=4, size=(count, FEATURES))
    return (centres[labels] + noise).astype("f"), labels


def accuracy(weights: np.ndarray) -> float:
    """On the test set, a fraction."""
    inputs, labels = examples(0, 2000)
    return float(((inputs @ weights).argmax(1) == labels).mean())


def main() -> None:
    release, model = pathlib.Path(sys.argv[1]), sys.argv[2]
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(message)s")
    rank, workers = int(os.environ["FAST_RANK"]), int(os.environ["FAST_WORKERS"])
    inputs, labels = examples(1 + rank, EXAMPLES)
    targets = np.eye(CLASSES, dtype="f")[labels]
    weights = np.zeros((FEATURES, CLASSES), "f")
    with fast.Session({"weights": weights}, budget=PASSES * EXAMPLES * workers) as session:
        session.join()
        print("trains", flush=True)
        place, held = 0, True
        while not session.done():
            if held and session.progress() >= 0.5:
                held = not release.exists()
                session.exchange(samples=0)
                time.sleep(0.001)  # or it would compute nothing else
                continue
            rows = np.arange(place, place + BATCH) % EXAMPLES
            place += BATCH
            scores = inputs[rows] @ weights
            chance = np.exp(scores - scores.max(1, keepdims=True))
            chance /= chance.sum(1, keepdims=True)
            weights -= 0.01 * inputs[rows].T @ (chance - targets[rows]) / BATCH
            session.exchange(samples=BATCH)
        session.finish()
        session.save_model(model)
        found = {
            "counters": session.counters(),
            "agreed": session.agreed,
            "accuracy": accuracy(weights),
        }
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
