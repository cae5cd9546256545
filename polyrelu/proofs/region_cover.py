"""That a list of regions is complete: a split tree with one leaf for each of them. The theorem is in ``regions.md``,
the file format in FORMAT.md §5.1.

The regions are found elsewhere (`canonical_complex`, `region_graph`), with their signs and a point inside. A node of
the tree is a polyhedron and the regions in it. A neuron that is affine on it and has one sign on all its regions has
this sign on the polyhedron: a linear program finds the multipliers that prove it. Where no such neuron is left, the
node is split at the affine neuron that divides its regions most evenly. So both sides of a split have an interior, the
depth grows with the logarithm of the number of regions where cuts are even, and a sign is proved once for all regions
below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from polyrelu.certificate import NodeRecord, RegionsCertificate, RegionsClaim, SignRecord, TreeLog
from polyrelu.complex import PolyhedralComplex, RegionGraph
from polyrelu.complex.completeness import require_complete
from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix
from polyrelu.network import Block, Layer, Network, from_arrays
from polyrelu.outcomes import ProofStatistics, RegionsListed, Undecided
from polyrelu.proofs.trees.expressions import JointNetwork, KnownSigns, Term
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates, NodePolyhedron, Proof
from polyrelu.proofs.trees.search import TreeStatistics, sign_record
from polyrelu.proofs.trees.sparse_forms import SparseForm, negated
from polyrelu.support.budget import Budget, CertificateLimit, LimitReached
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.limits import LINE_LIMIT
from polyrelu.support.typing import Indices, Signs
from polyrelu.version import __version__

__all__ = ["certify_regions"]

#: A point strictly inside a region, by the region's number.
PointOf = Callable[[int], Sequence[Fraction]]


def certify_regions(
    cells: PolyhedralComplex | RegionGraph,
    *,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: Callable[[ProofStatistics], None] | None = None,
) -> RegionsListed | Undecided:
    """A certificate that a complex has exactly these regions.

    Parameters
    ----------
    cells : the complete complex, or the regions alone, of any network on any domain.
    time_limit : seconds. memory_limit : MiB of the process. When one is reached, and after Ctrl-C, the answer is
        `Undecided`, with what was reached.
    progress : called after each node of the split tree.

    Raises
    ------
    DomainError : regions are missing: the complex is a part, or its computation was interrupted.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> triangle = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    >>> listed = certify_regions(canonical_complex(triangle))
    >>> listed.certificate.claim.count, listed.work.nodes
    (7, 13)
    """
    if isinstance(cells, PolyhedralComplex):
        require_complete(cells, "a list of regions")
    elif not cells.complete:
        raise DomainError(
            "a list of regions: the walk from region to region did not reach all of them"
        )
    work = TreeStatistics()
    with deferred_interrupt() as interrupt:
        try:
            budget = Budget(time_limit, memory_limit, interrupt)
            log = TreeLog()
            tree = _Tree(cells, budget, work)
            for node in tree.nodes():
                log.add(node)
                if log.longest > LINE_LIMIT:
                    raise CertificateLimit(
                        f"a line of the certificate would have more than {LINE_LIMIT} bytes"
                    )
                if progress is not None:
                    progress(work)
        except LimitReached as limit:
            return Undecided(str(limit), (), work)
    claim = RegionsClaim(cells.network, tree.coordinates.domain, cells.regions)
    return RegionsListed(RegionsCertificate(claim, log, {"tool": f"polyrelu {__version__}"}), work)


def _signs(cells: PolyhedralComplex | RegionGraph) -> Signs:
    return cells.signs(cells.dimension) if isinstance(cells, PolyhedralComplex) else cells.signs


def _points(cells: PolyhedralComplex | RegionGraph) -> PointOf:
    if isinstance(cells, PolyhedralComplex):
        return cells.interior_point
    return lambda index: cells.all_regions[index].interior_point


@dataclass(frozen=True, slots=True)
class _Open:
    """A node that is still to be visited: where it hangs, what is known there, which regions it has.

    `terms` are those whose sign is not known, with forms in which signs found since may still have to be put in: that
    costs more than all the rest, and is done where no affine form is left. `stale` tells whether it can change
    anything: no form contains the highest atoms. (An atom that showed its sign, as 1 + 2 a does while a is a term, may
    need a proof once the sign of a is known.)
    """

    depth: int
    cut: tuple[SparseForm, int] | None  # the form that is nonnegative from here on, and its factor
    known: KnownSigns
    terms: Sequence[Term]
    stale: bool
    regions: Indices


class _Tree:
    def __init__(
        self, cells: PolyhedralComplex | RegionGraph, budget: Budget, work: TreeStatistics
    ) -> None:
        network, signs = cells.network, _signs(cells)
        self.coordinates, self._point_of = DomainCoordinates.of(cells.domain), _points(cells)
        self._budget, self._work, self._cost = budget, work, (0, 0)
        self._joint = JointNetwork(
            *_all_activations(network), self.coordinates.inputs, check=budget.check
        )
        self._path = NodePolyhedron.at_root(self.coordinates)
        places = {
            (neuron.layer, neuron.index): column for column, neuron in enumerate(network.neurons())
        }
        columns = {
            atom.symbol: places[atom.neuron.layer, atom.neuron.place] for atom in self._joint.atoms
        }
        self._signs = {symbol: signs[:, column] for symbol, column in columns.items()}
        self._highest = max((atom.level for atom in self._joint.atoms), default=0)
        self._all = np.arange(len(signs))

    def nodes(self) -> Iterator[NodeRecord]:
        """The records of the tree, in prefix order."""
        known = KnownSigns()
        waiting = [_Open(0, None, known, self._terms(known), False, self._all)]
        while waiting:
            node = waiting.pop()
            self._path.go_to(node.depth, node.cut)
            rounds, node = self._settled(node)
            split = self._most_even(node)
            self._count(node, rounds, split is None)
            if split is None:
                (region,) = node.regions.tolist()
                yield NodeRecord(rounds, None, self._point_of(region))
            else:
                yield NodeRecord(rounds, self._joint.number(split.symbol))
                waiting += [self._part(node, split, sign) for sign in (-1, 1)]

    def _terms(self, known: KnownSigns) -> list[Term]:
        """The terms whose sign is not known, with all known signs put in."""
        expressions = self._joint.expressions(known)
        self._cost = expressions.cost
        return expressions.terms

    def _settled(self, node: _Open) -> tuple[list[list[SignRecord]], _Open]:
        """Rounds of the signs that hold on all of a node; and the node with these signs."""
        known, terms, stale, rounds = (
            node.known,
            list(node.terms),
            node.stale,
            list[list[SignRecord]](),
        )
        while True:
            self._budget.check()
            self._work.spend(
                *self._cost
            )  # of the checker, which puts in the signs at every node and in every round
            affine = [term for term in terms if term.is_affine]
            found = [
                (term, sign) for term in affine if (sign := self._common_sign(term, node.regions))
            ]
            if found:
                rounds.append([self._record(term, sign) for term, sign in found])
                known = known.extended(found)
                done = {term.symbol for term, _ in found}
                terms = [term for term in terms if term.symbol not in done]
                stale = stale or any(self._is_read(term) for term, _ in found)
            if len(found) < len(affine) or not (terms or stale):
                return rounds, replace(node, known=known, terms=terms, stale=stale)
            terms, stale = self._terms(known), False

    def _is_read(self, term: Term) -> bool:
        """Whether other forms may contain it."""
        return term.atom.level < self._highest

    def _common_sign(self, term: Term, regions: Indices) -> int:
        """The sign of a term on all regions; 0 if they differ. (It is 0 on none of them, as it is not 0 as a form.)"""
        signs = self._signs[term.symbol][regions]
        return int(signs[0]) if (signs == signs[0]).all() else 0

    def _record(self, term: Term, sign: int) -> SignRecord:
        self._budget.check()
        form = {column: sign * entry for column, entry in zip(*term.form, strict=True)}
        answer = self._path.least(form)
        self._work.programs += 1
        if not isinstance(answer, Proof):
            raise AssertionError(
                "a neuron with one sign on all regions of a polyhedron has it on the polyhedron"
            )
        return sign_record(self._joint, term, sign, answer, self._work)

    def _most_even(self, node: _Open) -> Term | None:
        """The affine term to split at, each of them taking both signs; None if no term is left."""
        affine = [term for term in node.terms if term.is_affine]
        return min(
            affine,
            key=lambda term: abs(int(self._signs[term.symbol][node.regions].sum())),
            default=None,
        )

    def _part(self, node: _Open, split: Term, sign: int) -> _Open:
        """One side of a split."""
        side = split.form if sign > 0 else negated(split.form)
        terms, stale = (
            [term for term in node.terms if term is not split],
            node.stale or self._is_read(split),
        )
        regions = node.regions[self._signs[split.symbol][node.regions] == sign]
        known = node.known.extended([(split, sign)])
        return _Open(node.depth + 1, (side, split.factor), known, terms, stale, regions)

    def _count(self, node: _Open, rounds: Sequence[Sequence[SignRecord]], leaf: bool) -> None:
        work = self._work
        work.nodes += 1
        work.depth = max(work.depth, node.depth)
        work.signs += sum(map(len, rounds))
        work.leaves += leaf
        work.closed += leaf / len(self._all)


def _all_activations(network: Network) -> tuple[Network, Network]:
    """A network whose outputs are the activations of all hidden neurons, and one with as many outputs that are 0.

    Their joint network has all atoms of the network. Without hidden neurons it has none: the network, twice.
    """
    hidden = network.layers[: network.hidden_layers]
    if not hidden:
        return network, network
    size, start, blocks = sum(layer.width for layer in hidden), 0, []
    for source, layer in enumerate(hidden, 1):
        rows = [[int(i == start + j) for j in range(layer.width)] for i in range(size)]
        blocks.append(Block(source, RationalMatrix.from_integers(rows)))
        start += layer.width
    outputs = Layer(tuple(blocks), RationalMatrix.zeros(size, 1))
    nothing = from_arrays([(RationalMatrix.zeros(size, network.inputs), [0] * size)])
    return Network(network.inputs, (*hidden, outputs)), nothing
