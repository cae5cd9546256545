"""Four pictures beside each other, for the README: `polyrelu.plot` on given Axes.

    python -m benchmarks.pictures

The pictures show zero sets, tropical weights and classes of random networks with a fixed seed, and
a torus as a level set.
"""

from __future__ import annotations

import argparse
from itertools import pairwise

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.reporting import RESULTS
from polyrelu.breakpoints import breakpoint_complex
from polyrelu.complex import canonical_complex
from polyrelu.network import Network, from_arrays
from polyrelu.plot import draw_boundary, draw_cells, draw_level_set, draw_weights
from polyrelu.topology import decision_boundary, level_set

BOX = (-2, 2)


def main() -> None:
    """Draw all four pictures."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    figure = plt.figure(figsize=(12, 10))
    axes = [figure.add_subplot(2, 2, number) for number in (1, 2, 3)]
    space = figure.add_subplot(2, 2, 4, projection="3d")
    cells = canonical_complex(_random((2, 10, 8, 1)))
    draw_cells(cells, ax=axes[0], box=BOX)
    draw_weights(breakpoint_complex(cells), ax=axes[1], box=BOX)
    draw_boundary(decision_boundary(_random((2, 12, 12, 4))), 4, ax=axes[2], box=BOX)
    draw_level_set(level_set(_torus(), "1/2"), ax=space, box=(-3, 3))
    figure.tight_layout()
    figure.savefig(RESULTS / "pictures.png", dpi=80)


def _random(widths: tuple[int, ...]) -> Network:
    rng = np.random.default_rng(list(widths))
    return from_arrays(
        [(rng.normal(size=(m, n)), rng.normal(size=m) / 2) for n, m in pairwise(widths)]
    )


def _torus() -> Network:
    """Return the network ||x| + |y| - 2| + |z|."""
    first = ([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], [0] * 6)
    second = ([[1, 1, 1, 1, 0, 0], [-1, -1, -1, -1, 0, 0], [0, 0, 0, 0, 1, 1]], [-2, 2, 0])
    return from_arrays([first, second, ([[1, 1, 1]], [0])])


if __name__ == "__main__":
    main()
