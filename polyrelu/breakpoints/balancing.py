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

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from polyrelu.breakpoints.jumps import BreakpointComplex
from polyrelu.complex import Cell, PolyhedralComplex
from polyrelu.errors import DomainError

__all__ = ["is_balanced", "oriented_sum", "unbalanced_ridge"]

Row = Sequence[int]


def unbalanced_ridge(breakpoints: BreakpointComplex) -> Cell | None:
    """A cell of codimension 2 inside the domain around which the weights do not cancel; None for those of a network.

    >>> from polyrelu.breakpoints import breakpoint_complex
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 2]], [-1]), ([[5]], [0])])
    >>> unbalanced_ridge(breakpoint_complex(canonical_complex(net))) is None
    True
    """
    cells = breakpoints.cells
    for ridge, facets in _facets_around_ridges(cells).items():
        if any(any(row) for row in oriented_sum(breakpoints, ridge, facets)):
            return Cell(cells.dimension - 2, ridge)
    return None


def is_balanced(breakpoints: BreakpointComplex) -> bool:
    """Whether the weights cancel around every cell of codimension 2 inside the domain."""
    return unbalanced_ridge(breakpoints) is None


def oriented_sum(breakpoints: BreakpointComplex, ridge: int, facets: Sequence[int] = ()) -> list[list[Fraction]]:
    """Σ_F ω_F [n_{F,R} | β_F] around a cell R of codimension 2, by its number: a row for each output.

    Parameters
    ----------
    facets : the numbers of the cells of codimension 1 around it; they are looked up if they are left out.

    Raises
    ------
    DomainError : the cell is on the boundary of the domain, or there is none.
    """
    cells = breakpoints.cells
    facets = facets or _facets_around_ridges(cells).get(ridge, ())
    if not facets:
        raise DomainError(f"there is no cell {ridge} of codimension 2 inside the domain")
    positions = np.searchsorted(breakpoints.facets, facets)
    forms = breakpoints.forms[positions].tolist()
    sums = [[Fraction()] * len(forms[0]) for _ in range(breakpoints.weights.shape[1])]
    turns = _turns(forms, [_point_beyond(cells, ridge, facet) for facet in facets])
    for position, form, turn in zip(positions.tolist(), forms, turns, strict=True):
        for total, weight in zip(sums, breakpoints.weights[position].tolist(), strict=True):
            factor = turn * weight / breakpoints.divisors[position]
            total[:] = [entry + factor * x for entry, x in zip(total, form, strict=True)]
    return sums


def _facets_around_ridges(cells: PolyhedralComplex) -> dict[int, list[int]]:
    """For each cell of codimension 2 inside the domain the cells of codimension 1 around it."""
    k = cells.dimension - 1
    if k <= cells.lineality_dim:
        return {}
    offsets, ridges = cells.facets(k)
    owners = np.repeat(np.arange(cells.size(k)), np.diff(offsets))
    wanted = cells.inside(k - 1)[ridges]
    found: dict[int, list[int]] = {}
    for ridge, facet in zip(ridges[wanted].tolist(), owners[wanted].tolist(), strict=True):
        found.setdefault(ridge, []).append(facet)
    return found


def _point_beyond(cells: PolyhedralComplex, ridge: int, facet: int) -> Row:
    """A vertex (x, t), or a direction (x, 0), of a cell of codimension 1 that is not one of its face."""
    k = cells.frame.dimension - 1
    outside = set(cells.vertices_of(k, facet)) - set(cells.vertices_of(k - 1, ridge))
    return cells.homogeneous(min(outside))


def _turns(forms: Sequence[Row], beyond: Sequence[Row]) -> list[int]:
    """For each ray, given by the form that vanishes on it and a point beyond R: 1 if the form is positive on its
    counterclockwise side, -1 if it is on the other, in the plane of the values (u, v) of two of the forms."""
    u, v = forms[0], next(form for form in forms if _minor(forms[0], form) is not None)
    columns = _minor(u, v)
    if columns is None:
        raise AssertionError("cells around one of codimension 2 lie in two hyperplanes")
    signs = []
    for form, point in zip(forms, beyond, strict=True):
        along = [sum(a * x for a, x in zip(one, point, strict=True)) for one in (u, v)]
        # form = (a u + b v) / determinant; its gradient (a, b) is the ray turned by 90°, or the other way round
        determinant, a, b = (_determinant(*pair, columns) for pair in ((u, v), (form, v), (u, form)))
        positive = (b * along[0] - a * along[1]) * determinant
        signs.append((positive > 0) - (positive < 0))
    return signs


def _minor(one: Row, other: Row) -> tuple[int, int] | None:
    """Two columns of the normals with a determinant that is not 0; None if the normals are parallel."""
    i = next(j for j, entry in enumerate(one[:-1]) if entry)
    for j in range(len(one) - 1):
        if _determinant(one, other, (i, j)):
            return i, j
    return None


def _determinant(one: Row, other: Row, columns: tuple[int, int]) -> int:
    i, j = columns
    return one[i] * other[j] - one[j] * other[i]
