"""A model and data of one's own for standalone workers, and the trained model back in PyTorch.

python3 own_model.py make FOLDER          writes FOLDER/net.pt and FOLDER/data/*.npy
python3 own_model.py use FOLDER MODEL     loads MODEL, a mean.safetensors, and says how good it is

In between, without Python: fast train --model script:FOLDER/net.pt --data npy:FOLDER/data
"""

import os
import struct
import sys

import numpy as np
import torch

ARMS = 3


class Spirals(torch.nn.Module):
    """Which of three arms of a spiral a point belongs to."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(2, 64),
            torch.nn.BatchNorm1d(64),
            torch.nn.ReLU(),
            torch.nn.Linear(64, 64),
            torch.nn.ReLU(),
        )
        self.head = torch.nn.Linear(64, ARMS)

    def forward(self, points):
        return self.head(self.layers(points))


def spirals(count, seed):
    """Points of float32 [count, 2] and their arms, int64 [count]."""
    random = np.random.default_rng(seed)
    arm = random.integers(0, ARMS, count)
    along = random.uniform(0.1, 1, count)
    angle = 4 * along + 2 * np.pi * arm / ARMS + random.normal(0, 0.25, count)
    points = np.stack([along * np.cos(angle), along * np.sin(angle)], axis=1)
    return points.astype("float32"), arm


def make(folder):
    torch.manual_seed(1)
    os.makedirs(f"{folder}/data", exist_ok=True)
    torch.jit.script(Spirals()).save(f"{folder}/net.pt")
    for part, count, seed in (("train", 20_000, 1), ("test", 2_000, 2)):
        points, arms = spirals(count, seed)
        np.save(f"{folder}/data/{part}-x.npy", points)
        np.save(f"{folder}/data/{part}-y.npy", arms)


def use(folder, path):
    model = Spirals()
    model.load_state_dict(read_safetensors(path), strict=True)
    model.eval()
    points = torch.from_numpy(np.load(f"{folder}/data/test-x.npy"))
    arms = torch.from_numpy(np.load(f"{folder}/data/test-y.npy"))
    with torch.no_grad():
        right = (model(points).argmax(1) == arms).float().mean().item()
    print(f"{right:.2%} of the test points are told right")


def read_safetensors(path):
    """The same as safetensors.torch.load_file(path), which needs a package more."""
    import json

    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    types = {"F32": torch.float32, "I64": torch.int64}
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        piece = torch.frombuffer(bytearray(data[begin:end]), dtype=types[entry["dtype"]])
        tensors[name] = piece.reshape(entry["shape"])
    return tensors


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"] and len(sys.argv) == 3:
        make(sys.argv[2])
    elif sys.argv[1:2] == ["use"] and len(sys.argv) == 4:
        use(sys.argv[2], sys.argv[3])
    else:
        sys.exit(__doc__)
