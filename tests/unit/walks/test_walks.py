"""Walks along lines and bent hyperplanes: small cases, errors, error bounds, a large network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import islice, pairwise
from random import Random

import numpy as np
import pytest

from polyrelu.errors import DomainError
from polyrelu.exact import (
    UNDECIDED,
    Rational,
    RationalMatrix,
    SparseMatrix,
    positive_primitive,
    to_fraction,
)
from polyrelu.network import Block, Layer, Network, NeuronId, from_arrays
from polyrelu.walks import (
    AffineSlice,
    BentPiece,
    CrossingPoint,
    LineCell,
    StepLimitError,
    Tie,
    walk_bent_hyperplane,
    walk_line,
    zero_in_plane,
)
from polyrelu.walks.float_forms import LocalForms
from tests.generators.files import NETS
from tests.generators.quantised_networks import quantised_network

MNIST = NETS / "mnist_256x4.onnx"
PLANE = ([0, 0], [[1, 0], [0, 1]])
#: x, y; then x + y - 1 on what is left of them.
CORNER = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
#: |x| + |y| - 1 in the second layer.
DIAMOND = from_arrays(
    [([[1, 0], [-1, 0], [0, 1], [0, -1]], [0, 0, 0, 0]), ([[1, 1, 1, 1]], [-1]), ([[1]], [0])]
)


def signs_of(cells: list[LineCell]) -> list[str]:
    return [str(cell.signs) for cell in cells]


def exact(*numbers: Rational) -> tuple[Fraction, ...]:
    return tuple(map(to_fraction, numbers))


def times(cells: list[LineCell]) -> list[Fraction]:
    return [cell.end.t for cell in cells if cell.end is not None]


# -- lines --------------------------------------------------------------------------------------


def test_a_line_through_a_tie_and_along_a_zero_set() -> None:
    cells = list(walk_line(CORNER, [-1, -1], [1, 1]))
    assert signs_of(cells) == ["--|-", "++|-", "++|+"]
    assert cells[0].end is not None
    assert (cells[0].end.t, cells[0].end.is_tie, str(cells[0].end.signs)) == (
        Fraction(1),
        True,
        "00|-",
    )
    assert cells[0].end.neurons == (NeuronId(1, 0), NeuronId(1, 1))
    assert cells[0].end.point == exact(0, 0)
    assert [cell.derivative for cell in cells] == [exact(0), exact(0), exact(2)]
    assert signs_of(list(walk_line(CORNER, [0, -3], [0, 1]))) == ["0-|-", "0+|-", "0+|+"]
    inside = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 0]], [0]), ([[1]], [0])])
    cells = list(walk_line(inside, [-1, 0], [1, 0]))  # the second layer is 0 until x is on
    assert signs_of(cells) == ["-0|0", "+0|+"]
    assert cells[0].end is not None
    assert cells[0].end.neurons == (NeuronId(1, 0), NeuronId(2, 0))


def test_start_and_end() -> None:
    """The first cell is the one just beyond the start.

    An event at the end is reported, a cell beyond the end is not.
    """
    steps = from_arrays([([[1], [1], [1]], [0, -1, -2]), ([[1, 1, 1]], [0])])
    cells = list(walk_line(steps, [0], [1], start=1, end=2))
    assert (signs_of(cells), times(cells)) == (["++-"], [Fraction(2)])
    assert (cells[0].start, cells[0].inner) == (None, Fraction(3, 2))
    cells = list(walk_line(steps, [0], [1], start="1/2", end="3/2"))
    assert (signs_of(cells), times(cells)) == (["+--", "++-"], [Fraction(1)])
    assert [cell.inner for cell in cells] == [Fraction(3, 4), Fraction(5, 4)]
    cells = list(walk_line(steps, [0], [1], end=Fraction(2) - Fraction(1, 2**80)))
    assert times(cells) == [1]
    cells = list(walk_line(steps, [0], [1], end=Fraction(2) + Fraction(1, 2**80)))
    assert times(cells) == [1, 2]
    assert signs_of(list(walk_line(steps, [0], [-1], start=-5))) == ["+++", "++-", "+--", "---"]
    assert next(walk_line(steps, [0], [1], start=5)).inner == 6


def test_networks_without_hidden_neurons_and_with_a_trailing_relu() -> None:
    (cell,) = walk_line(from_arrays([([[2, 3]], [1])]), [0, 0], [1, 1])
    assert (str(cell.signs), cell.end, cell.derivative) == ("", None, exact(5))
    cells = list(walk_line(from_arrays([([[2, 3]], [-5])], "relu"), [0, 0], [1, 1]))
    assert (signs_of(cells), [cell.derivative for cell in cells]) == (
        ["-", "+"],
        [exact(0), exact(5)],
    )


def test_numbers_of_all_kinds() -> None:
    network = from_arrays([([[1, 1]], ["-1/3"]), ([[1]], [0])])
    points: list[list[Rational]] = [[0, 0], [0.0, np.float32(0)], ["0", Fraction(0)]]
    for point in points:
        assert times(list(walk_line(network, point, [np.int64(1), 0.0]))) == [Fraction(1, 3)]


def test_neurons_that_are_always_zero_cost_nothing() -> None:
    """Neurons that are identically 0 need no exact arithmetic.

    One has no weights and no bias, another one reads only dead neurons.
    """
    first = ([[1, 0], [0, 1], [0, 0], [0, 0]], [0, -1, 0, -1])
    network = from_arrays([first, ([[1, 1, 0, 0], [0, 0, 1, 1]], [-3, 0]), ([[1, 1]], [0])])
    walk = walk_line(network, [-1, -1], [1, "3/2"])
    assert signs_of(list(walk)) == ["--0-|-0", "+-0-|-0", "++0-|-0", "++0-|+0"]
    assert (
        walk.statistics.num_steps,
        walk.statistics.num_exact_steps,
        walk.statistics.num_exact_continuations,
    ) == (4, 0, 0)


@pytest.mark.parametrize("bits", [60, 1200])
def test_breakpoints_that_floats_do_not_tell_apart(bits: int) -> None:
    """1 and 1 + 2^-60 are the same float, and 2^-1200 is 0 in floats.

    In the second layer the differences are as small after cancellation.
    """
    gap = Fraction(1, 2**bits)
    network = from_arrays([([[1], [1], [-1]], [-1 - gap, -1, 1 + 2 * gap]), ([[1, 1, 1]], [0])])
    cells = list(walk_line(network, [0], [1]))
    assert (signs_of(cells), times(cells)) == (
        ["--+", "-++", "+++", "++-"],
        [1, 1 + gap, 1 + 2 * gap],
    )
    assert len({float(t) for t in times(cells)}) == 1
    thin = from_arrays(
        [([[1], [1]], [0, gap]), ([[-1, 1], [1, -1]], [-gap / 2, gap / 2]), ([[1, 1]], [0])]
    )
    cells = list(walk_line(thin, [-1], [1]))
    assert signs_of(cells) == ["--|-+", "-+|-+", "-+|+-", "++|+-"]
    assert times(cells) == [1 - gap, 1 - gap / 2, 1]


def test_how_long_the_direction_is_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    first, second = ((rng.normal(size=(9, n)), rng.normal(size=9)) for n in (3, 9))
    network = from_arrays([first, second, (rng.normal(size=(1, 9)), [0])])
    found = []
    for size in (Fraction(1), Fraction(1, 2**600), Fraction(2**600)):
        walk = walk_line(network, [0, 0, 0], [size, 2 * size, -size], start=-4 / size)
        found.append((signs_of(list(walk)), walk.statistics.num_exact_steps))
    assert found[0] == found[1] == found[2]
    assert (len(found[0][0]) > 8, found[0][1]) == (True, 0)


# -- bent hyperplanes ---------------------------------------------------------------------------


def pieces_of(
    network: Network, neuron: NeuronId, start: Sequence[Rational], reverse: bool = False
) -> list[BentPiece]:
    return list(walk_bent_hyperplane(network, neuron, *PLANE, start=start, reverse=reverse))


def test_a_corner() -> None:
    ahead, behind = (
        pieces_of(CORNER, NeuronId(2, 0), ["1/2", "1/2"], reverse) for reverse in (False, True)
    )
    assert [str(piece.signs) for piece in ahead] == ["++|0", "+-|0"]
    assert [str(piece.signs) for piece in behind] == ["++|0", "-+|0"]
    ridge = ahead[0].end
    assert isinstance(ridge, CrossingPoint)
    assert (ridge.neuron, ridge.other, ridge.zeros) == (
        NeuronId(2, 0),
        NeuronId(1, 1),
        (NeuronId(1, 1), NeuronId(2, 0)),
    )
    assert (ridge.point, ridge.embedded, str(ridge.signs)) == (exact(1, 0), exact(1, 0), "+0|0")
    assert {pair: str(signs) for pair, signs in ridge.sectors.items()} == {
        (1, 1): "++|+",
        (1, -1): "+-|+",
        (-1, 1): "++|-",
        (-1, -1): "+-|-",
    }
    assert {pair: str(signs) for pair, signs in ridge.rays.items()} == {
        (0, 1): "++|0",
        (0, -1): "+-|0",
        (1, 0): "+0|+",
        (-1, 0): "+0|-",
    }
    assert {pair: matrix.row(0) for pair, matrix in ridge.gradients().items()} == {
        (1, 1): exact(1, 1),
        (1, -1): exact(1, 0),
        (-1, 1): exact(0, 0),
        (-1, -1): exact(0, 0),
    }
    assert ridge.visible == {(0, 1): True, (0, -1): True, (1, 0): True, (-1, 0): False}
    assert ridge.bends
    assert ([piece.heading for piece in ahead], ahead[1].start) == ([(1, -1), (0, -1)], ridge)
    assert [piece.inner for piece in ahead] == [(Fraction(3, 4), Fraction(1, 4)), (1, -1)]


def test_the_earlier_neuron_goes_straight_through() -> None:
    (first, _) = pieces_of(CORNER, NeuronId(1, 0), [0, 0.5])
    ridge = first.end
    assert isinstance(ridge, CrossingPoint)
    assert (ridge.other, ridge.point, ridge.bends) == (NeuronId(2, 0), exact(0, 1), True)
    assert ridge.visible == {(0, 1): True, (0, -1): False, (1, 0): True, (-1, 0): True}
    crossing = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])
    ridge = pieces_of(crossing, NeuronId(1, 0), [0, -1])[0].end
    assert isinstance(ridge, CrossingPoint)
    assert not ridge.bends


def test_a_closed_loop_through_ties() -> None:
    """Both x and -x vanish at a corner of the diamond; there is one way on."""
    for reverse in (False, True):
        pieces = pieces_of(DIAMOND, NeuronId(2, 0), ["1/3", "2/3"], reverse)
        assert [piece.ending for piece in pieces] == [None, None, None, "closed"]
        corners = [piece.end for piece in pieces]
        assert all(isinstance(corner, Tie) and len(corner.zeros) == 3 for corner in corners)
        assert {corner.point for corner in corners if corner} == {
            exact(1, 0),
            exact(0, 1),
            exact(-1, 0),
            exact(0, -1),
        }
    pieces = pieces_of(DIAMOND, NeuronId(2, 0), [0, -1])  # from a corner
    assert [piece.ending for piece in pieces] == [None, None, None, "closed"]
    with pytest.raises(DomainError, match="2 of 2 rays"):
        pieces_of(DIAMOND, NeuronId(2, 0), [-1, 0])


def test_a_closed_loop_of_ridges() -> None:
    triangle = from_arrays(
        [([[1, 0], [0, 1], [-1, -1]], [0, 0, 0]), ([[2, 2, 2]], [-2]), ([[1]], [0])]
    )
    start = zero_in_plane(triangle, NeuronId(2, 0), ["1/5", "1/7"], PLANE[1])
    assert start is not None
    pieces = list(
        walk_bent_hyperplane(triangle, NeuronId(2, 0), ["1/5", "1/7"], PLANE[1], start=start)
    )
    assert pieces[-1].ending == "closed"
    assert all(isinstance(piece.end, CrossingPoint) and piece.end.bends for piece in pieces)
    assert len({piece.signs for piece in pieces}) == len(pieces) == 6


def test_ties_stop_the_walk_where_it_branches_or_ends() -> None:
    cross = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, -1]], [0]), ([[1]], [0])])
    # σ(x) + σ(y) - σ(x + y) is positive between, and 0 on two quadrants.
    pieces = pieces_of(cross, NeuronId(2, 0), [-1, 0])
    assert [piece.ending for piece in pieces] == ["tie"]
    tie = pieces[0].end
    assert isinstance(tie, Tie)
    assert (tie.point, len(tie.zeros), len(tie.rays_of_neuron)) == (exact(0, 0), 4, 4)
    assert sorted(map(str, tie.sectors)) == ["+++|0", "+-+|+", "+--|+", "-++|+", "-+-|+", "---|0"]
    assert len(tie.rays) == 6
    end = from_arrays([([[1, 0], [0, 1], [0, -1]], [0, 0, 0]), ([[1, 1, 1]], [0]), ([[1]], [0])])
    pieces = pieces_of(end, NeuronId(2, 0), [-1, 0])  # σ(x) + |y| vanishes on a ray
    assert [piece.ending for piece in pieces] == ["tie"]
    assert isinstance(pieces[0].end, Tie)
    assert len(pieces[0].end.rays_of_neuron) == 1


def test_along_the_edge_of_a_region_where_the_neuron_is_zero() -> None:
    """z = -max(x, 0) - max(y, 0) is 0 on the third quadrant.

    The boundary of this quadrant is the bent hyperplane.
    """
    edge = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[-1, -1]], [0]), ([[1]], [0])])
    pieces = pieces_of(edge, NeuronId(2, 0), [-3, 0])
    assert [(str(piece.signs), piece.ending) for piece in pieces] == [
        ("-0|0", None),
        ("0-|0", "unbounded"),
    ]
    assert isinstance(pieces[0].end, Tie)
    with pytest.raises(DomainError, match="all around the start"):
        pieces_of(edge, NeuronId(2, 0), [-1, -1])


def test_forms_that_are_constant_on_an_unbounded_piece() -> None:
    """All neurons of the second layer are constant where one of them is 0; floats see slopes."""
    second = [[0.3], [0.9], [-1.7], [0.1]]
    network = from_arrays([([[0.1, 0.7]], [0]), (second, [-1, 2, 5, -0.25]), ([[1, 1, 1, 1]], [0])])
    start = zero_in_plane(network, NeuronId(2, 0), *PLANE, heading=(1, 1))
    for reverse in (False, True):
        walk = walk_bent_hyperplane(
            network, NeuronId(2, 0), *PLANE, start=start or (), reverse=reverse
        )
        (piece,) = walk
        assert (str(piece.signs), piece.ending) == ("+|0+-+", "unbounded")
        assert walk.statistics.num_fully_exact_steps == 0
        assert walk.statistics.num_exact_steps == 1


def test_coincident_neurons() -> None:
    twice = from_arrays([([[1, 0], [-2, 0], [0, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    pieces = pieces_of(twice, NeuronId(1, 0), [0, -1])
    assert [(str(piece.signs), piece.ending) for piece in pieces] == [
        ("00-", None),
        ("00+", "unbounded"),
    ]
    assert isinstance(pieces[0].end, Tie)
    assert pieces[0].end.zeros == (NeuronId(1, 0), NeuronId(1, 1), NeuronId(1, 2))


def test_neurons_that_stay_zero_make_no_tie() -> None:
    network = from_arrays(
        [([[1, 0], [0, 0], [0, 1]], [0, 0, 0]), ([[1, 1, 1], [0, 1, 0]], [-1, 0]), ([[1, 1]], [0])]
    )
    first, second = pieces_of(network, NeuronId(2, 0), ["1/2", "1/2"])
    assert (str(first.signs), str(second.signs)) == ("+0+|00", "+0-|00")
    assert isinstance(first.end, CrossingPoint)
    assert first.end.zeros == (NeuronId(1, 1), NeuronId(1, 2), NeuronId(2, 0), NeuronId(2, 1))


def test_planes_in_the_zero_set_of_another_neuron() -> None:
    """On the plane z = 0 the function max(x, 0) + max(y, 0) + max(z, 0) has no gradient."""
    outputs = [[1, 1, 1]]
    plane = ([0, 0, 0], [[1, 0, 0], [0, 1, 0]])
    network = from_arrays([([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]), (outputs, [0])])
    (ridge,) = (
        piece.end
        for piece in walk_bent_hyperplane(network, NeuronId(1, 0), *plane, start=[0, -1])
        if piece.end
    )
    assert isinstance(ridge, CrossingPoint)
    assert (ridge.zeros, ridge.through_plane) == (
        tuple(NeuronId(1, i) for i in range(3)),
        (NeuronId(1, 2),),
    )
    for ask in (ridge.gradients, lambda: ridge.visible):
        with pytest.raises(
            DomainError, match="in the zero set of neuron 2 of layer 1, where f need not"
        ):
            ask()
    assert [str(signs) for signs in ridge.sectors.values()] == ["++0", "+-0", "-+0", "--0"]
    deeper = from_arrays(  # the second layer reads z alone, or nothing
        [
            ([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0, 0, 0]),
            ([[1, 2, 0], [0, 0, 3], [0, 0, 0]], [5, 0, 0]),
            (outputs, [0]),
        ]
    )
    (ridge,) = (
        piece.end
        for piece in walk_bent_hyperplane(deeper, NeuronId(1, 0), *plane, start=[0, -1])
        if piece.end
    )
    assert isinstance(ridge, CrossingPoint)
    assert ridge.through_plane == (NeuronId(1, 2),)
    dead = from_arrays([([[1, 0, 0], [0, 1, 0], [0, 0, 0]], [0, 0, 0]), (outputs, [0])])
    (ridge,) = (
        piece.end
        for piece in walk_bent_hyperplane(dead, NeuronId(1, 0), *plane, start=[0, -1])
        if piece.end
    )
    assert isinstance(ridge, CrossingPoint)
    assert ridge.through_plane == ()
    assert all(ridge.visible.values())
    assert str(ridge.gradients()[1, -1]) == "[1 0 0]"


def test_skip_connections() -> None:
    """z = max(x, 0) + y of the second layer reads the input: it bends at x = 0."""
    layers = (
        Layer((Block(0, RationalMatrix.from_rows([[1, 0]])),), RationalMatrix.column([0])),
        Layer(
            (
                Block(0, RationalMatrix.from_rows([[0, 1]])),
                Block(1, RationalMatrix.from_rows([[1]])),
            ),
            RationalMatrix.column([0]),
        ),
        Layer((Block(2, RationalMatrix.from_rows([[1]])),), RationalMatrix.column([0])),
    )
    pieces = pieces_of(Network(2, layers), NeuronId(2, 0), [-1, 0])
    assert [(str(piece.signs), piece.heading) for piece in pieces] == [
        ("-|0", (1, 0)),
        ("+|0", (1, -1)),
    ]


def test_sparse_weights() -> None:
    """Weights that are stored by their nonzero entries; one neuron reads nothing."""
    rng, size = Random("sparse"), 128
    first = [[rng.randint(-9, 9), rng.randint(-9, 9)] for _ in range(size)]
    second = [
        [rng.randint(1, 9) * ((i - j) % size < 3) * (i != 5) for j in range(size)]
        for i in range(size)
    ]
    biases = [[rng.randint(-9, 9) for _ in range(size)] for _ in range(2)]
    biases[1][5] = 0
    network = from_arrays([(first, biases[0]), (second, biases[1]), ([[1] * size], [0])])
    assert isinstance(network.layers[1].blocks[0].entries, SparseMatrix)
    walk = walk_line(network, ["1/3", 0], [1, "5/7"], start=-9)
    cells = list(walk)
    assert len(cells) > size
    assert walk.statistics.num_exact_steps < size / 4
    for cell in cells[::7]:
        x = [Fraction(1, 3) + cell.inner, cell.inner * Fraction(5, 7)]
        assert network.sign_vector(x) == cell.signs
        assert cell.signs.layers[1][5] == 0


def test_pieces_can_be_read_in_any_order() -> None:
    """They make their signs and ends when they are asked for, from what was asked for before."""
    rng = np.random.default_rng(8)
    layers = [(rng.normal(size=(m, n)), rng.normal(size=m)) for m, n in ((30, 2), (9, 30), (1, 9))]
    network, neuron = from_arrays(layers), NeuronId(2, 3)
    start = zero_in_plane(network, neuron, *PLANE)
    assert start is not None

    def shown(piece: BentPiece) -> list[object]:
        ends = [end and (end.point, str(end.signs)) for end in (piece.start, piece.end)]
        return [str(piece.signs), piece.heading, piece.cell.back, *ends]

    on_the_way = [
        shown(piece) for piece in walk_bent_hyperplane(network, neuron, *PLANE, start=start)
    ]
    assert len(on_the_way) > 20
    pieces = list(walk_bent_hyperplane(network, neuron, *PLANE, start=start))
    for i in Random(0).choices(range(len(pieces)), k=99):
        assert shown(pieces[i]) == on_the_way[i]


def test_a_limit() -> None:
    pieces = list(
        walk_bent_hyperplane(DIAMOND, NeuronId(2, 0), *PLANE, start=["1/3", "2/3"], limit=2)
    )
    assert [piece.ending for piece in pieces] == [None, "limit"]


def test_zeros_are_found() -> None:
    assert zero_in_plane(DIAMOND, NeuronId(2, 0), [0, 0], PLANE[1], heading=[1, 1]) == (
        Fraction(1, 2),
        Fraction(1, 2),
    )
    assert zero_in_plane(DIAMOND, NeuronId(2, 0), [-5, 0], PLANE[1]) == exact(4, 0)
    assert zero_in_plane(DIAMOND, NeuronId(2, 0), [-5, 0], PLANE[1], limit=1) == exact(4, 0)
    assert zero_in_plane(
        DIAMOND, NeuronId(2, 0), ["1/3", 5], PLANE[1], heading=[0, -1], limit=1
    ) == exact(0, "-13/3")
    with pytest.raises(
        StepLimitError,
        match="no zero in the first 1 cells, but the way goes on; give a larger limit",
    ):
        zero_in_plane(DIAMOND, NeuronId(2, 0), ["-1/3", "1/5"], PLANE[1], limit=1)
    assert zero_in_plane(DIAMOND, NeuronId(2, 0), ["-1/3", "1/5"], PLANE[1], limit=2) == exact(
        "17/15", 0
    )
    assert zero_in_plane(CORNER, NeuronId(2, 0), [-5, -5], PLANE[1], heading=[-1, 0]) is None
    assert (
        zero_in_plane(CORNER, NeuronId(2, 0), [-5, -5], PLANE[1], heading=[-1, 0], limit=1) is None
    )  # decided


# -- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: walk_line(CORNER, [0], [1, 0]), "the point has 1 coordinates, not 2"),
        (lambda: walk_line(CORNER, [0, 0], [1]), "the direction has 1 coordinates"),
        (lambda: walk_line(CORNER, [0, 0], [0, 0]), "the direction is 0"),
        (lambda: walk_line(CORNER, [0, float("nan")], [0, 1]), "the point: nan"),
        (
            lambda: walk_line(CORNER, [0, 0], [0, 1], end=0),
            "the end of the line is not after its start",
        ),
        (
            lambda: walk_bent_hyperplane(CORNER, NeuronId(1, 0), [0, 0], [[1, 1]]),
            "a plane has two directions, not 1",
        ),
        (
            lambda: walk_bent_hyperplane(CORNER, NeuronId(1, 0), [0, 0], [[1, 1], [2, 2]]),
            "dependent",
        ),
        (
            lambda: walk_bent_hyperplane(CORNER, NeuronId(1, 0), [0, 0], [[1, 1], [2]]),
            "direction 1 has 1 coordinates",
        ),
        (lambda: walk_bent_hyperplane(CORNER, NeuronId(1, 2), *PLANE), "no neuron 2"),
        (lambda: walk_bent_hyperplane(CORNER, NeuronId(3, 0), *PLANE), "no hidden layer 3"),
        (
            lambda: walk_bent_hyperplane(CORNER, NeuronId(2, 0), *PLANE),
            "is not 0 at the start; zero_in_plane",
        ),
        (
            lambda: walk_bent_hyperplane(CORNER, NeuronId(1, 0), *PLANE, start=[0, 0, 0]),
            "the start has 3 coordinates",
        ),
        (lambda: walk_bent_hyperplane(CORNER, NeuronId(1, 0), *PLANE, limit=0), "at most 0 pieces"),
        (
            lambda: zero_in_plane(CORNER, NeuronId(1, 0), [1, 1], PLANE[1], heading=[0, 0]),
            "the direction is 0",
        ),
    ],
)
def test_errors(call: Callable[[], object], message: str) -> None:
    with pytest.raises(DomainError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_planes_in_the_zero_set() -> None:
    flat = from_arrays([([[0, 0, 1], [1, 0, 0]], [0, 0]), ([[1, 1]], [0])])
    plane = ([0, 0, 0], [[1, 0, 0], [0, 1, 0]])
    with pytest.raises(DomainError, match="all around the start"):
        walk_bent_hyperplane(flat, NeuronId(1, 0), *plane)
    point = from_arrays(
        [([[1, 0], [-1, 0], [0, 1], [0, -1]], [0, 0, 0, 0]), ([[1, 1, 1, 1]], [0]), ([[1]], [0])]
    )
    with pytest.raises(DomainError, match="nowhere else around the start"):
        walk_bent_hyperplane(point, NeuronId(2, 0), *PLANE)  # |x| + |y|


# -- float bounds -------------------------------------------------------------------------------


def wild_network(rng: Random) -> Network:
    """A network with weights of very different sizes, up to and beyond the range of floats."""

    def number() -> Fraction:
        size = Fraction(2) ** rng.choice(
            [0, 0, 0, -3, 40, -300, 500, -1000, 1020, -1070, 1100, -1100]
        )
        return (
            Fraction(rng.randint(-(10**6), 10**6), rng.randint(1, 999)) * size * rng.randint(0, 3)
        )

    widths = (2, 4, 4, 3, 1)
    return from_arrays(
        [
            ([[number() for _ in range(n)] for _ in range(m)], [number() for _ in range(m)])
            for n, m in pairwise(widths)
        ]
    )


def test_every_float_form_is_within_its_bound_and_every_sign_is_right() -> None:
    rng, decided, undecided = Random("bounds"), 0, 0
    for _ in range(60):
        plane = AffineSlice(
            wild_network(rng), [rng.random(), "1/3"], [[1, rng.random()], ["2/7", -1]]
        )
        signs = np.array([rng.choice([-1, 1]) for _ in range(plane.num_neurons)], dtype=np.int8)
        forms = LocalForms(plane)
        forms.update(signs)
        q = np.array([rng.gauss(0, 1), rng.gauss(0, 9)])
        point = RationalMatrix.column([*q.tolist(), 1])
        found = forms.signs_at(q, None, 0)
        assert found is not None
        for layer in (1, 2, 3):
            part, exact = plane.layer_slice(layer), plane.forms(signs, layer)
            for row, floats, errors in zip(
                exact.rows(),
                forms.columns[:, part].T.tolist(),
                forms.errors[:, part].T.tolist(),
                strict=True,
            ):
                for number, near, bound in zip(row, floats, errors, strict=True):
                    if np.isfinite(near) and np.isfinite(bound):
                        assert abs(number - Fraction(near)) <= Fraction(bound)
            right = (exact @ point).signs()[:, 0]
            assert ((found[part] == right) | (found[part] == UNDECIDED)).all()
            decided += int((found[part] != UNDECIDED).sum())
            undecided += int((found[part] == UNDECIDED).sum())
    assert decided > 150
    assert undecided > 20


def test_single_rows_and_signs_at_points_are_exact() -> None:
    """Rows without the matrix, and signs by floats first, against the whole matrices."""
    rng = Random("rows")
    for number in range(40):
        skips = number % 2 == 1
        network = quantised_network("skip connections", rng) if skips else wild_network(rng)
        size = network.num_inputs
        rows = [[Fraction(i == j) for j in range(size)] for i in range(min(2, size))]
        plane = AffineSlice(network, [Fraction(rng.randint(-3, 3), 3)] * size, rows)
        signs = np.array([rng.choice([-1, 0, 1]) for _ in range(plane.num_neurons)], dtype=np.int8)
        point = [Fraction(rng.randint(-2, 2), 7) for _ in rows]
        at, column = plane.signs_at(point), RationalMatrix.column([*point, 1])
        for layer in range(1, network.num_hidden_layers + 1):
            part = plane.layer_slice(layer)
            for place, row in enumerate(plane.forms(signs, layer).integer_rows(), part.start):
                assert plane.rows(signs, [place]) == [positive_primitive(row)]
            assert (at[part] == (plane.forms(at, layer) @ column).signs()[:, 0]).all()


def test_signs_on_the_zero_set_of_a_neuron() -> None:
    """Float points beside the line stand for exact points on it."""
    rng, decided = Random("on the line"), 0
    for _ in range(200):
        plane = AffineSlice(wild_network(rng), [0, "1/3"], [[1, rng.random()], ["2/7", -1]])
        signs = np.array([rng.choice([-1, 1]) for _ in range(plane.num_neurons)], dtype=np.int8)
        forms = LocalForms(plane)
        forms.update(signs)
        carrier, free = rng.randrange(plane.num_neurons), rng.randrange(2)
        ((a, b, c),) = plane.rows(signs, [carrier])
        slopes = (a, b)
        other = Fraction(rng.gauss(0, 1))
        if not slopes[free]:
            assert forms.signs_at(np.zeros(2), carrier, free) is None
            continue
        exact = (-c - slopes[1 - free] * other) / Fraction(slopes[free])
        if abs(exact) > 10**200:
            continue
        on_line = [exact, other] if free == 0 else [other, exact]
        q = np.array([float(entry) for entry in on_line])
        q[free] += rng.choice([0, 0, 1e-9, -1e-3]) * abs(q[free])
        found = forms.signs_at(q, carrier, free)
        if found is None:
            continue
        point = RationalMatrix.column([*on_line, 1])
        for layer in (1, 2, 3):
            part = plane.layer_slice(layer)
            right = (plane.forms(signs, layer) @ point).signs()[:, 0]
            assert ((found[part] == right) | (found[part] == UNDECIDED)).all()
            decided += int((found[part] != UNDECIDED).sum())
    assert decided > 100


def test_a_sum_that_overflows_on_the_way_has_no_sign() -> None:
    """1.95e308 - 1.79e308 - 1.79e308 is negative, but infinite in floats."""
    network = from_arrays([([[1.5e308, -1.79e308]], [-1.79e308]), ([[1]], [0])])
    forms = LocalForms(AffineSlice(network, *PLANE))
    forms.update(np.array([1], dtype=np.int8))
    found = forms.signs_at(np.array([1.3, 1.0]), None, 0)
    assert found is not None
    assert found.tolist() == [2]


def test_bounds_are_of_use() -> None:
    rng = np.random.default_rng(1)
    layers = [(rng.normal(size=(64, n)) / 8, rng.normal(size=64)) for n in (3, 64, 64, 64)]
    plane = AffineSlice(
        from_arrays([*layers, (rng.normal(size=(1, 64)), [0])]), [0, 0, 0], [[1, 0, 0], [0, 1, 1]]
    )
    forms = LocalForms(plane)
    forms.update(plane.signs_at([0, 0]))
    assert forms.errors.max() < 1e-10


def test_only_changed_layers_are_computed_again() -> None:
    rng = np.random.default_rng(2)
    layers = [(rng.normal(size=(8, n)), rng.normal(size=8)) for n in (2, 8, 8)]
    plane = AffineSlice(from_arrays([*layers, (rng.normal(size=(1, 8)), [0])]), *PLANE)
    signs = plane.signs_at([0, 0])
    forms, fresh = LocalForms(plane), LocalForms(plane)
    forms.update(signs)
    signs[9] = -signs[9]  # in the second layer
    forms.update(signs, 3)
    fresh.update(signs)
    assert np.array_equal(forms.columns, fresh.columns)
    assert np.array_equal(forms.errors, fresh.errors)


# -- a network of real size ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def mnist() -> Network:
    if not MNIST.exists():
        pytest.skip(f"{MNIST} is not here")
    pytest.importorskip("onnx")
    from polyrelu.formats import load

    return load(MNIST, compare=False)


def vectors(count: int, rng: Random) -> list[list[Fraction]]:
    return [[Fraction(rng.randint(-64, 64), 64) for _ in range(784)] for _ in range(count)]


def test_a_line_in_784_inputs(mnist: Network) -> None:
    point, direction = vectors(2, Random("line"))
    walk = walk_line(mnist, point, direction, start=-100)
    cells = list(walk)
    assert len(cells) > 300
    assert walk.statistics.num_exact_steps < len(cells) / 20
    for cell in cells[3 :: len(cells) // 5]:
        assert cell.end is not None
        for t, signs in ((cell.inner, cell.signs), (cell.end.t, cell.end.signs)):
            assert (
                mnist.sign_vector([p + t * d for p, d in zip(point, direction, strict=True)])
                == signs
            )


def test_a_bent_hyperplane_in_784_inputs(mnist: Network) -> None:
    point, *directions = vectors(3, Random("plane"))
    start = zero_in_plane(mnist, NeuronId(2, 7), point, directions)
    assert start is not None
    walk = walk_bent_hyperplane(mnist, NeuronId(2, 7), point, directions, start=start, limit=300)
    pieces = list(islice(walk, 300))
    assert len(pieces) > 60
    assert walk.statistics.num_exact_steps < len(pieces) / 20
    ridges = [piece.end for piece in pieces if isinstance(piece.end, CrossingPoint)]
    assert len(ridges) > 60
    for ridge in ridges[:: len(ridges) // 3]:
        assert mnist.sign_vector(ridge.embedded) == ridge.signs
        assert len(ridge.zeros) == 2
        assert len(ridge.visible) == 4
    assert mnist.sign_vector(walk.plane.embed(pieces[50].inner)) == pieces[50].signs
