"""Comparing where and by how much two functions bend.

Both breakpoint complexes are looked at on the canonical complex of the two networks side by side,
which refines both. Each of its cells of codimension 1 between two regions has a weight of the one
and of the other function. The fold-sets are equal iff the same cells have weights that are not 0;
the weights are equal iff the difference of the functions is affine (the three-layer paper, arXiv
2605.18319, Theorem 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from polyrelu.breakpoints import breakpoint_complex
from polyrelu.complex import Cell, PolyhedralComplex, canonical_complex
from polyrelu.complex.interior_points import point_in
from polyrelu.errors import NetworkError
from polyrelu.formats import DomainLike, NetworkLike, as_network
from polyrelu.network import AffineMap
from polyrelu.network.pairs import side_by_side
from polyrelu.support.display import bracketed
from polyrelu.support.typing import IntegerRow, Mask, Point

__all__ = ["BreakpointComparison", "WeightDifference", "compare_breakpoints"]


@dataclass(frozen=True, slots=True, repr=False)
class WeightDifference:
    """A place where two functions have different weights.

    Attributes
    ----------
    point
        A point inside a cell of codimension 1, near which both functions bend along the cell only.
    normal
        The primitive integer normal to which the weights belong.
    first, second
        The weights, one number for each output; 0 where a function does not bend.

    Examples
    --------
    >>> WeightDifference((Fraction(0),), (1,), (Fraction(2),), (Fraction(3),))
    <WeightDifference at (0): 2 and 3>
    """

    point: Point
    normal: IntegerRow
    first: tuple[Fraction, ...]
    second: tuple[Fraction, ...]

    def __repr__(self) -> str:
        point, first, second = (
            ", ".join(map(str, row)) for row in (self.point, self.first, self.second)
        )
        return bracketed(f"WeightDifference at ({point}): {first} and {second}")


@dataclass(frozen=True, slots=True, repr=False)
class BreakpointComparison:
    """How the breakpoint complexes of two functions differ.

    Attributes
    ----------
    only_first, only_second
        A point where only the first, or only the second function bends; None if there is none.
    different_weights
        A place where the weights differ; None if they are equal everywhere. Weights are compared
        if the functions have equally many outputs.
    difference
        The affine map f - g, if the weights are equal; on a domain of lower dimension in the
        coordinates that the equations of its affine hull leave free.

    Examples
    --------
    >>> compare_breakpoints([([[1]], [0]), ([[1]], [0])], [([[-1]], [0]), ([[1]], [2])])
    <BreakpointComparison, same set, same weights>
    """

    only_first: Point | None
    only_second: Point | None
    different_weights: WeightDifference | None
    difference: AffineMap | None

    @property
    def is_same_set(self) -> bool:
        """Whether both functions bend at the same points."""
        return self.only_first is None and self.only_second is None

    @property
    def is_same_weights(self) -> bool:
        """Whether the weights are equal, that is, the difference of the functions is affine."""
        return self.difference is not None

    @property
    def is_same_function(self) -> bool:
        """Whether the functions are equal."""
        found = self.difference
        return found is not None and found.matrix.is_zero() and found.offset.is_zero()

    def __repr__(self) -> str:
        sets = "same set" if self.is_same_set else "different sets"
        weights = "same weights" if self.is_same_weights else "different weights"
        return f"<BreakpointComparison, {sets}, {weights}>"


def compare_breakpoints(
    first: NetworkLike, second: NetworkLike, domain: DomainLike = None
) -> BreakpointComparison:
    """Compare the breakpoint complexes of two networks inside a domain.

    Parameters
    ----------
    first, second
        Networks with equally many inputs, or what `polyrelu.load` takes.
    domain
        A nonempty polyhedron, or a text such as ``"box:-1,1"``; None for R^n.

    Returns
    -------
    BreakpointComparison
        Whether they are the same set with the same weights, and a point where they are not.

    Raises
    ------
    NetworkError
        The networks have different numbers of inputs.
    DomainError
        The domain is empty or lies in another space, or there are too many cells to list.

    Notes
    -----
    Source: the three-layer paper (arXiv 2605.18319), Theorem 1.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> one = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])
    >>> other = from_arrays([([[1, 0], [0, 1]], [0, -1]), ([[3, 1]], [0])])
    >>> found = compare_breakpoints(one, other)
    >>> found.is_same_set, [str(entry) for entry in found.only_first]
    (False, ['1', '0'])
    >>> found.different_weights.first == found.different_weights.second
    False
    """
    first, second = as_network(first), as_network(second)
    if first.num_inputs != second.num_inputs:
        raise NetworkError(
            f"second: expected a network with {first.num_inputs} inputs, as the first one has, "
            f"not with {second.num_inputs}"
        )
    cells = canonical_complex(side_by_side(first, second), domain)
    breakpoints = breakpoint_complex(cells)
    split = first.num_outputs
    table = breakpoints.integers.numerators
    one, other = table[:, :split], table[:, split:]
    bends, others = ((part != 0).any(axis=1) for part in (one, other))

    def place(marked: Mask) -> Point | None:
        """A point in the first marked cell."""
        found = np.flatnonzero(marked)
        if not len(found):
            return None
        return point_in(cells, Cell(cells.dimension - 1, int(breakpoints.facets[found[0]])))

    different, difference = None, None
    if one.shape == other.shape:
        marked = (one != other).any(axis=1)
        point = place(marked)
        if point is not None:
            weight = breakpoints.weight(int(breakpoints.facets[marked.argmax()]))
            values = weight.weight[:split], weight.weight[split:]
            different = WeightDifference(point, weight.normal, *values)
        else:
            difference = _difference(cells, split)
    return BreakpointComparison(
        place(bends & ~others), place(others & ~bends), different, difference
    )


def _difference(cells: PolyhedralComplex, split: int) -> AffineMap:
    """The first outputs minus the others, where this is affine; 0 if it is 0 on the domain."""
    both = cells.network.affine_map(cells.signs_of_region(0))
    rows = both.matrix.beside(both.offset)
    first, second = rows.take(rows=range(split)), rows.take(rows=range(split, rows.nrows))
    found, size = (first - second) @ cells.frame.on_hull, cells.network.num_inputs
    return AffineMap(found.take(columns=range(size)), found.take(columns=[size]))
