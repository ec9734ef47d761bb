"""A convolutional network in PyTorch: images of ten digits, of which each worker sees others.

python3 two_workers.py torch_classifier.py     both workers learn 97 % of the images or more
"""

import sys

import fast_training as fast
import torch
from torch import nn

torch.manual_seed(1)  # the same digits at both workers
torch.set_num_threads(1)
digits = torch.rand(10, 1, 8, 8)
model = nn.Sequential(
    nn.Conv2d(1, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 36, 10)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, nesterov=True)


def batch(size):
    labels = torch.randint(10, (size,))
    return digits[labels] + 0.5 * torch.randn(size, 1, 8, 8), labels


with fast.join(model, optimizer, budget=60_000) as session:
    rank = session.status().rank
    torch.manual_seed(2 + rank)
    while not session.done():
        x, y = batch(32)
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        session.exchange(samples=len(x), loss=loss)
torch.manual_seed(0)  # the same images at both
x, y = batch(5_000)
accuracy = (model.eval()(x).argmax(1) == y).float().mean().item()
print(f"worker {rank}: {accuracy:.1%} of unseen images")
sys.exit(0 if accuracy >= 0.97 else 1)
