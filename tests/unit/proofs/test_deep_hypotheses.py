"""Theorem D on small networks: types of ridges, families, levels, and each hypothesis."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from polyrelu import checker, identify
from polyrelu.errors import DomainError
from polyrelu.exact import Rational
from polyrelu.network import Block, Layer, Network, from_arrays
from polyrelu.outcomes import Identifiable
from polyrelu.proofs.deep.families import Families, Family
from polyrelu.proofs.deep.hypotheses import Determined, Missing, deep_hypotheses, neuron_name
from polyrelu.proofs.deep.linear_systems import is_crossed_where_active, sign_system
from polyrelu.proofs.deep.ridges import DeepNetwork, NoRidge, Piece, Ridge, ridge_at
from polyrelu.proofs.deep.source_weights import sources
from tests.generators.ridge_points import ridge_points
from tests.oracles.judge import certificate_bytes

Rows = Sequence[Sequence[Rational]]
Stack = Sequence[tuple[list[list[int]], list[int]]]


def two_layers(rows: Rows, outputs: Rows) -> Network:
    """A network with two hidden layers, the first of which is the identity.

    The rows of layer 2 are [A_i | a_i]; the outputs have weights and no biases.
    """
    return from_arrays(
        [
            ([[1, 0], [0, 1]], [0, 0]),
            ([list(row[:-1]) for row in rows], [row[-1] for row in rows]),
            ([list(row) for row in outputs], [0] * len(outputs)),
        ]
    )


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
    """A piece in the form (1, 0) at 0+|+-."""
    deep_network = DeepNetwork.of(network)
    signs = signs_text(deep_network, piece.mask, [piece.neuron])
    return f"{neuron_name(deep_network.neuron_id(piece.neuron))} at {signs}"


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


# -- ridges ----------------------------------------------------------------------------------------


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
    """The ray where (1, 0) vanishes and (2, 0) is inactive is no piece."""
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
        pytest.param(
            [(1, 0, -1), (1, 1, 5)],
            [(1, 1)],
            (1, 0),
            id="the later neuron does not bend at the earlier one",
        ),
        pytest.param(
            [(1, 1, -2), (1, 1, 5)],
            [(0, 1)],
            (2, 0),
            id="the later neuron is unused: two rays are visible",
        ),
        pytest.param(
            [(1, -1, 1), (1, 1, -2)],
            [(1, 1)],
            (2, 0),
            id="u is invisible where v is active: terms cancel",
        ),
        pytest.param(
            [(1, 1, -2), (1, 1, 5), (1, -1, 5)],
            [(1, 1, 1)],
            (2, 0),
            id="u is invisible where v is inactive, but its layer is active: terms cancel",
        ),
    ],
)
def test_ridges_that_are_not_good(rows: Rows, outputs: Rows, point: Sequence[Rational]) -> None:
    found = ridge(two_layers(rows, outputs), point)
    assert (found.kind, found.links, found.pieces, found.crossing) == (None, (), (), None)


@pytest.mark.parametrize(
    ("network", "point", "reason"),
    [
        pytest.param(CORNERS, (1, 7), "0 neurons vanish here, not two", id="open cell"),
        pytest.param(CORNERS, (0, 7), "1 neuron vanishes here, not two", id="facet"),
        pytest.param(
            two_layers([(1, 1, 0)], [(1,)]), (0, 0), "3 neurons vanish here, not two", id="tie"
        ),
        pytest.param(
            from_arrays([([[1, 0], [2, 0]], [0, 0]), ([[1, 1]], [1]), ([[1]], [0])]),
            (0, 5),
            "the two gradients are dependent",
            id="one hyperplane twice",
        ),
        pytest.param(
            two_layers([(1, 1, 0)], [(1,)]),
            (-1, 0),
            "the two gradients are dependent",
            id="0 around",
        ),
    ],
)
def test_points_on_no_ridge(network: Network, point: Sequence[Rational], reason: str) -> None:
    found = ridge_at(DeepNetwork.of(network), point)
    assert isinstance(found, NoRidge)
    assert found.reason == reason


def test_more_inputs_and_outputs() -> None:
    """A ridge in R³ across which the second output alone jumps."""
    network = from_arrays(
        [
            ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]),
            ([[1, 1, 1], [1, -1, 2]], [-3, 1]),
            ([[1, -1], [0, 1]], [0, 0]),
        ]
    )
    found = ridge(network, (0, 1, 2))
    assert found == Ridge(0, 3, 0b10110, "B")


def test_three_hidden_layers_apart() -> None:
    """u lies in layer 1 and v in layer 3; v bends at u through layer 2."""
    network = from_arrays(
        [
            ([[1, 0], [0, 1]], [0, 0]),
            ([[1, 1], [1, -1]], [1, 5]),
            ([[1, 1], [1, -2]], [-8, 20]),
            ([[1, 3]], [0]),
        ]
    )
    found = ridge(network, (1, 0))
    assert (found.kind, found.u, found.v) == (None, 1, 4)
    other = from_arrays(
        [
            *((layer.weight, layer.bias) for layer in network.layers[:2]),
            ([[1, 2], [1, -2]], [-14, 20]),
            ([[1, 3]], [0]),
        ]
    )
    found = ridge(other, (1, 0))
    assert (found.kind, found.u, found.v) == ("B", 1, 4)


@pytest.mark.parametrize(
    "network",
    [
        from_arrays([([[1, 1]], [0])]),
        from_arrays([([[1], [2]], [0, 1]), ([[1, 1]], [0])]),
        from_arrays([([[1, 1]], [0]), ([[1]], [0])], last="relu"),
        Network(
            2,
            (
                *CORNERS.layers[:1],
                Layer((Block(0, CORNERS.weight(1)), *CORNERS.layers[1].blocks), CORNERS.bias(2)),
                CORNERS.layers[2],
            ),
        ),
    ],
    ids=["no hidden layer", "one input", "trailing ReLU", "skip connection"],
)
def test_networks_that_the_theorem_is_not_about(network: Network) -> None:
    with pytest.raises(DomainError, match="Theorem D"):
        deep_hypotheses(network, [])


def test_a_class_that_the_theorem_is_not_about() -> None:
    among: Any = "generic"
    with pytest.raises(
        DomainError, match="regular, transversal or sparse competitors, not 'generic'"
    ):
        deep_hypotheses(CORNERS, [], among)


def test_points_of_another_space() -> None:
    with pytest.raises(DomainError, match="has 3 coordinates, not 2"):
        deep_hypotheses(CORNERS, [(1, 2, 3)])


# -- families --------------------------------------------------------------------------------------


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
    assert (joined.num_active, joined.num_inactive, joined.crossed_by) == (0b11, 0b11, 0b11)


def test_levels_carry_chains() -> None:
    """Two neurons of layer 1 cross; one of them meets layer 2, and both have a chain up."""
    network = two_layers([(1, -1, -1), (-1, 2, 2)], [(1, 1)])
    alone = of_neuron(families_of(network, [(0, 0)]), 0)
    assert [family.chain_length for family in alone] == [0]
    families = families_of(network, [(0, 0), (1, 0), (2, 0)])
    assert [
        {family.chain_length for family in of_neuron(families, neuron)} for neuron in (0, 1)
    ] == [{1}, {1}]


# -- hypotheses ------------------------------------------------------------------------------------


def test_all_hold() -> None:
    found = deep_hypotheses(CORNERS, CORNER_POINTS)
    assert found.hold
    assert str(found) == "all hypotheses hold"
    assert {neuron for neuron, evidence in found.chosen.items() if evidence.oriented} == {2, 3}
    assert found.determined == Determined(1, (0, 1))


def test_for_regular_competitors_only_clear_ridges_count() -> None:
    """f is constant beside all of these ridges except (2, 0).

    There both neurons of layer 2 are inactive.
    """
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
)
def test_what_is_missing(chosen: tuple[int, ...], missing: list[str]) -> None:
    """(0, 1) and (2, 0) are enough, and no chain down is needed.

    At them each neuron of layer 2 crosses one neuron of layer 1, and the other one is active. Where
    the neurons of layer 2 meet, both neurons of layer 1 are active and have independent gradients,
    so that the weights are determined.
    """
    found = deep_hypotheses(CORNERS, [CORNER_POINTS[i] for i in chosen])
    assert [str(part) for part in found.missing] == missing


def test_a_neuron_that_is_never_crossed() -> None:
    """No neuron of layer 2 vanishes where (1, 0) is inactive; (1, 1) alone fixes its layer."""
    network = two_layers([(1, -1, -1), (-1, 2, 2)], [(1, 1)])
    assert deep_hypotheses(network, [(0, 0), (1, 0), (2, 0)]).hold
    found = deep_hypotheses(network, [(0, 0), (2, 0)])
    assert str(found) == "the chain up from (1, 0) is too short by 1\n(2, 0) has no piece"


@pytest.mark.parametrize(
    ("network", "missing"),
    [
        pytest.param(
            from_arrays(
                [
                    ([[1, -1], [3, -1], [-1, 2]], [2, 1, -3]),
                    ([[-3, 2, -3], [1, -3, -2]], [2, -3]),
                    ([[-1, 3]], [-2]),
                ]
            ),
            ["(1, 2) is active at no known piece of (2, 1)"],
            id="a weight that is free: the local fiber has dimension 1",
        ),
        pytest.param(
            from_arrays(
                [([[2, 0], [1, 1]], [-2, 1]), ([[1, -2], [0, 1]], [1, -1]), ([[2, 1]], [0])]
            ),
            ["the weight of (2, 1) on (1, 0) is 0"],
            id="and (1, 0) is active at some of its pieces",
        ),
        pytest.param(
            from_arrays(
                [
                    ([[0, 1], [-2, -2], [-1, -1]], [-1, -1, 0]),
                    ([[1, -2, -1], [1, -2, -2]], [-2, 1]),
                    ([[-1, 2]], [0]),
                ]
            ),
            ["3 weights of (2, 1) on neurons that do not cross it are not determined"],
            id="parallel hyperplanes: (2, 1) has one piece, two equations for 3 weights",
        ),
        pytest.param(
            from_arrays(
                [
                    ([[2, -2], [2, -1], [-2, 2]], [1, -2, 0]),
                    ([[1, -2, -2], [-2, 1, 1]], [0, 2]),
                    ([[2, -2]], [-1]),
                ]
            ),
            ["the signs of layer 1 are not determined: rank short by 1"],
            id="signs, and no piece that is crossed by all that are active",
        ),
    ],
)
def test_one_part_is_missing(network: Network, missing: list[str]) -> None:
    assert [
        str(part) for part in deep_hypotheses(network, ridge_points(network)).missing
    ] == missing


def test_a_weight_that_the_pieces_of_its_neuron_do_not_determine() -> None:
    """(2, 1) vanishes only where x_1 < 0, but it is active where x_1 = 0, and f bends there."""
    network = from_arrays(
        [
            ([[1, 0], [0, 1], [-1, 0]], [0, 0, -1]),
            ([[1, 1, 1], [1, 1, -2]], [-1, 5]),
            ([[1, 1]], [0]),
        ]
    )
    found = deep_hypotheses(network, ridge_points(network))
    assert found.hold
    assert sources(DeepNetwork.of(network), found.chosen) == {0: [4]}


@pytest.mark.parametrize(
    ("weights", "found_sources", "hold"),
    [
        pytest.param(
            [
                ([[-3, 2], [-3, 3], [-1, 2]], [2, 2, -3]),
                ([[-1, 3, -3], [1, -2, -2]], [1, 2]),
                ([[-1, -1]], [-3]),
            ],
            {0: [4]},
            True,
            id="one source",
        ),
        pytest.param(
            [
                ([[1, -3], [-3, 1], [-1, -2]], [-3, -2, 1]),
                ([[3, 3, 3], [-3, -1, -2]], [-3, 3]),
                ([[2, 2]], [-1]),
            ],
            {0: [3, 4]},
            True,
            id="one source for two neurons",
        ),
        pytest.param(
            [
                ([[2, -2], [-3, -3], [-3, 2]], [-3, 3, 1]),
                ([[2, 2, -3], [3, 1, -3]], [2, -1]),
                ([[3, -2]], [-1]),
            ],
            {0: [3], 2: [4]},
            True,
            id="two sources",
        ),
        pytest.param(
            [
                ([[1, -1], [3, -1], [-1, 2]], [2, 1, -3]),
                ([[-3, 2, -3], [1, -3, -2]], [2, -3]),
                ([[-1, 3]], [-2]),
            ],
            {2: [4]},
            False,
            id="a free weight",
        ),
    ],
)
def test_weights_on_sources(
    weights: Stack, found_sources: dict[int, list[int]], hold: bool
) -> None:
    network = from_arrays(weights)
    found = deep_hypotheses(network, ridge_points(network))
    assert (found.hold, sources(DeepNetwork.of(network), found.chosen)) == (hold, found_sources)


def test_signs_that_rest_on_the_class() -> None:
    """A network with a vanishing masked product, whose flips the class alone excludes.

    σ(x) + σ(y) + σ(1 - x - y) = σ(-x) + σ(-y) + σ(x + y - 1) + 1. No competitor computes this
    function, so that the theorem holds.
    """
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
    """Two equations cannot determine four signs, but all four neurons cross the one of layer 2."""
    network = from_arrays(
        [
            ([[4, -4], [-1, -4], [2, 2], [2, 5]], [2, -1, -3, 3]),
            ([[1, 4, 4, 1]], [-32]),
            ([[1]], [0]),
        ]
    )
    found = deep_hypotheses(network, ridge_points(network))
    assert found.hold
    above = [found.chosen[4]]
    deep_network = DeepNetwork.of(network)
    assert is_crossed_where_active(deep_network, above)
    assert len(sign_system(deep_network, 1, above[0], 0b1111).remaining) == 2


SETS = [
    ([[2, 1], [2, -1], [1, -2]], [0, 2, -1]),
    ([[2, -2, -1], [-2, 2, -1]], [-2, -1]),
    ([[2, 2]], [2]),
]
PIECE = [
    ([[-1, 1], [2, -1], [2, -1]], [2, 0, -1]),
    ([[2, -1, 1], [1, 2, 2]], [-1, -1]),
    ([[-1, -1]], [1]),
]


@pytest.mark.parametrize(
    ("layers", "rule"), [(SETS, "all_excluded"), (PIECE, "is_crossed")], ids=["sets", "piece"]
)
def test_signs_that_ranks_leave_open(
    layers: list[Any], rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each set of flipped signs is excluded by itself; or all that are active at a piece cross."""
    network = from_arrays(layers)
    found = deep_hypotheses(network, ridge_points(network))
    assert found.hold
    outcome = identify(network, among="transversal")
    assert isinstance(outcome, Identifiable)
    assert outcome.certificate.theorem == "deep"
    certificate = certificate_bytes(outcome)
    assert checker.check_bytes(certificate).verdict == "accepted"
    monkeypatch.setattr(checker.SignSystem, rule, lambda *_: False)
    report = checker.check_bytes(certificate)
    assert (report.verdict, report.step) == ("rejected", "signs")


def test_no_points_no_pieces() -> None:
    found = deep_hypotheses(CORNERS, [])
    pieces = tuple(Missing("piece", n.layer, n) for n in CORNERS.neurons)
    assert found.missing == (*pieces, Missing("signs", 1, shortfall=2))
    assert found.determined == Determined(0, ())
    assert str(found).splitlines()[0] == "(1, 0) has no piece"
