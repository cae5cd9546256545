"""Theorem D, the linear systems of (D2) and (D3): signs that some neurons show and others do not, joining by sight, and
ranks against elimination with fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from polyrelu.network import Network, from_arrays
from polyrelu.proofs.deep.families import Family
from polyrelu.proofs.deep.hypotheses import deep_hypotheses
from polyrelu.proofs.deep.linear_systems import (
    determines_weights,
    is_crossed_by_all,
    join_by_weights,
    sign_rank_deficit,
    with_determined_weights,
)
from polyrelu.proofs.deep.neuron_evidence import (
    LayerEvidence,
    NeuronEvidence,
    bits_of,
    are_pairwise_distinguished,
)
from polyrelu.proofs.deep.ridges import DeepNetwork
from tests.generators.ridge_points import ridge_points


def network_of(widths: tuple[int, ...], rng: Random) -> Network:
    size = rng.choice((2, 3, 9))
    return from_arrays([
        ([[rng.choice((-1, 1)) * rng.randint(1, size) for _ in range(n)] for _ in range(m)],
         [rng.randint(-size, size) for _ in range(m)])
        for n, m in pairwise(widths)
    ])  # fmt: skip


def family(deep_network: DeepNetwork, neuron: int, masks: list[int]) -> Family:
    """A placed family with given pieces."""
    before, own, on, off = (
        deep_network.mask_before(neuron),
        deep_network.layer_mask[deep_network.layer_of[neuron]],
        0,
        0,
    )
    for mask in masks:
        on, off = on | mask & before, off | ~mask & before
    up = deep_network.depth - 1 - deep_network.layer_of[neuron]
    return Family(neuron, masks, on, off, up, any(not mask & own for mask in masks))


# -- with fractions -----------------------------------------------------------------------------------------------


def rank(rows: list[list[Fraction]]) -> int:
    """By elimination."""
    left, found = [list(row) for row in rows], 0
    for column in range(len(left[0]) if left else 0):
        pivot = next((row for row in left if row[column]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        found += 1
        factors = [row[column] / pivot[column] for row in left]
        left = [
            [x - f * y for x, y in zip(row, pivot, strict=True)]
            for row, f in zip(left, factors, strict=True)
        ]
    return found


def dot(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(one, other, strict=True)), Fraction())


def gradients(network: Network, layer: int, mask: int) -> list[list[Fraction]]:
    """∇z of the neurons of a layer where those of a mask are on: rows of a product of matrices."""
    found, start = [list(row) for row in network.weight(1).rows()], 0
    for number in range(2, layer + 1):
        active = [[x * (mask >> start + i & 1) for x in row] for i, row in enumerate(found)]
        start += len(found)
        columns = list(zip(*active, strict=True))
        found = [
            [dot(weights, column) for column in columns]
            for weights in network.weight(number).rows()
        ]
    return found


def exact_equations(
    network: Network, layer: int, start: int, mask: int, unknown: list[int]
) -> list[list[Fraction]]:
    """Σ s_h ∇z_h = 0, the sum over the h in a list that are on: an equation for each input."""
    slopes = gradients(network, layer, mask)
    return [
        [slopes[h][k] * (mask >> start + h & 1) for h in unknown] for k in range(network.inputs)
    ]


@pytest.mark.parametrize(
    "widths", [(2, 3, 2, 1), (3, 4, 3, 1), (2, 2, 3, 2, 1), (4, 3, 4, 2, 1)], ids=str
)
def test_what_is_seen_against_fractions(widths: tuple[int, ...]) -> None:
    """At any masks whatever, not those of pieces only."""
    rng, verdicts = Random(str(widths)), set[bool]()
    for _ in range(60):
        network = network_of(widths, rng)
        deep_network, layer = DeepNetwork.of(network), rng.randint(1, len(widths) - 3)
        start, width = deep_network.starts[layer - 1], widths[layer]
        masks = [rng.getrandbits(deep_network.size) for _ in range(rng.randint(0, 3))]
        unknown = [h for h in range(width) if rng.random() < 0.7]
        rows = [
            row for mask in masks for row in exact_equations(network, layer, start, mask, unknown)
        ]
        found = determines_weights(deep_network, layer, masks, sum(1 << start + h for h in unknown))
        assert found == (rank(rows) == len(unknown))
        verdicts.add(found)
    assert verdicts == {True, False}


def shows(
    deep_network: DeepNetwork, layer: int, oriented: set[int], team: list[NeuronEvidence]
) -> bool:
    """Whether the system of (D3) for a set of neurons has no solution but 0."""
    names = unknowns(deep_network, layer, oriented, team)
    rows = [
        row
        for v in team
        for mask in v.masks
        for row in equations(deep_network, layer, oriented, v, mask, names)
    ]
    return rank(rows) == len(names)


def members(
    deep_network: DeepNetwork, layer: int, oriented: set[int], above: list[NeuronEvidence]
) -> list[NeuronEvidence]:
    """The neurons whose own unknowns are determined if all p_h are 0."""
    return [
        v for v in above if shows(deep_network, layer, oriented | set(bits_of(v.crossed_by)), [v])
    ]


def unknowns(
    deep_network: DeepNetwork, layer: int, oriented: set[int], team: list[NeuronEvidence]
) -> list[tuple[str, int, int]]:
    found: dict[tuple[str, int, int], None] = {}
    for v in team:
        for h in deep_network.neurons_in(layer):
            if v.crossed_by >> h & 1:
                found.update({("p", 0, h): None} if h not in oriented else {})
                continue
            found.update({("s", v.neuron, h): None} if v.active >> h & 1 else {})
            found.update(
                {("t", v.neuron, h): None} if v.inactive >> h & 1 and h not in oriented else {}
            )
    return list(found)


def equations(
    deep_network: DeepNetwork,
    layer: int,
    oriented: set[int],
    v: NeuronEvidence,
    mask: int,
    names: list[tuple[str, int, int]],
) -> list[list[Fraction]]:
    slopes = gradients(deep_network.network, layer, mask)
    start = deep_network.starts[layer - 1]
    weights = deep_network.network.weight(layer + 1).rows()[v.neuron - deep_network.starts[layer]]

    def factor(name: tuple[str, int, int]) -> Fraction:
        kind, neuron, h = name
        if kind == "p":
            return weights[h - start] if v.crossed_by >> h & 1 else Fraction()
        return Fraction(neuron == v.neuron and (kind == "s") == bool(mask >> h & 1))

    return [
        [factor(name) * slopes[name[2] - start][k] for name in names]
        for k in range(deep_network.network.inputs)
    ]


@pytest.mark.parametrize(
    "widths", [(2, 2, 2, 1), (2, 3, 3, 1), (2, 3, 4, 2, 1), (3, 2, 2, 2, 1)], ids=str
)
def test_signs_against_fractions(widths: tuple[int, ...]) -> None:
    """Each neuron whose own unknowns are determined is tried alone, and the first few of them together."""
    rng, verdicts, proper = Random(str(widths)), set[bool](), 0
    for _ in range(80):
        deep_network, layer = (
            DeepNetwork.of(network_of(widths, rng)),
            rng.randint(1, len(widths) - 3),
        )
        above = [
            random_portrait(deep_network, neuron, rng)
            for neuron in deep_network.neurons_in(layer + 1)
            if rng.random() < 0.8
        ]
        known = {
            h: NeuronEvidence.of(family(deep_network, h, [masks_at(deep_network, h, rng)]))
            for h in deep_network.neurons_in(layer)
        }
        oriented = {h for h, portrait in known.items() if portrait.oriented}
        team = members(deep_network, layer, oriented, above)
        tried = [[v] for v in team] + [team[: k + 1] for k in range(len(team))]
        hold = not sign_rank_deficit(deep_network, layer, known, above)
        assert hold == any(shows(deep_network, layer, oriented, some) for some in tried)
        verdicts.add(hold)
        proper += hold and len(team) < len(above)
    assert verdicts == {True, False}
    assert proper


def test_the_last_neuron_of_a_team_may_spoil_it() -> None:
    """Two equations show p_0 and p_1. One more neuron has p_2 without an equation; the others are enough."""
    deep_network = DeepNetwork.of(
        from_arrays([
            ([[1, 0], [0, 1], [1, 1]], [0, 0, -1]),
            ([[1, 2, 1], [1, 1, -1], [-1, 3, 1]], [-1, 1, 1]),
            ([[1, 1, 1]], [0]),
        ])
    )  # fmt: skip
    first = NeuronEvidence.of(
        family(deep_network, 3, [0b011, 0b010, 0b001])
    )  # crossed by z_0 and z_1; z_2 is off: t_2
    oriented = {2: NeuronEvidence.of(family(deep_network, 2, [0]))}
    spoiler = NeuronEvidence.of(
        family(deep_network, 4, [0b111, 0])
    )  # crossed by all three: two equations
    assert not sign_rank_deficit(deep_network, 1, oriented, [first])
    assert sign_rank_deficit(deep_network, 1, {}, [spoiler]) == 1
    assert not sign_rank_deficit(deep_network, 1, oriented, [spoiler, first])
    assert not sign_rank_deficit(deep_network, 1, oriented, [first, spoiler])


def masks_at(deep_network: DeepNetwork, neuron: int, rng: Random) -> int:
    return rng.getrandbits(deep_network.size) & ~(1 << neuron)


def random_portrait(deep_network: DeepNetwork, neuron: int, rng: Random) -> NeuronEvidence:
    """Of pieces that differ in a few neurons of the layer before."""
    first = masks_at(deep_network, neuron, rng)
    others = [
        first ^ (1 << h) for h in bits_of(deep_network.mask_before(neuron)) if rng.random() < 0.4
    ]
    return NeuronEvidence.of(family(deep_network, neuron, [first, *others]))


# -- by hand ------------------------------------------------------------------------------------------------------


def test_neurons_without_crossings() -> None:
    """One piece with all of layer 1 on, or off: two equations for s_0, s_1, or t_0, t_1, and there is no p."""
    deep_network = DeepNetwork.of(
        from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [2, -1]], [-1, 1]), ([[1, 1]], [0])])
    )  # fmt: skip
    for masks in ([0b11], [0b00], [0b01], [0b11, 0b10]):
        assert not sign_rank_deficit(
            deep_network, 1, {}, [NeuronEvidence.of(family(deep_network, 2, masks))]
        )
    assert sign_rank_deficit(deep_network, 1, {}, []) == 2


def test_signs_with_a_proper_subset() -> None:
    """z_0 = x, z_1 = y, z_2 = x + y - 1 in the plane. A neuron with all three on, none of which cross it, has three
    own unknowns and two equations; without it the others are enough."""
    deep_network = DeepNetwork.of(
        from_arrays([
            ([[1, 0], [0, 1], [1, 1]], [0, 0, -1]),
            ([[1, 2, 1], [1, 1, -1], [-1, 3, 1]], [-1, 1, 1]),
            ([[1, 1, 1]], [0]),
        ])
    )  # fmt: skip
    oriented = {2: NeuronEvidence.of(family(deep_network, 2, [0]))}
    blind = NeuronEvidence.of(family(deep_network, 3, [0b111]))
    clear = NeuronEvidence.of(family(deep_network, 4, [0b011, 0b001]))  # s_0 x + p_1 y = 0
    assert sign_rank_deficit(deep_network, 1, {}, [blind]) > 0
    assert not sign_rank_deficit(deep_network, 1, oriented, [clear])
    assert not sign_rank_deficit(deep_network, 1, oriented, [blind, clear])
    assert (
        sign_rank_deficit(deep_network, 1, {}, [clear]) == 1
    )  # s_0 x + t_2 (x + y) + p_1 y = 0 at both pieces
    assert not is_crossed_by_all(deep_network, [blind, clear])


def test_joining_by_sight() -> None:
    """Two neurons v, w of layer 2 whose families share no two crossings, so that crossing does not tell them apart;
    but all of layer 1 is on at their pieces, and is seen, because the gradients x and y are independent."""
    network = from_arrays(
        [([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])]
    )
    deep_network = DeepNetwork.of(network)
    v, w = (
        family(deep_network, 2, [0b11, 0b10]),
        family(deep_network, 3, [0b11]),
    )  # v is crossed by (1, 0), w by none
    more = family(
        deep_network, 3, [0b11 | 1 << 2]
    )  # w where v is on: another family of w, for all that is known
    chosen = {2: NeuronEvidence.of(v), 3: NeuronEvidence.of(w)}
    assert not are_pairwise_distinguished(
        deep_network, [2, 3], {neuron: part.crossed_by for neuron, part in chosen.items()}
    )
    found = LayerEvidence(chosen, {2: [], 3: [NeuronEvidence.of(more)]}, [])
    assert [found.chosen[neuron].determined_weights for neuron in (2, 3)] == [0b01, 0]
    assert join_by_weights(deep_network, 2, found) == []  # all is seen: nothing has to be joined
    assert [found.chosen[neuron].determined_weights for neuron in (2, 3)] == [0b11, 0b11]


def test_joining_by_sight_where_it_is_needed() -> None:
    """Layer 1 in R^3: x, y, z. v and w have families with x, y on, told apart there by the rows (1, 2) and (1, 3); the
    weight of v on z is shown by another family alone, which sees x in common with the first."""
    network = from_arrays([
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]),
        ([[1, 2, 1], [1, 3, 1]], [-5, -5]),
        ([[1, 2]], [0]),
    ])  # fmt: skip
    deep_network = DeepNetwork.of(network)
    v, w = family(deep_network, 3, [0b011]), family(deep_network, 4, [0b111])
    seeing = family(deep_network, 3, [0b111])  # sees x, y, z
    blind = family(deep_network, 3, [0b100])  # sees z only: nothing in common with the set of v
    for joined, enough in (([seeing], True), ([blind], False), ([blind, seeing], True)):
        found = LayerEvidence(
            {3: NeuronEvidence.of(v), 4: NeuronEvidence.of(w)},
            {3: list(map(NeuronEvidence.of, joined)), 4: []},
            [],
        )
        assert join_by_weights(deep_network, 2, found) == ([seeing] if enough else [])
        assert found.chosen[3].determined_weights == (0b111 if enough else 0b011)
    first, _, last = ((layer.weight, layer.bias) for layer in network.layers)
    same = from_arrays([first, ([[1, 2, 1], [2, 4, 1]], [-5, -5]), last])
    found = LayerEvidence(
        {3: NeuronEvidence.of(v), 4: NeuronEvidence.of(w)},
        {3: [NeuronEvidence.of(seeing)], 4: []},
        [],
    )
    assert (
        join_by_weights(DeepNetwork.of(same), 2, found) == []
    )  # v and w are not told apart on x and y


def test_looking_asks_for_all_that_is_on() -> None:
    deep_network = DeepNetwork.of(
        from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 2, 1]], [-3]), ([[1]], [0])])
    )  # fmt: skip
    assert (
        with_determined_weights(
            deep_network, NeuronEvidence.of(family(deep_network, 3, [0b111]))
        ).determined_weights
        == 0
    )
    assert (
        with_determined_weights(
            deep_network, NeuronEvidence.of(family(deep_network, 3, [0b011]))
        ).determined_weights
        == 0b011
    )
    # z_2 crosses; then (1, 0) and (0, 1) are left
    assert (
        with_determined_weights(
            deep_network, NeuronEvidence.of(family(deep_network, 3, [0b111, 0b011]))
        ).determined_weights
        == 0b111
    )


def test_sight_joins_families_of_random_networks() -> None:
    """There are networks where it is needed for all hypotheses to hold."""
    rng, needed = Random(3), 0
    for _ in range(49):
        network = network_of((2, 3, 2, 1), rng)
        found = deep_hypotheses(network, ridge_points(network))
        assert {one.neuron for one in found.joined_by_weights} <= {3, 4}
        needed += found.hold and bool(found.joined_by_weights)
        for neuron, portrait in found.chosen.items():
            assert portrait.crossed_by | portrait.determined_weights == portrait.determined_weights
            assert not portrait.determined_weights & ~portrait.active, neuron
    assert needed
