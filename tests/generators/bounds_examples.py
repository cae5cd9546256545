"""Certificates of bounds of |x| and its neighbours, which can be decided on paper."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

from polyrelu.certificate import (
    BoundsNode,
    DecisionsClaim,
    DeviationClaim,
    HoldsClaim,
    LinearRow,
    LipschitzBoundClaim,
    OutputRange,
    RangeClaim,
    SubBox,
)
from polyrelu.exact import Polyhedron
from polyrelu.network import Network, from_arrays
from polyrelu.proofs.deviation.lipschitz import Norm
from tests.generators.bounds_documents import document
from tests.generators.tree_documents import Document

__all__ = [
    "ABOVE",
    "ACCEPTED",
    "BACKWARD",
    "CUT",
    "EXACT",
    "INHERITED",
    "INTERVALS",
    "JOINT",
    "LEAF",
    "MATCHING",
    "RAMP",
    "RAMP_TWICE",
    "SEGMENT",
    "above_nodes",
    "deviation",
    "holds",
    "lipschitz",
    "ranged",
    "slopes",
    "steeper_twice",
    "twice",
]

F = Fraction
#: |x|, |x| + 1/4 with its neurons scaled, exchanged and one more, 2 |x| - 1, max(x, 0).
ABSOLUTE = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
RAISED = from_arrays([([[-3], [1], [1]], [0, 0, 2]), ([["1/3", 1, "1/8"]], ["-1/8"])])
STEEPER = from_arrays([([[1], [-1]], [0, 0]), ([[2, 2]], [-1])])
RAMP = from_arrays([([[1]], [0])], last="relu")
#: max(max(x, 0), 0): forms do not know that the second neuron is never negative.
RAMP_TWICE = from_arrays([([[1]], [0]), ([[1]], [0]), ([[1]], [0])])
SEGMENT = Polyhedron.box([-1], [1])
BACKWARD, JOINT = BoundsNode("backward"), BoundsNode("joint")
INHERITED, INTERVALS = BoundsNode("inherited"), BoundsNode("intervals")
LEAF, CUT, EXACT = BoundsNode("leaf"), BoundsNode("cut"), BoundsNode("exact")
#: |x| and |x| + 1/4 + (x + 2)/8 - 1/4: RAISED adds max(x + 2, 0)/8 - 1/8 to |x|.
MATCHING = [[(1, F(3)), (0, F(1)), None]]


def ranged(low: Fraction | int, high: Fraction | int, *nodes: BoundsNode) -> Document:
    """|x| on [-1, 1] has values from `low` to `high`."""
    bounds = OutputRange(0, (F(low), F(0)), (F(1), F(high)))
    return document(RangeClaim(ABSOLUTE, SEGMENT, (bounds,)), [[0], [1]], nodes)


def twice(low: Fraction | int, high: Fraction | int, *nodes: BoundsNode) -> Document:
    """RAMP_TWICE has values from `low` to `high`."""
    bounds = OutputRange(0, (F(low), F(0)), (F(1), F(high)))
    return document(RangeClaim(RAMP_TWICE, SEGMENT, (bounds,)), [[0], [1]], nodes)


def steeper_twice(at_most: Fraction, *nodes: BoundsNode) -> Document:
    """RAMP_TWICE and the same times 7/6 with other scales differ by at most 1/6, at 1."""
    other = from_arrays([([[2], [1]], [0, 5]), ([["1/3", 0]], [0]), ([["7/4"]], [0])])
    claim = DeviationClaim(RAMP_TWICE, other, SEGMENT, (0,), F(1, 6), at_most)
    matching: list[list[tuple[int, Fraction] | None]] = [[(0, F(2)), None], [(0, F(1, 2))]]
    return document(claim, [[1]], nodes, matching=matching)


def deviation(
    at_least: str, at_most: str, *nodes: BoundsNode, other: Network = RAISED, **terms: Any
) -> Document:
    """The difference of |x| and (x + 2)/8 - 1/8 + |x|, which is 1/4 at 1."""
    claim = DeviationClaim(
        ABSOLUTE, other, SEGMENT, (0,), F(at_least), F(at_most), terms.get("excluded", ())
    )
    return document(claim, [[1]], nodes, matching=terms.get("matching", MATCHING))


def halves(*signs: int) -> list[BoundsNode]:
    """Multiples of both cuts by sign that make a row exact."""
    return [BoundsNode("sign", neuron=(0, 1, 0)), *map(sign_leaf, signs)]


def sign_leaf(number: int) -> BoundsNode:
    """An exact leaf where clause 0 takes the cut."""
    return BoundsNode("exact", multiples=[(0, 0, {number: F(1)})])


def holds(*rows: LinearRow, other: Network | None = None, **terms: Any) -> Document:
    claim = HoldsClaim(ABSOLUTE, SEGMENT, (tuple(rows),), other, terms.get("excluded", ()))
    return document(claim, [[0]], terms.get("nodes", [LEAF]))


#: Cuts by the signs of both neurons; where both are on, x = 0.
SIGNS = [BoundsNode("sign", neuron=(0, 1, i)) for i in (0, 1, 1)]
FLAT = BoundsNode("exact", multiples=[(0, 0, {2: F(1), 3: F(1)})])


def lipschitz(
    low: Fraction | int, high: Fraction | int, norm: Norm, *nodes: BoundsNode
) -> Document:
    """x = max(x, 0) - max(-x, 0) has slope 1; where both neurons are open, 2 is possible."""
    line = from_arrays([([[1], [-1]], [0, 0]), ([[1, -1]], [0])])
    claim = LipschitzBoundClaim(line, SEGMENT, (0,), norm, F(low), F(high))
    return document(claim, [[F(1, 3)], [0], [1]], nodes)


def slopes(
    *entries: tuple[int, tuple[int, int], tuple[Fraction | int, ...]],
    kind: Literal["relaxed", "shown"] = "relaxed",
) -> BoundsNode:
    """Slopes of neurons of layer 1, each with its clause, network and index, and no multiples."""
    clauses = sorted({clause for clause, _, _ in entries})
    return BoundsNode(
        kind,
        multiples=[(clause, 0, {}) for clause in clauses],
        slopes=[
            {(w, 1, i): tuple(map(F, p)) for c, (w, i), p in entries if c == clause}
            for clause in clauses
        ],
    )


def above_nodes(*multiples: dict[int, F]) -> list[BoundsNode]:
    """Where x is not positive, x - |x| <= x needs a multiple of the cut."""
    flat = [{(0, 1, 1): (F(0),)}]
    return [
        BoundsNode("sign", neuron=(0, 1, 0)),
        *(
            BoundsNode("relaxed", multiples=[(0, 0, entries)], slopes=flat)
            for entries in ({}, *multiples)
        ),
    ]


#: x - |x| <= 0.
ABOVE = LinearRow({0: F(-1)}, {}, {0: F(1)})
#: max(x, 0) + max(-x, 0) is at most x/2 + 1/2 - x/2 + 1/2, and at least 0.
CHORDS = [(1, (0, i), (F(1, 2),)) for i in (0, 1)]
FLOORS = [(0, (0, i), (0,)) for i in (0, 1)]
#: Neurons that equal their partners, in both clauses.
EQUAL = [(c, (1, i), (0, 0)) for c in (0, 1) for i in (0, 1)]

ACCEPTED: dict[str, Document] = {
    "backward": twice(0, 1, BACKWARD),
    "backward, of a pair": steeper_twice(F(1, 5), BACKWARD),
    "backward below a cut": twice(0, 1, CUT, LEAF, BACKWARD),
    "backward below a sign": twice(
        0, 1, BoundsNode("sign", neuron=(0, 2, 0)), BACKWARD, BACKWARD
    ),
    "joint": steeper_twice(F(1, 5), JOINT),
    "joint, of one network": twice(0, 1, JOINT),
    "joint after other kinds": steeper_twice(F(1, 5), CUT, BACKWARD, CUT, JOINT, JOINT),
    "joint below a sign": steeper_twice(
        F(2, 5), BoundsNode("sign", neuron=(0, 1, 0)), JOINT, JOINT
    ),
    "inherited, of one network": twice(0, 1, INHERITED),
    "inherited": steeper_twice(F(1, 5), INHERITED),
    "inherited below a cut": steeper_twice(F(1, 5), INTERVALS, CUT, INHERITED, INHERITED),
    "inherited below a sign": steeper_twice(
        F(2, 5), BoundsNode("sign", neuron=(0, 1, 0)), INTERVALS, INHERITED, INTERVALS, JOINT
    ),
    "intervals before all kinds": twice(
        0, 1, INTERVALS, slopes(kind="shown"), CUT, INTERVALS, LEAF, INTERVALS, CUT, EXACT, BACKWARD
    ),
    "slopes": ranged(0, 1, slopes(*FLOORS, *CHORDS)),
    "slopes of pairs": deviation("1/4", "1/4", slopes(*EQUAL)),
    "shown above a cut": ranged(0, 1, slopes(*CHORDS, kind="shown"), CUT, EXACT, EXACT),
    "shown, one after the other": ranged(
        0, 1, slopes(*CHORDS, kind="shown"), slopes(*FLOORS, kind="shown"), CUT, LEAF, LEAF
    ),
    "slopes and a multiple": holds(ABOVE, nodes=above_nodes({2: F(1)})),
    "Lipschitz": lipschitz(
        1, 1, "1", SIGNS[0], SIGNS[1], FLAT, EXACT, SIGNS[2], LEAF,
        BoundsNode("exact", multiples=[(0, 0, {2: F(1), 3: F(1)})]),
    ),
    "squared, by an interval": lipschitz(F(1, 2), 4, "2", LEAF),
    "one leaf": ranged(0, 1, LEAF),
    "one leaf on a coarse grid": [{**ranged(-1, 2, LEAF)[0], "grid": 8}, *ranged(-1, 2, LEAF)[1:]],
    "exact": ranged(0, 1, CUT, EXACT, EXACT),
    "exact, cut elsewhere": ranged(0, 1, BoundsNode("cut", place=F(0)), EXACT, EXACT),
    "matched": deviation("1/4", "1/4", CUT, EXACT, EXACT),
    "matched, rounded": deviation("0", "0.2500001", LEAF),
    "outside of a box": deviation(
        "1/4", "3/16", CUT, EXACT, CUT, EXACT, BoundsNode("open"),
        excluded=(SubBox((F(1, 2),), (F(1),)),),
    ),
    "holds at all points": holds(LinearRow({0: F(1)}, constant=F(-2), is_strict=True)),
    "one row or the other": holds(
        LinearRow({}, {}, {0: F(-1)}), LinearRow({}, {}, {0: F(1)}), nodes=[CUT, LEAF, LEAF]
    ),
    "two networks": holds(
        LinearRow({0: F(2)}, {0: F(-1)}, constant=F(-1)), other=STEEPER,
        nodes=[CUT, EXACT, EXACT],
    ),
    "inputs in a row": holds(
        LinearRow({0: F(1)}, {}, {0: F(-1, 3)}, F(-4, 3)), nodes=[CUT, EXACT, EXACT]
    ),
    "last layer with a ReLU": document(
        RangeClaim(RAMP, SEGMENT, (OutputRange(0, (F(0), F(0)), (F(1), F(1))),)),
        [[-1], [1]], [CUT, EXACT, EXACT],
    ),
    "affine network": document(
        RangeClaim(
            from_arrays([([[1, 2]], [3])]), Polyhedron.box([0, 0], [1, "1/3"]),
            (OutputRange(0, (F(3), F(3)), (F(14, 3), F(14, 3))),),
        ),
        [[0, 0], [1, F(1, 3)]], [EXACT],
    ),
    "a point": document(
        RangeClaim(
            ABSOLUTE, Polyhedron.from_constraints([], [], [[3]], [-1]),
            (OutputRange(0, (F(1, 3), F(1, 3)), (F(1, 3), F(1, 3))),),
        ),
        [[F(-1, 3)]] * 2, [EXACT],
    ),
    "a segment in the plane": document(
        RangeClaim(
            from_arrays([([[1, 1]], [0]), ([[1]], [0])]),
            Polyhedron.from_constraints([[0, 1], [0, -1]], [1, 0], [[1, -2]], [1]),
            (OutputRange(0, (F(1), F(1)), (F(4), F(4))),),
        ),
        [[1, 0], [3, 1]], [EXACT],
    ),
    "a triangle": document(
        RangeClaim(
            from_arrays([([[1, 1]], [0]), ([[1]], [0])]),
            Polyhedron.from_constraints(
                [[-1, 0], [0, -1], [1, 0], [0, 1], [1, 1]], [0, 0, 1, 1, 1]
            ),
            (OutputRange(0, (F(0), F(0)), (F(1), F(1))),),
        ),
        [[0, 0], [1, 0]], [BoundsNode("bounded", multiples=[(1, 0, {4: F(1)})])],
    ),
    "decisions": document(
        DecisionsClaim(
            from_arrays([([[1], [0]], [0, 0])]), from_arrays([([[1], [0]], [F(1, 9), 0])]),
            SEGMENT, F(1, 8),
        ),
        [[0]],
        [BoundsNode("cut", place=F(-3, 25)), LEAF, BoundsNode("cut", place=F(0)), LEAF, LEAF],
    ),
    "smallest": document(  # the largest outputs are 2 and, where x > 8/9, x + 1/9
        DecisionsClaim(
            from_arrays([([[1], [0], [0]], [0, 0, 2])]),
            from_arrays([([[1], [0], [0]], [F(1, 9), 0, 1])]),
            SEGMENT, F(1, 8), choose="smallest",
        ),
        [[0]],
        [BoundsNode("cut", place=F(-3, 25)), LEAF, BoundsNode("cut", place=F(0)), LEAF, LEAF],
    ),
}  # fmt: skip
