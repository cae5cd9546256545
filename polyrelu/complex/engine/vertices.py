"""The vertices: float coordinates with error radii, exact ones on demand, and signs of forms.

`Vertices` decides the signs of forms at vertices for the subdivision: in floats where a rigorous
bound allows it, and otherwise in integers. A change of the arithmetic here must keep the bounds
valid; docs/theory/float_signs.md derives them in sections 4 (radius), 5 (sign) and 6 (orientation).

A vertex is a row (y, t), with t = 1 at a point and t = 0 at a direction, and lies on d independent
forms. It is always computed from these d forms and never from other vertices, so that errors do not
add up from layer to layer. Its *radius* r bounds the error of every float coordinate: there is an
exact vertex y*, suitably scaled, with ‖y* - ŷ‖∞ ≤ r. For a form F with error E it follows that the
value of the form at the vertex has the error bound

    |F*·y* - fl(F·ŷ)| ≤ |F|₁ (r + (d + 3) u max|ŷ|) + 2 E |ŷ|₁,    u = 2^-53.

The *base forms* are the d independent constraints and neurons of layer 1 that cut out the first
cells (`Frame.base`; see `subdivision`). The d forms of a direction determine its line only. The
signs of t and of the base forms, which do not vanish together, determine which of the two opposite
directions on the line is meant. Every vertex knows these d + 1 *base signs* from the ends of the
edge on which it was made.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.engine.affine_forms import (
    FormTable,
    LastLayerQuery,
    largest_and_sum,
    signs_of_values,
)
from polyrelu.complex.engine.arrays import Growable
from polyrelu.exact import UNDECIDED, dot_sign, meeting_direction
from polyrelu.support.typing import Floats, Indices, Signs

__all__ = ["SignStatistics", "SignTables", "Vertices"]


#: The unit roundoff u of floats.
_UNIT = 2.0**-53
#: Factor of error bounds, by which they stay valid although they are computed in floats themselves
#: (docs/theory/float_signs.md, section 4).
_SLACK = 1 + 2.0**-20
#: A radius is finite only if the number δ of section 4 is below this limit.
_LARGEST_DEFECT = 0.5
#: The largest finite radius is max|ŷ| divided by this number and by d + 1 (section 4).
_RADIUS_SHARE = 4
#: Approximate number of float entries of temporary arrays when signs are decided in blocks.
_ENTRIES_PER_BLOCK = 1 << 17


@dataclass(slots=True)
class SignStatistics:
    """Counts of decided signs.

    Attributes
    ----------
    num_decisions
        Number of signs that were decided, in floats or exactly.
    num_exact_decisions
        Number of signs that were decided exactly.
    num_exact_vertices
        Number of vertices that were computed exactly; the compiled core decides signs without.
    """

    num_decisions: int = 0
    num_exact_decisions: int = 0
    num_exact_vertices: int = 0


@dataclass(frozen=True, slots=True)
class SignTables:
    """The same c neurons or constraints as forms on each of R regions.

    Attributes
    ----------
    rows
        Float rows, shape (R, c, d + 1).
    errors
        The errors E of the rows, shape (R, c).
    norms
        The 1-norms of the rows, shape (R, c).
    """

    rows: Floats
    errors: Floats
    norms: Floats


class Vertices:
    """All vertices of a lattice, in its order.

    The arrays grow (`Growable`); the shapes below are the shapes of their rows in use, where f_0 is
    the number of vertices.

    Attributes
    ----------
    coordinates
        Growable float coordinates (y, t), shape (f_0, d + 1).
    radii
        Growable radii, infinite where no error bound is known; shape (f_0,).
    forms
        Growable numbers of the d forms that determine each vertex, shape (f_0, d).
    base_signs
        Growable base signs: the signs of t and of the d base forms, shape (f_0, d + 1).
    base_rows
        The rows of t and of the base forms over their largest entries, shape (d + 1, d + 1).
    statistics
        Counts of decided signs.
    """

    def __init__(self, table: FormTable, base_forms: list[list[int]]) -> None:
        """Make a list without vertices.

        Parameters
        ----------
        table
            All forms.
        base_forms
            Exact integer rows of the form t and of the d base forms, in this order.
        """
        self._table, self._base_forms = table, base_forms
        self.base_rows = _unit_rows(np.array(base_forms, dtype=object))
        self.statistics = SignStatistics()
        self._exact: dict[int, list[int]] = {}
        width = len(base_forms)
        self.coordinates = Growable(np.zeros((0, width)))
        self.radii = Growable(np.zeros(0))
        self.forms = Growable(np.zeros((0, width - 1), dtype=np.int32))
        self.base_signs = Growable(np.zeros((0, width), dtype=np.int8))

    def __len__(self) -> int:
        return self.coordinates.size

    # -- new vertices ------------------------------------------------------------------------------

    def append(
        self, guesses: Floats, forms: NDArray[np.int32], base_signs: NDArray[np.int8]
    ) -> None:
        """Append m vertices.

        Parameters
        ----------
        guesses
            Approximate coordinates (y, t), shape (m, d + 1).
        forms
            The numbers of the d independent forms on which each vertex lies, shape (m, d).
        base_signs
            The base signs of the vertices, shape (m, d + 1).
        """
        coordinates, radii = self._solved(guesses, forms, base_signs)
        self.coordinates.append(coordinates)
        self.radii.append(radii)
        self.forms.append(forms)
        self.base_signs.append(base_signs)

    @np.errstate(all="ignore")
    def _solved(
        self, guesses: Floats, forms: NDArray[np.int32], base_signs: NDArray[np.int8]
    ) -> tuple[Floats, Floats]:
        """Return the coordinates after a Newton step from the guesses, and their radii.

        The pivot is the coordinate p of section 4, which the Newton step does not change.
        """
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
        """Return the float rows of forms over powers of two, and the largest error per vertex."""
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
        """Return the radii of section 4, with M = `matrix` and Q = `inverse`."""
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
        good = (defect * _SLACK < _LARGEST_DEFECT) & (radii <= largest / (_RADIUS_SHARE * width))
        good &= (base_signs[:, 0] > 0) | self._certainly_oriented(coordinates, radii, base_signs)
        return np.where(good, radii, np.inf)

    def _certainly_oriented(
        self, coordinates: Floats, radii: Floats, base_signs: NDArray[np.int8]
    ) -> NDArray[np.bool_]:
        """Return whether floats prove for each vertex that one of its base signs holds at (y, t).

        The float base rows have largest entry 1 and a relative error of at most u in each entry.
        """
        width = coordinates.shape[1]
        values = coordinates @ self.base_rows.T
        bound = width * (radii + (width + 4) * _UNIT * np.abs(coordinates).max(axis=1)) * _SLACK
        agree = (np.abs(values) > bound[:, None]) & (np.sign(values) == base_signs)
        result: NDArray[np.bool_] = agree.any(axis=1)
        return result

    # -- signs -------------------------------------------------------------------------------------

    @np.errstate(all="ignore")
    def certain_signs(self, vertices: Indices, forms: Indices) -> NDArray[np.int8]:
        """Return the sign of forms[i] at vertices[i] for each i, or `UNDECIDED`.

        The sign is 0 only where the form is known to be 0 everywhere.
        """
        rows, coordinates = self._table.rows.buffer[forms], self.coordinates.buffer[vertices]
        norms, errors = np.abs(rows).sum(axis=1), self._table.errors.buffer[forms]
        signs = signs_of_values(
            np.einsum("mi,mi->m", rows, coordinates), self._bounds(vertices, norms, errors)
        )
        signs[(norms == 0) & (errors == 0)] = 0
        self.statistics.num_decisions += len(vertices)
        return signs

    @np.errstate(all="ignore")
    def certain_sign_table(self, tables: SignTables, regions: Indices) -> NDArray[np.int8]:
        """Return the signs of c forms at all vertices, `UNDECIDED` where floats do not decide.

        Parameters
        ----------
        tables
            The forms on all regions.
        regions
            For each vertex the region whose forms are evaluated, shape (f_0,).

        Returns
        -------
        Array
            The signs, shape (f_0, c).
        """
        count, forms = len(self), tables.rows.shape[1]
        signs = np.empty((count, forms), dtype=np.int8)
        step = max(1, _ENTRIES_PER_BLOCK // max(1, forms * tables.rows.shape[2]))
        for start in range(0, count, step):
            part = np.arange(start, min(start + step, count))
            coordinates, chosen = self.coordinates.buffer[part], regions[part]
            if len(tables.rows) == 1:
                values = coordinates @ tables.rows[0].T
            else:
                values = np.matmul(tables.rows[chosen], coordinates[:, :, None])[:, :, 0]
            signs[part] = signs_of_values(
                values, self._bounds(part, tables.norms[chosen], tables.errors[chosen])
            )
            signs[part][((tables.norms == 0) & (tables.errors == 0))[chosen]] = 0
        self.statistics.num_decisions += signs.size
        return signs

    def certain_signs_of_last_layer(self, width: int, regions: Indices) -> NDArray[np.int8]:
        """Return the signs of the last layer at all vertices, or `UNDECIDED`.

        The shape is (f_0, width); `regions` are the regions of the vertices, shape (f_0,).
        """
        count = len(self)
        signs = np.empty((count, width), dtype=np.int8)
        step = max(
            1,
            _ENTRIES_PER_BLOCK
            // max(1, self._table.width_before_last * self.coordinates.buffer.shape[1]),
        )
        for start in range(0, count, step):
            part = np.arange(start, min(start + step, count))
            spread, sums = self._uncertainty(part)
            coordinates, radii = self.coordinates.buffer[part], self.radii.buffer[part]
            signs[part] = self._table.signs_at(
                LastLayerQuery(coordinates, radii, spread, sums, regions[part])
            )
        # Undecided signs are decided, and counted, later with the forms.
        self.statistics.num_decisions += int((signs != UNDECIDED).sum())
        return signs

    def _uncertainty(self, vertices: Indices) -> tuple[Floats, Floats]:
        """Return the factors of |F|₁ and of E in the error bound of the module's docstring."""
        largest, sums = largest_and_sum(self.coordinates.buffer[vertices])
        width = self.coordinates.buffer.shape[1]
        return (
            self.radii.buffer[vertices] + (width + 2) * _UNIT * largest
        ) * _SLACK, 2 * _SLACK * sums

    def _bounds(self, vertices: Indices, norms: Floats, errors: Floats) -> Floats:
        """Return the error bounds of the module's docstring, for one form or more per vertex."""
        spread, sums = self._uncertainty(vertices)
        if norms.ndim == 2:
            spread, sums = spread[:, None], sums[:, None]
        return np.asarray(norms * spread + errors * sums)

    def exact_sign(self, vertex: int, form: int) -> int:
        """Return the exact sign of a form at a vertex."""
        self.statistics.num_exact_decisions += 1
        return dot_sign(self._table.exact_row(form), self.exact(vertex))

    def exact(self, vertex: int) -> list[int]:
        """Return the positive multiple of the exact (y, t) in primitive integers."""
        if vertex not in self._exact:
            self.know_exact(
                vertex, self.forms.buffer[vertex].tolist(), self.base_signs.buffer[vertex]
            )
        return self._exact[vertex]

    def know_exact(self, vertex: int, forms: Sequence[int], base_signs: Signs) -> None:
        """Compute a vertex exactly from the forms on which it lies, unless it is known."""
        if vertex not in self._exact:
            self.statistics.num_exact_vertices += 1
            rows = [self._table.exact_row(form) for form in forms]
            self._exact[vertex] = self._oriented(meeting_direction(rows), base_signs.tolist())

    def forget_exact(self) -> None:
        """Forget all exact vertices, because the vertices get other numbers."""
        self._exact = {}

    def _oriented(self, direction: list[int], base_signs: Sequence[int]) -> list[int]:
        """Return the vector ±direction that has the given base signs."""
        for row, sign in zip(self._base_forms, base_signs, strict=True):
            if sign:
                return (
                    direction
                    if dot_sign(row, direction) == sign
                    else [-entry for entry in direction]
                )
        raise AssertionError("the base forms and t do not vanish together")

    def arrays(self) -> list[NDArray[Any]]:
        """Return the arrays of all vertices, with their unused room, for counts of bytes."""
        return [rows.buffer for rows in (self.coordinates, self.radii, self.forms, self.base_signs)]

    def set_table(self, table: FormTable) -> None:
        """Replace the table of forms by a copy of it, to which other layers can be added."""
        self._table = table

    def emptied(self, table: FormTable) -> Vertices:
        """Return a copy without exact vertices, on another table; it shares the statistics."""
        other = copy.copy(self)
        other._table, other._exact = table, {}
        return other

    def restricted(self, marked: NDArray[np.bool_]) -> Vertices:
        """Return a copy with the marked vertices only, which shares the statistics."""
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
    """Return the largest row sum of each of m matrices, shape (m, k, k)."""
    return largest_and_sum(magnitudes @ np.ones(magnitudes.shape[2]))[0]


def _inverses(matrices: Floats) -> Floats:
    """Return approximate inverses, arbitrary ones for matrices that are singular in floats."""
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
    """Return integer rows divided by their largest entry."""
    scaled = [[entry / max(map(abs, row)) for entry in row] for row in rows.tolist()]
    return np.array(scaled, dtype=np.float64)
