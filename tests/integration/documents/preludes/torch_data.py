# What the two loops side by side leave out: a model, its data, and how good it has become.
# ruff: noqa: F401
import torch
from torch.optim import SGD
from torch.utils.data import TensorDataset

torch.set_num_threads(1)
torch.manual_seed(1)
inputs = torch.randn(4000, 8)
labels = inputs[:, :4].argmax(1)
data = TensorDataset(inputs, labels)
criterion = torch.nn.CrossEntropyLoss()


def Net():
    return torch.nn.Linear(8, 4)


def accuracy(trained):
    return (trained(inputs).argmax(1) == labels).float().mean().item()
