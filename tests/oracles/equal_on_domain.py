"""Equality of two networks on a polyhedron, decided on all common cells."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpz_mat

from polyrelu.exact import Polyhedron
from polyrelu.network import Network
from tests.generators.quantised_networks import brute_domain, brute_layers
from tests.oracles.cells_on_domain import Domain, Layer, cells_on_domain, sign_key
from tests.oracles.one_input import value

__all__ = ["agree_on_domain"]


def agree_on_domain(first: Network, second: Network, domain: Polyhedron) -> bool:
    """Whether two networks have equal values on a domain.

    Both are affine on each common cell. On a cell of the largest dimension they are compared at a
    point, and at a near point in every direction that the equations of the domain allow.
    """
    hidden = _side_by_side(first, second)
    rows = brute_domain(domain)
    cells = cells_on_domain(hidden, rows).values()
    largest = max((cell.dimension for cell in cells), default=0)
    points = [cell.point for cell in cells if cell.dimension == largest]
    near = [_near(hidden, rows, x, v) for x in points for v in _directions(rows)]
    return all(value(first, x) == value(second, x) for x in [*points, *near])


def _side_by_side(first: Network, second: Network) -> list[Layer]:
    """The hidden layers of the first network, then those of the second one."""
    before, after = brute_layers(first), brute_layers(second)
    moved = [
        ([(source and source + len(before), rows) for source, rows in blocks], bias)
        for blocks, bias in after
    ]
    return [*before, *moved]


def _directions(domain: Domain) -> list[list[int]]:
    """A basis of the solutions of the homogeneous equations of a domain."""
    n = domain.columns
    basis, nullity = fmpz_mat([[0] * n, *(list(row[:n]) for row in domain.equations)]).nullspace()
    return [[int(basis[row, column]) for row in range(n)] for column in range(nullity)]


def _near(
    hidden: Sequence[Layer], domain: Domain, x: Sequence[Fraction], v: Sequence[int]
) -> list[Fraction]:
    """A point of the cell of x in the direction v; x itself if v leads out of the cell."""
    signs, step = sign_key(hidden, domain, x), Fraction(1)
    while step > Fraction(1, 2**200):
        moved = [a + step * b for a, b in zip(x, v, strict=True)]
        if sign_key(hidden, domain, moved) == signs:
            return moved
        step /= 2
    return list(x)
