"""Walks on random networks, most of them degenerate, against evaluation and the complex."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from polyrelu.complex import Cell, PolyhedralComplex, bent_hyperplane, canonical_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, RationalMatrix, rank, solve
from polyrelu.network import Block, Layer, Network, NeuronId, SignVector
from polyrelu.walks import (
    BentPiece,
    BentWalk,
    CrossingPoint,
    LineCell,
    Tie,
    walk_bent_hyperplane,
    walk_line,
    zero_in_plane,
)
from tests.generators.campaigns import case, few_and_all
from tests.generators.quantised_networks import KINDS, quantised_network
from tests.generators.random_networks import KINDS as STACKS, random_network
from tests.generators.strategies import exact_network

Vector = list[Fraction]
ALL_KINDS = [*(("quantised", kind) for kind in KINDS), *(("stack", kind) for kind in STACKS)]


def network_of(kind: tuple[str, str], rng: Random) -> Network:
    family, name = kind
    return (
        quantised_network(name, rng)
        if family == "quantised"
        else exact_network(random_network(name, rng))
    )


def small_vector(size: int, rng: Random) -> Vector:
    """A vector with few digits and many zeros, so that points lie on hyperplanes."""
    return [Fraction(rng.randint(-3, 3), rng.choice([1, 1, 1, 2, 3])) for _ in range(size)]


def directions(count: int, size: int, rng: Random) -> list[Vector]:
    while True:
        rows = [small_vector(size, rng) for _ in range(count)]
        if rank(RationalMatrix.from_rows(rows)) == count:
            return rows


def on_line(point: Vector, direction: Vector, t: Fraction) -> Vector:
    return [p + t * d for p, d in zip(point, direction, strict=True)]


def is_face(face: SignVector, cell: SignVector) -> bool:
    """Whether the signs are the signs of the cell with some of them replaced by 0."""
    pairs = zip(sum(face.layers, ()), sum(cell.layers, ()), strict=True)
    return all(low in (0, high) for low, high in pairs)


# -- lines --------------------------------------------------------------------------------------


def check_line(
    network: Network, point: Vector, direction: Vector, start: Fraction
) -> list[LineCell]:
    """Check all signs by exact evaluation.

    A cell is convex and its faces are given by the sign order. So its middle and the event at its
    end, a proper face of it, prove that the signs hold on the whole cell and change at the event.
    """
    cells = list(walk_line(network, point, direction, start=start))
    for cell in cells:
        assert network.sign_vector(on_line(point, direction, cell.inner)) == cell.signs
        slope = network.affine_map(cell.signs).matrix @ RationalMatrix.column(direction)
        assert tuple(slope.entries()) == cell.derivative
    for before, after in pairwise(cells):
        event = before.end
        assert event is not None
        assert after.start is event
        assert network.sign_vector(on_line(point, direction, event.t)) == event.signs
        assert event.point == tuple(on_line(point, direction, event.t))
        assert is_face(event.signs, before.signs)
        assert is_face(event.signs, after.signs)
        assert before.signs != event.signs
        at, low, high = (
            sum(signs.layers, ()) for signs in (event.signs, before.signs, after.signs)
        )
        changed = [a == 0 and (b, c) != (0, 0) for a, b, c in zip(at, low, high, strict=True)]
        assert [neuron in event.neurons for neuron in network.neurons] == changed
    times = [start, *(cell.end.t for cell in cells if cell.end is not None)]
    assert all(one < other for one, other in pairwise(times))
    assert cells[-1].end is None
    far = 10**9 * (1 + abs(times[-1]))
    assert network.sign_vector(on_line(point, direction, far)) == cells[-1].signs
    return cells


@pytest.mark.parametrize("kind", ALL_KINDS, ids=" ".join)
@pytest.mark.parametrize("count", few_and_all(6, 14))
def test_lines(kind: tuple[str, str], count: int) -> None:
    rng = Random(f"lines {kind}")
    for _ in range(count):
        network = network_of(kind, rng)
        (direction,) = directions(1, network.num_inputs, rng)
        check_line(
            network, small_vector(network.num_inputs, rng), direction, Fraction(rng.randint(-20, 2))
        )


@pytest.mark.parametrize("kind", ALL_KINDS, ids=" ".join)
def test_lines_against_the_complex(kind: tuple[str, str]) -> None:
    """Both halves of a line have the cells of the complex on it."""
    rng = Random(f"lines and complex {kind}")
    for _ in range(3):
        network = network_of(kind, rng)
        point, (direction,) = (
            small_vector(network.num_inputs, rng),
            directions(1, network.num_inputs, rng),
        )
        line = Polyhedron.from_generators([point], (), [direction], network.num_inputs)
        try:
            complex_ = canonical_complex(network, line)
        except DomainError as error:
            assert "skip connection" in str(error)  # noqa: PT017
            continue
        ahead = list(walk_line(network, point, direction))
        behind = list(walk_line(network, point, [-d for d in direction]))
        found = {str(cell.signs) for cell in ahead + behind}
        assert found == {
            str(complex_.signs_of_region(index)) for index in range(complex_.num_regions)
        }


def test_some_lines_run_inside_zero_sets_and_through_ties() -> None:
    """The random cases are not all ordinary."""
    seen: Counter[str] = Counter()
    for kind in ALL_KINDS:
        rng = Random(f"line census {kind}")
        for _ in range(6):
            network = network_of(kind, rng)
            (direction,) = directions(1, network.num_inputs, rng)
            for cell in walk_line(
                network, small_vector(network.num_inputs, rng), direction, start=-20
            ):
                seen["zero on a cell"] += "0" in str(cell.signs)
                seen["event"] += cell.end is not None
                seen["tie"] += cell.end is not None and cell.end.is_tie
    assert min(seen.values()) > 25, seen


# -- where floats go wrong ----------------------------------------------------------------------


def nudged(network: Network, size: Fraction, rng: Random) -> Network:
    """The network with biases that are off by small multiples of a number.

    Hyperplanes that met in a point now meet there only approximately.
    """
    layers = {}
    for number in range(1, network.num_hidden_layers + 1):
        layer = network.layers[number - 1]
        bias = [b + size * rng.randint(-3, 3) for b in layer.bias.entries()]
        layers[number] = Layer(layer.blocks, RationalMatrix.column(bias))
    return network.replace_layers(layers)


def scaled(network: Network, rng: Random) -> Network:
    """A network with the same function and cells, but numbers up to and beyond the range of floats.

    Every neuron is scaled by a power of two, and its outgoing weights are scaled back.
    """
    factors = [[Fraction(1)] * network.num_inputs]
    for width in network.widths[1:]:
        factors.append(
            [
                Fraction(2) ** rng.choice([0, 0, -1100, -1060, -600, 600, 1023, 1100])
                for _ in range(width)
            ]
        )
    factors[-1] = [Fraction(1)] * network.num_outputs if network.last == "affine" else factors[-1]
    layers = []
    for layer, own in zip(network.layers, factors[1:], strict=True):
        blocks = [
            Block(
                block.source,
                block.weight.scale_rows(own).scale_columns([1 / f for f in factors[block.source]]),
            )
            for block in layer.blocks
        ]
        layers.append(Layer(tuple(blocks), layer.bias.scale_rows(own)))
    return Network(network.num_inputs, tuple(layers), network.last)


def float_cells(network: Network, point: Vector, direction: Vector, start: Fraction) -> list[str]:
    """The walk along a line in plain floats, without error bounds."""
    weights = [
        (layer.weight.to_floats(), layer.bias.to_floats()[:, 0])
        for layer in network.layers[: network.num_hidden_layers]
    ]
    p, d, t = np.array(point, dtype=float), np.array(direction, dtype=float), float(start)
    found: list[str] = []
    while len(found) < 100:
        value, slope = p + t * d, d
        signs, steps = [], [np.inf]
        for weight, bias in weights:
            value, slope = weight @ value + bias, weight @ slope
            on = (value > 0) | ((value == 0) & (slope > 0))
            signs.append("".join("-+"[flag] for flag in on.tolist()))
            ahead = np.where(on, -slope, slope) > 0
            steps += (-value[ahead] / slope[ahead]).tolist()
            value, slope = value * on, slope * on
        if not found or "|".join(signs) != found[-1]:
            found.append("|".join(signs))
        step = min(step for step in steps if step > 0)
        if step == np.inf:
            return found
        t = np.nextafter(t + step, np.inf)
    return found


@pytest.mark.parametrize("bits", [40, 60])
def test_lines_past_what_nearly_meets(bits: int) -> None:
    check_lines_past_what_nearly_meets("concurrent", bits)


def check_lines_past_what_nearly_meets(kind: str, bits: int) -> None:
    """Plain floats distinguish zeros 2^-40 apart; closer zeros they do not, and miss cells."""
    rng, wrong, exact, cells = Random(f"nearly {kind} {bits}"), 0, 0, 0
    for _ in range(40):
        network = nudged(quantised_network(kind, rng), Fraction(1, 2**bits), rng)
        (direction,) = directions(1, network.num_inputs, rng)
        point = (
            [Fraction(0)] * network.num_inputs
            if kind == "homogeneous"
            else small_vector(network.num_inputs, rng)
        )
        check_line(network, point, direction, Fraction(-20))
        walk = walk_line(network, point, direction, start=-20)
        found = [str(cell.signs) for cell in walk]
        exact, cells = exact + walk.statistics.num_exact_steps, cells + len(found)
        wrong += (
            "0" not in "".join(found)
            and float_cells(network, point, direction, Fraction(-20)) != found
        )
    assert 0 < exact < cells
    assert wrong == 0 if bits == 40 else wrong > 10


@pytest.mark.parametrize("kind", ["concurrent", "skip connections"])
def test_bent_hyperplanes_past_what_nearly_meets(kind: str) -> None:
    check_bent_hyperplanes_past_what_nearly_meets(kind, Fraction(1, 2**60))


def check_bent_hyperplanes_past_what_nearly_meets(kind: str, size: Fraction) -> None:
    rng, seen = Random(f"nearly {kind} {size}"), Counter[str]()
    for _ in range(4):
        network = nudged(quantised_network(kind, rng), size, rng)
        if network.num_inputs > 1:
            check_plane(network, rng, seen)
    assert seen["CrossingPoint"] > 10


@pytest.mark.parametrize("kind", ["integers", "trailing ReLU"])
def test_numbers_beyond_floats(kind: str) -> None:
    check_numbers_beyond_floats(kind)


def check_numbers_beyond_floats(kind: str) -> None:
    rng, seen = Random(f"beyond {kind}"), Counter[str]()
    for _ in range(4):
        network = scaled(quantised_network(kind, rng), rng)
        (direction,) = directions(1, network.num_inputs, rng)
        check_line(network, small_vector(network.num_inputs, rng), direction, Fraction(-20))
        if network.num_inputs > 1:
            check_plane(network, rng, seen)
    assert seen["CrossingPoint"] > 5


@pytest.mark.slow
def test_where_floats_go_wrong_in_networks_of_all_kinds() -> None:
    for kind in ("concurrent", "homogeneous"):
        for bits in (40, 60, 1100):
            with case("lines", kind, bits):
                check_lines_past_what_nearly_meets(kind, bits)
    for kind in ("concurrent", "integers", "related rows", "homogeneous", "skip connections"):
        for bits in (40, 60):
            with case("bent hyperplanes", kind, bits):
                check_bent_hyperplanes_past_what_nearly_meets(kind, Fraction(1, 2**bits))
    for kind in ("integers", "quarters", "related rows", "trailing ReLU", "skip connections"):
        with case("beyond floats", kind):
            check_numbers_beyond_floats(kind)


# -- bent hyperplanes ---------------------------------------------------------------------------


class Reference:
    """The bent hyperplane of a neuron in the complex on a plane: its edges and vertices."""

    def __init__(self, cells: PolyhedralComplex, neuron: NeuronId) -> None:
        self.cells = cells
        self.edges = np.flatnonzero(bent_hyperplane(cells, neuron).masks[1]).tolist()
        self.ends: dict[int, list[int]] = {}
        self.around: dict[int, list[int]] = {}
        if self.edges:
            offsets, entries = cells.facets(1)
            for edge in self.edges:
                self.ends[edge] = entries[offsets[edge] : offsets[edge + 1]].tolist()
                for vertex in self.ends[edge]:
                    self.around.setdefault(vertex, []).append(edge)

    def middle(self, edge: int) -> Vector:
        points, rays = self.cells.vertices_and_rays(Cell(1, edge))
        if len(points) == 2:
            return [(a + b) / 2 for a, b in zip(*points, strict=True)]
        return [a + sum(ray[i] for ray in rays) for i, a in enumerate(points[0])]

    def chain(self, edge: int, vertex: int | None) -> list[tuple[str, tuple[Fraction, ...] | None]]:
        """The edges (by their signs) and end points from an edge on, left through a vertex.

        The chain ends where the way on is not unique or the first edge is reached again.
        """
        found: list[tuple[str, tuple[Fraction, ...] | None]] = []
        first = edge
        while True:
            end = None if vertex is None else self.cells.vertex(vertex)
            found.append((str(self.cells.sign_vector(Cell(1, edge))), end))
            if vertex is None or len(self.around[vertex]) != 2:
                return found
            (edge,) = [other for other in self.around[vertex] if other != edge]
            if edge == first:
                return found
            vertex = next((other for other in self.ends[edge] if other != vertex), None)

    def chains(self, edge: int) -> list[list[tuple[str, tuple[Fraction, ...] | None]]]:
        ends: list[int | None] = [*self.ends[edge]]
        return sorted(
            (self.chain(edge, end) for end in ends + [None] * (2 - len(ends))),
            key=lambda chain: (chain[0][1] is None, chain[0][1] or ()),
        )


def coordinates(plane: tuple[Vector, list[Vector]], x: Vector) -> Vector:
    point, rows = plane
    difference = RationalMatrix.column([a - b for a, b in zip(x, point, strict=True)])
    found = solve(RationalMatrix.from_rows(rows).transpose(), difference)
    assert found is not None
    return list(found.entries())


def check_corner(corner: CrossingPoint | Tie, cells: PolyhedralComplex, network: Network) -> None:
    """The cells around the point are the cells of the complex that have it as a face."""
    assert network.sign_vector(corner.embedded) == corner.signs
    assert corner.zeros == tuple(
        neuron
        for neuron in network.neurons
        if corner.signs.layers[neuron.layer - 1][neuron.index] == 0
    )
    for dimension, found in ((2, corner.sectors), (1, corner.rays)):
        expected = {str(signs) for signs in around(corner.signs, cells, dimension)}
        signs = list(found.values() if isinstance(found, dict) else found)
        assert sorted(map(str, signs)) == sorted(expected)
    if isinstance(corner, CrossingPoint):
        check_ridge(corner)


def around(signs: SignVector, cells: PolyhedralComplex, dimension: int) -> Iterator[SignVector]:
    for cell in cells.cells(dimension):
        if is_face(signs, found := cells.sign_vector(cell)):
            yield found


def check_ridge(ridge: CrossingPoint) -> None:
    gradients = ridge.gradients()
    for (v, u), visible in ridge.visible.items():
        one, other = ((1, u), (-1, u)) if v == 0 else ((v, 1), (v, -1))
        assert visible == (gradients[one] != gradients[other])


def check_bends(pieces: list[BentPiece], neuron: NeuronId) -> None:
    """If v is the later neuron, its pieces on both sides are parallel unless it bends."""
    for before, after in pairwise(pieces):
        if isinstance(before.end, CrossingPoint):
            (a, b), (c, d) = before.heading, after.heading
            assert (a * d != b * c) == (before.end.bends and before.end.other.layer < neuron.layer)


def check_endings(pieces: list[BentPiece]) -> None:
    assert all(piece.ending is None for piece in pieces[:-1])
    last = pieces[-1]
    assert last.ending in ("unbounded", "closed", "tie")
    assert (last.end is None) == (last.ending == "unbounded")
    assert last.ending != "tie" or isinstance(last.end, Tie)
    assert last.ending != "tie" or len(last.end.rays_of_neuron) != 2  # type: ignore[union-attr]


def walks_from(
    network: Network, neuron: NeuronId, plane: tuple[Vector, list[Vector]], start: Vector
) -> list[BentWalk]:
    return [
        walk_bent_hyperplane(network, neuron, *plane, start=start, reverse=reverse)
        for reverse in (False, True)
    ]


def check_neuron(
    network: Network,
    neuron: NeuronId,
    plane: tuple[Vector, list[Vector]],
    cells: PolyhedralComplex,
    seen: Counter[str],
) -> None:
    """Walk from the middle of every edge that was not met yet, in both directions."""
    reference, met = Reference(cells, neuron), set[str]()
    for edge in reference.edges:
        if str(cells.sign_vector(Cell(1, edge))) in met:
            continue
        start = coordinates(plane, reference.middle(edge))
        found = []
        for walk in walks_from(network, neuron, plane, start):
            pieces = list(walk)
            check_endings(pieces)
            check_bends(pieces, neuron)
            for piece in pieces:
                met.add(str(piece.signs))
                assert network.sign_vector(walk.plane.embed(piece.inner)) == piece.signs
                if piece.end is not None:
                    check_corner(piece.end, cells, network)
                    seen[type(piece.end).__name__] += 1
            seen[str(pieces[-1].ending)] += 1
            found.append([(str(piece.signs), piece.end and piece.end.embedded) for piece in pieces])
        assert sorted(
            found, key=lambda chain: (chain[0][1] is None, chain[0][1] or ())
        ) == reference.chains(edge)
    assert met == {str(cells.sign_vector(Cell(1, edge))) for edge in reference.edges}


def random_plane(network: Network, rng: Random) -> tuple[Vector, list[Vector]]:
    return small_vector(network.num_inputs, rng), directions(2, network.num_inputs, rng)


def check_plane(network: Network, rng: Random, seen: Counter[str]) -> None:
    plane = random_plane(network, rng)
    domain = Polyhedron.from_generators([plane[0]], (), plane[1], network.num_inputs)
    try:
        cells = canonical_complex(network, domain)
    except DomainError as error:
        assert "skip connection" in str(error)  # noqa: PT017
        return
    seen["planes"] += 1
    for neuron in network.neurons:
        check_neuron(network, neuron, plane, cells, seen)


@pytest.mark.parametrize("count", few_and_all(1, 5))
def test_bent_hyperplanes_against_the_complex(count: int) -> None:
    """Compare all edges of all bent hyperplanes of a plane, their order, and their ends."""
    for kind in ALL_KINDS:
        rng, seen = Random(f"bent {kind}"), Counter[str]()
        for number in range(count):
            with case(*kind, number):
                network = network_of(kind, rng)
                if network.num_inputs > 1:
                    check_plane(network, rng, seen)


@pytest.mark.slow
def test_all_endings_occur() -> None:
    """The random cases are not all ordinary."""
    rng, seen = Random("bent census"), Counter[str]()
    for kind in (
        "related rows",
        "open zero",
        "homogeneous",
        "integers",
        "skip connections",
        "zero rows",
    ):
        for _ in range(8):
            network = quantised_network(kind, rng)
            if network.num_inputs > 1:
                check_plane(network, rng, seen)
    assert {"CrossingPoint", "Tie", "unbounded", "closed", "tie"} <= seen.keys()
    assert min(seen.values()) >= 4, seen


@pytest.mark.parametrize("kind", ALL_KINDS, ids=" ".join)
def test_starts(kind: tuple[str, str]) -> None:
    """Zeros that are found are the first zeros; walks start there or report why not."""
    rng = Random(f"starts {kind}")
    for _ in range(6):
        network = network_of(kind, rng)
        if network.num_inputs < 2:
            continue
        plane, heading = random_plane(network, rng), directions(1, 2, rng)[0]
        for neuron in network.neurons:
            start = zero_in_plane(network, neuron, *plane, heading=heading)
            if start is None:
                continue
            at = [
                p + start[0] * a + start[1] * b for p, a, b in zip(plane[0], *plane[1], strict=True)
            ]
            assert network.sign_vector(at).layers[neuron.layer - 1][neuron.index] == 0
            try:
                piece = next(walk_bent_hyperplane(network, neuron, *plane, start=start))
            except DomainError as error:
                assert "start" in str(error)  # noqa: PT017
            else:
                assert is_face(network.sign_vector(at), piece.signs)
                assert piece.signs.layers[neuron.layer - 1][neuron.index] == 0
