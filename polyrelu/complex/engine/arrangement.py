"""The cells that d independent affine forms cut out of R^d, points at infinity included.

A subdivision starts from these cells, and cuts them with all other forms. For all signs
g ∈ {-1, 0, 1}^d there is exactly one cell where the forms have these signs, an orthant in suitable
coordinates: the hull of the apex, where all forms are 0, and of one direction for every nonzero
sign. Without the apex the same signs name the face of that cell at infinity. Together the cells are
the faces of a cone over a cross-polytope.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.engine.face_lattice import Lattice

__all__ = ["orthants"]

#: Whether the apex belongs to a cell (1 or 0), and the signs of the forms on it.
_Orthant = tuple[int, tuple[int, ...]]


def orthants(
    sides: list[tuple[int, ...]],
) -> tuple[Lattice, NDArray[np.int8], list[NDArray[np.int32]]]:
    """Return the lattice, the signs of the vertices, and the forms on which the cells lie.

    Parameters
    ----------
    sides
        For each form the nonzero signs that are wanted: (1, -1), or (1,) for one side only.

    Returns
    -------
    lattice
        The face lattice of the cells.
    signs
        The signs of t and of the forms at the vertices, shape (f_0, d + 1).
    forms
        For every k the d - k forms that vanish on each cell of dimension k, shape (f_k, d - k);
        0 stands for t, and i for the i-th form, counted from 1.
    """
    dimension = len(sides)
    cells: list[list[_Orthant]] = [[] for _ in range(dimension + 1)]
    for signs in itertools.product(*((0, *side) for side in sides)):
        rays = sum(sign != 0 for sign in signs)
        cells[rays].append((1, signs))
        if rays:
            cells[rays - 1].append((0, signs))
    numbers = [{cell: i for i, cell in enumerate(level)} for level in cells]
    faces = [
        [[numbers[k - 1][face] for face in _facets(cell)] for cell in cells[k]]
        for k in range(1, dimension + 1)
    ]
    edges = np.array(faces[0] if dimension else [], dtype=np.int32).reshape(-1, 2)
    lattice = Lattice(dimension, len(cells[0]), edges, [[], *faces])
    signs_of_vertices = np.array([(apex, *signs) for apex, signs in cells[0]], dtype=np.int8)
    return (
        lattice,
        signs_of_vertices,
        [_forms(level, dimension - k) for k, level in enumerate(cells)],
    )


def _facets(cell: _Orthant) -> list[_Orthant]:
    apex, signs = cell
    smaller = [(*signs[:i], 0, *signs[i + 1 :]) for i, sign in enumerate(signs) if sign]
    facets = [(apex, face) for face in smaller if apex or any(face)]
    return [(0, signs), *facets] if apex and any(signs) else facets


def _forms(level: list[_Orthant], count: int) -> NDArray[np.int32]:
    forms = [
        [*([] if apex else [0]), *(i for i, sign in enumerate(signs, 1) if not sign)]
        for apex, signs in level
    ]
    return np.array(forms, dtype=np.int32).reshape(len(level), count)
