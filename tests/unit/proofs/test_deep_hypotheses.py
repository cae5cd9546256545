"""Theorem D on networks worked out by hand: types of ridges, families and levels, each hypothesis and its failure."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from polyrelu.errors import DomainError
from polyrelu.exact import Rational
from polyrelu.network import Block, Layer, Network, from_arrays
from polyrelu.proofs.deep.families import Families, Family
from polyrelu.proofs.deep.hypotheses import Determined, Missing, deep_hypotheses
from polyrelu.proofs.deep.linear_systems import is_crossed_by_all, sign_rank_deficit
from polyrelu.proofs.deep.ridges import DeepNetwork, NoRidge, Piece, Ridge, ridge_at
from polyrelu.proofs.deep.source_weights import sources
from tests.generators.ridge_points import ridge_points

Rows = Sequence[Sequence[Rational]]
Stack = Sequence[tuple[list[list[int]], list[int]]]


def two_layers(rows: Rows, outputs: Rows) -> Network:
    """Layer 1 is x itself, the rows of layer 2 are [A_i | a_i], those of layer 3 are weights without bias."""
    return from_arrays([
        ([[1, 0], [0, 1]], [0, 0]),
        ([list(row[:-1]) for row in rows], [row[-1] for row in rows]),
        ([list(row) for row in outputs], [0] * len(outputs)),
    ])  # fmt: skip


def ridge(network: Network, point: Sequence[Rational]) -> Ridge:
    found = ridge_at(DeepNetwork.of(network), point)
    assert isinstance(found, Ridge)
    return found


def signs_text(deep_network: DeepNetwork, mask: int, zeros: Sequence[int] = ()) -> str:
    """The signs of all hidden neurons, such as +0|-+."""
    signs = [
        "0" if neuron in zeros else "-+"[mask >> neuron & 1] for neuron in range(deep_network.size)
    ]
    layers = range(1, deep_network.depth)
    return "|".join(
        "".join(signs[neuron] for neuron in deep_network.neurons_in(layer)) for layer in layers
    )


def text(network: Network, piece: Piece) -> str:
    """A piece as (1, 0) at 0+|+-."""
    deep_network = DeepNetwork.of(network)
    neuron = deep_network.neuron_id(piece.neuron)
    return f"({neuron.layer}, {neuron.index}) at {signs_text(deep_network, piece.mask, [piece.neuron])}"


def families_of(network: Network, points: Sequence[Sequence[Rational]]) -> Families:
    return Families(DeepNetwork.of(network), [ridge(network, point) for point in points])


def of_neuron(families: Families, neuron: int) -> list[Family]:
    """The families of one neuron, large ones first."""
    return sorted(
        (family for family in families.all() if family.neuron == neuron),
        key=lambda f: -len(f.masks),
    )


CORNERS = two_layers([(1, -1, 1), (1, 1, -2)], [(1, 2)])
CORNER_POINTS: list[Sequence[Rational]] = [(0, 1), (0, 2), (2, 0), ("1/2", "3/2")]


# -- ridges -------------------------------------------------------------------------------------------------------


def test_type_a() -> None:
    network = two_layers([(1, 1, 1)], [(1,)])
    found = ridge(network, (0, 0))
    assert found == Ridge(0, 1, 0b100, "A")
    assert [(text(network, one), text(network, other)) for one, other in found.links] == [
        ("(1, 1) at +0|+", "(1, 1) at -0|+"),
        ("(1, 0) at 0+|+", "(1, 0) at 0-|+"),
    ]
    sectors = {signs_text(DeepNetwork.of(network), mask) for mask in found.sectors}
    assert sectors == {"++|+", "+-|+", "-+|+", "--|+"}


def test_type_b() -> None:
    found = ridge(CORNERS, (2, 0))
    assert found == Ridge(1, 3, 0b101, "B")
    assert len(found.links) == 2
    assert found.crossing is not None
    assert (
        found.crossing.kind,
        text(CORNERS, found.crossing.u),
        text(CORNERS, found.crossing.v),
    ) == (
        "B",
        "(1, 1) at +0|++",
        "(2, 1) at ++|+0",
    )


def test_type_c() -> None:
    """The ray on which (1, 0) vanishes and (2, 0) is off is no piece: nothing of layer 2 is on there."""
    found = ridge(CORNERS, (0, 1))
    assert found == Ridge(0, 2, 0b10, "C")
    assert {text(CORNERS, piece) for piece in found.pieces} == {
        "(2, 0) at -+|0-",
        "(2, 0) at ++|0-",
        "(1, 0) at 0+|+-",
    }
    assert [tuple(text(CORNERS, piece) for piece in link) for link in found.links] == [
        ("(2, 0) at ++|0-", "(2, 0) at -+|0-")
    ]
    oriented = {family.neuron: family.oriented for family in families_of(CORNERS, [(0, 1)]).all()}
    assert oriented == {0: False, 2: True}


@pytest.mark.parametrize(
    ("rows", "outputs", "point"),
    [
        pytest.param([(1, 1, -1)], [(1,)], (0, 0), id="A: none of the four rays is visible"),
        pytest.param([(1, 0, -1), (1, 1, 5)], [(1, 1)], (1, 0), id="the later neuron does not bend at the earlier one"),
        pytest.param([(1, 1, -2), (1, 1, 5)], [(0, 1)], (2, 0), id="the later neuron is unused: two rays are visible"),
        pytest.param([(1, -1, 1), (1, 1, -2)], [(1, 1)], (2, 0), id="u is invisible where v is on: terms cancel"),
        pytest.param([(1, 1, -2), (1, 1, 5), (1, -1, 5)], [(1, 1, 1)], (2, 0),
                     id="u is invisible where v is off, but others of its layer are on: terms cancel"),
    ],
)  # fmt: skip
def test_ridges_that_are_not_good(rows: Rows, outputs: Rows, point: Sequence[Rational]) -> None:
    found = ridge(two_layers(rows, outputs), point)
    assert (found.kind, found.links, found.pieces, found.crossing) == (None, (), (), None)


@pytest.mark.parametrize(
    ("network", "point", "reason"),
    [
        pytest.param(CORNERS, (1, 7), "0 neurons vanish here, not two", id="open cell"),
        pytest.param(CORNERS, (0, 7), "1 neuron vanishes here, not two", id="facet"),
        pytest.param(two_layers([(1, 1, 0)], [(1,)]), (0, 0), "3 neurons vanish here, not two", id="tie"),
        pytest.param(from_arrays([([[1, 0], [2, 0]], [0, 0]), ([[1, 1]], [1]), ([[1]], [0])]), (0, 5),
                     "the two gradients are dependent", id="one hyperplane twice"),
        pytest.param(two_layers([(1, 1, 0)], [(1,)]), (-1, 0), "the two gradients are dependent", id="0 around"),
    ],
)  # fmt: skip
def test_points_on_no_ridge(network: Network, point: Sequence[Rational], reason: str) -> None:
    found = ridge_at(DeepNetwork.of(network), point)
    assert isinstance(found, NoRidge)
    assert found.reason == reason


def test_more_inputs_and_outputs() -> None:
    """A ridge in R³, and a jump that only the second output shows."""
    network = from_arrays([
        ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]),
        ([[1, 1, 1], [1, -1, 2]], [-3, 1]),
        ([[1, -1], [0, 1]], [0, 0]),
    ])  # fmt: skip
    found = ridge(network, (0, 1, 2))
    assert found == Ridge(0, 3, 0b10110, "B")


def test_three_hidden_layers_apart() -> None:
    """u in layer 1, v in layer 3; v bends at u, and reads it through layer 2."""
    network = from_arrays([
        ([[1, 0], [0, 1]], [0, 0]),
        ([[1, 1], [1, -1]], [1, 5]),
        ([[1, 1], [1, -2]], [-8, 20]),
        ([[1, 3]], [0]),
    ])  # fmt: skip
    found = ridge(network, (1, 0))
    assert (found.kind, found.u, found.v) == (None, 1, 4)
    other = from_arrays([*((layer.weight, layer.bias) for layer in network.layers[:2]),
                         ([[1, 2], [1, -2]], [-14, 20]), ([[1, 3]], [0])])  # fmt: skip
    found = ridge(other, (1, 0))
    assert (found.kind, found.u, found.v) == ("B", 1, 4)


@pytest.mark.parametrize(
    "network",
    [
        from_arrays([([[1, 1]], [0])]),
        from_arrays([([[1], [2]], [0, 1]), ([[1, 1]], [0])]),
        from_arrays([([[1, 1]], [0]), ([[1]], [0])], last="relu"),
        Network(2, (*CORNERS.layers[:1], Layer((Block(0, CORNERS.weight(1)), *CORNERS.layers[1].blocks),
                                               CORNERS.bias(2)), CORNERS.layers[2])),
    ],
    ids=["no hidden layer", "one input", "trailing ReLU", "skip connection"],
)  # fmt: skip
def test_networks_that_the_theorem_is_not_about(network: Network) -> None:
    with pytest.raises(DomainError, match="Theorem D"):
        deep_hypotheses(network, [])


def test_a_class_that_the_theorem_is_not_about() -> None:
    among: Any = "generic"
    with pytest.raises(DomainError, match="regular or transversal competitors, not 'generic'"):
        deep_hypotheses(CORNERS, [], among)


def test_points_of_another_space() -> None:
    with pytest.raises(DomainError, match="has 3 coordinates, not 2"):
        deep_hypotheses(CORNERS, [(1, 2, 3)])


# -- families -----------------------------------------------------------------------------------------------------


def test_families_grow_and_are_joined_by_ridges() -> None:
    families, neuron = families_of(CORNERS, [(0, 2), (2, 0)]), 3
    first, second = of_neuron(families, neuron)
    assert {text(CORNERS, Piece(neuron, mask)) for mask in first.masks} == {
        "(2, 1) at -+|-0",
        "(2, 1) at ++|-0",
    }
    assert {text(CORNERS, Piece(neuron, mask)) for mask in second.masks} == {
        "(2, 1) at ++|+0",
        "(2, 1) at +-|+0",
    }
    assert [family.crossed_by for family in (first, second)] == [0b1, 0b10]
    families.add(ridge(CORNERS, ("1/2", "3/2")))
    (joined,) = of_neuron(families, neuron)
    assert {signs_text(DeepNetwork.of(CORNERS), mask, [neuron]) for mask in joined.masks} == {
        "-+|-0",
        "++|-0",
        "++|+0",
        "+-|+0",
    }
    assert (joined.active, joined.inactive, joined.crossed_by) == (0b11, 0b11, 0b11)


def test_levels_carry_chains() -> None:
    """Two neurons of layer 1 cross; only one of them meets layer 2, yet both have a chain up."""
    network = two_layers([(1, -1, -1), (-1, 2, 2)], [(1, 1)])
    alone = of_neuron(families_of(network, [(0, 0)]), 0)
    assert [family.chain_length for family in alone] == [0]
    families = families_of(network, [(0, 0), (1, 0), (2, 0)])
    assert [
        {family.chain_length for family in of_neuron(families, neuron)} for neuron in (0, 1)
    ] == [{1}, {1}]


# -- hypotheses ---------------------------------------------------------------------------------------------------


def test_all_hold() -> None:
    found = deep_hypotheses(CORNERS, CORNER_POINTS)
    assert found.hold
    assert str(found) == "all hypotheses hold"
    assert {neuron for neuron, portrait in found.chosen.items() if portrait.oriented} == {2, 3}
    assert found.determined == Determined(1, (0, 1))


def test_for_regular_competitors_only_clear_ridges_count() -> None:
    """f is constant where both neurons of layer 2 are off: beside all of these ridges but (2, 0)."""
    deep_network = DeepNetwork.of(CORNERS, "regular")
    found = [ridge_at(deep_network, point) for point in CORNER_POINTS]
    assert [one.kind for one in found if isinstance(one, Ridge)] == [None, None, "B", None]
    assert (
        str(deep_hypotheses(CORNERS, CORNER_POINTS, "regular"))
        == "(1, 0) has no piece\n(2, 0) has no piece"
    )


def test_useless_points_change_nothing() -> None:
    points = [*CORNER_POINTS, (0, 1), (0, 0), (5, 5), (Fraction(1, 3), 0)]
    assert deep_hypotheses(CORNERS, points).hold


def test_order_does_not_matter() -> None:
    for shift in range(len(CORNER_POINTS)):
        assert deep_hypotheses(CORNERS, CORNER_POINTS[shift:] + CORNER_POINTS[:shift]).hold


@pytest.mark.parametrize(
    ("chosen", "missing"),
    [
        ((0, 2), []),
        ((1, 2, 3), []),
        ((0, 1, 3), ["(1, 1) has no piece"]),
        ((3,), ["(1, 0) has no piece", "(1, 1) has no piece"]),
    ],
)  # fmt: skip
def test_what_is_missing(chosen: tuple[int, ...], missing: list[str]) -> None:
    """(0, 1) and (2, 0) are enough: each neuron of layer 2 crosses one of layer 1 and has the other one on. Where the
    neurons of layer 2 meet both of layer 1 are on, and their gradients are independent, so that the weights are seen;
    no chain down is needed."""
    found = deep_hypotheses(CORNERS, [CORNER_POINTS[i] for i in chosen])
    assert [str(part) for part in found.missing] == missing


def test_a_neuron_that_is_never_crossed() -> None:
    """Where (1, 0) is off, no neuron of layer 2 vanishes; (1, 1) alone shows what layer it is in."""
    network = two_layers([(1, -1, -1), (-1, 2, 2)], [(1, 1)])
    assert deep_hypotheses(network, [(0, 0), (1, 0), (2, 0)]).hold
    found = deep_hypotheses(network, [(0, 0), (2, 0)])
    assert str(found) == "the chain up from (1, 0) is too short by 1\n(2, 0) has no piece"


@pytest.mark.parametrize(
    ("network", "missing"),
    [
        pytest.param(
            from_arrays([([[1, -1], [3, -1], [-1, 2]], [2, 1, -3]), ([[-3, 2, -3], [1, -3, -2]], [2, -3]),
                         ([[-1, 3]], [-2])]),
            ["(1, 2) is not on at any known piece of (2, 1)"],
            id="a weight that is free: the local fiber has dimension 1",
        ),
        pytest.param(
            from_arrays([([[2, 0], [1, 1]], [-2, 1]), ([[1, -2], [0, 1]], [1, -1]), ([[2, 1]], [0])]),
            ["the weight of (2, 1) on (1, 0) is 0"],
            id="and (1, 0) is on at some of its pieces",
        ),
        pytest.param(
            from_arrays([([[0, 1], [-2, -2], [-1, -1]], [-1, -1, 0]), ([[1, -2, -1], [1, -2, -2]], [-2, 1]),
                         ([[-1, 2]], [0])]),
            ["3 weights of (2, 1) on neurons that do not cross it: not determined"],
            id="parallel hyperplanes: (2, 1) has one piece, all of layer 1 is on there, and there are two equations",
        ),
        pytest.param(
            from_arrays([([[0, 1], [1, -1], [-2, -1]], [2, 1, -2]), ([[-1, 2, -1], [1, -1, -1]], [0, -1]),
                         ([[-2, -1]], [-2])]),
            ["the signs of layer 1 are not determined: rank short by 1"],
            id="signs, and no neuron that is crossed by all",
        ),
    ],
)  # fmt: skip
def test_one_thing_is_missing(network: Network, missing: list[str]) -> None:
    assert [
        str(part) for part in deep_hypotheses(network, ridge_points(network)).missing
    ] == missing


def test_a_weight_that_the_pieces_of_its_neuron_do_not_show() -> None:
    """(2, 1) vanishes only where x_1 < 0, but it is on where x_1 = 0, and f bends there."""
    network = from_arrays([
        ([[1, 0], [0, 1], [-1, 0]], [0, 0, -1]),
        ([[1, 1, 1], [1, 1, -2]], [-1, 5]),
        ([[1, 1]], [0]),
    ])  # fmt: skip
    found = deep_hypotheses(network, ridge_points(network))
    assert found.hold
    assert sources(DeepNetwork.of(network), found.chosen) == {0: [4]}


@pytest.mark.parametrize(
    ("weights", "unseen", "shown"),
    [
        pytest.param(
            [([[-3, 2], [-3, 3], [-1, 2]], [2, 2, -3]), ([[-1, 3, -3], [1, -2, -2]], [1, 2]), ([[-1, -1]], [-3])],
            {0: [4]}, True, id="one source",
        ),
        pytest.param(
            [([[1, -3], [-3, 1], [-1, -2]], [-3, -2, 1]), ([[3, 3, 3], [-3, -1, -2]], [-3, 3]), ([[2, 2]], [-1])],
            {0: [3, 4]}, True, id="one source for two neurons",
        ),
        pytest.param(
            [([[2, -2], [-3, -3], [-3, 2]], [-3, 3, 1]), ([[2, 2, -3], [3, 1, -3]], [2, -1]), ([[3, -2]], [-1])],
            {0: [3], 2: [4]}, True, id="two sources",
        ),
        pytest.param(
            [([[1, -1], [3, -1], [-1, 2]], [2, 1, -3]), ([[-3, 2, -3], [1, -3, -2]], [2, -3]), ([[-1, 3]], [-2])],
            {2: [4]}, False, id="a free weight",
        ),
    ],
)  # fmt: skip
def test_unseen_weights(weights: Stack, unseen: dict[int, list[int]], shown: bool) -> None:
    network = from_arrays(weights)
    found = deep_hypotheses(network, ridge_points(network))
    assert (found.hold, sources(DeepNetwork.of(network), found.chosen)) == (shown, unseen)


def test_signs_that_rest_on_the_class() -> None:
    """σ(x) + σ(y) + σ(1 - x - y) = σ(-x) + σ(-y) + σ(x + y - 1) + 1: the flips of a network with a vanishing masked
    product. No competitor computes this function, so that the theorem holds; the class alone excludes these flips."""
    rows, bias = [[1, 0], [0, 1], [-1, -1]], [0, 0, 1]
    network = from_arrays([(rows, bias), ([[1, 1, 1]], [0])])
    flipped = from_arrays(
        [([[-w for w in row] for row in rows], [-b for b in bias]), ([[1, 1, 1]], [1])]
    )
    assert all(network(x) == flipped(x) for x in ((0, 0), (1, 2), (-3, 1), (2, -5), ("1/3", "1/3")))
    assert deep_hypotheses(network, [(0, 0), (1, 0), (0, 1)]).hold
    weight = network.weight(2) @ network.weight(1)
    assert weight.is_zero()


def test_wide_first_layers_rest_on_the_class() -> None:
    """n_2 n_0 = 2 equations cannot determine the signs of four neurons, but all of them cross the one of layer 2."""
    network = from_arrays([
        ([[4, -4], [-1, -4], [2, 2], [2, 5]], [2, -1, -3, 3]),
        ([[1, 4, 4, 1]], [-32]),
        ([[1]], [0]),
    ])  # fmt: skip
    found = deep_hypotheses(network, ridge_points(network))
    assert found.hold
    above = [found.chosen[4]]
    assert is_crossed_by_all(DeepNetwork.of(network), above)
    assert sign_rank_deficit(DeepNetwork.of(network), 1, found.chosen, above) >= 2


def test_no_points_no_pieces() -> None:
    found = deep_hypotheses(CORNERS, [])
    pieces = tuple(Missing("piece", n.layer, n) for n in CORNERS.neurons())
    assert found.missing == (*pieces, Missing("signs", 1, shortfall=2))
    assert found.determined == Determined(0, ())
    assert str(found).splitlines()[0] == "(1, 0) has no piece"
