"""Floats save time and change no result: wrong or useless floats lead to the same complex.

Ill-conditioned networks are compared with brute force, and every sign that floats decide is
compared with the exact sign.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from polyrelu._core import VARIABLE
from polyrelu.complex import PolyhedralComplex, canonical_complex
from polyrelu.complex.engine.affine_forms import LastLayerQuery
from polyrelu.complex.engine.face_lattice import WORD_BITS
from polyrelu.complex.engine.subdivision import Subdivision, completed
from polyrelu.complex.engine.vertices import Vertices
from polyrelu.complex.frame import frame_of
from polyrelu.exact import UNDECIDED, Polyhedron, dot_sign
from polyrelu.network import Network, from_arrays
from tests.generators import campaigns
from tests.generators.quantised_networks import (
    DOMAINS,
    KINDS,
    brute_domain,
    brute_layers,
    dimensions_by_signs,
    quantised_network,
    random_domain,
)
from tests.generators.random_networks import random_network
from tests.generators.strategies import exact_network
from tests.oracles.cells_on_domain import cells_on_domain

Floats = NDArray[np.float64]
Rows = list[list[Fraction]]


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests look into the engine in numpy; `test_engines` compares the compiled one."""
    monkeypatch.setenv(VARIABLE, "numpy")


def samples(seed: int, count: int) -> list[tuple[Network, Polyhedron]]:
    found = []
    for number in range(count):
        rng = Random(f"floats {seed} {number}")
        network = quantised_network(KINDS[number % len(KINDS)], rng)
        found.append(
            (network, random_domain(DOMAINS[number % len(DOMAINS)], network.num_inputs, rng))
        )
    return found


def contents(cells: PolyhedralComplex) -> list[object]:
    """All cells, signs, facets and regions of a complex, in their order."""
    dimensions = range(cells.lineality_dim, cells.dimension + 1)
    arrays = [(cells.signs(k), cells.constraint_signs(k), *cells.facets(k)) for k in dimensions]
    points = [cells.vertices_and_rays(cell) for k in dimensions for cell in cells.cells(k)]
    return [
        cells.f_vector,
        points,
        cells.bounded.tolist(),
        [[array.tolist() for array in four] for four in arrays],
    ]


# -- Useless floats --------------------------------------------------------------------------------


def test_with_infinite_radii_everything_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [(case, canonical_complex(*case)) for case in samples(0, 42)]

    def infinite(self: Vertices, coordinates: Floats, *rest: object) -> Floats:
        return np.full(len(coordinates), np.inf)

    monkeypatch.setattr(Vertices, "_radii", infinite)
    saved = 0
    for case, usual in before:
        exact = canonical_complex(*case)
        assert contents(exact) == contents(usual)
        assert exact.statistics.num_decisions == usual.statistics.num_decisions
        saved += exact.statistics.num_exact_decisions - usual.statistics.num_exact_decisions
    assert saved > 500


@pytest.mark.parametrize("size", [2.0**-40, 2.0**-10, 2.0**40])
def test_with_wrong_coordinates(size: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Radii bound the error of coordinates, however wrong the coordinates are."""
    before = [(case, contents(canonical_complex(*case))) for case in samples(1, 28)]
    original, rng = Vertices._radii, np.random.default_rng(0)

    def displaced(self: Vertices, coordinates: Floats, *rest: Any) -> Floats:
        coordinates[:, :-1] += size * rng.standard_normal(coordinates[:, :-1].shape)
        return original(self, coordinates, *rest)

    monkeypatch.setattr(Vertices, "_radii", displaced)
    for case, usual in before:
        assert contents(canonical_complex(*case)) == usual


def test_with_wrong_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong first guesses, reversed directions among them, change nothing."""
    before = [(case, contents(canonical_complex(*case))) for case in samples(2, 28)]
    original, rng = Vertices._solved, np.random.default_rng(0)

    def misled(
        self: Vertices, guesses: Floats, forms: Any, base_signs: Any
    ) -> tuple[Floats, Floats]:
        wrong = guesses * rng.choice([-1, 1], size=(len(guesses), 1)) + rng.standard_normal(
            guesses.shape
        )
        wrong[:, -1] = guesses[:, -1]
        return original(self, wrong, forms, base_signs)

    monkeypatch.setattr(Vertices, "_solved", misled)
    for case, usual in before:
        assert contents(canonical_complex(*case)) == usual


def test_with_no_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [(case, contents(canonical_complex(*case))) for case in samples(3, 30)]
    original = Vertices._solved

    def lost(self: Vertices, guesses: Floats, forms: Any, base_signs: Any) -> tuple[Floats, Floats]:
        wrong = guesses.copy()
        wrong[::2] = np.nan
        wrong[1::3] = 0
        return original(self, wrong, forms, base_signs)

    monkeypatch.setattr(Vertices, "_solved", lost)
    for case, usual in before:
        assert contents(canonical_complex(*case)) == usual


# -- Ill-conditioned networks ----------------------------------------------------------------------


def _nearly_concurrent(rng: Random, exponent: int) -> Network:
    """Hyperplanes of two layers through a point, each moved by 0 or ±2^-exponent."""
    inputs = rng.choice([2, 2, 3])
    point = [Fraction(rng.randint(-3, 3), 2) for _ in range(inputs)]
    shift = [Fraction(sign, 2**exponent) for sign in (-1, 0, 1)]
    first = [[Fraction(rng.randint(-3, 3)) for _ in range(inputs)] for _ in range(inputs + 2)]
    bias = [rng.choice(shift) - _dot(row, point) for row in first]
    second = [[Fraction(rng.randint(-3, 3)) for _ in first] for _ in range(2)]
    return from_arrays(
        [(first, bias), (second, [rng.choice(shift) for _ in second]), ([[1, 1]], [0])]
    )


def _nearly_parallel(rng: Random, exponent: int) -> Network:
    """Rows that differ by 2^-exponent from a common row or from its negative."""
    row = [Fraction(rng.randint(1, 9), 8) for _ in range(2)]
    first = [
        [sign * entry + Fraction(rng.randint(-1, 1), 2**exponent) for entry in row]
        for sign in (1, 1, -1, 1)
    ]
    bias = [Fraction(rng.randint(-1, 1), rng.choice([1, 2**exponent])) for _ in first]
    return from_arrays([(first, bias), ([[1, -1, 1, -2], [1, 1, 1, 1]], [0, -1]), ([[1, 1]], [0])])


def _scaled(rng: Random, exponent: int) -> Network:
    """A random network whose rows, biases included, are scaled by different powers of two."""
    widths, layers = (2, 3, 3, 2, 1), []
    for columns, rows in pairwise(widths):
        powers = [Fraction(2) ** rng.choice([-exponent, 0, exponent]) for _ in range(rows)]
        weights = [[power * Fraction(rng.gauss(0, 1)) for _ in range(columns)] for power in powers]
        layers.append((weights, [power * Fraction(rng.gauss(0, 1)) for power in powers]))
    return from_arrays(layers)


def _deep(rng: Random, depth: int) -> Network:
    """Narrow layers near a rotation that keep most neurons alive, with 53-bit weights."""
    layers: list[tuple[Rows, list[Fraction]]] = []
    for _ in range(depth):
        weights = [[Fraction((i == j) + rng.gauss(0, 0.3)) for j in range(2)] for i in range(2)]
        layers.append((weights, [Fraction(rng.gauss(0.1, 0.3)) for _ in range(2)]))
    return from_arrays([*layers, ([[1, 1]], [0])])


def _wide_first(rng: Random, width: int) -> Network:
    """Float64 weights without structure."""

    def number() -> Fraction:
        return Fraction(rng.gauss(0, 1))

    first = [[number(), number()] for _ in range(width)]
    second = [[number() for _ in range(width)] for _ in range(3)]
    return from_arrays(
        [
            (first, [number() for _ in first]),
            (second, [number() for _ in second]),
            ([[1, 1, 1]], [0]),
        ]
    )


def _cancelling(rng: Random, exponent: int) -> Network:
    """Networks with differences that are smaller than the rounding errors of their terms.

    Two forms that differ by 2^-exponent are equal at a vertex. The next layer computes their
    difference, and one more layer the difference of two such differences. In half of the networks
    another layer comes first, which is affine near the vertex.
    """

    def number() -> Fraction:
        return Fraction(rng.randint(-9, 9), rng.choice([3, 7, 11]))

    vertex = [number(), number()]
    rows = [[number(), number()] for _ in range(3)]
    rows.append([entry + number() / 2**exponent for entry in rows[2]])
    heights = [Fraction(0), Fraction(0), Fraction(1, 3), Fraction(1, 3)]
    bias = [height - _dot(row, vertex) for row, height in zip(rows, heights, strict=True)]
    small = Fraction(1, 3 * 2**exponent)
    after = [
        ([[0, 0, 1, -1], [1, 0, -1, 1], [Fraction(1, 3), Fraction(1, 7), -1, 1]], [small] * 3),
        ([[1, 0, 0], [1, -1, 0], [0, -1, 1]], [-small, 0, 0]),
        ([[1, 1, 1]], [0]),
    ]
    if rng.random() < 0.5:
        return from_arrays([(rows, bias), *after])
    before = [[3, 0], [0, 7]], [1000, 1000]
    moved = [[row[0] / 3, row[1] / 7] for row in rows]
    shifts = [b - 1000 * (row[0] + row[1]) for row, b in zip(moved, bias, strict=True)]
    return from_arrays([before, (moved, shifts), *after])


def _large_integers(rng: Random, bits: int) -> Network:
    """Nearly cancelling products of integers beyond 53 bits; the sum is 0 at an integer vertex."""
    p, q = rng.getrandbits(bits) | 1, rng.getrandbits(bits) | 1
    vertex = [Fraction(rng.randint(-9, 9)) for _ in range(2)]
    common = [Fraction(rng.randint(-9, 9)) for _ in range(2)]
    rows = [
        [Fraction(rng.randint(-3, 3)) for _ in range(2)],
        [Fraction(rng.randint(-3, 3)) for _ in range(2)],
        [q * entry + rng.randint(-3, 3) for entry in common],
        [p * entry + rng.randint(-3, 3) for entry in common],
    ]
    heights = [Fraction(0), Fraction(0), Fraction(q), Fraction(p)]
    bias = [height - _dot(row, vertex) for row, height in zip(rows, heights, strict=True)]
    return from_arrays([(rows, bias), ([[0, 0, p, -q], [1, -1, p, -q]], [0, 0]), ([[1, 1]], [0])])


def _dot(row: list[Fraction], x: list[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(row, x, strict=True)), Fraction(0))


FAMILIES: dict[str, tuple[Callable[[Random, int], Network], list[int]]] = {
    "nearly concurrent": (_nearly_concurrent, [30, 51, 52, 53, 60, 200]),
    "nearly parallel": (_nearly_parallel, [30, 51, 53, 200]),
    "scaled": (_scaled, [20, 60, 300]),
    "deep": (_deep, [12, 20]),
    "cancelling": (_cancelling, [10, 20, 30, 45]),
    "large integers": (_large_integers, [20, 27, 30, 45]),
    "float64": (_wide_first, [4, 7]),
}


def distrustful(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Compare every sign with the exact sign from now on; return a list of their counts."""
    table, pairs = Subdivision._signs_at_vertices, Vertices.certain_signs
    checked: list[int] = []

    def checked_table(
        self: Subdivision, layer: int, chunks: list[Any], width: int
    ) -> NDArray[np.int8]:
        signs = table(self, layer, chunks, width)
        regions = self._regions[0].rows
        for (vertex, member), sign in np.ndenumerate(signs):
            form = int(
                chunks[member // WORD_BITS].numbers(
                    regions[vertex : vertex + 1], member % WORD_BITS
                )[0]
            )
            assert dot_sign(self.table.exact_row(form), self.vertices.exact(vertex)) == sign
        checked.append(signs.size)
        return signs

    def checked_pairs(self: Vertices, vertices: Any, forms: Any) -> NDArray[np.int8]:
        signs = pairs(self, vertices, forms)
        for vertex, form, sign in zip(
            vertices.tolist(), forms.tolist(), signs.tolist(), strict=True
        ):
            assert sign in (UNDECIDED, dot_sign(self._table.exact_row(form), self.exact(vertex)))
        checked.append(len(signs))
        return signs

    monkeypatch.setattr(Subdivision, "_signs_at_vertices", checked_table)
    monkeypatch.setattr(Vertices, "certain_signs", checked_pairs)
    return checked


@pytest.mark.parametrize("numbers", campaigns.few_and_all(range(1), range(4)))
def test_every_sign_of_ill_conditioned_networks(
    numbers: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    for family in FAMILIES:
        with monkeypatch.context() as patch:
            checked = distrustful(patch)
            for size, number in product(FAMILIES[family][1], numbers):
                with campaigns.case(family, size, number):
                    check_ill_conditioned(family, size, number)
        assert sum(checked) > 25 * len(numbers), family


def check_ill_conditioned(family: str, size: int, number: int) -> None:
    """Compare cells with brute force, on R^n and on boxes by turns, and locate all vertices."""
    rng = Random(f"{family} {size} {number}")
    network = FAMILIES[family][0](rng, size)
    domain = [
        Polyhedron.universe(network.num_inputs),
        random_domain("box", network.num_inputs, rng),
    ][number % 2]
    expected = cells_on_domain(brute_layers(network), brute_domain(domain))
    cells = canonical_complex(network, domain)
    assert dimensions_by_signs(cells) == {signs: cell.dimension for signs, cell in expected.items()}
    for cell in cells.cells(cells.lineality_dim):
        assert cells.locate(cells.vertex(cell.index)) == cell


def test_every_sign_of_degenerate_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = distrustful(monkeypatch)
    for network, domain in samples(4, 50):
        canonical_complex(network, domain)
    for kind in ("gaussian", "linear", "dead", "hiding"):
        canonical_complex(exact_network(random_network(kind, Random(f"every sign {kind}"))))
    assert sum(checked) > 1000


def test_floats_decide_nearly_everything_in_generic_networks() -> None:
    """Without this, the other tests would pass for floats that decide nothing."""
    cells = canonical_complex(_wide_first(Random(1), 20))
    assert cells.statistics.num_decisions > 1000
    assert cells.statistics.num_exact_decisions == 0
    deep = canonical_complex(_deep(Random(2), 20))
    assert deep.statistics.num_exact_decisions < deep.statistics.num_decisions / 10


# -- The last layer --------------------------------------------------------------------------------


def queries(subdivision: Subdivision, rng: Random, count: int) -> LastLayerQuery:
    """Random points with radii and random regions of the last layer."""
    width = subdivision.frame.dimension + 1
    coordinates = np.array(
        [[rng.gauss(0, 1) * 2.0 ** rng.randint(-9, 9) for _ in range(width)] for _ in range(count)]
    )
    radii = np.array(
        [rng.choice([0.0, 2.0**-60, 2.0**-20, 2.0**-7, 2.0**-3]) for _ in range(count)]
    )
    largest = np.abs(coordinates).max(axis=1)
    spread = radii * (1 + 2.0**-20) + (width + 2) * 2.0**-53 * largest * (1 + 2.0**-20)
    sums = 2 * (1 + 2.0**-20) * np.abs(coordinates).sum(axis=1)
    regions = np.array([rng.randrange(subdivision.table.regions(2)) for _ in range(count)])
    return LastLayerQuery(coordinates, radii, spread, sums, regions)


def test_signs_of_the_last_layer_hold_in_the_whole_ball() -> None:
    """Signs hold at every point that the radius allows, with t moved as well."""
    decided = undecided = 0
    for seed in range(12):
        rng = Random(f"ball {seed}")
        size = 2.0 ** rng.choice([0, 0, 5, 60])
        first = (
            [[rng.gauss(0, 1) for _ in range(2)] for _ in range(4)],
            [rng.gauss(0, 1) for _ in range(4)],
        )
        second = (
            [[rng.gauss(0, 1) for _ in range(4)] for _ in range(3)],
            [size * rng.gauss(0, 1) for _ in range(3)],
        )
        network = from_arrays([first, second, ([[1, 1, 1]], [0])])
        subdivision = Subdivision(network, frame_of(network, Polyhedron.universe(2)))
        completed(subdivision, None)
        asked = queries(subdivision, rng, 60)
        for (point, neuron), sign in np.ndenumerate(subdivision.table.signs_at(asked)):
            if sign == 2:
                undecided += 1
                continue
            decided += 1
            number = subdivision.table.add_forms(
                asked.regions[point : point + 1], np.array([neuron])
            )[0]
            row = [Fraction(entry) for entry in subdivision.table.exact_row(int(number))]
            centre = [Fraction(entry) for entry in asked.coordinates[point].tolist()]
            radius = Fraction(float(asked.radii[point]))
            for corner in product((-1, 1), repeat=3):
                value = _dot(
                    row, [x + step * radius for x, step in zip(centre, corner, strict=True)]
                )
                assert (value > 0) - (value < 0) == sign
    assert decided > 500
    assert undecided > 100
