"""Which folds of neurons the function shows: honest, cancellation-free, visible hyperplanes.

Source: the three-layer paper (arXiv 2605.18319), appendix B.5 and B.6.

* A cell of codimension 1 is *non-bending* at one of codimension 2 if another cell of codimension 1
  around it lies in the same hyperplane; a cell of codimension 2 is non-bending if all cells of
  codimension 1 around it are. A parameter is *honest* if each non-bending cell of codimension 2
  lies on bent hyperplanes of one layer only (Definitions 12 and 14).
* A parameter is *cancellation-free* if a cell of codimension 1 is visible wherever some neuron of
  each later layer is active on it (Definition 15); there, what the function does not show is a sum
  that cancels. The first layer with a neuron that bends at the cell counts.
* Its Theorem 3: for generic parameters with n_0 ≥ n_1 and two hidden layers a hyperplane of the
  first layer is the same in all generic parameters with the same function if it is *anchored*: if
  a neuron of the second layer is positive somewhere on it.

The complex of the whole network is looked at, inside the domain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyrelu.breakpoints import breakpoint_complex
from polyrelu.complex import Cell, PolyhedralComplex, bent_hyperplane
from polyrelu.complex.completeness import require_complete
from polyrelu.complex.interior_points import point_in
from polyrelu.complex.polyhedral_complex import expect_complex
from polyrelu.conditions import Condition
from polyrelu.conditions.condition import neuron_text, point_text
from polyrelu.errors import NetworkError
from polyrelu.foldsets.surfaces import hyperplane_of
from polyrelu.network import NeuronId
from polyrelu.support.display import bracketed
from polyrelu.support.typing import Mask, Point

__all__ = [
    "Anchor",
    "HiddenFold",
    "cancellation_free",
    "honest",
    "visible_hyperplanes",
]


@dataclass(frozen=True, slots=True, repr=False)
class HiddenFold:
    """A cell that the definitions of honest or of cancellation-free forbid.

    Attributes
    ----------
    cell
        The cell, of codimension 1 or 2.
    neurons
        The neurons whose bent hyperplanes contain it.
    point
        A point inside the cell.

    Examples
    --------
    >>> from fractions import Fraction
    >>> print(HiddenFold(Cell(0, 2), (NeuronId(1, 0), NeuronId(2, 1)), (Fraction(1, 2),)))
    neuron 0 of layer 1, neuron 1 of layer 2 at (1/2)
    """

    cell: Cell
    neurons: tuple[NeuronId, ...]
    point: Point

    def __str__(self) -> str:
        return f"{', '.join(map(neuron_text, self.neurons))} at {point_text(self.point)}"

    def __repr__(self) -> str:
        return bracketed(f"HiddenFold, {self}")


@dataclass(frozen=True, slots=True, repr=False)
class Anchor:
    """A point where a neuron of layer 2 is positive on a hyperplane of layer 1.

    Attributes
    ----------
    neuron
        The neuron of layer 1.
    by
        The neuron of layer 2.
    point
        The point.

    Examples
    --------
    >>> from fractions import Fraction
    >>> print(Anchor(NeuronId(1, 0), NeuronId(2, 1), (Fraction(0), Fraction(1))))
    neuron 0 of layer 1 is anchored by neuron 1 of layer 2 at (0, 1)
    """

    neuron: NeuronId
    by: NeuronId
    point: Point

    def __str__(self) -> str:
        anchor = f"{neuron_text(self.by)} at {point_text(self.point)}"
        return f"{neuron_text(self.neuron)} is anchored by {anchor}"

    def __repr__(self) -> str:
        return bracketed(f"Anchor, {self}")


def honest(cells: PolyhedralComplex) -> Condition[HiddenFold]:
    """Check whether non-bending cells of codimension 2 lie on bent hyperplanes of one layer only.

    Parameters
    ----------
    cells
        A complete complex, of any network on any domain.

    Returns
    -------
    Condition
        The condition "honest"; its evidence is a non-bending cell on bent hyperplanes of several
        layers, its count is the number of cells of codimension 2 inside the domain.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one.

    Notes
    -----
    Source: the three-layer paper (arXiv 2605.18319), Definitions 12 and 14.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> first = ([[1, 0], [0, 1]], [0, 0])
    >>> print(honest(canonical_complex(from_arrays([first, ([[1, 1]], [-1]), ([[1]], [0])]))))
    honest: holds, 3 cells
    >>> first = ([[1, 0], [-1, 0], [0, 1]], [0, 0, 0])    # layer 2 has x + max(y, 0) - 1
    >>> print(honest(canonical_complex(from_arrays([first, ([[1, -1, 1]], [-1]), ([[1]], [0])]))))
    honest: fails, neuron 0 of layer 1, neuron 1 of layer 1, neuron 0 of layer 2 at (0, 1)
    """
    cells = expect_complex(cells)
    require_complete(cells, "honest parameters")
    dimension = cells.dimension - 2
    if dimension < cells.lineality_dim:
        return Condition("honest", "holds", 0, "cells")
    folds = _folds(cells, dimension)
    layers = np.array([neuron.layer for neuron in cells.neurons])
    straight = _straight_ridges(cells)
    beyond = layers.max(initial=0) + 1
    lowest = np.where(folds, layers, beyond).min(axis=1, initial=beyond)
    mixed = (folds & (layers > lowest[:, None])).any(axis=1)
    inside = cells.inside(dimension)
    wrong = np.flatnonzero(straight & mixed & inside)
    checked = int(inside.sum()) - len(wrong)
    if not len(wrong):
        return Condition("honest", "holds", checked, "cells")
    evidence = _evidence(cells, Cell(dimension, int(wrong[0])), folds)
    return Condition("honest", "fails", checked, "cells", evidence)


def cancellation_free(cells: PolyhedralComplex) -> Condition[HiddenFold]:
    """Check whether cells of codimension 1 are visible if later layers have active neurons there.

    Parameters
    ----------
    cells
        A complete complex, of any network on any domain.

    Returns
    -------
    Condition
        The condition "cancellation_free"; its evidence is an invisible cell on which each layer
        after the first one that bends there has an active neuron, its count is the number of cells
        of codimension 1 inside the domain.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one.

    Notes
    -----
    Source: the three-layer paper (arXiv 2605.18319), Definition 15.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, -1]], [0])])    # x
    >>> print(cancellation_free(canonical_complex(net)))
    cancellation_free: fails, neuron 0 of layer 1, neuron 1 of layer 1 at (0)
    """
    cells = expect_complex(cells)
    require_complete(cells, "cancellation-free parameters")
    breakpoints = breakpoint_complex(cells)
    dimension = cells.dimension - 1
    facets = breakpoints.facets[~breakpoints.visible]
    folds = _folds(cells, dimension) if len(facets) else np.zeros((0, 0), dtype=bool)
    layers = np.array([neuron.layer for neuron in cells.neurons])
    hidden = cells.network.num_hidden_layers
    evidence, num_wrong = None, 0
    for facet in facets.tolist():
        bending = layers[folds[facet]]
        active = set(layers[cells.signs(dimension)[facet] > 0].tolist())
        if len(bending) and active.issuperset(range(int(bending.min()) + 1, hidden + 1)):
            num_wrong += 1
            if evidence is None:
                evidence = _evidence(cells, Cell(dimension, facet), folds)
    checked = len(breakpoints) - num_wrong
    if evidence is None:
        return Condition("cancellation_free", "holds", checked, "cells")
    return Condition("cancellation_free", "fails", checked, "cells", evidence)


def visible_hyperplanes(cells: PolyhedralComplex) -> tuple[Anchor | None, ...]:
    """Find a point on each hyperplane of layer 1 where a neuron of layer 2 is positive.

    Parameters
    ----------
    cells
        A complete complex of a network with at least two hidden layers, on any domain.

    Returns
    -------
    tuple of Anchor or None
        For each neuron of layer 1 an anchor inside the domain; None where there is none.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one.
    NetworkError
        The network has fewer than two hidden layers.

    Notes
    -----
    Source: the three-layer paper (arXiv 2605.18319), Theorem 3. For generic parameters on R^n with
    n_0 ≥ n_1 and two hidden layers, all generic parameters with the same function have the
    hyperplanes with anchors.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[2, -1]], [-1]), ([[1]], [0])])
    >>> for anchor in visible_hyperplanes(canonical_complex(net)):
    ...     print(anchor)
    None
    neuron 1 of layer 1 is anchored by neuron 0 of layer 2 at (3/2, 0)
    """
    cells = expect_complex(cells)
    require_complete(cells, "visible hyperplanes")
    if cells.network.num_hidden_layers < 2:
        raise NetworkError("visible hyperplanes: the network has fewer than two hidden layers")
    dimension = cells.dimension - 1
    if dimension < 0:
        return (None,) * cells.network.widths[1]
    second = [k for k, neuron in enumerate(cells.neurons) if neuron.layer == 2]
    positive = cells.signs(dimension)[:, second] > 0
    inside = np.zeros(len(positive), dtype=bool)
    inside[cells.common_facets()] = True
    found: list[Anchor | None] = []
    for neuron in cells.neurons[: cells.network.widths[1]]:
        on = bent_hyperplane(cells, neuron).masks[dimension] & inside
        facets = np.flatnonzero(on & positive.any(axis=1))
        anchor = None
        if len(facets):
            cell = Cell(dimension, int(facets[0]))
            by = cells.neurons[second[int(positive[cell.index].argmax())]]
            anchor = Anchor(neuron, by, point_in(cells, cell))
        found.append(anchor)
    return tuple(found)


def _folds(cells: PolyhedralComplex, dimension: int) -> NDArray[np.bool_]:
    """Which cells of a dimension lie on the bent hyperplane of each neuron, a column for each."""
    columns = [bent_hyperplane(cells, neuron).masks[dimension] for neuron in cells.neurons]
    size = cells.size(dimension)
    return np.stack(columns, axis=1) if columns else np.zeros((size, 0), dtype=bool)


def _straight_ridges(cells: PolyhedralComplex) -> Mask:
    """Which cells of codimension 2 are non-bending: all cells around them lie in pairs."""
    between = cells.common_facets()
    forms = cells.facet_forms(between)
    planes = [hyperplane_of(cells, row) for row in forms.rows]
    numbers = {plane: number for number, plane in enumerate(sorted(set(planes)))}
    offsets, entries = cells.facets(cells.dimension - 1)
    around: dict[int, dict[int, int]] = {}
    for facet, which in zip(between.tolist(), forms.which.tolist(), strict=True):
        for ridge in entries[offsets[facet] : offsets[facet + 1]].tolist():
            counts = around.setdefault(ridge, {})
            number = numbers[planes[which]]
            counts[number] = counts.get(number, 0) + 1
    mask: Mask = np.zeros(cells.size(cells.dimension - 2), dtype=bool)
    mask[[ridge for ridge, counts in around.items() if min(counts.values()) > 1]] = True
    return mask


def _evidence(cells: PolyhedralComplex, cell: Cell, folds: NDArray[np.bool_]) -> HiddenFold:
    """The evidence for a forbidden cell."""
    neurons = (cells.neurons[k] for k in np.flatnonzero(folds[cell.index]).tolist())
    return HiddenFold(cell, tuple(neurons), point_in(cells, cell))
