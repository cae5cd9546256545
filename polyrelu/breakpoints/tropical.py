"""A network as a tropical rational map: f = p - q, with p and q maxima of finitely many affine functions.

Layer by layer every activation is kept as a difference P - Q of convex functions. With W = W⁺ - W⁻, W⁺, W⁻ ≥ 0, and the
input taken as it is (a difference of x and 0),

    z = N - M,   N = W⁺ P + W⁻ Q + b,   M = W⁺ Q + W⁻ P,      max(z, 0) = max(N, M) - M,

so the next P is max(N, M) and the next Q is M: Minkowski sums and joint hulls of Newton polytopes. N, M and their
maximum are affine on every cell of the canonical complex, by induction: which of N and M is larger is the sign of the
neuron. So p and q of the outputs are convex on the domain and affine on every region, and a convex function that is
affine on every region is the maximum of its affine pieces. The pieces on the regions are therefore all terms of p and q
that are attained in an open part of the domain, and no Minkowski sum needs to be written out.

**Dual subdivision.** The terms that attain p at a point inside the domain span a polytope of slopes, the *dual cell* of
the point; these cells subdivide the Newton polytope of p (the hull of all slopes) if the domain is R^n. Where a term
attains p is a convex set with interior, so it is the closure of the regions with that term: the terms at a cell are
those of the regions around it.

Source: the three-layer paper, Appendix B.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex import Cell, PolyhedralComplex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, Rational, RationalMatrix, rank, to_fraction
from polyrelu.network import Network

__all__ = ["DualCell", "TropicalPolynomial", "TropicalRational", "tropical_form"]

Indices = NDArray[np.int64]
Term = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class DualCell:
    """A cell of the dual subdivision.

    Attributes
    ----------
    terms : the numbers of the terms whose slopes span it, ascending.
    dimension : of their hull.
    cell : a largest cell of the complex on which exactly these terms attain the maximum.
    """

    terms: tuple[int, ...]
    dimension: int
    cell: Cell


class TropicalPolynomial:
    """The maximum of affine functions, as it is attained on the regions of a complex.

    Attributes
    ----------
    terms : the affine functions [a | c], different from each other, each the largest on some region.
    term_of : the number of the term on every region.
    """

    def __init__(self, cells: PolyhedralComplex, terms: Sequence[Term], term_of: Indices) -> None:
        """Room-internal; see `tropical_form`."""
        self.terms, self.term_of, self._cells = tuple(terms), term_of, cells

    def __call__(self, x: Sequence[Rational]) -> Fraction:
        """The maximum at a point of the domain."""
        point = [*map(to_fraction, x), Fraction(1)]
        return max(sum((a * b for a, b in zip(term, point, strict=True)), Fraction()) for term in self.terms)

    @property
    def newton_polytope(self) -> Polyhedron:
        """The hull of the slopes, in R^{n_0}."""
        slopes = [term[:-1] for term in self.terms]
        return Polyhedron.from_generators(slopes, (), (), self._cells.network.inputs)

    @cached_property
    def dual_subdivision(self) -> tuple[DualCell, ...]:
        """The dual cells of all points inside the domain, ordered by dimension, then by terms.

        >>> from polyrelu.complex import canonical_complex
        >>> from polyrelu.network import from_arrays
        >>> square = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])   # max(x, 0) + max(y, 0)
        >>> (form,) = tropical_form(canonical_complex(square))
        >>> [cell.dimension for cell in form.numerator.dual_subdivision]
        [0, 0, 0, 0, 1, 1, 1, 1, 2]
        """
        found: dict[tuple[int, ...], Cell] = {}
        for k, sets in self._terms_around():
            for index, terms in sets:
                found.setdefault(terms, Cell(k, index))
        dual = [DualCell(terms, self._rank(terms), cell) for terms, cell in found.items()]
        return tuple(sorted(dual, key=lambda cell: (cell.dimension, cell.terms)))

    def _rank(self, terms: tuple[int, ...]) -> int:
        """The dimension of the hull of slopes."""
        first = self.terms[terms[0]]
        rows = [[a - b for a, b in zip(self.terms[i][:-1], first[:-1], strict=True)] for i in terms[1:]]
        return rank(RationalMatrix.from_rows(rows)) if rows else 0

    def _terms_around(self) -> Iterator[tuple[int, list[tuple[int, tuple[int, ...]]]]]:
        """For every dimension, the largest first: the cells inside the domain with the terms of the regions around."""
        cells, count = self._cells, len(self.terms)
        codes = np.arange(cells.regions) * count + self.term_of  # pairs (cell, term), as numbers
        for k in range(cells.dimension, cells.lineality_dim - 1, -1):
            owners, terms = np.divmod(codes, count)
            starts = np.flatnonzero(np.diff(owners, prepend=-1))
            inside = cells.inside(k)
            parts = zip(owners[starts].tolist(), np.split(terms, starts[1:]), strict=True)
            yield k, [(index, tuple(part.tolist())) for index, part in parts if inside[index]]
            if k > cells.lineality_dim:
                codes = _on_facets(cells, k, owners, terms, count)


def _on_facets(cells: PolyhedralComplex, k: int, owners: Indices, terms: Indices, count: int) -> Indices:
    """The pairs (cell of dimension k - 1, term) from those of dimension k, sorted by cell."""
    offsets, facets = cells.facets(k)
    numbers = np.diff(offsets)[owners]
    places = np.repeat(offsets[owners] - np.cumsum(numbers) + numbers, numbers) + np.arange(int(numbers.sum()))
    return np.unique(facets[places] * count + np.repeat(terms, numbers))


@dataclass(frozen=True, slots=True)
class TropicalRational:
    """One output as p - q.

    Attributes
    ----------
    numerator, denominator : p and q ("quotient" in the tropical sense).
    """

    numerator: TropicalPolynomial
    denominator: TropicalPolynomial

    def __call__(self, x: Sequence[Rational]) -> Fraction:
        """The output at a point of the domain."""
        return self.numerator(x) - self.denominator(x)


def tropical_form(cells: PolyhedralComplex) -> list[TropicalRational]:
    """Every output of a network as a difference of maxima of affine functions, on the domain of its complex.

    Parameters
    ----------
    cells : a complete complex, of any network. On a domain of lower dimension the terms are those functions of the free
        coordinates of its affine hull that agree on the domain.

    Raises
    ------
    DomainError : the complex is incomplete.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [0, -1]), ([[1, -2]], [3])])           # max(x, 0) - 2 max(x - 1, 0) + 3
    >>> (form,) = tropical_form(canonical_complex(net))
    >>> [tuple(map(str, term)) for term in form.numerator.terms]
    [('0', '3'), ('1', '3')]
    >>> [tuple(map(str, term)) for term in form.denominator.terms]
    [('0', '0'), ('2', '-2')]
    """
    if not cells.complete:
        raise DomainError("the complex is incomplete: the network is not affine on its cells")
    active = cells.all_signs[cells.dimension] > 0
    positive: list[list[Term]] = [[] for _ in range(cells.network.outputs)]
    negative: list[list[Term]] = [[] for _ in range(cells.network.outputs)]
    for pair in _pairs(cells.network, active):
        for target, rows in zip((positive, negative), pair, strict=True):
            reduced = rows @ cells.frame.on_hull if cells.dimension < cells.network.inputs else rows
            for own, row in zip(target, reduced.rows(), strict=True):
                own.append(row)
    return [
        TropicalRational(_polynomial(cells, p), _polynomial(cells, q)) for p, q in zip(positive, negative, strict=True)
    ]


def _polynomial(cells: PolyhedralComplex, pieces: Sequence[Term]) -> TropicalPolynomial:
    terms = sorted(set(pieces))
    numbers = {term: i for i, term in enumerate(terms)}
    return TropicalPolynomial(cells, terms, np.array([numbers[piece] for piece in pieces], dtype=np.int64))


Pair = tuple[RationalMatrix, RationalMatrix]


def _pairs(network: Network, active: NDArray[np.bool_]) -> Iterator[Pair]:
    """p and q of all outputs as rows [a | c], for each activation pattern of a region."""
    size = network.inputs
    source = RationalMatrix.identity(size).beside(RationalMatrix.zeros(size, 1))
    start = (source, RationalMatrix.zeros(size, size + 1))
    split = [[_parts(block.weight) for block in layer.blocks] for layer in network.layers]
    starts = np.cumsum([0, *network.widths[1 : network.hidden_layers + 1]])
    known: dict[tuple[bytes, ...], Pair] = {}
    for pattern in active:
        values, key = [start], tuple[bytes, ...]()
        for number in range(1, network.depth + 1):
            hidden = number <= network.hidden_layers
            mask = pattern[starts[number - 1] : starts[number]] if hidden else None
            key = (*key, b"" if mask is None else mask.tobytes())
            if number == network.depth:
                yield _layer(network, number, split[number - 1], values, mask)
            else:
                if key not in known:
                    known[key] = _layer(network, number, split[number - 1], values, mask)
                values.append(known[key])


def _parts(weight: RationalMatrix) -> Pair:
    """W⁺ and W⁻."""
    return weight.relu(), (-weight).relu()


def _layer(
    network: Network, number: int, split: Sequence[Pair], values: Sequence[Pair], mask: NDArray[np.bool_] | None
) -> Pair:
    """N and M of a layer, or max(N, M) and M of one with a ReLU."""
    layer = network.layers[number - 1]
    n = RationalMatrix.zeros(layer.width, network.inputs).beside(layer.bias)
    m = RationalMatrix.zeros(layer.width, network.inputs + 1)
    for block, (plus, minus) in zip(layer.blocks, split, strict=True):
        p, q = values[block.source]
        if block.source == 0:  # affine: not cut into a convex and a concave part
            n = n + block @ p
        else:
            n, m = n + plus @ p + minus @ q, m + plus @ q + minus @ p
    if mask is None:
        return n, m
    on = [int(entry) for entry in mask]
    return n.scale_rows(on) + m.scale_rows([1 - entry for entry in on]), m
