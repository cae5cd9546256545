"""Random networks like those in the proof of the theorem of Phuong and Lampert (2020).

Their widths do not increase, and they have one output. In each hidden layer some neuron is active
wherever the first one is inactive, and each neuron bends inside the image of the region where all
neurons before are active. They are transparent on a box. Whether they have the paths that the
theorem asks for is decided on their complex.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex import PolyhedralComplex, canonical_complex
from polyrelu.conditions import pl_general, transparency
from polyrelu.formats import parse_domain
from polyrelu.network import Network, from_arrays

__all__ = ["WIDTHS", "has_hypotheses", "has_paths", "transparent_network"]

#: The box is [-BOX, BOX]^n.
BOX = 2

#: Widths for which the hypotheses are decided in less than a second.
WIDTHS = ((2, 2, 2, 1), (3, 3, 2, 1), (3, 2, 2, 2, 1), (3, 3, 3, 2, 1), (4, 4, 3, 1))

#: Number of random points of the box that are used to draw rows.
_POINTS = 4000

#: Maximum number of rows that are drawn for one layer.
_TRIES = 100

Floats = NDArray[np.float64]


def transparent_network(widths: Sequence[int], rng: np.random.Generator) -> Network:
    """A network with the given widths and short binary fractions as weights."""
    while True:
        points, high, layers = (
            rng.uniform(-BOX, BOX, (_POINTS, widths[0])),
            np.full(widths[0], BOX),
            list[Floats](),
        )
        low, faces = -high, None
        for width in widths[1:-1]:
            rows = _rows(points, faces, low, high, width, rng)
            if rows is None:
                break
            points = points @ rows[:, :-1].T + rows[:, -1]
            faces = _faces(points, rng)
            points = points[(points > 0).all(axis=1)]  # bends are wanted where all neurons are on
            up = (
                np.maximum(rows[:, :-1], 0) @ high + np.minimum(rows[:, :-1], 0) @ low + rows[:, -1]
            )
            low, high = np.zeros(width), np.maximum(up, 0)
            layers.append(rows)
        else:
            last = rng.integers(1, 9, widths[-2]) * rng.choice((-1, 1), widths[-2])
            layers.append(np.append(last, 1)[None, :])
            return from_arrays(
                [(_exact(rows[:, :-1]), _exact(rows[:, -1:].T)[0]) for rows in layers]
            )


def has_hypotheses(network: Network) -> bool:
    """Whether a network is general and transparent on the box, exactly, and has the paths."""
    cells = canonical_complex(network, parse_domain(f"box:-{BOX},{BOX}", network.num_inputs))
    return all(
        found.status == "holds" for found in (transparency(cells), pl_general(cells))
    ) and has_paths(cells)


def has_paths(cells: PolyhedralComplex) -> bool:
    """Whether the dependency graph has the paths of the theorem.

    Each neuron of a hidden layer but the last must meet the first neuron of the next layer where
    all other neurons of its own layer and of the layers before are active, inside the domain. These
    meetings are the steps of the paths.
    """
    signs, layer_of = (
        cells.signs(cells.dimension - 2),
        np.array([neuron.layer for neuron in cells.neurons]),
    )
    inside = cells.inside(cells.dimension - 2)
    ridges = signs[((signs == 0).sum(axis=1) == 2) & inside]
    for column, neuron in enumerate(cells.neurons):
        if neuron.layer == layer_of.max():
            continue
        others = [k for k in np.flatnonzero(layer_of <= neuron.layer) if k != column]
        after = int(np.flatnonzero(layer_of == neuron.layer + 1)[0])
        met = (ridges[:, [column, after]] == 0).all(axis=1) & (ridges[:, others] > 0).all(axis=1)
        if not met.any():
            return False
    return True


def _faces(points: Floats, rng: np.random.Generator) -> Floats | None:
    """For each coordinate a point between two of the given points with this coordinate 0.

    The other coordinates are positive.
    """
    found = []
    for i in range(points.shape[1]):
        others = (np.delete(points, i, axis=1) > 0).all(axis=1)
        above, below = points[others & (points[:, i] > 0)], points[others & (points[:, i] < 0)]
        if not len(above) or not len(below):
            return None
        a, b = above[rng.integers(len(above))], below[rng.integers(len(below))]
        found.append(a + (b - a) * a[i] / (a[i] - b[i]))
    return np.array(found)


def _rows(
    points: Floats,
    faces: Floats | None,
    low: Floats,
    high: Floats,
    width: int,
    rng: np.random.Generator,
) -> Floats | None:
    """Random rows of a layer; None if the tries fail.

    Each row changes its sign among the points at which the rows before it are positive. The second
    row is positive wherever the first one is not. The first row vanishes at the given faces.
    """
    rows: list[Floats] = []
    for _ in range(_TRIES):
        if len(points) < 8:
            return None
        if len(rows) == width:
            return np.array(rows)
        if len(rows) == 1:
            row = _second(rows[0], points, low, high, rng)
        elif rows or faces is None:
            row = _between(points, rng)
        else:
            row = _through(faces) * rng.choice((-1, 1))
        values = points @ row[:-1] + row[-1]
        if (values > 0).mean() > 0.3 and (values < 0).mean() > 0.1:
            rows.append(row)
            points = points[values > 0]
    return None


def _second(
    first: Floats, points: Floats, low: Floats, high: Floats, rng: np.random.Generator
) -> Floats:
    """A row that is positive on the box wherever the first row is not.

    It is a negative multiple of the first row, plus a constant and a linear part that is smaller
    than the constant on the whole box.
    """
    rest = rng.integers(1, 9, len(first) - 1) * rng.choice((-1, 1), len(first) - 1) / 64
    bound = np.maximum(-rest, 0) @ high - np.minimum(-rest, 0) @ -low + 1 / 64
    middle = np.quantile(points @ first[:-1] + first[-1], rng.uniform(0.4, 0.8))
    factor = np.ceil(bound / middle * 2) / 2 + rng.integers(0, 3)
    row = np.append(rest, np.ceil(64 * factor * middle) / 64) - factor * first
    return np.asarray(row, dtype=np.float64)


def _through(faces: Floats) -> Floats:
    """The hyperplane through n points in R^n."""
    row = np.linalg.svd(np.column_stack([faces, np.ones(len(faces))]))[2][-1]
    return np.asarray(np.round(row / np.abs(row[:-1]).max() * 2.0**23) / 2.0**20)


def _between(points: Floats, rng: np.random.Generator) -> Floats:
    weights = rng.integers(1, 9, points.shape[1]) * rng.choice((-1, 1), points.shape[1])
    one, other = points[rng.choice(len(points), 2, replace=False)] @ weights
    return np.append(weights, -np.round(32 * (one + other)) / 64)


def _exact(entries: Floats) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in entries.tolist()]
