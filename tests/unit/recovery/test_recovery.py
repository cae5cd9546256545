"""Recovery: right parameters, or what is missing; exact, counted, and the same for each seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import polyrelu
from polyrelu.breakpoints import breakpoints_document
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.recovery.choices import choices
from polyrelu.recovery.first_layer import hyperplanes_of_layer_1
from polyrelu.recovery.lines import Line, whole_line
from polyrelu.recovery.oracle import Oracle
from polyrelu.recovery.planes import hyperplanes_of
from polyrelu.recovery.search import Search
from tests.generators.campaigns import some_and_all


def random_network(widths: Sequence[int], seed: int) -> polyrelu.Network:
    rng = Random(seed)

    def number() -> Fraction:
        return Fraction(rng.randint(-100, 100), rng.randint(1, 10))

    return polyrelu.from_arrays(
        [
            ([[number() for _ in range(n)] for _ in range(m)], [number() for _ in range(m)])
            for n, m in pairwise(widths)
        ]
    )


@pytest.mark.parametrize("widths", [(1, 3, 1), (2, 4, 1), (3, 5, 2)])
def test_one_hidden_layer(widths: tuple[int, ...]) -> None:
    for seed in range(3):
        hidden = random_network(widths, seed)
        found = polyrelu.recover(hidden, seed=seed)
        assert found.status == "proved"
        assert found.has_the_parameters
        assert found.network is not None
        assert polyrelu.related(found.network, hidden)


def test_two_hidden_layers() -> None:
    for seed in (2,):
        hidden = random_network((2, 4, 3, 1), seed)
        found = polyrelu.recover(hidden, seed=seed)
        assert (found.status, found.has_the_parameters) == ("proved", True)
        assert found.signs is not None
        assert found.signs.rank <= 4


@pytest.mark.parametrize("numbers", some_and_all((20, 2), (20, 6)))
@pytest.mark.parametrize("widths", [(2, 4, 1), (3, 5, 2), (2, 4, 3, 1), (3, 4, 4, 2)])
def test_many_networks(widths: tuple[int, ...], numbers: tuple[int, int]) -> None:
    """Every network is recovered with its parameters, or the answer says what is missing.

    `numbers` are numbers of networks, with one hidden layer and with two.
    """
    for seed in range(numbers[len(widths) - 3]):
        found = polyrelu.recover(random_network(widths, seed), seed=seed, max_queries=30_000)
        assert found.status == "proved", seed
        assert found.has_the_parameters or found.missing, seed


@pytest.mark.slow
def test_what_no_value_shows() -> None:
    """The five kinds of things that are not visible, each on a random network."""
    for seed, word in ((1, "on at all inputs"), (5, "off at all"), (18, "not determined")):
        found = polyrelu.recover(random_network((2, 4, 3, 1), seed), seed=seed)
        assert (found.status, found.has_the_parameters) == ("proved", False)
        assert any(word in text for text in found.missing), seed
    found = polyrelu.recover(random_network((2, 4, 3, 1), 20), seed=20)
    assert found.status == "proved"
    assert found.num_replaced == 1
    assert any("hyperplanes of layer 1 are not visible" in text for text in found.missing)


def test_a_hyperplane_without_breakpoints() -> None:
    """Neuron 2 of layer 1 is on wherever the neuron of layer 2 is."""
    first = ([[1, 0], [0, 1], [-1, -1]], [0, 0, 0])
    hidden = polyrelu.from_arrays([first, ([[-2, -3, 1]], [-1]), ([[5]], [2])])
    found = polyrelu.recover(hidden)
    assert (found.status, found.has_the_parameters) == ("proved", False)
    assert found.num_replaced == 1
    assert found.network is not None
    assert found.network.widths == (2, 3, 1, 1)


def test_the_first_layer_of_three() -> None:
    """Hyperplanes of layer 1 and the equations for their sides, without false ones."""
    hidden = random_network((2, 4, 3, 2, 1), 1)
    search = Search(Oracle(hidden, 2, seed=1))
    search._look_at_lines(10)
    planes, signs = search.first_layer()
    assert (len(planes), signs.rank, len(signs.solutions)) == (4, 2, 1)
    for plane, turned in zip(planes, signs.solutions[0], strict=True):
        rows = zip(hidden.weight(1).rows(), hidden.bias(1).entries(), strict=True)
        ours = [
            next(a / b for a, b in zip(row, plane.normal, strict=True) if b)
            for row, bias in rows
            if all(a * plane.offset == -b * bias for a, b in zip(row, plane.normal, strict=True))
        ]
        assert len(ours) == 1
        assert (ours[0] < 0) == bool(turned)


def test_layer_1_is_compared_with_the_network() -> None:
    """Few queries are left for layer 1 of a deeper network, and the answer says what is right."""
    found = polyrelu.recover(random_network((2, 4, 3, 2, 1), 1), seed=1, max_queries=2500)
    assert found.network is None
    assert found.num_queries <= 2500
    assert found.first_layer == ((0,), (3,), (2,), (1,))
    assert (found.has_right_sides, found.unseen) == (True, ())
    assert "all of the 4 hyperplanes" in found.statement
    assert found.statement.endswith("of the network that was asked, with their right sides")
    part = polyrelu.recover(random_network((2, 4, 4, 4, 1), 5), seed=5, max_queries=4000)
    assert (part.first_layer, part.unseen) == (((2,),), (0, 1, 3))
    assert "2 solutions" in part.missing[1]
    assert "neurons 0, 1, 3 of layer 1" in part.missing[-1]


def test_a_hyperplane_of_layer_2_ends_at_layer_1() -> None:
    """y = 1 is visible where x < 20, and bends there; x = 1 is hidden where y < -20."""

    first = ([[1, 0], [0, 1], [0, -1]], [-20, 0, 0])
    bent = [first, ([[1, 0, 0], [2, 1, -1]], [0, -1]), ([[1, 1]], [0])]
    hidden = [([[1, 0], [0, 1], [0, -1]], [-1, 0, 0]), ([[2, 1, -1]], [20]), ([[1]], [0])]
    far = [
        ([[1, 0], [0, 1], [0, -1]], [-1015, -1000, 1000]),
        ([[1, 0, 0], [2, 1, -1]], [0, -1]),
        ([[1, 1]], [0]),
    ]
    box = polyrelu.Polyhedron.box([1000, 1000], [1030, 1030])
    for layers, offset, domain in ((bent, 20, None), (hidden, 1, None), (far, 1015, box)):
        search = Search(Oracle(polyrelu.from_arrays(layers), 2, domain=domain))
        search._look_at_lines(8)
        groups = hyperplanes_of(search.oracle, search.jumps)
        assert len(groups) > 1
        (found,) = hyperplanes_of_layer_1(search.oracle, groups, 8)
        assert abs(found.offset) == offset
        assert list(map(abs, found.normal)) == [1, 0]


def test_a_kink_that_lines_miss() -> None:
    """The values seem to be constant until the proof finds a point; no network has no neurons."""
    for row, bias in (([1024], -1023), ([1024, 1024], -2047)):
        corner = polyrelu.from_arrays([([row], [bias]), ([[1]], [0])])
        found = polyrelu.recover(corner, "box:0,1")
        assert found.network is None or found.has_the_parameters


@pytest.mark.parametrize(
    "function",
    [
        lambda x: [x[0] ** 2 + x[1]],
        lambda x: [Fraction(int(x[0] > 0))],
        lambda x: [x[0] - x[0] // 1],
        lambda x: [Fraction(Random(str(x)).randint(0, 9))],
        lambda x: [Fraction(round(1000 * max(x[0], x[1], 1)), 1000)],
    ],
    ids=["square", "step", "saw", "dice", "rounded"],
)
def test_functions_of_no_network(function: Any) -> None:
    """Nothing is recovered; the number of values is bounded."""
    found = polyrelu.recover_function(function, 2, max_queries=600)
    assert found.network is None
    assert found.num_queries <= 600
    assert found.missing
    again = polyrelu.recover_function(function, 2, max_queries=600, relative_error=2.0**-20)
    assert again.network is None or again.largest_residual is not None


def test_errors_of_the_function_are_passed_on() -> None:
    for error in (ValueError("no"), KeyboardInterrupt(), MemoryError()):

        def function(x: object, error: BaseException = error) -> list[int]:
            raise error

        with pytest.raises(type(error)):
            polyrelu.recover_function(function, 2)


def test_a_session_of_onnx_runtime(tmp_path: Path) -> None:
    """Values in float32 give a guess with its residual."""
    onnxruntime = pytest.importorskip("onnxruntime")
    hidden = polyrelu.from_arrays([([[1, 2], [3, -1]], [0, 2]), ([[1, -2]], [5])])
    polyrelu.save(hidden, tmp_path / "net.onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
    name = session.get_inputs()[0].name
    kind = np.float64 if "double" in session.get_inputs()[0].type else np.float32

    def function(x: tuple[Fraction, ...]) -> list[float]:
        return list(session.run(None, {name: np.array([x], dtype=kind)})[0][0].tolist())

    error = float(np.finfo(kind).eps)
    found = polyrelu.recover_function(function, 2, relative_error=error)
    assert found.network is not None
    assert found.network.widths == (2, 2, 1)
    assert found.largest_residual is not None
    assert found.largest_residual < 1e-2


def test_breakpoints_on_lines_are_exact() -> None:
    """The search finds the breakpoints that an exact walk along the line passes."""
    for seed in range(4):
        network = random_network((2, 4, 1), seed)
        oracle = Oracle(network, 2, seed=seed)
        line = Line((Fraction(1, 3), Fraction(-1, 5)), oracle.direction())
        forth = polyrelu.walk_line(network, line.point, line.direction)
        back = polyrelu.walk_line(network, line.point, [-d for d in line.direction])
        wanted = {cell.end.t for cell in forth if cell.end}
        wanted |= {-cell.end.t for cell in back if cell.end}
        assert {place.t for place in whole_line(oracle, line)} == wanted


def test_the_same_seed_gives_the_same_answer() -> None:
    hidden = random_network((2, 4, 1), 5)
    one, two = (polyrelu.recover(hidden, seed=3) for _ in range(2))
    assert one.network == two.network
    assert one.num_queries == two.num_queries


def test_values_are_kept(tmp_path: Path) -> None:
    path, asked = tmp_path / "values.db", list[Any]()

    def function(x: Any, last: float = math.inf) -> list[Any]:
        """Return values until the machine is switched off."""
        if len(asked) == last:
            raise SystemExit
        asked.append(x)
        return [abs(x[0]) + max(x[1], 0)]

    expected = polyrelu.recover_function(function, 2)
    num_values = len(asked)
    asked.clear()
    for last in (5, 30, num_values // 2):  # nothing is asked for twice
        with pytest.raises(SystemExit):
            polyrelu.recover_function(partial(function, last=last), 2, checkpoint=path)
        assert len(asked) == last
    assert polyrelu.recover_function(function, 2, checkpoint=path) == expected
    assert len(asked) == num_values == len(set(asked))
    silent = partial(function, last=num_values)
    assert polyrelu.recover_function(silent, 2, checkpoint=path) == expected
    with pytest.raises(DomainError, match=r"other work \(another domain"):
        polyrelu.recover_function(function, 2, "box:-1,1", checkpoint=path)


def test_queries_are_limited() -> None:
    found = polyrelu.recover(random_network((2, 4, 3, 1), 2), max_queries=100)
    assert found.network is None
    assert found.num_queries <= 100
    assert "no network was recovered from 100 values" in found.statement


@pytest.mark.slow
def test_a_part_without_surfaces_is_reported() -> None:
    """A neuron of layer 2 is on at all inputs."""
    found = polyrelu.recover(random_network((2, 4, 3, 1), 6), seed=6)
    assert found.status == "proved"
    assert found.has_the_parameters is False
    assert any("on at all inputs" in text for text in found.missing)


def test_degenerate_networks() -> None:
    doubled = polyrelu.from_arrays([([[1, 2], [2, 4]], [1, 2]), ([[1, 1]], [0])])
    dead = polyrelu.from_arrays([([[1, 2], [0, 0]], [1, -1]), ([[1, 1]], [0])])
    opposite = polyrelu.from_arrays([([[1, 2], [-1, -2]], [1, -1]), ([[1, 1]], [0])])
    constant = polyrelu.from_arrays([([[0, 0]], [1]), ([[1]], [3])])
    affine = polyrelu.from_arrays([([[1, 1], [-1, -1]], [0, 0]), ([[1, -1]], [3])])
    for hidden in (doubled, dead, opposite, constant, affine):
        found = polyrelu.recover(hidden)
        assert found.status == "proved", hidden
        assert found.network is not None


def test_on_a_box() -> None:
    hidden = random_network((2, 4, 1), 7)
    asked = list[tuple[Fraction, ...]]()

    def function(x: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        asked.append(x)
        return hidden(x)

    polyrelu.recover_function(function, 2, "box:-3,3")
    assert asked
    assert all(-3 <= entry <= 3 for x in asked for entry in x)


def test_a_box_whose_lines_miss_hyperplanes() -> None:
    """More lines are looked at before a second hidden layer is thought of; the domain is named."""
    hidden = polyrelu.from_arrays([([[1, 2], [3, -1]], [0, 2]), ([[1, -2]], [5])])
    found = polyrelu.recover(hidden, "box:-9,9")
    assert found.network is not None
    assert (found.network.widths, found.has_the_parameters) == ((2, 2, 1), True)
    assert "computes the same function on [-9, 9]^2, and has its parameters" in found.statement
    assert "on R^n" in polyrelu.recover(hidden).statement


def test_floats() -> None:
    hidden = random_network((2, 4, 1), 0)
    matrices = [(hidden.weight(k).to_floats(), hidden.bias(k).to_floats().ravel()) for k in (1, 2)]

    def function(x: tuple[Fraction, ...]) -> list[float]:
        (w, b), (v, c) = matrices
        return list(v @ np.maximum(w @ np.array(x, dtype=float) + b, 0) + c)

    found = polyrelu.recover_function(function, 2, relative_error=2.0**-52)
    assert found.network is not None
    assert found.network.widths == (2, 4, 1)
    assert found.largest_residual is not None
    assert 0 < found.largest_residual < 1e-5
    assert "nothing is proved" in found.statement


def test_from_weights() -> None:
    hidden = random_network((2, 4, 1), 3)
    document = breakpoints_document(polyrelu.breakpoint_complex(polyrelu.canonical_complex(hidden)))
    found = polyrelu.recover_weights(document)
    assert found.network is not None
    assert polyrelu.related(found.network, hidden)


def test_from_a_complex() -> None:
    """Only the breakpoints and one affine piece are used; the proof is about the domain."""
    hidden = random_network((2, 4, 1), 3)
    cells = polyrelu.canonical_complex(hidden)
    for weights in (cells, polyrelu.breakpoint_complex(cells)):
        found = polyrelu.recover(weights)
        assert (found.status, found.has_the_parameters) == ("proved", True)
    double = polyrelu.from_arrays([([[1, 2], [2, 4]], [1, 2]), ([[1, 1]], [0])])
    inside = polyrelu.recover(polyrelu.canonical_complex(double, "box:-1,1"))
    assert (inside.status, inside.has_the_parameters) == ("proved", False)
    assert "vanish on the same hyperplane" in inside.missing[0]
    with pytest.raises(ArgumentError, match="its own domain"):
        polyrelu.recover(cells, "box:-1,1")


def test_damaged_weights() -> None:
    hidden = random_network((2, 3, 1), 3)
    document = breakpoints_document(polyrelu.breakpoint_complex(polyrelu.canonical_complex(hidden)))
    without = {key: value for key, value in document.items() if key != "piece"}
    with pytest.raises(DomainError, match="without an affine piece"):
        polyrelu.recover_weights(without)
    for damaged in (
        {**document, "format": "other"},
        {**document, "facets": [{"plus": 0}]},
        {**document, "facets": 3},
        {**document, "regions": 1},
        {**document, "piece": {"region": 99, "linear": [["0", "0"]], "constant": ["0"]}},
        {**document, "piece": {"region": 0, "linear": [], "constant": []}},
        {**document, "facets": [document["facets"][0] | {"normal": ["1"]}]},
        {**document, "facets": [document["facets"][0] | {"weight": ["1", "1"]}]},
        {**document, "facets": [document["facets"][0] | {"plus": -1}], "regions": 2},
        {**document, "regions": 10**12},  # once a list of so many entries was made
        {**document, "regions": float("inf")},
    ):
        with pytest.raises(DomainError):
            polyrelu.recover_weights(damaged)


def test_wrong_arguments() -> None:
    with pytest.raises(ArgumentError, match="the function"):
        polyrelu.recover_function(lambda x: ["no number"], 2)
    with pytest.raises(ArgumentError, match="the function"):
        polyrelu.recover_function(lambda x: "12", 2)
    with pytest.raises(ArgumentError, match="equally many outputs"):
        polyrelu.recover_function(lambda x: [1] if x[0] > 0 else [1, 2], 2)
    with pytest.raises(ArgumentError, match="at least one"):
        polyrelu.recover_function(lambda x: [], 2)
    with pytest.raises(ArgumentError, match="relative_error"):
        polyrelu.recover_function(lambda x: [1], 1, relative_error=-1)
    for flat in ("box:0,0;-1,1", "box:0,0"):
        with pytest.raises(DomainError, match="with interior"):
            polyrelu.recover(random_network((2, 3, 1), 0), flat)
    line = polyrelu.Polyhedron.from_constraints([], [], [[1, 1]], [0])
    with pytest.raises(DomainError, match="with interior"):
        polyrelu.recover(random_network((2, 3, 1), 0), line)
    with pytest.raises(ArgumentError, match=r"use recover_function\(function, num_inputs\)"):
        polyrelu.recover(lambda x: [abs(x[0])])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="max_queries"):
        polyrelu.recover(random_network((1, 1, 1), 0), max_queries=-1)


def test_choices_against_brute_force() -> None:
    rng = Random(0)
    for _ in range(200):
        size = rng.randint(1, 5)
        rows = [
            tuple(Fraction(rng.randint(-2, 2)) for _ in range(size))
            for _ in range(rng.randint(0, 4))
        ]
        wanted = [rng.randint(0, 1) for _ in range(size)]
        right = tuple(
            sum((a * t for a, t in zip(row, wanted, strict=True)), Fraction(0)) for row in rows
        )
        found = choices(rows, right, size, 99, Fraction(0))
        brute = {
            bits
            for bits in np.ndindex(*(2,) * size)
            if all(
                sum(a * t for a, t in zip(row, bits, strict=True)) == r
                for row, r in zip(rows, right, strict=True)
            )
        }
        assert set(found.solutions) == brute
        assert found.is_complete


@pytest.mark.slow
def test_the_equations_of_one_neuron() -> None:
    """The equations of a single neuron of layer 2 have rank 2 at most, for five unknowns."""
    hidden = random_network((2, 5, 1, 1), 1)
    search = Search(Oracle(hidden, 2, seed=0))
    search.run((1, 4))
    _, signs = search.first_layer()
    assert signs.rank <= 2
