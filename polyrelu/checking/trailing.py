"""Theorems about networks with at most one hidden layer that end in a ReLU, claim identifiable."""

from __future__ import annotations

from fractions import Fraction

from polyrelu.checking.claims import WHOLE_SPACE
from polyrelu.checking.identifiability import check_zero, hyperplanes_of
from polyrelu.checking.meter import require
from polyrelu.checking.networks import Layer
from polyrelu.checking.pairs import check_inside, domain_of_competitors, outputs
from polyrelu.checking.text import RATIONAL, rationals
from polyrelu.checking.theorems import SUBSETS, Case, check_subset_sums, theorem

# ---- trailing-affine, trailing-shallow

POSITIVE = {"points": [[RATIONAL]]}


def layers_before_relu(case: Case, depth: int) -> list[Layer]:
    """The layers of a plain stack that has `depth` of them and ends in a ReLU."""
    case.meter.step = "theorem"
    network = case.network
    require(len(network.layers) == depth, f"L = {depth}", str(network))
    require(network.last == "relu", "a ReLU at the outputs", str(network))
    return network.layers


def positive_points_of(case: Case, count: int) -> list[list[Fraction]]:
    """The listed points of hypothesis `positive`, strictly inside the domain."""
    domain, size = domain_of_competitors(case), case.network.widths[0]
    texts, points = case.hypothesis("positive")["points"], list[list[Fraction]]()
    require(len(texts) == count, f"{count} points", str(len(texts)))
    for text in texts:
        if case.claim["domain"] == WHOLE_SPACE:
            require(len(text) == size, f"{size} coordinates", str(len(text)))
            points.append(rationals(text, case.meter))
        else:
            points.append(check_inside(domain, text, case.meter))
    return points


@theorem(
    "trailing-affine",
    kind="identifiable",
    among=("all",),
    page="theory/shallow.md",
    evidence={"positive": POSITIVE},
    says={"positive": "each output is positive at its point, strictly inside the domain"},
)
def trailing_affine(case: Case) -> None:
    """L = 1, a ReLU at the outputs: each output is positive at its point."""
    (layer,) = layers_before_relu(case, 1)
    for o, x in enumerate(positive_points_of(case, len(layer.rows))):
        value = outputs(case.network, x, case.meter)[o]
        require(value > 0, f"a point where output {o} is positive", "another one")


@theorem(
    "trailing-shallow",
    kind="identifiable",
    among=("all",),
    page="theory/shallow.md",
    evidence={"positive": POSITIVE, "visible": {}, "unique": SUBSETS},
    says={
        "positive": "each neuron of layer 1 is 0, and all outputs are positive, at its point, "
        "strictly inside the domain",
        "visible": "rows and columns do not vanish, and no two neurons share a hyperplane",
        "unique": "no other orientations give this function",
    },
)
def trailing_shallow(case: Case) -> None:
    """L = 2, a ReLU at the outputs: each hyperplane is seen where all outputs are positive."""
    lower, upper = layers_before_relu(case, 2)
    for i, x in enumerate(positive_points_of(case, len(lower.rows))):
        check_zero(lower, i, x, case.meter)
        values = outputs(case.network, x, case.meter)
        require(all(a > 0 for a in values), "a point where all outputs are positive", "a zero")
    case.hypothesis("visible")
    require(all(map(any, lower.rows)), "every w_i nonzero", "a zero row")
    require(all(map(any, upper.columns())), "every v_i nonzero", "a zero column")
    planes = hyperplanes_of(lower, case.meter)
    require(len(planes) == len(lower.rows), "different hyperplanes", "a doubled one")
    check_subset_sums(case.hypothesis("unique"), lower, upper, case.meter)
