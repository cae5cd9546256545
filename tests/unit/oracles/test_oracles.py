"""The oracles against facts that are known without them."""

import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import comb
from random import Random

import pytest
from flint import fmpq, fmpq_mat

from tests.generators.campaigns import few_fast
from tests.oracles.cells import affine_map, cells
from tests.oracles.grid import (
    grid_table,
    member_indices_on_grid,
    members_on_grid,
    related,
    same_function,
)
from tests.oracles.local_fiber import local_fiber_dimension
from tests.oracles.plain import (
    Matrix,
    Network,
    SignVector,
    Vector,
    evaluate,
    preactivations,
    sign_vector,
)

Number = int | Fraction
EPSILON = Fraction(1, 2**30)


def layer(weights: Sequence[Sequence[Number]], bias: Sequence[Number]) -> tuple[Matrix, Vector]:
    """A layer of Fractions."""
    return [[Fraction(v) for v in row] for row in weights], [Fraction(v) for v in bias]


def with_output(*hidden: tuple[Sequence[Sequence[Number]], Sequence[Number]]) -> Network:
    """The network with these hidden layers and the sum of the last one's neurons as output."""
    return [*(layer(*w_b) for w_b in hidden), layer([[1] * len(hidden[-1][1])], [0])]


def random_network(
    random: Random, architecture: Sequence[int], largest: int, denominator: int = 1
) -> Network:
    """A random network; small `largest` gives zero rows, duplicates and many points in special
    position.
    """

    def entry() -> Fraction:
        return Fraction(random.randint(-largest, largest), denominator)

    return [
        ([[entry() for _ in range(columns)] for _ in range(rows)], [entry() for _ in range(rows)])
        for columns, rows in pairwise(architecture)
    ]


def degenerate_networks() -> list[Network]:
    """Two-hidden-layer networks with entries in {-1, 0, 1}; most of them are degenerate in some
    way.
    """
    random = Random(5)
    architectures = [(1, 3, 2, 1), (2, 2, 2, 1), (2, 3, 2, 2), (3, 2, 2, 1)]
    return [
        random_network(random, architecture, 1) for architecture in architectures for _ in range(12)
    ]


def vandermonde_lines(k: int) -> tuple[list[list[int]], list[int]]:
    """k lines in the plane, no two parallel and no three through one point."""
    return [[1, t] for t in range(k)], [t * t for t in range(k)]


def rank(matrix: Sequence[Sequence[Number]]) -> int:
    """Rank over the rationals."""
    if not matrix:
        return 0
    entries = [fmpq(v.numerator, v.denominator) for row in matrix for v in row]
    return int(fmpq_mat(len(matrix), len(matrix[0]), entries).rank())


# --- plain.py
# --------------------------------------------------------------------------------------------


def test_evaluation_by_hand() -> None:
    network = [layer([[1, -1], [0, 2]], [0, -1]), layer([[1, Fraction(1, 2)]], [Fraction(-1, 3)])]
    x = [Fraction(3), Fraction(1)]
    assert preactivations(network, x) == [[2, 1], [Fraction(13, 6)]]
    assert evaluate(network, x) == [Fraction(13, 6)]
    assert sign_vector(network, x) == (1, 1)
    assert sign_vector(network, [Fraction(0), Fraction(1, 2)]) == (-1, 0)


# --- cells.py
# --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", range(1, 6))
def test_generic_lines(k: int) -> None:
    network = with_output(vandermonde_lines(k))
    f_vector = Counter(cell.dimension for cell in cells(network).values())
    assert (f_vector[0], f_vector[1], f_vector[2]) == (comb(k, 2), k * k, 1 + k + comb(k, 2))
    assert len(cells(network, full_dimensional_only=True)) == f_vector[2]


@pytest.mark.parametrize(("d", "k"), [(2, 1), (2, 3), (2, 5), (3, 3), (3, 4), (3, 5), (4, 4)])
def test_generic_central_arrangements(d: int, k: int) -> None:
    network = with_output(([[t**e for e in range(d)] for t in range(1, k + 1)], [0] * k))
    expected = 2 * sum(comb(k - 1, i) for i in range(d))
    assert len(cells(network, full_dimensional_only=True)) == expected


IDENTITY = [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("hidden", "regions"),
    [
        ([([[1], [-1]], [0, 0])], 2),
        ([([[1, 0], [-1, 0], [0, 1]], [0, 0, 0])], 4),
        ([([[1, 0], [1, 0], [0, 1]], [-1, -1, 0])], 4),
        ([([[1, 0], [0, 1], [1, 1]], [0, 0, 0])], 6),
        ([(IDENTITY, [0, 0]), ([[1, 0], [1, 1]], [-1, -1])], 8),
        ([(IDENTITY, [-1, -1]), ([[1, -1]], [0])], 5),
        ([([[1, 0], [1, 0], [0, 1]], [0, -EPSILON, 0])], 6),
        ([([[1, 0], [0, 1], [1, 1]], [0, 0, EPSILON])], 7),
        ([([[1, 0], [0, 1], [0, 0]], [-1, -1, 0])], 4),
    ],
)
def test_region_counts(hidden: list[tuple[list[list[int]], list[Number]]], regions: int) -> None:
    assert len(cells(with_output(*hidden), full_dimensional_only=True)) == regions


def test_vanishing_neuron_has_sign_zero_on_an_open_cell() -> None:
    network = with_output((IDENTITY, [-1, -1]), ([[1, -1]], [0]))
    assert cells(network)[-1, -1, 0].dimension == 2
    assert (1, 1, 0) in cells(network)
    assert (1, 1, 0) not in cells(network, full_dimensional_only=True)


@pytest.mark.parametrize("network", degenerate_networks())
def test_cells_of_degenerate_networks(network: Network) -> None:
    """Euler characteristic, dimensions, completeness on a lattice, and the restriction to open
    cells.
    """
    n = len(network[0][0][0])
    complex_ = cells(network)
    # Relatively open cells partition R^n, whose Euler characteristic with compact support is
    # (-1)^n.
    assert sum((-1) ** cell.dimension for cell in complex_.values()) == (-1) ** n
    for signs, cell in complex_.items():
        assert sign_vector(network, cell.point) == signs
        assert cell.dimension == n - rank(vanishing_gradients(network, signs))
    for lattice_point in product([Fraction(v, 2) for v in range(-4, 5)], repeat=n):
        assert sign_vector(network, lattice_point) in complex_
    open_cells = {signs: cell for signs, cell in complex_.items() if cell.dimension == n}
    assert cells(network, full_dimensional_only=True) == open_cells


def vanishing_gradients(network: Network, signs: SignVector) -> Matrix:
    """Gradients, on the cell, of the neurons that vanish on it; they span the normal space of the
    cell.
    """
    result: Matrix = []
    position = 0
    for depth in range(len(network) - 1):
        rows = affine_map(network[: depth + 1], signs[:position])
        result += [row[:-1] for row, sign in zip(rows, signs[position:], strict=False) if sign == 0]
        position += len(rows)
    return result


@pytest.mark.parametrize("network", degenerate_networks()[::4])
def test_affine_maps(network: Network) -> None:
    for signs, cell in cells(network).items():
        x = [*cell.point, Fraction(1)]
        values = [
            sum(c * v for c, v in zip(row, x, strict=True)) for row in affine_map(network, signs)
        ]
        assert values == evaluate(network, cell.point)


def test_import_keeps_the_interrupt_handler() -> None:
    program = (
        "import signal; before = signal.getsignal(signal.SIGINT); import tests.oracles.cells; "
        "assert signal.getsignal(signal.SIGINT) is before"
    )
    subprocess.run(
        [sys.executable, "-c", program], check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )


# --- local_fiber.py
# --------------------------------------------------------------------------------------

# The bend x1 = 0 is nowhere visible: on that line both neurons of the second layer are inactive.
# Where they
# are active the first neuron is affine, so its bias can be traded for theirs.
HIDDEN_HYPERPLANE = [
    layer(IDENTITY, [0, 0]),
    layer([[1, -1], [2, -1]], [-1, -1]),
    layer([[1, 1]], [0]),
]


def test_local_fiber_of_known_networks() -> None:
    assert local_fiber_dimension(HIDDEN_HYPERPLANE).dimension >= 1
    assert local_fiber_dimension(HIDDEN_HYPERPLANE).regular
    one_minus = [layer([[1]], [0]), layer([[-1]], [1]), layer([[1]], [0])]
    assert local_fiber_dimension(one_minus) == (0, True)


def test_local_fiber_of_one_hidden_layer() -> None:
    generic = [layer([[1, 0], [1, 2], [-3, 1]], [1, 5, 7]), layer([[1, -2, 3]], [4])]
    assert local_fiber_dimension(generic) == (0, True)
    # A neuron without outgoing weight: its row and bias, three parameters, do nothing; one is the
    # scaling.
    unused = [generic[0], layer([[1, -2, 0]], [4])]
    assert local_fiber_dimension(unused) == (2, True)
    vanishing = [layer([[1, 0], [1, 2], [0, 0]], [1, 5, 0]), generic[1]]
    assert not local_fiber_dimension(vanishing).regular


def test_local_fiber_ignores_the_choice_of_scale() -> None:
    for seed in range(5):
        network = random_network(Random(seed), (2, 3, 2, 1), 9, denominator=7)
        scaled = permuted_and_scaled(network, Random(seed))
        assert local_fiber_dimension(scaled) == local_fiber_dimension(network)


@pytest.mark.parametrize("network", [HIDDEN_HYPERPLANE, *degenerate_networks()[::5]])
def test_local_fiber_against_difference_quotients(network: Network) -> None:
    """A cell's map is affine in every single parameter, so difference quotients are exact
    derivatives.
    """
    patterns = list(cells(network, full_dimensional_only=True))

    def maps(layers: Network) -> Vector:
        return [v for signs in patterns for row in affine_map(layers, signs) for v in row]

    base = maps(network)
    gradients = [
        [u - v for u, v in zip(maps(other), base, strict=True)] for other in incremented(network)
    ]
    hidden = sum(len(bias) for _, bias in network[:-1])
    assert local_fiber_dimension(network).dimension == len(gradients) - rank(gradients) - hidden


def incremented(network: Network) -> list[Network]:
    """The networks in which one parameter is larger by 1."""
    result = []
    for depth, (weights, bias) in enumerate(network):
        rows = [[*row, b] for row, b in zip(weights, bias, strict=True)]
        for i, j in product(range(len(rows)), range(len(rows[0]))):
            changed = [
                [v + ((k, m) == (i, j)) for m, v in enumerate(row)] for k, row in enumerate(rows)
            ]
            new_layer = [row[:-1] for row in changed], [row[-1] for row in changed]
            result.append([*network[:depth], new_layer, *network[depth + 1 :]])
    return result


# --- grid.py
# ---------------------------------------------------------------------------------------------


def permuted_and_scaled(network: Network, random: Random) -> Network:
    """The network with hidden neurons shuffled and scaled at random."""
    result = []
    order, scales = list(range(len(network[0][0][0]))), [Fraction(1)] * len(network[0][0][0])
    for depth, (weights, bias) in enumerate(network):
        rows, factors = list(range(len(bias))), [Fraction(1)] * len(bias)
        if depth < len(network) - 1:
            random.shuffle(rows)
            factors = [Fraction(random.randint(1, 5), random.randint(1, 5)) for _ in bias]
        new_weights = [[weights[i][j] * factors[i] / scales[j] for j in order] for i in rows]
        result.append((new_weights, [bias[i] * factors[i] for i in rows]))
        order, scales = rows, factors
    return result


@pytest.mark.parametrize("network", degenerate_networks())
def test_related_networks(network: Network) -> None:
    other = permuted_and_scaled(network, Random(1))
    assert related(network, other)
    assert related(other, network)
    assert same_function(network, other)
    weights, bias = other[-1]
    shifted = [*other[:-1], (weights, [bias[0] + EPSILON, *bias[1:]])]
    assert not related(network, shifted)
    assert not same_function(network, shifted)


def test_relation_needs_consistent_scales() -> None:
    """Both networks have the same zero pattern and signs, and one ratio around a cycle differs."""
    first = [layer([[1], [1]], [0, 0]), layer([[1, 1], [1, 1]], [0, 0]), layer([[1, 1]], [0])]
    second = [layer([[1], [1]], [0, 0]), layer([[1, 1], [1, 2]], [0, 0]), layer([[1, 1]], [0])]
    assert not related(first, second)


def test_relation_of_a_pair_apart_from_inputs_and_outputs() -> None:
    """Two neurons joined only to each other can meet any positive ratio, but no negative one."""

    def network(weight: int) -> Network:
        return [
            layer([[1], [0]], [0, 0]),
            layer([[1, 0], [0, weight]], [0, 0]),
            layer([[1, 0]], [0]),
        ]

    assert related(network(1), network(7))
    assert not related(network(1), network(-1))
    assert not related(network(1), network(0))


def test_relation_of_different_architectures() -> None:
    one, two = with_output(([[1]], [0])), with_output(([[1], [0]], [0, 0]))
    assert not related(one, two)
    assert same_function(one, two)


def test_same_function_of_different_depths() -> None:
    shallow = with_output(([[1], [-1]], [0, 0]))
    deep = with_output(([[1], [-1]], [0, 0]), ([[1, 1]], [0]))
    assert same_function(shallow, deep)
    assert same_function(deep, shallow)
    late = with_output(([[1], [-1]], [0, 0]), ([[1, 1], [1, 1]], [0, -1000]))
    assert not same_function(shallow, late)
    with pytest.raises(ValueError, match="different input"):
        same_function(shallow, with_output((IDENTITY, [0, 0])))


@pytest.mark.parametrize("index", few_fast([0, 350, 77, 364, 500, 728], 2))
def test_grid_members_against_all_comparisons(index: int) -> None:
    values = (Fraction(-1), Fraction(0), Fraction(1))
    table = grid_table((1, 1, 1, 1), values)
    network = table.network(index)
    expected = [other for other in range(729) if same_function(network, table.network(other))]
    assert index in expected
    assert member_indices_on_grid(network, values).tolist() == expected
    assert members_on_grid(network, values) == [table.network(other) for other in expected]


def test_grid_of_fractions() -> None:
    """relu(relu(x) / 2 + 1/2) with every admissible splitting of the factor, and nothing off the
    grid.
    """
    values = (Fraction(0), Fraction(1, 2), Fraction(1))
    network = [layer([[1]], [0]), layer([[Fraction(1, 2)]], [Fraction(1, 2)]), layer([[1]], [0])]
    members = members_on_grid(network, values)
    assert network in members
    assert all(same_function(network, member) for member in members)
    factors = {(w1[0][0], w2[0][0], w3[0][0]) for (w1, _), (w2, _), (w3, _) in members}
    assert factors == set(product(values, repeat=3)) & {
        (a, b, c) for a, b, c in product(values, repeat=3) if a * b * c == Fraction(1, 2)
    }
    third = [*network[:-1], layer([[1]], [Fraction(1, 3)])]
    assert members_on_grid(third, values) == []


def test_grid_members_of_width_two() -> None:
    """relu(1 - relu(x) - relu(y)): the function fixes all parameters up to the order of the
    neurons.
    """
    network = [layer(IDENTITY, [0, 0]), layer([[-1, -1]], [1]), layer([[1]], [0])]
    members = members_on_grid(network, (-1, 0, 1))
    assert len(members) == 2
    assert all(related(network, member) for member in members)


def test_grid_is_limited() -> None:
    with pytest.raises(ValueError, match="a grid of"):
        grid_table((3, 3, 3, 1), (Fraction(0), Fraction(1)))
    with pytest.raises(ValueError, match="64 bits"):
        grid_table((1, 1, 1, 1), (Fraction(0), Fraction(2**30)))
