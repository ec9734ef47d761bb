"""The same by DistributedDataParallel, to be compared: torchrun gan_ddp.py"""

import sys

import torch
import torch.distributed as dist  # DDP
from torch import nn
from torch.nn.parallel import DistributedDataParallel  # DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset  # DDP

NOISE, BATCH, EPOCHS = 4, 64, 25


def ring(count):
    angle = 2 * torch.pi * torch.rand(count)
    points = torch.stack([angle.cos(), angle.sin()], 1)
    return TensorDataset(points + 0.05 * torch.randn(count, 2))


def network(inputs, outputs):
    return nn.Sequential(
        *(nn.Linear(inputs, 48), nn.LeakyReLU(0.2)),
        *(nn.Linear(48, 48), nn.LeakyReLU(0.2), nn.Linear(48, outputs)),
    )


def judged(points, label):
    return nn.functional.binary_cross_entropy_with_logits(
        discriminator(points), torch.full((len(points), 1), label)
    )


torch.set_num_threads(1)
torch.manual_seed(1)
dist.init_process_group("gloo")  # DDP
data = ring(4096)
sampler = DistributedSampler(data)  # DDP
loader = DataLoader(data, BATCH, sampler=sampler)  # DDP
generator = DistributedDataParallel(network(NOISE, 2))  # DDP
discriminator = DistributedDataParallel(network(2, 1))  # DDP
of_generator = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
of_discriminator = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
for epoch in range(EPOCHS):
    sampler.set_epoch(epoch)  # DDP
    for (real,) in loader:
        drawn = generator(torch.randn(len(real), NOISE))
        of_discriminator.zero_grad()
        loss = judged(real, 0.9) + judged(drawn.detach(), 0.0)
        loss.backward()
        of_discriminator.step()
        of_generator.zero_grad()
        judged(drawn, 1.0).backward()
        of_generator.step()
with torch.no_grad():
    radius = generator(torch.randn(2000, NOISE)).norm(dim=1)
print(f"radius {radius.mean():.2f} +- {radius.std():.2f}")
if dist.get_rank() == 0:  # DDP
    torch.save(generator.module.state_dict(), "gan.pt")  # DDP
dist.destroy_process_group()  # DDP
sys.exit(0 if abs(radius.mean() - 1) < 0.2 and radius.std() < 0.35 else 1)
