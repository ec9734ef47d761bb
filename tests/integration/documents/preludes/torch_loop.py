# What the loops of documents leave out: a small model, its data, and a step, where a line "..."
# stands for one.
# ruff: noqa: F401
import os

import fast_training
import fast_training as fast
import torch

torch.set_num_threads(1)
rank = int(os.environ["FAST_RANK"])
model = torch.nn.Linear(8, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
criterion = torch.nn.CrossEntropyLoss()
x = torch.randn(500, 8)
y = x[:, :4].argmax(1)


def step():
    global loss
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
