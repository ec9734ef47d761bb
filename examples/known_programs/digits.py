"""Images of ten digits, drawn here, so that the programs need no download."""

import torch
from torch import Tensor
from torch.utils.data import TensorDataset


def digits(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Images of 12 x 12 dots and what they show: ten figures, moved about and noisy."""
    figures = torch.rand(10, 1, 8, 8, generator=torch.Generator().manual_seed(0)).round()
    random = torch.Generator().manual_seed(seed)
    labels = torch.randint(10, (count,), generator=random)
    images = 0.2 * torch.randn(count, 1, 12, 12, generator=random)
    places = torch.randint(4, (count,), generator=random)
    for place, (row, column) in enumerate(((0, 0), (0, 4), (4, 0), (4, 4))):
        here = places == place
        images[here, :, row : row + 8, column : column + 8] += figures[labels[here]]
    return images, labels


def data_set(count: int, seed: int) -> TensorDataset:
    return TensorDataset(*digits(count, seed))
