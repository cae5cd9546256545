"""What one neuron contributes: its bent hyperplane and its fold-set; and whether they meet generically."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import DomainError
from polyrelu.network import NeuronId

if TYPE_CHECKING:
    from polyrelu.complex.polyhedral_complex import Cell, PolyhedralComplex

__all__ = ["bent_hyperplane", "fold_set", "supertransversality_violation"]

Masks = dict[int, NDArray[np.bool_]]


def bent_hyperplane(cells: PolyhedralComplex, neuron: NeuronId) -> Masks:
    """The cells on which a neuron's preactivation is 0, next to cells on which it is not.

    Source: the zero set where the preactivation is not constant, as in the three-layer paper, section 3. A neuron that
    is 0 on an open region contributes the boundary of that region only.

    Returns
    -------
    For every dimension which cells belong to it; a subcomplex.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])]))
    >>> [int(mask.sum()) for mask in bent_hyperplane(cells, NeuronId(2, 0)).values()]
    [2, 3, 0]
    """
    return _zero_next_to(cells, neuron, (-1, 1))


def fold_set(cells: PolyhedralComplex, neuron: NeuronId) -> Masks:
    """The cells on which a neuron's preactivation is 0, next to cells on which it is positive.

    Source: the unit fold-set {z = 0, and z > 0 somewhere in every neighbourhood} of Phuong and Lampert (2020),
    Definition A.10. For generic parameters it is the bent hyperplane.
    """
    return _zero_next_to(cells, neuron, (1,))


def _zero_next_to(cells: PolyhedralComplex, neuron: NeuronId, wanted: tuple[int, ...]) -> Masks:
    column = cells.neuron_positions.get((neuron.layer, neuron.index))
    if column is None:
        raise DomainError(f"there is no hidden neuron {neuron.index} in layer {neuron.layer} among those that were cut")
    masks: Masks = {}
    near = np.zeros(cells.regions, dtype=bool)  # cells in the closure of one with a wanted sign
    for dimension in range(cells.dimension, cells.lineality_dim - 1, -1):
        signs = cells.all_signs[dimension][:, column]
        masks[dimension] = near & (signs == 0)
        near = near | np.isin(signs, wanted)
        if dimension > cells.lineality_dim:
            offsets, entries = cells.facets(dimension)
            below = np.zeros(cells.size(dimension - 1), dtype=bool)
            below[entries[np.repeat(near, np.diff(offsets))]] = True
            near = below
    return dict(sorted(masks.items()))


def supertransversality_violation(cells: PolyhedralComplex) -> Cell | None:
    """A cell of codimension k whose sign vector has not exactly k zeros, or None if there is none.

    Source: the three-layer paper, Definition 8.1. Zeros of the domain's constraints count as well, so that the answer
    also says whether the boundary of the domain is met generically.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> concurrent = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    >>> supertransversality_violation(canonical_complex(concurrent))
    Cell(dimension=0, index=0)
    """
    from polyrelu.complex.polyhedral_complex import Cell

    for dimension in range(cells.dimension, cells.lineality_dim - 1, -1):
        zeros = (cells.all_signs[dimension] == 0).sum(axis=1) + (cells.constraint_signs(dimension) == 0).sum(axis=1)
        wrong = np.flatnonzero(zeros != cells.dimension - dimension)
        if len(wrong):
            return Cell(dimension, int(wrong[0]))
    return None
