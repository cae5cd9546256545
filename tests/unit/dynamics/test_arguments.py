"""Arguments of the functions on conserved quantities: an answer, or one clear error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu.dynamics import (
    conserved_matrix,
    conserved_quantities,
    derivative_along_flow,
    drift_of_step,
    equal_patterns,
    linear_evidence,
    linear_neurons,
    loss_gradients,
    symbolic_derivative,
    translation_has_no_quantity,
)
from polyrelu.errors import ArgumentError, DomainError, NetworkError, PolyreluError
from polyrelu.exact import Polyhedron
from polyrelu.formats import save
from polyrelu.network import from_arrays
from tests.generators.wrong_arguments import Unrelated

PAIRS = [([[1, 2], [1, 0], [1, -1]], [1, 1, 0]), ([[1, 3, 1]], [5])]
NETWORK = from_arrays(PAIRS)
POINTS, GRADIENTS = [[1, 2], [3, 1]], [[1], [-2]]
WRONG = (3, None, "no such file", Unrelated())

#: Functions of a network and, for some, a layer, neurons, points or derivatives.
OF_NETWORK: dict[str, Callable[..., Any]] = {
    "matrix": lambda network, layer=1, neurons=(0, 1): conserved_matrix(network, layer, neurons),
    "quantities": lambda network, domain="orthant": conserved_quantities(network, domain),
    "patterns": lambda network, layer=1, points=POINTS: equal_patterns(network, layer, points),
    "gradients": lambda network, points=POINTS, derivatives=GRADIENTS: loss_gradients(
        network, points, derivatives
    ),
    "flow": lambda network, layer=1, neurons=(0, 1), points=POINTS, derivatives=GRADIENTS: (
        derivative_along_flow(network, layer, neurons, points, derivatives)
    ),
    "drift": lambda network, layer=1, neurons=(0, 1), points=POINTS, derivatives=GRADIENTS: (
        drift_of_step(network, layer, neurons, points, derivatives)
    ),
    "evidence": lambda network, layer=1, domain="orthant": linear_evidence(network, layer, domain),
    "linear": lambda network, layer=1, domain="orthant": linear_neurons(network, layer, domain),
}


@pytest.mark.parametrize("name", OF_NETWORK)
@pytest.mark.parametrize("wrong", WRONG, ids=str.__call__)
def test_no_network(name: str, wrong: object) -> None:
    with pytest.raises(PolyreluError) as error:
        OF_NETWORK[name](wrong)
    assert str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", OF_NETWORK)
def test_networks_in_every_form(name: str, tmp_path: Path) -> None:
    path = tmp_path / "network.json"
    save(NETWORK, path)
    found = OF_NETWORK[name](NETWORK)
    assert OF_NETWORK[name](path) == OF_NETWORK[name](str(path)) == found
    assert OF_NETWORK[name](PAIRS) == found


@pytest.mark.parametrize("name", ["quantities", "evidence", "linear"])
def test_domains(name: str) -> None:
    orthant = Polyhedron.orthant(2)
    assert OF_NETWORK[name](NETWORK, domain=orthant) == OF_NETWORK[name](NETWORK)
    for wrong in (3, "no such domain", Unrelated(), Polyhedron.orthant(3), "box:0,1;0,1;0,1"):
        with pytest.raises((DomainError, ArgumentError), match=r"domain|box"):
            OF_NETWORK[name](NETWORK, domain=wrong)


@pytest.mark.parametrize("name", ["matrix", "patterns", "flow", "drift", "evidence", "linear"])
@pytest.mark.parametrize("wrong", [0, 2, -1, "1", None, True])
def test_no_such_layer(name: str, wrong: object) -> None:
    with pytest.raises(NetworkError, match=r"there is no hidden layer .*; the network has 1"):
        OF_NETWORK[name](NETWORK, layer=wrong)


@pytest.mark.parametrize("name", ["matrix", "flow", "drift"])
@pytest.mark.parametrize("wrong", [[3], [-1], [0, 0], ["0"], [True], 0, None, "0"], ids=str)
def test_no_such_neurons(name: str, wrong: object) -> None:
    with pytest.raises(NetworkError, match=r"^neurons: .*; layer 1 has neurons 0 to 2; give each"):
        OF_NETWORK[name](NETWORK, neurons=wrong)


@pytest.mark.parametrize("name", ["patterns", "gradients", "flow", "drift"])
def test_points(name: str) -> None:
    assert OF_NETWORK[name](NETWORK, points=np.array(POINTS)) == OF_NETWORK[name](NETWORK)
    for wrong in (3, None, Unrelated(), [1, 2]):
        with pytest.raises(ArgumentError, match=r"^points: expected rows of 2 numbers, got"):
            OF_NETWORK[name](NETWORK, points=wrong)
    for text in ("no such file", [["a", 1]], [[float("nan"), 1]], [[True, 1]]):
        with pytest.raises(NetworkError, match=r"^points: "):
            OF_NETWORK[name](NETWORK, points=text)
    for long in ([[1, 2, 3]], [[1]], [[1, 2], [1]]):
        with pytest.raises(NetworkError, match=r"^a point needs 2 coordinates, got [13]"):
            OF_NETWORK[name](NETWORK, points=long)


@pytest.mark.parametrize("name", ["gradients", "flow", "drift"])
def test_derivatives(name: str) -> None:
    for wrong in (3, None, Unrelated(), [1, 2]):
        with pytest.raises(ArgumentError, match=r"^output_gradients: expected rows of 1 numbers"):
            OF_NETWORK[name](NETWORK, derivatives=wrong)
    for shape in ([[1]], [[1, 2], [3, 4]], []):
        with pytest.raises(NetworkError, match=r"one row of 1 numbers for each of the 2 points"):
            OF_NETWORK[name](NETWORK, derivatives=shape)


@pytest.mark.parametrize("wrong", ["2", None, 2.0, True])
def test_symbolic_numbers(wrong: Any) -> None:
    for numbers in ([wrong, 1, 1, 1], [1, wrong, 1, 1], [1, 1, wrong, 1], [1, 1, 1, wrong]):
        with pytest.raises(ArgumentError, match=r"^(inputs|neurons|outputs|points): expected int"):
            symbolic_derivative(*numbers)
    with pytest.raises(ArgumentError, match=r"^neuron: expected int"):
        translation_has_no_quantity(neuron=wrong)


def test_symbolic_patterns_and_widths() -> None:
    for wrong in (3, Unrelated(), [1], [3, 4]):
        with pytest.raises(ArgumentError, match=r"^active: the pattern needs 1 rows of 1 entries"):
            symbolic_derivative(1, 1, 1, 1, active=wrong)  # type: ignore[arg-type]
    for unfit in (3, None, "no such file", Unrelated(), (1, 1, 1), (1, 1, 1, 0), (1, "1", 1, 1)):
        with pytest.raises(NetworkError, match="the translation needs widths"):
            translation_has_no_quantity(unfit)  # type: ignore[arg-type]
    with pytest.raises(NetworkError, match="and a neuron of layer 1"):
        translation_has_no_quantity(neuron=2)
