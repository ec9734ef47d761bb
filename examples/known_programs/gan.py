"""PyTorch's example `dcgan`, written anew and small: two networks, each with its own optimizer.

fast run --topology ring:2 -- python3 gan.py       the lines marked FAST spread it over workers

The generator learns to draw points of a ring; the discriminator, to tell them from those of data.
"""

import sys

import fast_training as fast  # FAST
import torch
from fast_training.data import ShardedSampler  # FAST
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

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
data = ring(4096)
loader = DataLoader(data, BATCH, sampler=ShardedSampler(data))  # FAST
generator, discriminator = network(NOISE, 2), network(2, 1)
of_generator = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
of_discriminator = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
models, optimizers = [generator, discriminator], [of_generator, of_discriminator]  # FAST
with fast.join(models, optimizers, budget=EPOCHS * len(data)) as session:  # FAST
    while not session.done():  # FAST
        for (real,) in loader:
            drawn = generator(torch.randn(len(real), NOISE))
            of_discriminator.zero_grad()
            loss = judged(real, 0.9) + judged(drawn.detach(), 0.0)
            loss.backward()
            of_discriminator.step()
            of_generator.zero_grad()
            judged(drawn, 1.0).backward()
            of_generator.step()
            session.exchange(samples=len(real), loss=loss)  # FAST
with torch.no_grad():
    radius = generator(torch.randn(2000, NOISE)).norm(dim=1)
print(f"radius {radius.mean():.2f} +- {radius.std():.2f}")
if fast.rank() == 0:  # FAST
    torch.save(generator.state_dict(), "gan.pt")
sys.exit(0 if abs(radius.mean() - 1) < 0.2 and radius.std() < 0.35 else 1)
