"""The cells of a finished subdivision as arrays, numbered as the classes of the room show them.

`CellArrays` joins the results of a subdivision: the coordinate frame, the face lattice, the
vertices, the affine forms and the signs. `PolyhedralComplex`, `CellGenerators` and the
functions on regions are written on top of it, so that none of them has to import another.

**Numbers.** A cell of a complex with a lineality space of dimension m is the sum of that space and
of a cell without lines; the *inner dimension* of the cell is its dimension minus m. The lattice
numbers all its cells of an inner dimension k, cells at infinity included, where t = 0. The classes
of the room show the finite cells only: cell i of inner dimension k has the lattice number
`finite[k][i]`.

The arrays are read only: every result that is computed from a complex shares them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.cell import Cell
from polyrelu.complex.engine.affine_forms import INFINITY
from polyrelu.complex.engine.subdivision import Subdivision, unpacked
from polyrelu.errors import DomainError
from polyrelu.network import NeuronId
from polyrelu.support.arguments import expect, expect_integer
from polyrelu.support.typing import BigIntegers, Indices, Mask, Signs, Words

__all__ = ["CellArrays"]


class CellArrays:
    """All arrays of a finished subdivision.

    Attributes
    ----------
    frame
        The coordinates y in which vertices and forms are given.
    lattice
        The face lattice; vertices at infinity belong to it.
    vertices
        The vertices of the lattice, in the same order.
    table
        The affine forms, by their numbers.
    neurons
        The hidden neurons whose signs are known, in the order of the columns of `signs`.
    facet_forms
        The number of the form that vanishes on each lattice cell of codimension 1.
    """

    def __init__(self, subdivision: Subdivision, neurons: tuple[NeuronId, ...]) -> None:
        self.frame, self.lattice = subdivision.frame, subdivision.lattice
        self.vertices, self.table = subdivision.vertices, subdivision.table
        self.neurons = neurons
        self.facet_forms = subdivision.facet_forms()
        self._sign_words = subdivision.signs
        #: for each top cell the cell that contained it before the newest layer cut
        self._newest_regions = subdivision.newest_regions()
        self._known_signs: dict[int, Signs] = {}
        self._known_indices: dict[int, Indices] = {}

    @cached_property
    def columns(self) -> dict[tuple[int, int], int]:
        """The column of the neuron with a given (layer, index) in `signs`."""
        return {(neuron.layer, neuron.index): i for i, neuron in enumerate(self.neurons)}

    @cached_property
    def num_finite(self) -> list[int]:
        """For every inner dimension the number of cells that are not at infinity."""
        if self.is_point.all():
            return [self.lattice.size(k) for k in range(self.dimension + 1)]
        return [len(numbers) for numbers in self.finite]

    @cached_property
    def finite(self) -> list[Indices]:
        """For every inner dimension the lattice numbers of the cells that are not at infinity."""
        if self.is_point.all():
            return [np.arange(self.lattice.size(k)) for k in range(self.dimension + 1)]
        words = self.lattice.words_of_cells(self.is_point.astype(np.uint64))
        return [np.flatnonzero(of_level) for of_level in words]

    def _indices(self, k: int) -> Indices:
        """Return the index of each lattice cell of an inner dimension, -1 at infinity."""
        if k not in self._known_indices:
            indices = np.full(self.lattice.size(k), -1)
            indices[self.finite[k]] = np.arange(len(self.finite[k]))
            self._known_indices[k] = indices
        return self._known_indices[k]

    @property
    def dimension(self) -> int:
        """The inner dimension of the regions."""
        return self.frame.dimension

    @property
    def lineality_dim(self) -> int:
        """The dimension of the lineality space."""
        return len(self.frame.lineality)

    @property
    def is_point(self) -> Mask:
        """Whether each vertex of the lattice is a point; the others are directions."""
        mask: Mask = self.vertices.base_signs.rows[:, 0] > 0
        return mask

    @property
    def nbytes(self) -> int:
        """The number of bytes of the arrays of cells, vertices and forms."""
        arrays: list[np.ndarray[Any, Any]] = [
            *(self.finite if "finite" in vars(self) else []),
            *self._known_indices.values(),
            *self.lattice.arrays(),
            *self.vertices.arrays(),
            self.facet_forms,
        ]
        words = sum(signs.words.rows.nbytes for signs in self._sign_words)
        return sum(array.nbytes for array in arrays) + words + self.table.nbytes

    def inner_dimension(self, dimension: int) -> int:
        """Return the inner dimension of the cells of a dimension.

        Raises
        ------
        DomainError
            No cell has this dimension.
        """
        dimension = expect_integer(dimension, "dimension")
        lowest, highest = self.lineality_dim, self.frame.true_dimension
        if not lowest <= dimension <= highest:
            raise DomainError(
                f"there are no cells of dimension {dimension}, only of {lowest} to {highest}"
            )
        return dimension - lowest

    def inner_dimension_of(self, cell: Cell) -> int:
        """Return the inner dimension of a cell.

        Raises
        ------
        DomainError
            The complex has no such cell.
        """
        k = self.inner_dimension(expect(cell, Cell, "cell").dimension)
        if not 0 <= expect_integer(cell.index, "cell.index") < self.num_finite[k]:
            raise DomainError(
                f"there is no cell {cell.index} of dimension {cell.dimension}, "
                f"only {self.num_finite[k]}"
            )
        return k

    # -- signs -------------------------------------------------------------------------------------

    def signs(self, k: int) -> Signs:
        """Return the signs of the neurons on the finite cells of inner dimension k, cached."""
        if k not in self._known_signs:
            signs = self._sign_columns(k, hidden=True)[:, : len(self.neurons)]
            signs.flags.writeable = False
            self._known_signs[k] = signs
        return self._known_signs[k]

    def constraint_signs(self, k: int) -> Signs:
        """Return the signs of the domain's constraints on finite cells of inner dimension k."""
        return self._sign_columns(k, hidden=False)

    def _sign_columns(self, k: int, hidden: bool) -> Signs:
        """Return the signs of all hidden neurons, or of all constraints of the domain."""
        parts: list[Signs] = [np.zeros((len(self.finite[k]), 0), dtype=np.int8)]
        chosen = [signs for signs in self._sign_words if (signs.layer > 0) == hidden]
        words = self.words_of_uncut(k, [signs.words.rows for signs in chosen])[self.finite[k]]
        for column, signs in enumerate(chosen):
            parts.append(unpacked(words[:, column], len(signs.members)))
        return np.concatenate(parts, axis=1)

    def words_of_uncut(self, k: int, vertex_words: list[Words]) -> Words:
        """Return the words of all lattice cells of inner dimension k for forms that cut no cell.

        A form that is affine on a cell and has one sign there is 0 on the cell if it is 0 on two
        facets, since these span the cell. So the bitwise or over two facets of each cell is the
        bitwise or over its vertices. Forms that are affine on no cell of a lower dimension, because
        their cuts are not done, get arbitrary bits.

        Parameters
        ----------
        k
            The inner dimension.
        vertex_words
            Words of the vertices, one array for each word, shape (f_0,) each.

        Returns
        -------
        Words
            The words of the cells, shape (f_k, number of words).
        """
        empty = np.zeros((self.lattice.size(0), 0), dtype=np.uint64)
        words = np.stack(vertex_words, axis=1) if vertex_words else empty
        for j in range(1, k + 1):
            first, second = self.lattice.two_facets(j)
            words = words[first] | words[second]
        return words

    def active_words(self, layer: int) -> NDArray[np.uint32]:
        """Return which neurons of a hidden layer are positive on each region, a bit for each.

        Bit j of word w belongs to neuron 32 w + j; shape (regions, number of words).
        """
        chosen = [signs for signs in self._sign_words if signs.layer == layer]
        words = self.words_of_uncut(self.dimension, [signs.words.rows for signs in chosen])
        low: NDArray[np.uint32] = words[self.finite[-1]].astype(np.uint32)
        return low

    def prefixes(self, layer: int) -> Indices:
        """Return numbers of the regions so that equal ones agree on all layers before a layer.

        They are the numbers of the cells that the layers before have cut out, shape (regions,).
        """
        return self.table.ancestors(layer, self._newest_regions)[self.finite[-1]]

    # -- incidence ---------------------------------------------------------------------------------

    def facets(self, k: int) -> tuple[Indices, Indices]:
        """Return offsets and indices of the finite facets of finite cells of inner dimension k."""
        if k == 0:
            return np.zeros(len(self.finite[0]) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
        entries, counts = self.lattice.facets_of(k, self.finite[k])
        facets = self._indices(k - 1)[entries]
        owners = np.repeat(np.arange(len(counts)), counts)[facets >= 0]
        ends = np.cumsum(np.bincount(owners, minlength=len(counts)))
        return np.concatenate([[0], ends]), facets[facets >= 0]

    def bounded(self) -> Mask:
        """Return which regions have no vertex at infinity, shape (regions,)."""
        at_infinity = self.lattice.words_of_cells((~self.is_point).astype(np.uint64))
        mask: Mask = at_infinity[-1][self.finite[-1]] == 0
        return mask

    def vertices_of(self, k: int, index: int) -> list[int]:
        """Return the lattice numbers of the vertices of a finite cell, ascending."""
        return self.lattice.vertices_of(k, int(self.finite[k][index]))

    # -- vertices of cells -------------------------------------------------------------------------

    def marks_of_cells(self, marks: Words) -> list[Words]:
        """Return the bitwise or of the marks of each cell's vertices, by inner dimension."""
        of_lattice = self.lattice.words_of_cells(marks)
        return [words[finite] for words, finite in zip(of_lattice, self.finite, strict=True)]

    def points_inside(self, k: int) -> BigIntegers:
        """Return a point (y, t) in the relative interior of each finite cell of inner dimension k.

        The point is a sum of the exact vertices and directions of the cell, each of which occurs
        at least once, shape (number of cells, d + 1).
        """
        exact = [self.vertices.exact(vertex) for vertex in range(self.lattice.size(0))]
        points = np.array(exact, dtype=object)
        if k >= 1:
            ends = self.lattice.edges.rows
            points = points[ends[:, 0]] + points[ends[:, 1]]
        for j in range(2, k + 1):
            entries, counts = self.lattice.facets_of(j, np.arange(self.lattice.size(j)))
            points = np.add.reduceat(points[entries], np.cumsum(counts) - counts, axis=0)
        return points[self.finite[k]]

    # -- forms -------------------------------------------------------------------------------------

    def column_of_form(self, number: int) -> int:
        """Return the column in `signs` of the neuron of a form, -1 for a constraint."""
        layer, member = self.table.source(number)
        return -1 if layer == 0 else self.columns[layer, member]

    def is_at_infinity(self, number: int) -> bool:
        """Return whether a form is t, which vanishes at infinity."""
        return self.table.source(number) == INFINITY
