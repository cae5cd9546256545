"""Why an accepted mutant is true, by routes that share nothing with the checker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import lcm
from random import Random
from typing import Any

import polyrelu
from polyrelu import Proved
from polyrelu.exact import Polyhedron, parse_rational
from polyrelu.foldsets import functional_dimension
from polyrelu.formats import runtime_error
from polyrelu.network import Network, from_document, leaky_stack
from polyrelu.outcomes import SizeBound
from polyrelu.proofs import size_bound
from polyrelu.symmetry import related
from tests.generators.quantised_networks import brute_domain, brute_layers
from tests.oracles.cells_on_domain import cells_on_domain
from tests.oracles.classes import is_in_class
from tests.oracles.equal_on_domain import agree_on_domain
from tests.oracles.float_runtime import Runtime, rounded
from tests.oracles.grid import same_function
from tests.oracles.injectivity import is_injective_network
from tests.oracles.judge import contradictions, plain
from tests.oracles.local_fiber import is_part_rigid
from tests.oracles.related_blocks import related_blocks

__all__ = [
    "a_difference",
    "domain_of",
    "evaluate",
    "has_cells",
    "has_regions",
    "points_are_one_in_each",
    "reason_it_is_true",
]


def reason_it_is_true(document: Any, mutant: Any) -> str:
    """Return why an accepted mutant is still true, or nothing.

    Certificates are objects of JSON, tree files are lists of them.
    """
    old, claim = (d[0]["claim"] if isinstance(d, list) else d["claim"] for d in (document, mutant))
    if claim["kind"] == "complex":
        return "brute force finds as many cells" if has_cells(claim) else ""
    if claim["kind"] == "regions":
        is_true = has_regions(claim) and ("vertices" in mutant[0] or points_are_one_in_each(mutant))
        return "brute force finds as many cells, and one for each point" if is_true else ""
    if claim["kind"] == "not-equivalent":
        return "plain evaluation at the point shows it" if a_difference(claim, mutant) else ""
    if not _membership_is_true(mutant):
        return ""
    if claim == old:
        return "the same claim"
    return _REASONS[claim["kind"]](claim, from_document(claim["network"]["inline"]))


def _membership_is_true(mutant: Any) -> bool:
    """Whether what a certificate says about the membership of its network is true."""
    hypotheses = [] if isinstance(mutant, list) else mutant["proof"]["hypotheses"]
    for hypothesis in hypotheses:
        status = hypothesis["evidence"].get("status", "open")
        if hypothesis["id"] == "membership" and status != "open":
            claim = mutant["claim"]
            reference = claim["other" if "other" in claim else "network"]
            layers = plain(from_document(reference["inline"]))
            return is_in_class(layers, str(claim["among"])) is (status == "verified")
    return True


def _of_bound(claim: Any, network: Network) -> str:
    return "no runtime is further away" if _survives_runtimes(claim, network) else ""


def _of_identifiability(claim: Any, network: Network) -> str:
    if claim["among"] == "all" and network.depth == 1:
        return "an affine map determines its parameters"
    among = claim["among"] if claim["among"] in ("all", "sparse") else None
    outcome = polyrelu.identify(network, among=among)
    if isinstance(outcome, Proved) and contradictions(plain(network), outcome) == []:
        return "the prover proves it and brute force finds nothing against it"
    return ""


def _of_part(claim: Any, network: Network) -> str:
    if is_part_rigid(plain(network), claim["layers"], claim["neurons"]):
        return "the same function to first order, by brute force, means the same part"
    return ""


def _of_other(claim: Any, network: Network) -> str:
    other = from_document(claim["other"]["inline"])
    architecture = claim.get("architecture", {"kind": "plain"})["kind"]
    if architecture == "leaky":
        return _of_leaky_other(claim, network, other)
    if architecture == "blocks":
        return _of_block_other(claim, network, other)
    if same_function(plain(network), plain(other)) and not related(network, other):
        return "the same function by brute force, not related, in the class"
    return ""


def _of_block_other(claim: Any, network: Network, other: Network) -> str:
    """Judge a pair of networks of blocks by all permutations, and on all common cells."""
    sources = [[b.source for b in layer.blocks] for net in (network, other) for layer in net.layers]
    if sources[: network.depth] != sources[network.depth :] or network.last != other.last:
        return ""
    domain = Polyhedron.universe(network.num_inputs)
    if claim["domain"] != "R^n":
        domain = domain_of(claim["domain"], network.num_inputs)
    is_related = network.widths != other.widths or related_blocks(network, other)
    is_true = not is_related and agree_on_domain(network, other, domain)
    return "the same function on the domain by brute force, not related" if is_true else ""


def _of_leaky_other(claim: Any, network: Network, other: Network) -> str:
    """Judge a pair of leaky ReLU stacks by their parameters, and on all common cells."""
    first, second = leaky_stack(network), leaky_stack(other)
    slope = Fraction(claim["architecture"]["slope"])
    if first is None or second is None or {first.slope, second.slope} != {slope}:
        return ""
    domain = Polyhedron.universe(network.num_inputs)
    if claim["domain"] != "R^n":
        domain = domain_of(claim["domain"], network.num_inputs)
    is_related = related(first.stack, second.stack)
    is_true = agree_on_domain(network, other, domain) and not is_related
    return "the same function on the domain by brute force, not related" if is_true else ""


def _of_pair(claim: Any, network: Network) -> str:
    other = from_document(claim["other"]["inline"])
    is_true = agree_on_domain(network, other, domain_of(claim["domain"], network.num_inputs))
    return "the same function on the domain by brute force" if is_true else ""


def _of_injectivity(claim: Any, network: Network) -> str:
    """Judge by all pairs of activation patterns."""
    layers, limits = _integer_layers(claim, network)
    last_is_relu = claim["layers"][1] <= network.num_hidden_layers
    is_claimed = claim["kind"] == "injective"
    is_true = is_injective_network(layers, last_is_relu, limits) is is_claimed
    return "all pairs of activation patterns show it" if is_true else ""


def _integer_layers(claim: Any, network: Network) -> tuple[list[list[list[int]]], list[list[int]]]:
    """Return the rows [w | b] of the layers of a claim, and the rows [a | c] of its domain.

    A layer is multiplied by a positive number, and so are the biases of the next one.
    """
    layers, factor = [], 1
    for number in range(claim["layers"][0], claim["layers"][1] + 1):
        weight, bias = network.weight(number), network.bias(number)
        rows = [[*w, b * factor] for w, b in zip(weight.rows(), bias.entries(), strict=True)]
        scale = lcm(*(entry.denominator for row in rows for entry in row))
        layers.append([[int(entry * scale) for entry in row] for row in rows])
        factor *= scale
    domain = domain_of(claim["domain"], network.widths[claim["layers"][0] - 1])
    equations = [[sign * t for t in row] for row in domain.equations for sign in (1, -1)]
    return layers, [*map(list, domain.inequalities), *equations]


def _of_quotients(claim: Any, network: Network) -> str:
    """Judge by the points of a grid, as a function of the first layers only."""
    num_inputs = network.num_inputs
    if claim["layers"] != [1, network.depth]:
        return ""
    domain = domain_of(claim["domain"], num_inputs)
    grid = [Fraction(k, 2) for k in range(-6, 7)]
    points = [x for x in product(grid, repeat=num_inputs) if domain.contains(x)]
    values = [network(list(x)) for x in points]
    quotients = [
        _squared(values[i], values[j]) / _squared(points[i], points[j])
        for i, j in combinations(range(len(points)), 2)
    ]
    low, high = Fraction(claim["at-least"]), Fraction(claim["at-most"])
    return "quotients on a grid" if low <= min(quotients) <= high else ""


def _of_size(claim: Any, network: Network) -> str:
    """Judge by the prover, which looks at all cells of so small a network."""
    domain = claim["domain"]
    region = None if domain == "R^n" else domain_of(domain, network.num_inputs)
    found = size_bound(network, claim["quantity"], region, among=claim["among"])
    is_true = isinstance(found, SizeBound) and claim["at-least"] <= found.at_least
    return "the whole complex shows it" if is_true else ""


def _of_dimension(claim: Any, network: Network) -> str:
    """Judge by the rational rank on all regions."""
    found = functional_dimension(network, domain_of(claim["domain"], network.num_inputs))
    is_true = claim["at-least"] <= found.lower and found.upper <= claim["at-most"]
    return "the rank on all regions shows it" if is_true else ""


def _squared(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    """Return the squared distance of two points."""
    return sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction())


_REASONS: dict[str, Callable[[Any, Network], str]] = {
    "runtime-error": _of_bound,
    "identifiable": _of_identifiability,
    "determined": _of_part,
    "not-identifiable": _of_other,
    "equivalent": _of_pair,
    "injective": _of_injectivity,
    "not-injective": _of_injectivity,
    "inverse-lipschitz": _of_quotients,
    "size": _of_size,
    "functional-dimension": _of_dimension,
}


def domain_of(claim: Any, num_inputs: int) -> Polyhedron:
    """Return the domain of a claim."""
    inequalities, equations = (
        tuple(tuple(map(int, row.split(" "))) for row in claim[key])
        for key in ("inequalities", "equations")
    )
    return Polyhedron(num_inputs, inequalities, equations)


def has_regions(claim: Any) -> bool:
    """Whether the network has the claimed number of regions on the domain, by brute force."""
    network = from_document(claim["network"]["inline"])
    domain = domain_of(claim["domain"], network.num_inputs)
    cells = cells_on_domain(brute_layers(network), brute_domain(domain))
    return sum(cell.dimension == domain.dimension for cell in cells.values()) == int(claim["count"])


def has_cells(claim: Any) -> bool:
    """Whether the network has the claimed number of cells of each dimension, by brute force."""
    network = from_document(claim["network"]["inline"])
    domain = domain_of(claim["domain"], network.num_inputs)
    cells = cells_on_domain(brute_layers(network), brute_domain(domain)).values()
    counts = Counter(cell.dimension for cell in cells)
    return list(map(int, claim["f-vector"])) == [counts[k] for k in range(domain.dimension + 1)]


def points_are_one_in_each(document: Any) -> bool:
    """Whether the points of a list of regions have different signs."""
    network = from_document(document[0]["claim"]["network"]["inline"])
    points = [
        list(map(parse_rational, node["region"])) for node in document[1:-1] if "region" in node
    ]
    count: int = document[0]["claim"]["count"]
    return len({network.sign_vector(point) for point in points}) == len(points) == count


def evaluate(network: Any, x: list[Fraction]) -> list[Fraction]:
    """Return the outputs of the network of a document, in plain fractions."""
    activations = [x]
    for number, layer in enumerate(network["layers"], 1):
        z = [Fraction(int(b)) for b in layer["bias"].split()]
        for block in layer["weights"]:
            rows = [[int(w) for w in row.split()] for row in block["rows"]]
            products = [
                sum(w * t for w, t in zip(row, activations[block["from"]], strict=True))
                for row in rows
            ]
            z = [t + product for t, product in zip(z, products, strict=True)]
        z = [t / int(layer["denominator"]) for t in z]
        if number < len(network["layers"]) or network["last"] == "relu":
            z = [max(t, Fraction(0)) for t in z]
        activations.append(z)
    return activations[-1]


def a_difference(claim: Any, document: Any) -> bool:
    """Return whether the point of a certificate proves its claim, in plain fractions."""
    evidence = [h["evidence"] for h in document["proof"]["hypotheses"]]
    x = [Fraction(t) for t in evidence[0]["x"]]
    rows = {
        key: [[int(t) for t in row.split()] for row in rows]
        for key, rows in claim["domain"].items()
    }
    point = [*x, Fraction(-1)]
    excess = {
        k: [sum((a * t for a, t in zip(row, point, strict=True)), Fraction()) for row in r]
        for k, r in rows.items()
    }
    inside = max(excess["inequalities"], default=Fraction(0)) <= 0 and not any(excess["equations"])
    f, g = (evaluate(claim[key]["inline"], x) for key in ("network", "other"))
    stated = [[Fraction(t) for t in evidence[1][name]] for name in "fg"]
    return inside and f != g and stated == [f, g]


def _survives_runtimes(claim: dict[str, Any], network: Network) -> bool:
    """Return whether a claim holds for the prover's bound and for a hundred simulated runtimes.

    The runtimes use every freedom that the theorem allows.
    """
    low, high, limits = (
        [Fraction(text) for text in entry]
        for entry in (*claim["domain"].values(), claim["at-most"])
    )
    found = runtime_error(network, (low, high), arithmetic=claim["arithmetic"])
    if any(
        own is None or own * (1 - Fraction(1, 2**20)) > limit
        for own, limit in zip(found.bounds, limits, strict=True)
    ):
        return False
    layers, chance = plain(network), Random(0)
    for seed in range(100):
        x = [
            rounded(a + Fraction(chance.randint(0, 8), 8) * (b - a), claim["arithmetic"])
            for a, b in zip(low, high, strict=True)
        ]
        if all(a <= v <= b for a, v, b in zip(low, x, high, strict=True)):
            theirs = Runtime(claim["arithmetic"], seed).run(layers, x)
            if any(
                abs(v - w) > limit for v, w, limit in zip(theirs, network(x), limits, strict=True)
            ):
                return False
    return True
