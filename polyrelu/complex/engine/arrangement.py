"""The cells that d independent affine forms cut out of R^d, points at infinity included.

Where the forms take the signs g ∈ {-1, 0, 1}^d there is exactly one cell, an orthant in suitable coordinates: the hull
of the apex, where all forms are 0, and of one direction for every nonzero sign. Without the apex the same signs name
the face of that cell at infinity. These are the faces of a cone over a cross-polytope.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.engine.face_lattice import Lattice

__all__ = ["orthants"]

_Cell = tuple[int, tuple[int, ...]]  # whether the apex belongs to it, and the signs


def orthants(
    sides: list[tuple[int, ...]],
) -> tuple[Lattice, NDArray[np.int8], list[NDArray[np.int32]]]:
    """The lattice, the signs of the vertices, and the forms on which the cells lie.

    Parameters
    ----------
    sides : for each form the nonzero signs that are wanted: (1, -1), or (1,) for one side only.

    Returns
    -------
    The lattice; signs of t and of the forms at the vertices, shape (f_0, d + 1); for every k the d - k forms on which
    each cell of dimension k lies, shape (f_k, d - k), 0 meaning infinity and i the i-th form.
    """
    dimension = len(sides)
    cells: list[list[_Cell]] = [[] for _ in range(dimension + 1)]
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


def _facets(cell: _Cell) -> list[_Cell]:
    apex, signs = cell
    smaller = [(*signs[:i], 0, *signs[i + 1 :]) for i, sign in enumerate(signs) if sign]
    facets = [(apex, face) for face in smaller if apex or any(face)]
    return [(0, signs), *facets] if apex and any(signs) else facets


def _forms(level: list[_Cell], count: int) -> NDArray[np.int32]:
    forms = [
        [*([] if apex else [0]), *(i for i, sign in enumerate(signs, 1) if not sign)]
        for apex, signs in level
    ]
    return np.array(forms, dtype=np.int32).reshape(len(level), count)
