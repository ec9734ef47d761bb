"""PyTorch's example `mnist`, written anew: a convolutional network learns digits.

fast run --topology ring:2 -- python3 mnist.py       the lines marked FAST spread it over workers
"""

import sys

import fast_training as fast  # FAST
import torch
from digits import data_set
from fast_training.data import ShardedSampler  # FAST
from fast_training.schedule import by_progress, steps  # FAST
from torch import nn
from torch.utils.data import DataLoader

EPOCHS = 4


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(1, 12, 5)
        self.hidden = nn.Linear(12 * 16, 48)
        self.output = nn.Linear(48, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(nn.functional.relu(self.convolution(x)), 2)
        return self.output(nn.functional.relu(self.hidden(x.flatten(1))))


def test(model, data):
    model.eval()
    with torch.no_grad():
        images, labels = data.tensors
        return (model(images).argmax(1) == labels).float().mean().item()


torch.set_num_threads(1)
torch.manual_seed(1)
train_data, test_data = data_set(4000, seed=1), data_set(1000, seed=2)
loader = DataLoader(train_data, 32, sampler=ShardedSampler(train_data))  # FAST
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
with fast.join(model, optimizer, budget=EPOCHS * len(train_data)) as session:  # FAST
    scheduler = by_progress(optimizer, session, steps({0.5: 0.3, 0.75: 0.1}))  # FAST
    while not session.done():  # FAST
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            session.exchange(samples=len(x), loss=loss)  # FAST
            scheduler.step()
accuracy = test(model, test_data)
print(f"accuracy {accuracy:.1%}")
if fast.rank() == 0:  # FAST
    torch.save(model.state_dict(), "mnist.pt")
sys.exit(0 if accuracy >= 0.9 else 1)
