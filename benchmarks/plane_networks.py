"""Networks with two inputs for the experiments on local linear attributes, trained and rounded.

    python -m benchmarks.plane_networks

The problems are from Sattelberg et al. (2023, Figures 4, 6, 8 to 11): XOR, a disc inside an
annulus, and four discs with the classes of XOR, each inside an annulus of the other class. Networks
are trained in float64 from fixed seeds and rounded to multiples of 1/256, which keeps exact numbers
short; they are written to tests/unit/attributes/networks.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from polyrelu import Network, from_arrays, save
from tests.generators.files import ROOT

__all__ = ["FOLDER", "NETWORKS", "PROBLEMS", "Problem", "annulus", "trained", "xor", "xor_annulus"]

FOLDER = ROOT / "tests" / "unit" / "attributes" / "networks"
_STEPS, _GRID = 4000, 256


class Problem(NamedTuple):
    """Points of the plane, shape (points, 2), and their classes -1 and 1."""

    points: NDArray[np.float64]
    classes: NDArray[np.float64]


def xor() -> Problem:
    """Return the four corners of a square."""
    points = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]], dtype=np.float64)
    return Problem(points, -points.prod(axis=1))


def annulus(seed: int = 0, count: int = 1000) -> Problem:
    """Return points of a disc of radius 1/2, and of the annulus between the radii 3/4 and 1."""
    rng = np.random.default_rng(seed)
    inner = rng.random(count) < 0.5
    radii = np.where(inner, np.sqrt(rng.random(count)) / 2, 0.75 + rng.random(count) / 4)
    angles = 2 * np.pi * rng.random(count)
    points = radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return Problem(_rounded(points), np.where(inner, 1.0, -1.0))


def xor_annulus(seed: int = 0, count: int = 2000) -> Problem:
    """Return four copies of `annulus`, whose classes are those of XOR."""
    ring, centres = annulus(seed, count), xor()
    which = np.random.default_rng(seed + 1).integers(0, 4, count)
    points = ring.points * 0.45 + centres.points[which] / 2
    return Problem(_rounded(points), ring.classes * centres.classes[which])


PROBLEMS = {"xor": xor, "annulus": annulus, "xor annulus": xor_annulus}
#: For each network its problem, its hidden widths and its seed.
NETWORKS: dict[str, tuple[str, tuple[int, ...], int]] = {
    "xor-20": ("xor", (20,), 0),
    "xor-100": ("xor", (100,), 0),
    "annulus-3": ("annulus", (3,), 1),
    "annulus-8-8-8": ("annulus", (8, 8, 8), 0),
    "xor-annulus-12-12-12": ("xor annulus", (12, 12, 12), 1),
}


def trained(name: str) -> Network:
    """Return a trained network, rounded."""
    problem, widths, seed = NETWORKS[name]
    points, classes = PROBLEMS[problem]()
    torch.manual_seed(seed)
    sizes = (2, *widths, 1)
    layers = [nn.Linear(n, m).double() for n, m in pairwise(sizes)]
    parts = [part for layer in layers[:-1] for part in (layer, nn.ReLU())]
    module = nn.Sequential(*parts, layers[-1])
    x, y = torch.from_numpy(points), torch.from_numpy(classes)
    optimiser = torch.optim.Adam(module.parameters(), 0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, _STEPS)
    for _ in range(_STEPS):
        optimiser.zero_grad()
        nn.functional.softplus(-4 * y * module(x)[:, 0]).mean().backward()
        optimiser.step()
        schedule.step()
    return from_arrays(
        [
            (_rounded(layer.weight.detach().numpy()), _rounded(layer.bias.detach().numpy()))
            for layer in layers
        ]
    )


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.round(values * _GRID) / _GRID)


def num_right(network: Network, problem: Problem) -> int:
    """Return how many points have the class of the sign of the output, exactly."""
    values = network([[Fraction(entry) for entry in point] for point in problem.points.tolist()])
    return sum(
        (value > 0) == (wanted > 0)
        for (value,), wanted in zip(values, problem.classes.tolist(), strict=True)
    )


def main() -> None:
    """Train all networks, write them, and print how many points they get right."""
    torch.set_num_threads(1)
    FOLDER.mkdir(exist_ok=True)
    for name, (problem, _, _) in NETWORKS.items():
        network = trained(name)
        save(network, FOLDER / f"{name}.json")
        right = num_right(network, PROBLEMS[problem]())
        size = len(PROBLEMS[problem]().points)
        print(json.dumps({"network": name, "right": right, "of": size}), flush=True)


if __name__ == "__main__":
    main()
