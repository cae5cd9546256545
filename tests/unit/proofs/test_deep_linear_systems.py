"""The linear systems of (D2) and (D3) in Theorem D.

Ranks are compared with elimination over the rational numbers, and small systems are solved by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from random import Random

import numpy as np
import pytest

from polyrelu.exact import eliminate_mod, float_prime
from polyrelu.network import Network, from_arrays
from polyrelu.proofs.deep import linear_systems
from polyrelu.proofs.deep.families import Family
from polyrelu.proofs.deep.hypotheses import deep_hypotheses
from polyrelu.proofs.deep.linear_systems import (
    determines_weights,
    is_crossed_where_active,
    join_by_weights,
    sign_rank_deficit,
    with_determined_weights,
)
from polyrelu.proofs.deep.neuron_evidence import (
    LayerEvidence,
    NeuronEvidence,
    are_pairwise_distinguished,
    bits_of,
)
from polyrelu.proofs.deep.ridges import DeepNetwork
from tests.generators.ridge_points import ridge_points


def network_of(widths: tuple[int, ...], rng: Random) -> Network:
    size = rng.choice((2, 3, 9))
    return from_arrays(
        [
            (
                [[rng.choice((-1, 1)) * rng.randint(1, size) for _ in range(n)] for _ in range(m)],
                [rng.randint(-size, size) for _ in range(m)],
            )
            for n, m in pairwise(widths)
        ]
    )


def family(deep_network: DeepNetwork, neuron: int, masks: list[int]) -> Family:
    """A family with a full chain and the given pieces."""
    before, layer = deep_network.mask_before(neuron), deep_network.layer_of[neuron]
    active = inactive = 0
    for mask in masks:
        active, inactive = active | mask & before, inactive | ~mask & before
    oriented = any(not mask & deep_network.layer_mask[layer] for mask in masks)
    return Family(neuron, masks, active, inactive, deep_network.depth - 1 - layer, oriented)


def evidence_of(deep_network: DeepNetwork, neuron: int, masks: list[int]) -> NeuronEvidence:
    """The evidence of a single family with a full chain."""
    return NeuronEvidence.of(family(deep_network, neuron, masks))


# -- with fractions --------------------------------------------------------------------------------


def rank(rows: list[list[Fraction]]) -> int:
    """The rank by elimination over the rational numbers."""
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
    """∇z of the neurons of a layer on the cell of a mask, as rows of a product of matrices."""
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
    """Σ s_h ∇z_h = 0, the sum over the active neurons of a list: an equation for each input."""
    slopes = gradients(network, layer, mask)
    return [
        [slopes[h][k] * (mask >> start + h & 1) for h in unknown] for k in range(network.num_inputs)
    ]


@pytest.mark.parametrize(
    "widths", [(2, 3, 2, 1), (3, 4, 3, 1), (2, 2, 3, 2, 1), (4, 3, 4, 2, 1)], ids=str
)
def test_determined_weights_against_fractions(widths: tuple[int, ...]) -> None:
    """The masks are arbitrary, and not only masks of pieces."""
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


def has_only_zero_solution(
    deep_network: DeepNetwork, layer: int, oriented: set[int], members: list[NeuronEvidence]
) -> bool:
    """Whether 0 is the only solution of the system of (D3) for a set of neurons."""
    names = unknowns(deep_network, layer, oriented, members)
    rows = [
        row
        for v in members
        for mask in v.masks
        for row in equations(deep_network, layer, oriented, v, mask, names)
    ]
    return rank(rows) == len(names)


def possible_members(
    deep_network: DeepNetwork, layer: int, oriented: set[int], above: list[NeuronEvidence]
) -> list[NeuronEvidence]:
    """The neurons whose own unknowns are determined if all p_h are 0."""
    return [
        v
        for v in above
        if has_only_zero_solution(deep_network, layer, oriented | set(bits_of(v.crossed_by)), [v])
    ]


def unknowns(
    deep_network: DeepNetwork, layer: int, oriented: set[int], members: list[NeuronEvidence]
) -> list[tuple[str, int, int]]:
    found: dict[tuple[str, int, int], None] = {}
    for v in members:
        for h in deep_network.neurons_in(layer):
            if v.crossed_by >> h & 1:
                found.update({("p", 0, h): None} if h not in oriented else {})
                continue
            found.update({("s", v.neuron, h): None} if v.num_active >> h & 1 else {})
            found.update(
                {("t", v.neuron, h): None} if v.num_inactive >> h & 1 and h not in oriented else {}
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
        for k in range(deep_network.network.num_inputs)
    ]


def excludes(
    deep_network: DeepNetwork, layer: int, v: NeuronEvidence, flipped: tuple[int, ...]
) -> bool:
    """Whether 0 is the only solution of the system of v if the signs of some neurons are flipped.

    The last unknown is q; it does not occur if its neurons do not cross v and are never active.
    """
    start = deep_network.starts[layer - 1]
    weights = deep_network.network.weight(layer + 1).rows()[v.neuron - deep_network.starts[layer]]
    hs = deep_network.neurons_in(layer)
    own = [h for h in hs if not v.crossed_by >> h & 1]
    own = [h for h in own if (v.num_inactive if h in flipped else v.num_active) >> h & 1]
    rows = list[list[Fraction]]()
    for mask in v.masks:
        slopes = gradients(deep_network.network, layer, mask)
        for k in range(deep_network.network.num_inputs):
            row = [slopes[h - start][k] * ((mask >> h & 1) == (h not in flipped)) for h in own]
            seen = (h for h in flipped if (v.crossed_by | mask) >> h & 1)
            known = (weights[h - start] * slopes[h - start][k] for h in seen)
            rows.append([*row, sum(known, Fraction())])
    if not any((v.crossed_by | v.num_active) >> h & 1 for h in flipped):
        rows = [row[:-1] for row in rows]
    return rank(rows) == len(rows[0])


def all_sets_excluded(
    deep_network: DeepNetwork, layer: int, oriented: set[int], above: list[NeuronEvidence]
) -> bool:
    """Whether each nonempty set of neurons that are not oriented is excluded by some v."""
    free = [h for h in deep_network.neurons_in(layer) if h not in oriented]
    return all(
        any(excludes(deep_network, layer, v, flipped) for v in above)
        for size in range(1, len(free) + 1)
        for flipped in combinations(free, size)
    )


@pytest.mark.parametrize(
    "widths", [(2, 2, 2, 1), (2, 3, 3, 1), (2, 3, 4, 2, 1), (3, 2, 2, 2, 1)], ids=str
)
def test_signs_against_fractions(widths: tuple[int, ...]) -> None:
    """The prover tries each neuron that may belong to T alone, the first k together, then sets."""
    rng, verdicts, proper, by_sets = Random(str(widths)), set[bool](), 0, 0
    for _ in range(50):
        deep_network = DeepNetwork.of(network_of(widths, rng))
        layer = rng.randint(1, len(widths) - 3)
        above = [
            random_evidence(deep_network, neuron, rng)
            for neuron in deep_network.neurons_in(layer + 1)
            if rng.random() < 0.8
        ]
        known = {
            h: evidence_of(deep_network, h, [masks_at(deep_network, h, rng)])
            for h in deep_network.neurons_in(layer)
        }
        oriented = {h for h, evidence in known.items() if evidence.oriented}
        members = possible_members(deep_network, layer, oriented, above)
        tried = [[v] for v in members] + [members[: k + 1] for k in range(len(members))]
        hold = not sign_rank_deficit(deep_network, layer, known, above)
        together = any(
            has_only_zero_solution(deep_network, layer, oriented, subset) for subset in tried
        )
        apart = all_sets_excluded(deep_network, layer, oriented, above)
        assert hold == (together or apart)
        assert apart or not together
        by_sets += apart and not together
        verdicts.add(hold)
        proper += hold and len(members) < len(above)
    assert verdicts == {True, False}
    assert proper
    assert by_sets or widths == (2, 2, 2, 1)


def test_a_neuron_may_spoil_the_system() -> None:
    """Two equations determine p_0 and p_1; a further neuron adds p_2 without an equation."""
    deep_network = DeepNetwork.of(
        from_arrays(
            [
                ([[1, 0], [0, 1], [1, 1]], [0, 0, -1]),
                ([[1, 2, 1], [1, 1, -1], [-1, 3, 1]], [-1, 1, 1]),
                ([[1, 1, 1]], [0]),
            ]
        )
    )
    # crossed by z_0 and z_1; z_2 is inactive, which gives the unknown t_2
    first = evidence_of(deep_network, 3, [0b011, 0b010, 0b001])
    oriented = {2: evidence_of(deep_network, 2, [0])}
    # crossed by all three, with two equations
    spoiler = evidence_of(deep_network, 4, [0b111, 0])
    assert not sign_rank_deficit(deep_network, 1, oriented, [first])
    assert sign_rank_deficit(deep_network, 1, {}, [spoiler]) == 1
    assert not sign_rank_deficit(deep_network, 1, oriented, [spoiler, first])
    assert not sign_rank_deficit(deep_network, 1, oriented, [first, spoiler])


def masks_at(deep_network: DeepNetwork, neuron: int, rng: Random) -> int:
    return rng.getrandbits(deep_network.size) & ~(1 << neuron)


def random_evidence(deep_network: DeepNetwork, neuron: int, rng: Random) -> NeuronEvidence:
    """The evidence of pieces that differ in a few neurons of the layer before."""
    first = masks_at(deep_network, neuron, rng)
    others = [
        first ^ (1 << h) for h in bits_of(deep_network.mask_before(neuron)) if rng.random() < 0.4
    ]
    return evidence_of(deep_network, neuron, [first, *others])


# -- by hand ---------------------------------------------------------------------------------------


def test_neurons_without_crossings() -> None:
    """One piece at which layer 1 is active, or inactive: two equations for two unknowns, no p."""
    deep_network = DeepNetwork.of(
        from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1], [2, -1]], [-1, 1]), ([[1, 1]], [0])])
    )
    for masks in ([0b11], [0b00], [0b01], [0b11, 0b10]):
        assert not sign_rank_deficit(
            deep_network, 1, {}, [NeuronEvidence.of(family(deep_network, 2, masks))]
        )
    assert sign_rank_deficit(deep_network, 1, {}, []) == 2


def test_signs_with_a_proper_subset() -> None:
    """z_0 = x, z_1 = y and z_2 = x + y - 1 in the plane.

    A neuron at whose pieces all three are active, and none crosses, has three own unknowns and two
    equations; without it the others are enough.
    """
    deep_network = DeepNetwork.of(
        from_arrays(
            [
                ([[1, 0], [0, 1], [1, 1]], [0, 0, -1]),
                ([[1, 2, 1], [1, 1, -1], [-1, 3, 1]], [-1, 1, 1]),
                ([[1, 1, 1]], [0]),
            ]
        )
    )
    oriented = {2: evidence_of(deep_network, 2, [0])}
    useless = evidence_of(deep_network, 3, [0b111])
    clear = evidence_of(deep_network, 4, [0b011, 0b001])  # s_0 x + p_1 y = 0
    assert sign_rank_deficit(deep_network, 1, {}, [useless]) > 0
    assert not sign_rank_deficit(deep_network, 1, oriented, [clear])
    assert not sign_rank_deficit(deep_network, 1, oriented, [useless, clear])
    # without the orientation: s_0 x + t_2 (x + y) + p_1 y = 0 at both pieces
    assert sign_rank_deficit(deep_network, 1, {}, [clear]) == 1
    assert not is_crossed_where_active(deep_network, [useless, clear])
    # y crosses, and x is active at both pieces; at a piece where it is not, y alone is active
    assert is_crossed_where_active(deep_network, [evidence_of(deep_network, 3, [0b010, 0b000])])
    assert is_crossed_where_active(deep_network, [evidence_of(deep_network, 3, [0b111, 0b000])])


def test_joining_by_weights() -> None:
    """Weights are determined although crossings do not distinguish two neurons v, w of layer 2.

    Their families have no two crossings in common. But all neurons of layer 1 are active at their
    pieces, and the weights on them are determined, because the gradients x and y are independent.
    """
    network = from_arrays(
        [([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [1, 1]], [1, -2]), ([[1, 2]], [0])]
    )
    deep_network = DeepNetwork.of(network)
    # v is crossed by (1, 0), and w by no neuron; another family of w has a piece where v is active
    v, w = evidence_of(deep_network, 2, [0b11, 0b10]), evidence_of(deep_network, 3, [0b11])
    other = evidence_of(deep_network, 3, [0b11 | 1 << 2])
    crossed_by = {2: v.crossed_by, 3: w.crossed_by}
    assert not are_pairwise_distinguished(deep_network, [2, 3], crossed_by)
    found = LayerEvidence({2: v, 3: w}, {2: [], 3: [other]}, [])
    assert [found.chosen[neuron].num_determined_weights for neuron in (2, 3)] == [0b01, 0]
    # all weights are determined, so no family has to be joined
    assert join_by_weights(deep_network, 2, found) == []
    assert [found.chosen[neuron].num_determined_weights for neuron in (2, 3)] == [0b11, 0b11]


def test_joining_by_weights_where_it_is_needed() -> None:
    """A family that is joined by weights determines a weight that the chosen family does not.

    Layer 1 in R^3 is x, y, z. The families of v and w have x and y active, and the rows (1, 2) and
    (1, 3) distinguish them. The weight of v on z is determined by another family alone, which
    shares x with the first one.
    """
    network = from_arrays(
        [
            ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]),
            ([[1, 2, 1], [1, 3, 1]], [-5, -5]),
            ([[1, 2]], [0]),
        ]
    )
    deep_network = DeepNetwork.of(network)
    v, w = evidence_of(deep_network, 3, [0b011]), evidence_of(deep_network, 4, [0b111])
    with_all = evidence_of(deep_network, 3, [0b111])  # determines the weights on x, y, z
    with_z = evidence_of(deep_network, 3, [0b100])  # on z alone, which v does not determine
    for unjoined, enough in (([with_all], True), ([with_z], False), ([with_z, with_all], True)):
        found = LayerEvidence({3: v, 4: w}, {3: list(unjoined), 4: []}, [])
        joined = list(with_all.families) if enough else []
        assert join_by_weights(deep_network, 2, found) == joined
        assert found.chosen[3].num_determined_weights == (0b111 if enough else 0b011)
    first, _, last = ((layer.weight, layer.bias) for layer in network.layers)
    same = from_arrays([first, ([[1, 2, 1], [2, 4, 1]], [-5, -5]), last])
    found = LayerEvidence({3: v, 4: w}, {3: [with_all], 4: []}, [])
    # the rows of v and w are dependent on x and y, so v and w are not distinguished
    assert join_by_weights(DeepNetwork.of(same), 2, found) == []


def test_weights_on_all_active_neurons_or_none() -> None:
    deep_network = DeepNetwork.of(
        from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 2, 1]], [-3]), ([[1]], [0])])
    )
    # in the last case z_2 crosses, and the weights on (1, 0) and (0, 1) remain
    for masks, expected in (([0b111], 0), ([0b011], 0b011), ([0b111, 0b011], 0b111)):
        evidence = evidence_of(deep_network, 3, masks)
        assert with_determined_weights(deep_network, evidence).num_determined_weights == expected


def test_joining_by_weights_in_random_networks() -> None:
    """In some networks joins by weights are needed for all hypotheses to hold."""
    rng, needed = Random(3), 0
    for _ in range(49):
        network = network_of((2, 3, 2, 1), rng)
        found = deep_hypotheses(network, ridge_points(network))
        assert {one.neuron for one in found.joined_by_weights} <= {3, 4}
        needed += found.hold and bool(found.joined_by_weights)
        for neuron, evidence in found.chosen.items():
            assert (
                evidence.crossed_by | evidence.num_determined_weights
                == evidence.num_determined_weights
            )
            assert not evidence.num_determined_weights & ~evidence.num_active, neuron
    assert needed


@pytest.mark.parametrize("seed", range(20))
def test_rows_that_add_nothing_are_told_without_elimination(seed: int) -> None:
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, 6))
    prime = float_prime(width) if seed % 2 else 5
    rows = rng.integers(0, prime, (3, 2 * width))
    _, reduced = eliminate_mod(rows.tolist(), 0, prime)
    spanned = rng.integers(0, prime, (4, 3)).astype(object) @ rows % prime
    assert linear_systems._are_spanned(spanned.astype(np.int64), reduced, prime)
    others = rng.integers(0, prime, (2, 2 * width))
    rank = len(eliminate_mod([*rows.tolist(), *others.tolist()], 0, prime)[1])
    assert linear_systems._are_spanned(others, reduced, prime) == (rank == len(reduced))
