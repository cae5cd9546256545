"""TPIC, the transverse pairwise intersection condition: bent hyperplanes of adjacent layers cross.

For each pair of a neuron u of a hidden layer and a neuron v of the next layer, their bent
hyperplanes have to meet *transversally* in a cell R of codimension 2 inside the domain. For
networks that need not be generic, this means here:

* of the cells of codimension 1 around R exactly two have u = 0, and v is positive on one of them
  and negative on the other;
* exactly two have v = 0, and u is positive on one of them and negative on the other.

Then the signs (u, v) run around R through ++, 0+, -+, -0, --, 0-, +-, +0 and back, with zeros on
single cells of codimension 1 only: the two bent hyperplanes look like two lines that cross,
whatever other neurons do there. (A region around R with u = 0 would be bounded by the two cells
with u = 0, but v has only one sign on a region. So u and v change their signs at these four cells
only.)

The condition is stronger than that all four pairs of strict signs occur around R. For u = x and v
= |y| - 2|x| they occur, but v = 0 does not pass through u = 0, where v is positive on both sides
of R. If the network is supertransversal, any point of both bent hyperplanes inside the domain
gives such a cell, because the neurons that vanish at a point act there like coordinates.

Source: Rolnick and Kording (2020), arXiv 1910.00744, and, for the name, Grigsby, Lindsey and
Rolnick (2023), arXiv 2306.06179, for generic networks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyrelu.complex.completeness import require_complete
from polyrelu.complex.polyhedral_complex import Cell, PolyhedralComplex
from polyrelu.conditions.condition import Condition, as_complex, neuron_text, require_plain
from polyrelu.network import NeuronId
from polyrelu.support.display import bracketed
from polyrelu.support.typing import Indices

__all__ = ["Crossings", "TransverseCrossing", "pairwise_crossings"]


#: Maximum number of pairs that a text names.
_NAMED_PAIRS = 3


@dataclass(frozen=True, slots=True, repr=False)
class TransverseCrossing:
    """A cell of codimension 2 in which the bent hyperplanes of two neurons cross.

    Attributes
    ----------
    earlier
        The neuron of a hidden layer.
    later
        The neuron of the next layer.
    cell
        The cell.

    Examples
    --------
    >>> print(TransverseCrossing(NeuronId(1, 0), NeuronId(2, 0), Cell(0, 1)))
    neuron 0 of layer 1 and neuron 0 of layer 2 cross in cell 1 of dimension 0
    """

    earlier: NeuronId
    later: NeuronId
    cell: Cell

    def __str__(self) -> str:
        pair = f"{neuron_text(self.earlier)} and {neuron_text(self.later)}"
        return f"{pair} cross in cell {self.cell.index} of dimension {self.cell.dimension}"

    def __repr__(self) -> str:
        return bracketed(f"TransverseCrossing, {self}")


@dataclass(frozen=True, slots=True, repr=False)
class Crossings:
    """For each pair of neurons in adjacent layers a crossing, or the pair without one.

    Attributes
    ----------
    found
        The first cell of each pair that has one.
    missing
        The other pairs (earlier, later).

    Examples
    --------
    >>> print(Crossings((), ((NeuronId(1, 0), NeuronId(2, 0)),)))
    1 of 1 pairs do not cross: neuron 0 of layer 1 and neuron 0 of layer 2
    """

    found: tuple[TransverseCrossing, ...]
    missing: tuple[tuple[NeuronId, NeuronId], ...]

    def __str__(self) -> str:
        total, shown = len(self.found) + len(self.missing), self.missing[:_NAMED_PAIRS]
        if not shown:
            return f"all of {total} pairs cross"
        pairs = [f"{neuron_text(one)} and {neuron_text(other)}" for one, other in shown]
        more = ["…"] if len(self.missing) > _NAMED_PAIRS else []
        return f"{len(self.missing)} of {total} pairs do not cross: {', '.join(pairs + more)}"

    def __repr__(self) -> str:
        return bracketed(f"Crossings, {self}")


def pairwise_crossings(cells: PolyhedralComplex) -> Condition[Crossings]:
    """Check whether the bent hyperplanes of all neurons in adjacent hidden layers cross in pairs.

    Parameters
    ----------
    cells
        A complete complex of a network without skip connections, on any domain. On a domain of
        lower dimension, zeros in the domain and codimension in the domain count; in dimension 0 or
        1 no pair crosses.

    Returns
    -------
    Condition
        The condition "tpic", with a cell for each pair that has one, and the other pairs. With one
        hidden layer it holds, because there are no pairs. If the network ends in a ReLU, all its
        layers are hidden.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one, or the network has skip connections.

    Notes
    -----
    Source: Rolnick and Kording (2020), arXiv 1910.00744; Grigsby, Lindsey and Rolnick (2023), arXiv
    2306.06179.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> first = ([[1, 0], [0, 1]], [0, 0])
    >>> net = from_arrays([first, ([[1, 1]], [-1]), ([[1]], [0])])
    >>> pairwise_crossings(canonical_complex(net)).evidence.found[0].cell
    Cell(dimension=0, index=1)
    >>> never = from_arrays([first, ([[1, 1]], [1]), ([[1]], [0])])
    >>> pairwise_crossings(canonical_complex(never)).evidence.missing[0]
    (NeuronId(layer=1, index=0), NeuronId(layer=2, index=0))
    """
    cells = as_complex(cells)
    require_plain(cells.network, "crossings of adjacent layers")
    require_complete(cells, "crossings of adjacent layers")
    ends = _two_ends(cells)
    found: list[TransverseCrossing] = []
    missing: list[tuple[NeuronId, NeuronId]] = []
    for u, earlier in enumerate(cells.neurons):
        for v, later in enumerate(cells.neurons):
            if later.layer == earlier.layer + 1:
                ridge = _first_crossing(cells, ends, u, v)
                if ridge is None:
                    missing.append((earlier, later))
                else:
                    found.append(
                        TransverseCrossing(earlier, later, Cell(cells.dimension - 2, ridge))
                    )
    evidence = Crossings(tuple(found), tuple(missing))
    return Condition("tpic", "fails" if missing else "holds", len(found), "pairs", evidence)


@dataclass(frozen=True, slots=True)
class _Ends:
    """The ridges at which exactly two facets have one given neuron at 0.

    Attributes
    ----------
    ridges
        The cells of codimension 2, ascending, shape (m,).
    facets
        The two cells of codimension 1 around each of them, shape (m, 2).
    """

    ridges: Indices
    facets: Indices


def _two_ends(cells: PolyhedralComplex) -> list[_Ends]:
    """`_Ends` of every neuron, among the cells of codimension 2 inside the domain."""
    k = cells.dimension - 1
    if k <= cells.lineality_dim:  # there are no cells of codimension 2
        none = np.zeros(0, dtype=np.int64)
        return [_Ends(none, none.reshape(0, 2)) for _ in cells.neurons]
    offsets, ridges = cells.facets(k)
    facets = np.repeat(np.arange(cells.size(k)), np.diff(offsets))
    order = np.argsort(ridges, kind="stable")
    order = order[cells.inside(k - 1)[ridges[order]]]
    ridges, facets = ridges[order], facets[order]
    zero = cells.signs(k) == 0
    return [_pairs(ridges[chosen], facets[chosen]) for chosen in zero[facets].T]


def _pairs(ridges: Indices, facets: Indices) -> _Ends:
    """The ridges that occur exactly twice in incidences sorted by ridge, with their facets."""
    known, starts, counts = np.unique(ridges, return_index=True, return_counts=True)
    first = starts[counts == 2]
    return _Ends(known[counts == 2], np.stack([facets[first], facets[first + 1]], axis=1))


def _first_crossing(cells: PolyhedralComplex, ends: list[_Ends], u: int, v: int) -> int | None:
    """The first ridge at which the bent hyperplanes of two neurons, given by columns, cross."""
    common, at_u, at_v = np.intersect1d(
        ends[u].ridges, ends[v].ridges, assume_unique=True, return_indices=True
    )
    if not len(common):
        return None
    signs = cells.signs(cells.dimension - 1)
    along_u, along_v = signs[ends[u].facets[at_u], v], signs[ends[v].facets[at_v], u]
    crossing = np.flatnonzero((along_u.prod(axis=1) == -1) & (along_v.prod(axis=1) == -1))
    return int(common[crossing[0]]) if len(crossing) else None
