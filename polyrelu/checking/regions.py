"""Lists of regions."""

from __future__ import annotations

from typing import Any

from polyrelu.checking.arithmetic import bits_of_form
from polyrelu.checking.expressions import JointNetwork
from polyrelu.checking.meter import longest, require
from polyrelu.checking.pairs import read_domain, scaled_point
from polyrelu.checking.text import RATIONAL, rationals
from polyrelu.checking.theorems import Case, theorem
from polyrelu.checking.trees import SIGN, Node, Tree

# ==== 5.1 Lists of regions: claim regions, theorem regions ====

REGION_LEAF = {"signs": [[SIGN]], "region": [RATIONAL]}


@theorem(
    "regions",
    kind="regions",
    page="theory/regions.md",
    evidence={},
    says={
        "cover": "no neuron changes its sign inside a leaf of the tree, and the leaves cover the "
        "domain",
        "inside": "every leaf has a point strictly inside",
    },
)
def regions(case: Case) -> None:
    """A tree with one leaf for each region of a network."""
    meter, count = case.meter, 0
    domain = read_domain(case.claim["domain"], case.network.widths[0], meter)
    meter.step = "tree"
    joint = JointNetwork([case.network], domain, [], meter)

    def close(node: Node, record: Any) -> None:
        """Every neuron is affine here and keeps its sign, and the point is strictly inside."""
        nonlocal count
        count += 1
        require(not node.terms, "all signs known", f"{len(node.terms)} of them unknown")
        x = rationals(record["region"], meter)
        scale = domain.check_point(x, meter)
        point = scaled_point(x, scale, meter)
        y = [scale, *(point[j] for j in domain.free)]
        bits = longest([y])
        for form, _ in node.state.slacks:
            meter.pay(2 + len(form), bits, bits_of_form(form))
            inside = not form or sum(a * y[symbol] for symbol, a in form.items()) > 0
            require(inside, "a point strictly inside", "a point on the boundary, or outside")

    tree = Tree(joint, list(range(len(joint.atoms))), case.lines)
    tree.check(REGION_LEAF, close)
    meter.step = "claim.count"
    require(count == case.claim["count"], f"{count} regions", str(case.claim["count"]))
    case.lines.check_end(tree.num_nodes)
