"""Certificates of bounds: trees of cuts whose leaves hold no numbers (FORMAT.md, section 5.8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from polyrelu.certificate.certificate import Hypothesis
from polyrelu.certificate.claims import (
    BoundsClaim,
    DecisionsClaim,
    DeviationClaim,
    HoldsClaim,
    LipschitzBoundClaim,
    RangeClaim,
)
from polyrelu.certificate.tree import TreeFile, TreeLog, TreeRecord
from polyrelu.exact import format_rational
from polyrelu.support.arguments import expect, expect_choice, expect_count, expect_one_of
from polyrelu.support.display import bracketed

__all__ = ["BoundsCertificate", "BoundsNode"]

_CLAIMS = (DeviationClaim, RangeClaim, HoldsClaim, DecisionsClaim, LipschitzBoundClaim)
#: A partner in the first network with a scale; None: the neuron has no partner.
Partner = tuple[int, Fraction] | None
#: A clause, a row of it, and multiples of inequalities by number.
Multiples = tuple[int, int, Mapping[int, Fraction]]


@dataclass(frozen=True, slots=True, repr=False)
class BoundsNode(TreeRecord):
    """A node of a tree of cuts, in prefix order.

    Attributes
    ----------
    kind
        `cut` and `sign` for nodes that two others follow; `leaf`, `bounded`, `exact`, `relaxed`,
        `backward`, `joint`, `inherited` and `open` for leaves; before the record of a node `shown`,
        for clauses that hold on all of it, and `intervals`, for intervals of neurons that leaves
        `inherited` below begin with.
    coordinate
        Of a cut, the coordinate.
    place
        Of a cut, the number at which the interval is cut; None for its middle.
    neuron
        Of a cut by sign, the network (0 or 1), the layer from 1 and the index.
    multiples
        Of a leaf of the kinds `bounded`, `exact` and `relaxed`, and of `shown`.
    slopes
        Of the kinds `relaxed` and `shown`, for each entry of `multiples`: by neuron the slope of an
        open one of the first network, or the two of an open pair, named by the one of the second.

    Examples
    --------
    >>> BoundsNode("cut", coordinate=3).to_json(), BoundsNode("leaf").to_json()
    ([3], [])
    >>> BoundsNode("sign", neuron=(1, 2, 7)).to_json()
    ['g', 2, 7]
    """

    kind: Literal[
        "cut",
        "sign",
        "leaf",
        "bounded",
        "exact",
        "relaxed",
        "backward",
        "joint",
        "inherited",
        "shown",
        "intervals",
        "open",
    ]
    coordinate: int = 0
    place: Fraction | None = None
    neuron: tuple[int, int, int] = (0, 1, 0)
    multiples: Sequence[Multiples] = ()
    slopes: Sequence[Mapping[tuple[int, int, int], tuple[Fraction, ...]]] = ()

    def __post_init__(self) -> None:
        leaves = ("leaf", "bounded", "exact", "relaxed", "backward", "joint", "inherited", "open")
        expect_choice(self.kind, ("cut", "sign", *leaves, "shown", "intervals"), "kind")
        expect_count(self.coordinate, "coordinate")

    def to_json(self) -> list[Any]:
        """Return the node as it stands on its line."""
        if self.kind == "cut":
            end = [] if self.place is None else [format_rational(self.place)]
            return [self.coordinate, *end]
        if self.kind == "sign":
            which, layer, index = self.neuron
            return ["fg"[which], layer, index]
        if self.kind in ("bounded", "exact", "relaxed", "shown"):
            listed = [
                [clause, row, [[i, format_rational(x)] for i, x in sorted(multiples.items())]]
                for clause, row, multiples in self.multiples
            ]
            for entry, slopes in zip(listed, self.slopes, strict=False):
                entry.append(
                    [
                        ["fg"[which], layer, index, *map(format_rational, entries)]
                        for (which, layer, index), entries in sorted(slopes.items())
                    ]
                )
            return [self.kind, listed]
        return [] if self.kind == "leaf" else [self.kind]

    def __repr__(self) -> str:
        ends = {"cut": f" of coordinate {self.coordinate}", "sign": f" of neuron {self.neuron}"}
        return bracketed(f"BoundsNode, {self.kind}{ends.get(self.kind, '')}")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BoundsCertificate(TreeFile):
    """A tree of cuts that proves bounds of values of networks, ready to be written.

    Attributes
    ----------
    claim
        The statement that is proved.
    grid
        The number S: the rule computes with integers over 2^S.
    points
        Points that show what the claim says about single points, in the order of the format.
    log
        The nodes.
    matching
        For each layer of the second network but the last one the partners of its neurons; empty if
        each neuron has the one with its own index.
    unverified
        Remarks for people, by key; no verdict depends on them.

    Examples
    --------
    >>> from polyrelu.certificate.claims import OutputRange
    >>> from polyrelu.exact import Polyhedron
    >>> from polyrelu.network import from_arrays
    >>> zero, one, log = Fraction(0), Fraction(1), TreeLog()
    >>> log.add(BoundsNode("exact"))
    >>> net, line = from_arrays([([[1]], [0])]), Polyhedron.box([0], [1])
    >>> claim = RangeClaim(net, line, (OutputRange(0, (zero, zero), (one, one)),))
    >>> certificate = BoundsCertificate(claim, 16, ((zero,), (one,)), log)
    >>> certificate.to_bytes().splitlines()[1]
    b'["exact",[]]'
    """

    claim: BoundsClaim
    grid: int
    points: tuple[tuple[Fraction, ...], ...]
    log: TreeLog
    matching: tuple[tuple[Partner, ...], ...] = ()
    unverified: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        expect_one_of(self.claim, _CLAIMS, "claim")
        expect_count(self.grid, "grid", 8)
        expect(self.points, tuple, "points")
        expect(self.log, TreeLog, "log")
        expect(self.matching, tuple, "matching")

    @property
    def theorem(self) -> str:
        """The name of the theorem."""
        return self.claim.kind

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The hypotheses of the theorem, with evidence."""
        points = {"points": len(self.points)}
        return Hypothesis(self.theorem, "points", points), Hypothesis(
            self.theorem, "cover", {"nodes": self.log.nodes}
        )

    def _terms(self) -> dict[str, Any]:
        return {
            "grid": self.grid,
            "matching": [[_partner_terms(p) for p in layer] for layer in self.matching],
            "points": [list(map(format_rational, point)) for point in self.points],
        }


def _partner_terms(partner: Partner) -> list[Any]:
    """Return a partner as it stands in the header."""
    return [] if partner is None else [partner[0], format_rational(partner[1])]
