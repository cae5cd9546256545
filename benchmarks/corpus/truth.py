"""Checks of the answers of the corpus by brute force, which shares nothing with their making.

Cells come from the enumeration by the Parma Polyhedra Library (`tests.oracles.cells_on_domain`),
values and affine maps from plain fractions, Betti numbers from order complexes, fibers from
Jacobians, equality from all common cells, injectivity from all pairs of activation patterns. The
only files of the package that are used are the checker, and readers of networks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import gcd
from typing import Any, NamedTuple

from benchmarks.corpus.answers import Answered
from benchmarks.corpus.specimen import Specimen
from polyrelu import checker
from polyrelu.formats import parse_domain
from polyrelu.network import Network
from tests.generators.quantised_networks import brute_domain, brute_layers
from tests.oracles import cells_on_domain as brute
from tests.oracles.classes import is_in_class
from tests.oracles.equal_on_domain import agree_on_domain
from tests.oracles.grid import related, same_function
from tests.oracles.injectivity import is_injective, is_injective_network
from tests.oracles.judge import contradictions, plain
from tests.oracles.local_fiber import local_fiber_dimension
from tests.oracles.one_input import value
from tests.oracles.order_complex import betti_numbers, faces_by_signs
from tests.oracles.plain import integer_form

__all__ = ["untrue"]

Point = tuple[Fraction, ...]
#: Rows [gradient | constant] of all outputs.
Map = tuple[Point, ...]
#: Maximum number of hidden neurons for the slow oracles: Jacobians, and pairs of patterns.
_MAX_FIBER_NEURONS, _MAX_PAIR_NEURONS = 9, 6


class _Truth(NamedTuple):
    """The cells of a network on a domain, by brute force."""

    network: Network
    size: int
    num_constraints: int
    cells: dict[brute.Key, brute.Cell]

    def keys(self, dimension: int) -> list[brute.Key]:
        return [key for key, cell in self.cells.items() if cell.dimension == dimension]

    def text(self, key: brute.Key) -> str:
        """Return the signs of the neurons, with a bar between layers."""
        signs = iter(key[self.num_constraints :])
        layers = self.network.layers[: self.network.num_hidden_layers]
        return "|".join(
            "".join("-0+"[next(signs) + 1] for _ in layer.bias.entries()) for layer in layers
        )


def untrue(specimen: Specimen, found: Answered, networks: dict[str, Network]) -> Iterator[str]:
    """Yield a sentence for each answer that brute force contradicts."""
    answers = found.answers
    for listed in answers["complexes"]:
        truth = _truth(specimen.network, listed["domain"])
        for problem in _cells(truth, listed):
            yield f"{listed['domain']}: {problem}"
        if listed["domain"] == specimen.domain:
            yield from _outputs(truth, answers["outputs"])
            low, high = specimen.box
            volumes = sum(Fraction(region["volume"]) for region in listed["regions"])
            if volumes != (high - low) ** truth.size:
                yield f"the volumes add up to {volumes}"
    for listed in answers["level_sets"]:
        yield from _level_set(specimen.network, listed)
    yield from _certificates(specimen.network, found)
    yield from _fiber(specimen.network, answers, found.members)
    for listed in answers["injectivity"]:
        yield from _injectivity(specimen.network, listed)
    for listed in answers["equivalence"]:
        yield from _equivalence(specimen.network, networks[listed["other"]], listed)


def _truth(network: Network, domain: str) -> _Truth:
    rows = brute_domain(parse_domain(domain, network.num_inputs))
    cells = brute.cells_on_domain(brute_layers(network), rows)
    return _Truth(network, network.num_inputs, len(rows.inequalities), cells)


def _fractions(texts: Sequence[str]) -> Point:
    return tuple(map(Fraction, texts))


# --- Cells ----------------------------------------------------------------------------------------


def _cells(truth: _Truth, listed: dict[str, Any]) -> Iterator[str]:
    n = truth.size
    counts = [len(truth.keys(k)) for k in range(n + 1)]
    regions = {truth.text(key): truth.cells[key] for key in truth.keys(n)}
    bounded = {text for text, cell in regions.items() if not cell.rays and not cell.lines}
    vertices = sorted(truth.cells[key].point for key in truth.keys(0))
    lineality = min((cell.lines for cell in truth.cells.values()), default=0)
    for name, got, expected in (
        ("f_vector", listed["f_vector"], counts),
        ("num_regions", listed["num_regions"], counts[-1]),
        ("num_bounded_regions", listed["num_bounded_regions"], len(bounded)),
        ("lineality_dim", listed["lineality_dim"], lineality),
        ("vertices", [_fractions(vertex) for vertex in listed["vertices"]], vertices),
        ("regions", [region["signs"] for region in listed["regions"]], sorted(regions)),
    ):
        if got != expected:
            yield f"{name} is {expected}, listed {got}"
    if [region["signs"] for region in listed["regions"]] != sorted(regions):
        return
    for region in listed["regions"]:
        yield from _region(truth, region, regions[region["signs"]], region["signs"] in bounded)
    yield from _bends(truth, listed)


def _region(
    truth: _Truth, region: dict[str, Any], cell: brute.Cell, is_bounded: bool
) -> Iterator[str]:
    name, point = region["signs"], _fractions(region["point"])
    signs = brute.sign_key(brute_layers(truth.network), brute.Domain(truth.size), point)
    rows = _listed_map(region)
    if truth.text((*[1] * truth.num_constraints, *signs)) != name:
        yield f"{name}: the point is elsewhere"
    if region["bounded"] is not is_bounded:
        yield f"{name}: bounded is {is_bounded}"
    if rows != _map(truth.network, name):
        yield f"{name}: wrong affine map"
    if is_bounded and truth.size < 3 and Fraction(region["volume"]) != _volume(cell, truth.size):
        yield f"{name}: wrong volume"


def _listed_map(region: dict[str, Any]) -> Map:
    return tuple(
        (*_fractions(gradient), Fraction(constant))
        for gradient, constant in zip(region["gradient"], region["constant"], strict=True)
    )


def _map(network: Network, signs: str) -> Map:
    """Return the rows of the affine map where neurons have these signs."""
    n = network.num_inputs
    rows = [[Fraction(int(i == j)) for j in range(n + 1)] for i in range(n)]
    masks = signs.split("|")
    for number, (weights, bias) in enumerate(plain(network)):
        rows = [
            [
                sum(
                    (w * row[k] for w, row in zip(line, rows, strict=True)),
                    b if k == n else Fraction(),
                )
                for k in range(n + 1)
            ]
            for line, b in zip(weights, bias, strict=True)
        ]
        if number < network.num_hidden_layers:
            rows = [
                row if sign == "+" else [Fraction()] * (n + 1)
                for row, sign in zip(rows, masks[number], strict=True)
            ]
    return tuple(map(tuple, rows))


def _volume(cell: brute.Cell, size: int) -> Fraction:
    """Return the length of an interval, or the area of a polygon by the shoelace formula."""
    corners = sorted(cell.corners)
    if size == 1:
        return corners[-1][0] - corners[0][0]
    first, last = corners[0], corners[-1]

    def above(point: Point) -> Fraction:
        return (last[0] - first[0]) * (point[1] - first[1]) - (last[1] - first[1]) * (
            point[0] - first[0]
        )

    lower = [point for point in corners if above(point) <= 0]
    upper = [point for point in reversed(corners) if above(point) > 0]
    around = [*lower, *upper, lower[0]]
    return abs(sum((a[0] * b[1] - a[1] * b[0] for a, b in pairwise(around)), Fraction())) / 2


def _bends(truth: _Truth, listed: dict[str, Any]) -> Iterator[str]:
    """Compare neighbours, bends and linear regions with the facets inside the domain."""
    regions = listed["regions"]
    place = {region["signs"]: k for k, region in enumerate(regions)}
    maps = [_map(truth.network, region["signs"]) for region in regions]
    group = list(range(len(regions)))
    facets: dict[tuple[int, int], Point] = {}
    full = truth.keys(truth.size)
    for key in truth.keys(truth.size - 1):
        if 0 in key[: truth.num_constraints]:
            continue
        sides = [k for k in full if all(a in (0, b) for a, b in zip(key, k, strict=True))]
        one, other = sorted(place[truth.text(k)] for k in sides)
        facets[one, other] = truth.cells[key].point
        if maps[one] == maps[other]:
            group = [group[one] if g == group[other] else g for g in group]
    bends = {pair: point for pair, point in facets.items() if maps[pair[0]] != maps[pair[1]]}
    for name, expected in (
        ("num_neighbours", len(facets)),
        ("num_linear_regions", len({*group})),
        ("num_affine_maps", len({*maps})),
    ):
        if listed[name] != expected:
            yield f"{name} is {expected}, listed {listed[name]}"
    if [tuple(bend["regions"]) for bend in listed["bends"]] != sorted(bends):
        yield f"the bends are between {sorted(bends)}"
        return
    for bend in listed["bends"]:
        yield from _bend(bend, bends[tuple(bend["regions"])], regions, maps)


def _bend(
    bend: dict[str, Any], point: Point, regions: list[dict[str, Any]], maps: list[Map]
) -> Iterator[str]:
    first, second = bend["regions"]
    normal, offset = bend["normal"], Fraction(bend["offset"])

    def form(x: Sequence[Fraction]) -> Fraction:
        return sum((a * b for a, b in zip(normal, x, strict=True)), offset)

    jump = [
        [b - a for a, b in zip(one, two, strict=True)]
        for one, two in zip(maps[first], maps[second], strict=True)
    ]
    expected = [[Fraction(w) * n for n in (*normal, offset)] for w in bend["weight"]]
    is_right_side = form(_fractions(regions[second]["point"])) > 0
    if jump != expected or gcd(*normal) != 1 or form(point) != 0 or not is_right_side:
        yield f"wrong bend between {first} and {second}"


# --- Outputs --------------------------------------------------------------------------------------


def _outputs(truth: _Truth, outputs: list[dict[str, Any]]) -> Iterator[str]:
    corners = [truth.cells[key].point for key in truth.keys(0)]
    values = [value(truth.network, corner) for corner in corners]
    maps = [_map(truth.network, truth.text(key)) for key in truth.keys(truth.size)]
    for k, output in enumerate(outputs):
        gradients = [rows[k][:-1] for rows in maps]
        for name, expected in (
            ("lower", min(column[k] for column in values)),
            ("upper", max(column[k] for column in values)),
            ("lipschitz_linf", max(sum(map(abs, row)) for row in gradients)),
            ("lipschitz_l2_squared", max(sum(x * x for x in row) for row in gradients)),
        ):
            if Fraction(output[name]) != expected:
                yield f"output {k}: {name} is {expected}, listed {output[name]}"
        for place, bound in (("argmin", "lower"), ("argmax", "upper")):
            if value(truth.network, list(_fractions(output[place])))[k] != Fraction(output[bound]):
                yield f"output {k}: {place} has another value"


def _level_set(network: Network, listed: dict[str, Any]) -> Iterator[str]:
    """Compare Betti numbers with those of chains of faces, modulo 2; there is no torsion in R^3."""
    level = Fraction(listed["level"])
    hidden = brute_layers(network)
    if network.last == "relu":
        row = [Fraction(int(k == 0)) for k in range(network.num_outputs)]
        bias = Fraction()
    else:
        weights, biases = plain(network)[-1]
        row, bias = weights[0], biases[0]
    cut = [*hidden, ([(len(hidden), [row])], [bias - level])]
    cells = brute.cells_on_domain(
        cut, brute_domain(parse_domain(listed["domain"], network.num_inputs))
    )
    for name, signs in (("sublevel", (-1, 0)), ("level_set", (0,))):
        keys = [key for key in cells if key[-1] in signs]
        expected = betti_numbers(faces_by_signs(keys), 2)
        if _trimmed(listed[name]) != _trimmed(expected):
            yield f"{name} at {level}: Betti numbers {expected}, listed {listed[name]}"


def _trimmed(numbers: Sequence[int]) -> list[int]:
    found = list(numbers)
    while found and not found[-1]:
        found.pop()
    return found


# --- Proofs ---------------------------------------------------------------------------------------


def _certificates(network: Network, found: Answered) -> Iterator[str]:
    """Let the checker read all certificates, and judge the verdict on identifiability."""
    for name, data in found.certificates.items():
        report = checker.check_bytes(data)
        if report.verdict != "accepted":
            yield f"certificate {name}: {report.verdict} {report.step}"
    is_small = len(network.neurons) <= _MAX_FIBER_NEURONS
    if "identify" in found.outcomes and network.last == "affine" and is_small:
        yield from contradictions(plain(network), found.outcomes["identify"])


def _fiber(network: Network, answers: dict[str, Any], members: Sequence[Network]) -> Iterator[str]:
    """Compare dimensions with the Jacobian, which is right at transversal parameters, and members.

    Elsewhere the Jacobian gives an upper bound only.
    """
    listed, layers = answers["fiber"], plain(network)
    if listed is None or len(network.neurons) > _MAX_FIBER_NEURONS:
        return
    outcome, local = answers["identifiability"], local_fiber_dimension(layers)
    is_known = listed["complete_among"] != "part" and listed["dimension"] is not None
    is_sharp = local.regular and is_in_class(layers, "transversal")
    if is_known and is_sharp and local.dimension > listed["dimension"]:
        yield f"fiber: dimension {listed['dimension']}, locally {local.dimension}"
    for member in members:
        if not same_function(layers, plain(member)):
            yield "fiber: a member has another function"
    if outcome["status"] == "proved" and listed["dimension"]:
        yield "fiber: identifiable, and the fiber has a positive dimension"


def _injectivity(network: Network, listed: dict[str, Any]) -> Iterator[str]:
    domain = brute_domain(parse_domain(listed["domain"], network.num_inputs))
    if listed["status"] == "refuted":
        x, y = (_fractions(listed["witness"][name]) for name in "xy")
        values = {tuple(value(network, list(point))) for point in (x, y)}
        inside = all(
            sum(a * b for a, b in zip(row, point, strict=False)) <= row[-1]
            for row in domain.inequalities
            for point in (x, y)
        )
        if x == y or values != {_fractions(listed["witness"]["value"])} or not inside:
            yield "injectivity: the witness is wrong"
    elif listed["status"] == "proved" and _collides(network, domain):
        yield "injectivity: brute force finds a collision"


def _collides(network: Network, domain: brute.Domain) -> bool:
    """Whether two points collide, by all flats of a layer or all pairs of patterns, if few."""
    is_relu = network.last == "relu"
    layers = [
        [[*row, b] for row, b in zip(weights, bias, strict=True)]
        for weights, bias in integer_form(plain(network))
    ]
    if len(layers) == 1 and is_relu:
        return not is_injective(layers[0], domain.inequalities)
    if len(network.neurons) > _MAX_PAIR_NEURONS:
        return False  # the checker has read the certificate
    return not is_injective_network(layers, is_relu, domain.inequalities)


def _equivalence(network: Network, other: Network, listed: dict[str, Any]) -> Iterator[str]:
    domain = parse_domain(listed["domain"], network.num_inputs)
    expected = "proved" if agree_on_domain(network, other, domain) else "refuted"
    if listed["status"] != expected:
        yield f"equivalence with {listed['other']}: {expected}, listed {listed['status']}"
    if network.widths == other.widths and listed["related"] != related(
        plain(network), plain(other)
    ):
        yield f"equivalence with {listed['other']}: related is {not listed['related']}"
    if listed["status"] == "refuted":
        x = list(_fractions(listed["witness"]["x"]))
        for side, letter in ((network, "f"), (other, "g")):
            if value(side, x) != list(_fractions(listed["witness"][letter])):
                yield f"equivalence with {listed['other']}: wrong value {letter}"
