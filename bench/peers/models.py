"""The models that bench/peers trains."""

import time

import torch
from torch import nn

LAYERS = 28
WIDTHS = {1.1: 198, 11.2: 632, 44.7: 1263}  # millions of parameters in LAYERS layers -> their width


class Sleep(torch.autograd.Function):
    """Hands its input on after so many seconds, and its gradient after twice as many."""

    @staticmethod
    def forward(context, x, seconds):
        context.seconds = seconds
        time.sleep(seconds)
        return x.view_as(x)

    @staticmethod
    def backward(context, gradient):
        time.sleep(2 * context.seconds)
        return gradient, None


class SleepyLayer(nn.Linear):
    def __init__(self, width, seconds):
        super().__init__(width, width)
        self.seconds = seconds

    def forward(self, x):
        return torch.relu(super().forward(Sleep.apply(x, self.seconds)))


def linear_layers(millions, seconds):
    """Computes little and sleeps `seconds` a step, as a host does while a device computes: a third
    of it spread over the forward pass, the rest over the backward pass."""
    width = WIDTHS[millions]
    return nn.Sequential(*(SleepyLayer(width, seconds / 3 / LAYERS) for _ in range(LAYERS)))


def resnet18():
    """As adapters/torch/models/resnet.cc has it."""

    def conv(inputs, outputs, size, stride):
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False),
            nn.BatchNorm2d(outputs),
        )

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.first, self.second = conv(inputs, outputs, 3, stride), conv(outputs, outputs, 3, 1)
            plain = stride == 1 and inputs == outputs
            self.shortcut = nn.Identity() if plain else conv(inputs, outputs, 1, stride)

        def forward(self, x):
            y = self.second(self.first(x).relu_())
            return y.add_(self.shortcut(x)).relu_()

    layers, inputs = [conv(3, 64, 3, 1), nn.ReLU(inplace=True)], 64
    for stage, width in enumerate((64, 128, 256, 512)):
        layers += [Block(inputs, width, 2 if stage > 0 else 1), Block(width, width, 1)]
        inputs = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 10))
