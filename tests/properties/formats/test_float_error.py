"""The bound on rounding errors against hostile float runtimes, and certificates in the checker."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from polyrelu import checker
from polyrelu.errors import DomainError
from polyrelu.formats import RuntimeErrorBound, read, runtime_error
from polyrelu.formats.graph.float_error import float_arithmetic, ranges
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import Proved, Undecided
from polyrelu.proofs.runtime_error import prove_runtime_error
from tests.generators.campaigns import case, few_and_all, few_some_and_all
from tests.oracles.float_runtime import Runtime, rounded

Draw = Callable[[random.Random], Fraction]


def _gaussian(chance: random.Random) -> Fraction:
    return Fraction(float(np.float32(chance.gauss(0, 1))))


def _spread(chance: random.Random) -> Fraction:
    return Fraction(float(np.float32(chance.gauss(0, 1)))) * Fraction(2) ** chance.choice(
        [-20, -8, 0, 0, 6]
    )


def _tiny(chance: random.Random) -> Fraction:
    """Draw numbers around the end of the normal range."""
    return Fraction(float(np.float32(chance.gauss(0, 1)))) * Fraction(2) ** chance.choice(
        [-130, -125, -64, 0]
    )


def _rational(chance: random.Random) -> Fraction:
    """Draw numbers that no float format holds."""
    return Fraction(chance.randint(-9, 9), chance.choice([3, 7, 10]))


def _cancelling(chance: random.Random) -> Fraction:
    return chance.choice([-1, 1]) * (1 + Fraction(chance.randint(-3, 3), 2**20))


_DRAWS: dict[str, Draw] = {
    "gaussian": _gaussian,
    "spread": _spread,
    "tiny": _tiny,
    "rational": _rational,
    "cancelling": _cancelling,
}


def _network(chance: random.Random, draw: Draw) -> Network:
    widths = [chance.randint(1, 5) for _ in range(chance.randint(2, 4))]
    zero = chance.random() < 0.3
    pairs = [
        (
            [
                [
                    draw(chance) if not zero or chance.random() < 0.6 else Fraction(0)
                    for _ in range(n)
                ]
                for _ in range(m)
            ],
            [draw(chance) for _ in range(m)],
        )
        for n, m in pairwise(widths)
    ]
    return from_arrays(pairs)


def _layers(network: Network) -> list[tuple[list[tuple[Fraction, ...]], list[Fraction]]]:
    return [
        (network.weight(k).rows(), list(network.bias(k).entries()))
        for k in range(1, network.depth + 1)
    ]


def _box(chance: random.Random, inputs: int, draw: Draw) -> tuple[list[Fraction], list[Fraction]]:
    centres, radii = (
        [draw(chance) for _ in range(inputs)],
        [abs(draw(chance)) for _ in range(inputs)],
    )
    if chance.random() < 0.3:
        radii = [Fraction(0)] * inputs
    centres = [rounded(c, "float32") for c in centres]
    return [c - r for c, r in zip(centres, radii, strict=True)], [
        c + r for c, r in zip(centres, radii, strict=True)
    ]


def _point(
    chance: random.Random, low: list[Fraction], high: list[Fraction], format_: str
) -> list[Fraction]:
    """Draw numbers of the format in the box, also its corners where the format holds them."""
    point = []
    for a, b in zip(low, high, strict=True):
        share = Fraction(chance.choice([0, 1, 1, 2, 3]), 3)
        number = rounded(a + share * (b - a), format_)
        point.append(number if a <= number <= b else rounded((a + b) / 2, format_))
    return point


@pytest.mark.parametrize("trials", few_some_and_all(10, 30, 60))
def test_no_runtime_is_further_away_than_the_bound(trials: int) -> None:
    for kind, format_ in product(_DRAWS, ["float32", "float64"]):
        with case(kind, format_):
            _check_bounds(kind, format_, trials)


def _check_bounds(kind: str, format_: str, trials: int) -> None:
    chance, draw, worst = random.Random(kind), _DRAWS[kind], Fraction(0)
    for trial in range(trials):
        network = _network(chance, draw)
        low, high = _box(chance, network.num_inputs, draw)
        found = runtime_error(network, (low, high), arithmetic=format_)
        assert found.is_layered
        layers = _layers(network)
        for seed in range(8):
            x = _point(chance, low, high, format_)
            if not all(a <= v <= b for a, v, b in zip(low, x, high, strict=True)):
                continue
            theirs, exact = Runtime(format_, 100 * trial + seed).run(layers, x), network(x)
            for value, true, bound, bottom, top in zip(
                theirs, exact, found.bounds, found.low, found.high, strict=True
            ):
                assert bound is not None
                assert bottom is not None
                assert top is not None
                assert abs(value - true) <= bound
                assert bottom <= true <= top
                worst = max(worst, abs(value - true) / bound)
    assert worst > Fraction(trials, 3000)  # the bound is not vacuous


def _certificate(found: RuntimeErrorBound, factor: Fraction = Fraction(1)) -> bytes:
    outcome = prove_runtime_error(found)
    assert isinstance(outcome, Proved)
    document, _ = outcome.certificate.to_document()
    limits = document["claim"]["at-most"]
    document["claim"]["at-most"] = [str(Fraction(limit) * factor) for limit in limits]
    return json.dumps(document).encode()


@pytest.mark.parametrize("kind", _DRAWS)
def test_certificates_are_accepted_and_smaller_bounds_are_not(kind: str) -> None:
    chance, draw = random.Random(kind), _DRAWS[kind]
    for _ in range(40):
        network = _network(chance, draw)
        low, high = _box(chance, network.num_inputs, draw)
        found = runtime_error(
            network, (low, high), arithmetic=chance.choice(["float32", "float64"])
        )
        report = checker.check_bytes(_certificate(found))
        assert report.verdict == "accepted", report
        assert "has a runtime-error of at most" in report.statement
        smaller = checker.check_bytes(_certificate(found, 1 - Fraction(1, 1000)))
        assert (smaller.verdict, smaller.step) == ("rejected", "bound")


def test_trailing_relu_and_identity_weights() -> None:
    network = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], ["1/2"])], last="relu")
    found = runtime_error(network, "box:-1,1")
    assert checker.check_bytes(_certificate(found)).verdict == "accepted"


def test_a_neuron_that_is_off_everywhere_has_no_error() -> None:
    network = from_arrays([([["1/3"]], [-5]), ([[1]], [0])])
    found = runtime_error(network, "box:0,1")
    assert found.worst is not None
    assert found.worst < Fraction(1, 2**100)


def test_overflow_is_undecided() -> None:
    network = from_arrays([([[2.0**100]], [0]), ([[2.0**20]], [0])])
    found = runtime_error(network, "box:0,1024")
    assert found.worst is None
    assert isinstance(prove_runtime_error(found), Undecided)
    assert runtime_error(network, "box:0,1024", arithmetic="float64").worst is not None
    assert (
        runtime_error(
            from_arrays([([[Fraction(2) ** 128]], [0])]), ([0], [Fraction(1, 2**60)])
        ).worst
        is None
    )


def test_domains_that_are_no_boxes() -> None:
    network = from_arrays([([[1, 1]], [0])])
    with pytest.raises(DomainError, match="lower corner has 1 coordinates, not 2"):
        runtime_error(network, ([0], [1, 1]))
    with pytest.raises(DomainError, match="the box is empty"):
        runtime_error(network, ([0, 2], [1, 1]))
    with pytest.raises(ValueError, match="no rounding bound is known for float16"):
        runtime_error(network, "box:0,1", arithmetic="float16")


def test_networks_with_skip_connections_have_a_bound_but_no_certificate() -> None:
    from polyrelu.exact import RationalMatrix
    from polyrelu.network import Block, Layer

    one = RationalMatrix.from_rows([[1]])
    layers = (Layer((Block(0, one),), one), Layer((Block(0, one), Block(1, one)), one))
    found = runtime_error(Network(1, layers), "box:-1,1")
    assert found.worst is not None
    assert not found.is_layered
    assert isinstance(prove_runtime_error(found), Undecided)


def test_corners_of_hostile_claims() -> None:
    network = from_arrays([([[1, -1], [2, 1]], [0, 1]), ([[1, 1]], [0])])
    good = json.loads(_certificate(runtime_error(network, "box:-1,1")))

    def verdict(change: Callable[[dict[str, object]], object]) -> str:
        document = json.loads(json.dumps(good))
        change(document["claim"])
        return checker.check_bytes(json.dumps(document).encode()).verdict

    assert verdict(lambda claim: None) == "accepted"
    assert verdict(lambda claim: claim.update(arithmetic="float64")) == "accepted"  # a weaker claim
    assert verdict(lambda claim: claim.update(arithmetic="float16")) == "unreadable"
    assert verdict(lambda claim: claim.update(arithmetic="float3")) == "unreadable"
    assert (
        verdict(lambda claim: claim.update(domain={"lower": ["-1"], "upper": ["1"]})) == "rejected"
    )
    assert (
        verdict(lambda claim: claim.update(domain={"lower": ["-1", "2"], "upper": ["1", "1"]}))
        == "rejected"
    )
    assert (
        verdict(lambda claim: claim.update(domain={"lower": ["-2", "-1"], "upper": ["1", "1"]}))
        == "rejected"
    )
    assert (
        verdict(lambda claim: claim.update(domain={"lower": ["-1", "0"], "upper": ["1", "1"]}))
        == "accepted"
    )
    assert verdict(lambda claim: claim.update(domain="R^n")) == "unreadable"
    assert verdict(lambda claim: claim.update({"at-most": []})) == "rejected"
    assert verdict(lambda claim: claim.update({"at-most": ["0"]})) == "rejected"
    assert verdict(lambda claim: claim.update({"at-most": ["-1"]})) == "rejected"
    assert verdict(lambda claim: claim.update({"at-most": ["1", "1"]})) == "rejected"
    assert verdict(lambda claim: claim.update({"at-most": ["2/4"]})) == "unreadable"
    assert verdict(lambda claim: claim.update({"at-most": ["0x1" + "0" * 300]})) == "unreadable"
    assert verdict(lambda claim: claim.update({"at-most": [str(10**900)]})) == "accepted"
    assert verdict(lambda claim: claim.update({"among": "all"})) == "unreadable"
    assert verdict(lambda claim: claim.update(kind="identifiable")) == "unreadable"


def test_the_theorem_belongs_to_its_claim() -> None:
    network = from_arrays([([[1, -1], [2, 1]], [0, 1]), ([[1, 1]], [0])])
    document = json.loads(_certificate(runtime_error(network, "box:-1,1")))
    document["proof"] = {"theorem": "affine", "hypotheses": []}
    assert checker.check_bytes(json.dumps(document).encode()).verdict == "rejected"
    claim = {
        "kind": "identifiable",
        "network": document["claim"]["network"],
        "domain": "R^n",
        "among": "all",
    }
    bound = [{"id": "bound", "status": "proved", "evidence": {}}]
    document |= {"claim": claim, "proof": {"theorem": "rounding", "hypotheses": bound}}
    assert checker.check_bytes(json.dumps(document).encode()).verdict == "rejected"


@pytest.mark.parametrize("count", few_and_all(600, 3000))
def test_the_bound_can_nearly_be_reached(count: int) -> None:
    """With a weight that float32 does not hold, a product and a sum there are three roundings.

    In some run nearly all three go in one direction, by nearly half a unit each.
    """
    chance, worst = random.Random(1), Fraction(0)
    for seed in range(count):
        weight = (
            1
            + Fraction(chance.randint(1, 1000), 2**23 * 1001)
            + Fraction(chance.randint(0, 99), 2**20)
        )
        x = 1 + Fraction(chance.randint(1, 2**10), 2**23)
        bias = Fraction(chance.randint(1, 1000), 2**24 * 1001)
        found = runtime_error(from_arrays([([[weight]], [bias])]), ([x], [x]))
        theirs = Runtime("float32", seed).run([([[weight]], [bias])], [x])[0]
        assert found.worst is not None
        worst = max(worst, abs(theirs - (weight * x + bias)) / found.worst)
    assert Fraction(3, 5) < worst < 1


@pytest.mark.parametrize("place", ["weight", "entry", "product", "sum"])
def test_scale_factors_anywhere_lose_no_more_than_the_bound(place: str, tmp_path: Path) -> None:
    """α W x + b near the end of the normal range, α applied in four places, small numbers lost."""
    pytest.importorskip("onnx")
    from tests.generators.onnx_files import constant, model, node, write

    chance = random.Random(place)

    def made(value: Fraction) -> Fraction:
        result = rounded(value, "float32")
        return result if abs(result) >= Fraction(1, 2**126) else Fraction(0)

    for trial in range(12):
        size = chance.randint(1, 40)
        alpha = Fraction(float(np.float32(2.0 ** chance.randint(-70, 10))))
        weights = [_scaled(chance, -64 if trial % 2 else -126) for _ in range(size)]
        x = [_scaled(chance, -63 if trial % 2 else 0) for _ in range(size)]
        bias = _scaled(chance, -126)
        nodes = [node("Gemm", "xab", "y", alpha=float(alpha))]
        constants = [constant("a", [[float(w)] for w in weights]), constant("b", [float(bias)])]
        imported = read(
            write(tmp_path, "net.onnx", model(nodes, constants, (1, size))), compare=False
        )
        assert imported.graph is not None
        found = ranges(imported.graph, [(x, x)], float_arithmetic("float32"))
        total = Fraction(0)
        for w, v in zip(map(made, weights), map(made, x), strict=True):
            if place == "weight":
                term = made(made(w * alpha) * v)
            elif place == "entry":
                term = made(made(v * alpha) * w)
            else:
                term = made(w * v)
            total = made(total + (made(term * alpha) if place == "product" else term))
        computed = made((made(total * alpha) if place == "sum" else total) + made(bias))
        exact = alpha * sum(w * v for w, v in zip(weights, x, strict=True)) + bias
        error = found[imported.graph.output].error[0, 0]
        assert abs(computed - exact) <= Fraction(float(error))


def _scaled(chance: random.Random, exponent: int) -> Fraction:
    return Fraction(float(np.float32(chance.uniform(0.25, 1)))) * Fraction(2) ** exponent
