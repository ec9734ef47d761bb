"""A network in Lightning: images of ten digits, of which each worker sees others.

python3 two_workers.py lightning_classifier.py     both workers learn 97 % of the images or more
"""

import os
import sys

import lightning
import torch
from fast_training.lightning import FastCallback
from torch.nn import Linear, ReLU, Sequential

torch.manual_seed(1)  # equal initial weights at both workers
rank, digits = int(os.environ["FAST_RANK"]), torch.rand(10, 64)  # what they look like, 8 x 8


class Classifier(lightning.LightningModule):
    def training_step(self, batch, index):
        return torch.nn.functional.cross_entropy(self.layers(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


def images(seed, count):
    torch.manual_seed(seed)
    labels = torch.randint(10, (count,))
    return digits[labels] + 0.5 * torch.randn(count, 64), labels


model = Classifier()
model.layers = Sequential(Linear(64, 32), ReLU(), Linear(32, 10))
data = torch.utils.data.TensorDataset(*images(2 + rank, 10_000))
trainer = lightning.Trainer(callbacks=FastCallback(32, budget=30_000), barebones=True)
trainer.fit(model, torch.utils.data.DataLoader(data, 32, shuffle=True))
x, y = images(0, 10_000)  # the same at both
accuracy = (model.layers(x).argmax(1) == y).float().mean().item()
print(f"worker {rank}: {accuracy:.1%} of unseen images")
sys.exit(0 if accuracy >= 0.97 else 1)
