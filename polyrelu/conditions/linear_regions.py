"""The linear-regions property: the gradient jumps at every cell of codimension 1 inside the domain.

Source: Rolnick and Kording (2020), arXiv 1910.00744, Linear Regions Assumption (LRA): the network
computes different affine functions on the two sides of every piece of a bent hyperplane. The two
sides are any two neighbouring regions of the canonical complex, so one *invisible* cell between
two regions violates the property. On a domain of lower dimension the functions on the domain are
compared. For skip connections and a ReLU at the end the definition is literally the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from polyrelu.breakpoints.tropical_weights import BreakpointComplex, breakpoint_complex
from polyrelu.complex import Cell
from polyrelu.complex.completeness import require_complete
from polyrelu.complex.interior_points import point_in
from polyrelu.complex.polyhedral_complex import PolyhedralComplex
from polyrelu.conditions.condition import Condition, as_complex, point_text
from polyrelu.errors import DomainError
from polyrelu.support.arguments import expect
from polyrelu.support.display import bracketed

__all__ = ["InvisibleFacet", "linear_regions_property"]


@dataclass(frozen=True, slots=True, repr=False)
class InvisibleFacet:
    """A cell of codimension 1 inside the domain with the same affine map on both sides.

    Attributes
    ----------
    facet
        The cell.
    regions
        The numbers of the regions on its two sides.
    point
        A point inside the cell.

    Examples
    --------
    >>> print(InvisibleFacet(Cell(0, 0), (0, 1), (Fraction(0),)))
    one affine map on the regions 0 and 1, between which (0) lies
    """

    facet: Cell
    regions: tuple[int, int]
    point: tuple[Fraction, ...]

    def __str__(self) -> str:
        one, other = self.regions
        return (
            f"one affine map on the regions {one} and {other}, between which "
            f"{point_text(self.point)} lies"
        )

    def __repr__(self) -> str:
        return bracketed(f"InvisibleFacet, {self}")


def linear_regions_property(
    cells: PolyhedralComplex, *, breakpoints: BreakpointComplex | None = None
) -> Condition[InvisibleFacet]:
    """Check whether every cell of codimension 1 inside the domain is visible.

    Parameters
    ----------
    cells
        A complete complex, of any network on any domain.
    breakpoints
        Its breakpoint complex, if it is known already.

    Returns
    -------
    Condition
        The condition "lra"; its evidence is an invisible cell, its count is the number of cells of
        codimension 1 inside the domain.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one, or the breakpoints belong to another complex.

    Notes
    -----
    Source: Rolnick and Kording (2020), arXiv 1910.00744.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [2]], [0, 1]), ([[1, 1]], [0])])
    >>> print(linear_regions_property(canonical_complex(net)))
    lra: holds, 2 cells of codimension 1
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, -1]], [0])])
    >>> print(linear_regions_property(canonical_complex(net)))
    lra: fails, one affine map on the regions 0 and 1, between which (0) lies
    """
    cells = as_complex(cells)
    require_complete(cells, "the linear-regions property")
    known = breakpoint_complex(cells) if breakpoints is None else breakpoints
    known = expect(known, BreakpointComplex, "breakpoints", "breakpoint_complex(cells) makes it")
    if known.cells is not cells:
        raise DomainError("the breakpoint complex belongs to another complex")
    invisible = np.flatnonzero(~known.visible)
    visible, subject = len(known) - len(invisible), "cells of codimension 1"
    if not len(invisible):
        return Condition("lra", "holds", visible, subject)
    first = int(invisible[0])
    facet = Cell(cells.dimension - 1, int(known.facets[first]))
    one, other = sorted((int(known.plus[first]), int(known.minus[first])))
    return Condition(
        "lra",
        "fails",
        visible,
        subject,
        InvisibleFacet(facet, (one, other), point_in(cells, facet)),
    )
