"""Balancing: around every cell of codimension 2 inside the domain the weighted normals of the facets cancel.

Let R be a cell of codimension 2 in the relative interior of the domain, and F run through the cells of codimension 1
around it, each with its weight ω_F. In the plane of the directions modulo R every F is a ray; with the primitive normal
n_{F,R} that is this ray turned counterclockwise (up to a positive factor),

    Σ_F ω_F n_{F,R} = 0,

since ω_F n_{F,R} is the change of the gradient on the way around R, and the way is closed. This ties the weights, which
come from gradients, to the geometry of the cells: which of them lie around R, and in which directions. The equation
holds for the constant terms as well, so [n_{F,R} | β_F] may take the place of n_{F,R}.

Source: the three-layer paper, Theorem 1 and Lemma 7 (the converse is `reconstruct`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from polyrelu.breakpoints.jumps import BreakpointComplex
from polyrelu.complex import Cell, PolyhedralComplex
from polyrelu.complex.completeness import require_complete
from polyrelu.errors import DomainError
from polyrelu.support.typing import BigIntegers, Indices

__all__ = ["is_balanced", "oriented_sum", "unbalanced_ridge"]


def unbalanced_ridge(breakpoints: BreakpointComplex) -> Cell | None:
    """A cell of codimension 2 inside the domain around which the weights do not cancel; None for those of a network.

    Raises
    ------
    DomainError : the cells are incomplete or a part.

    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 2]], [-1]), ([[5]], [0])])
    >>> unbalanced_ridge(breakpoint_complex(canonical_complex(net))) is None
    True
    """
    cells = breakpoints.cells
    require_complete(cells, "balancing")
    fans = _fans(breakpoints, _inner_incidences(cells))
    for ridge, members in fans.by_ridge():
        if any(map(any, _sum(breakpoints, fans, members))):
            return Cell(cells.dimension - 2, ridge)
    return None


def is_balanced(breakpoints: BreakpointComplex) -> bool:
    """Whether the weights cancel around every cell of codimension 2 inside the domain.

    Raises
    ------
    DomainError : the cells are incomplete or a part.

    >>> from dataclasses import replace
    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 2]], [-1]), ([[5]], [0])])
    >>> breakpoints = breakpoint_complex(canonical_complex(net))
    >>> is_balanced(breakpoints), is_balanced(replace(breakpoints, weights=breakpoints.weights + 1))
    (True, False)
    """
    return unbalanced_ridge(breakpoints) is None


def oriented_sum(breakpoints: BreakpointComplex, ridge: int) -> list[list[Fraction]]:
    """Σ_F ω_F [n_{F,R} | β_F] around a cell R of codimension 2, by its number: a row for each output.

    Raises
    ------
    DomainError : the cell is on the boundary of the domain, or there is none; the cells are incomplete or a part.

    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 2]], [-1]), ([[5]], [0])])
    >>> breakpoints = breakpoint_complex(canonical_complex(net))
    >>> [[str(entry) for entry in row] for row in oriented_sum(breakpoints, 0)]
    [['0', '0', '0']]
    """
    require_complete(breakpoints.cells, "balancing")
    pairs = _inner_incidences(breakpoints.cells)
    pairs = pairs[pairs[:, 0] == ridge]
    if not len(pairs):
        raise DomainError(f"there is no cell {ridge} of codimension 2 inside the domain")
    fans = _fans(breakpoints, pairs)
    ((_, members),) = fans.by_ridge()
    rows = _sum(breakpoints, fans, members)
    return (
        rows
        or [[Fraction()] * (breakpoints.cells.network.inputs + 1)] * breakpoints.weights.shape[1]
    )


def _inner_incidences(cells: PolyhedralComplex) -> Indices:
    """Pairs (cell of codimension 2 inside the domain, cell of codimension 1 around it), ordered, shape (P, 2)."""
    k = cells.dimension - 1
    if k <= cells.lineality_dim:
        return np.zeros((0, 2), dtype=np.int64)
    offsets, ridges = cells.facets(k)
    owners = np.repeat(np.arange(cells.size(k)), np.diff(offsets))
    pairs = np.stack([ridges, owners], axis=1)[cells.inside(k - 1)[ridges]]
    ordered: Indices = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return ordered


@dataclass(frozen=True, slots=True)
class _Fans:
    """Cells of codimension 1 around cells of codimension 2, shape (P,) each.

    Attributes
    ----------
    ridges : the cells of codimension 2, ascending.
    positions : of the cells of codimension 1 in the breakpoint complex.
    lines : equal numbers for those whose forms are multiples of each other.
    sides : 1 or -1: forms with one number, times these, are positive multiples of each other.
    turns : 1 if the form is positive on the counterclockwise side of the ray, -1 if it is on the other.
    """

    ridges: Indices
    positions: Indices
    lines: Indices
    sides: Indices
    turns: Indices

    def by_ridge(self) -> Iterator[tuple[int, range]]:
        """Each cell of codimension 2 with its part of the arrays."""
        starts = np.flatnonzero(np.diff(self.ridges, prepend=-1)).tolist()
        for start, stop in pairwise([*starts, len(self.ridges)]):
            yield int(self.ridges[start]), range(start, stop)


def _fans(breakpoints: BreakpointComplex, pairs: Indices) -> _Fans:
    """The geometry of the fans, in the coordinates y of the domain.

    Two forms u, v that vanish on R and are not multiples of each other are coordinates of the plane modulo R. The ray
    of F goes to (u, v)(p), p a point inside F. A form a u + b v that vanishes on it is positive on the counterclockwise
    side if (a, b)·(-v(p), u(p)) is.
    """
    positions = np.searchsorted(breakpoints.facets, pairs[:, 1])
    forms, lines, sides = _forms(breakpoints, positions)
    ridges = pairs[:, 0]
    if not len(ridges):
        return _Fans(ridges, positions, lines, sides, sides)
    starts = np.flatnonzero(np.diff(ridges, prepend=-1))
    counts = np.diff([*starts, len(ridges)])
    first = np.repeat(starts, counts)
    others = np.where(lines != lines[first], np.arange(len(ridges)), len(ridges))
    second = np.repeat(
        np.minimum.reduceat(others, starts), counts
    )  # there is one, as R lies in two hyperplanes
    u, v = forms[first], forms[second]
    cells = breakpoints.cells
    points = cells.generators.points_inside(cells.dimension - 1)[pairs[:, 1]]
    i = (u[:, :-1] != 0).argmax(axis=1)
    rows = np.arange(len(forms))
    minors = u[rows, i][:, None] * v[:, :-1] - u[:, :-1] * v[rows, i][:, None]
    j = (minors != 0).argmax(axis=1)
    a = forms[rows, i] * v[rows, j] - forms[rows, j] * v[rows, i]
    b = u[rows, i] * forms[rows, j] - u[rows, j] * forms[rows, i]
    turned = (b * (u * points).sum(axis=1) - a * (v * points).sum(axis=1)) * minors[rows, j]
    turns = (turned > 0).astype(np.int64) - (turned < 0).astype(np.int64)
    return _Fans(ridges, positions, lines, sides, turns)


def _forms(
    breakpoints: BreakpointComplex, positions: Indices
) -> tuple[BigIntegers, Indices, Indices]:
    """The forms over (y, t), and `lines` and `sides` of `_Fans`."""
    cells = breakpoints.cells
    found = cells.facet_forms(breakpoints.facets[positions])
    lines: dict[tuple[int, ...], int] = {}
    numbers, sides = [], []
    for row in found.rows:
        side = 1 if next(filter(None, row)) > 0 else -1
        numbers.append(lines.setdefault(tuple(side * entry for entry in row), len(lines)))
        sides.append(side)
    table = np.array(found.rows, dtype=object).reshape(len(found.rows), cells.frame.dimension + 1)
    return (
        table[found.which],
        np.array(numbers, dtype=np.int64)[found.which],
        np.array(sides, dtype=np.int64)[found.which],
    )


def _sum(breakpoints: BreakpointComplex, fans: _Fans, members: range) -> list[list[Fraction]]:
    """Σ_F ω_F [n_{F,R} | β_F] of a fan; nothing where the rays of each line cancel already."""
    factors: dict[int, list[Fraction]] = {}
    forms: dict[int, list[int]] = {}
    for member in members:
        position, line, turn = (
            int(part[member]) for part in (fans.positions, fans.lines, fans.turns)
        )
        weights, divisor = breakpoints.weights[position].tolist(), breakpoints.divisors[position]
        side = int(fans.sides[member])
        own = factors.setdefault(line, [Fraction()] * len(weights))
        factors[line] = [
            f + turn * side * weight / divisor for f, weight in zip(own, weights, strict=True)
        ]
        forms.setdefault(line, [side * entry for entry in breakpoints.forms[position].tolist()])
    if not any(map(any, factors.values())):
        return []
    columns = list(zip(*forms.values(), strict=True))
    outputs = list(zip(*(factors[line] for line in forms), strict=True))
    return [
        [sum((f * x for f, x in zip(row, column, strict=True)), Fraction()) for column in columns]
        for row in outputs
    ]
