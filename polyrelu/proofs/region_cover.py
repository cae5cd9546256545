"""Proof that a list of regions is complete: by vertices, or by a split tree.

The regions come from elsewhere (`canonical_complex`, `region_graph`), with their signs and a point
inside each. Of a complex the vertices are listed (`vertex_list`), unless there are far more of them
than regions. A tree has one leaf for each region; `certify_regions` builds it node by node and
writes each node as it is finished.
The theorem is in docs/theory/regions.md, the file format in FORMAT.md §5.1.

A node of the tree is a polyhedron with the regions in it. If a neuron is affine on the polyhedron
and has one sign on all its regions, it has this sign on the polyhedron. The multipliers that prove
it come from a vertex of the complex (`node_vertices`), or from a linear program. Where no such
neuron is left, the node is split at the affine neuron that divides its regions most evenly. So both
sides of a split have an interior, the depth grows with the logarithm of the number of regions where
cuts are even, and a sign is proved once for all regions below the node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from polyrelu.certificate import (
    ComplexClaim,
    NodeRecord,
    RegionsCertificate,
    RegionsClaim,
    SignRecord,
    TreeLog,
    VertexCertificate,
)
from polyrelu.complex import PolyhedralComplex, RegionGraph
from polyrelu.complex.completeness import require_complete
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.network import Block, Layer, Network, from_arrays
from polyrelu.outcomes import ComplexListed, RegionsListed, Undecided
from polyrelu.proofs.node_vertices import node_vertices
from polyrelu.proofs.trees.expressions import JointNetwork, KnownSigns, Term
from polyrelu.proofs.trees.node_polyhedron import (
    DomainCoordinates,
    NodePolyhedron,
    NonnegativityProof,
)
from polyrelu.proofs.trees.search import TreeStatistics, sign_record
from polyrelu.proofs.trees.sparse_forms import SparseForm, negated
from polyrelu.proofs.vertex_list import VertexList, is_short
from polyrelu.support.arguments import expect_choice, expect_function, expect_one_of
from polyrelu.support.budget import ENDINGS, Budget, BudgetLike, CertificateLimit, as_budget
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.limits import LINE_LIMIT
from polyrelu.support.prices import price_of_node, price_of_program
from polyrelu.support.progress import Progress, report
from polyrelu.support.typing import Indices
from polyrelu.version import __version__

__all__ = ["RegionTree", "certify_complex", "certify_regions"]

#: How a list of regions is proved; `auto` takes the vertices of a complex where they are not many.
Method = Literal["auto", "vertices", "tree"]

#: A point strictly inside a region, by the region's number.
PointOf = Callable[[int], Sequence[Fraction]]


def certify_regions(
    cells: PolyhedralComplex | RegionGraph,
    *,
    method: Method = "auto",
    budget: BudgetLike = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> RegionsListed | Undecided:
    """Prove that a complex has exactly the regions that it lists.

    Parameters
    ----------
    cells
        The complete complex, or the regions alone, of any network on any domain.
    method
        `vertices` lists the vertices of a complex, `tree` makes a split tree with a point inside
        each region. By default a complex has its vertices listed, unless there are many more of
        them than regions.
    budget
        Units of work, or a `Budget` with all limits; no limit by default. A unit is about a
        millisecond.
    time_limit
        Seconds.
    memory_limit
        MiB of the process.
    progress
        Called with a `polyrelu.support.ProgressStep` after each vertex, or node of the split tree.

    Returns
    -------
    RegionsListed or Undecided
        A certificate; `Undecided`, with the work done so far, if a limit was reached, and after
        Ctrl-C.

    Raises
    ------
    DomainError
        Regions are missing: the complex is a part, or its computation was interrupted; or the
        regions alone are given, which have no vertices to be listed.
    ArgumentError
        An argument has a wrong type, or lies outside its range.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> triangle = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    >>> listed = certify_regions(canonical_complex(triangle))
    >>> listed.certificate.claim.num_regions, listed.work.num_nodes
    (7, 3)
    >>> certify_regions(canonical_complex(triangle), method="tree").work.num_nodes
    13
    """
    remedy = "canonical_complex(network, domain) and region_graph(network, domain) make them"
    expect_one_of(cells, (PolyhedralComplex, RegionGraph), "cells", remedy)
    expect_function(progress, "progress")
    expect_choice(method, get_args(Method), "method")
    limits = as_budget(budget, time_limit, memory_limit)
    if isinstance(cells, PolyhedralComplex):
        require_complete(cells, "a list of regions")
        if method == "vertices" or (method == "auto" and is_short(cells)):
            found = _vertices(cells, limits, progress)
            if isinstance(found, tuple):
                log, domain = found
                claim = RegionsClaim(cells.network, domain, cells.num_regions)
                return RegionsListed(VertexCertificate(claim, log, _notes()), _work(log))
            if isinstance(found, Undecided):
                return found
            if method == "vertices":
                return Undecided(str(found), (), TreeStatistics())
    elif not cells.complete:
        raise DomainError(
            "a list of regions: the walk from region to region did not reach all of them"
        )
    elif method == "vertices":
        raise DomainError("method='vertices': regions alone have no vertices; leave it out")
    return _by_tree(cells, limits, progress)


def certify_complex(
    cells: PolyhedralComplex,
    *,
    budget: BudgetLike = None,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> ComplexListed | RegionsListed | Undecided:
    """Prove that a complex has exactly the cells that it lists, in every dimension.

    Parameters
    ----------
    cells
        The complete complex of any network on any domain.
    budget
        Units of work, or a `Budget` with all limits; no limit by default. A unit is about a
        millisecond.
    time_limit
        Seconds.
    memory_limit
        MiB of the process.
    progress
        Called with a `polyrelu.support.ProgressStep` after each vertex.

    Returns
    -------
    ComplexListed, RegionsListed or Undecided
        A certificate with the vertices; where vertices would be too many, a certificate of the
        regions alone, as of `certify_regions`; `Undecided` if a limit was reached, and after
        Ctrl-C.

    Raises
    ------
    DomainError
        Cells are missing: the complex is a part, or its computation was interrupted.
    ArgumentError
        An argument has a wrong type, or lies outside its range.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> triangle = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    >>> certify_complex(canonical_complex(triangle)).certificate.claim.f_vector
    (3, 9, 7)
    """
    expect_function(progress, "progress")
    require_complete(cells, "a list of cells")
    limits = as_budget(budget, time_limit, memory_limit)
    if is_short(cells):
        found = _vertices(cells, limits, progress)
        if isinstance(found, tuple):
            log, domain = found
            claim = ComplexClaim(cells.network, domain, cells.f_vector)
            return ComplexListed(VertexCertificate(claim, log, _notes()), _work(log))
        if isinstance(found, Undecided):
            return found
    return _by_tree(cells, limits, progress)


def _notes() -> dict[str, str]:
    return {"tool": f"polyrelu {__version__}"}


def _work(log: TreeLog) -> TreeStatistics:
    """The work of a proof by vertices."""
    work = TreeStatistics()
    work.num_nodes = log.nodes
    return work


def _vertices(
    cells: PolyhedralComplex, limits: Budget, progress: Progress | None
) -> tuple[TreeLog, Polyhedron] | Undecided | CertificateLimit:
    """The lines of all vertices with the domain, or the limit of the format that they exceed."""
    with deferred_interrupt() as interrupt:
        try:
            limits = limits.with_interrupt(interrupt)
            limits.check()
            vertices = VertexList(cells)
            return vertices.log(limits, progress), vertices.coordinates.domain
        except CertificateLimit as limit:
            return limit
        except ENDINGS as error:
            if (why := limits.reason_of(error)) is None:
                raise
            return Undecided(why, (), TreeStatistics())


def _by_tree(
    cells: PolyhedralComplex | RegionGraph, limits: Budget, progress: Progress | None
) -> RegionsListed | Undecided:
    """The certificate by a split tree."""
    work = TreeStatistics()
    with deferred_interrupt() as interrupt:
        try:
            limits = limits.with_interrupt(interrupt)
            log = TreeLog()
            tree = RegionTree(cells, limits, work)
            for node in tree.nodes():
                log.add(node)
                if log.longest > LINE_LIMIT:
                    raise CertificateLimit(
                        f"a line of the certificate would have more than {LINE_LIMIT} bytes"
                    )
                done = {"nodes": work.num_nodes}
                report(progress, "certificate", work.num_leaves, cells.num_regions, "regions", done)
        except ENDINGS as error:
            if (why := limits.reason_of(error)) is None:
                raise
            return Undecided(why, (), work)
    claim = RegionsClaim(cells.network, tree.coordinates.domain, cells.num_regions)
    return RegionsListed(RegionsCertificate(claim, log, _notes()), work)


def _points(cells: PolyhedralComplex | RegionGraph) -> PointOf:
    """The function that computes a point inside each region."""
    if isinstance(cells, PolyhedralComplex):
        return cells.interior_point
    return lambda index: cells.all_regions[index].interior_point


@dataclass(frozen=True, slots=True)
class _OpenNode:
    """A node of the tree that is still to be visited.

    A sign that was found may still have to be substituted into the forms of `terms`. That costs
    more than everything else, so it is done where no affine form is left, and only if it can change
    a form. (A form contains no atom of the highest level. An atom that showed its sign, as 1 + 2a
    does while a is a term, may need a proof once the sign of a is known.)

    Attributes
    ----------
    depth
        Depth of the node in the tree.
    cut
        The form that is nonnegative from this node on, and its factor; None at the root.
    neuron
        The symbol of the atom with this form; None at the root.
    known
        The known signs.
    terms
        The terms whose sign is unknown.
    is_outdated
        Whether a sign is still to be substituted into the forms of `terms`.
    regions
        The indices of the regions in the node.
    """

    depth: int
    cut: tuple[SparseForm, int] | None
    neuron: int | None
    known: KnownSigns
    terms: Sequence[Term]
    is_outdated: bool
    regions: Indices


class RegionTree:
    """The split tree of a list of regions.

    Attributes
    ----------
    coordinates
        The domain, in coordinates of its affine hull.
    path
        The polyhedron of the node that was yielded last.
    """

    def __init__(
        self, cells: PolyhedralComplex | RegionGraph, budget: Budget, work: TreeStatistics
    ) -> None:
        network, signs = cells.network, cells.signs()
        self.coordinates, self._point_of = DomainCoordinates.of(cells.domain), _points(cells)
        self._budget, self._work = budget, work
        self._joint = JointNetwork(
            *_all_activations(network), self.coordinates.inputs, check=budget.check
        )
        self.path = NodePolyhedron.at_root(self.coordinates)
        columns = {
            (neuron.layer, neuron.index): column for column, neuron in enumerate(network.neurons)
        }
        self._columns = {
            atom.symbol: columns[atom.neuron.layer, atom.neuron.index_in_layer]
            for atom in self._joint.atoms
        }
        self._signs = {symbol: signs[:, column] for symbol, column in self._columns.items()}
        self._vertices = node_vertices(cells)
        self._splits: list[int] = []  # the neurons of the splits above the node, by their columns
        self._highest_level = max((atom.level for atom in self._joint.atoms), default=0)
        self._all_regions = np.arange(len(signs))

    def nodes(self) -> Iterator[NodeRecord]:
        """Build the tree and yield the records of its nodes, in prefix order."""
        known = KnownSigns()
        root = _OpenNode(0, None, None, known, self._unknown_terms(known), False, self._all_regions)
        waiting = [root]
        while waiting:
            node = waiting.pop()
            self._go_to(node)
            rounds, node = self._with_common_signs(node)
            split = self._most_even_split(node)
            self._count(node, rounds, is_leaf=split is None)
            if split is None:
                (region,) = node.regions.tolist()
                yield NodeRecord(rounds, None, self._point_of(region))
            else:
                yield NodeRecord(rounds, self._joint.atom_number(split.symbol))
                waiting += [self._side(node, split, sign) for sign in (-1, 1)]

    def _go_to(self, node: _OpenNode) -> None:
        """Go to the polyhedron of a node."""
        self.path.go_to(node.depth, node.cut)
        del self._splits[max(node.depth - 1, 0) :]
        if node.neuron is not None:
            self._splits.append(self._columns[node.neuron])

    def _unknown_terms(self, known: KnownSigns) -> list[Term]:
        """The terms whose sign is unknown, with all known signs substituted."""
        return self._joint.expressions(known).terms

    def _with_common_signs(self, node: _OpenNode) -> tuple[list[list[SignRecord]], _OpenNode]:
        """Prove the signs that hold on all of a node, in rounds; return these and the new node."""
        known, terms, is_outdated = node.known, list(node.terms), node.is_outdated
        rounds: list[list[SignRecord]] = []
        vertices = self._vertices.of_regions(node.regions) if self._vertices else None
        while True:
            self._budget.spend(price_of_node(len(terms), self._joint.dimension))
            affine = [term for term in terms if term.is_affine]
            found = [
                (term, sign) for term in affine if (sign := self._common_sign(term, node.regions))
            ]
            if found:
                rounds.append([self._record(term, sign, vertices) for term, sign in found])
                known = known.extended(found)
                done = {term.symbol for term, _ in found}
                terms = [term for term in terms if term.symbol not in done]
                is_outdated = is_outdated or any(self._may_be_contained(term) for term, _ in found)
            if len(found) < len(affine) or not (terms or is_outdated):
                new = replace(node, known=known, terms=terms, is_outdated=is_outdated)
                return rounds, new
            terms, is_outdated = self._unknown_terms(known), False

    def _may_be_contained(self, term: Term) -> bool:
        """Whether forms of other terms may contain the atom of a term."""
        return term.atom.level < self._highest_level

    def _common_sign(self, term: Term, regions: Indices) -> int:
        """The sign of a term on all regions; 0 if the regions differ.

        The term vanishes on no region, because its form is not 0.
        """
        signs = self._signs[term.symbol][regions]
        return int(signs[0]) if (signs == signs[0]).all() else 0

    def _record(self, term: Term, sign: int, vertices: Indices | None) -> SignRecord:
        """Prove the sign of a term on the current polyhedron, which has these vertices."""
        dimension = self._joint.dimension
        self._budget.spend(price_of_program(dimension, 2 * dimension))
        form = term.form if sign > 0 else negated(term.form)
        if self._vertices is not None and vertices is not None:
            proof = self._vertices.prove_nonnegative(form, vertices, self.path, self._splits)
            if proof is not None:
                return sign_record(self._joint, term, sign, proof, has_unique_rows=True)
        answer = self.path.prove_nonnegative(dict(zip(*form, strict=True)))
        self._work.num_programs += 1
        if not isinstance(answer, NonnegativityProof):
            raise AssertionError(
                "a neuron with one sign on all regions of a polyhedron has it on the polyhedron"
            )
        unique = self.path.are_independent(answer)
        return sign_record(self._joint, term, sign, answer, has_unique_rows=unique)

    def _most_even_split(self, node: _OpenNode) -> Term | None:
        """The affine term that divides the regions most evenly; None if no term is left.

        All affine terms that are left have both signs.
        """
        affine = [term for term in node.terms if term.is_affine]
        return min(
            affine,
            key=lambda term: abs(int(self._signs[term.symbol][node.regions].sum())),
            default=None,
        )

    def _side(self, node: _OpenNode, split: Term, sign: int) -> _OpenNode:
        """One side of a split."""
        side = split.form if sign > 0 else negated(split.form)
        return _OpenNode(
            node.depth + 1,
            (side, split.factor),
            split.symbol,
            node.known.extended([(split, sign)]),
            [term for term in node.terms if term is not split],
            node.is_outdated or self._may_be_contained(split),
            node.regions[self._signs[split.symbol][node.regions] == sign],
        )

    def _count(
        self, node: _OpenNode, rounds: Sequence[Sequence[SignRecord]], is_leaf: bool
    ) -> None:
        """Add a finished node to the statistics."""
        work = self._work
        work.num_nodes += 1
        work.depth = max(work.depth, node.depth)
        work.num_signs += sum(map(len, rounds))
        work.num_leaves += is_leaf
        work.closed += is_leaf / len(self._all_regions)


def _all_activations(network: Network) -> tuple[Network, Network]:
    """A network that outputs the activations of all hidden neurons, and one that outputs zeros.

    The joint network of both has all atoms of the given network. Without hidden neurons there are
    no atoms, and the network is returned twice.
    """
    hidden = network.layers[: network.num_hidden_layers]
    if not hidden:
        return network, network
    size, start, blocks = sum(layer.width for layer in hidden), 0, []
    for source, layer in enumerate(hidden, 1):
        rows = [[int(i == start + j) for j in range(layer.width)] for i in range(size)]
        blocks.append(Block(source, RationalMatrix.from_integers(rows)))
        start += layer.width
    outputs = Layer(tuple(blocks), RationalMatrix.zeros(size, 1))
    zero = from_arrays([(RationalMatrix.zeros(size, network.num_inputs), [0] * size)])
    return Network(network.num_inputs, (*hidden, outputs)), zero
