"""A network in MXNet's Gluon: images of ten digits, of which each worker sees others.

python3 two_workers.py mxnet_classifier.py     both workers learn 97 % of the images or more
"""

import sys

import mxnet as mx
import numpy as np
from fast_training.mxnet import join
from mxnet import autograd, gluon

digits = np.random.default_rng(1).random((10, 64), dtype="f")  # what they look like, 8 x 8
mx.random.seed(1)  # equal initial weights at both workers
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Dense(32, "relu", in_units=64), gluon.nn.Dense(10, in_units=32))
net.initialize(mx.init.Xavier())
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05, "momentum": 0.9})
loss_of = gluon.loss.SoftmaxCrossEntropyLoss()


def batch(random, size):
    labels = random.integers(0, 10, size)
    return mx.nd.array(digits[labels] + random.normal(0, 0.5, (size, 64))), mx.nd.array(labels)


with join(net, trainer, budget=100_000) as session:
    rank = session.status().rank
    random = np.random.default_rng(2 + rank)
    while not session.done():
        x, y = batch(random, 32)
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(32)
        session.exchange(samples=32, loss=loss.mean().asscalar())
x, y = batch(np.random.default_rng(0), 10_000)  # the same at both
accuracy = (net(x).argmax(1) == y).mean().asscalar()
print(f"worker {rank}: {accuracy:.1%} of unseen images")
sys.exit(0 if accuracy >= 0.97 else 1)
