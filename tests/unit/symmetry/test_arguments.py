"""Arguments of the moves, normal forms and invariants: an answer, or one clear error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu.errors import ArgumentError, DomainError, NetworkError
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.formats import save
from polyrelu.network import from_arrays
from polyrelu.symmetry import (
    LayerDomain,
    absolute_value_form,
    absolute_value_form_on,
    canonical_form,
    first_difference,
    flip,
    hidden_neurons,
    permute,
    related,
    rescale,
    translate,
)
from tests.generators.wrong_arguments import WRONG, calls_with, outcome

#: The second layer hides neuron 0 of the first.
PAIRS = [([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])]
NETWORK = from_arrays(PAIRS)
HIDDEN, OUTGOING = NETWORK.layers[:2]
PLANE = LayerDomain.whole_space(2)

#: Functions of a network, all other arguments given.
OF_NETWORK: dict[str, Callable[[Any], object]] = {
    "canonical": canonical_form,
    "difference": lambda network: first_difference(network, NETWORK),
    "flip": lambda network: flip(network, 1, 0, [1]),
    "hidden": lambda network: hidden_neurons(network, 1),
    "permute": lambda network: permute(network, 1, [1, 0]),
    "related": lambda network: related(NETWORK, network),
    "rescale": lambda network: rescale(network, 1, [2, "1/3"]),
    "translate": lambda network: translate(network, 1, 0, 3),
}

#: Every function with arguments that fit.
CALLS: dict[str, tuple[Callable[..., object], tuple[Any, ...]]] = {
    "canonical": (canonical_form, (NETWORK,)),
    "difference": (first_difference, (NETWORK, NETWORK)),
    "flip": (flip, (NETWORK, 1, 0, [1])),
    "form": (absolute_value_form, (HIDDEN, OUTGOING)),
    "form on": (absolute_value_form_on, (HIDDEN, OUTGOING, PLANE)),
    "hidden": (hidden_neurons, (NETWORK, 1)),
    "permute": (permute, (NETWORK, 1, [1, 0])),
    "related": (related, (NETWORK, NETWORK)),
    "rescale": (rescale, (NETWORK, 1, [2, 3])),
    "translate": (translate, (NETWORK, 1, 0, 3)),
    "domain": (LayerDomain, (Polyhedron.orthant(1), ((1,),), (), "orthant")),
    "of": (LayerDomain.of, (Polyhedron.orthant(2),)),
    "orthant": (LayerDomain.orthant, (2,)),
    "space": (LayerDomain.whole_space, (2,)),
    "sign": (PLANE.sign, ([1, 2, 3],)),
    "least bias": (PLANE.least_bias, ([1, 2],)),
    "allows": (PLANE.allows, ([1, 2],)),
    "forms": (PLANE.forms_within, (RationalMatrix.identity(2),)),
}


@pytest.mark.parametrize("name", CALLS)
def test_one_wrong_argument(name: str) -> None:
    function, good = CALLS[name]
    assert outcome(lambda: function(*good)) == ""
    for wrong in WRONG:
        for call in calls_with(function, good, {}, wrong):
            outcome(call)


@pytest.mark.parametrize("name", OF_NETWORK)
def test_networks_in_every_form(name: str, tmp_path: Path) -> None:
    path = tmp_path / "network.json"
    save(NETWORK, path)
    found = OF_NETWORK[name](NETWORK)
    assert OF_NETWORK[name](path) == OF_NETWORK[name](str(path)) == found
    assert OF_NETWORK[name](PAIRS) == found
    for wrong in WRONG:
        with pytest.raises((ArgumentError, NetworkError)) as error:
            OF_NETWORK[name](wrong)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("wrong", [0, 3, -1])
def test_no_such_layer(wrong: int) -> None:
    calls: list[Callable[[], object]] = [
        lambda: permute(NETWORK, wrong, [0]),
        lambda: rescale(NETWORK, wrong, [1]),
    ]
    moves: list[Callable[[], object]] = [
        lambda: hidden_neurons(NETWORK, wrong),
        lambda: flip(NETWORK, wrong, 0, [1]),
        lambda: translate(NETWORK, wrong, 0, 1),
    ]
    for call in calls:
        with pytest.raises(NetworkError, match=f"layer {wrong} is not a hidden layer"):
            call()
    for move in moves:
        with pytest.raises(ArgumentError, match=f"layer: expected 1 to 2, got {wrong}"):
            move()


@pytest.mark.parametrize("wrong", ["1", None, 1.0, True])
def test_layers_and_neurons_that_are_no_integers(wrong: Any) -> None:
    calls: tuple[Callable[[], object], ...] = (
        lambda: permute(NETWORK, wrong, [1, 0]),
        lambda: rescale(NETWORK, wrong, [1, 1]),
        lambda: hidden_neurons(NETWORK, wrong),
        lambda: translate(NETWORK, wrong, 0, 1),
        lambda: translate(NETWORK, 1, wrong, 1),
        lambda: flip(NETWORK, 1, 0, [wrong]),
        lambda: permute(NETWORK, 1, [0, wrong]),
    )
    for call in calls:
        with pytest.raises(ArgumentError, match=r"(layer|neuron|flipped|order): expected int"):
            call()


def test_integers_and_numbers_of_numpy() -> None:
    one: Any = np.int64(1)
    order, factors, chosen = np.array([1, 0]), np.array([2.0, 0.5]), np.array([1])
    values: list[Any] = [order, factors, chosen, (k for k in [1])]
    assert permute(NETWORK, one, values[0]) == permute(NETWORK, 1, [1, 0])
    assert rescale(NETWORK, 1, values[1]) == rescale(NETWORK, 1, [2, "1/2"])
    assert flip(NETWORK, 1, 0, values[2]) == flip(NETWORK, 1, 0, values[3])
    assert translate(NETWORK, 1, 0, np.float64(0.5)) == translate(NETWORK, 1, 0, "1/2")


def test_neurons_that_cannot_be_moved() -> None:
    for wrong in (1, 2, -1):
        with pytest.raises(NetworkError, match=f"does not hide neuron {wrong} of layer 1"):
            translate(NETWORK, 1, wrong, 0)
    for chosen in ([0], [1, 1], [2], [-1]):
        with pytest.raises(NetworkError, match="distinct neurons beside the hidden one"):
            flip(NETWORK, 1, 0, chosen)
    with pytest.raises(NetworkError, match=r"the shift -2 is below the least .* one, -1"):
        translate(NETWORK, 1, 0, -2)
    with pytest.raises(NetworkError, match="is below the least") as error:
        translate(NETWORK, 1, 0, -(10**3000))
    assert len(str(error.value)) < 150
    with pytest.raises(NetworkError, match="3000 indices is not a permutation of the 2 neurons"):
        permute(NETWORK, 1, range(3000))


def test_networks_that_do_not_compare() -> None:
    narrow = from_arrays([([[1, 1]], [0]), ([[1]], [0])])
    with pytest.raises(NetworkError, match="different architectures, 2-2-1-1 and 2-1-1"):
        first_difference(NETWORK, narrow)
    assert not related(NETWORK, narrow)


def test_layers_that_do_not_fit() -> None:
    with pytest.raises(ArgumentError, match=r"hidden: expected Layer, .*; Network.layers lists"):
        absolute_value_form(NETWORK, OUTGOING)  # type: ignore[arg-type]
    with pytest.raises(NetworkError, match="reads 1 neurons, but the hidden layer has 2"):
        absolute_value_form(HIDDEN, NETWORK.layers[2])
    with pytest.raises(DomainError, match=r"it lies in R\^3, but the layer reads R\^2"):
        absolute_value_form_on(HIDDEN, OUTGOING, LayerDomain.orthant(3))
    with pytest.raises(ArgumentError, match=r"expected LayerDomain, .*LayerDomain.of"):
        absolute_value_form_on(HIDDEN, OUTGOING, Polyhedron.orthant(2))  # type: ignore[arg-type]


def test_forms_on_domains() -> None:
    strip = LayerDomain.of(Polyhedron.box([0, None], [1, None]))
    for domain in (LayerDomain.orthant(2), PLANE, strip):
        for wrong in ([], [1], [1, 2, 3, 4]):
            for function in (domain.sign, domain.least_bias, domain.allows):
                with pytest.raises(DomainError, match=r"a form of . entries .* R\^2; give"):
                    function(wrong)
    with pytest.raises(DomainError, match=r"3 columns, but the domain lies in R\^2"):
        strip.forms_within(RationalMatrix.identity(3))
    with pytest.raises(DomainError, match="has no interior"):
        LayerDomain.of(Polyhedron.box([0], [0]))
    with pytest.raises(ArgumentError, match="kind: choose from 'space', 'orthant', 'polyhedron'"):
        LayerDomain(Polyhedron.orthant(1), (), (), "cube")
