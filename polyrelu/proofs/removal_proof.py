"""Proofs that a network stays the same without neurons that have one sign on the whole domain.

Which neurons have one sign is guessed from sample points, as far as split trees for them are small
(`guessed_signs`). `prove_by_signs` then proves the equality of the networks with and without the
neurons by `trees.sign_tree`: each dead neuron that only the outputs read has a tree of its own,
because the difference is a sum of parts, and one more tree has all the others.

The splits cannot be avoided in this format. The refutations by theorem `one-sided` prove the same
signs from derived inequalities G ≥ q a, with a form G over other activations. A record of a tree
(FORMAT.md §5) replaces an activation with a negative coefficient by its preactivation and a number,
and an upper bound that is a number does not exist for activations of layer 1 on R^n. A derived
inequality holds on both sides of the split at its neuron, but a tree has nowhere to keep it: it
would have to be proved anew below every other split.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from polyrelu.certificate import NodeRecord, TreeLog
from polyrelu.network import Network, NeuronId
from polyrelu.outcomes import SearchStatistics
from polyrelu.proofs.equivalence.parts import DifferencePart
from polyrelu.proofs.refutations.sampled_candidates import sampled_candidates
from polyrelu.proofs.trees.atoms import Neuron
from polyrelu.proofs.trees.expressions import JointNetwork
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates, NodePolyhedron
from polyrelu.proofs.trees.search import TreeStatistics
from polyrelu.proofs.trees.sign_tree import SignNotProved, num_cells, sign_tree
from polyrelu.proofs.trees.sparse_forms import integer_row
from polyrelu.support.budget import Budget, CertificateLimit
from polyrelu.support.limits import LINE_LIMIT
from polyrelu.support.prices import price_of_samples
from polyrelu.support.progress import Progress, report

__all__ = ["SETTINGS", "RemovalProof", "guessed_signs", "prove_by_signs"]


@dataclass(frozen=True, slots=True)
class RemovalSettings:
    """Limits of the trees.

    Attributes
    ----------
    max_work
        Maximum of the sum over the trees of a proof of the expected leaves times the weights and
        biases of the tree's atoms, which are written again at each node.
    max_nodes
        Maximum number of nodes of these trees.
    max_coordinates
        Maximum dimension of a domain on which such trees are looked for.
    """

    max_work: int = 4_000_000
    max_nodes: int = 25_000
    max_coordinates: int = 100


SETTINGS = RemovalSettings()


@dataclass(frozen=True, slots=True)
class RemovalProof:
    """The nodes of the trees, the parts that they prove to vanish, and the work."""

    log: TreeLog
    parts: tuple[DifferencePart, ...]
    work: SearchStatistics


def guessed_signs(
    network: Network, dimension: int, seed: int, budget: Budget
) -> dict[NeuronId, int]:
    """Return signs of hidden neurons of a plain stack that seem to hold and have small proofs.

    `dimension` is the dimension of the domain; the signs seem to hold on R^n. A `LimitReached` says
    that the budget is not enough for sample points.
    """
    if network.depth < 3 or dimension > SETTINGS.max_coordinates:
        return {}
    budget.spend(price_of_samples(network.num_parameters))
    widths, top = network.widths, network.depth - 1
    num_below = sum(m * (n + 1) for n, m in pairwise(widths[:top]))
    costs = []
    for neuron, sign, guard in sampled_candidates(network, seed):
        if guard is None and 2 <= neuron.layer <= top:
            splits = _splits(network, neuron, sign)
            costs.append((num_cells(len(splits), dimension), neuron, sign, splits))
    found, alone, together = dict[NeuronId, int](), 0, frozenset[tuple[int, int]]()
    for cost, neuron, sign, splits in sorted(costs, key=lambda entry: entry[:2]):
        if sign < 0 and neuron.layer == top:  # it has a tree of its own
            alone += cost * (num_below + widths[top - 1] + 1)
        else:
            together |= splits
        num_leaves = num_cells(len(together), dimension) if together else 0
        shared = 2 * network.num_parameters * num_leaves
        if alone + shared > SETTINGS.max_work:
            break
        found[neuron] = sign
    return found


def _splits(network: Network, neuron: NeuronId, sign: int) -> frozenset[tuple[int, int]]:
    """Return the neurons, by layer and index, at which the tree for a sign may split."""
    before = neuron.layer - 1
    signs = network.weight(neuron.layer).signs()[neuron.index]
    own = {(before, int(i)) for i in np.flatnonzero(signs == -sign)}
    if before == 1:
        return frozenset(own)
    widths = network.widths
    return frozenset(own | {(m, i) for m in range(1, before) for i in range(widths[m])})


def prove_by_signs(
    joint: JointNetwork,
    coordinates: DomainCoordinates,
    signs: Mapping[Neuron, int],
    budget: Budget,
    progress: Progress | None = None,
) -> RemovalProof:
    """Prove that a difference of networks vanishes because neurons have given signs.

    Parameters
    ----------
    joint
        The joint network, without lifted neurons.
    coordinates
        The domain.
    signs
        The claimed signs: 1 for nonnegative, -1 for nonpositive.
    budget
        The work for all trees.
    progress
        Called with a `ProgressStep` after each node.

    Raises
    ------
    SignNotProved
        There is no such proof within the limits of the trees.
    LimitReached
        The budget is used up.
    """
    own = {
        atom.symbol: signs[atom.neuron]
        for atom in joint.atoms
        if atom.neuron in signs and atom.level > 1
    }
    parts = _parts(joint, [symbol for symbol, sign in own.items() if sign < 0])
    log, statistics = TreeLog(), TreeStatistics(num_trees=len(parts))

    def record(node: NodeRecord) -> None:
        """Append a node; raise if a line of the file becomes too long."""
        log.add(node)
        if log.longest > LINE_LIMIT:
            raise SignNotProved(None)
        report(progress, "proving equality", statistics.num_nodes, None, "nodes")

    for part in parts:
        difference = [integer_row(row) for row in part if row]
        root = NodePolyhedron.at_root(coordinates)
        try:
            whole, most = joint.part(difference), SETTINGS.max_nodes
            sign_tree(whole, root, own, record, statistics, most, budget)
        except CertificateLimit as limit:
            raise SignNotProved(None) from limit
    statistics.closed = 1.0
    return RemovalProof(log, tuple(parts) if len(parts) > 1 else (), _work(statistics))


def _work(statistics: TreeStatistics) -> SearchStatistics:
    return SearchStatistics(
        statistics.num_nodes,
        statistics.num_leaves,
        statistics.depth,
        statistics.num_signs,
        statistics.num_programs,
        statistics.closed,
        "tree",
    )


def _parts(joint: JointNetwork, dead: Sequence[int]) -> list[DifferencePart]:
    """Return a part of the difference for each symbol that is 0, and one for the rest."""
    rows = [{c: Fraction(w) for c, w in zip(*row, strict=True)} for row in joint.difference]
    alone = [symbol for symbol in dead if any(symbol in row for row in rows)]
    parts = [
        tuple({symbol: row[symbol]} if symbol in row else {} for row in rows) for symbol in alone
    ]
    rest = tuple({c: w for c, w in row.items() if c not in alone} for row in rows)
    return [*parts, rest] if any(rest) else parts
