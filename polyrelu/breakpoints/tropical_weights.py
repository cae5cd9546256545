"""The breakpoint complex of a network: where and by how much its gradient jumps.

Let F be a cell of codimension 1 between two regions C⁺, C⁻ of the canonical complex, n the
primitive integer normal of F that points to C⁺, and n·x + β = 0 on F. The network is continuous,
so its affine maps on C⁺ and C⁻ differ by a matrix that vanishes on F: [A⁺ | c⁺] - [A⁻ | c⁻] = ω [n
| β] with one weight ω ∈ Q^m. Exchanging C⁺ and C⁻ changes the signs of both sides, so ω does not
depend on the choice; where it is positive, the output is convex across F. F is *visible* if ω ≠ 0.
The visible cells and their faces are the breakpoint complex.

Source: the three-layer paper (arXiv 2605.18319), Theorem 1. Its weights belong to normals of
length 1: they are ω·‖n‖ (`TropicalWeight.euclidean`). On a domain in a lower-dimensional affine
space, a normal is a covector in the coordinates that the equations of the affine hull leave free,
with 0 in all others; gradients and their lengths are measured along the hull (`hull`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, NoReturn, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from polyrelu.breakpoints.facet_products import numerators, output_layer
from polyrelu.breakpoints.hull import Hull
from polyrelu.breakpoints.integer_weights import IntegerWeights
from polyrelu.complex import Cell, PolyhedralComplex, Subcomplex
from polyrelu.complex.completeness import require_complete
from polyrelu.complex.polyhedral_complex import expect_complex
from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix, column_basis
from polyrelu.support.arguments import expect, expect_integer
from polyrelu.support.arrays import read_only
from polyrelu.support.display import shortened, svg_of
from polyrelu.support.typing import BigIntegers, Indices

__all__ = [
    "BreakpointComplex",
    "TropicalWeight",
    "breakpoint_complex",
    "expect_breakpoints",
]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class TropicalWeight:
    """The weight of a cell of codimension 1.

    Attributes
    ----------
    facet
        The cell.
    plus, minus
        The numbers of the regions on its two sides.
    normal
        The primitive integer normal that points to `plus`, n_0 integers.
    offset
        The number β with normal·x + β = 0 on the cell.
    weight
        The weight ω, one number for each output.
    hull
        The affine hull of the domain, for lengths; None if the domain has full dimension.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[2, 4]], [1]), ([[3]], [0])]))
    >>> (facet,) = breakpoint_complex(cells)
    >>> facet.normal, facet.offset, facet.weight
    ((1, 2), Fraction(1, 2), (Fraction(6, 1),))
    """

    facet: Cell
    plus: int
    minus: int
    normal: tuple[int, ...]
    offset: Fraction
    weight: tuple[Fraction, ...]
    hull: Hull | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        normal, weight = (
            shortened(f"({', '.join(map(str, row))})") for row in (self.normal, self.weight)
        )
        return f"<TropicalWeight of facet {self.facet.index}, normal {normal}, weight {weight}>"

    @property
    def visible(self) -> bool:
        """Whether the gradient jumps at the cell."""
        return any(self.weight)

    @property
    def jump(self) -> RationalMatrix:
        """The gradient on `plus` minus the gradient on `minus`, shape (m, n_0).

        On a domain of lower dimension it is the jump of the gradient along the affine hull.

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
    def squared_norm(self) -> Fraction:
        """‖n‖², measured along the affine hull on a domain of lower dimension."""
        return (
            Fraction(sum(n * n for n in self.normal))
            if self.hull is None
            else self.hull.squared_norm(self.normal)
        )

    def euclidean(self) -> tuple[Any, ...]:
        """Return the weights for the normal of length 1, one SymPy number for each output.

        They are the signed lengths of the jump.

        Examples
        --------
        >>> from polyrelu.complex import canonical_complex
        >>> from polyrelu.network import from_arrays
        >>> cells = canonical_complex(from_arrays([([[1, 1]], [0]), ([[3]], [0])]))
        >>> (facet,) = breakpoint_complex(cells)
        >>> facet.weight, facet.euclidean()
        ((Fraction(3, 1),), (3*sqrt(2),))
        """
        import sympy

        square = self.squared_norm
        length = sympy.sqrt(sympy.Rational(square.numerator, square.denominator))
        return tuple(sympy.Rational(w.numerator, w.denominator) * length for w in self.weight)


class _OnDemand(Generic[_T]):
    """A field that may be given as a function, which computes it when it is read first."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    @overload
    def __get__(self, instance: None, owner: type) -> NoReturn: ...

    @overload
    def __get__(self, instance: object, owner: type) -> _T: ...

    def __get__(self, instance: object | None, owner: type) -> _T:
        if instance is None:  # the field has no default
            raise AttributeError(self._name)
        value = instance.__dict__[self._name]
        if callable(value):
            value = instance.__dict__[self._name] = value()
        found: _T = value
        return found

    def __set__(self, instance: object, value: _T | Callable[[], _T]) -> None:
        instance.__dict__[self._name] = value


@dataclass(frozen=True, eq=False)
class BreakpointComplex:
    """All cells of codimension 1 between two regions, with their weights.

    `breakpoint_complex` computes it.

    Iteration gives a `TropicalWeight` for each cell, in the order of `facets`.

    Attributes
    ----------
    cells
        The canonical complex.
    facets
        The numbers of the cells of codimension 1 between two regions, ascending, shape (F,).
    plus, minus
        The numbers of the regions on the two sides of each of them, shape (F,).
    forms
        Primitive integer multiples of [n | β], positive on `plus`, shape (F, n_0 + 1).
    divisors
        The greatest common divisor of the normal in each row of `forms`, shape (F,).
    weights
        The weights ω as fractions, shape (F, m).
    hull
        The affine hull of the domain; None if the domain has full dimension.

    Notes
    -----
    `forms`, `divisors` and `weights` are tables of Python objects, made when they are read first.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 0]], [0])]))
    >>> breakpoints = breakpoint_complex(cells)
    >>> len(breakpoints), breakpoints.subcomplex.f_vector
    (4, (1, 2, 0))
    """

    cells: PolyhedralComplex
    facets: Indices
    plus: Indices
    minus: Indices
    forms: _OnDemand[BigIntegers] = _OnDemand()
    divisors: _OnDemand[BigIntegers] = _OnDemand()
    weights: _OnDemand[NDArray[np.object_]] = _OnDemand()
    hull: Hull | None = None

    @classmethod
    def _of_integers(cls, cells: PolyhedralComplex, integers: IntegerWeights) -> BreakpointComplex:
        """Return the breakpoint complex with these weights."""
        found = cls(
            cells,
            cells.common_facets(),
            read_only(cells.crossings.plus),
            read_only(cells.crossings.minus),
            integers.form_objects,
            integers.divisor_objects,
            integers.fractions,
            _hull(cells),
        )
        found.__dict__["_integers"] = integers
        return found

    @property
    def integers(self) -> IntegerWeights:
        """The weights and forms as integers, for computations with all of them."""
        known = self.__dict__.get("_integers")
        if isinstance(known, IntegerWeights):
            return known
        # Somebody gave the arrays, and may change them.
        return IntegerWeights.of_objects(self.forms, self.divisors, self.weights)

    def __len__(self) -> int:
        return len(self.facets)

    def __iter__(self) -> Iterator[TropicalWeight]:
        return (self._at(position) for position in range(len(self)))

    def weight(self, facet: int) -> TropicalWeight:
        """Return the weight of the cell of codimension 1 with the given number.

        Raises
        ------
        DomainError
            The cell does not lie between two regions.
        """
        facet = expect_integer(facet, "facet")
        position = int(np.searchsorted(self.facets, facet))
        if position == len(self) or self.facets[position] != facet:
            raise DomainError(
                f"the cell {facet} of dimension {self.cells.dimension - 1} is not between two "
                "regions"
            )
        return self._at(position)

    def _at(self, position: int) -> TropicalWeight:
        """The weight at a position of the arrays."""
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
        """Which of the `facets` have a nonzero weight, shape (F,)."""
        marked: NDArray[np.bool_] = read_only((self.integers.numerators != 0).any(axis=1))
        return marked

    @property
    def subcomplex(self) -> Subcomplex:
        """The visible cells and their faces.

        In the interior of the domain they are the set where the network is not differentiable.
        """
        return self._closure(self.visible)

    def bends_of(self, output: int) -> Subcomplex:
        """Return the cells across which the gradient of one output jumps, and their faces.

        Raises
        ------
        DomainError
            There is no such output.

        Examples
        --------
        >>> from polyrelu.complex import canonical_complex
        >>> from polyrelu.network import from_arrays
        >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 0], [1, 1]], [0, 0])])
        >>> breakpoints = breakpoint_complex(canonical_complex(net))
        >>> [breakpoints.bends_of(output).f_vector for output in range(2)]
        [(1, 2, 0), (1, 4, 0)]
        """
        output = expect_integer(output, "output")
        numerators = self.integers.numerators
        if not 0 <= output < numerators.shape[1]:
            raise DomainError(f"there is no output {output}, only 0 to {numerators.shape[1] - 1}")
        return self._closure(numerators[:, output] != 0)

    def _closure(self, chosen: NDArray[np.bool_]) -> Subcomplex:
        """The subcomplex of some of the `facets` and their faces."""
        if self.cells.dimension == 0:
            return Subcomplex.closure(self.cells, {})
        mask = np.zeros(self.cells.size(self.cells.dimension - 1), dtype=bool)
        mask[self.facets[chosen]] = True
        return Subcomplex.closure(self.cells, {self.cells.dimension - 1: mask})

    def __repr__(self) -> str:
        visible = int(self.visible.sum())
        return f"<BreakpointComplex, {visible} of {len(self)} cells of codimension 1 visible>"

    def _repr_svg_(self) -> str | None:
        return svg_of(self)


def expect_breakpoints(breakpoints: object, name: str = "breakpoints") -> BreakpointComplex:
    """Return an argument that is a breakpoint complex; the error names the function for it."""
    return expect(
        breakpoints, BreakpointComplex, name, "breakpoint_complex(canonical_complex(…)) makes one"
    )


def breakpoint_complex(cells: PolyhedralComplex) -> BreakpointComplex:
    """Compute the weights of all cells of codimension 1 between two regions.

    Parameters
    ----------
    cells
        A complete complex, of any network on any domain.

    Returns
    -------
    BreakpointComplex
        The cells with their weights.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one.

    Notes
    -----
    Source: the three-layer paper (arXiv 2605.18319), Theorem 1.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> first = ([[2, 0], [0, 1], [2, 0]], [-1, 0, -1])  # the outputs of two neurons cancel
    >>> net = from_arrays([first, ([[1, 3, -1]], [0])])
    >>> breakpoints = breakpoint_complex(canonical_complex(net))
    >>> breakpoints
    <BreakpointComplex, 2 of 4 cells of codimension 1 visible>
    >>> sorted({(facet.normal, facet.weight[0]) for facet in breakpoints if facet.visible})
    [((0, 1), Fraction(3, 1))]
    """
    cells = expect_complex(cells)
    require_complete(cells, "weights")
    found, denominator = numerators(cells, output_layer(cells.network))
    return BreakpointComplex._of_integers(
        cells, IntegerWeights.of_crossings(cells.crossings, found, denominator)
    )


def _hull(cells: PolyhedralComplex) -> Hull | None:
    """The affine hull of the domain; None if the domain has full dimension."""
    size = cells.network.num_inputs
    if cells.dimension == size:
        return None
    columns = cells.frame.on_hull.take(
        rows=range(size), columns=range(size)
    )  # 0 but for the free coordinates
    return Hull.spanned_by(columns.take(columns=column_basis(columns)))
