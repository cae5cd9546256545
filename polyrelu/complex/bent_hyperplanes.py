"""Bent hyperplanes and fold-sets of single neurons, and whether bent hyperplanes meet generically.

Both sets are subcomplexes of cells on which the preactivation of a neuron is 0. They differ in the
regions that must lie around these cells: regions where the preactivation is not 0, or is positive.
The functions read sign tables only, and work on incomplete complexes too.
"""

from __future__ import annotations

import numpy as np

from polyrelu.complex.cell import Cell
from polyrelu.complex.polyhedral_complex import PolyhedralComplex, expect_complex
from polyrelu.complex.subcomplex import Subcomplex, faces_of_regions
from polyrelu.errors import DomainError
from polyrelu.network import NeuronId
from polyrelu.network.patterns import expect_neuron

__all__ = ["bent_hyperplane", "fold_set", "supertransversality_violation"]


def bent_hyperplane(cells: PolyhedralComplex, neuron: NeuronId) -> Subcomplex:
    """Return the cells where a preactivation is 0, in the closure of regions where it is not.

    A neuron that is 0 on an open region contributes the boundary of that region only.

    Parameters
    ----------
    cells
        A complex in which the neuron is cut.
    neuron
        A hidden neuron.

    Returns
    -------
    Subcomplex
        The bent hyperplane of the neuron.

    Raises
    ------
    DomainError
        The complex has no such hidden neuron, or it is incomplete and the neuron is not cut yet.

    Notes
    -----
    Source: the three-layer paper, section 3, arXiv 2605.18319: the points of the zero set where the
    preactivation is not constant nearby.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> bent_hyperplane(canonical_complex(net), NeuronId(2, 0)).f_vector
    (2, 3, 0)
    """
    return _zeros_beside(cells, neuron, (-1, 1))


def fold_set(cells: PolyhedralComplex, neuron: NeuronId) -> Subcomplex:
    """Return the cells where a preactivation is 0, in the closure of regions where it is positive.

    For generic parameters this is the bent hyperplane.

    Parameters
    ----------
    cells
        A complex in which the neuron is cut.
    neuron
        A hidden neuron.

    Returns
    -------
    Subcomplex
        The fold-set of the neuron.

    Raises
    ------
    DomainError
        The complex has no such hidden neuron, or it is incomplete and the neuron is not cut yet.

    Notes
    -----
    Source: Phuong and Lampert (2020), Definition A.10: the unit fold-set, the points with z = 0
    that have points with z > 0 in every neighbourhood.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0]), ([[1]], [0])])
    >>> fold_set(canonical_complex(net), NeuronId(2, 0)).f_vector    # the border of x, y < 0
    (1, 2, 0)
    """
    return _zeros_beside(cells, neuron, (1,))


def _zeros_beside(
    cells: PolyhedralComplex, neuron: NeuronId, wanted: tuple[int, ...]
) -> Subcomplex:
    """The cells where a preactivation is 0, in the closure of regions where it has a wanted sign.

    It suffices to look at regions: a sign that is not 0 on a cell is the same on all regions around
    the cell.
    """
    cells, neuron = expect_complex(cells), expect_neuron(neuron)
    column = cells._arrays.columns.get((neuron.layer, neuron.index))
    if column is None:
        raise DomainError(
            f"there is no hidden neuron {neuron.index} in layer {neuron.layer} "
            "among those that were cut"
        )
    near = faces_of_regions(cells, np.isin(cells.signs(cells.dimension)[:, column], wanted))
    zero = [cells.signs(k)[:, column] == 0 for k in range(cells.dimension + 1)]
    return Subcomplex(cells, tuple(a & b for a, b in zip(near, zero, strict=True)))


def supertransversality_violation(cells: PolyhedralComplex) -> Cell | None:
    """Find a cell of codimension k whose sign vector has not exactly k zeros.

    Zeros of the constraints of the domain count as well, so that the answer also says whether the
    boundary of the domain is met generically.

    Parameters
    ----------
    cells
        A complex.

    Returns
    -------
    Cell or None
        Such a cell, of the largest possible dimension; None if there is none.

    Notes
    -----
    Source: the three-layer paper, Definition 8.1, arXiv 2605.18319.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> concurrent = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    >>> supertransversality_violation(canonical_complex(concurrent))
    Cell(dimension=0, index=0)
    """
    cells = expect_complex(cells)
    for dimension in range(cells.dimension, cells.lineality_dim - 1, -1):
        hidden = (cells.signs(dimension) == 0).sum(axis=1)
        zeros = hidden + (cells.constraint_signs(dimension) == 0).sum(axis=1)
        wrong = np.flatnonzero(zeros != cells.dimension - dimension)
        if len(wrong):
            return Cell(dimension, int(wrong[0]))
    return None
