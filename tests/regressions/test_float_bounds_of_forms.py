"""Error bounds of float forms were too small, so that wrong signs were trusted.

* A skip connection reads input coordinates that were rounded, although the weights of all layers
  are integers.
* A weight rounds to 0, or is cut to the largest float, and an activation makes up for it.
"""

from __future__ import annotations

import warnings
from fractions import Fraction

import pytest

from polyrelu.complex import canonical_complex
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.network import Block, Layer, Network, from_arrays
from tests.generators.quantised_networks import brute_domain, brute_layers, dimensions_by_signs
from tests.oracles.cells_on_domain import cells_on_domain


def check(network: Network, domain: Polyhedron) -> None:
    expected = cells_on_domain(brute_layers(network), brute_domain(domain))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # users must not see numpy's overflows
        cells = canonical_complex(network, domain)
    assert dimensions_by_signs(cells) == {signs: cell.dimension for signs, cell in expected.items()}


def layer(bias: int, *blocks: tuple[int, list[list[int]]]) -> Layer:
    return Layer(
        tuple(Block(source, RationalMatrix.from_integers(weight)) for source, weight in blocks),
        RationalMatrix.column([bias]),
    )


def test_an_input_that_is_no_float() -> None:
    """On x_0 = 1/49 the second neuron 49 x_0 - 1 is 0, but 49 times the nearest float is not 1."""
    network = Network(
        2, (layer(-1, (0, [[49, 1]])), layer(-1, (0, [[49, 0]]), (1, [[0]])), layer(0, (2, [[1]])))
    )
    check(network, Polyhedron.from_constraints([], [], [[49, 0]], [1], 2))


TINY, HUGE = Fraction(1, 2**1100), 10**400


@pytest.mark.parametrize(
    ("first", "weight", "bias"),
    [
        (2**120, TINY, -Fraction(1, 2**981)),
        (HUGE, Fraction(1, 10**300), -(10**50)),
        (Fraction(1, HUGE), HUGE, Fraction(-1, 2)),
        (1, HUGE, -(10**399)),
        (1, 1, -HUGE),
        (HUGE, HUGE, -HUGE),
    ],
    ids=["to 0", "cut", "1 in the end", "huge", "huge bias", "all huge"],
)
def test_weights_beyond_the_range_of_floats(
    first: Fraction, weight: Fraction, bias: Fraction
) -> None:
    network = from_arrays([([[1], [first]], [-1, 0]), ([[0, weight]], [bias]), ([[1]], [0])])
    check(network, Polyhedron.universe(1))
    check(network, Polyhedron.box([-1], [2 * HUGE]))
