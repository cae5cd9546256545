"""Balancing: around every ridge inside the domain the weighted normals of the facets add up to 0.

Here a *facet* is a cell of codimension 1 between two regions, and a *ridge* is a cell of
codimension 2 in the relative interior of the domain. The equations tie the weights, which come from
gradients, to the geometry of the cells, so that a wrong weight or a wrong cell violates one. The
orientations of the normals come from exact signs; a change of the arithmetic must keep them exact.

**The equation.** Let R be a ridge, and let F run through the facets around R, with weights ω_F.
Modulo the directions of R, the directions of the domain's affine hull are a plane, on which we
choose an orientation. Every F becomes a ray in this plane; the rays of all F are the *fan* of R.
Let n_{F,R} be the primitive integer normal of F whose sign is chosen such that the linear form
x ↦ n_{F,R}·x, which is a form on the plane and vanishes on the ray of F, is positive on the
counterclockwise side of the ray. Let β_F be the number with n_{F,R}·x + β_F = 0 on F. Then

    Σ_F ω_F n_{F,R} = 0,    Σ_F ω_F β_F = 0.

The opposite orientation of the plane changes the signs of all n_{F,R} and β_F, and the equations
remain. They hold because ω_F [n_{F,R} | β_F] is the change of the affine map [A | c] on the way
around R, counterclockwise across F (`tropical_weights`), and all changes on the closed way add up
to 0.

Source: the three-layer paper (arXiv 2605.18319), Theorem 1 and Lemma 7. Conversely, balanced
weights belong to a function, which `reconstruct` computes.
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
    """Find a ridge inside the domain around which the weighted normals do not add up to 0.

    The weights of a network are balanced around every ridge. If this function finds an unbalanced
    ridge, the weights or the cells are wrong.

    Parameters
    ----------
    breakpoints
        The weights of a complete complex.

    Returns
    -------
    Cell or None
        The unbalanced ridge of least number, a cell of codimension 2; None if the weights are
        balanced around every ridge.

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
    fans = _oriented_fans(breakpoints, _inner_incidences(cells))
    for ridge, members in fans.by_ridge():
        if any(map(any, _fan_sum(breakpoints, fans, members))):
            return Cell(cells.dimension - 2, ridge)
    return None


def is_balanced(breakpoints: BreakpointComplex) -> bool:
    """Check whether the weighted normals add up to 0 around every ridge inside the domain.

    Parameters
    ----------
    breakpoints
        The weights of a complete complex.

    Returns
    -------
    bool
        Whether the weights are balanced around every ridge, as the weights of a network are.

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
    """Compute the sum Σ_F ω_F [n_{F,R} | β_F] over the facets F around a ridge R.

    The normals n_{F,R} are the primitive integer normals of the facets, all oriented in the same
    direction around R, and β_F is the number with n_{F,R}·x + β_F = 0 on F.

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
    fans = _oriented_fans(breakpoints, pairs)
    ((_, members),) = fans.by_ridge()
    rows = _fan_sum(breakpoints, fans, members)
    return (
        rows
        or [[Fraction()] * (breakpoints.cells.network.num_inputs + 1)]
        * breakpoints.weights.shape[1]
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
    """The fans of ridges: P pairs of a ridge and a facet around it, in arrays of shape (P,).

    Every facet has a *form*, the form that vanishes on it in `PolyhedralComplex.facet_forms`.

    Attributes
    ----------
    ridges
        The ridges, ascending.
    positions
        The positions of the facets in the breakpoint complex.
    hyperplanes
        A number for the hyperplane that contains the facet, the same for all facets in it.
    form_signs
        The sign of the first nonzero entry of the form. Forms on one hyperplane, multiplied by
        these signs, are positive multiples of each other.
    orientations
        The sign 1 if the form is positive on the counterclockwise side of the ray, else -1.
    """

    ridges: Indices
    positions: Indices
    hyperplanes: Indices
    form_signs: Indices
    orientations: Indices

    def by_ridge(self) -> Iterator[tuple[int, range]]:
        """Generate each ridge with the range of its pairs in the arrays."""
        starts = np.flatnonzero(np.diff(self.ridges, prepend=-1)).tolist()
        for start, stop in pairwise([*starts, len(self.ridges)]):
            yield int(self.ridges[start]), range(start, stop)


def _oriented_fans(breakpoints: BreakpointComplex, pairs: Indices) -> _Fans:
    """Compute the fans and their orientations, in the coordinates y of the domain.

    Two forms u, v that vanish on R and are not multiples of each other are coordinates of the plane
    modulo R, and choose its orientation. The ray of F is spanned by (u(p), v(p)), where p is a
    point inside F. The form of F is a u + b v, and it is positive on the counterclockwise side of
    the ray if b u(p) - a v(p) > 0, its value in the direction (-v(p), u(p)).

    To compute a and b, take two columns i, j with m = u_i v_j - u_j v_i ≠ 0. Cramer's rule for the
    equations f_i = a u_i + b v_i and f_j = a u_j + b v_j of a form f gives m a = f_i v_j - f_j v_i
    and m b = u_i f_j - u_j f_i.
    """
    positions = np.searchsorted(breakpoints.facets, pairs[:, 1])
    forms, hyperplanes, form_signs = _forms(breakpoints, positions)
    ridges = pairs[:, 0]
    if not len(ridges):
        return _Fans(ridges, positions, hyperplanes, form_signs, form_signs)
    starts = np.flatnonzero(np.diff(ridges, prepend=-1))
    counts = np.diff([*starts, len(ridges)])
    first = np.repeat(starts, counts)
    others = np.where(hyperplanes != hyperplanes[first], np.arange(len(ridges)), len(ridges))
    # A facet in another hyperplane exists: R is a face of a region, and exactly two facets of this
    # region contain R, which are in different hyperplanes.
    second = np.repeat(np.minimum.reduceat(others, starts), counts)
    u, v = forms[first], forms[second]
    cells = breakpoints.cells
    points = cells.generators.points_inside(cells.dimension - 1)[pairs[:, 1]]
    i = (u[:, :-1] != 0).argmax(axis=1)
    rows = np.arange(len(forms))
    minors = u[rows, i][:, None] * v[:, :-1] - u[:, :-1] * v[rows, i][:, None]
    j = (minors != 0).argmax(axis=1)
    m = minors[rows, j]
    ma = forms[rows, i] * v[rows, j] - forms[rows, j] * v[rows, i]
    mb = u[rows, i] * forms[rows, j] - u[rows, j] * forms[rows, i]
    values = (mb * (u * points).sum(axis=1) - ma * (v * points).sum(axis=1)) * m
    orientations = (values > 0).astype(np.int64) - (values < 0).astype(np.int64)
    return _Fans(ridges, positions, hyperplanes, form_signs, orientations)


def _forms(
    breakpoints: BreakpointComplex, positions: Indices
) -> tuple[BigIntegers, Indices, Indices]:
    """Return the forms of facets over (y, t), with `hyperplanes`, `form_signs` of `_Fans`."""
    cells = breakpoints.cells
    distinct = cells.facet_forms(breakpoints.facets[positions])
    known: dict[tuple[int, ...], int] = {}
    hyperplanes, form_signs = [], []
    for row in distinct.rows:
        sign = 1 if next(filter(None, row)) > 0 else -1
        hyperplanes.append(known.setdefault(tuple(sign * entry for entry in row), len(known)))
        form_signs.append(sign)
    size = cells.frame.dimension + 1
    table = np.array(distinct.rows, dtype=object).reshape(len(distinct.rows), size)
    return (
        table[distinct.which],
        np.array(hyperplanes, dtype=np.int64)[distinct.which],
        np.array(form_signs, dtype=np.int64)[distinct.which],
    )


def _fan_sum(breakpoints: BreakpointComplex, fans: _Fans, members: range) -> list[list[Fraction]]:
    """Return the sum Σ_F ω_F [n_{F,R} | β_F] over the fan of a ridge, a row for each output.

    Facets in one hyperplane are added first, since their rows are equal up to signs. The result is
    an empty list if the weights in every hyperplane add up to 0 with these signs.
    """
    factors: dict[int, list[Fraction]] = {}
    forms: dict[int, list[int]] = {}
    for member in members:
        position, hyperplane, form_sign, orientation = (
            int(array[member])
            for array in (fans.positions, fans.hyperplanes, fans.form_signs, fans.orientations)
        )
        weights, divisor = breakpoints.weights[position].tolist(), breakpoints.divisors[position]
        sums = factors.setdefault(hyperplane, [Fraction()] * len(weights))
        factors[hyperplane] = [
            total + orientation * form_sign * weight / divisor
            for total, weight in zip(sums, weights, strict=True)
        ]
        form = [form_sign * entry for entry in breakpoints.forms[position].tolist()]
        forms.setdefault(hyperplane, form)
    if not any(map(any, factors.values())):
        return []
    columns = list(zip(*forms.values(), strict=True))
    outputs = list(zip(*(factors[hyperplane] for hyperplane in forms), strict=True))
    return [
        [sum((f * x for f, x in zip(row, column, strict=True)), Fraction()) for column in columns]
        for row in outputs
    ]
