"""Softmax regression in PyTensor: images of ten digits, of which each worker sees others.

python3 two_workers.py pytensor_classifier.py     both workers learn 97 % of the images or more
"""

import sys

import numpy as np
import pytensor
import pytensor.tensor as pt
from fast_training.pytensor import join

digits = np.random.default_rng(1).random((10, 64), dtype="f")  # what they look like, 8 x 8
shapes = {"weights": (64, 10), "bias": (10,)}
shared = {name: pytensor.shared(np.zeros(shape, "f")) for name, shape in shapes.items()}
velocities = {name: pytensor.shared(np.zeros(shape, "f")) for name, shape in shapes.items()}
x, y = pt.fmatrix(), pt.lvector()
shares = pt.special.softmax(x @ shared["weights"] + shared["bias"], axis=1)
loss = -pt.log(shares[pt.arange(y.shape[0]), y]).mean()
updates = {}
for name, gradient in zip(shared, pt.grad(loss, list(shared.values()))):
    velocity = (0.9 * velocities[name] + gradient).astype("float32")
    updates[velocities[name]] = velocity
    updates[shared[name]] = (shared[name] - 0.05 * velocity).astype("float32")
mode = "FAST_COMPILE"  # so small a model is computed sooner than compiled
step = pytensor.function([x, y], loss, updates=updates, mode=mode)
digits_of = pytensor.function([x], shares.argmax(1), mode=mode)


def batch(random, size):
    labels = random.integers(0, 10, size)
    return (digits[labels] + random.normal(0, 0.5, (size, 64))).astype("f"), labels


with join(shared, velocities, budget=100_000) as session:
    rank = session.status().rank
    random = np.random.default_rng(2 + rank)
    while not session.done():
        session.exchange(samples=32, loss=step(*batch(random, 32)))

images, labels = batch(np.random.default_rng(0), 10_000)  # the same at both
accuracy = np.mean(digits_of(images) == labels)
print(f"worker {rank}: {accuracy:.1%} of unseen images")
sys.exit(0 if accuracy >= 0.97 else 1)
