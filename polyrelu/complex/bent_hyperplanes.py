"""What one neuron contributes: its bent hyperplane and its fold-set; and whether they meet generically."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polyrelu.complex.subcomplex import Subcomplex, around
from polyrelu.errors import DomainError
from polyrelu.network import NeuronId

if TYPE_CHECKING:
    from polyrelu.complex.polyhedral_complex import Cell, PolyhedralComplex

__all__ = ["bent_hyperplane", "fold_set", "supertransversality_violation"]


def bent_hyperplane(cells: PolyhedralComplex, neuron: NeuronId) -> Subcomplex:
    """The cells on which a neuron's preactivation is 0, next to cells on which it is not.

    Source: the zero set where the preactivation is not constant, as in the three-layer paper, section 3. A neuron that
    is 0 on an open region contributes the boundary of that region only.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])]))
    >>> bent_hyperplane(cells, NeuronId(2, 0)).f_vector
    (2, 3, 0)
    """
    return _zero_next_to(cells, neuron, (-1, 1))


def fold_set(cells: PolyhedralComplex, neuron: NeuronId) -> Subcomplex:
    """The cells on which a neuron's preactivation is 0, next to cells on which it is positive.

    Source: the unit fold-set {z = 0, and z > 0 somewhere in every neighbourhood} of Phuong and Lampert (2020),
    Definition A.10. For generic parameters it is the bent hyperplane.
    """
    return _zero_next_to(cells, neuron, (1,))


def _zero_next_to(
    cells: PolyhedralComplex, neuron: NeuronId, wanted: tuple[int, ...]
) -> Subcomplex:
    """The cells where the preactivation is 0, in the closure of regions where it has a wanted sign.

    Regions suffice: a sign that is not 0 on a cell is the same on all regions around it.
    """
    column = cells.neuron_positions.get((neuron.layer, neuron.index))
    if column is None:
        raise DomainError(
            f"there is no hidden neuron {neuron.index} in layer {neuron.layer} among those that were cut"
        )
    near = around(cells, np.isin(cells.all_signs[-1][:, column], wanted))
    zero = [signs[:, column] == 0 for signs in cells.all_signs]
    return Subcomplex(cells, tuple(a & b for a, b in zip(near, zero, strict=True)))


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
        zeros = (cells.all_signs[dimension] == 0).sum(axis=1) + (
            cells.constraint_signs(dimension) == 0
        ).sum(axis=1)
        wrong = np.flatnonzero(zeros != cells.dimension - dimension)
        if len(wrong):
            return Cell(dimension, int(wrong[0]))
    return None
