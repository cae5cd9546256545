"""`FacetForms`: the affine forms that vanish on cells of codimension 1, as exact integer rows.

Weights and balancing compare thousands of cells that lie on few different forms. The rows are
therefore listed once, and an array says which of them belongs to which cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyrelu.complex.engine.cells import CellArrays
from polyrelu.support.arrays import read_only
from polyrelu.support.display import count_text
from polyrelu.support.typing import Indices, IntegerRow

__all__ = ["FacetForms", "forms_of_facets"]


@dataclass(frozen=True, slots=True, eq=False)
class FacetForms:
    """The affine forms that vanish on some cells of codimension 1.

    Cell i of the request lies in the hyperplane a·y + b t = 0 with [a | b] = rows[which[i]]. The
    same hyperplane can occur in several rows, with different multiples.

    Attributes
    ----------
    rows
        Primitive integer rows [a | b] over (y, t), where y are the coordinates of the complex's
        `Frame`; shape (m, d + 1). A row is a positive multiple of the preactivation of a neuron on
        the regions around the cell, or of c - a·x for a constraint of the domain.
    columns
        For each row the column of its neuron in `PolyhedralComplex.signs`, -1 for a constraint of
        the domain; shape (m,).
    which
        For each requested cell the number of its row; shape (number of requested cells,).

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[2], [4]], [1, 2]), ([[1, 1]], [0])]))
    >>> forms = cells.facet_forms(np.arange(1))
    >>> forms, forms.rows, forms.which.tolist()
    (<FacetForms, 1 form, 1 cell>, [(2, 1)], [0])
    """

    rows: list[IntegerRow]
    columns: Indices
    which: Indices

    def __repr__(self) -> str:
        counts = [(len(self.rows), "form"), (len(self.which), "cell")]
        return f"<FacetForms, {count_text(counts)}>"


def forms_of_facets(arrays: CellArrays, indices: Indices) -> FacetForms:
    """The forms that vanish on the finite cells of codimension 1 with the given indices."""
    of_lattice = arrays.finite[arrays.dimension - 1][indices]
    numbers = arrays.facet_forms[of_lattice].astype(np.int64)
    _, first, which = np.unique(arrays.table.keys(numbers), return_index=True, return_inverse=True)
    known = numbers[first].tolist()
    rows = [tuple(arrays.table.exact_row(number)) for number in known]
    columns = [arrays.column_of_form(number) for number in known]
    return FacetForms(rows, read_only(np.array(columns, dtype=np.int64)), read_only(which.ravel()))
