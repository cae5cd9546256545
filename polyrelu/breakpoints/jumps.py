"""The breakpoint complex of a network: where its gradient jumps, by how much, and the tropical weights.

Let F be a cell of codimension 1 between two regions C⁺, C⁻ of the canonical complex, n the primitive integer normal of
F that points to C⁺, and n·x + β = 0 on F. The network is continuous, so its affine maps on C⁺ and C⁻ differ by a matrix
that vanishes on F: [A⁺ | c⁺] - [A⁻ | c⁻] = ω [n | β] with one weight ω ∈ Q^m. Turning F around changes the signs of
both sides, so ω does not depend on which region is called C⁺: where it is positive the output is convex across F. F is
*visible* if ω ≠ 0. The visible cells and their faces are the breakpoint complex.

Source: the three-layer paper, Theorem 1. Its weights belong to normals of length 1: they are ω·‖n‖ (see
`TropicalWeight.euclidean`). On a domain in a lower-dimensional affine space, normals are those covectors along which
only the coordinates vary that the equations of its affine hull leave free; what is measured, gradients and their
lengths, is measured along the hull (see `hull`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.breakpoints.hull import Hull
from polyrelu.complex import Cell, PolyhedralComplex, Subcomplex
from polyrelu.complex.completeness import require_complete
from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix, column_basis, positive_primitive
from polyrelu.network import Network, affine_map_table
from polyrelu.support.typing import BigIntegers, Indices

__all__ = ["BreakpointComplex", "TropicalWeight", "breakpoint_complex", "maps_on_hull"]


@dataclass(frozen=True, slots=True)
class TropicalWeight:
    """The weight of a cell of codimension 1.

    Attributes
    ----------
    facet : the cell.
    plus, minus : the numbers of the regions on its two sides.
    normal : primitive integers, pointing to `plus`.
    offset : β, with normal·x + β = 0 on the cell.
    weight : ω, one number for each output.
    hull : of the domain, for lengths; None if the domain has full dimension.
    """

    facet: Cell
    plus: int
    minus: int
    normal: tuple[int, ...]
    offset: Fraction
    weight: tuple[Fraction, ...]
    hull: Hull | None = field(default=None, repr=False, compare=False)

    @property
    def visible(self) -> bool:
        """Whether the gradient jumps."""
        return any(self.weight)

    @property
    def jump(self) -> RationalMatrix:
        """The gradient on `plus` minus that on `minus`, shape (m, n_0).

        On a domain of lower dimension that is the gradient along its affine hull.

        >>> from polyrelu.complex import canonical_complex
        >>> from polyrelu.exact import Polyhedron
        >>> from polyrelu.network import from_arrays
        >>> diagonal = Polyhedron.from_constraints([], [], [[1, -1]], [0])
        >>> net = from_arrays([([[1, 2]], [0]), ([[3]], [0])])
        >>> (facet,) = breakpoint_complex(canonical_complex(net, diagonal))    # 9 max(y, 0)
        >>> facet.weight, facet.normal, str(facet.jump), facet.euclidean()
        ((Fraction(9, 1),), (0, 1), '[9/2 9/2]', (9*sqrt(2)/2,))
        """
        rows = RationalMatrix.from_rows(
            [[w * n for n in self.normal] for w in self.weight], ncols=len(self.normal)
        )
        return rows if self.hull is None else self.hull.gradients(rows)

    @property
    def square(self) -> Fraction:
        """‖n‖², on a domain of lower dimension along its affine hull."""
        return (
            Fraction(sum(n * n for n in self.normal))
            if self.hull is None
            else self.hull.square(self.normal)
        )

    def euclidean(self) -> tuple[Any, ...]:
        """The weights for the normal of length 1, that is the signed lengths of the jump, as SymPy numbers.

        >>> from polyrelu.complex import canonical_complex
        >>> from polyrelu.network import from_arrays
        >>> (facet,) = breakpoint_complex(canonical_complex(from_arrays([([[1, 1]], [0]), ([[3]], [0])])))
        >>> facet.weight, facet.euclidean()
        ((Fraction(3, 1),), (3*sqrt(2),))
        """
        import sympy

        length = sympy.sqrt(sympy.Rational(self.square.numerator, self.square.denominator))
        return tuple(sympy.Rational(w.numerator, w.denominator) * length for w in self.weight)


@dataclass(frozen=True, slots=True, eq=False)
class BreakpointComplex:
    """All cells of codimension 1 between two regions, with their weights; made by `breakpoint_complex`.

    Attributes
    ----------
    cells : the canonical complex.
    facets, plus, minus : numbers of the cells of codimension 1 and of the regions on their two sides, shape (F,),
        facets ascending.
    forms : multiples of [n | β] in primitive integers, shape (F, n_0 + 1), positive on `plus`.
    divisors : the greatest common divisor of the normal in each row of `forms`, shape (F,).
    weights : ω, fractions, shape (F, m).
    hull : as in `TropicalWeight`.
    """

    cells: PolyhedralComplex
    facets: Indices
    plus: Indices
    minus: Indices
    forms: BigIntegers
    divisors: BigIntegers
    weights: NDArray[np.object_]
    hull: Hull | None = None

    def __len__(self) -> int:
        return len(self.facets)

    def __iter__(self) -> Iterator[TropicalWeight]:
        return (self._at(position) for position in range(len(self)))

    def weight(self, facet: int) -> TropicalWeight:
        """The weight of a cell of codimension 1, by its number.

        Raises
        ------
        DomainError : it is not between two regions.
        """
        position = int(np.searchsorted(self.facets, facet))
        if position == len(self) or self.facets[position] != facet:
            raise DomainError(
                f"the cell {facet} of dimension {self.cells.dimension - 1} is not between two regions"
            )
        return self._at(position)

    def _at(self, position: int) -> TropicalWeight:
        *normal, offset = self.forms[position].tolist()
        divisor = self.divisors[position]
        return TropicalWeight(
            Cell(self.cells.dimension - 1, int(self.facets[position])),
            int(self.plus[position]),
            int(self.minus[position]),
            tuple(entry // divisor for entry in normal),
            Fraction(offset, divisor),
            tuple(self.weights[position].tolist()),
            self.hull,
        )

    @property
    def visible(self) -> NDArray[np.bool_]:
        """Which of the `facets` have a weight that is not 0, shape (F,)."""
        marked: NDArray[np.bool_] = (self.weights != 0).any(axis=1).astype(bool)
        return marked

    @property
    def subcomplex(self) -> Subcomplex:
        """The visible cells and their faces: the set where the network is not differentiable, in the domain."""
        return self._closure(self.visible)

    def bends_of(self, output: int) -> Subcomplex:
        """The cells across which one output bends, and their faces.

        Raises
        ------
        DomainError : there is no such output.

        >>> from polyrelu.complex import canonical_complex
        >>> from polyrelu.network import from_arrays
        >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 0], [1, 1]], [0, 0])])
        >>> breakpoints = breakpoint_complex(canonical_complex(net))
        >>> [breakpoints.bends_of(output).f_vector for output in range(2)], breakpoints.subcomplex.f_vector
        ([(1, 2, 0), (1, 4, 0)], (1, 4, 0))
        """
        if not 0 <= output < self.weights.shape[1]:
            raise DomainError(f"there is no output {output}, only 0 to {self.weights.shape[1] - 1}")
        return self._closure((self.weights[:, output] != 0).astype(bool))

    def _closure(self, chosen: NDArray[np.bool_]) -> Subcomplex:
        """Some of the `facets` and their faces."""
        if self.cells.dimension == 0:
            return Subcomplex.closure(self.cells, {})
        mask = np.zeros(self.cells.size(self.cells.dimension - 1), dtype=bool)
        mask[self.facets[chosen]] = True
        return Subcomplex.closure(self.cells, {self.cells.dimension - 1: mask})

    def __repr__(self) -> str:
        return f"<BreakpointComplex, {int(self.visible.sum())} of {len(self)} cells of codimension 1 visible>"


def breakpoint_complex(cells: PolyhedralComplex) -> BreakpointComplex:
    """The weights of all cells of codimension 1 between two regions.

    Parameters
    ----------
    cells : a complete complex, of any network on any domain.

    Raises
    ------
    DomainError : the complex is incomplete or a part.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[2, 0], [0, 1], [2, 0]], [-1, 0, -1]), ([[1, 3, -1]], [0])])  # two neurons cancel
    >>> breakpoints = breakpoint_complex(canonical_complex(net))
    >>> breakpoints
    <BreakpointComplex, 2 of 4 cells of codimension 1 visible>
    >>> sorted({(facet.normal, facet.weight[0]) for facet in breakpoints if facet.visible})
    [((0, 1), Fraction(3, 1))]
    """
    require_complete(cells, "weights")
    pairs = cells.adjacency()
    pairs = pairs[np.argsort(pairs[:, 2], kind="stable")]
    if not len(pairs):
        none, forms = pairs[:, 0], np.zeros((0, cells.network.inputs + 1), dtype=object)
        weights = np.zeros((0, cells.network.outputs), dtype=object)
        return BreakpointComplex(cells, none, none, none, forms, forms[:, 0], weights)
    first_is_plus, forms, divisors = _forms(cells, pairs)
    plus = np.where(first_is_plus, pairs[:, 0], pairs[:, 1])
    minus = np.where(first_is_plus, pairs[:, 1], pairs[:, 0])
    weights = _weights(cells, plus, minus, forms, divisors)
    return BreakpointComplex(
        cells, pairs[:, 2], plus, minus, forms, divisors, weights, _hull(cells)
    )


def _hull(cells: PolyhedralComplex) -> Hull | None:
    """The affine hull of the domain; None if that is everything."""
    size = cells.network.inputs
    if cells.dimension == size:
        return None
    columns = cells.frame.on_hull.take(
        rows=range(size), columns=range(size)
    )  # 0 but for the free coordinates
    return Hull.spanned_by(columns.take(columns=column_basis(columns)))


def _forms(
    cells: PolyhedralComplex, pairs: Indices
) -> tuple[NDArray[np.bool_], BigIntegers, BigIntegers]:
    """For each pair of neighbours: whether the form of the cell between is positive on the first of them, that form
    over (x, 1) in primitive integers, and the greatest common divisor of its normal."""
    found = cells.facet_forms(pairs[:, 2])
    rows, which = RationalMatrix.from_integers(found.rows), found.which
    forms = [positive_primitive(row) for row in (rows @ cells.frame.coordinates).integer_rows()]
    divisors = [math.gcd(*row[:-1]) for row in forms]
    signs = cells.signs(cells.dimension)[pairs[:, 0], found.columns[which]]
    return signs > 0, np.array(forms, dtype=object)[which], np.array(divisors, dtype=object)[which]


def _weights(
    cells: PolyhedralComplex,
    plus: Indices,
    minus: Indices,
    forms: BigIntegers,
    divisors: BigIntegers,
) -> NDArray[np.object_]:
    """ω from one column of [A⁺ | c⁺] - [A⁻ | c⁻] in which the normal is not 0."""
    denominator, maps = maps_on_hull(cells)
    pivots = (forms[:, :-1] != 0).argmax(axis=1)
    jumps = maps[plus, :, pivots] - maps[minus, :, pivots]
    scales = forms[np.arange(len(forms)), pivots] * denominator
    weights = np.empty(jumps.shape, dtype=object)
    for i, (jump, divisor, scale) in enumerate(
        zip(jumps.tolist(), divisors.tolist(), scales.tolist(), strict=True)
    ):
        weights[i] = [Fraction(entry * divisor, scale) for entry in jump]
    return weights


def maps_on_hull(
    cells: PolyhedralComplex, network: Network | None = None
) -> tuple[int, BigIntegers]:
    """Room-internal: the affine maps [A | c] of all regions: a denominator, and integers, shape (regions, m, n_0 + 1).

    Of the network of the complex, or of another one with the same hidden neurons. Maps that agree on the affine hull of
    the domain are equal here.
    """
    denominator, table = affine_map_table(
        network or cells.network, cells.signs(cells.dimension) > 0
    )
    if cells.dimension == cells.network.inputs:
        return denominator, table
    flat = RationalMatrix.from_integers(table.reshape(-1, table.shape[2]).tolist(), denominator)
    on_hull = flat @ cells.frame.on_hull
    return on_hull.denominator, np.array(on_hull.integer_rows(), dtype=object).reshape(table.shape)
