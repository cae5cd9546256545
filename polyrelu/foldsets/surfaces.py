"""Piece-wise linear surfaces in their canonical form: order, pieces, and the layers □_k.

Let Z be the relative interior of the domain of a complex and S a union of closed cells of
codimension 1 in it. A *piece-wise hyperplane* with respect to a closed set T is the intersection of
a hyperplane with one connected component P of Z \\ T. Put □_0 S = ∅, and let □_k S be the union of
□_{k-1} S and of all piece-wise hyperplanes with respect to □_{k-1} S that lie in S. The pieces that
step k adds are the pieces of *order* k. S is a *piece-wise linear surface* if these pieces cover
it, and its order is the largest order of a piece (Phuong and Lampert, 2020, Definitions A.1 to A.4,
Lemmas A.1 to A.6).

Why cells decide all this. T = □_{k-1} S is a union of cells, so P is one too, and two regions lie
in one component iff a chain of cells of codimension 1 inside Z and outside T joins them. Let g be a
hyperplane and P open. If g passes through the interior of a region in P, then g ∩ P is not in S,
which contains no interior point of a region. Otherwise g ∩ P, which is open in g, is the closure in
P of those cells of codimension 1 in P that lie in g. So g ∩ P lies in S iff g crosses no region of
P and all cells of codimension 1 of P in g belong to S. Whether g crosses a region or contains a
cell is decided by the exact signs of its form at the generators of the cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from polyrelu.complex import PolyhedralComplex, Subcomplex, fold_set
from polyrelu.complex.completeness import require_complete
from polyrelu.complex.polyhedral_complex import expect_complex
from polyrelu.complex.subcomplex import expect_subcomplex
from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix, primitive
from polyrelu.network import NeuronId
from polyrelu.support.arguments import expect, expect_count
from polyrelu.support.arrays import read_only
from polyrelu.support.display import count_text
from polyrelu.support.typing import Indices, IntegerRow, Mask

__all__ = [
    "FoldPiece",
    "Hyperplanes",
    "PiecewiseLinearSurface",
    "canonical_surface",
    "expect_surface",
    "hyperplane_of",
    "unit_fold_sets",
]

#: Maximum number of pairs of a hyperplane and a region or cell of codimension 1.
_PAIR_LIMIT = 3 * 10**8
#: Hyperplanes whose signs at the generators are packed into one word, two bits each.
_PER_WORD = 32


@dataclass(frozen=True, slots=True, eq=False)
class FoldPiece:
    """A piece-wise hyperplane of a surface in canonical form.

    Attributes
    ----------
    order
        The order k of the piece.
    hyperplane
        The hyperplane as a primitive integer row [a | b] over (x, 1), its first entry that is not 0
        positive; shape (n_0 + 1,). On a domain of lower dimension only coordinates occur that the
        equations of its affine hull leave free.
    component
        The number of the component of Z \\ □_{k-1} S, as in `PiecewiseLinearSurface.components`.
    facets
        The indices of the cells of codimension 1 whose closure is the closure of the piece,
        ascending.
    units
        The hidden neurons whose unit fold-sets contain the piece.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[2, 2]], [-1]), ([[3]], [0])])
    >>> (piece,) = canonical_surface(unit_fold_sets(canonical_complex(net))).pieces
    >>> piece
    <FoldPiece of order 1 on (2, 2, -1), 1 facet>
    """

    order: int
    hyperplane: IntegerRow
    component: int
    facets: Indices
    units: tuple[NeuronId, ...]

    def __repr__(self) -> str:
        row = ", ".join(map(str, self.hyperplane))
        row = row if len(row) <= 40 else row[:39] + "…"
        facets = count_text([(len(self.facets), "facet")])
        return f"<FoldPiece of order {self.order} on ({row}), {facets}>"


@dataclass(frozen=True, slots=True, eq=False)
class PiecewiseLinearSurface:
    """The canonical form of a union of cells of codimension 1 inside a domain.

    `canonical_surface` computes it. Iteration gives the pieces.

    Attributes
    ----------
    part
        The cells S and their faces.
    pieces
        The pieces by ascending order; pieces of one order by hyperplane and component.
    components
        For each order k = 1, 2, … the number of the component of Z \\ □_{k-1} S in which each
        region lies; shape (regions,) each.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> surface = canonical_surface(unit_fold_sets(canonical_complex(net)))
    >>> surface, surface.is_surface
    (<PiecewiseLinearSurface of order 2, 5 pieces>, True)
    >>> [(piece.order, piece.hyperplane) for piece in surface]
    [(1, (0, 1, 0)), (1, (1, 0, 0)), (2, (0, 1, -1)), (2, (1, 0, -1)), (2, (1, 1, -1))]
    """

    part: Subcomplex
    pieces: tuple[FoldPiece, ...]
    components: tuple[Indices, ...]

    @property
    def cells(self) -> PolyhedralComplex:
        """The complex."""
        return self.part.cells

    @property
    def order(self) -> int:
        """The largest order of a piece; 0 if there are no pieces."""
        return max((piece.order for piece in self.pieces), default=0)

    @property
    def is_surface(self) -> bool:
        """Whether the pieces cover all cells of codimension 1 of `part` inside the domain."""
        return not self.uncovered.size

    @property
    def uncovered(self) -> Indices:
        """The cells of codimension 1 of `part`, inside the domain, that lie in no piece."""
        return read_only(np.flatnonzero(_facets_inside(self.part) & ~self._facets(self.order)))

    def box(self, order: int) -> Subcomplex:
        """Return □_k S, the largest piece-wise linear surface of order at most k in S.

        It consists of the closures of the pieces of order at most k.
        """
        return _closure(self.cells, self._facets(expect_count(order, "order")))

    def closure(self, piece: FoldPiece) -> Subcomplex:
        """Return the closure of a piece, with its points on the boundary of the domain."""
        expect(piece, FoldPiece, "piece", "the pieces of a surface are surface.pieces")
        return _closure(self.cells, _mask(piece.facets, self._num_facets))

    def __iter__(self) -> Iterator[FoldPiece]:
        return iter(self.pieces)

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def _num_facets(self) -> int:
        return self.cells.size(self.cells.dimension - 1)

    def _facets(self, order: int) -> Mask:
        """Whether each cell of codimension 1 lies in a piece of order at most k."""
        chosen = [piece.facets for piece in self.pieces if piece.order <= order]
        return _mask(
            np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.int64), self._num_facets
        )

    def __repr__(self) -> str:
        pieces = count_text([(len(self.pieces), "piece")])
        kind = "" if self.is_surface else ", which do not cover it"
        return f"<PiecewiseLinearSurface of order {self.order}, {pieces}{kind}>"

    def _repr_svg_(self) -> str | None:
        return self.part._repr_svg_()


def expect_surface(surface: object) -> PiecewiseLinearSurface:
    """Return an argument that is a surface; the error names the function that makes one."""
    return expect(
        surface, PiecewiseLinearSurface, "surface", "canonical_surface(part) makes a surface"
    )


def unit_fold_sets(cells: PolyhedralComplex, layers: int | None = None) -> Subcomplex:
    """Return the union of the unit fold-sets of all hidden neurons of the first layers.

    Parameters
    ----------
    cells
        A complex.
    layers
        The number of layers; None for all hidden layers.

    Returns
    -------
    Subcomplex
        The union. It is a piece-wise linear surface of an order of at most `layers`.

    Notes
    -----
    Source: Phuong and Lampert (2020), Definition A.10 and Corollary A.1.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> cells = canonical_complex(net)
    >>> unit_fold_sets(cells).f_vector, unit_fold_sets(cells, 1).f_vector
    ((3, 9, 0), (3, 6, 0))
    """
    cells = expect_complex(cells)
    if layers is not None:
        layers = expect_count(layers, "layers")
    chosen = [neuron for neuron in cells.neurons if layers is None or neuron.layer <= layers]
    union = Subcomplex.closure(cells, {})
    for neuron in chosen:
        union = union | fold_set(cells, neuron)
    return union


def canonical_surface(part: Subcomplex) -> PiecewiseLinearSurface:
    """Decompose a union of cells of codimension 1 into its piece-wise hyperplanes.

    Parameters
    ----------
    part
        A subcomplex of a complete complex, such as `unit_fold_sets(cells)` or
        `breakpoint_complex(cells).subcomplex`. Its cells of codimension 1 inside the domain count;
        others are ignored.

    Returns
    -------
    PiecewiseLinearSurface
        The canonical form, unique up to the numbers of pieces (Lemma A.6). `is_surface` tells
        whether the cells are a piece-wise linear surface; otherwise the pieces make up □_k S
        for large k.

    Raises
    ------
    DomainError
        The complex is incomplete, has cells of codimension 0 in `part`, or too many cells.

    Notes
    -----
    Source: Phuong and Lampert (2020), appendix A.1. The proof that signs at generators decide
    everything is in `docs/theory/foldsets.md`.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> first = ([[-3, 3], [3, -2]], [2, -1])
    >>> net = from_arrays([first, ([[3, 3], [1, -2]], [-3, 6]), ([[1, 2]], [1])])
    >>> surface = canonical_surface(unit_fold_sets(canonical_complex(net, "box:-1,1")))
    >>> [piece.hyperplane for piece in surface if piece.order == 1]
    [(3, -3, -2), (3, -2, -4), (3, -2, -1)]
    """
    part = expect_subcomplex(part)
    cells = part.cells
    require_complete(cells, "canonical surfaces")
    if cells.dimension == 0:
        raise DomainError("part: a complex that is one point has no cells of codimension 1")
    if part.masks[-1].any():
        raise DomainError("part: a surface consists of cells of codimension 1 and their faces")
    planes = Hyperplanes.of(cells, _facets_inside(part))
    pieces, components = list[FoldPiece](), list[Indices]()
    folds = _fold_masks(cells)
    covered = np.zeros(len(planes.wanted), dtype=bool)
    while True:
        labels = _components(cells, covered)
        found = list(planes.pieces(covered, labels))
        if not found:
            return PiecewiseLinearSurface(part, tuple(pieces), tuple(components))
        components.append(read_only(labels))
        for row, component, facets in found:
            units = tuple(neuron for neuron, mask in folds.items() if mask[facets].all())
            pieces.append(FoldPiece(len(components), row, component, read_only(facets), units))
            covered[facets] = True


class Hyperplanes:
    """The hyperplanes through some cells of codimension 1, and how they lie to all cells.

    Attributes
    ----------
    wanted
        Whether each cell of codimension 1 belongs to the surface.
    rows
        The hyperplanes as rows over (x, 1), sorted.
    crossed
        For each hyperplane whether it passes through each region, shape (hyperplanes, regions).
    sides
        For each hyperplane the sign of its form on each region, 0 where it passes through.
    inside
        For each hyperplane whether it contains each cell of codimension 1 between two regions.
    numbers
        The number of the hyperplane through each wanted cell, -1 for others.
    """

    def __init__(
        self, cells: PolyhedralComplex, wanted: Mask, rows: list[IntegerRow], forms: list[list[int]]
    ) -> None:
        self.wanted, self.rows = wanted, rows
        self._regions = np.zeros(len(wanted), dtype=np.int64)  # one of the two beside each facet
        between = cells.common_facets()
        self._regions[between] = cells.adjacency()[:, 0]
        crossed = np.zeros((len(rows), cells.num_regions), dtype=bool)
        contained = np.zeros((len(rows), len(wanted)), dtype=bool)
        self.sides = np.zeros(crossed.shape, dtype=np.int8)
        generators = [cells.generators.exact(number) for number in range(len(cells.generators))]
        for start in range(0, len(rows), _PER_WORD):
            block = forms[start : start + _PER_WORD]
            for number, (at_facets, at_regions) in enumerate(_met(cells, generators, block), start):
                crossed[number] = at_regions == 3
                self.sides[number] = np.select([at_regions == 1, at_regions == 2], [1, -1])
                contained[number, between] = at_facets[between] == 0
        self.crossed, self.inside = crossed, contained
        self.numbers: Indices = np.where(wanted, contained.argmax(axis=0) if rows else 0, -1)

    @classmethod
    def of(cls, cells: PolyhedralComplex, wanted: Mask) -> Hyperplanes:
        """Return the hyperplanes through the wanted cells, unless they are too many."""
        forms = cells.facet_forms(np.flatnonzero(wanted))
        known: dict[IntegerRow, list[int]] = {}
        for row in forms.rows:
            known.setdefault(hyperplane_of(cells, row), list(row))
        rows = sorted(known)
        if len(rows) * (cells.num_regions + len(wanted)) > _PAIR_LIMIT:
            raise DomainError(
                f"{len(rows)} hyperplanes and {cells.num_regions} regions are too many to compare; "
                "choose a smaller domain"
            )
        return cls(cells, wanted, rows, [known[row] for row in rows])

    def pieces(self, covered: Mask, labels: Indices) -> Iterator[tuple[IntegerRow, int, Indices]]:
        """Generate the new pieces of an order: hyperplane, component and cells.

        `covered` are the cells of pieces of lower orders, `labels` the components of the regions.
        """
        of_facets = labels[self._regions]
        for number, row in enumerate(self.rows):
            within = self.inside[number] & ~covered
            spoiled = np.unique(
                np.concatenate([labels[self.crossed[number]], of_facets[within & ~self.wanted]])
            )
            for component in np.setdiff1d(of_facets[within & self.wanted], spoiled).tolist():
                yield row, component, np.flatnonzero(within & (of_facets == component))


def hyperplane_of(cells: PolyhedralComplex, row: IntegerRow) -> IntegerRow:
    """Return a form over the coordinates of the frame as a canonical row over (x, 1)."""
    (values,) = (RationalMatrix.from_integers([row]) @ cells.frame.coordinates).rows()
    ints, _ = primitive(values)
    sign = next(1 if entry > 0 else -1 for entry in ints if entry)
    return tuple(sign * entry for entry in ints)


def _met(
    cells: PolyhedralComplex, generators: list[list[int]], forms: list[list[int]]
) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.uint64]]]:
    """Generate, for each form, which signs it has at the generators of facets and of regions.

    Bit 0 stands for a positive and bit 1 for a negative sign.
    """
    values = (
        RationalMatrix.from_integers(generators) @ RationalMatrix.from_integers(forms).transpose()
    )
    signs = values.signs()
    marks = np.zeros(len(generators), dtype=np.uint64)
    for place, column in enumerate(signs.T):
        bits = np.where(column > 0, 1, np.where(column < 0, 2, 0)).astype(np.uint64)
        marks |= bits << np.uint64(2 * place)
    of_cells = cells.generators.marks_of_cells(marks)
    for place in range(len(forms)):
        shift = np.uint64(2 * place)
        facets, regions = ((of_cells[k] >> shift) & np.uint64(3) for k in (-2, -1))
        yield facets, regions


def _components(cells: PolyhedralComplex, covered: Mask) -> Indices:
    """The number of the component of each region if the covered cells are taken away."""
    graph = nx.Graph()
    graph.add_nodes_from(range(cells.num_regions))
    graph.add_edges_from(cells.adjacency()[~covered[cells.common_facets()]].tolist())
    labels = np.zeros(cells.num_regions, dtype=np.int64)
    for number, members in enumerate(nx.connected_components(graph)):
        labels[list(members)] = number
    return labels


def _fold_masks(cells: PolyhedralComplex) -> dict[NeuronId, Mask]:
    """For each hidden neuron which cells of codimension 1 belong to its unit fold-set."""
    k = cells.dimension - 1
    return {neuron: fold_set(cells, neuron).masks[k] for neuron in cells.neurons}


def _facets_inside(part: Subcomplex) -> Mask:
    """Which cells of codimension 1 belong to a part and lie between two regions."""
    mask: Mask = np.zeros(part.cells.size(part.cells.dimension - 1), dtype=bool)
    mask[part.cells.common_facets()] = True
    return mask & part.masks[part.cells.dimension - 1]


def _mask(indices: Indices, size: int) -> Mask:
    """The mask of some indices."""
    mask: Mask = np.zeros(size, dtype=bool)
    mask[indices] = True
    return mask


def _closure(cells: PolyhedralComplex, facets: Mask) -> Subcomplex:
    """The subcomplex of some cells of codimension 1 and their faces."""
    return Subcomplex.closure(cells, {cells.dimension - 1: facets})
