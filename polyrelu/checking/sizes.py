"""Sizes that every network with one function has at least, claim size."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from polyrelu.checking.arithmetic import Row, common_denominator, dot, primitive_plane
from polyrelu.checking.claims import DEEP_CLASSES, WHOLE_SPACE
from polyrelu.checking.families import Families
from polyrelu.checking.meter import Meter, cells_of, longest, require, well_formed
from polyrelu.checking.networks import Network
from polyrelu.checking.pairs import Domain, check_inside, domain_of_competitors, scaled_point
from polyrelu.checking.ridges import Neurons, Ridges
from polyrelu.checking.systems import MAX_SIGNS, SLICE
from polyrelu.checking.text import RATIONAL, rationals
from polyrelu.checking.theorems import Case, theorem

# ==== 3.11 Sizes: theorems jumps, hyperplanes, affine-maps and bends ====

POINTS = {"points": {"points": [[RATIONAL]]}}


def check_size(case: Case, quantity: str) -> Domain:
    """The claim is about this quantity, and says something; its domain."""
    claim, case.meter.step = case.claim, "claim"
    require(claim["quantity"] == quantity, f"a claim on {quantity}", claim["quantity"])
    require(claim["at-least"] >= 1, "a bound of at least 1", "0")
    return domain_of_competitors(case)


def check_bound(case: Case, proved: int) -> None:
    """The evidence is enough for the claim."""
    wanted = case.claim["at-least"]
    require(proved >= wanted, f"evidence for at least {wanted}", f"at least {proved}")


def points_of(case: Case, domain: Domain) -> list[list[int]]:
    """The points as integers with their common denominator last; strictly inside the domain."""
    found, meter = list[list[int]](), case.meter
    num_inputs, is_everywhere = case.network.widths[0], case.claim["domain"] == WHOLE_SPACE
    for texts in case.hypothesis("points")["points"]:
        require(len(texts) == num_inputs, f"points of {num_inputs} coordinates", str(len(texts)))
        x: list[Fraction] = (
            rationals(texts, meter) if is_everywhere else check_inside(domain, texts, meter)
        )
        scale = common_denominator(x, "a common denominator of a point", meter)
        meter.hold(cells_of(len(x) + 1, scale.bit_length()))
        found.append([*scaled_point(x, scale, meter), scale])
    return found


def local_map(
    network: Network, point: Sequence[int], plane: Row | None, side: int, meter: Meter
) -> tuple[Row | None, list[list[int]]]:
    """The affine map near a point on one side of a hyperplane through it, times a number.

    All neurons that vanish at the point, and are not 0 around it, vanish on one hyperplane: the one
    that is given, or that of the first of them. The number is one for all points.
    """
    size, scale, bits, held = len(point), 1, 1, 0
    forms = [[int(i == j) for j in range(size)] for i in range(size - 1)]
    for number, layer in enumerate(network.layers, 1):
        count, before = len(layer.rows), len(forms)
        meter.pay(count * (before + 1) * size, bits, layer.bits)
        meter.hold(cells_of(count * size, bits + layer.bits))
        held += cells_of(count * size, bits + layer.bits)
        columns = [*zip(*forms, strict=True)]
        forms = [[dot(row, column) for column in columns] for row in layer.rows]
        for form, b in zip(forms, layer.bias, strict=True):
            form[-1] += b * scale
        scale, bits = scale * layer.denominator, bits + layer.bits + before.bit_length()
        if number <= network.num_hidden_layers():
            meter.pay(2 * count * size, bits, longest([point]))
            for i, form in enumerate(forms):
                sign = dot(form, point)
                if sign == 0 and any(form):
                    own, factor = primitive_plane(form, meter)
                    plane = own if plane is None else plane
                    fact = "neurons that vanish at the point on one hyperplane"
                    require(own == plane, fact, f"neuron {i} of layer {number}")
                    sign = factor * side
                if sign <= 0:
                    forms[i] = [0] * size
    meter.release(held)
    return plane, forms


def jump_at(
    network: Network, point: Sequence[int], plane: Row | None, meter: Meter
) -> tuple[Row | None, list[list[int]]]:
    """The hyperplane, and the map on its positive side minus the one on its negative side."""
    plane, above = local_map(network, point, plane, 1, meter)
    _, below = local_map(network, point, plane, -1, meter)
    meter.pay(sum(map(len, above)))
    pairs = zip(above, below, strict=True)
    return plane, [[a - b for a, b in zip(*rows, strict=True)] for rows in pairs]


@theorem(
    "jumps",
    kind="size",
    among=("all",),
    page="theory/minimality.md",
    evidence=POINTS,
    says={
        "points": "the gradient jumps across a hyperplane at the first point, and by another "
        "amount at the second one, if there is one, on the same hyperplane",
    },
)
def jumps(case: Case) -> None:
    """One jump needs a hidden layer; two different ones on one hyperplane need two."""
    domain, network, meter = check_size(case, "hidden-layers"), case.network, case.meter
    points = points_of(case, domain)
    require(1 <= len(points) <= 2, "one or two points", str(len(points)))
    plane, jump = jump_at(network, points[0], None, meter)
    fact = "a jump of the gradient at the first point"
    require(any(map(any, jump)), fact, "none")
    if len(points) == 2 and plane is not None:
        meter.pay(len(plane), longest([plane]), longest([points[1]]))
        require(dot(plane, points[1]) == 0, "a second point on the hyperplane of the first one")
        _, other = jump_at(network, points[1], plane, meter)
        require(jump != other, "another jump at the second point", "the same jump")
    check_bound(case, len(points))


@theorem(
    "hyperplanes",
    kind="size",
    among=("all",),
    page="theory/minimality.md",
    evidence=POINTS,
    says={"points": "the gradient jumps at each point, across a different hyperplane each time"},
)
def hyperplanes(case: Case) -> None:
    """A network with one hidden layer has a neuron for each hyperplane."""
    domain, meter = check_size(case, "neurons-of-one-layer"), case.meter
    planes, points = set[Row](), points_of(case, domain)
    for number, point in enumerate(points):
        plane, jump = jump_at(case.network, point, None, meter)
        fact = "a jump of the gradient at every point"
        require(any(map(any, jump)), fact, f"none at point {number}")
        require(plane not in planes, "different hyperplanes", f"the one of point {number} twice")
        if plane is not None:
            meter.hold(cells_of(len(plane) + 2, longest([plane])))
            planes.add(plane)
    check_bound(case, len(planes))


@theorem(
    "affine-maps",
    kind="size",
    among=("all",),
    page="theory/minimality.md",
    evidence=POINTS,
    says={"points": "the function is affine around each point, by a different affine map"},
)
def affine_maps(case: Case) -> None:
    """N neurons have at most 2^N activation patterns."""
    domain, meter = check_size(case, "neurons"), case.meter
    known, points = set[Row](), points_of(case, domain)
    for number, point in enumerate(points):
        plane, rows = local_map(case.network, point, None, 1, meter)
        require(plane is None, "no neuron that vanishes at a point", f"point {number}")
        key = Row(entry for row in rows for entry in row)
        meter.hold(cells_of(len(key) + 2, longest(rows)))
        meter.pay(len(key), longest(rows))
        require(key not in known, "different affine maps", f"the one of point {number} twice")
        known.add(key)
    require(len(known) > 0, "a point", "none")
    check_bound(case, (len(known) - 1).bit_length())


@theorem(
    "bends",
    kind="size",
    among=DEEP_CLASSES,
    page="theory/minimality.md",
    evidence={"ridges": {"slices": [SLICE]}, "chain": {}},
    says={
        "ridges": "each listed plane meets its ridges: exactly two neurons vanish there, with "
        "independent gradients",
        "chain": "families of linked pieces bend at each other in a chain as long as claimed",
    },
)
def bends(case: Case) -> None:
    """What bends at a bent hyperplane is of a later layer, for each competitor."""
    network, meter = case.network, case.meter
    meter.step = "theorem"
    require(len(network.layers) >= 2, "a hidden layer", str(network))
    require(network.widths[0] >= 2, "n_0 >= 2", str(network))
    require(network.last == "affine", "an affine output", str(network))
    domain, neurons = check_size(case, "hidden-layers"), Neurons(network, meter)
    slices = case.hypothesis("ridges")["slices"]
    count = sum(len(entry["ridges"]) for entry in slices)
    message = f"beyond the limits: more than {MAX_SIGNS} signs at ridges"
    well_formed(count * neurons.count <= MAX_SIGNS, message)
    ridges = Ridges(neurons, case.claim["among"] == "regular", domain)
    ridges.read(slices)
    case.hypothesis("chain")
    require(any(ridge.type for ridge in ridges.listed), "a good ridge", "none")
    check_bound(case, max(Families(ridges).chains.values(), default=0) + 1)
