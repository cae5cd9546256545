"""Injectivity of a network by a left inverse, claim injective."""

from __future__ import annotations

from polyrelu.checking.expressions import JointNetwork
from polyrelu.checking.injectivity import part_of_claim
from polyrelu.checking.meter import Meter, cells_of, longest, require
from polyrelu.checking.networks import Layer, Network, read_network
from polyrelu.checking.pairs import read_domain
from polyrelu.checking.text import OneOf
from polyrelu.checking.theorems import Case, theorem
from polyrelu.checking.trees import EQUAL_LEAF, SPLIT, ListedNodes, check_parts

# ==== 5.6 Injectivity by a left inverse: theorem left-inverse ====


@theorem(
    "left-inverse",
    kind="injective",
    page="theory/injectivity.md",
    evidence={"inverse": {"network": object}, "identity": {"nodes": [OneOf((SPLIT, EQUAL_LEAF))]}},
    says={
        "inverse": "the network reads the outputs, and has as many outputs as there are inputs",
        "identity": "on every leaf of the tree it maps the outputs back to the inputs, and the "
        "leaves cover the domain",
    },
)
def left_inverse(case: Case) -> None:
    """A network g with g(f(x)) = x for all x of the domain."""
    meter, part = case.meter, part_of_claim(case)
    domain = read_domain(case.claim["domain"], part.widths[0], meter)
    document = case.hypothesis("inverse")["network"]
    inverse, widths = read_network(document, "inverse", meter), (part.widths[-1], part.widths[0])
    meter.step = "inverse"
    fact = f"a plain stack with {widths[0]} inputs and {widths[1]} outputs"
    fits = inverse.is_plain() and (inverse.widths[0], inverse.widths[-1]) == widths
    require(fits, fact, str(inverse))
    both = round_trip(part, inverse, meter)
    meter.step = "identity"
    nodes = ListedNodes(case.hypothesis("identity")["nodes"], meter)
    joint = JointNetwork([both, identity(part.widths[0], meter)], domain, [], meter)
    check_parts(joint, [], nodes)
    nodes.check_end()


def identity(size: int, meter: Meter) -> Network:
    """The network x -> x."""
    meter.pay(2 * size**2)
    meter.hold(2 * size**2)
    rows = [[int(i == j) for j in range(size)] for i in range(size)]
    return Network([size, size], [Layer(1, [0] * size, rows, [], 1)], "affine", "")


def round_trip(there: Network, back: Network, meter: Meter) -> Network:
    """The network that applies one after the other; an affine last layer joins the next one."""
    first, *rest = back.layers
    kept = list(there.layers)
    if there.last == "affine":
        first = joined(kept.pop(), first, meter)
    widths = [*there.widths[: len(kept) + 1], *back.widths[1:]]
    return Network(widths, [*kept, first, *rest], back.last, "")


def joined(affine: Layer, layer: Layer, meter: Meter) -> Layer:
    """The layer that reads what an affine layer reads, in place of its values."""
    blocks = [*affine.earlier, (-1, affine.rows), (-1, [[b] for b in affine.bias])]
    num_columns = sum(len(rows[0]) for _, rows in blocks)
    products = len(layer.rows) * len(affine.rows) * num_columns
    meter.pay(2 * products + len(layer.rows), affine.bits, layer.bits)
    bits = affine.bits + layer.bits + len(affine.rows).bit_length() + 1
    meter.hold(cells_of(2 * len(layer.rows) * num_columns, bits))
    made = [(source, matrix_product(layer.rows, rows)) for source, rows in blocks]
    *earlier, (_, rows), (_, column) = made
    bias = [x + b * affine.denominator for (x,), b in zip(column, layer.bias, strict=True)]
    denominator = affine.denominator * layer.denominator
    own = longest([bias, [denominator], *(row for _, entries in made for row in entries)])
    return Layer(denominator, bias, rows, earlier, own)


def matrix_product(left: list[list[int]], right: list[list[int]]) -> list[list[int]]:
    """The product of two matrices."""
    columns = list(zip(*right, strict=True))
    return [[sum(a * b for a, b in zip(row, c, strict=True)) for c in columns] for row in left]
