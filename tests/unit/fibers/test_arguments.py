"""Arguments of the functions on fibers: an answer, or one clear error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu.errors import ArgumentError, DomainError, NetworkError, PolyreluError
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.fibers import (
    AvailableNeurons,
    LayerFiber,
    LinearPart,
    conditions_of,
    fiber,
    flip_matrix,
    has_identifiable_signs,
    hidden_conditions,
    hidden_hyperplane,
    identifiable_fraction,
    identifiable_fraction_bounds,
    layer_fiber,
    nonnegative_column_rank,
    normalised,
    not_localizable,
)
from polyrelu.formats import save
from polyrelu.network import from_arrays
from polyrelu.symmetry import LayerDomain
from tests.generators.wrong_arguments import Unrelated

#: |x| and a dead neuron; and a network whose second layer hides a hyperplane of the first one.
PAIRS = [([[1], [-1], [0]], [0, 0, -1]), ([[1, 1, 2]], [0])]
NETWORK = from_arrays(PAIRS)
DEEP = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-2]), ([[1]], [0])])
WRONG = (3, None, "no such file", Unrelated())
#: Arguments that are neither text nor what can be counted or listed.
NO_INTEGERS = ("3", None, 1.5, Unrelated())

OF_NETWORK: dict[str, Callable[..., Any]] = {
    "fiber": lambda network, domain=None: fiber(network, domain),
    "layer": lambda network, domain=None: layer_fiber(network, 1, domain),
    "hidden": lambda network: hidden_hyperplane(network, 1),
}


def hidden() -> Any:
    """The hidden hyperplane of the deep network."""
    found = hidden_hyperplane(DEEP, 1)
    assert found is not None
    return found


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
    shown = repr(OF_NETWORK[name](NETWORK))
    assert repr(OF_NETWORK[name](path)) == repr(OF_NETWORK[name](str(path))) == shown
    assert repr(OF_NETWORK[name](PAIRS)) == shown


@pytest.mark.parametrize("name", ["fiber", "layer"])
def test_domains(name: str) -> None:
    box = Polyhedron.box([-1], [1])
    assert repr(OF_NETWORK[name](NETWORK, box)) == repr(OF_NETWORK[name](NETWORK, "box:-1,1"))
    assert repr(OF_NETWORK[name](NETWORK, "R^n")) == repr(OF_NETWORK[name](NETWORK))
    for wrong in (3, "no such domain", Unrelated(), Polyhedron.orthant(2), "box:1,1"):
        with pytest.raises((DomainError, ArgumentError), match=r"domain|box"):
            OF_NETWORK[name](NETWORK, wrong)


def test_domains_of_deeper_networks() -> None:
    assert len(fiber(DEEP, "R^n")) == len(fiber(DEEP))
    with pytest.raises(NetworkError, match="a domain can be given for one hidden layer"):
        fiber(DEEP, "orthant")
    assert layer_fiber(DEEP, 2, LayerDomain.orthant(2)).domain.kind == "orthant"
    with pytest.raises(DomainError, match=r"lies in R\^3, but layer 2 has 2 inputs"):
        layer_fiber(DEEP, 2, LayerDomain.orthant(3))


def test_layers_and_widths() -> None:
    for wrong in NO_INTEGERS:
        with pytest.raises(ArgumentError, match=r"^layer: expected int"):
            layer_fiber(NETWORK, wrong)  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match=r"^layer: expected int"):
            hidden_hyperplane(NETWORK, wrong)  # type: ignore[arg-type]
    for number in (0, 2, -1):
        with pytest.raises(NetworkError, match="a hidden layer is asked for, with weights"):
            layer_fiber(NETWORK, number)
        with pytest.raises(ArgumentError, match=f"layer: expected 1 to 1, got {number}"):
            hidden_hyperplane(NETWORK, number)
    assert hidden_hyperplane(NETWORK, 1) is None
    for width in ("3", 1.5, -1):
        with pytest.raises(ArgumentError, match=r"^width: expected"):
            layer_fiber(NETWORK, 1, width=width)  # type: ignore[arg-type]


def test_seeds() -> None:
    found = fiber(NETWORK)
    assert found.sample(3) == found.sample(seed=3)
    assert found.sample() == found.sample(0)
    assert hidden().sample(3) == hidden().sample(seed=3)
    component = found.components[0]
    assert component.member(seed=3) == component.member(seed=3) != component.member(seed=4)
    assert (
        not_localizable((2, 2, 2, 2, 1)).network == not_localizable([2, 2, 2, 2, 1], seed=0).network
    )
    takers: list[Callable[..., Any]] = [found.sample, hidden().sample]
    no_seeds: list[Any] = ["3", 1.5, Unrelated(), True]
    for wrong in no_seeds:
        for taker in takers:
            with pytest.raises(ArgumentError, match=r"^seed: expected int"):
                taker(wrong)
        for member in (component.member, hidden().member):
            with pytest.raises(ArgumentError, match=r"^seed: expected int"):
                member(seed=wrong)
        with pytest.raises(ArgumentError, match=r"^seed: expected int"):
            not_localizable((2, 2, 2, 2, 1), seed=wrong)


def test_members_of_hidden_hyperplanes() -> None:
    no_flips: list[Any] = [3, None, [2], [-1], ["0"], [1, 1]]
    for wrong in no_flips:
        with pytest.raises(ArgumentError, match=r"^flipped: "):
            hidden().member(flipped=wrong)
        with pytest.raises(ArgumentError, match=r"^flipped: "):
            hidden_conditions(hidden(), flipped=wrong)
    with pytest.raises(NetworkError, match=r"only the neurons \[1\] can be flipped"):
        hidden().member(flipped=[0])
    for shift in ("one", None, Unrelated()):
        with pytest.raises(NetworkError, match="exact"):
            hidden().member(shift=shift)


@pytest.mark.parametrize("wrong", [*WRONG, NETWORK, PAIRS], ids=str.__call__)
def test_other_objects(wrong: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^hidden: .* hidden_hyperplane\(network, layer\) fi"):
        normalised(wrong)
    with pytest.raises(ArgumentError, match=r"^hidden: .* hidden_hyperplane\(network, layer\) fi"):
        hidden_conditions(wrong)
    with pytest.raises(ArgumentError, match=r"^component: .*; LayerFiber.component makes one"):
        conditions_of(wrong)
    with pytest.raises(ArgumentError, match=r"^matrix: .*; RationalMatrix.from_rows makes one"):
        nonnegative_column_rank(wrong)
    with pytest.raises(ArgumentError, match=r"^neurons: expected LayerNeurons"):
        LayerFiber(wrong, LayerDomain.orthant(1))
    with pytest.raises(ArgumentError, match=r"^neurons: .*; Component.member returns them"):
        conditions_of(
            layer_fiber(NETWORK, 1).component(layer_fiber(NETWORK, 1).given_assignment)
        ).hold_for(wrong)
    with pytest.raises(ArgumentError, match=r"^assignment: expected NeuronAssignment"):
        layer_fiber(NETWORK, 1).component(wrong)
    with pytest.raises(ArgumentError, match=r"^available: expected AvailableNeurons"):
        LinearPart(RationalMatrix.zeros(1, 1), wrong, LayerDomain.orthant(1))


def test_linear_parts_in_one_space() -> None:
    with pytest.raises(DomainError, match=r"R has 2 columns and H has 2, but .* lies in R\^3"):
        LinearPart(
            RationalMatrix.zeros(1, 2),
            AvailableNeurons(RationalMatrix.zeros(0, 2), 0, 1),
            LayerDomain.orthant(3),
        )


def test_flips() -> None:
    simple = layer_fiber(from_arrays([([[1], [2]], [0, 1]), ([[1, 1]], [0])]), 1)
    for wrong in (3, None, [2], ["0"], [0, 0]):
        with pytest.raises(ArgumentError, match=r"^flips: "):
            simple.flipped(wrong)  # type: ignore[arg-type]
    assert simple.flipped((0,)).flips == (0,)


@pytest.mark.parametrize(
    "arguments",
    [
        ("2", 0, [0, 1], [1]),
        (0, 0, [], []),
        (2, 2, [0, 1], [1]),
        (2, None, [0, 1], [1]),
        (2, 0, 3, [1]),
        (2, 0, [0], [1]),
        (2, 0, ["a", "b"], [1]),
        (2, 0, [0, 1], [0]),
        (2, 0, [0, 1], [2]),
        (2, 0, [0, 1], 1),
    ],
    ids=str,
)
def test_flip_matrices(arguments: tuple[Any, ...]) -> None:
    with pytest.raises((ArgumentError, NetworkError)):
        flip_matrix(*arguments)
    assert flip_matrix(2, 0, [0, "1/2"], [1]).row(0)[1] * 2 == -1


@pytest.mark.parametrize("wrong", NO_INTEGERS, ids=str.__call__)
def test_fractions(wrong: Any) -> None:
    for function in (identifiable_fraction, identifiable_fraction_bounds):
        with pytest.raises(ArgumentError, match=r"^n1: expected int"):
            function(wrong, 2)
        with pytest.raises(ArgumentError, match=r"^n2: expected int"):
            function(2, wrong)


def test_integers_of_numpy() -> None:
    wide = [np.int64(8), np.int64(10)]
    assert identifiable_fraction(*wide) == identifiable_fraction(8, 10)  # type: ignore[arg-type]
    assert fiber(NETWORK).sample(np.int64(3)) == fiber(NETWORK).sample(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [3, None, "no such file", Unrelated(), [], [[]], [[1]], [[1, 2]], [[1, 1], [1]]],
    ids=str,
)
def test_signs(wrong: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^signs: expected rows of 1 and -1"):
        has_identifiable_signs(wrong)


@pytest.mark.parametrize("wrong", [*WRONG, (2, 2, 2, 2), (2, 2, 2, 2, "1")], ids=str)
def test_widths(wrong: Any) -> None:
    with pytest.raises(NetworkError, match="widths are five positive integers"):
        not_localizable(wrong)
