"""Balancing: around every ridge inside the domain the weighted normals of the facets add up to 0.

Here a *facet* is a cell of codimension 1 between two regions, and a *ridge* is a cell of
codimension 2 in the relative interior of the domain. The equations tie the weights, which come from
gradients, to the geometry of the cells, so that a wrong weight or a wrong cell violates one. The
orientations of the normals come from the regions around a ridge, without any arithmetic.

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

**The computation.** A way around R crosses each F once, from one region to the next. It crosses F
in the direction of n_{F,R} or, on the opposite way, of -n_{F,R}: so n_{F,R} is the normal that
points to the region entered, up to a common sign, and the order of the regions around R gives all
orientations. The sums are integers over one denominator with a bound that is known before; they are
added as int64 where the bound is small, else modulo primes (`polyrelu.exact.residues`).

Source: the three-layer paper (arXiv 2605.18319), Theorem 1 and Lemma 7. Conversely, balanced
weights belong to a function, which `reconstruct` computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.breakpoints.integer_weights import IntegerWeights
from polyrelu.breakpoints.tropical_weights import BreakpointComplex, expect_breakpoints
from polyrelu.complex import Cell
from polyrelu.complex.completeness import require_complete
from polyrelu.complex.crossings import ENTRIES_AT_A_TIME
from polyrelu.errors import DomainError
from polyrelu.exact.integer_arrays import as_objects, distinct, largest
from polyrelu.exact.residues import Residues
from polyrelu.support.arguments import expect_integer
from polyrelu.support.typing import Indices, Mask, Signs

__all__ = ["is_balanced", "oriented_sum", "unbalanced_ridge"]

#: The largest prime below 2^27: small enough for `Residues`.
_PRIME = 134_217_689
#: Codes of pairs of a form and a weight up to this number can be combined with another weight.
_LARGEST_CODE = 2**31


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
    rings = _Rings.of(breakpoints)
    wrong = np.flatnonzero(_unbalanced(breakpoints, rings))
    return Cell(cells.dimension - 2, int(rings.ridges[wrong[0]])) if len(wrong) else None


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
    direction around R: the facet of least number is crossed from its side `minus` to `plus`. And
    β_F is the number with n_{F,R}·x + β_F = 0 on F.

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
    rings = _Rings.of(breakpoints)
    place = int(np.searchsorted(rings.ridges, ridge))
    if place == len(rings.ridges) or rings.ridges[place] != ridge:
        raise DomainError(f"there is no cell {ridge} of codimension 2 inside the domain")
    around = slice(rings.starts[place], np.append(rings.starts, len(rings.turns))[place + 1])
    signs, positions = rings.turns[around].tolist(), rings.positions[around]
    jumps = breakpoints.integers.jumps().at(positions)
    rows = as_objects(jumps.rows)[jumps.which]
    terms = as_objects(jumps.factors)[:, :, None] * rows[:, None, :]
    total = (terms * np.array(signs, dtype=object)[:, None, None]).sum(axis=0)
    return [[Fraction(entry, jumps.denominator) for entry in row] for row in total.tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class _Rings:
    """The facets around R ridges, N in all, on the way around each ridge.

    Attributes
    ----------
    ridges
        The ridges, ascending, shape (R,).
    starts
        The place of the first facet of each ridge in the other arrays, shape (R,).
    positions
        The positions of the facets in the breakpoint complex, ascending for each ridge, shape (N,).
    turns
        The sign 1 for a facet that the way crosses from `minus` to `plus`, else -1; the way crosses
        the first facet of a ridge from `minus` to `plus`. Shape (N,).
    closed
        Whether there is such a way, as there is in every complex, shape (R,).
    """

    ridges: Indices
    starts: Indices
    positions: Indices
    turns: Signs
    closed: Mask

    @classmethod
    def of(cls, breakpoints: BreakpointComplex) -> _Rings:
        """Return the rings of all ridges inside the domain."""
        ridges, positions = _inner_incidences(breakpoints)
        starts = np.flatnonzero(np.diff(ridges, prepend=-1))
        counts = np.diff(starts, append=len(ridges))
        turns = np.zeros(len(ridges), dtype=np.int8)
        closed = np.zeros(len(starts), dtype=bool)
        for count in np.unique(counts).tolist():
            chosen = np.flatnonzero(counts == count)
            places = starts[chosen][:, None] + np.arange(count)
            around = positions[places]
            turns[places], closed[chosen] = _turns(
                breakpoints.plus[around], breakpoints.minus[around]
            )
        return cls(ridges[starts], starts, positions, turns, closed)

    def of_some(self, chosen: Indices) -> _Rings:
        """Return the rings of some of the ridges, given by their places."""
        counts = np.diff(self.starts, append=len(self.positions))[chosen]
        starts = np.cumsum(counts) - counts
        places = np.repeat(self.starts[chosen] - starts, counts) + np.arange(int(counts.sum()))
        return _Rings(
            self.ridges[chosen],
            starts,
            self.positions[places],
            self.turns[places],
            self.closed[chosen],
        )


def _inner_incidences(breakpoints: BreakpointComplex) -> tuple[Indices, Indices]:
    """Return ridges inside the domain and positions of the facets around them, ordered.

    A ridge lies on the boundary of the domain if and only if it is a face of a cell of codimension
    1 there, and these have a region on one side only.
    """
    cells = breakpoints.cells
    k = cells.dimension - 1
    if k <= cells.lineality_dim:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    offsets, ridges = cells.facets(k)
    position = np.full(cells.size(k), -1, dtype=np.int64)
    position[breakpoints.facets] = np.arange(len(breakpoints.facets))
    positions = np.repeat(position, np.diff(offsets))
    inside = np.ones(cells.size(k - 1), dtype=bool)
    inside[ridges[positions < 0]] = False
    kept = inside[ridges]
    keys = ridges[kept] * len(position) + positions[kept]
    keys.sort()
    ordered_ridges, ordered_positions = np.divmod(keys, max(len(position), 1))
    return ordered_ridges, ordered_positions


def _turns(plus: Indices, minus: Indices) -> tuple[Signs, Mask]:
    """Go around ridges with k facets each, given the regions on the two sides, shape (R, k).

    From the region that the way has reached, the next facet that is not used and has this region
    on one side is crossed.

    Returns
    -------
    tuple
        `turns` of shape (R, k) and `closed` of `_Rings`.
    """
    num_ridges, count = plus.shape
    turns = np.zeros(plus.shape, dtype=np.int8)
    turns[:, 0] = 1
    reached, rows = plus[:, 0].copy(), np.arange(num_ridges)
    closed = np.ones(num_ridges, dtype=bool)
    for _ in range(count - 1):
        unused = turns == 0
        up = (minus == reached[:, None]) & unused
        possible = up | ((plus == reached[:, None]) & unused)
        step = possible.argmax(axis=1)
        closed &= possible[rows, step]
        is_up = up[rows, step]
        turns[rows, step] = np.where(is_up, 1, -1)
        reached = np.where(is_up, plus[rows, step], minus[rows, step])
    return turns, closed & (reached == minus[:, 0])


def _unbalanced(breakpoints: BreakpointComplex, rings: _Rings) -> Mask:
    """Return around which ridges the sum of ω n is not 0, or there is no way; shape (R,).

    If that sum is 0, so is the sum of ω β: all forms n·x + β vanish at the points of the ridge.
    """
    integers = breakpoints.integers
    numerators, rows = integers.numerators, integers.rows[:, :-1]
    columns = _deciding_columns(rows, rings.starts, integers.which[rings.positions])
    normals = rows[:, columns] // integers.divisors[:, None]
    most = int(np.diff(rings.starts, append=len(rings.positions)).max(initial=0))
    bound = max(largest(numerators), 1) * max(largest(normals), 1) * max(most, 1)
    system = Residues.for_entries(bound)
    wrong = ~rings.closed
    if system.primes:  # long numbers are compared first
        open_ridges = np.flatnonzero(rings.closed & ~_cancels_in_pairs(integers, rings))
        rings = rings.of_some(open_ridges)
    else:
        open_ridges = np.arange(len(wrong))
    if not len(open_ridges):
        return wrong
    factors, entries = system.of(numerators), system.of(normals)
    for part, residues in system.parts(len(rings.positions), ENTRIES_AT_A_TIME):
        for output in range(numerators.shape[1]):
            for column in range(len(columns)):
                products = np.take(entries[part, :, column], integers.which, axis=1)
                products *= factors[part, :, output]
                around = np.take(residues.reduced(products), rings.positions, axis=1)
                around *= rings.turns
                sums = np.add.reduceat(around, rings.starts, axis=1)
                wrong[open_ridges] |= ~residues.vanish(sums)
    return wrong


def _cancels_in_pairs(integers: IntegerWeights, rings: _Rings) -> Mask:
    """Return around which ridges equal terms with opposite signs cancel, as where nothing bends.

    Only ridges with four facets are looked at.
    """
    cancels = np.zeros(len(rings.starts), dtype=bool)
    four = np.flatnonzero(np.diff(rings.starts, append=len(rings.positions)) == 4)
    codes, count = integers.which, len(integers.rows)
    for column in integers.numerators.T:
        values, places = distinct(column)
        codes, count = codes * len(values) + places, count * len(values)
        if count > _LARGEST_CODE:
            codes = np.unique(codes, return_inverse=True)[1].ravel()
            count = len(codes)
    around = rings.starts[four][:, None] + np.arange(4)
    keys = np.sort(2 * codes[rings.positions[around]] + (rings.turns[around] > 0), axis=1)
    pairs = (keys[:, ::2] % 2 == 0) & (keys[:, 1::2] == keys[:, ::2] + 1)
    cancels[four] = pairs.all(axis=1)
    return cancels


def _deciding_columns(rows: NDArray[Any], starts: Indices, which: Indices) -> list[int]:
    """Return coordinates such that a sum of normals around a ridge is 0 if these are 0.

    The sum lies in the plane that the normals around the ridge span. Two coordinates decide if for
    every ridge two of the normals have a minor in them that is not 0, as is seen modulo a prime.

    Parameters
    ----------
    rows
        Multiples of different normals.
    starts, which
        The normals around the ridges, and the place of the first one of each ridge.
    """
    used = np.flatnonzero((rows != 0).any(axis=0)).tolist()
    if len(used) <= 2:
        return used
    system = Residues(0, (_PRIME,), np.float64)
    pair = system.of(rows[:, used[:2]])[0].astype(np.int64)
    first, lasts = pair[which[starts]], np.append(starts[1:], len(which)) - 1
    decided = np.zeros(len(starts), dtype=bool)
    for step in range(1, int((lasts - starts).max(initial=0)) + 1):
        other = pair[which[np.minimum(starts + step, lasts)]]
        decided |= (first[:, 0] * other[:, 1] - first[:, 1] * other[:, 0]) % _PRIME != 0
        if decided.all():
            return used[:2]
    return used
