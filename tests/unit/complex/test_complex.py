"""The canonical complex in cases known by hand: small networks, arrangements, domains; errors."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb

import pytest

from polyrelu.complex import Cell, PolyhedralComplex, canonical_complex, stream_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.formats import load
from polyrelu.network import Block, Layer, Network, NeuronId, from_arrays
from polyrelu.support.progress import Progress, ProgressStep
from tests.generators.files import NETS as _NETS
from tests.generators.quantised_networks import dimensions_by_signs

Number = int | Fraction
#: (W, b) of a hidden layer.
Hidden = tuple[Sequence[Sequence[Number]], Sequence[Number]]

UNIT = [[1, 0], [0, 1]]
LINES = [[1, 0], [0, 1], [1, 1]]
EPSILON = Fraction(1, 2**30)


def network(*hidden: Hidden) -> Network:
    """The network with given hidden layers whose output sums the neurons of the last of them."""
    return from_arrays([*hidden, ([[1] * len(hidden[-1][1])], [0])])


def skipping(
    inputs: int, *layers: tuple[dict[int, Sequence[Sequence[int]]], Sequence[int]]
) -> Network:
    """A network, given for each layer its weights on earlier layers and its bias."""
    built = [
        Layer(
            tuple(
                Block(source, RationalMatrix.from_integers(weight))
                for source, weight in sorted(blocks.items())
            ),
            RationalMatrix.column(bias),
        )
        for blocks, bias in layers
    ]
    return Network(inputs, tuple(built))


def vertices(cells: PolyhedralComplex) -> set[tuple[Fraction, ...]]:
    return {cells.vertex(index) for index in range(cells.f_vector[0])}


def points(*coordinates: tuple[Number, ...]) -> set[tuple[Fraction, ...]]:
    return {tuple(map(Fraction, point)) for point in coordinates}


# -- Counts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hidden", "regions"),
    [
        ([([[1], [-1]], [0, 0])], 2),
        ([([[1, 0], [-1, 0], [0, 1]], [0, 0, 0])], 4),
        ([([[1, 0], [1, 0], [0, 1]], [-1, -1, 0])], 4),
        ([(LINES, [0, 0, 0])], 6),
        ([(UNIT, [0, 0]), ([*UNIT[:1], [1, 1]], [-1, -1])], 8),
        ([(UNIT, [-1, -1]), ([[1, -1]], [0])], 5),
        ([([[1, 0], [1, 0], [0, 1]], [0, -EPSILON, 0])], 6),
        ([(LINES, [0, 0, EPSILON])], 7),
        ([(LINES, [-1, -1, -2 + Fraction(1, 2**51)])], 7),
        ([([[2**30, 0], [0, EPSILON], [1, 1]], [-(2**30), EPSILON, 7])], 7),
        ([([[1, 0], [0, 1], [0, 0]], [-1, -1, 0])], 4),
    ],
)
def test_minimal_networks(hidden: list[Hidden], regions: int) -> None:
    cells = canonical_complex(network(*hidden))
    assert cells.num_regions == regions == cells.f_vector[-1]
    assert (
        sum((-1) ** k * count for k, count in enumerate(cells.f_vector)) == (-1) ** cells.dimension
    )
    dimensions_by_signs(cells)  # all different


@pytest.mark.parametrize("k", [1, 2, 3, 6, 40])
def test_generic_lines(k: int) -> None:
    cells = canonical_complex(network(([[1, t] for t in range(k)], [t * t for t in range(k)])))
    if k == 1:
        assert (cells.f_vector, cells.lineality) == ((0, 1, 2), ((0, 1),))
    else:
        assert cells.f_vector == (comb(k, 2), k * k, 1 + k + comb(k, 2))
        assert cells.num_bounded_regions == comb(k - 1, 2)


@pytest.mark.parametrize(("d", "k"), [(1, 4), (2, 5), (3, 3), (3, 6), (4, 5), (5, 6)])
def test_generic_hyperplanes(d: int, k: int) -> None:
    hyperplanes = (
        [[t**e for e in range(d)] for t in range(1, k + 1)],
        [t**d for t in range(1, k + 1)],
    )
    cells = canonical_complex(network(hyperplanes))
    assert cells.num_regions == sum(comb(k, i) for i in range(d + 1))
    assert cells.num_bounded_regions == comb(k - 1, d)
    assert cells.f_vector[0] == comb(k, d)


@pytest.mark.parametrize(("d", "k"), [(1, 3), (2, 1), (2, 5), (3, 2), (3, 5), (4, 5), (5, 6)])
def test_generic_central_hyperplanes(d: int, k: int) -> None:
    cells = canonical_complex(
        network(([[t**e for e in range(d)] for t in range(1, k + 1)], [0] * k))
    )
    assert cells.num_regions == 2 * sum(comb(k - 1, i) for i in range(d))
    assert cells.lineality_dim == max(d - k, 0)
    assert cells.f_vector[cells.lineality_dim] == 1
    assert cells.num_bounded_regions == 0


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_cube_without_and_with_the_coordinate_planes(n: int) -> None:
    box = Polyhedron.box([-1] * n, [1] * n)
    plain = canonical_complex(from_arrays([([[1] * n], [0])]), box)
    assert plain.f_vector == tuple(comb(n, k) * 2 ** (n - k) for k in range(n + 1))
    assert (plain.neurons, plain.complete, plain.volume(0)) == ((), True, 2**n)
    unit = [[int(i == j) for j in range(n)] for i in range(n)]
    cut = canonical_complex(network((unit, [0] * n)), box)
    assert cut.f_vector == tuple(comb(n, k) * 2**k * 3 ** (n - k) for k in range(n + 1))
    assert {cut.volume(index) for index in range(2**n)} == {1}


def test_a_line_through_a_corner_of_a_box() -> None:
    """x ≈ -y passes through (1, -1) and the side y = 1."""
    thin = ([[Fraction(-241, 1024), Fraction(-239, 1024)]], [Fraction(2, 1024)])
    cells = canonical_complex(network(thin), Polyhedron.box([-1, -1], [1, 1]))
    assert cells.f_vector == (5, 6, 2)
    assert vertices(cells) == points((-1, -1), (-1, 1), (1, -1), (1, 1), (Fraction(-237, 241), 1))
    assert cells.volume(0) + cells.volume(1) == 4
    corner = cells.locate([1, -1])
    assert corner is not None
    assert (corner.dimension, cells.sign_vector(corner).layers) == (0, ((0,),))


@pytest.mark.parametrize(
    ("bias", "signs"), [(-2, [-1, -1, -1, 0]), (-3, [-1] * 4), (0, [0, 1, 1, 1]), (2, [1] * 4)]
)
def test_a_line_that_touches_a_box_or_misses_it(bias: int, signs: list[int]) -> None:
    cells = canonical_complex(network(([[1, 1]], [bias])), Polyhedron.box([0, 0], [1, 1]))
    assert cells.f_vector == (4, 4, 1)
    assert sorted(cells.signs(0)[:, 0].tolist()) == signs


def test_more_than_32_neurons_and_constraints() -> None:
    """Signs come in words of 32: 70 points on the line; 40 of them are loose bounds as well."""
    neurons = [[1]] * 70, [-t for t in range(70)]
    rows = [[1] for t in range(100, 140)]
    domain = Polyhedron.from_constraints([*rows, [-1]], [*range(100, 140), 5])
    cells = canonical_complex(network(neurons, ([[1] * 70] * 34, [-t for t in range(34)])), domain)
    positions = {Fraction(t) for t in (-5, *range(70), 100)}
    total: list[Fraction] = [Fraction(0)]  # z = Σ max(x - t, 0) at 0, 1, 2, …
    for t in range(1, 12):
        total.append(total[-1] + t)
    for level in range(34):
        start = max(t for t in range(12) if total[t] <= level)
        positions.add(start + Fraction(level - total[start], start + 1))
    assert vertices(cells) == points(*((position,) for position in positions))
    assert cells.f_vector == (len(positions), len(positions) - 1)
    assert cells.constraint_signs(0).shape == (len(positions), 41)


# -- Shapes of networks ----------------------------------------------------------------------------


def test_a_first_layer_of_low_rank_has_no_vertices() -> None:
    cells = canonical_complex(
        network(([[1, 0, 0], [0, 1, 0], [1, 1, 0]], [0, 0, -1]), ([[1, 1, 1]], [-2]))
    )
    plane = canonical_complex(network((LINES, [0, 0, -1]), ([[1, 1, 1]], [-2])))
    assert cells.f_vector == (0, *plane.f_vector)
    assert (cells.lineality, cells.lineality_dim, cells.num_bounded_regions) == (((0, 0, 1),), 1, 0)
    assert cells.locate([-1, 5, 7]) == cells.locate([-1, 5, -7])
    assert list(cells.cells(0)) == []
    assert plane.num_bounded_regions > 0


def test_no_hidden_layer() -> None:
    cells = canonical_complex(from_arrays([([[1, 2]], [3])]))
    assert (cells.f_vector, cells.lineality_dim, cells.num_regions) == ((0, 0, 1), 2, 1)
    region = cells.region(0)
    assert (region.polyhedron, region.bounded) == (Polyhedron.universe(2), False)
    assert region.affine_map([1, 1]) == (Fraction(6),)


def test_nothing_but_a_constant_first_layer() -> None:
    cells = canonical_complex(network(([[0, 0], [0, 0]], [1, 0]), ([[1, -1]], [-1])))
    assert cells.f_vector == (0, 0, 1)
    assert cells.signs_of_region(0).layers == ((1, 0), (0,))
    assert cells.locate([5, -3]) == Cell(2, 0)
    assert cells.region(0).polyhedron == Polyhedron.universe(2)
    on_a_box = canonical_complex(cells.network, Polyhedron.box([0, 0], [2, 1]))
    assert (on_a_box.f_vector, on_a_box.volume(0)) == ((4, 4, 1), Fraction(2))


def test_a_trailing_relu_is_a_hidden_layer() -> None:
    layers = [(UNIT, [0, 0]), ([[1, 1]], [-1])]
    affine, relu = (
        canonical_complex(from_arrays(layers)),
        canonical_complex(from_arrays(layers, "relu")),
    )
    assert (affine.f_vector, relu.f_vector) == ((1, 4, 4), (3, 9, 7))
    assert relu.neurons[-1] == NeuronId(2, 0)
    assert relu.region(0).affine_map(relu.region(0).interior_point) == relu.network(
        relu.region(0).interior_point
    )


def test_one_input() -> None:
    cells = canonical_complex(network(([[1], [1]], [0, -1]), ([[1, -2]], [Fraction(-1, 2)])))
    assert vertices(cells) == points((0,), (Fraction(1, 2),), (1,), (Fraction(3, 2),))
    assert (cells.f_vector, cells.num_bounded_regions) == ((4, 5), 3)


def test_a_domain_that_is_a_point() -> None:
    cells = canonical_complex(network((UNIT, [0, -1])), Polyhedron.box([2, 1], [2, 1]))
    assert (cells.f_vector, cells.dimension, cells.num_bounded_regions) == ((1,), 0, 1)
    assert cells.region(0).interior_point == (Fraction(2), Fraction(1))
    assert cells.region(0).polyhedron.equations == ((1, 0, 2), (0, 1, 1))
    assert cells.signs_of_region(0).layers == ((1, 0),)
    assert (cells.locate([2, 1]), cells.locate([2, 0])) == (Cell(0, 0), None)


def test_a_skip_connection() -> None:
    """1 - |x| = x - 2 max(x, 0) + 1 is 0 at ±1."""
    cells = canonical_complex(
        skipping(1, ({0: [[1]]}, [0]), ({0: [[1]], 1: [[-2]]}, [1]), ({2: [[1]]}, [0]))
    )
    assert vertices(cells) == points((-1,), (0,), (1,))
    assert sorted(str(cells.signs_of_region(index)) for index in range(4)) == [
        "+|+",
        "+|-",
        "-|+",
        "-|-",
    ]


def test_a_skip_connection_that_sees_more_than_the_first_layer() -> None:
    net = skipping(2, ({0: [[1, 0]]}, [0]), ({0: [[0, 1]], 1: [[1]]}, [0]), ({2: [[1]]}, [0]))
    with pytest.raises(
        DomainError,
        match="a skip connection reads the input in a direction that layer 1 does not see",
    ):
        canonical_complex(net)
    cells = canonical_complex(net, Polyhedron.box([-2, -2], [2, 2]))
    assert cells.f_vector == (8, 11, 4)
    assert cells.num_regions == 4
    half = Polyhedron.from_constraints(
        [[0, 1]], [2]
    )  # the constraints of the domain read that direction
    assert canonical_complex(net, half).num_regions == 4


def test_output_layers_may_see_everything() -> None:
    net = skipping(2, ({0: [[1, 0]]}, [0]), ({0: [[0, 1]], 1: [[1]]}, [0]))
    cells = canonical_complex(net)
    assert cells.f_vector == (0, 1, 2)
    assert {cells.region(index).affine_map([3, 5]) for index in (0, 1)} == points((8,), (5,))


# -- Ctrl-C ----------------------------------------------------------------------------------------


@pytest.fixture
def _python_handler() -> Iterator[None]:
    """Install Python's handler of Ctrl-C, as tests in the background ignore the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def truncated(net: Network, last: NeuronId) -> Network:
    """The hidden neurons up to a given one, as a network with a trailing ReLU."""
    rows = range(last.index + 1)
    final = net.layers[last.layer - 1]
    blocks = tuple(Block(block.source, block.weight.take(rows=rows)) for block in final.blocks)
    return Network(
        net.num_inputs,
        (*net.layers[: last.layer - 1], Layer(blocks, final.bias.take(rows=rows))),
        "relu",
    )


def interrupting(steps: list[ProgressStep], stop: int) -> Progress:
    """Return a `progress` that collects steps and presses Ctrl-C once, after some neurons."""
    pressed: list[bool] = []

    def progress(step: ProgressStep) -> None:
        steps.append(step)
        if step.num_done == stop and not pressed:
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)

    return progress


@pytest.mark.usefixtures("_python_handler")
@pytest.mark.parametrize("domain", [None, Polyhedron.box([-2, -2], [3, 3])])
def test_an_interrupted_complex_is_that_of_the_neurons_done(domain: Polyhedron | None) -> None:
    net = network(
        (LINES, [0, -1, 2]), ([[1, 1, -1], [1, -2, 1]], [0, 1]), ([[1, 1], [-1, 2]], [-1, 1])
    )
    before = signal.getsignal(signal.SIGINT)
    for stop in range(1, 8):
        steps: list[ProgressStep] = []
        cells = canonical_complex(net, domain, progress=interrupting(steps, stop))
        # the base: the first two neurons, or two sides of the box
        num_done = max(stop, 2 if domain is None else 1)
        assert cells.neurons == tuple(net.neurons)[:num_done]
        assert steps[-1].num_done == num_done
        assert cells.complete == (num_done == 7)
        expected = canonical_complex(truncated(net, cells.neurons[-1]), domain)
        assert dimensions_by_signs(cells) == dimensions_by_signs(expected)
        assert cells.locate([1, 1]) is not None
        if not cells.complete:
            with pytest.raises(DomainError, match="the complex is incomplete"):
                cells.region(0)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("_python_handler")
def test_a_second_interrupt_is_not_held_back() -> None:
    def progress(step: ProgressStep) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        canonical_complex(network((LINES, [0, 0, 1])), progress=progress)
    assert signal.getsignal(signal.SIGINT) is before


def test_progress() -> None:
    steps: list[ProgressStep] = []
    net = network((LINES, [0, 0, -1]), ([[1, 1, 1]], [-1]))
    cells = canonical_complex(net, Polyhedron.box([-1, -1], [1, 1]), progress=steps.append)
    assert {(step.stage, step.num_total, step.unit) for step in steps} == {
        ("cutting cells", 4, "neurons")
    }
    assert [step.num_done for step in steps] == [0, 0, 0, 0, 1, 2, 3, 4]  # the box has four sides
    assert [step.details.get("layer") for step in steps[4:]] == [1, 1, 1, 2]
    assert steps[-1].details["regions"] == cells.num_regions


# -- Errors ----------------------------------------------------------------------------------------


def square(*_: object) -> PolyhedralComplex:
    return canonical_complex(network((LINES, [0, 0, 0])), Polyhedron.box([-1, -1], [1, 1]))


def test_errors() -> None:
    net = network((LINES, [0, 0, 0]))
    whole, on_square = canonical_complex(net), square()
    on_line = canonical_complex(net, Polyhedron.from_constraints([], [], [[1, 1]], [0], 2))
    empty = Polyhedron.from_constraints([[1, 0], [-1, 0]], [0, -1])
    attempts = [
        (lambda: canonical_complex(net, empty), "the domain is empty"),
        (
            lambda: canonical_complex(net, Polyhedron.universe(3)),
            "domain: a polyhedron in R^3, but the network has 2 inputs",
        ),
        (lambda: whole.region(6), "there is no region 6, only 6 regions"),
        (lambda: whole.region(-1), "there is no region -1, only 6 regions"),
        (lambda: whole.volume(0), "region 0 is unbounded"),
        (
            lambda: on_line.volume(0),
            "regions of a lower-dimensional domain have no rational volume",
        ),
        (lambda: on_square.signs(3), "there are no cells of dimension 3, only of 0 to 2"),
        (lambda: on_square.facets(-1), "there are no cells of dimension -1, only of 0 to 2"),
        (lambda: on_line.constraint_signs(2), "there are no cells of dimension 2, only of 0 to 1"),
        (
            lambda: whole.locate([1]),
            "point: expected a point of shape (2,) or points of shape (k, 2), got shape (1,)",
        ),
        (lambda: next(stream_complex(net, empty)), "the domain is empty"),
    ]
    for attempt, message in attempts:
        with pytest.raises(DomainError) as caught:
            attempt()  # type: ignore[no-untyped-call]
        assert str(caught.value) == message


def test_vertices_have_no_facets() -> None:
    offsets, entries = square().facets(0)
    assert (offsets.tolist(), entries.tolist()) == ([0] * 10, [])


# -- Real files ------------------------------------------------------------------------------------


@pytest.mark.skipif(not _NETS.is_dir(), reason="the real networks are not here")
def test_real_files() -> None:
    pendulum = canonical_complex(load(_NETS / "arch_single_pendulum.onnx"))
    assert pendulum.f_vector == (1230, 2509, 1280)
    assert pendulum.statistics.num_exact_decisions == 0
    index = load(_NETS / "nn4sys_lindex.onnx")
    assert canonical_complex(index).f_vector == (301, 302)
    unit = canonical_complex(index, Polyhedron.box([0], [1]))
    assert unit.f_vector == (88, 87)
    points = sorted(unit.vertex(number)[0] for number in range(88))
    gap = min(right - left for left, right in pairwise(points))
    assert 28_748_035 < gap * 10**15 < 28_748_036
    assert sum(unit.volume(number) for number in range(87)) == 1
