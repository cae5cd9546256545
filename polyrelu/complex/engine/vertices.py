"""The vertices: homogeneous float coordinates with a radius, exact ones on demand, and signs of forms at them.

A vertex (y, t), t = 1 at a point and t = 0 at a direction, lies on d independent forms. It is always computed from
those d, never from its neighbours, so that errors do not add up from layer to layer.

**Radius.** Let J be the float rows of the d forms, each divided by a power of two so that its largest entry lies in
[1/2, 1], and E (divided alike) the largest of their error bounds, |J* - J| ≤ E. Let ŷ be an approximate vertex and p a
coordinate: t for a point, the largest one for a direction. The exact vertex y*, scaled so that y*_p = ŷ_p, solves
J* y* = 0. With M = [J; e_p], M* = [J*; e_p], any Q, and δ = ‖I - Q M*‖∞ < 1,

    y* - ŷ = Q M* (y* - ŷ) + (I - Q M*)(y* - ŷ),   M* (y* - ŷ) = (-J* ŷ, 0),

so ‖y* - ŷ‖∞ ≤ ‖|Q| ρ‖∞ / (1 - δ) for any ρ ≥ |J* ŷ|; and M* is nonsingular, so that there is only one such y*. In
floats, u = 2^-53: ρ = |fl(J ŷ)| + ((d + 4) u + E) |ŷ|₁, and
δ = ‖fl(I - Q M)‖∞ + (d + 1) ‖Q‖∞ (2 (d + 4) u + E). Radii beyond max|ŷ| / (4 (d + 1)) are called infinite, so that
|y*|₁ ≤ 2 |ŷ|₁. All bounds are multiplied by 1 + 2^-20 for the rounding of these few operations themselves.

**Sign.** A form F with error E at a vertex with radius r: |F*·y* - fl(F·ŷ)| ≤
|F|₁ (r + (d + 3) u max|ŷ|) + 2 E |ŷ|₁.

**Orientation** of a direction: the float ŷ is a positive combination of two vertices of an edge, but only its line is
certain. The d base forms and t do not vanish together, and their signs at a new vertex are known from the ends of its
edge; the sign of one of them, certain in floats, settles which of y* and -y* is meant.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.engine.affine_forms import (
    FormTable,
    LastLayerQuery,
    certain_sign,
    largest_and_sum,
)
from polyrelu.complex.engine.arrays import Growable
from polyrelu.exact import dot_sign, meeting_direction
from polyrelu.support.typing import Floats, Indices

__all__ = ["SignStatistics", "SignTables", "Vertices"]


_UNIT = 2.0**-53
_SLACK = 1 + 2.0**-20
#: Values computed at a time.
_BLOCK = 1 << 17


@dataclass(slots=True)
class SignStatistics:
    """How many signs were decided, how many of them exactly, and how many vertices were solved for exactly."""

    decisions: int = 0
    exact_decisions: int = 0
    exact_vertices: int = 0


@dataclass(frozen=True, slots=True)
class SignTables:
    """c forms on every region: rows, shape (R, c, d + 1), their E and |rows|₁, shape (R, c)."""

    rows: Floats
    errors: Floats
    norms: Floats


class Vertices:
    """All vertices.

    Attributes
    ----------
    coordinates : float (y, t), shape (f_0, d + 1).
    radii : ‖y* - ŷ‖∞ is at most this, shape (f_0,).
    forms : the d forms that each lies on, shape (f_0, d).
    base_signs : signs of t and of the d base forms, shape (f_0, d + 1).
    """

    def __init__(
        self,
        table: FormTable,
        base_forms: list[list[int]],
        coordinates: Floats,
        forms: NDArray[np.int32],
        base_signs: NDArray[np.int8],
    ) -> None:
        """`base_forms` are exact rows: t, then the base."""
        self._table, self._base_forms = table, base_forms
        self._base_rows = _unit_rows(np.array(base_forms, dtype=object))
        self.statistics = SignStatistics()
        self._exact: dict[int, list[int]] = {}
        width = coordinates.shape[1]
        self.coordinates = Growable(np.zeros((0, width)))
        self.radii = Growable(np.zeros(0))
        self.forms = Growable(np.zeros((0, width - 1), dtype=np.int32))
        self.base_signs = Growable(np.zeros((0, width), dtype=np.int8))
        self.append(coordinates, forms, base_signs)

    def __len__(self) -> int:
        return self.coordinates.size

    # -- new vertices ---------------------------------------------------------------------------------------------

    def append(
        self, guesses: Floats, forms: NDArray[np.int32], base_signs: NDArray[np.int8]
    ) -> None:
        """Append vertices on d forms each, from approximate coordinates."""
        coordinates, radii = self._solved(guesses, forms, base_signs)
        self.coordinates.append(coordinates)
        self.radii.append(radii)
        self.forms.append(forms)
        self.base_signs.append(base_signs)

    @np.errstate(all="ignore")
    def _solved(
        self, guesses: Floats, forms: NDArray[np.int32], base_signs: NDArray[np.int8]
    ) -> tuple[Floats, Floats]:
        """Coordinates after one Newton step, and their radii."""
        count, width = guesses.shape
        pivots = np.where(base_signs[:, 0] > 0, width - 1, np.abs(guesses).argmax(axis=1))
        rows = np.arange(count)
        scale = np.abs(guesses[rows, pivots])
        guesses = guesses / scale[:, None]
        jacobian, errors = self._scaled_forms(forms)
        matrix = np.zeros((count, width, width))
        matrix[:, :-1] = jacobian
        matrix[rows, -1, pivots] = 1.0
        inverse = _inverses(matrix)
        residual = np.einsum("mij,mj->mi", jacobian, guesses)
        coordinates = guesses - np.einsum("mij,mj->mi", inverse[:, :, :-1], residual)
        coordinates[rows, pivots] = guesses[rows, pivots]
        return coordinates, self._radii(coordinates, jacobian, errors, matrix, inverse, base_signs)

    def _scaled_forms(self, forms: NDArray[np.int32]) -> tuple[Floats, Floats]:
        """The float rows of forms divided by powers of two, and the largest error of each vertex's rows."""
        rows, errors = self._table.rows.buffer[forms], self._table.errors.buffer[forms]
        exponents = np.frexp(largest_and_sum(rows)[0])[1]
        return np.ldexp(rows, -exponents[:, :, None]), np.ldexp(errors, -exponents).max(
            axis=1, initial=0.0
        )

    def _radii(
        self,
        coordinates: Floats,
        jacobian: Floats,
        errors: Floats,
        matrix: Floats,
        inverse: Floats,
        base_signs: NDArray[np.int8],
    ) -> Floats:
        width = coordinates.shape[1]
        dimension = width - 1
        largest, sums = largest_and_sum(coordinates)
        residual = np.abs(np.einsum("mij,mj->mi", jacobian, coordinates))
        residual += (((dimension + 4) * _UNIT + errors) * sums)[:, None]
        magnitudes = np.abs(inverse)
        defect = _row_sum_norm(np.abs(np.matmul(inverse, matrix) - np.eye(width)))
        norm = _row_sum_norm(magnitudes)
        defect += width * norm * (2 * (dimension + 4) * _UNIT + errors)
        radii = largest_and_sum(np.einsum("mij,mj->mi", magnitudes[:, :, :-1], residual))[0]
        radii = radii * _SLACK / (1 - defect * _SLACK)
        good = (defect * _SLACK < 0.5) & (radii <= largest / (4 * width))
        good &= (base_signs[:, 0] > 0) | self._certainly_oriented(coordinates, radii, base_signs)
        return np.where(good, radii, np.inf)

    def _certainly_oriented(
        self, coordinates: Floats, radii: Floats, base_signs: NDArray[np.int8]
    ) -> NDArray[np.bool_]:
        """Whether the sign of a base form at the float direction is certain and the one that it should have.

        The base rows are float roundings (relative u) with largest entry at most 1.
        """
        width = coordinates.shape[1]
        values = coordinates @ self._base_rows.T
        bound = width * (radii + (width + 4) * _UNIT * np.abs(coordinates).max(axis=1)) * _SLACK
        agree = (np.abs(values) > bound[:, None]) & (np.sign(values) == base_signs)
        result: NDArray[np.bool_] = agree.any(axis=1)
        return result

    # -- signs ----------------------------------------------------------------------------------------------------

    @np.errstate(all="ignore")
    def certain_signs(self, vertices: Indices, forms: Indices) -> NDArray[np.int8]:
        """Signs of forms at vertices, pair by pair, 2 where floats do not decide."""
        rows, coordinates = self._table.rows.buffer[forms], self.coordinates.buffer[vertices]
        norms, errors = np.abs(rows).sum(axis=1), self._table.errors.buffer[forms]
        signs = certain_sign(
            np.einsum("mi,mi->m", rows, coordinates), self._bounds(vertices, norms, errors)
        )
        signs[(norms == 0) & (errors == 0)] = 0
        self.statistics.decisions += len(vertices)
        return signs

    @np.errstate(all="ignore")
    def certain_sign_table(self, tables: SignTables, regions: Indices) -> NDArray[np.int8]:
        """Signs of c forms at all vertices, shape (f_0, c), 2 where floats do not decide."""
        count, forms = len(self), tables.rows.shape[1]
        signs = np.empty((count, forms), dtype=np.int8)
        step = max(1, _BLOCK // max(1, forms * tables.rows.shape[2]))
        for start in range(0, count, step):
            part = np.arange(start, min(start + step, count))
            coordinates, here = self.coordinates.buffer[part], regions[part]
            if len(tables.rows) == 1:
                values = coordinates @ tables.rows[0].T
            else:
                values = np.matmul(tables.rows[here], coordinates[:, :, None])[:, :, 0]
            signs[part] = certain_sign(
                values, self._bounds(part, tables.norms[here], tables.errors[here])
            )
            signs[part][((tables.norms == 0) & (tables.errors == 0))[here]] = 0
        self.statistics.decisions += signs.size
        return signs

    def certain_signs_of_last_layer(self, width: int, regions: Indices) -> NDArray[np.int8]:
        """Signs of the last layer at all vertices, shape (f_0, width), 2 where floats do not decide."""
        count = len(self)
        signs = np.empty((count, width), dtype=np.int8)
        step = max(
            1, _BLOCK // max(1, self._table.width_before_last * self.coordinates.buffer.shape[1])
        )
        for start in range(0, count, step):
            part = np.arange(start, min(start + step, count))
            spread, sums = self._uncertainty(part)
            coordinates, radii = self.coordinates.buffer[part], self.radii.buffer[part]
            signs[part] = self._table.signs_at(
                LastLayerQuery(coordinates, radii, spread, sums, regions[part])
            )
        self.statistics.decisions += int((signs != 2).sum())  # the others will be asked for again
        return signs

    def _uncertainty(self, vertices: Indices) -> tuple[Floats, Floats]:
        """What |F|₁ and E are multiplied with in the bound of the module's text."""
        largest, sums = largest_and_sum(self.coordinates.buffer[vertices])
        width = self.coordinates.buffer.shape[1]
        return (
            self.radii.buffer[vertices] + (width + 2) * _UNIT * largest
        ) * _SLACK, 2 * _SLACK * sums

    def _bounds(self, vertices: Indices, norms: Floats, errors: Floats) -> Floats:
        """The bound of the module's text; one form for each vertex, or a row of forms."""
        spread, sums = self._uncertainty(vertices)
        if norms.ndim == 2:
            spread, sums = spread[:, None], sums[:, None]
        return np.asarray(norms * spread + errors * sums)

    def exact_sign(self, vertex: int, form: int) -> int:
        """The sign of a form at a vertex, in integers."""
        self.statistics.exact_decisions += 1
        return dot_sign(self._table.exact_row(form), self.exact(vertex))

    def exact(self, vertex: int) -> list[int]:
        """A positive multiple of the exact (y, t), in primitive integers."""
        if vertex not in self._exact:
            self.statistics.exact_vertices += 1
            rows = [self._table.exact_row(int(form)) for form in self.forms.buffer[vertex]]
            self._exact[vertex] = self._oriented(meeting_direction(rows), vertex)
        return self._exact[vertex]

    def _oriented(self, direction: list[int], vertex: int) -> list[int]:
        for row, sign in zip(
            self._base_forms, self.base_signs.buffer[vertex].tolist(), strict=True
        ):
            if sign:
                return (
                    direction
                    if dot_sign(row, direction) == sign
                    else [-entry for entry in direction]
                )
        raise AssertionError("the base forms and t do not vanish together")

    def arrays(self) -> list[NDArray[Any]]:
        """All arrays, for counting bytes."""
        return [rows.buffer for rows in (self.coordinates, self.radii, self.forms, self.base_signs)]

    def use(self, table: FormTable) -> None:
        """Go on with a copy of the table of forms."""
        self._table = table

    def restricted(self, marked: NDArray[np.bool_]) -> Vertices:
        """A copy of the marked vertices; the statistics go on together."""
        part = copy.copy(self)
        numbers = np.cumsum(marked) - 1
        part._exact = {int(numbers[i]): value for i, value in self._exact.items() if marked[i]}
        part.coordinates, part.radii = (
            self.coordinates.restricted(marked),
            self.radii.restricted(marked),
        )
        part.forms, part.base_signs = (
            self.forms.restricted(marked),
            self.base_signs.restricted(marked),
        )
        return part


def _row_sum_norm(magnitudes: Floats) -> Floats:
    """The largest row sums of matrices, shape (m, k, k)."""
    return largest_and_sum(magnitudes @ np.ones(magnitudes.shape[2]))[0]


def _inverses(matrices: Floats) -> Floats:
    """Approximate inverses; anything at all for matrices that are singular in floats."""
    try:
        return np.asarray(np.linalg.inv(matrices), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.array([_inverse(matrix) for matrix in matrices]).reshape(matrices.shape)


def _inverse(matrix: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return np.full(matrix.shape, np.nan)


def _unit_rows(rows: NDArray[np.object_]) -> Floats:
    """Integer rows divided by their largest entry."""
    scaled = [[entry / max(map(abs, row)) for entry in row] for row in rows.tolist()]
    return np.array(scaled, dtype=np.float64)
