"""The same by DistributedDataParallel, to be compared: torchrun mnist_ddp.py"""

import sys

import torch
import torch.distributed as dist  # DDP
from digits import data_set
from torch import nn
from torch.nn.parallel import DistributedDataParallel  # DDP
from torch.utils.data import DataLoader, DistributedSampler  # DDP

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
dist.init_process_group("gloo")  # DDP
train_data, test_data = data_set(4000, seed=1), data_set(1000, seed=2)
sampler = DistributedSampler(train_data)  # DDP
loader = DataLoader(train_data, 32, sampler=sampler)  # DDP
model = DistributedDataParallel(Net())  # DDP
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [2, 3], 0.3)
for epoch in range(EPOCHS):
    sampler.set_epoch(epoch)  # DDP
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    scheduler.step()
accuracy = test(model, test_data)
print(f"accuracy {accuracy:.1%}")
if dist.get_rank() == 0:  # DDP
    torch.save(model.module.state_dict(), "mnist.pt")  # DDP
dist.destroy_process_group()  # DDP
sys.exit(0 if accuracy >= 0.9 else 1)
