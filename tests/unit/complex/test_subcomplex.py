"""Subcomplexes: closed under faces, unions and intersections, errors."""

from __future__ import annotations

import numpy as np
import pytest

from polyrelu.complex import Cell, PolyhedralComplex, Subcomplex, canonical_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.network import from_arrays


def three_lines(domain: Polyhedron | None = None) -> PolyhedralComplex:
    return canonical_complex(
        from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])]), domain
    )


def test_closure_of_everything_and_of_nothing() -> None:
    cells = three_lines()
    everything = Subcomplex.closure(cells, {2: np.ones(7, dtype=bool)})
    assert (everything.f_vector, everything.dimension) == (cells.f_vector, 2)
    nothing = Subcomplex.closure(cells, {})
    assert (nothing.f_vector, nothing.dimension, list(nothing)) == ((0, 0, 0), -1, [])
    assert everything & nothing == nothing
    assert everything | nothing == everything
    assert nothing != everything


def test_masks_of_dimensions_that_there_are_not() -> None:
    for dimension in (-1, 3):
        with pytest.raises(DomainError, match="but the complex has dimension 2"):
            Subcomplex.closure(three_lines(), {dimension: np.ones(7, dtype=bool)})


def test_closure_of_the_triangle() -> None:
    cells = three_lines()
    triangle = Subcomplex.closure(cells, {2: cells.bounded})
    assert triangle.f_vector == (3, 3, 1)
    (region,) = triangle.indices(2).tolist()
    assert Cell(2, region) in triangle
    assert all(Cell(2, index) not in triangle for index in range(7) if index != region)
    assert Cell(3, 0) not in triangle
    assert Cell(2, 99) not in triangle
    assert triangle.indices(5).tolist() == []


def test_complexes_with_lines_have_empty_low_dimensions() -> None:
    cells = canonical_complex(from_arrays([([[1, 1]], [0]), ([[1]], [0])]))
    assert Subcomplex.closure(cells, {2: np.array([True, False])}).f_vector == (0, 1, 1)


def test_wrong_masks_and_other_complexes() -> None:
    cells = three_lines()
    with pytest.raises(DomainError, match="shape"):
        Subcomplex.closure(cells, {2: np.ones(3, dtype=bool)})
    one, other = (Subcomplex.closure(three_lines(), {}) for _ in range(2))
    with pytest.raises(DomainError, match="two complexes"):
        _ = one | other
    assert one != other
    assert one != 5
