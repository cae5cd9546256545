"""Balancing: around every ridge inside the domain the weighted normals of the facets add up to 0.

Let R be a cell of codimension 2 in the relative interior of the domain, and let F run through the
cells of codimension 1 around it, each with its weight ω_F. In the plane of directions modulo R
every F is a ray. Let the primitive normal n_{F,R} be a positive multiple of this ray turned
counterclockwise. Then

    Σ_F ω_F n_{F,R} = 0,

because ω_F n_{F,R} is the change of the gradient on the way around R across F, and the way is
closed. The equation ties the weights, which come from gradients, to the geometry of the cells:
which of them lie around R, and in which directions. It holds for the constant terms as well, so
[n_{F,R} | β_F] may take the place of n_{F,R}.

Source: the three-layer paper (arXiv 2605.18319), Theorem 1 and Lemma 7; the converse is
`reconstruct`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from polyrelu.breakpoints.tropical_weights import BreakpointComplex, expect_breakpoints
from polyrelu.complex import Cell, PolyhedralComplex
from polyrelu.complex.completeness import require_complete
from polyrelu.errors import DomainError
from polyrelu.support.arguments import expect_integer
from polyrelu.support.typing import BigIntegers, Indices

__all__ = ["is_balanced", "oriented_sum", "unbalanced_ridge"]


def unbalanced_ridge(breakpoints: BreakpointComplex) -> Cell | None:
    """Find a ridge inside the domain around which the weights do not add up to 0.

    Weights of a network have no such ridge; one in their place shows that weights or cells are
    wrong.

    Parameters
    ----------
    breakpoints
        The weights of a complete complex.

    Returns
    -------
    Cell or None
        A cell of codimension 2; None if the weights are balanced.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one.

    Examples
    --------
    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 2]], [-1]), ([[5]], [0])])
    >>> unbalanced_ridge(breakpoint_complex(canonical_complex(net))) is None
    True
    """
    breakpoints = expect_breakpoints(breakpoints)
    cells = breakpoints.cells
    require_complete(cells, "balancing")
    fans = _fans(breakpoints, _inner_incidences(cells))
    for ridge, members in fans.by_ridge():
        if any(map(any, _fan_sum(breakpoints, fans, members))):
            return Cell(cells.dimension - 2, ridge)
    return None


def is_balanced(breakpoints: BreakpointComplex) -> bool:
    """Check whether the weights add up to 0 around every ridge inside the domain.

    Parameters
    ----------
    breakpoints
        The weights of a complete complex.

    Returns
    -------
    bool
        Whether all weights are balanced, as the weights of every network are.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one.

    Examples
    --------
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
    """Compute Σ_F ω_F [n_{F,R} | β_F] around a ridge R.

    Parameters
    ----------
    breakpoints
        The weights of a complete complex.
    ridge
        The number of a cell of codimension 2 inside the domain.

    Returns
    -------
    list
        A row of n_0 + 1 fractions for each output; all of them are 0 for the weights of a network.

    Raises
    ------
    DomainError
        The cell is on the boundary of the domain or does not exist; or the complex is incomplete,
        or a part of one.

    Examples
    --------
    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 2]], [-1]), ([[5]], [0])])
    >>> breakpoints = breakpoint_complex(canonical_complex(net))
    >>> [[str(entry) for entry in row] for row in oriented_sum(breakpoints, 0)]
    [['0', '0', '0']]
    """
    breakpoints, ridge = expect_breakpoints(breakpoints), expect_integer(ridge, "ridge")
    require_complete(breakpoints.cells, "balancing")
    pairs = _inner_incidences(breakpoints.cells)
    pairs = pairs[pairs[:, 0] == ridge]
    if not len(pairs):
        raise DomainError(f"there is no cell {ridge} of codimension 2 inside the domain")
    fans = _fans(breakpoints, pairs)
    ((_, members),) = fans.by_ridge()
    rows = _fan_sum(breakpoints, fans, members)
    return (
        rows
        or [[Fraction()] * (breakpoints.cells.network.inputs + 1)] * breakpoints.weights.shape[1]
    )


def _inner_incidences(cells: PolyhedralComplex) -> Indices:
    """Return the pairs of a ridge inside the domain and a facet around it.

    Returns
    -------
    Indices
        Numbers of cells of codimension 2 and 1, ordered, shape (P, 2).
    """
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
    """The cells of codimension 1 around cells of codimension 2, in arrays of shape (P,).

    Attributes
    ----------
    ridges
        The cells of codimension 2, ascending.
    positions
        The positions of the cells of codimension 1 in the breakpoint complex.
    lines
        A number for the hyperplane of each facet: equal for forms that are multiples of each other.
    sides
        The signs 1 or -1 such that forms with the same hyperplane, times these signs, are positive
        multiples of each other.
    turns
        The sign 1 if the form is positive on the counterclockwise side of the ray, else -1.
    """

    ridges: Indices
    positions: Indices
    lines: Indices
    sides: Indices
    turns: Indices

    def by_ridge(self) -> Iterator[tuple[int, range]]:
        """Generate each cell of codimension 2 with its range of positions in the arrays."""
        starts = np.flatnonzero(np.diff(self.ridges, prepend=-1)).tolist()
        for start, stop in pairwise([*starts, len(self.ridges)]):
            yield int(self.ridges[start]), range(start, stop)


def _fans(breakpoints: BreakpointComplex, pairs: Indices) -> _Fans:
    """Compute the geometry of the fans, in the coordinates y of the domain.

    Two forms u, v that vanish on R and are not multiples of each other are coordinates of the
    plane modulo R. The ray of F goes to (u, v)(p), where p is a point inside F. A form a u + b v
    that vanishes on the ray is positive on its counterclockwise side if (a, b)·(-v(p), u(p)) is
    positive.
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
    # A second hyperplane always exists, because R lies in at least two.
    second = np.repeat(np.minimum.reduceat(others, starts), counts)
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
    """The forms over (y, t), and the arrays `lines` and `sides` of `_Fans`."""
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


def _fan_sum(breakpoints: BreakpointComplex, fans: _Fans, members: range) -> list[list[Fraction]]:
    """Σ_F ω_F [n_{F,R} | β_F] of a fan, a row for each output.

    It is empty if the weights on each hyperplane cancel already.
    """
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
