"""One hidden layer: identifiability among all parameters of the architecture.

The theorem is an equivalence, but its last condition is a subset-sum problem, which is NP-hard. The
work is bounded: beyond 40 dependent neurons, or 2^16 assignments, the answer is open. Statement and
proof: docs/theory/shallow.md.

**Theorem.** Let f(x) = V σ(W x + b) + c with every w_i ≠ 0, every v_i ≠ 0, no two rows [w_i | b_i]
positive multiples of each other, and C_k ≠ 0 on every hyperplane that carries two neurons. Then θ
is identifiable on R^n among all parameters iff the linear parts of the hyperplanes with two neurons
are independent and no other assignment of neurons to hyperplanes gives the same linear part. If no
hyperplane carries two neurons, this says: iff no nonempty S has Σ_{i∈S} v_i w_i = 0. Where one of
the first conditions fails, θ is not identifiable, and `polyrelu.symmetry` constructs another
parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from polyrelu.certificate import Hypothesis
from polyrelu.exact import Optimal, Polyhedron, format_rational
from polyrelu.network import Network
from polyrelu.outcomes import Attempt
from polyrelu.proofs.shallow.assignments import (
    can_be_visited,
    has_doubled_hyperplane,
    hyperplanes,
    other_assignment,
    pairs_to_visit,
    why_not_visible,
)
from polyrelu.proofs.shallow.vanishing_sums import no_vanishing_sum
from polyrelu.support.budget import Budget
from polyrelu.support.typing import Point, Vector

__all__ = ["THEOREM", "prove", "prove_affine"]

#: The name of the theorem in certificates.
THEOREM = "shallow"


def prove_affine(domain: Polyhedron | None = None) -> list[Hypothesis]:
    """Return the hypotheses of the theorem without a hidden layer: a domain has an interior.

    >>> [h.evidence for h in prove_affine(Polyhedron.box([0, 0], [1, 1]))]
    [{'points': [['1/2', '1/2']]}]
    """
    if domain is None:
        return []
    return [Hypothesis("affine", "inside", _listed([domain.interior_point() or ()]))]


def prove(
    network: Network, budget: Budget | None = None, domain: Polyhedron | None = None
) -> list[Hypothesis] | Attempt:
    """Return the hypotheses with evidence, or why the theorem does not apply.

    On a domain each hyperplane has to meet its interior, and none carries two neurons. A
    `LimitReached` says that the budget ended the comparison of all sums or the visit of all
    assignments.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    >>> [h.id for h in prove(net)], prove(net)[1].evidence
    (['visible', 'unique'], {'method': 'assignments'})
    """
    failure = why_not_visible(network)
    if failure is not None:
        return Attempt(THEOREM, failure)
    inside = [] if domain is None else _inside(network, domain)
    if isinstance(inside, Attempt):
        return inside
    evidence = _unique(network, budget)
    if isinstance(evidence, Attempt):
        return evidence
    return [*inside, Hypothesis(THEOREM, "visible"), Hypothesis(THEOREM, "unique", evidence)]


def _inside(network: Network, domain: Polyhedron) -> list[Hypothesis] | Attempt:
    """Return the hypothesis that all hyperplanes meet the interior of a domain, or why not."""
    if has_doubled_hyperplane(network):
        return Attempt(
            THEOREM, "two neurons share a hyperplane, which the theorem allows on R^n only"
        )
    middle, points = domain.interior_point(), list[Point]()
    assert middle is not None
    for i, row in enumerate(network.layers[0].augmented().rows()):
        point = _zero_inside(domain, row, middle)
        if point is None:
            return Attempt(THEOREM, f"neuron {i} of layer 1 is 0 nowhere inside the domain")
        points.append(point)
    return [Hypothesis(THEOREM, "inside", _listed(points))]


def _zero_inside(domain: Polyhedron, row: Vector, middle: Point) -> Point | None:
    """Return a zero of an affine form in the interior of a domain, if there is one.

    It lies between the middle point and a point of the domain where the form has the other sign.
    """
    here = _value(row, middle)
    if not here:
        return middle
    towards = [-entry if here > 0 else entry for entry in row]
    program = domain.program()
    program.add_inequalities([towards[:-1]], [1 - towards[-1]])  # the form may be unbounded
    answer = program.maximize(towards[:-1])
    if not isinstance(answer, Optimal):
        return None
    there = _value(row, answer.point)
    if here * there >= 0:
        return None
    t = here / (here - there)
    return tuple(a + t * (b - a) for a, b in zip(middle, answer.point, strict=True))


def _value(row: Vector, point: Point) -> Fraction:
    """Return the value of the form [w | b] at a point."""
    return sum((w * x for w, x in zip(row[:-1], point, strict=True)), row[-1])


def _listed(points: Sequence[Point]) -> dict[str, Any]:
    """Return points as they stand in evidence."""
    return {"points": [list(map(format_rational, point)) for point in points]}


def _unique(network: Network, budget: Budget | None) -> dict[str, Any] | Attempt:
    """Return the evidence that no other assignment to hyperplanes gives the same function."""
    if not has_doubled_hyperplane(network):
        return no_vanishing_sum(THEOREM, network, 1, budget)
    planes = hyperplanes(network)
    if not can_be_visited(network, planes):
        return Attempt(
            THEOREM,
            f"{pairs_to_visit(planes)} assignments of neurons to hyperplanes, beyond the bound",
        )
    if other_assignment(network, planes, budget) is not None:
        return Attempt(
            THEOREM, "another assignment of neurons to the hyperplanes gives the same function"
        )
    return {"method": "assignments"}
