"""Models of PyTorch for the tests, and two workers that train them."""

import support
import torch
from fast_training.torch import TorchAdapter
from torch import nn

torch.set_num_threads(1)


def model_of(*layers):
    """The same weights at each call."""
    torch.manual_seed(1)
    return nn.Sequential(*(layer() for layer in layers))


def trained(models, optimizers, inputs=3, steps=300, after_step=None, **options):
    """Trains the models, one worker each, on objectives of their own until their budget is used."""
    adapters = [TorchAdapter(*both) for both in zip(models, optimizers)]
    sessions = support.ring(adapters, budget=steps * len(models), settle_target=1e-6, **options)
    data = torch.Generator().manual_seed(3)
    x = torch.randn(8, inputs, generator=data)

    def step(index):
        output = models[index](x)
        loss = (output.float() - index).square().mean()
        loss.backward()
        optimizers[index].step()
        optimizers[index].zero_grad()
        if after_step is not None:
            after_step(index)
        return loss

    support.train(sessions, step)
    for session in sessions:
        assert session.agreed
    return sessions


def sgd(model, **options):
    return torch.optim.SGD(model.parameters(), lr=0.05, **options)
