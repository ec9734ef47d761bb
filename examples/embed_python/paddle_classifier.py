"""A network in PaddlePaddle: images of ten digits, of which each worker sees others.

python3 two_workers.py paddle_classifier.py     both workers learn 97 % of the images or more
"""

import sys

import numpy as np
import paddle
from fast_training.paddle import join
from paddle import nn

digits = np.random.default_rng(1).random((10, 64), dtype="f")  # what they look like, 8 x 8
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = paddle.optimizer.Momentum(0.05, 0.9, parameters=model.parameters(), use_nesterov=True)


def batch(random, size):
    labels = random.integers(0, 10, size)
    return digits[labels] + random.normal(0, 0.5, (size, 64)).astype("f"), labels


with join(model, optimizer, budget=100_000) as session:
    rank = session.status().rank
    random = np.random.default_rng(2 + rank)
    while not session.done():
        x, y = map(paddle.to_tensor, batch(random, 32))
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        session.exchange(samples=32, loss=loss)

x, y = batch(np.random.default_rng(0), 10_000)  # the same at both
accuracy = np.mean(model(paddle.to_tensor(x)).numpy().argmax(1) == y)
print(f"worker {rank}: {accuracy:.1%} of unseen images")
sys.exit(0 if accuracy >= 0.97 else 1)
