"""A linear map of the outputs after which a network is monotone: a bound below by its cells.

Let A map outputs to inputs such that u·A M u ≥ μ |u|² for the matrix M of every cell. Along the
segment between two points |A f(x) - A f(y)| is at least μ |x - y|, so that κ ≥ μ/‖A‖
(docs/theory/inverse_lipschitz.md, "By cells"). Floats propose A, and exact eliminations bound μ and
‖A‖.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import RationalMatrix, format_rational
from polyrelu.proofs.injectivity.cells import Cell
from polyrelu.proofs.injectivity.gram import bound_above, bound_below, float_gram

__all__ = ["MonotoneMap", "monotone_map"]

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MonotoneSettings:
    """Limits of the search for a map.

    Attributes
    ----------
    num_rounds
        Number of maps that are fitted, each with more weight on the cells that shrink most.
    rate
        Growth of the weights of such cells.
    ridges
        Weights of the length of the map, relative to the cells.
    bits
        Bits of the entries of the map.
    """

    num_rounds: int = 60
    rate: float = 2.0
    ridges: tuple[float, ...] = (1e-9, 1e-3, 1e-1)
    bits: int = 24


_SETTINGS = MonotoneSettings()


@dataclass(frozen=True, slots=True)
class MonotoneMap:
    """A map of the outputs with its bounds.

    Attributes
    ----------
    rows
        The matrix A, shape (d, outputs), in coordinates of the domain.
    low
        A number μ > 0 with u·A M u ≥ μ |x|² on all cells.
    high
        A number c with |Aᵀ u|² ≤ c |x|².
    """

    rows: list[list[int]]
    low: Fraction
    high: Fraction

    @property
    def bound(self) -> Fraction:
        """The bound of κ²."""
        return self.low**2 / self.high

    def to_json(self) -> dict[str, Any]:
        """Return the entries of the evidence, without the tree."""
        return {
            "rows": [" ".join(map(str, row)) for row in self.rows],
            "at-least": format_rational(self.low),
            "at-most": format_rational(self.high),
        }


def monotone_map(cells: Sequence[Cell], lengths: RationalMatrix) -> MonotoneMap | None:
    """Return a map with a large bound, or None if none was found.

    Parameters
    ----------
    cells
        The cells of a network.
    lengths
        The matrix B with |x|² = uᵀ B u, in coordinates u of the domain.
    """
    matrices = [_matrix_of(cell) for cell in cells]
    lower = np.linalg.cholesky(float_gram(lengths))
    whitened = np.array([m.to_floats() for m in matrices]) @ np.linalg.inv(lower).T
    best = max((_fitted(whitened, ridge) for ridge in _SETTINGS.ridges), key=lambda found: found[0])
    if not best[0] > 0:
        return None
    table = lower @ best[1]
    scale = 2.0**_SETTINGS.bits / float(np.abs(table).max())
    rows = [[round(entry * scale) for entry in row] for row in table.tolist()]
    exact = RationalMatrix.from_integers(rows)
    products = [exact @ m for m in matrices]
    low = bound_below([(p + p.transpose()).scale(Fraction(1, 2)) for p in products], lengths)
    if low <= 0:
        return None
    return MonotoneMap(rows, low, bound_above(exact @ exact.transpose(), lengths))


def _matrix_of(cell: Cell) -> RationalMatrix:
    rows = [row[:-1] for row in cell.outputs]
    return RationalMatrix.from_integers(rows).scale(Fraction(1, cell.scale))


def _fitted(matrices: Matrix, ridge: float) -> tuple[float, Matrix]:
    """Return the best bound μ/‖A‖ of some maps that are fitted to A M ≈ 1, and its map."""
    weights = np.ones(len(matrices))
    best, kept = -np.inf, np.zeros(matrices.shape[:0:-1])
    unit = np.eye(matrices.shape[1])
    for _ in range(_SETTINGS.num_rounds):
        weights /= weights.sum()
        squares = np.einsum("c,cij,ckj->ik", weights, matrices, matrices)
        size = ridge * max(float(np.trace(squares)) / len(unit), 1e-300)
        total = np.einsum("c,cij->ji", weights, matrices)
        found = np.linalg.solve(squares + size * unit, total.T).T
        products = found @ matrices
        least = np.linalg.eigvalsh((products + products.transpose(0, 2, 1)) / 2)[:, 0]
        bound = float(least.min()) / max(float(np.linalg.norm(found, 2)), 1e-300)
        if bound > best:
            best, kept = bound, found
        spread = max(float(np.abs(least).max()), 1e-300)
        weights = weights * np.exp(-_SETTINGS.rate * (least - least.min()) / spread) + 1e-12
    return best, kept
