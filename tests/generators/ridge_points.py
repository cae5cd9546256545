"""A point of every cell of codimension 2 of a complex: the most that Theorem D can use."""

from __future__ import annotations

from polyrelu.complex import canonical_complex, point_in
from polyrelu.network import Network
from polyrelu.support.typing import Point

__all__ = ["ridge_points"]


def ridge_points(network: Network) -> list[Point]:
    """One point of each cell of codimension 2 with exactly two zeros."""
    cells = canonical_complex(network)
    return [
        point_in(cells, cell)
        for cell in cells.cells(network.num_inputs - 2)
        if sum(sign == 0 for layer in cells.sign_vector(cell).layers for sign in layer) == 2
    ]
