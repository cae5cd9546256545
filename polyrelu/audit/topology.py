"""Betti numbers and persistence diagrams compared with the exact ones."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from polyrelu.audit.allowance import EXACT, NEAREST, Allowance
from polyrelu.audit.bounds import network_and_domain
from polyrelu.audit.comparing import (
    SUSPECTED_TOLERANCE,
    Comparison,
    Difference,
    Question,
    finished,
    report_of,
)
from polyrelu.audit.findings import Cause, Finding, Verdict, number_text
from polyrelu.audit.ground_truth import NetworkOrTruth
from polyrelu.audit.measures import with_float32_weights
from polyrelu.audit.point_matching import matched
from polyrelu.audit.reports import AuditReport
from polyrelu.audit.tables import read_number
from polyrelu.complex import point_in
from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.exact import Polyhedron, Rational, to_fraction
from polyrelu.formats import DomainLike
from polyrelu.network import Network
from polyrelu.support.arguments import expect_choice, expect_count, expect_integer, expect_list
from polyrelu.topology import (
    OutputSet,
    PersistenceInterval,
    decision_boundary,
    decision_region,
    homology,
    level_set,
    sublevel_persistence,
    sublevel_set,
    superlevel_persistence,
    superlevel_set,
)

__all__ = ["SETS", "audit_persistence", "audit_topology"]

#: Maximum number of pairs of a claimed and an exact interval that are compared.
_MAX_PAIRS = 10**7
#: The sets whose topology a claim may be about.
SETS = ("boundary", "class", "level", "sublevel", "superlevel")


def audit_topology(
    network: NetworkOrTruth,
    betti: Sequence[int],
    kind: str = "boundary",
    domain: DomainLike = None,
    *,
    level: Rational | None = None,
    output: int = 0,
    label: int = 0,
    characteristic: int = 0,
    tolerance: Rational = SUSPECTED_TOLERANCE,
) -> AuditReport:
    """Compare Betti numbers of a set with the exact ones.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, or the result of `ground_truth`.
    betti
        The Betti numbers b_0, b_1, …; those that are left out are 0.
    kind
        The set: ``boundary`` or ``class`` for decisions, ``level``, ``sublevel`` or ``superlevel``.
    domain
        A polyhedron, or a text such as ``"box:-1,1"``; None for the whole space.
    level, output
        The level and the output of a level set, and of a sublevel or superlevel set.
    label
        The class of a decision region.
    characteristic
        The characteristic of the field of coefficients: 0 for rational numbers, or a prime.
    tolerance
        By how much a tool may have moved the level; it explains differences and decides no verdict.

    Returns
    -------
    AuditReport
        A verdict for each Betti number, up to the dimension of the set.

    Raises
    ------
    DomainError
        As for the functions of `polyrelu.topology`.
    ArgumentError
        An argument has a wrong type, or the level is missing.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> first = ([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4)
    >>> net = from_arrays([first, ([[1] * 4], [0])])  # |x| + |y|
    >>> audit_topology(net, [1, 1], "level", level=1).agrees
    True
    >>> print(audit_topology(net, [1, 0], "level", level=1).findings[0])
    wrong Betti number: b_1 of the level set is given as 0, it is 1
    witness: (0, 1)
    difference: 1
    """
    expect_choice(kind, SETS, "kind")
    claimed = [expect_count(number, "betti") for number in expect_list(betti, "betti")]
    exact, polyhedron = network_and_domain(network, domain)
    asked = _Set(kind, polyhedron, level, output, label, characteristic)
    part = asked.of(exact)
    right = asked.betti(exact, part)
    size = max(len(claimed), len(right))
    claimed += [0] * (size - len(claimed))
    right += [0] * (size - len(right))
    verdicts: list[Verdict] = [
        "right" if a == b else "wrong" for a, b in zip(claimed, right, strict=True)
    ]
    suspected = to_fraction(tolerance)

    def explain(item: int) -> Finding:
        """Return the finding about an item."""
        a, b = claimed[item], right[item]
        name = f"{kind} set" if "level" in kind else "decision " + kind.replace("class", "region")
        message = f"b_{item} of the {name} is given as {a}, it is {b}"
        causes = asked.causes(exact, item, a, suspected)
        first = next(iter(part), None)
        point = None if first is None else point_in(part.cells, first)
        size_ = Fraction(abs(a - b))
        return Finding(
            "Betti number", "wrong", message, item, None, point, size_, "difference", causes
        )

    question = Question.of(EXACT)
    return report_of("Betti numbers", verdicts, explain, question)


class _Set:
    """The set that a claim is about, for any network and level."""

    def __init__(
        self,
        kind: str,
        domain: Polyhedron,
        level: Rational | None,
        output: int,
        label: int,
        characteristic: int,
    ) -> None:
        if "level" in kind and level is None:
            raise ArgumentError(f"level: a {kind} set has a level; give one")
        self.kind, self.domain = kind, domain
        self.level = None if level is None else to_fraction(level)
        self.output, self.label = expect_integer(output, "output"), expect_integer(label, "label")
        self.characteristic = characteristic

    def of(self, network: Network, shift: Fraction = Fraction(0)) -> OutputSet:
        """Return the set of a network, its level moved by a number."""
        if self.kind == "boundary":
            return decision_boundary(network, self.domain)
        if self.kind == "class":
            return decision_region(network, self.label, self.domain)
        makers = {"level": level_set, "sublevel": sublevel_set, "superlevel": superlevel_set}
        assert self.level is not None  # checked when the set was made
        level = self.level + shift
        return makers[self.kind](network, level, self.domain, output=self.output)

    def betti(self, network: Network, part: OutputSet | None = None) -> list[int]:
        """Return the Betti numbers of the set of a network."""
        groups = homology(part or self.of(network))
        return list(groups.betti_over(self.characteristic))

    def causes(
        self, network: Network, item: int, claimed: int, tolerance: Fraction
    ) -> tuple[Cause, ...]:
        """Return what else the number would be right for."""
        found = []
        groups = homology(self.of(network))
        modulo_2 = groups.betti_mod_2[item : item + 1]
        if self.characteristic != 2 and modulo_2 == (claimed,):
            found.append(Cause("another field", "it is right over the field GF(2)"))
        for shift in (tolerance, -tolerance) if "level" in self.kind else ():
            betti = homology(self.of(network, shift)).betti_over(self.characteristic)
            if item < len(betti) and betti[item] == claimed:
                text = f"it is right for the level {'+' if shift > 0 else '-'} "
                found.append(Cause("level", text + number_text(abs(shift))))
        rounded = with_float32_weights(network)
        if rounded is not None:
            betti = tuple(self.betti(rounded))
            if item < len(betti) and betti[item] == claimed:
                found.append(Cause("float32 weights", "it is right for float32 weights"))
        return tuple(found)


def audit_persistence(
    network: NetworkOrTruth,
    intervals: Sequence[tuple[Any, Any, Any]],
    domain: DomainLike = None,
    *,
    output: int = 0,
    superlevel: bool = False,
    characteristic: int = 2,
    allowance: Allowance = NEAREST,
    max_findings: int = 100,
) -> AuditReport:
    """Compare a persistence diagram with the exact one.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, or the result of `ground_truth`.
    intervals
        Triples (dimension, birth, death); the death is None or infinite where a class lives on.
        Intervals of length 0 are left out, as diagrams have them or not.
    domain
        A bounded polyhedron, or a text such as ``"box:-1,1"``.
    output, superlevel, characteristic
        The output, whether the sets are superlevel sets, and the field of coefficients.
    allowance
        When a claimed birth or death stands for the exact one.
    max_findings
        Maximum number of differences that are explained; all are counted.

    Returns
    -------
    AuditReport
        A verdict for each interval.

    Raises
    ------
    DomainError
        As for `polyrelu.topology.sublevel_persistence`.
    PolyreluError
        The package gudhi is not installed.

    Examples
    --------
    >>> import pytest
    >>> _ = pytest.importorskip("gudhi")
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1], [1]], [2, 0, -1]), ([[1, -3, 4]], [-2])])
    >>> print(audit_persistence(net, [(0, -2, None), (0, -2, 0.5)], "box:-3,3").findings[0])
    wrong interval: item 1: H_0 from -2 to 0.5; the exact interval is H_0 from -2 to 0
    distance: 1/2
    """
    question = Question.of(allowance, max_findings=max_findings)
    exact, polyhedron = network_and_domain(network, domain)
    find = superlevel_persistence if superlevel else sublevel_persistence
    right = find(exact, polyhedron, output=output, characteristic=characteristic)
    claims = [
        _interval(row, number) for number, row in enumerate(expect_list(intervals, "intervals"))
    ]
    if len(claims) * len(right) > _MAX_PAIRS:
        raise ArgumentError(f"intervals: {len(claims)} are too many to compare with {len(right)}")
    kept = [claim for claim in claims if claim[1] != claim[2]]
    notes = [f"{len(claims) - len(kept)} intervals of length 0 are left out"]
    comparison = _Diagram(right, kept, question)
    return finished("persistence diagram", comparison, question, notes * (len(kept) < len(claims)))


_Interval = tuple[int, Fraction, Fraction | None]


def _interval(row: tuple[Any, Any, Any], number: int) -> _Interval:
    """Return a claimed interval in exact numbers."""
    entries = expect_list(row, f"interval {number}")
    if len(entries) != 3:
        raise ArgumentError(f"interval {number}: expected dimension, birth and death")
    dimension, birth, death = entries
    is_endless = death is None or (isinstance(death, float) and np.isinf(death))
    try:
        start, end = read_number(birth), None if is_endless else read_number(death)
        index = read_number(dimension)
    except NetworkError as error:
        raise ArgumentError(f"interval {number}: {error}") from None
    if index.denominator > 1:
        raise ArgumentError(f"interval {number}: the dimension is no integer")
    return expect_count(int(index), f"interval {number}"), start, end


class _Diagram(Comparison):
    """Claimed intervals beside the exact ones."""

    subject = "interval"

    def __init__(
        self, right: Sequence[PersistenceInterval], claims: list[_Interval], question: Question
    ) -> None:
        self.right, self.claims, self.num_exact = right, claims, len(right)
        allowance = question.allowance

        def is_allowed(claim: _Interval, exact: PersistenceInterval) -> bool:
            """Return whether a claimed interval may stand for an exact one."""
            if claim[0] != exact.dimension or (claim[2] is None) != (exact.death is None):
                return False
            same_end = exact.death is None or allowance.allows(claim[2] or 0, exact.death)
            return same_end and allowance.allows(claim[1], exact.birth)

        near = [[k for k, e in enumerate(right) if is_allowed(claim, e)] for claim in claims]
        self.assigned = matched(near)

    def _distance(self, item: int, exact: int) -> Fraction | None:
        """Return the larger distance of births and deaths; None if one of them lives on."""
        claim, right = self.claims[item], self.right[exact]
        if claim[0] != right.dimension or (claim[2] is None) != (right.death is None):
            return None
        gap = abs(claim[1] - right.birth)
        return gap if right.death is None else max(gap, abs((claim[2] or 0) - right.death))

    def partner(self, item: int, missing: set[int]) -> int | None:
        """Return the missing interval of the same kind that is nearest to an item."""
        near = [(self._distance(item, k), k) for k in sorted(missing)]
        known = [(gap, k) for gap, k in near if gap is not None]
        return min(known)[1] if known else None

    def explain(self, difference: Difference) -> Finding:
        """Return a finding with the distance of two intervals, or the length of one."""
        verdict, item, exact = difference
        if item is None:
            assert exact is not None  # a missing interval is an exact one
            right = self.right[exact]
            size = None if right.death is None else abs(right.death - right.birth)
            name = "" if size is None else "length"
            return Finding(
                "interval", verdict, f"{right} is missing", None, exact, None, size, name
            )
        k, birth, death = self.claims[item]
        end = "on" if death is None else f"to {_text(death)}"
        message = f"item {item}: H_{k} from {_text(birth)} {end}"
        if exact is None:
            return Finding("interval", verdict, f"{message}; there is no such interval", item)
        off = self._distance(item, exact) if verdict == "wrong" else None
        message += f"; the exact interval is {self.right[exact]}"
        name = "" if off is None else "distance"
        return Finding("interval", verdict, message, item, exact, None, off, name)


def _text(value: Fraction) -> str:
    """Return a claimed number as a float if it is one."""
    return (
        str(float(value))
        if Fraction(float(value)) == value and value.denominator > 1
        else (number_text(value))
    )
