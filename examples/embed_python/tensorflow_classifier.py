"""A network in TensorFlow, without Keras: images of ten digits, of which each worker sees others.

python3 two_workers.py tensorflow_classifier.py     both workers learn 97 % of the images or more
"""

import sys

import numpy as np
import tensorflow as tf
from fast_training.tensorflow import join

digits = np.random.default_rng(1).random((10, 64), dtype="f")  # what they look like, 8 x 8
sizes = ((64, 32), (32, 10))
weights = [tf.Variable(tf.random.normal(size, stddev=0.1), name="weights") for size in sizes]
biases = [tf.Variable(tf.zeros(size[1]), name="bias") for size in sizes]
variables = [*weights, *biases]
velocities = [tf.Variable(tf.zeros_like(variable), name="velocity") for variable in variables]


def batch(random, size):
    labels = random.integers(0, 10, size)
    return digits[labels] + random.normal(0, 0.5, (size, 64)).astype("f"), labels


@tf.function
def scores_of(x):
    return tf.nn.relu(x @ weights[0] + biases[0]) @ weights[1] + biases[1]


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, scores_of(x))
        loss = tf.reduce_mean(losses)
    for one, velocity, gradient in zip(variables, velocities, tape.gradient(loss, variables)):
        velocity.assign(0.9 * velocity + gradient)
        one.assign_sub(0.05 * velocity)
    return loss


with join(variables, velocities, budget=100_000) as session:
    rank = session.status().rank
    random = np.random.default_rng(2 + rank)
    while not session.done():
        loss = step(*map(tf.constant, batch(random, 32)))
        session.exchange(samples=32, loss=loss)

x, y = batch(np.random.default_rng(0), 10_000)  # the same at both
accuracy = np.mean(scores_of(tf.constant(x)).numpy().argmax(1) == y)
print(f"worker {rank}: {accuracy:.1%} of unseen images")
sys.exit(0 if accuracy >= 0.97 else 1)
