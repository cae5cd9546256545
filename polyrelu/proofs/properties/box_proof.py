"""Proofs of clauses by boxes of inputs: a search in floats, and its leaves in integers.

The search for bounds of deviations (`proofs.deviation`) maximises the least row of the worst clause
over a box. A clause fails where all its rows are positive, so the clauses hold where the maximum is
at most 0. Floats choose the cuts; the rule of certificates, in integers, decides about each leaf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from polyrelu.certificate import (
    BoundsCertificate,
    DecisionsClaim,
    HoldsClaim,
    LinearRow,
    TreeLog,
)
from polyrelu.outcomes import ProofStatistics
from polyrelu.proofs.deviation.box_search import BoxSearch, Goal
from polyrelu.proofs.deviation.certified import CertifiedTree
from polyrelu.proofs.deviation.clause_limits import FixedLimits
from polyrelu.proofs.deviation.points import BestPoint
from polyrelu.proofs.deviation.problem import Problem
from polyrelu.proofs.deviation.rounded import LayerPartners, RoundedRule
from polyrelu.proofs.deviation.settings import SETTINGS
from polyrelu.proofs.deviation.sign_search import SignSearch
from polyrelu.proofs.deviation.tree_tasks import tree_tasks
from polyrelu.proofs.properties.bound_tree import box_around
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.support.budget import Budget
from polyrelu.support.parallel import Execution, TaskStream
from polyrelu.support.progress import Progress
from polyrelu.support.typing import Point
from polyrelu.symmetry.matching import align, match
from polyrelu.version import __version__

__all__ = ["BoxProof", "prove_by_boxes"]

_ALONE = Execution()


@dataclass(frozen=True, slots=True)
class BoxProof:
    """What the search has found.

    Attributes
    ----------
    certificate
        A proof; None if there is none.
    point
        A point of the domain where a clause fails or is met with 0; None if none was found.
    search
        The work.
    """

    certificate: BoundsCertificate | None
    point: Point | None
    search: ProofStatistics


def prove_by_boxes(
    claim: HoldsClaim | DecisionsClaim,
    coordinates: DomainCoordinates,
    clauses: Sequence[Sequence[LinearRow]],
    seed: int,
    budget: Budget,
    progress: Progress | None = None,
    execution: Execution = _ALONE,
) -> BoxProof:
    """Return a proof, or a point where a clause may fail.

    With many inputs, signs of neurons are cut instead of boxes.

    Parameters
    ----------
    claim
        The claim, about plain stacks of equal depth.
    coordinates
        The domain, with bounds of all coordinates.
    clauses
        The clauses of the claim.
    seed
        Seed of the points.
    budget
        Pays for the search; `LimitReached` ends it.
    progress
        Called after each step.
    execution
        Who does the tasks into which a long search is divided.
    """
    first, second = claim.network, claim.other
    matching = () if second is None else match(first, second)
    rows = list(dict.fromkeys(id(row) for clause in clauses for row in clause))
    by_id = {id(row): row for clause in clauses for row in clause}
    place = {key: number for number, key in enumerate(rows)}
    problem = Problem(
        first,
        second,
        align(first, second, matching),
        tuple(by_id[key] for key in rows),
        tuple(tuple(place[id(row)] for row in clause) for clause in clauses),
        coordinates,
        *box_around(coordinates),
    )
    best = BestPoint(problem)
    best.start(seed, budget)
    partners = [entry.pairs for entry in matching]
    with tree_tasks(problem, partners, execution) as tasks:
        if coordinates.dimension > SETTINGS.max_split_inputs:
            return _by_signs(claim, problem, best, partners, budget, progress, tasks)
        return _by_boxes(claim, problem, best, partners, budget, progress, tasks)


def _by_boxes(
    claim: HoldsClaim | DecisionsClaim,
    problem: Problem,
    best: BestPoint,
    partners: Sequence[LayerPartners],
    budget: Budget,
    progress: Progress | None,
    tasks: TaskStream,
) -> BoxProof:
    """Return a proof by cuts of boxes, or a point where a clause may fail."""
    search = BoxSearch(problem, best, Goal(limit=Fraction(0)))
    search.run(budget, progress, lambda: best.value is not None and best.value > 0, tasks)
    work = ProofStatistics(num_nodes=search.tree.num_nodes, num_leaves=search.tree.num_leaves)
    if best.value is not None and best.value >= 0:
        return BoxProof(None, best.x, work)
    rule = RoundedRule(problem.first, problem.second, problem.coordinates, partners)
    tree = CertifiedTree(problem, search.tree, Fraction(0), rule)
    tree.close(budget, progress, tasks=tasks)
    if tree.num_open:
        return BoxProof(None, None, work)
    work = ProofStatistics(
        num_nodes=tree.tree.num_nodes, num_leaves=tree.tree.num_leaves, closed=1.0
    )
    return BoxProof(_certificate(claim, rule, tree.log()[0], partners), None, work)


def _by_signs(
    claim: HoldsClaim | DecisionsClaim,
    problem: Problem,
    best: BestPoint,
    partners: Sequence[LayerPartners],
    budget: Budget,
    progress: Progress | None,
    tasks: TaskStream,
) -> BoxProof:
    """Return a proof by cuts at the signs of neurons, or a point where a clause may fail."""
    rule = RoundedRule(problem.first, problem.second, problem.coordinates, partners)
    # A strict row has to be negative; bounds that are not as small as this show nothing.
    limits = [
        -Fraction(1, 1 << rule.grid) * any(problem.rows[row].is_strict for row in clause)
        for clause in problem.clauses
    ]
    search = SignSearch(problem, [best] * len(limits), rule, FixedLimits(tuple(limits)))

    def is_over() -> bool:
        """Whether a point refutes the claim, or the tree is too large."""
        is_refuted = best.value is not None and best.value > 0
        return is_refuted or search.num_nodes > SETTINGS.max_sign_nodes

    search.run(budget, progress, is_over, tasks)
    statistics = search.statistics(0)
    work = ProofStatistics(
        num_nodes=statistics.num_nodes, num_leaves=statistics.num_leaves, closed=1.0
    )
    if search.is_finished:
        return BoxProof(_certificate(claim, rule, search.log(limits), partners), None, work)
    point = best.x if best.value is not None and best.value >= 0 else None
    return BoxProof(None, point, replace(work, closed=0.0))


def _certificate(
    claim: HoldsClaim | DecisionsClaim,
    rule: RoundedRule,
    log: TreeLog,
    partners: Sequence[LayerPartners],
) -> BoundsCertificate:
    points, tool = (rule.coordinates.inside,), {"tool": f"polyrelu {__version__}"}
    matching = tuple(tuple(layer) for layer in partners)
    return BoundsCertificate(claim, rule.grid, points, log, matching, tool)
