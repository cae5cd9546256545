"""A network as a tropical rational map: f = p - q, where p and q are maxima of affine functions.

Layer by layer every activation is a difference P - Q of convex functions. With W = W⁺ - W⁻,
W⁺, W⁻ ≥ 0, and the input itself as an affine function,

    z = N - M,   N = W⁺ P + W⁻ Q + b,   M = W⁺ Q + W⁻ P,      max(z, 0) = max(N, M) - M,

so the next P is max(N, M) and the next Q is M: Minkowski sums and joint hulls of Newton polytopes.
Since P = a + Q for the activation a, the next Q is |W| Q + W⁻ a, a fixed linear function of the
activations. With one block of weights W[ℓ,k] for each earlier layer k,

    Q[ℓ] = Σ_k R[ℓ,k] a[k],      R[ℓ,k] = W[ℓ,k]⁻ + Σ_{k<j<ℓ} |W[ℓ,j]| R[j,k]      (k ≥ 1).

So q = Q[L] is a network with the same hidden neurons and other, nonnegative, output weights
(`denominator_network`). Both q and p = f + q are convex, and affine on every region of the
canonical complex, and such a function is the maximum of its affine pieces. So the pieces on the
regions are all terms of p and q that attain the maximum in an open part of the domain, and no
Minkowski sum has to be written out.

**Dual subdivision.** The terms that attain p at a point inside the domain span a polytope of
slopes, the *dual cell* of the point. These cells subdivide the Newton polytope of p (the hull of
all slopes) if the domain is R^n. The set where a term attains p is convex with nonempty interior,
so it is the closure of the regions with this term: the terms at a cell are the terms of the
regions around it.

Source: the three-layer paper (arXiv 2605.18319), Appendix B.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import overload

import numpy as np

from polyrelu.breakpoints.facet_products import output_layer
from polyrelu.breakpoints.network_maps import NetworkMaps
from polyrelu.breakpoints.potentials import TermRows
from polyrelu.complex import Cell, PolyhedralComplex
from polyrelu.complex.completeness import require_complete
from polyrelu.complex.polyhedral_complex import expect_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.formats import as_points
from polyrelu.network import Block, Layer, Network
from polyrelu.network.points import NumberArray, OnePoint, Points
from polyrelu.support.arrays import read_only
from polyrelu.support.display import count_text, shortened
from polyrelu.support.typing import Indices, Point

__all__ = [
    "DualCell",
    "TropicalPolynomial",
    "TropicalRational",
    "denominator_network",
    "tropical_form",
]

#: Maximum number of terms, and of numbers in each of them, that are shown as a formula.
_SHOWN_TERMS = 8

#: An affine function [a | c], n_0 + 1 numbers.
AffineTerm = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class DualCell:
    """A cell of the dual subdivision.

    Attributes
    ----------
    terms
        The numbers of the terms whose slopes span the cell, ascending.
    dimension
        The dimension of the hull of these slopes; it and the dimension of `cell` add up to the
        dimension of the domain.
    cell
        A cell of the complex, of the largest dimension possible, on which exactly these terms
        attain the maximum.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> (form,) = tropical_form(canonical_complex(from_arrays([([[1]], [0]), ([[1]], [0])])))
    >>> form.numerator.dual_subdivision[-1]
    <DualCell, dimension 1, terms (0, 1), of cell 0 of dimension 0>
    """

    terms: tuple[int, ...]
    dimension: int
    cell: Cell

    def __repr__(self) -> str:
        terms = shortened(f"({', '.join(map(str, self.terms))})")
        cell = f"cell {self.cell.index} of dimension {self.cell.dimension}"
        return f"<DualCell, dimension {self.dimension}, terms {terms}, of {cell}>"


class TropicalPolynomial:
    """A maximum of affine functions, as it is attained on the regions of a complex.

    Attributes
    ----------
    terms
        Different affine functions [a | c], each the largest one on some region.
    term_of
        The number of the term on each region, shape (regions,).

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> (form,) = tropical_form(canonical_complex(from_arrays([([[1]], [0]), ([[2]], [3])])))
    >>> [tuple(map(str, term)) for term in form.numerator.terms], form.numerator(["1/2"])
    ([('0', '3'), ('2', '3')], Fraction(4, 1))
    """

    def __init__(self, cells: PolyhedralComplex, rows: TermRows, term_of: Indices) -> None:
        """Room-internal; use `tropical_form`."""
        self.term_of, self._cells, self._rows = read_only(term_of), cells, rows

    @cached_property
    def terms(self) -> tuple[AffineTerm, ...]:
        """Different affine functions [a | c], each the largest one on some region."""
        return tuple(map(tuple, self._rows.fractions().tolist()))

    def __repr__(self) -> str:
        counts = [(len(self), "term"), (len(self._rows.first) - 1, "variable")]
        return f"<TropicalPolynomial, {count_text(counts)}>"

    def __len__(self) -> int:
        return len(self._rows)

    def _repr_latex_(self) -> str | None:
        body = _latex(self)
        return None if body is None else f"${body}$"

    @overload
    def __call__(self, x: OnePoint) -> Fraction: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, x: Sequence[OnePoint | NumberArray]) -> list[Fraction]: ...

    @overload
    def __call__(self, x: NumberArray) -> Fraction | list[Fraction]: ...

    def __call__(self, x: OnePoint | Points) -> Fraction | list[Fraction]:
        """Return the maximum at a point of the domain, or a list for points of shape (k, n_0).

        Raises
        ------
        DomainError
            A point has another number of coordinates, or lies outside the domain, where other
            terms may be larger.
        """
        points, is_one = as_points(x, len(self.terms[0]) - 1)
        values = [self._value(point) for point in points]
        return values[0] if is_one else values

    def _value(self, point: Point) -> Fraction:
        """The maximum at a point."""
        if not self._cells.domain.contains(point):
            raise DomainError("the point is outside the domain on which the tropical form holds")
        ends = (*point, Fraction(1))
        return max(
            sum((a * b for a, b in zip(term, ends, strict=True)), Fraction()) for term in self.terms
        )

    @property
    def newton_polytope(self) -> Polyhedron:
        """The hull of the slopes of all terms, in R^{n_0}."""
        slopes = [term[:-1] for term in self.terms]
        return Polyhedron.from_generators(slopes, (), (), self._cells.network.num_inputs)

    @cached_property
    def dual_subdivision(self) -> tuple[DualCell, ...]:
        """The dual cells of all points inside the domain, ordered by dimension, then by terms.

        >>> from polyrelu.complex import canonical_complex
        >>> from polyrelu.network import from_arrays
        >>> # max(x, 0) + max(y, 0)
        >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])
        >>> (form,) = tropical_form(canonical_complex(net))
        >>> [cell.dimension for cell in form.numerator.dual_subdivision]
        [0, 0, 0, 0, 1, 1, 1, 1, 2]
        """
        cells: dict[tuple[int, ...], Cell] = {}
        for k, sets in self._terms_around():
            for index, terms in sets:
                cells.setdefault(terms, Cell(k, index))
        dimension = self._cells.dimension
        dual = [DualCell(terms, dimension - cell.dimension, cell) for terms, cell in cells.items()]
        return tuple(sorted(dual, key=lambda cell: (cell.dimension, cell.terms)))

    def _terms_around(self) -> Iterator[tuple[int, list[tuple[int, tuple[int, ...]]]]]:
        """Generate, for each dimension, the cells inside the domain with the terms around them.

        Dimensions descend.
        """
        cells, count = self._cells, len(self.terms)
        codes = (
            np.arange(cells.num_regions) * count + self.term_of
        )  # pairs (cell, term), as numbers
        for k in range(cells.dimension, cells.lineality_dim - 1, -1):
            owners, terms = np.divmod(codes, count)
            starts = np.flatnonzero(np.diff(owners, prepend=-1))
            inside = cells.inside(k)
            parts = zip(owners[starts].tolist(), np.split(terms, starts[1:]), strict=True)
            yield k, [(index, tuple(part.tolist())) for index, part in parts if inside[index]]
            if k > cells.lineality_dim:
                codes = _on_facets(cells, k, owners, terms, count)


def _on_facets(
    cells: PolyhedralComplex, k: int, owners: Indices, terms: Indices, count: int
) -> Indices:
    """The pairs (cell of dimension k - 1, term) from the pairs of dimension k, sorted by cell."""
    offsets, facets = cells.facets(k)
    numbers = np.diff(offsets)[owners]
    places = np.repeat(offsets[owners] - np.cumsum(numbers) + numbers, numbers) + np.arange(
        int(numbers.sum())
    )
    return np.unique(facets[places] * count + np.repeat(terms, numbers))


@dataclass(frozen=True, slots=True)
class TropicalRational:
    """One output as a difference p - q of maxima of affine functions.

    Attributes
    ----------
    numerator
        The maximum p.
    denominator
        The maximum q; p - q is a quotient in tropical arithmetic.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> (form,) = tropical_form(canonical_complex(from_arrays([([[1]], [0]), ([[-2]], [3])])))
    >>> form([5]), form.numerator([5]), form.denominator([5])
    (Fraction(-7, 1), Fraction(3, 1), Fraction(10, 1))
    """

    numerator: TropicalPolynomial
    denominator: TropicalPolynomial

    def __repr__(self) -> str:
        p, q = (count_text([(len(part), "term")]) for part in (self.numerator, self.denominator))
        return f"<TropicalRational, {p} minus {q}>"

    def _repr_latex_(self) -> str | None:
        p, q = _latex(self.numerator), _latex(self.denominator)
        if p is None or q is None:
            return None
        subtracted = q if len(self.denominator) > 1 else f"({q})"
        return f"${p}$" if q == "0" else f"${p} - {subtracted}$"

    @overload
    def __call__(self, x: OnePoint) -> Fraction: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, x: Sequence[OnePoint | NumberArray]) -> list[Fraction]: ...

    @overload
    def __call__(self, x: NumberArray) -> Fraction | list[Fraction]: ...

    def __call__(self, x: OnePoint | Points) -> Fraction | list[Fraction]:
        """Return the output at a point of the domain, or a list for points of shape (k, n_0)."""
        points, is_one = as_points(x, len(self.numerator.terms[0]) - 1)
        values = [self.numerator(point) - self.denominator(point) for point in points]
        return values[0] if is_one else values


def _latex(polynomial: TropicalPolynomial) -> str | None:
    """The maximum as a formula in LaTeX; None if it is too long for a line."""
    if len(polynomial) > _SHOWN_TERMS or len(polynomial.terms[0]) > _SHOWN_TERMS:
        return None
    terms = ", ".join(map(_latex_of_term, polynomial.terms))
    return terms if len(polynomial) == 1 else rf"\max({terms})"


def _latex_of_term(term: AffineTerm) -> str:
    """An affine function as a formula in LaTeX."""
    text = ""
    for entry, name in zip(term, [*(f"x_{{{j}}}" for j in range(len(term) - 1)), ""], strict=True):
        size = abs(entry)
        number = (
            str(size)
            if size.denominator == 1
            else rf"\tfrac{{{size.numerator}}}{{{size.denominator}}}"
        )
        if entry:
            sign = "-" if entry < 0 else "+" if text else ""
            text += f" {sign} " if text else sign
            text += name if name and size == 1 else number + name
    return text or "0"


def tropical_form(cells: PolyhedralComplex) -> list[TropicalRational]:
    """Express every output of a network as a difference of maxima of affine functions on a domain.

    Parameters
    ----------
    cells
        A complete complex, of any network. On a domain of lower dimension the terms are functions
        of the free coordinates of its affine hull.

    Returns
    -------
    list of TropicalRational
        One for each output.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one.

    Notes
    -----
    Source: the three-layer paper (arXiv 2605.18319), Appendix B.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> # max(x, 0) - 2 max(x - 1, 0) + 3
    >>> net = from_arrays([([[1], [1]], [0, -1]), ([[1, -2]], [3])])
    >>> (form,) = tropical_form(canonical_complex(net))
    >>> [tuple(map(str, term)) for term in form.numerator.terms]
    [('0', '3'), ('1', '3')]
    >>> [tuple(map(str, term)) for term in form.denominator.terms]
    [('0', '0'), ('2', '-2')]
    """
    cells = expect_complex(cells)
    require_complete(cells, "tropical forms")
    pieces = NetworkMaps.of(cells, _network_of_both(cells.network))
    count = cells.network.num_outputs
    parts = [_polynomial(cells, pieces, number) for number in range(2 * count)]
    return [TropicalRational(p, q) for p, q in zip(parts[:count], parts[count:], strict=True)]


def _polynomial(cells: PolyhedralComplex, pieces: NetworkMaps, number: int) -> TropicalPolynomial:
    """Return the maximum of the affine functions with a number among p, q of all outputs."""
    examples = pieces.tree.representatives(pieces.jumps.factors[:, number] == 0)
    regions, which = np.unique(examples, return_inverse=True)
    terms, term_of = pieces.maps.of_output(regions, number).distinct_rows()
    return TropicalPolynomial(cells, pieces.maps.rows(terms, number), term_of[which.ravel()])


def _network_of_both(network: Network) -> Network:
    """Return p, and after it q, as one network with the hidden neurons of the given one."""
    of_f, q = output_layer(network), denominator_network(network)
    blocks: dict[int, RationalMatrix] = {}
    for layer, factors in ((of_f, (1, 0)), (q.layers[-1], (1, 1))):
        for block in layer.blocks:
            parts = [block.weight.scale(factor) for factor in factors]
            both = parts[0].over(parts[1])
            blocks[block.source] = blocks[block.source] + both if block.source in blocks else both
    bias = of_f.bias.over(RationalMatrix.zeros(network.num_outputs, 1))
    joined = tuple(Block(source, weight) for source, weight in sorted(blocks.items()))
    hidden = network.layers[: network.num_hidden_layers]
    return Network(network.num_inputs, (*hidden, Layer(joined, bias)))


def denominator_network(network: Network) -> Network:
    """Return q as a network with the hidden neurons of the given one and output weights ≥ 0.

    The output layer reads all hidden layers on which its weights are not 0.

    >>> from polyrelu.network import from_arrays
    >>> q = denominator_network(from_arrays([([[1]], [0]), ([[-2]], [1]), ([[-1]], [0])]))
    >>> [str(block.weight) for block in q.layers[-1].blocks]  # q = 2 a[1] + a[2]
    ['[2]', '[1]']
    """
    sums: list[dict[int, RationalMatrix]] = [{}]  # R[ℓ,k] by ℓ and k
    for layer in network.layers:
        own: dict[int, RationalMatrix] = {}
        for block in layer.blocks:
            positive, negative = block.weight.relu(), (-block.weight).relu()
            parts = {k: (positive + negative) @ rest for k, rest in sums[block.source].items()}
            if block.source:  # the input is affine and needs no convex part
                parts[block.source] = negative
            for k, part in parts.items():
                own[k] = own[k] + part if k in own else part
        sums.append(own)
    hidden, weights = network.layers[: network.num_hidden_layers], sums[-1]
    if not hidden:
        return Network(network.num_inputs, (_output_layer(network, {}, 0),))
    return Network(network.num_inputs, (*hidden, _output_layer(network, weights, len(hidden))))


def _output_layer(network: Network, weights: dict[int, RationalMatrix], last: int) -> Layer:
    """The output layer without bias that has these weights on earlier layers."""
    zero = RationalMatrix.zeros(network.num_outputs, network.widths[last])
    blocks = [
        Block(k, weight)
        for k, weight in sorted(weights.items())
        if k != last and not weight.is_zero()
    ]
    blocks.append(Block(last, weights.get(last, zero)))
    return Layer(tuple(blocks), RationalMatrix.zeros(network.num_outputs, 1))
