"""Theorem D against routes that share nothing with it, on random small networks of two to four hidden layers.

* Where all hypotheses hold, the exact dimension of the local fiber is 0, and no known move leads to a competitor.
* Types of ridges are those of the exact complex.
* Networks with symmetries beyond the trivial ones never satisfy the hypotheses, whatever the points.
* On a small grid, no certified network has the function of another one that is a competitor.

A network outside the class of competitors may have other networks with its function though the hypotheses hold: so
what is compared with is in the class, or is a positive dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations, islice, pairwise, product
from random import Random

import pytest

from polyrelu.breakpoints import breakpoint_complex
from polyrelu.complex import Cell, canonical_complex
from polyrelu.conditions import supertransversality
from polyrelu.exact import RationalMatrix
from polyrelu.fibers import fiber_moves, not_localizable
from polyrelu.network import Network, SignVector, from_arrays
from polyrelu.proofs.deep_points import DeepHypotheses, deep_hypotheses
from polyrelu.proofs.deep_ridges import Ridge, ridge_at, whole_space
from polyrelu.proofs.deep_search import DeepSearch
from polyrelu.symmetry import moves
from tests.oracles.grid import grid_table, member_indices_on_grid, related
from tests.oracles.local_fiber import local_fiber_dimension
from tests.oracles.plain import Network as Stack
from tests.ridge_points import ridge_points
from tests.strategies import exact_network

Number = Callable[[Random], Fraction]

NUMBERS: dict[str, Number] = {
    "gaussian": lambda rng: Fraction(round(rng.gauss(0, 1) * 1024) or 1, 1024),
    "small": lambda rng: Fraction(rng.randint(-2, 2)),
    "no zeros": lambda rng: Fraction(rng.choice([-3, -2, -1, 1, 2, 3])),
}
WIDTHS = ((2, 3, 1), (2, 2, 2, 1), (3, 2, 2, 1), (2, 3, 2, 2), (2, 2, 1, 1), (2, 2, 2, 2, 1), (2, 2, 2, 2, 2, 1))


def stack(widths: tuple[int, ...], kind: str, rng: Random) -> Stack:
    number = NUMBERS[kind]
    return [
        ([[number(rng) for _ in range(n)] for _ in range(m)], [number(rng) for _ in range(m)])
        for n, m in pairwise(widths)
    ]


def everything_seen(network: Network) -> DeepHypotheses:
    """The hypotheses at all ridges there are."""
    return deep_hypotheses(network, ridge_points(network))


def is_competitor(network: Network) -> bool:
    """Whether a network is in the class: no masked product vanishes, and it is supertransversal."""
    depth, widths = network.depth, network.widths
    for first, last in combinations(range(depth + 1), 2):
        masks = [[tuple(range(widths[m]))] if m in (0, depth) else list(_masks(widths[m])) for m in range(depth + 1)]
        for chosen in product(*masks[first : last + 1]):
            if _masked_product(network, first, chosen).is_zero():
                return False
    return supertransversality(canonical_complex(network)).status == "holds"


def _masks(width: int) -> Iterator[tuple[int, ...]]:
    return (mask for size in range(1, width + 1) for mask in combinations(range(width), size))


def _masked_product(network: Network, first: int, masks: tuple[tuple[int, ...], ...]) -> RationalMatrix:
    """I_l W[l] ⋯ W[k+1] I_k, without the zero rows and columns."""
    factors = [
        network.weight(first + 1 + i).take(rows=above, columns=below)
        for i, (below, above) in enumerate(pairwise(masks))
    ]
    result = factors[0]
    for factor in factors[1:]:
        result = factor @ result
    return result


# -- where the hypotheses hold ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("widths", WIDTHS, ids=str)
def test_no_local_fiber(widths: tuple[int, ...], kind: str) -> None:
    for seed in range(15):
        layers = stack(widths, kind, Random(f"{widths} {kind} {seed}"))
        if everything_seen(exact_network(layers)).hold:
            assert local_fiber_dimension(layers).dimension <= 0, (widths, kind, seed)


@pytest.mark.parametrize("widths", WIDTHS[1:4], ids=str)
def test_no_move_to_a_competitor(widths: tuple[int, ...]) -> None:
    for seed in range(40):
        network = exact_network(stack(widths, "small", Random(f"{widths} moves {seed}")))
        if everything_seen(network).hold:
            for move in islice((*moves(network), *islice(fiber_moves(network), 4)), 8):
                assert not is_competitor(move.other), (widths, seed, move.story)


def test_two_hidden_layers_are_complete() -> None:
    """With n_0 = n_1 = n_2 = 2 and Gaussian weights the hypotheses hold wherever the local fiber is a point."""
    held = 0
    for seed in range(40):
        layers = stack((2, 2, 2, 1), "gaussian", Random(f"complete {seed}"))
        hold = everything_seen(exact_network(layers)).hold
        assert hold == (local_fiber_dimension(layers).dimension == 0), seed
        held += hold
    assert held > 10


def test_against_all_networks_on_a_grid() -> None:
    """All weights in {-1, 0, 1} are competitors for some certified networks with weights in it."""
    values = (-1, 0, 1)
    table = grid_table((2, 2, 1, 1), tuple(map(Fraction, values)))
    rng, held = Random(5), 0
    while held < 12:
        layers = [([[Fraction(rng.choice(values)) for _ in range(n)] for _ in range(m)],
                   [Fraction(rng.choice(values)) for _ in range(m)]) for n, m in pairwise((2, 2, 1, 1))]  # fmt: skip
        if everything_seen(exact_network(layers)).hold:
            held += 1
            members = [table.network(int(index)) for index in member_indices_on_grid(layers, values)]
            others = [member for member in members if not related(layers, member)]
            assert not any(is_competitor(exact_network(other)) for other in others)


# -- ridges and the complex ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("widths", [(2, 3, 2, 1), (2, 2, 2, 2, 1), (2, 2, 3, 2), (3, 2, 2, 1)], ids=str)
def test_ridges_are_those_of_the_complex(widths: tuple[int, ...], kind: str) -> None:
    for seed in range(6):
        network = exact_network(stack(widths, kind, Random(f"{widths} ridges {kind} {seed}")))
        cells, space = canonical_complex(network), whole_space(network)
        breaks = breakpoint_complex(cells)
        visible = {
            cells.sign_vector(Cell(network.inputs - 1, int(facet))): bool(seen)
            for facet, seen in zip(breaks.facets, breaks.visible, strict=True)
        }
        regions = {cells.sign_vector(cell) for cell in cells.cells(network.inputs)}
        for point in ridge_points(network):
            ridge = ridge_at(space, point)
            assert isinstance(ridge, Ridge)
            assert set(ridge.sectors) <= regions
            assert _seen(ridge) == {pair: visible[ridge.at(pair)] for pair in RAYS}
            assert ridge.kind == _kind(network, ridge)


RAYS = ((0, 1), (0, -1), (1, 0), (-1, 0))
SECTORS = ((1, 1), (1, -1), (-1, 1), (-1, -1))


def _seen(ridge: Ridge) -> dict[tuple[int, int], bool]:
    return {pair: pair in ridge.visible for pair in RAYS}


def _kind(network: Network, ridge: Ridge) -> str | None:
    """The type by the affine maps of the sectors, and by the definition."""
    maps = {pair: network.affine_map(ridge.at(pair)).matrix for pair in SECTORS}
    jumps = {
        (0, 1): maps[1, 1] != maps[-1, 1],
        (0, -1): maps[1, -1] != maps[-1, -1],
        (1, 0): maps[1, 1] != maps[1, -1],
        (-1, 0): maps[-1, 1] != maps[-1, -1],
    }
    if ridge.u.layer == ridge.v.layer:
        return "A" if all(jumps.values()) else None
    if not _bends(network, ridge):
        return None
    if all(jumps.values()):
        return "B"
    constant = maps[1, -1].is_zero() and maps[-1, -1].is_zero()
    own = ridge.signs.layers[ridge.v.layer - 1]
    return "C" if jumps == {**dict.fromkeys(RAYS, True), (0, -1): False} and constant and max(own) == 0 else None


def _bends(network: Network, ridge: Ridge) -> bool:
    """Whether the gradients of z_v with u on and with u off are independent."""
    gradients = []
    for sign in (1, -1):
        form = RationalMatrix.identity(network.inputs)
        signs: SignVector = ridge.at((sign, 0))
        for layer in range(1, ridge.v.layer):
            form = (network.weight(layer) @ form).scale_rows([int(s > 0) for s in signs.layers[layer - 1]])
        gradients.append((network.weight(ridge.v.layer) @ form).row(ridge.v.index))
    one, other = gradients
    return any(one[i] * other[k] != one[k] * other[i] for i, k in combinations(range(network.inputs), 2))


# -- symmetries ---------------------------------------------------------------------------------------------------


def _gaussian(widths: tuple[int, ...], seed: object) -> Stack:
    return stack(widths, "gaussian", Random(str(seed)))


def _hiding(layers: Stack) -> None:
    """All rows of layer 2 hide neuron (1, 0)."""
    weight, bias = layers[1]
    for i, row in enumerate(weight):
        weight[i], bias[i] = [abs(row[0]), *(-abs(w) for w in row[1:])], -abs(bias[i])


def _one_sided(layers: Stack, sign: int, layer: int) -> None:
    weight, bias = layers[layer]
    weight[0], bias[0] = [sign * abs(w) for w in weight[0]], sign * abs(bias[0])


def _doubled(layers: Stack, layer: int, factor: int) -> None:
    weight, bias = layers[layer]
    weight[0], bias[0] = [factor * w for w in weight[1]], factor * bias[1]


def _unused(layers: Stack, layer: int) -> None:
    for row in layers[layer + 1][0]:
        row[0] = Fraction(0)


SYMMETRIES: dict[str, Callable[[Stack, int], None]] = {
    "hidden": lambda layers, layer: _hiding(layers),
    "dead": lambda layers, layer: _one_sided(layers, -1, max(layer, 1)),
    "linear": lambda layers, layer: _one_sided(layers, 1, max(layer, 1)),
    "doubled": lambda layers, layer: _doubled(layers, layer, 2),
    "opposite": lambda layers, layer: _doubled(layers, layer, -1),
    "unused": _unused,
}


@pytest.mark.parametrize("name", SYMMETRIES)
@pytest.mark.parametrize("widths", [(2, 2, 2, 1), (3, 2, 2, 2), (2, 2, 3, 2, 1)], ids=str)
def test_symmetries_are_never_certified(widths: tuple[int, ...], name: str) -> None:
    for seed in range(8):
        layers = _gaussian(widths, (widths, name, seed))
        SYMMETRIES[name](layers, seed % (len(widths) - 2))
        assert not everything_seen(exact_network(layers)).hold, (widths, name, seed)


def test_members_of_a_fiber_are_never_certified() -> None:
    """A network with a move to another one in the class is not certified, and neither is that one."""
    found = 0
    for seed in range(60):
        network = exact_network(_gaussian((2, 2, 2, 1), ("fiber", seed)))
        for move in islice((*moves(network), *islice(fiber_moves(network), 2)), 3):
            if is_competitor(network) and is_competitor(move.other):
                found += 1
                assert not everything_seen(network).hold
                assert not everything_seen(move.other).hold
    assert found > 5


@pytest.mark.parametrize("widths", [(2, 2, 2, 1, 1), (2, 2, 1, 2, 1)], ids=str)
def test_not_localizable_networks_are_never_certified(widths: tuple[int, ...]) -> None:
    for seed in range(3):
        assert not everything_seen(not_localizable(widths, seed).network).hold


# -- the search ---------------------------------------------------------------------------------------------------


def test_the_search_is_reproducible_and_its_points_suffice() -> None:
    network = exact_network(_gaussian((3, 3, 3, 1), 2))
    first, second = DeepSearch(network, seed=1), DeepSearch(network, seed=1)
    found = first.run(rounds=12)
    assert found.missing == second.run(rounds=12).missing
    assert first.points == second.points
    assert deep_hypotheses(network, first.points).hold == found.hold
    assert all(isinstance(ridge_at(whole_space(network), point), Ridge) for point in first.points)


def test_the_search_finds_what_the_complex_shows() -> None:
    held = 0
    for seed in range(8):
        network = exact_network(_gaussian((2, 2, 2, 1), ("search", seed)))
        if everything_seen(network).hold:
            held += 1
            assert DeepSearch(network, seed).run(rounds=60).hold, seed
    assert held > 2


def test_a_search_that_cannot_end_is_stopped() -> None:
    dead = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[-1, -1], [1, -2]], [-1, 1]), ([[1, 1]], [0])])
    assert not DeepSearch(dead).run(time_limit=0.2).hold
    assert not DeepSearch(dead).run(rounds=2).hold
