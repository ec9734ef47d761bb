"""A worker that trains a small network on its own shard of generated data, with PyTorch.

Options come from the environment. Prints the accuracy on common data.
"""

import json

import fast_training as fast
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(1)
teacher = torch.randn(16, 4)
model = nn.Sequential(nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)


def batch(size):
    x = torch.randn(size, 16)
    return x, (x @ teacher).argmax(1)


with fast.join(model, optimizer, budget=60000, settle_target=1e-5) as session:
    torch.manual_seed(2 + session.status().rank)
    while not session.done():
        x, y = batch(32)
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        session.exchange(samples=len(x), loss=loss)
    agreed = session.finish()
torch.manual_seed(9)
x, y = batch(2000)
model.eval()
accuracy = (model(x).argmax(1) == y).float().mean().item()
print(json.dumps({"accuracy": accuracy, "agreed": agreed, "bias": model[3].bias.tolist()}))
