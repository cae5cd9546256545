"""Do the bent hyperplanes of neurons in adjacent layers cross (TPIC, the transverse pairwise intersection condition)?

For each pair of a neuron u of a hidden layer and a neuron v of the next one, their bent hyperplanes are to meet
*transversally* in a cell R of codimension 2 inside the domain. For networks that need not be generic, this is to mean:

* of the cells of codimension 1 around R exactly two have u = 0, and v is positive on one of them and negative on the
  other;
* exactly two have v = 0, and u is positive on one of them and negative on the other.

Then the signs (u, v) run around R through ++, 0+, -+, -0, --, 0-, +-, +0 and back, zeros on single cells of codimension
1 only: the two bent hyperplanes look like two lines that cross, whatever other neurons do there. (A region around R
with u = 0 would be bounded by the two cells with u = 0, but v has only one sign on a region. So u and v change their
signs at these four cells only.) It is more than that all four pairs of strict signs occur around R: for u = x and v =
|y| - 2|x| they do, but v = 0 does not pass through u = 0, where v is positive on both sides of R. Where the network is
supertransversal, any point of both bent hyperplanes inside the domain gives such a cell: the neurons that vanish at a
point are there like coordinates.

Source: Rolnick and Kording (2020) and, for the name, Grigsby, Lindsey and Rolnick (2023), for generic networks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyrelu.complex.completeness import require_complete
from polyrelu.complex.polyhedral_complex import Cell, PolyhedralComplex
from polyrelu.conditions.condition import Condition, neuron_text, require_plain
from polyrelu.network import NeuronId
from polyrelu.support.typing import Indices

__all__ = ["Crossings", "TransverseCrossing", "pairwise_crossings"]


#: Pairs named in a text.
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class TransverseCrossing:
    """A cell of codimension 2 in which the bent hyperplanes of two neurons cross."""

    earlier: NeuronId
    later: NeuronId
    cell: Cell


@dataclass(frozen=True, slots=True)
class Crossings:
    """For each pair of neurons in adjacent layers a cell, or the pair without one.

    Attributes
    ----------
    found : the first cell of each pair that has one.
    missing : the other pairs (earlier, later).
    """

    found: tuple[TransverseCrossing, ...]
    missing: tuple[tuple[NeuronId, NeuronId], ...]

    def __str__(self) -> str:
        total, shown = len(self.found) + len(self.missing), self.missing[:_SHOWN]
        pairs = [f"{neuron_text(one)} and {neuron_text(other)}" for one, other in shown]
        more = ["…"] if len(self.missing) > _SHOWN else []
        return f"{len(self.missing)} of {total} pairs do not cross: {', '.join(pairs + more)}"


def pairwise_crossings(cells: PolyhedralComplex) -> Condition[Crossings]:
    """Whether the bent hyperplanes of all pairs of neurons in adjacent hidden layers cross inside the domain.

    Parameters
    ----------
    cells : a complete complex of a plain stack, on any domain; on one of lower dimension, the zeros in the domain and
        codimension in the domain are meant, and in dimension 0 or 1 no pair crosses.

    Returns
    -------
    The condition "tpic", with a cell for each pair that has one, and the others. With one hidden layer it holds, there
    being no pairs. If the network ends in a ReLU, all its layers are hidden.

    Raises
    ------
    DomainError : the complex is incomplete or a part, or the network has skip connections.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> pairwise_crossings(canonical_complex(net)).evidence.found[0]
    TransverseCrossing(earlier=NeuronId(layer=1, index=0), later=NeuronId(layer=2, index=0), cell=Cell(dimension=0, index=1))
    >>> never = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [1]), ([[1]], [0])])
    >>> print(pairwise_crossings(canonical_complex(never)))
    tpic: fails, 2 of 2 pairs do not cross: neuron 0 of layer 1 and neuron 0 of layer 2, neuron 1 of layer 1 and neuron
    0 of layer 2
    """
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
    """Where exactly two cells of codimension 1 around one of codimension 2 have a neuron at 0.

    Attributes
    ----------
    ridges : the cells of codimension 2, ascending, shape (m,).
    facets : the two cells of codimension 1, shape (m, 2).
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
    """From incidences sorted by ridge: the ridges that occur twice, and with what."""
    known, starts, counts = np.unique(ridges, return_index=True, return_counts=True)
    first = starts[counts == 2]
    return _Ends(known[counts == 2], np.stack([facets[first], facets[first + 1]], axis=1))


def _first_crossing(cells: PolyhedralComplex, ends: list[_Ends], u: int, v: int) -> int | None:
    """The first cell of codimension 2 in which the bent hyperplanes of two neurons, given by their columns, cross."""
    common, at_u, at_v = np.intersect1d(
        ends[u].ridges, ends[v].ridges, assume_unique=True, return_indices=True
    )
    if not len(common):
        return None
    signs = cells.signs(cells.dimension - 1)
    along_u, along_v = signs[ends[u].facets[at_u], v], signs[ends[v].facets[at_v], u]
    crossing = np.flatnonzero((along_u.prod(axis=1) == -1) & (along_v.prod(axis=1) == -1))
    return int(common[crossing[0]]) if len(crossing) else None
