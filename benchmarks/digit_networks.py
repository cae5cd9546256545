"""Classifiers of handwritten digits for the experiments on local linear attributes.

    POLYRELU_SHARED=FOLDER python -m benchmarks.digit_networks OUTPUT_FOLDER

The data are the 10,000 test images of MNIST, in the folder `data` of the folder that
POLYRELU_SHARED names: 8,000 of them train the networks, 2,000 test them. The networks have the
shapes of Sattelberg et al. (2023, §2.5), and their two large ones, Inception-v3 and ResNet-152, are
replaced by small networks with the same kinds of parts, which two cores can train. There is no
batch normalisation. Each network is trained in float32, in one thread, from a fixed seed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

__all__ = ["NETWORKS", "Digits", "load_digits", "load_network"]

#: Number of images for training; the others are for tests.
_NUM_TRAINING = 8_000
_EPOCHS, _BATCH = 20, 64


class Digits(NamedTuple):
    """Images with pixels in [0, 1], shape (images, 784), and their digits."""

    images: NDArray[np.float32]
    labels: NDArray[np.int64]


def load_digits() -> tuple[Digits, Digits]:
    """Return training and test images, after a shuffle with a fixed seed."""
    folder = Path(os.environ["POLYRELU_SHARED"]) / "data"
    images = _idx(folder / "t10k-images-idx3-ubyte.gz", 16).reshape(-1, 784)
    labels = _idx(folder / "t10k-labels-idx1-ubyte.gz", 8).astype(np.int64)
    order = np.random.default_rng(0).permutation(len(images))
    scaled = (images[order] / np.float32(256)).astype(np.float32)
    parts = slice(_NUM_TRAINING), slice(_NUM_TRAINING, None)
    training, test = (Digits(scaled[part], labels[order][part]) for part in parts)
    return training, test


def _idx(path: Path, header: int) -> NDArray[np.uint8]:
    with gzip.open(path) as stream:
        return np.frombuffer(stream.read()[header:], dtype=np.uint8)


class Inception(nn.Module):  # type: ignore[misc]
    """Four branches with windows of 1, 3, 5 and an average, joined; between two convolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.one = nn.Conv2d(8, 8, 1)
        self.before_three, self.three = nn.Conv2d(8, 4, 1), nn.Conv2d(4, 8, 3, padding=1)
        self.before_five, self.five = nn.Conv2d(8, 3, 1), nn.Conv2d(3, 4, 5, padding=2)
        self.pool, self.after_pool = nn.AvgPool2d(3, 1, 1), nn.Conv2d(8, 4, 1)
        self.tail = nn.Conv2d(24, 16, 3, stride=2)
        self.last = nn.Linear(16 * 6 * 6, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the logits of images, shape (images, 784)."""
        x = functional.relu(self.stem(x.reshape(-1, 1, 28, 28)))
        branches = [
            self.one(x),
            self.three(functional.relu(self.before_three(x))),
            self.five(functional.relu(self.before_five(x))),
            self.after_pool(self.pool(x)),
        ]
        x = functional.relu(self.tail(functional.relu(torch.cat(branches, 1))))
        return self.last(torch.flatten(x, 1))


class Residual(nn.Module):  # type: ignore[misc]
    """A convolution, and three blocks of two convolutions whose result is added to the input."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.first = nn.ModuleList([nn.Conv2d(8, 8, 3, padding=1) for _ in range(4)])
        self.down, self.short = nn.Conv2d(8, 16, 3, 2, 1), nn.Conv2d(8, 16, 1, 2)
        self.second = nn.Conv2d(16, 16, 3, padding=1)
        self.last = nn.Linear(16 * 7 * 7, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the logits of images, shape (images, 784)."""
        x = functional.relu(self.stem(x.reshape(-1, 1, 28, 28)))
        for one, two in (self.first[:2], self.first[2:]):
            x = functional.relu(x + two(functional.relu(one(x))))
        x = functional.relu(self.short(x) + self.second(functional.relu(self.down(x))))
        return self.last(torch.flatten(x, 1))


def _dense(*widths: int) -> nn.Module:
    parts: list[nn.Module] = []
    for size, width in zip((784, *widths), (*widths, 10), strict=True):
        parts += [nn.Linear(size, width), nn.ReLU()]
    return nn.Sequential(*parts[:-1])


def _convolutional() -> nn.Module:
    """Return the small convolutional network of the paper."""
    return nn.Sequential(
        nn.Unflatten(1, (1, 28, 28)),
        *(nn.Conv2d(1, 10, 5), nn.MaxPool2d(2), nn.ReLU()),
        *(nn.Conv2d(10, 20, 5), nn.MaxPool2d(2), nn.ReLU()),
        nn.Flatten(),
        *(nn.Linear(320, 50), nn.ReLU(), nn.Linear(50, 10)),
    )


#: For each network a function that makes it, and the seed of its weights and batches.
NETWORKS: dict[str, tuple[Callable[[], nn.Module], int]] = {
    "dense 128": (lambda: _dense(128), 1),
    "dense 128 (2)": (lambda: _dense(128), 2),
    "dense 64-64": (lambda: _dense(64, 64), 3),
    "conv 1": (_convolutional, 4),
    "conv 2": (_convolutional, 5),
    "inception": (Inception, 6),
    "residual": (Residual, 7),
}


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name.replace(' ', '_')}.pt"


def load_network(folder: Path, name: str) -> nn.Module:
    """Return a network that `main` has trained."""
    module = NETWORKS[name][0]()
    module.load_state_dict(torch.load(_path(folder, name), weights_only=True))
    return module.eval()


def train(name: str, training: Digits, epochs: int = _EPOCHS) -> nn.Module:
    """Return a trained network: SGD with momentum, whose step falls to 0 along a cosine."""
    make, seed = NETWORKS[name]
    torch.manual_seed(seed)
    module = make()
    images, labels = torch.from_numpy(training.images), torch.from_numpy(training.labels)
    steps = epochs * -(-len(labels) // _BATCH)
    optimiser = torch.optim.SGD(module.parameters(), 0.05, momentum=0.9, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(epochs):
        for batch in torch.randperm(len(labels)).split(_BATCH):
            optimiser.zero_grad()
            functional.cross_entropy(module(images[batch]), labels[batch]).backward()
            optimiser.step()
            schedule.step()
    return module.eval()


def main() -> None:
    """Train all networks, save them, and print how many of the test images they get right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    torch.set_num_threads(1)
    training, test = load_digits()
    for name in NETWORKS:
        started = time.process_time()
        module = train(name, training)
        torch.save(module.state_dict(), _path(folder, name))
        right: dict[str, Any] = {"network": name, "seconds": round(time.process_time() - started)}
        with torch.no_grad():
            for key, digits in (("training", training), ("test", test)):
                found = module(torch.from_numpy(digits.images)).argmax(1).numpy()
                right[key] = int((found == digits.labels).sum())
        print(json.dumps(right), flush=True)


if __name__ == "__main__":
    main()
