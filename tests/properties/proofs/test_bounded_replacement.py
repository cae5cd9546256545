"""Theorem `bounded-replacement` on random deep networks, against evaluation and the prover.

The networks have 3 to 5 layers, small integer weights, and layers with negative weights, so that
boxes are bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from random import Random

import pytest

import polyrelu
from polyrelu import Network, checker
from polyrelu.network import from_document
from polyrelu.outcomes import NotIdentifiable
from polyrelu.proofs.refutations.image_box import image_box
from polyrelu.proofs.refutations.moves import Move, moves
from polyrelu.support.text_files import layout
from tests.generators.campaigns import few_and_all, few_some_and_all
from tests.generators.moves import (
    changed_documents,
    move_document,
    points_of_all_sizes,
    verdict,
)
from tests.oracles.grid import related, same_function
from tests.oracles.judge import contradictions, plain
from tests.oracles.plain import Network as Plain, evaluate, preactivations

COUNT = 25


def random_stack(rng: Random) -> Plain:
    """Return a stack with one or two layers of negative weights and positive biases."""
    depth = rng.randint(4, 5) if rng.random() < 0.8 else 3
    widths = [rng.randint(1, 3) for _ in range(depth)] + [rng.randint(1, 2)]
    layers: Plain = []
    negative = {1 + rng.randrange(depth - 2)} | (
        {rng.randrange(1, depth)} if rng.random() < 0.5 else set()
    )
    for number in range(depth):
        n, m = widths[number], widths[number + 1]
        low, high = (-3, -1) if number in negative else (-3, 3)
        weight = [[Fraction(rng.randint(low, high)) for _ in range(n)] for _ in range(m)]
        if number == 0 and rng.random() < 0.3:
            weight[rng.randrange(m)] = [Fraction(0)] * n  # a coordinate that is fixed
        bias = [
            Fraction(rng.randint(1, 4) if number in negative else rng.randint(-9, 9))
            for _ in range(m)
        ]
        layers.append((weight, bias))
    return layers


def bounded_moves(layers: Plain) -> list[Move]:
    found = [
        move
        for move in moves(polyrelu.from_arrays(layers))
        if move.theorem == "bounded-replacement" and "on the box of" in move.explanation
    ]
    return found[:1] + found[-1:]


def cases(name: str) -> Iterator[tuple[Plain, Network, Move, Random]]:
    rng, found = Random(name), 0
    while found < COUNT:
        layers = random_stack(rng)
        chosen = bounded_moves(layers)
        found += bool(chosen)
        for move in chosen:
            yield layers, polyrelu.from_arrays(layers), move, rng


@pytest.mark.slow
def test_the_other_network_has_the_same_function() -> None:
    words = set()
    for layers, network, move, rng in cases("same function"):
        words.add(next(word for word in ("dead", "mix", "linear") if word in move.explanation))
        other = plain(move.other)
        for x in points_of_all_sizes(network.num_inputs, rng):
            assert evaluate(layers, x) == evaluate(other, x), (layers, move.explanation)
        assert polyrelu.equivalent(network, move.other).status == "proved", layers
        assert not polyrelu.related(network, move.other)
        assert verdict(move_document(network, move)) == "accepted", layers
    assert words == {"dead", "mix", "linear"}


def test_the_other_network_withstands_brute_force() -> None:
    rng, found = Random("brute force"), 0
    while found < 12:
        layers = random_stack(rng)
        if sum(len(bias) for _, bias in layers[:-1]) > 6:
            continue
        for move in bounded_moves(layers):
            found += 1
            assert same_function(layers, plain(move.other)), layers
            assert not related(layers, plain(move.other)), layers


@pytest.mark.parametrize("count", few_some_and_all(45, 150, 400))
def test_identify_refutes_by_it_where_nothing_else_does(count: int) -> None:
    rng, seen = Random("identify"), 0
    for _ in range(count):
        layers = random_stack(rng)
        outcome = polyrelu.identify(polyrelu.from_arrays(layers))
        if not isinstance(outcome, NotIdentifiable) or "on the box of" not in outcome.explanation:
            continue
        seen += 1
        if sum(len(bias) for _, bias in layers[:-1]) <= 6:
            assert contradictions(layers, outcome) == [], layers
    assert seen > count // 40


@pytest.mark.parametrize("step", few_and_all(23, 2))
def test_mutants_are_rejected_unless_they_are_true(step: int) -> None:
    verdicts = {"accepted": 0, "rejected": 0}
    for _, network, move, rng in list(cases("mutants"))[::step]:
        xs = points_of_all_sizes(network.num_inputs, rng)
        for which in ("network", "other"):
            for mutant in changed_documents(move_document(network, move), which):
                claim = mutant["claim"]
                one, two = (
                    plain(from_document(claim[key]["inline"])) for key in ("network", "other")
                )
                answer = verdict(mutant)
                verdicts[answer] += 1
                if answer == "accepted":
                    assert all(evaluate(one, x) == evaluate(two, x) for x in xs), claim
    assert verdicts["rejected"] > 300 / step
    assert verdicts["accepted"] > 0


def test_the_box_is_used_to_its_end_and_no_further() -> None:
    """The bias of a linear neuron may be lowered by its least value on the box and by no more.

    If it is lowered a little more the maps differ on the box, even where the image happens to stay
    away from the corner.
    """
    seen = 0
    for _, network, move, _ in cases("box"):
        layer = int(str(move.evidence["layer"]))
        box = image_box(network, layer - 1)
        for i, row in enumerate(network.layers[layer - 1].augmented().rows()):
            ends = [low if w > 0 else high for w, (low, high) in zip(row, box, strict=False)]
            if (
                any(end is None and w for w, end in zip(row, ends, strict=False))
                or min(row[:-1]) >= 0
            ):
                continue
            least = row[-1] + sum(w * (end or 0) for w, end in zip(row, ends, strict=False))
            heads = network.weight(layer + 1).transpose().row(i)
            if least <= 0 or not any(heads):
                continue
            seen += 1
            for shift, expected in ((least, "accepted"), (least + Fraction(1, 7), "rejected")):
                other = plain(network)
                other[layer - 1][1][i] -= shift
                for o, v in enumerate(heads):
                    other[layer][1][o] += v * shift
                wrong = Move(move.theorem, {"layer": layer}, polyrelu.from_arrays(other), layer, "")
                assert verdict(move_document(network, wrong)) == expected
    assert seen > 10


def test_claims_of_a_larger_image_are_rejected() -> None:
    """Both networks have a larger bias before layer ℓ, so the image grows.

    The certificate is accepted only if the claim is still true.
    """
    rejected = 0
    for layers, network, move, rng in cases("larger image"):
        layer = int(str(move.evidence["layer"]))
        pair = [
            [(weight, list(bias)) for weight, bias in net] for net in (layers, plain(move.other))
        ]
        for net in pair:
            net[layer - 2][1][:] = [b + 50 for b in net[layer - 2][1]]
        one, two = map(polyrelu.from_arrays, pair)
        wrong = Move(move.theorem, move.evidence, two, move.difference, "")
        if verdict(move_document(one, wrong)) == "accepted":
            assert all(
                evaluate(pair[0], x) == evaluate(pair[1], x)
                for x in points_of_all_sizes(network.num_inputs, rng)
            )
        else:
            rejected += 1
    assert rejected > 10


@pytest.mark.parametrize("seed", range(3))
def test_boxes_hold_the_image_and_their_ends_are_corners(seed: int) -> None:
    rng = Random(f"boxes {seed}")
    for _ in range(60):
        layers = random_stack(rng)
        network = polyrelu.from_arrays(layers)
        values = [preactivations(layers, x) for x in points_of_all_sizes(network.num_inputs, rng)]
        for layer in range(1, len(layers)):
            before, box = image_box(network, layer - 1), image_box(network, layer)
            for z in values:
                for a, (low, high) in zip(
                    (max(v, Fraction(0)) for v in z[layer - 1]), box, strict=True
                ):
                    assert low is not None
                    assert low <= a
                    assert high is None or a <= high
            if any(end is None for interval in before for end in interval):
                continue
            corners = list(
                product(*[(low or Fraction(0), high or Fraction(0)) for low, high in before])
            )
            for weights, b, (low, high) in zip(*layers[layer - 1], box, strict=True):
                found = [
                    sum((w * u for w, u in zip(weights, corner, strict=True)), b)
                    for corner in corners
                ]
                assert (low, high) == tuple(
                    max(end, Fraction(0)) for end in (min(found), max(found))
                )


Interval = tuple[int, int | None]


def prefix(box: list[Interval]) -> Plain:
    """Return two layers, one input per coordinate, whose image is the whole box.

    Each side of the box is [0, h], [0, ∞) or a constant.
    """
    size = len(box)
    unit = [[Fraction(int(i == k)) for k in range(size)] for i in range(size)]
    weight, bias = [], []
    for row, (low, high) in zip(unit, box, strict=True):
        sign = 0 if low == high else 1 if high is None else -1
        weight.append([sign * w for w in row])
        bias.append(Fraction(high or 0))
    return [(unit, [Fraction(0)] * size), (weight, bias)]


def random_map(size: int, width: int, rng: Random) -> Plain:
    """One hidden layer and one output, numbers so small that many of these maps agree on a box."""
    rows = [[Fraction(rng.randint(-1, 1)) for _ in range(size)] for _ in range(width)]
    bias = [Fraction(rng.randint(-3, 3)) for _ in range(width)]
    return [
        (rows, bias),
        ([[Fraction(rng.randint(-1, 1)) for _ in range(width)]], [Fraction(rng.randint(-1, 1))]),
    ]


def pairs_on(box: list[Interval], rng: Random) -> Iterator[tuple[Plain, Plain, bool]]:
    """Yield pairs of maps, and whether they have equal values at many points of the box."""
    ends = [
        (low,) if low == high else (low, *range(1, high or 5), 100 if high is None else high)
        for low, high in box
    ]
    grid = [list(map(Fraction, point)) for point in product(*ends)]
    width, groups = rng.randint(1, 3), dict[tuple[Fraction, ...], list[Plain]]()
    for _ in range(400):
        chosen = random_map(len(box), width, rng)
        groups.setdefault(tuple(evaluate(chosen, u)[0] for u in grid), []).append(chosen)
    alike = [group for group in groups.values() if len(group) > 1]
    for group in rng.sample(alike, min(12, len(alike))):
        one, two = rng.sample(group, 2)
        yield one, two, True
    for group, other in pairwise(alike[:7]):
        yield group[0], other[0], False


@pytest.mark.parametrize("count", few_and_all(3, 20))
def test_the_rule_decides_equality_on_the_box(count: int) -> None:
    """The checker agrees with split trees on the box.

    It accepts no pair that differs on the box, and rejects no pair that agrees.
    """
    rng = Random("rule")
    counts = {(True, True): 0, (True, False): 0, (False, False): 0}
    for _ in range(count):
        box: list[Interval] = []
        for _ in range(rng.randint(1, 3)):
            low = rng.randint(0, 2)
            box.append(
                rng.choice([(low, low), (0, None), (0, rng.randint(1, 3)), (0, rng.randint(1, 3))])
            )
        domain = polyrelu.Polyhedron.box([low for low, _ in box], [high for _, high in box])
        for one, two, alike in pairs_on(box, rng):
            equal = (
                polyrelu.equivalent(
                    polyrelu.from_arrays(one), polyrelu.from_arrays(two), domain
                ).status
                == "proved"
            )
            nets = [polyrelu.from_arrays(prefix(box) + net) for net in (one, two)]
            move = Move("bounded-replacement", {"layer": 3}, nets[1], 3, "")
            report = checker.check_bytes(layout(move_document(nets[0], move)).encode("ascii"))
            assert (report.verdict == "rejected" and report.step == "same-function") != equal, (
                box,
                one,
                two,
            )
            counts[alike, equal] += 1
    assert counts[True, True] > 5 * count
    assert counts[False, False] > 5 * count // 2
