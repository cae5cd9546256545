"""The checker's rule for Theorem D: attacks, changes that do not matter, and limits.

The files in tests/certificates named deep-* contain a certificate for each requirement of the rule
that a small network shows alone. Types of ridges are tested here; the weights that sets of families
show are tested in `test_deep_families.py`.
"""

from __future__ import annotations

import copy
import json
import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from polyrelu import checker
from polyrelu.certificate import Certificate, Hypothesis, PartClaim, read_certificate
from polyrelu.certificate.describe import describe
from polyrelu.network import from_arrays, from_document, to_document
from polyrelu.proofs.deep.ridges import DeepNetwork
from tests.generators.campaigns import case, few_and_all
from tests.generators.files import CERTIFICATES

VALID = sorted((CERTIFICATES / "valid").glob("deep-*.json"))
HYPOTHESES = ["ridges", "families", "signs", "weights", "membership"]


def load(name: str, folder: str = "valid") -> dict[str, Any]:
    document: dict[str, Any] = json.loads((CERTIFICATES / folder / f"deep-{name}.json").read_text())
    return document


def evidence(document: dict[str, Any], name: str) -> Any:
    return document["proof"]["hypotheses"][HYPOTHESES.index(name)]["evidence"]


def slices(document: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = evidence(document, "ridges")["slices"]
    return found


def verdict(document: dict[str, Any]) -> tuple[str, str]:
    report = checker.check_bytes(json.dumps(document).encode())
    return report.verdict, report.step


def with_slice(**parts: Any) -> tuple[str, str]:
    """Return the verdict on the corners with another first slice."""
    document = load("corners")
    slices(document)[0].update(parts)
    return verdict(document)


def with_ridge(place: int, **parts: Any) -> tuple[str, str]:
    """Return the verdict on the corners with other entries (u, v, mask) in a ridge."""
    document = load("corners")
    ridge = dict(zip(("u", "v", "mask"), slices(document)[0]["ridges"][place], strict=True))
    slices(document)[0]["ridges"][place] = list((ridge | parts).values())
    return verdict(document)


def claimed(name: str, **parts: Any) -> tuple[str, str]:
    """Return the verdict on a certificate with another claim."""
    document = load(name)
    document["claim"].update(parts)
    return verdict(document)


def rows(document: dict[str, Any]) -> list[tuple[list[list[Fraction]], list[Fraction]]]:
    """Return weights and biases of the layers."""
    layers = []
    for layer in document["claim"]["network"]["inline"]["layers"]:
        divisor = int(layer["denominator"])
        weights = [
            [Fraction(int(x), divisor) for x in row.split()] for row in layer["weights"][0]["rows"]
        ]
        layers.append((weights, [Fraction(int(x), divisor) for x in layer["bias"].split()]))
    return layers


def dot(left: list[Fraction], right: list[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(left, right, strict=True)), Fraction())


def preactivations(document: dict[str, Any], x: list[Fraction]) -> list[Fraction]:
    """Return the preactivations of all hidden neurons at a point."""
    found: list[Fraction] = []
    for weights, bias in rows(document)[:-1]:
        z = [dot(row, x) + b for row, b in zip(weights, bias, strict=True)]
        found += z
        x = [max(value, Fraction(0)) for value in z]
    return found


# ---- Ridges


def meeting_point(
    document: dict[str, Any], entry: dict[str, Any], ridge: list[Any]
) -> list[Fraction]:
    """Return the point of a plane where two neurons vanish, with the pattern of the mask.

    Affine interpolation finds it.
    """
    point, *directions = (
        [Fraction(x) for x in row] for row in (entry["point"], *entry["directions"])
    )
    u, v, mask = ridge[0], ridge[1], int(ridge[2])

    def both(s: int, t: int) -> list[Fraction]:
        x, found = (
            [p + s * a + t * b for p, a, b in zip(point, *directions, strict=True)],
            list[Fraction](),
        )
        for weights, bias in rows(document)[:-1]:
            z = [dot(row, x) + b for row, b in zip(weights, bias, strict=True)]
            x = [value * (mask >> len(found) + i & 1) for i, value in enumerate(z)]
            found += z
        return [found[u], found[v]]

    (c, z), (a, x), (b, y) = both(0, 0), both(1, 0), both(0, 1)
    a, b, x, y = a - c, b - c, x - z, y - z
    determinant = a * y - b * x
    s, t = (b * z - c * y) / determinant, (c * x - a * z) / determinant
    return [p + s * d + t * e for p, d, e in zip(point, *directions, strict=True)]


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_listed_planes_meet_ridges(path: Path) -> None:
    """At these points the network has the signs of the masks, and exactly two zeros.

    The test evaluates the network and uses no forms.
    """
    document = json.loads(path.read_text())
    for entry in slices(document):
        for ridge in entry["ridges"]:
            values = preactivations(document, meeting_point(document, entry, ridge))
            assert [w for w, value in enumerate(values) if value == 0] == ridge[:2]
            assert sum(1 << w for w, value in enumerate(values) if value > 0) == int(ridge[2])


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_another_basis_of_the_plane_changes_nothing(path: Path) -> None:
    document, rng = json.loads(path.read_text()), Random(1)
    for entry in slices(document):
        point, one, other = (
            [Fraction(x) for x in row] for row in (entry["point"], *entry["directions"])
        )
        a, b, c = (rng.randint(1, 9) for _ in range(3))
        d = rng.randint(-9, 0)  # ad < bc
        s, t = Fraction(rng.randint(-99, 99), 7), Fraction(rng.randint(-99, 99), 10**30)
        entry["point"] = [str(p + s * x + t * y) for p, x, y in zip(point, one, other, strict=True)]
        entry["directions"] = [
            [str(Fraction(f * x + g * y) * size) for x, y in zip(one, other, strict=True)]
            for (f, g), size in (((a, b), Fraction(-1, 3)), ((c, d), Fraction(10**40)))
        ]
    assert verdict(document) == ("accepted", "")


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_order_repetition_and_slices_of_ridges_do_not_matter(path: Path) -> None:
    """Values that the checker keeps from one ridge to the next equal values computed anew."""
    document, rng = json.loads(path.read_text()), Random(2)
    listed = [
        ({**entry, "ridges": []}, ridge) for entry in slices(document) for ridge in entry["ridges"]
    ]
    order = list(range(len(listed)))
    rng.shuffle(order)
    order += [0, 0]
    new: list[dict[str, Any]] = []
    for i in order:
        entry, ridge = listed[i]
        if (
            not new
            or new[-1]["point"] != entry["point"]
            or new[-1]["directions"] != entry["directions"]
        ):
            new.append(copy.deepcopy(entry))
        new[-1]["ridges"].append(ridge)
    evidence(document, "ridges")["slices"] = new
    for key, name in (("families", "chosen"), ("families", "joined"), ("weights", "joined")):
        evidence(document, key)[name] = [
            [w, order.index(r)] for w, r in evidence(document, key)[name]
        ]
    assert verdict(document) == ("accepted", "")


def test_zero_directions_huge_numbers_and_empty_lists() -> None:
    huge = "1" + "0" * 900
    zero, line = [["0", "0"], ["0", "0"]], [["1", "0"], ["0", "0"]]
    for directions in (
        zero,
        line,
        line[::-1],
        [["1", "1"], ["-2", "-2"]],
        [[huge, "1"], [huge, "1"]],
    ):
        assert with_slice(directions=directions) == ("rejected", "ridges")
    assert with_slice(directions=[[huge, "0"], ["0", f"1/{huge}"]]) == ("accepted", "")
    assert with_slice(point=[huge, f"-{huge}"]) == ("accepted", "")
    assert with_slice(point=[], directions=[[], []]) == ("rejected", "ridges")
    assert with_slice(ridges=[]) == ("rejected", "families")
    document = load("corners")
    slices(document).clear()
    assert verdict(document) == ("rejected", "families")


def of_inputs(entry: dict[str, Any], inputs: list[int]) -> dict[str, Any]:
    """Return a slice with the coordinates of some inputs only."""
    point, *directions = (
        list(map(Fraction, row)) for row in (entry["point"], *entry["directions"])
    )
    scale = math.lcm(*(x.denominator for x in point))
    scales = [math.lcm(*(x.denominator for x in row)) for row in directions]
    return {
        "inputs": " ".join(map(str, inputs)),
        "denominator": str(scale),
        "point": " ".join(str(point[k] * scale) for k in inputs),
        "directions": [
            " ".join(str(row[k] * factor) for k in inputs)
            for row, factor in zip(directions, scales, strict=True)
        ],
        "ridges": entry["ridges"],
    }


def test_coordinates_of_some_inputs_only() -> None:
    """With `inputs` a slice lists the coordinates of these inputs; all others are 0."""
    for name in ("corners", "by-sight-in-space"):
        document = load(name)
        evidence(document, "ridges")["slices"] = [
            of_inputs(entry, list(range(len(entry["point"])))) for entry in slices(document)
        ]
        assert verdict(document) == ("accepted", "")
    document = load("corners")
    good = of_inputs(slices(document)[0], [0, 1])
    changes: list[tuple[str, Any, str]] = [
        ("inputs", "1 0", "rejected"),
        ("inputs", "0 0", "rejected"),
        ("inputs", "0 2", "rejected"),
        ("inputs", "-1 0", "rejected"),
        ("inputs", "0", "rejected"),
        ("inputs", "0 1 2", "rejected"),
        ("denominator", "0", "rejected"),
        ("inputs", "", "unreadable"),
        ("inputs", [0, 1], "unreadable"),
        ("denominator", "-1", "unreadable"),
        ("point", ["0", "0"], "unreadable"),
        ("directions", ["1 0"], "unreadable"),
    ]
    for key, value, expected in changes:
        slices(document)[0] = good | {key: value}
        assert verdict(document)[0] == expected, (key, value)


def test_inputs_that_an_earlier_slice_lists() -> None:
    """A slice with a denominator but no `inputs` has the inputs that were listed last."""
    for name in ("planes", "by-sight-in-space"):
        document = load(name)
        first, *others = slices(document)
        inputs = list(range(len(first["point"])))
        short = [of_inputs(entry, inputs) for entry in others]
        for entry in short:
            del entry["inputs"]
        evidence(document, "ridges")["slices"] = [of_inputs(first, inputs), *short]
        assert verdict(document) == ("accepted", "")
        # planes that list all coordinates may stand between
        evidence(document, "ridges")["slices"] = [of_inputs(first, inputs), others[0], *short[1:]]
        assert verdict(document) == ("accepted", "")
        for wrong in (inputs[:1], [*inputs, len(inputs)], [1, 0, *inputs[2:]]):
            start = of_inputs(first, inputs) | {"inputs": " ".join(map(str, wrong))}
            evidence(document, "ridges")["slices"] = [start, *short]
            assert verdict(document)[0] == "rejected", wrong
        evidence(document, "ridges")["slices"] = [first, *short]
        assert verdict(document) == ("rejected", "ridges")


@pytest.mark.parametrize("folder", ["valid", "invalid"])
def test_one_rank_for_all_pieces_changes_no_verdict(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where all earlier layers are active, one rank replaces the eliminations at single pieces."""
    names = sorted(path.stem[5:] for path in (CERTIFICATES / folder).glob("deep-*.json"))
    verdicts = [verdict(load(name, folder)) for name in names]
    uses = list[tuple[int, int]]()
    by_sight = checker.by_sight

    def noting(*arguments: Any) -> tuple[int, int]:
        """Note what one rank shows, but let the elimination decide."""
        uses.append(by_sight(*arguments))
        return 0, 0

    monkeypatch.setattr(checker, "by_sight", noting)
    assert [verdict(load(name, folder)) for name in names] == verdicts
    assert any(on for on, _ in uses)


def test_the_bits_of_a_mask() -> None:
    """No bit can be added, moved or left out, and a mask has one spelling."""
    document = load("three-layers")
    count = sum(
        len(layer["bias"].split())
        for layer in document["claim"]["network"]["inline"]["layers"][:-1]
    )
    for entry in slices(document):
        for i, ridge in enumerate(entry["ridges"]):
            for bit in range(count + 2):
                other = copy.deepcopy(document)
                slices(other)[0]["ridges"][i][2] = str(int(ridge[2]) ^ 1 << bit)
                assert verdict(other) == ("rejected", "ridges")
    for text in ("-2", "+2", "02", "0x2", " 2", ""):
        assert with_ridge(1, mask=text)[0] == "unreadable"
    assert with_ridge(1, mask="0x2" + "0" * 4000) == ("rejected", "ridges")


def test_zeros_in_every_order() -> None:
    for u, v in (
        (0, 0),
        (1, 0),
        (2, 0),
        (3, 1),
        (0, 4),
        (4, 5),
        (999999999, 999999999),
        (0, 999999999),
    ):
        assert with_ridge(0, u=u, v=v) == ("rejected", "ridges")


# ---- Families


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_families_are_listed_once(path: Path) -> None:
    """A family that is listed cannot be joined again, by any of its ridges."""
    document = json.loads(path.read_text())
    listed = [pair for key in ("families", "weights") for pair in evidence(document, key)["joined"]]
    for pair in [*evidence(document, "families")["chosen"], *listed]:
        for key in ("families", "weights"):
            other = copy.deepcopy(document)
            evidence(other, key)["joined"].append(pair)
            assert verdict(other)[0] == "rejected"
    for key in ("families", "weights"):
        for pair in ([10**8, 0], [0, 10**8]):
            other = copy.deepcopy(document)
            evidence(other, key)["joined"].append(pair)
            assert verdict(other) == ("rejected", key)


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_no_other_list_of_neurons_is_chosen(path: Path) -> None:
    document = json.loads(path.read_text())
    chosen = evidence(document, "families")["chosen"]
    for other in (
        chosen[1:],
        chosen[:-1],
        chosen[::-1],
        [*chosen, chosen[-1]],
        [chosen[0], *chosen],
        [],
    ):
        copied = copy.deepcopy(document)
        evidence(copied, "families")["chosen"] = other
        assert verdict(copied) == ("rejected", "families")


def without(document: dict[str, Any], gone: int) -> dict[str, Any]:
    """Return a certificate without a ridge; families that the ridge named are not named."""
    new, count = copy.deepcopy(document), -1
    for entry in slices(new):
        for k in range(len(entry["ridges"])):
            count += 1
            if count == gone:
                del entry["ridges"][k]
                break
    for key, name in (("families", "chosen"), ("families", "joined"), ("weights", "joined")):
        evidence(new, key)[name] = [
            [w, r - (r > gone)] for w, r in evidence(new, key)[name] if r != gone
        ]
    return new


def test_what_is_needed() -> None:
    """In the hand-made certificates no ridge can be left out."""
    for name in ("corners", "planes", "sources", "three-layers"):
        document = load(name)
        for gone in range(sum(len(entry["ridges"]) for entry in slices(document))):
            assert verdict(without(document, gone))[0] == "rejected"


# ---- Claims in part


def test_parts_of_a_whole() -> None:
    """The ridges of a complete proof prove a part as well, but no part with other neurons."""
    document = load("three-layers")
    document["proof"]["theorem"], chosen = "deep-part", evidence(document, "families")["chosen"]
    for layers, neurons in (
        (1, []),
        (1, [0]),
        (1, [1]),
        (1, [0, 1]),
        (2, []),
        (2, [0]),
        (2, [1]),
        (2, [0, 1]),
    ):
        claim = {"kind": "determined", "layers": layers, "neurons": neurons}
        document["claim"] = {**document["claim"], **claim}
        wanted = [*range(2 * layers), *(2 * layers + i for i in neurons)]
        evidence(document, "families")["chosen"] = [pair for pair in chosen if pair[0] in wanted]
        assert verdict(document) == ("accepted", "")
        evidence(document, "families")["chosen"] = chosen
        assert verdict(document) == (
            ("rejected", "families") if len(wanted) < 6 else ("accepted", "")
        )


def test_no_part_beyond_the_layers() -> None:
    for name in ("part-rows", "part-neurons", "part-last-layer"):
        for layers in (0, 3, 4, 10**8):
            for neurons in ([], [0], [0, 1]):
                assert claimed(name, layers=layers, neurons=neurons) == ("rejected", "claim")
    assert claimed("part-rows", neurons=[10**8]) == ("rejected", "claim")


def test_a_shallow_network_has_no_part() -> None:
    """For L = 2 ridges of type A alone prove the full claim; a part is never claimed.

    The proof has no signs and weights.
    """
    network = {
        "format": "polyrelu-network",
        "version": 1,
        "inputs": 2,
        "last": "affine",
        "layers": [
            {"denominator": "1", "bias": "0 0", "weights": [{"from": 0, "rows": ["1 0", "0 1"]}]},
            {"denominator": "1", "bias": "0", "weights": [{"from": 1, "rows": ["1 1"]}]},
        ],
    }
    document = load("corners")
    document["claim"]["network"] = {"sha256": from_document(network).sha256, "inline": network}
    slices(document)[0]["ridges"] = [[0, 1, "0"]]
    evidence(document, "families")["chosen"] = [[0, 0], [1, 0]]
    document["proof"]["hypotheses"][-1]["evidence"] = {"status": "open"}
    assert verdict(document) == ("accepted", "")
    for key, value in (("order", [0]), ("joined", [[0, 0]])):
        other = copy.deepcopy(document)
        evidence(other, "weights")[key] = value
        assert verdict(other) == ("rejected", "weights")
    document["proof"]["theorem"] = "deep-part"
    for layers in (0, 1, 2):
        document["claim"] |= {"kind": "determined", "layers": layers, "neurons": []}
        assert verdict(document) == ("rejected", "claim")


def test_a_layer_of_one_neuron_before_the_last_one() -> None:
    """Later layers are functions of one form, so that no chain of crossings leads up from it."""
    document = load("corners")
    network = document["claim"]["network"]["inline"]
    network["layers"][0] = {
        "denominator": "1",
        "bias": "0",
        "weights": [{"from": 0, "rows": ["1 1"]}],
    }
    network["layers"][1]["weights"][0]["rows"] = ["1", "-1"]
    document["claim"]["network"]["sha256"] = from_document(network).sha256
    for ridge in ([0, 1, "0"], [1, 2, "0"], [1, 2, "1"], [0, 2, "2"]):
        slices(document)[0]["ridges"] = [ridge]
        assert verdict(document) == ("rejected", "ridges")


def test_what_is_claimed_in_words(tmp_path: Path) -> None:
    wanted = {
        "part-rows": "in layer 1 and in layer 2 up to signs of rows [W|b]",
        "part-neurons": "in layer 1 and in neuron 1 of layer 2 up to signs of rows [W|b]",
        "part-last-layer": "in layers 1 to 2 and in neuron 1 of layer 3 up to signs of rows [W|b]",
        "part-by-sight": "in layer 1 and in neurons 0, 1 of layer 2 up to signs of rows [W|b]",
    }
    for name, words in wanted.items():
        path = CERTIFICATES / "valid" / f"deep-{name}.json"
        assert (
            f"is determined on R^n among transversal parameters {words}: "
            in checker.check_file(path).statement
        )
        assert words in " ".join(describe(read_certificate(path)).split())
        document = json.loads(path.read_text())
        claim = document["claim"]
        network = from_document(claim["network"]["inline"])
        hypotheses = [
            Hypothesis("deep-part", entry["id"], entry["evidence"])
            for entry in document["proof"]["hypotheses"]
        ]
        made = Certificate(
            PartClaim(network, claim["layers"], tuple(claim["neurons"])),
            "deep-part",
            tuple(hypotheses),
        )
        assert words in str(made.claim)
        assert {**made.to_document()[0], "unverified": document["unverified"]} == document
        made.save(tmp_path / "part.json")
        assert checker.check_file(tmp_path / "part.json").verdict == "accepted"


# ---- Limits


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """There are limits on signs at ridges, and on the cost of slices with long numbers."""
    document = load("corners")
    slices(document)[0]["ridges"] *= 2
    monkeypatch.setattr(checker, "MAX_SIGNS", 15)
    assert verdict(document) == ("unreadable", "ridges")
    monkeypatch.undo()
    document = load("corners")
    data = json.dumps(document).encode()
    cost = checker.check_bytes(data).cost
    assert checker.check_bytes(data, budget=cost).verdict == "accepted"
    assert checker.check_bytes(data, budget=cost // 2).verdict == "unreadable"
    # Their least common multiple is too long.
    long = [f"1/{hex(2**16_000 + k)}" for k in (1, 3, 5, 7, 9)]
    document = load("corners")
    document["claim"]["network"] = wide_network(5)
    slices(document)[0].update(point=long, directions=[["1"] * 5, long])
    assert verdict(document) == ("unreadable", "ridges")


def wide_network(inputs: int) -> dict[str, Any]:
    """Return a reference to a network with three neurons in each of two hidden layers."""
    widths = [inputs, 3, 3, 1]
    layers = [
        {
            "denominator": "1",
            "bias": " ".join(["1"] * m),
            "weights": [{"from": k, "rows": [" ".join(["1"] * n)] * m}],
        }
        for k, (n, m) in enumerate(pairwise(widths))
    ]
    network = {
        "format": "polyrelu-network",
        "version": 1,
        "inputs": inputs,
        "layers": layers,
        "last": "affine",
    }
    return {"sha256": from_document(network).sha256, "inline": network}


def test_columns_and_elimination() -> None:
    """Ranks modulo P equal ranks of plain elimination in fractions, for small integers."""
    rng, meter = Random(3), checker.Meter()
    for _ in range(200):
        height, width = rng.randint(1, 6), rng.randint(1, 6)
        matrix = [[rng.choice((0, 0, 1, -1, 2)) for _ in range(width)] for _ in range(height)]
        basis: dict[int, int] = {}
        for row in matrix:
            checker.reduce_into(basis, [x % checker.P for x in row], checker.P, meter)
        assert sorted(basis) == sorted(checker.pivot_columns(matrix, meter))
        for row in matrix:  # a row in the span adds nothing
            checker.reduce_into(basis, [3 * x % checker.P for x in row], checker.P, meter)
        assert sorted(basis) == sorted(checker.pivot_columns(matrix, meter))
        assert all(
            0 <= x < checker.P
            for c, row in basis.items()
            for x in checker.unpack(row, width - 1 - c, checker.P)
        )


def neurons_of(network: dict[str, Any]) -> checker.Neurons:
    meter = checker.Meter()
    return checker.Neurons(checker.read_network(network, "network", meter), meter)


def modulo(x: Fraction) -> int:
    return x.numerator * pow(x.denominator, -1, checker.P) % checker.P


def parallel(left: list[Any], right: list[Any]) -> bool:
    """Return whether two vectors are multiples of each other modulo P, and both or none is 0."""
    pairs = [(x, y) for x, y in zip(left, right, strict=True) if x or y]
    return all(x and y for x, y in pairs) and not any(
        modulo(x * q - y * r) for (x, y), (r, q) in pairwise(pairs)
    )


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_forms_and_derivatives(path: Path) -> None:
    """Forms and derivatives equal plain fractions up to the positive factors of layers.

    This holds for any mask, whether a ridge has it or not.
    """
    document, rng = json.loads(path.read_text()), Random(4)
    claim = document["claim"]
    neurons = neurons_of(claim["network"]["inline"])
    derivatives = checker.Derivatives(neurons)
    starts, inputs = neurons.starts, neurons.network.widths[0]
    vectors = [[Fraction(rng.randint(-99, 99)) for _ in range(inputs)] for _ in range(3)]
    texts = [list(map(str, vector)) for vector in vectors]
    place = checker.PlaneForms(neurons, {"point": texts[0], "directions": texts[1:]})
    for _ in range(20):
        mask = rng.getrandbits(starts[-1])
        place.move(mask)
        here = masked(document, mask, vectors[0])
        moved = [
            masked(document, mask, [x + y for x, y in zip(vectors[0], way, strict=True)])
            for way in vectors[1:]
        ]
        for k, scale in enumerate(place.scales):
            for i, form in enumerate(place.forms[k], starts[k]):
                assert [Fraction(x, scale) for x in form] == [
                    here[i],
                    *(there[i] - here[i] for there in moved),
                ]
        for k in range(inputs):
            there = masked(document, mask, [x + (j == k) for j, x in enumerate(vectors[0])])
            for layer in range(len(neurons.widths)):
                on = [w for w in range(starts[layer], starts[layer + 1]) if mask >> w & 1]
                assert parallel(
                    derivatives.slopes(layer, mask, k), [there[w] - here[w] for w in on]
                )
        for u in range(starts[-1]):
            there = masked(document, mask & ~(1 << u), vectors[0], u)
            here = masked(document, mask & ~(1 << u), vectors[0])
            jump = [y - x for x, y in zip(here, there, strict=True)]
            assert (derivatives.influence(u, mask & ~(1 << u)) != 0) == any(jump[starts[-1] :])
            for v in range(starts[neurons.layer[u] + 1], starts[-1]):
                assert (derivatives.bend(u, v, mask & ~(1 << u)) != 0) == (jump[v] != 0)


@pytest.mark.parametrize("count", few_and_all(8, 40))
def test_kinds_against_jumps(count: int) -> None:
    for widths in ((2, 3, 3, 2), (2, 2, 3, 2, 1), (2, 2, 1, 2, 2, 1)):
        for among in ("transversal", "regular"):
            with case(widths, among):
                check_kinds_against_jumps(widths, among, count)


def check_kinds_against_jumps(widths: tuple[int, ...], among: Any, count: int) -> None:
    """Types of ridges equal what jumps of f show, for any two neurons and any mask.

    Weights are small, so that terms cancel. The test covers what is visible and what bends and, for
    regular competitors, whether f is constant somewhere around. The prover agrees.
    """
    rng, kinds, unclear = Random(5), Counter[str](), 0
    for _ in range(count):
        network = from_arrays(
            [
                ([[rng.choice((-1, 0, 1, 1)) for _ in range(n)] for _ in range(m)], [0] * m)
                for n, m in pairwise(widths)
            ]
        )
        document = {
            "claim": {
                "kind": "identifiable",
                "among": among,
                "network": {"inline": to_document(network)},
            }
        }
        subject = neurons_of(to_document(network))
        ridges = checker.Ridges(subject, is_regular=among == "regular")
        deep_network = DeepNetwork.of(network, among)
        for _ in range(20):
            u, v = sorted(rng.sample(range(subject.starts[-1]), 2))
            mask = rng.getrandbits(subject.starts[-1]) & ~(1 << u | 1 << v)
            ridges.add(u, v, mask)
            expected = kind_by_jumps(document, subject, u, v, mask)
            if among == "regular" and expected and not is_clear(document, u, v, mask, widths):
                unclear += expected in "AB"
                expected = ""
            found = ridges.listed[-1].type
            assert found == expected == (deep_network.ridge(u, v, mask).kind or "")
            kinds[found] += 1
    # With one neuron in a layer f is constant nearly everywhere.
    rare = among == "regular" and 1 in widths[1:-1]
    assert rare or all(kinds[kind] for kind in ("", "A", "B"))
    assert (kinds["C"] > 0) == (among == "transversal")
    assert (unclear > 0) == (among == "regular")


def is_clear(document: dict[str, Any], u: int, v: int, mask: int, widths: tuple[int, ...]) -> bool:
    """Return whether f has a gradient on the four sectors, from values at 0 and at unit vectors."""
    points = [[Fraction(int(k == j)) for j in range(widths[0])] for k in range(-1, widths[0])]
    for sector in (mask, mask | 1 << u, mask | 1 << v, mask | 1 << u | 1 << v):
        origin, *others = (masked(document, sector, x)[-widths[-1] :] for x in points)
        if all(value == origin for value in others):
            return False
    return True


def kind_by_jumps(
    document: dict[str, Any], subject: checker.Neurons, u: int, v: int, mask: int
) -> str:
    """Return the type of a ridge, from the change when one activation is larger by 1."""

    def jump(on: int, w: int) -> list[Fraction]:
        origin = [Fraction(0)] * subject.network.widths[0]
        pairs = zip(masked(document, on, origin), masked(document, on, origin, w), strict=True)
        return [after - before for before, after in pairs]

    later, (first, last) = subject.starts[-1], (subject.layer[w] for w in (u, v))
    of_v = any(jump(mask, v)[later:])
    of_u_off, of_u_on = (any(jump(mask | on << v, u)[later:]) for on in (0, 1))
    if not of_v or not of_u_on:
        return ""
    if first == last:
        return "A" if of_u_off else ""
    if not jump(mask, u)[v]:
        return ""
    layer_is_off = not any(
        mask >> w & 1 for w in range(subject.starts[last], subject.starts[last + 1])
    )
    return "B" if of_u_off else "C" * layer_is_off


def masked(
    document: dict[str, Any], mask: int, x: list[Fraction], raised: int = -1
) -> list[Fraction]:
    """Return all preactivations, outputs included, where the neurons of a mask are on.

    The activation of one neuron is larger by 1.
    """
    found: list[Fraction] = []
    for weights, bias in rows(document):
        z = [dot(row, x) + b for row, b in zip(weights, bias, strict=True)]
        x = [value * (mask >> w & 1) + (w == raised) for w, value in enumerate(z, len(found))]
        found += z
    return found


def test_weights_that_are_passed_over_are_paid_for() -> None:
    """The cost counts weights of neurons that are off where few neurons are on before a wide layer.

    Otherwise a file with many masks of the later layer would take hours far below the limit.
    """
    width = 60
    network = from_arrays(
        [
            ([[1, 2]] * width, [1] * width),
            ([[1] * width] * width, [1] * width),
            ([[1] * width], [0]),
        ]
    )
    ridges = checker.Ridges(neurons_of(to_document(network)), is_regular=True)
    meter = ridges.neurons.meter
    before = meter.work
    ridges.add(width, width + 1, 1 | (1 << 2 * width) - (4 << width))
    assert meter.work - before > width * width // 4 * 80
