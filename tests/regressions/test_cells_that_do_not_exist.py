"""The index of a cell or region that does not exist raised IndexError.

A negative index gave another cell.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from polyrelu.complex import Cell, PolyhedralComplex, canonical_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import from_arrays

ASK: dict[str, Callable[[PolyhedralComplex, int], object]] = {
    "volume": lambda cells, index: cells.volume(index),
    "region": lambda cells, index: cells.region(index),
    "vertex": lambda cells, index: cells.vertex(index),
    "signs_of_region": lambda cells, index: cells.signs_of_region(index),
    "sign_vector": lambda cells, index: cells.sign_vector(Cell(1, index)),
    "sign_vector, dimension": lambda cells, index: cells.sign_vector(Cell(index, 0)),
    "vertices_and_rays": lambda cells, index: cells.vertices_and_rays(Cell(2, index)),
}


@pytest.mark.parametrize("question", ASK)
@pytest.mark.parametrize("index", [-1, 77])
def test_no_such_cell(question: str, index: int) -> None:
    network = from_arrays([([[1, 1]], [-1]), ([[1]], [0])])
    cells = canonical_complex(network, Polyhedron.box([0, 0], [1, 1]))
    with pytest.raises(DomainError, match=r"there is no .*only|there are no .*only"):
        ASK[question](cells, index)
