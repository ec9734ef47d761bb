"""A network in Chainer: images of ten digits, of which each worker sees others.

python3 two_workers.py chainer_classifier.py     both workers learn 97 % of the images or more
"""

import sys

import chainer
import numpy as np
from chainer import functions as F
from chainer import links as L
from fast_training.chainer import join

digits = np.random.default_rng(1).random((10, 64), dtype="f")  # what they look like, 8 x 8
np.random.seed(1)  # equal initial weights at both workers
model = chainer.Sequential(L.Linear(64, 32), F.relu, L.Linear(32, 10))
optimizer = chainer.optimizers.MomentumSGD(0.05).setup(model)


def batch(random, size):
    labels = random.integers(0, 10, size, dtype="i")
    return digits[labels] + random.normal(0, 0.5, (size, 64)).astype("f"), labels


with join(model, budget=100_000) as session:
    rank = session.status().rank
    random = np.random.default_rng(2 + rank)
    while not session.done():
        x, y = batch(random, 32)
        loss = F.softmax_cross_entropy(model(x), y)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        session.exchange(samples=32, loss=float(loss.array))
x, y = batch(np.random.default_rng(0), 10_000)  # the same at both
accuracy = np.mean(model(x).array.argmax(1) == y)
print(f"worker {rank}: {accuracy:.1%} of unseen images")
sys.exit(0 if accuracy >= 0.97 else 1)
