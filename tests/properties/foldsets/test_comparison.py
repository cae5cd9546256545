"""Comparisons, fingerprints and visibility against values at points."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from polyrelu.complex import PolyhedralComplex, canonical_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron
from polyrelu.foldsets import (
    cancellation_free,
    clique_instance,
    compare_breakpoints,
    fingerprint,
    honest,
    random_clique_instance,
    visible_hyperplanes,
)
from polyrelu.network import Network, NeuronId, from_arrays
from polyrelu.proofs import equivalent
from tests.generators.campaigns import case, few_some_and_all
from tests.generators.equivalent_pairs import network, nudged, random_pair
from tests.oracles.plane_networks import (
    RADIUS,
    arrangement_of,
    bends,
    plane_network,
    signs_around,
)
from tests.oracles.surfaces import Arrangement, Segment

BOX = f"box:-{RADIUS},{RADIUS}"
STEP = Fraction(1, 10**12)


def partner_of(net: Network, rng: Random) -> Network:
    """A network like a given one: with another output, another weight, or all different."""
    kind = rng.randrange(4)
    if kind == 0:
        return plane_network(rng)
    layers = [
        ([list(row) for row in layer.weight.rows()], list(layer.bias.entries()))
        for layer in net.layers
    ]
    if kind == 1:  # the same folds with other weights
        layers[-1] = ([[2 * entry for entry in row] for row in layers[-1][0]], layers[-1][1])
    elif kind == 2:  # the same weights
        layers[-1][1][0] += rng.randint(0, 1)
    else:
        rows, _ = layers[0]
        rows[rng.randrange(len(rows))][rng.randrange(2)] += 1
    return from_arrays(layers)


@pytest.mark.parametrize("seeds", few_some_and_all(range(4), range(50), range(1000)))
def test_breakpoints_against_segments(seeds: range) -> None:
    for seed in seeds:
        with case(seed):
            rng = Random(seed)
            first = plane_network(rng)
            second = partner_of(first, rng)
            found = compare_breakpoints(first, second, BOX)
            segments = arrangement_of([first, second]).segments
            bent = [(bends(first)(s), bends(second)(s)) for s in segments]
            assert (found.only_first is None) == all(not a or b for a, b in bent)
            assert (found.only_second is None) == all(not b or a for a, b in bent)
            jumps = [_jump(first, s) == _jump(second, s) for s in segments]
            assert found.is_same_weights == all(jumps)
            if found.difference is not None:
                for x in ((0, 0), (Fraction(1), Fraction(1, 3)), (-2, 1)):
                    (f,), (g,), (d,) = first(x), second(x), found.difference(x)
                    assert f - g == d
            if found.different_weights is not None:
                place = found.different_weights
                for net, weight in ((first, place.first), (second, place.second)):
                    assert _jump_at(net, place.point, place.normal) == weight[0]


def _jump(net: Network, segment: Segment) -> Fraction:
    low, middle, high = net([segment.beside(-1), segment.middle, segment.beside(1)])
    return low[0] + high[0] - 2 * middle[0]


def _jump_at(net: Network, point: tuple[Fraction, ...], normal: tuple[int, ...]) -> Fraction:
    """The weight at a point: the second difference along the normal over its squared length."""
    places = [
        [x + sign * STEP * n for x, n in zip(point, normal, strict=True)] for sign in (-1, 0, 1)
    ]
    (low,), (middle,), (high,) = net.evaluate(places)
    return (low + high - 2 * middle) / (STEP * sum(n * n for n in normal))


@pytest.mark.parametrize("seeds", few_some_and_all(range(3), range(40), range(1000)))
def test_fingerprints_are_equal_iff_functions_are(seeds: range) -> None:
    for seed in seeds:
        with case(seed):
            rng = Random(seed)
            hidden = [rng.randint(1, 2) for _ in range(rng.randint(1, 2))]
            widths = [rng.choice((1, 2, 2, 3)), *hidden, rng.randint(1, 2)]
            pair = random_pair(rng, widths, rng.randint(0, 2), rng.randint(0, 4))
            domain = rng.choice((None, None, "box:-1,2", "orthant"))
            first, second = network(pair.first), network(pair.second)
            other = network(nudged(pair.second, rng, Fraction(1, 7)))
            known = fingerprint(first, domain)
            assert fingerprint(second, domain) == known
            is_equal = equivalent(first, other, domain).status == "proved"
            assert (fingerprint(other, domain) == known) == is_equal


def cancelled(net: Network, arrangement: Arrangement) -> bool:
    """Whether a segment where a neuron folds, with active later layers, is not seen."""
    for segment in arrangement.segments:
        signs = signs_around(net, segment)
        folding = [v.layer for v, (a, m, b) in signs.items() if m == 0 and (a or b)]
        active = {v.layer for v, (_, m, _) in signs.items() if m > 0}
        later = range(min(folding, default=0) + 1, net.depth)
        if folding and active.issuperset(later) and not bends(net)(segment):
            return True
    return False


def dishonest(net: Network, arrangement: Arrangement) -> bool:
    """Whether segments around a point lie in pairs, and neurons of several layers fold there."""
    rays: dict[object, dict[object, int]] = {}
    near: dict[object, set[NeuronId]] = {}
    for segment in arrangement.segments:
        signs = signs_around(net, segment)
        for end in segment.ends:
            if max(map(abs, end)) < RADIUS:
                if any(m == 0 and (a or b) for a, m, b in signs.values()):
                    counts = rays.setdefault(end, {})
                    counts[segment.line] = counts.get(segment.line, 0) + 1
                near.setdefault(end, set()).update(v for v, found in signs.items() if any(found))
    for point, counts in rays.items():
        zero = {
            NeuronId(layer, index)
            for layer, table in enumerate(net.preactivations([point])[: net.depth - 1], 1)  # type: ignore[list-item]
            for index, (entry,) in enumerate(table.rows())
            if not entry
        }
        layers = {neuron.layer for neuron in zero & near[point]}
        if len(counts) > 1 and min(counts.values()) > 1 and len(layers) > 1:
            return True
    return False


@pytest.mark.parametrize("seeds", few_some_and_all(range(10), range(120), range(1000)))
def test_honest_and_cancellation_free(seeds: range) -> None:
    for seed in seeds:
        with case(seed):
            net = plane_network(Random(seed))
            cells, arrangement = canonical_complex(net, BOX), arrangement_of([net])
            assert (cancellation_free(cells).status == "fails") == cancelled(net, arrangement)
            assert (honest(cells).status == "fails") == dishonest(net, arrangement)
            check_anchors(cells)


def check_anchors(cells: PolyhedralComplex) -> None:
    """Anchors lie inside the domain on their hyperplane, where a neuron of layer 2 is positive."""
    if cells.network.num_hidden_layers < 2:
        return
    for neuron, anchor in zip(cells.neurons, visible_hyperplanes(cells), strict=False):
        if anchor is not None:
            first, second = cells.network.preactivations([anchor.point])[:2]
            assert anchor.neuron == neuron
            assert first[neuron.index, 0] == 0 < second[anchor.by.index, 0]
            assert cells.inside(cells.locate(anchor.point).dimension).any()  # type: ignore[union-attr]


@pytest.mark.parametrize("seeds", few_some_and_all(range(20), range(200), range(1000)))
def test_anchors_of_bottlenecks(seeds: range) -> None:
    """Row W, b is positive somewhere on z_i = 0, other z ≥ 0, iff b or another W_k is positive."""
    for seed in seeds:
        with case(seed):
            rng = Random(seed)
            n1, n2 = rng.randint(2, 3), rng.randint(1, 2)
            first = [[int(i == j) for j in range(3)] for i in range(n1)]
            rows = [[rng.randint(-2, 2) for _ in range(n1)] for _ in range(n2)]
            bias = [rng.randint(-2, 1) for _ in range(n2)]
            net = from_arrays([(first, [0] * n1), (rows, bias), ([[1] * n2], [0])])
            found = visible_hyperplanes(canonical_complex(net))
            for i, anchor in enumerate(found):
                others = [
                    max(b, *(w for k, w in enumerate(row) if k != i))
                    for row, b in zip(rows, bias, strict=True)
                ]
                assert (anchor is not None) == (max(others) > 0)


@pytest.mark.parametrize("seeds", few_some_and_all(range(3), range(14), range(60)))
def test_cliques(seeds: range) -> None:
    for seed in seeds:
        with case(seed):
            instance = random_clique_instance(2 + seed % 2, 2, 0.6, seed=seed)
            zero = from_arrays([([[0] * instance.num_classes], [0])])
            answer = equivalent(instance.network, zero)
            assert answer.status == ("proved" if instance.clique is None else "refuted")
            if instance.clique is not None:
                assert instance.network(instance.clique) == (Fraction(1, 2),)
                wide = instance.in_bottleneck()
                padding = [7] * (wide.num_inputs - instance.num_classes)
                assert wide([*instance.clique, *padding]) == (Fraction(1, 2),)


def test_hats_of_a_clique_instance() -> None:
    """The function by its definition, at points of a grid."""
    edges = [((0, 1), (1, 0)), ((0, 2), (1, 2))]
    net = clique_instance(2, 3, edges).network
    for a in range(-3, 14):
        for b in range(-3, 14):
            x, y = Fraction(a, 5), Fraction(b, 5)
            tops = [(x, (0, 1, 2)), (y, (0, 1, 2)), (x + 3 * y, (1, 8))]
            hats = [max(Fraction(0), 1 - 5 * abs(t - s)) for t, row in tops for s in row]
            assert net([x, y]) == (max(sum(hats) - Fraction(5, 2), Fraction(0)),)


def test_fingerprints_on_domains_of_lower_dimension() -> None:
    """Functions that are equal on a segment, not beside it; and one point."""
    segment = Polyhedron.from_generators([[0, 0], [2, 4]])
    one = from_arrays([([[1, 0], [0, 1]], [-1, 0]), ([[2, 1]], [0])])
    other = from_arrays([([[-1, 1], [3, "-1/2"]], [-1, 1]), ([[2, 1]], [-1])])
    assert one(["3/2", 3]) == other(["3/2", 3])
    assert one([1, 0]) != other([1, 0])
    known = fingerprint(one, segment)
    assert fingerprint(other, segment) == known
    assert fingerprint(one, Polyhedron.from_generators([[0, 0], [2, 5]])) != known
    assert fingerprint(from_arrays([([[2, 1]], [0])]), segment) != known
    assert compare_breakpoints(one, other, segment).is_same_function
    assert not compare_breakpoints(one, other).is_same_set
    point = Polyhedron.from_generators([["1/2", 1]])
    assert compare_breakpoints(one, other, point).is_same_function
    assert fingerprint(one, point) == fingerprint(other, point)
    with pytest.raises(DomainError, match="contains a line"):
        fingerprint(one, Polyhedron.from_constraints([[1, 0]], [0]))
