"""scikit-learn's MLPClassifier: images of ten digits, of which each worker sees others.

python3 two_workers.py sklearn_classifier.py     both workers learn 97 % of the images or more
"""

import sys

import numpy as np
from fast_training.sklearn import join
from sklearn.neural_network import MLPClassifier

first = np.random.default_rng(1)
digits = first.random((10, 64))  # what they look like, 8 x 8
model = MLPClassifier((32,), solver="sgd", learning_rate_init=0.02, batch_size=32, random_state=1)


def batch(random, size):
    labels = random.integers(0, 10, size)
    return digits[labels] + random.normal(0, 0.5, (size, 64)), labels


model.partial_fit(*batch(first, 32), classes=range(10))  # the same at both: equal weights
with join(model, budget=100_000) as session:
    rank = session.status().rank
    random = np.random.default_rng(2 + rank)
    while not session.done():
        model.partial_fit(*batch(random, 32))
        session.exchange(samples=32, loss=model.loss_)

accuracy = model.score(*batch(np.random.default_rng(0), 10_000))  # the same at both
print(f"worker {rank}: {accuracy:.1%} of unseen images")
sys.exit(0 if accuracy >= 0.97 else 1)
