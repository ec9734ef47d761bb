#!/usr/bin/env python3
"""Makes data for a trial of the edge example, in MNIST's files: images of ten kinds, other ones for
each board. Each kind is a bright bar of its own slope on a noisy ground. Needs nothing but Python.

usage: make_data.py --out DIR --board K [--images N]
"""

import argparse
import pathlib
import random
import struct

SIDE = 12
KINDS = 10


def image(kind: int, chance: random.Random) -> bytes:
    """One image, row by row."""
    x, y = chance.uniform(-1.5, 1.5), chance.uniform(-1.5, 1.5)
    rise = (kind - 4.5) / 3
    pixels = bytearray()
    for row in range(SIDE):
        for column in range(SIDE):
            distance = abs((row - SIDE / 2 + y) - rise * (column - SIDE / 2 + x)) / (1 + abs(rise))
            light = 60 + 120 * (distance < 0.8) + chance.gauss(0, 40)
            pixels.append(max(0, min(255, int(light))))
    return bytes(pixels)


def write(folder: pathlib.Path, name: str, count: int, seed: str) -> None:
    """A pair of files: images and their labels."""
    chance = random.Random(seed)
    labels = [chance.randrange(KINDS) for _ in range(count)]
    images = b"".join(image(kind, chance) for kind in labels)
    header = struct.pack(">IIII", 0x803, count, SIDE, SIDE)
    (folder / f"{name}-images-idx3-ubyte").write_bytes(header + images)
    (folder / f"{name}-labels-idx1-ubyte").write_bytes(
        struct.pack(">II", 0x801, count) + bytes(labels)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--board", type=int, required=True)
    parser.add_argument("--images", type=int, default=2000)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    write(given.out, "train", given.images, f"board {given.board}")
    write(given.out, "t10k", 500, "test")  # the same for all, so that their accuracies compare


if __name__ == "__main__":
    main()
