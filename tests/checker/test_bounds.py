"""Bounds of values of networks: claims, trees of cuts, and what is wrong with them.

The functions are |x| and its neighbours, so that every claim can be decided on paper.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, get_args

import pytest

from polyrelu import checker
from polyrelu.certificate import (
    BoundsNode,
    Choice,
    DecisionsClaim,
    HoldsClaim,
    LinearRow,
    LipschitzBoundClaim,
    SubBox,
)
from polyrelu.exact import Polyhedron
from polyrelu.network import from_arrays
from tests.generators.bounds_documents import document
from tests.generators.bounds_examples import (
    ABOVE,
    ACCEPTED,
    BACKWARD,
    CUT,
    EXACT,
    INHERITED,
    INTERVALS,
    JOINT,
    LEAF,
    MATCHING,
    RAMP,
    RAMP_TWICE,
    SEGMENT,
    above_nodes,
    deviation,
    holds,
    lipschitz,
    ranged,
    slopes,
    steeper_twice,
    twice,
)
from tests.generators.tree_documents import Document, changed, written

F = Fraction


def check(file: Document) -> checker.CheckReport:
    return checker.check_bytes(written(file))


@pytest.mark.parametrize("name", ACCEPTED)
def test_valid(name: str) -> None:
    report = check(ACCEPTED[name])
    assert report.verdict == "accepted", report
    assert report.cost < 2**27
    assert [h["id"] for h in report.hypotheses] == ["points", "cover"]


NOTHING_HOLDS = "a row of each clause that holds on the leaf"
EXTRA = BoundsNode("bounded", multiples=[(0, 0, {0: F(1)})])
NOT_SHOWN = "a row of each listed clause that holds on the node"
HALF = F(1, 2)


@pytest.mark.parametrize(
    ("file", "step", "expected"),
    [
        (ranged(0, F("0.999"), LEAF), "line 2", NOTHING_HOLDS),
        (twice(0, 1, LEAF), "line 2", NOTHING_HOLDS),
        (twice(0, F("0.999"), BACKWARD), "line 2", NOTHING_HOLDS),
        (twice(F("0.001"), 1, BACKWARD), "line 2", NOTHING_HOLDS),
        (steeper_twice(F("0.1666"), JOINT), "line 2", NOTHING_HOLDS),
        (twice(0, F("0.999"), INHERITED), "line 2", NOTHING_HOLDS),
        (twice(F("0.001"), 1, INHERITED), "line 2", NOTHING_HOLDS),
        (steeper_twice(F("0.1666"), INHERITED), "line 2", NOTHING_HOLDS),
        (steeper_twice(F("0.1666"), INTERVALS, INHERITED), "line 3", NOTHING_HOLDS),
        (steeper_twice(F("0.1666"), INTERVALS, CUT, *[INHERITED] * 2), "line 5", NOTHING_HOLDS),
        (ranged(0, 1, INTERVALS), "line 3", "a file in the format"),
        (ranged(0, 1, LEAF, INTERVALS), "line 3", "a file in the format"),
        (ranged(0, 1, CUT, LEAF, INTERVALS), "line 5", "a file in the format"),
        (lipschitz(0, F(1, 2), "1", INTERVALS, LEAF), "line 2", "nodes without inherited interv"),
        (lipschitz(0, F(1, 2), "1", INHERITED), "line 2", "nodes without inherited interv"),
        (
            deviation("1/4", "1/5", INTERVALS, LEAF, excluded=(SubBox((F(0),), (F(1),)),)),
            "line 3",
            NOTHING_HOLDS,
        ),
        (ranged(0, 1, EXACT), "line 2", "neurons whose signs are known"),
        (ranged(0, 1, slopes((1, (0, 0), (HALF,)))), "line 2", "slopes of all open neurons"),
        (
            ranged(0, F("0.999"), slopes(*((1, (0, i), (HALF,)) for i in (0, 1)))),
            "line 2",
            NOTHING_HOLDS,
        ),
        (
            ranged(0, 1, slopes(*((1, (0, i), (F("0.4"),)) for i in (0, 1)))),
            "line 2",
            NOTHING_HOLDS,
        ),
        (ranged(0, 1, slopes((1, (0, 2), (HALF,)))), "line 2", "neurons below 2"),
        (ranged(0, 1, slopes((1, (1, 0), (HALF, 0)))), "line 2", "a neuron of f"),
        (
            deviation("1/4", "0.249", slopes(*((1, (1, i), (0, 0)) for i in (0, 1)))),
            "line 2",
            NOTHING_HOLDS,
        ),
        (
            ranged(0, F("0.9"), slopes(*((1, (0, i), (0,)) for i in (0, 1)), kind="shown"), LEAF),
            "line 2",
            NOT_SHOWN,
        ),
        (ranged(0, 1, slopes(kind="shown")), "line 3", "a file in the format"),
        (  # x <= 0 is shown on the left half only
            holds(LinearRow({}, {}, {0: F(1)}), nodes=[CUT, slopes(kind="shown"), LEAF, LEAF]),
            "line 5",
            NOTHING_HOLDS,
        ),
        (holds(ABOVE, nodes=above_nodes({2: F("0.9")})), "line 4", NOTHING_HOLDS),
        (holds(ABOVE, nodes=above_nodes({})), "line 4", NOTHING_HOLDS),
        (lipschitz(0, F(1, 2), "1", slopes(kind="shown"), LEAF), "line 2", "nodes without slopes"),
        (lipschitz(0, F(1, 2), "1", slopes()), "line 2", "nodes without slopes"),
        (ranged(0, F("0.999"), CUT, EXACT, EXACT), "line 3", NOTHING_HOLDS),
        (ranged(F("0.001"), 1, CUT, EXACT, EXACT), "line 3", NOTHING_HOLDS),
        (ranged(0, 1, CUT, EXACT), "line 4", "a file in the format, within its limits"),
        (ranged(0, 1, CUT, EXACT, EXACT, EXACT), "line 5", "a file in the format"),
        (ranged(0, 1, BoundsNode("cut", 1), EXACT, EXACT), "line 2", "coordinates below 1"),
        (ranged(0, 1, BoundsNode("cut", 0, F(1)), LEAF, LEAF), "line 2", "a cut inside"),
        (ranged(0, 1, BoundsNode("sign", neuron=(0, 2, 0)), LEAF), "line 2", "a layer with a ReLU"),
        (ranged(0, 1, BoundsNode("sign", neuron=(0, 1, 2)), LEAF), "line 2", "neurons below 2"),
        (ranged(0, 1, BoundsNode("sign", neuron=(1, 1, 0)), LEAF), "line 2", "a neuron of f"),
        (
            ranged(0, 1, *[BoundsNode("sign", neuron=(0, 1, 0))] * 2),
            "line 3",
            "a neuron that was not cut above the node",
        ),
        (ranged(0, 1, BoundsNode("open")), "line 2", "an open node that is the next box"),
        (ranged(0, 1, EXTRA), "line 2", NOTHING_HOLDS),
        (
            ranged(0, 1, BoundsNode("bounded", multiples=[(0, 0, {2: F(1)})])),
            "line 2",
            "numbers of inequalities below 2",
        ),
        (
            ranged(0, 1, BoundsNode("bounded", multiples=[(0, 0, {0: F(-1)})])),
            "line 2",
            "multiples that are not negative",
        ),
        (ranged(0, 1, BoundsNode("bounded", multiples=[(0, 1, {})])), "line 2", "rows below 1"),
        (ranged(0, 1, BoundsNode("bounded", multiples=[(2, 0, {})])), "line 2", "clauses below 2"),
        (ranged(1, 1, CUT, EXACT, EXACT), "line 3", NOTHING_HOLDS),
        (deviation("0.2500001", "1", LEAF), "points", "a difference of at least '2500001/"),
        (deviation("0", "1", LEAF, matching=[[(1, F(3)), (0, F(1))]]), "matching", "3 entries"),
        (deviation("0", "1", LEAF, matching=[MATCHING[0]] * 2), "matching", "partners for 1 layer"),
        (deviation("0", "1", LEAF, matching=[[(2, F(1)), None, None]]), "matching", "neurons b"),
        (deviation("0", "1", LEAF, matching=[[(1, F(-1)), None, None]]), "matching", "scales that"),
        (deviation("0", "1", LEAF, matching=[]), "matching", "equal widths where no matching"),
        (deviation("0", "1", LEAF, other=RAMP_TWICE), "claim", "equally many layers"),
        (deviation("0", "1", LEAF, other=RAMP), "claim", "equally many layers"),
        (
            deviation("1/4", "1/5", LEAF, excluded=(SubBox((F(0),), (F(1),)),)),
            "line 2",
            NOTHING_HOLDS,
        ),
        (
            deviation("0", "1", LEAF, excluded=(SubBox((F(0),), (F(1),)),)),
            "line 2",
            "0 open nodes",
        ),
        (holds(LinearRow({0: F(1)}, constant=F(-1), is_strict=True)), "line 2", NOTHING_HOLDS),
        (holds(LinearRow({1: F(1)}, constant=F(-9))), "claim", "indices of f below 1"),
        (holds(LinearRow({}, {0: F(1)}, constant=F(-9))), "claim", "indices of g below 0"),
        (holds(), "claim", "clauses that have rows"),
        (lipschitz(1, 1, "1", LEAF), "line 2", "gradients on the leaf as short as claimed"),
        (lipschitz(1, F("3.99"), "2", LEAF), "line 2", "gradients on the leaf as short"),
        (lipschitz(F("1.1"), 9, "inf", LEAF), "points", "outputs that are as far apart as"),
        (
            lipschitz(1, 1, "1", BoundsNode("exact", multiples=[(0, 0, {0: F(1), 1: F(1)})])),
            "line 2",
            "neurons whose signs are known",
        ),
        (
            lipschitz(1, 1, "1", BoundsNode("bounded", multiples=[(0, 0, {0: F(1), 1: F(1)})])),
            "line 2",
            "inequalities that add up to at most 0",
        ),
        (
            lipschitz(1, 1, "1", BoundsNode("bounded", multiples=[(0, 0, {})])),
            "line 2",
            "an inequality that is not constant",
        ),
    ],
)  # fmt: skip
def test_invalid(file: Document, step: str, expected: str) -> None:
    report = check(file)
    assert report.verdict != "accepted"
    assert (report.step, report.expected[: len(expected)]) == (step, expected), report


@pytest.mark.parametrize(
    ("path", "value", "step", "expected"),
    [
        ((0, "points"), [["0"]], "points", "2 points"),
        ((0, "points", 1), ["2"], "points", "a point of the domain"),
        ((0, "points", 1), ["1/2"], "points", "values of the outputs at the points"),
        ((0, "points", 0), ["1/2"], "points", "values of the outputs at the points"),
        ((0, "claim", "outputs", 0, 0), 1, "claim", "outputs below 1"),
        ((0, "claim", "outputs"), [], "claim", "an output"),
        ((0, "matching"), [[[0, "1"], [1, "1"]]], "matching", "no matching of one network"),
        ((0, "claim", "domain", "inequalities"), ["1 1"], "claim.domain", "a domain that bounds"),
        ((0, "claim", "domain", "inequalities"), ["1 -1", "-1 -1"], "points", "a point of the"),
        ((0, "grid"), 7, "line 1.grid", "a file in the format"),
        ((0, "grid"), 4_097, "line 1.grid", "a file in the format"),
        ((2, 0), "exakt", "line 3[0]", "a file in the format"),
    ],
)
def test_changed_header(path: Any, value: Any, step: str, expected: str) -> None:
    report = check(changed(ACCEPTED["exact"], path, value))
    assert report.verdict != "accepted"
    assert (report.step, report.expected[: len(expected)]) == (step, expected), report


@pytest.mark.parametrize(
    ("name", "path", "value", "step", "expected"),
    [
        ("smallest", (0, "claim", "choose"), "largest", "line 1.claim.choose", "a file in the"),
        ("smallest", (0, "claim", "choose"), ["smallest"], "line 1.claim.choose", "a file in the"),
        ("smallest", (0, "claim", "margin"), "-1/8", "claim", "a margin that is not negative"),
        ("smallest", (0, "claim", "margin"), "1/10", "line 5", NOTHING_HOLDS),
        ("exact", (0, "claim", "choose"), "smallest", "line 1.claim", "a file in the format"),
    ],
)
def test_changed_decisions(name: str, path: Any, value: Any, step: str, expected: str) -> None:
    report = check(changed(ACCEPTED[name], path, value))
    assert report.verdict != "accepted"
    assert (report.step, report.expected[: len(expected)]) == (step, expected), report


def test_the_smallest_output_is_another_claim() -> None:
    """x and 0 against x + 1/9 and 0: only at 0 > x > -1/9 does the larger output change."""
    first, second = from_arrays([([[1], [0]], [0, 0])]), from_arrays([([[1], [0]], [F(1, 9), 0])])
    verdicts = []
    for low, high in ((F(-1), F(-1, 5)), (F(1, 5), F(1)), (F(-1, 10), F(-1, 20))):
        for choose in get_args(Choice):
            place = Polyhedron.box([low], [high])
            claim = DecisionsClaim(first, second, place, F(0), choose=choose)
            verdicts.append(check(document(claim, [[low]], [LEAF])).verdict)
    assert verdicts == ["accepted"] * 4 + ["rejected"] * 2
    three = [from_arrays([([[1], [0], [0]], [0, 0, b])]) for b in (5, -5)]
    found = dict[str, str]()
    for choose in get_args(Choice):  # 5 is the largest output of one, -5 the smallest of the other
        claim = DecisionsClaim(three[0], three[1], SEGMENT, F(2), choose=choose)
        found[choose] = check(document(claim, [[0]], [LEAF])).verdict
    assert found == {"largest": "rejected", "smallest": "accepted"}


def test_multiples_of_cuts_by_sign() -> None:
    """max(x, 0) - x ≤ 1 and x - max(x, 0) ≤ 0: the sign of the neuron is all that is known."""
    ramp = from_arrays([([[1]], [0]), ([[1]], [0])])
    row = LinearRow({0: F(-1)}, {}, {0: F(1)})
    claim = HoldsClaim(ramp, SEGMENT, ((row,),))
    cut = BoundsNode("sign", neuron=(0, 1, 0))
    below = BoundsNode("exact", multiples=[(0, 0, {2: F(1)})])
    assert check(document(claim, [[0]], [cut, EXACT, below])).verdict == "accepted"
    assert check(document(claim, [[0]], [cut, EXACT, EXACT])).verdict == "rejected"
    rounded = BoundsNode("bounded", multiples=[(0, 0, {2: F(1)})])
    assert check(document(claim, [[0]], [cut, LEAF, rounded])).verdict == "accepted"
    wrong = BoundsNode("exact", multiples=[(0, 0, {2: F(1, 2)})])
    assert check(document(claim, [[0]], [cut, EXACT, wrong])).verdict == "rejected"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "exact",
            "has this range on {x : (-1).x <= 1, (1).x <= 1}: the least value of output 0 is "
            "exactly 0, its largest value is exactly 1. The tree has 3 nodes.",
        ),
        (
            "matched, rounded",
            "have a deviation on {x : (-1).x <= 1, (1).x <= 1}: the largest difference of the "
            "values of output 0 is at least 0 and at most 2500001/10000000. The tree has 1 "
            "node.",
        ),
        (
            "outside of a box",
            "the values of output 0 differ by at most 3/16 at every point, outside of 1 listed "
            "box, and by at least 1/4 at a point of the domain. The tree has 5 nodes.",
        ),
        (
            "one row or the other",
            "-x_0 <= 0 or x_0 <= 0 holds at every point of {x : (-1).x <= 1, (1).x <= 1}; f are "
            "the outputs of the network. The tree has 3 nodes.",
        ),
        (
            "squared, by an interval",
            "the largest quotient of the squared difference of an output among output 0 and the "
            "squared Euclidean distance is at least 1/2 and at most 4; it is the largest "
            "squared 2-norm of a gradient. The tree has 1 node.",
        ),
        (
            "decisions",
            "make the same-decisions at every point of {x : (-1).x <= 1, (1).x <= 1}: where one "
            "output of the first network exceeds all others by more than 1/8, the same output "
            "of the second one exceeds all others. The tree has 5 nodes.",
        ),
        (
            "smallest",
            "make the same-decisions at every point of {x : (-1).x <= 1, (1).x <= 1}: where one "
            "output of the first network is smaller than all others by more than 1/8, the same "
            "output of the second one is smaller than all others. The tree has 5 nodes.",
        ),
    ],
)
def test_sentences(name: str, sentence: str) -> None:
    assert check(ACCEPTED[name]).statement.endswith(sentence), check(ACCEPTED[name]).statement


def test_lipschitz_on_a_domain_with_an_equation() -> None:
    """x + 5 y on {y = 0} has slope 1, and a gradient of 1-norm 6."""
    slanted = from_arrays([([[1, 5]], [0])])
    segment = Polyhedron.from_constraints([[1, 0], [-1, 0]], [1, 1], [[0, 1]], [0], 2)
    claim = LipschitzBoundClaim(slanted, segment, (0,), "1", F(1), F(6))
    report = check(document(claim, [[0, 0], [0, 0], [1, 0]], [LEAF]))
    assert report.verdict == "accepted"
    assert "gradient" not in report.statement
    assert "gradient" not in str(claim)
    assert "the largest difference of a coordinate is at least 1 and" in report.statement
    assert "; it is the largest 1-norm of a gradient" in check(ACCEPTED["Lipschitz"]).statement
