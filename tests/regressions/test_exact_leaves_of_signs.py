"""Leaves on which networks are affine: certificates that the checker refused, and a search that
stopped with an error.

* The rule of certificates divides neurons of the second network by the scales of their partners,
  exact leaves do not. Multiples that were found by the rule were listed on exact leaves as they
  were, where the bound of another clause was too large.
* Where a neuron has a sign, a partner in the second network that equals it is still open, but needs
  no relaxation. There was no neuron to cut.
* Multiples that show that a leaf is empty were chosen for the limit 0, and a limit can be negative.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

import polyrelu
from polyrelu import Polyhedron, checker, from_arrays
from polyrelu.certificate import BoundsCertificate
from polyrelu.network import Network
from polyrelu.outcomes import DeviationBounds, RangeBounds

#: So many inputs that the search cuts signs only.
MANY = 21


def wide(*row: Fraction | int) -> list[Fraction | int]:
    """Return a row of weights of many inputs, of which the first ones count."""
    return [*row, *([0] * (MANY - len(row)))]


def is_accepted(certificate: BoundsCertificate | None) -> bool:
    assert certificate is not None
    return checker.check_bytes(b"".join(certificate.lines())).verdict == "accepted"


def scaled_pair(seed: int) -> tuple[Network, Network]:
    """Return a network, and one with other weights and with hidden neurons times 8 and 1/4."""
    chance = Random(seed)

    def numbers(count: int, size: int) -> list[Fraction]:
        return [Fraction(chance.randint(-size, size), 4) for _ in range(count)]

    rows, bias, output = [numbers(2, 8), numbers(2, 8)], numbers(2, 4), numbers(2, 8)
    scales, first, second = (Fraction(8), Fraction(1, 4)), [], []
    for row, scale in zip(rows, scales, strict=True):
        first.append(wide(*row))
        changes = numbers(2, 1)
        second.append(wide(*(scale * (x + y) for x, y in zip(row, changes, strict=True))))
    moved = [scale * x for scale, x in zip(scales, bias, strict=True)]
    shrunk = [x / scale for scale, x in zip(scales, output, strict=True)]
    return (
        from_arrays([(first, bias), ([output], [0])]),
        from_arrays([(second, moved), ([shrunk], [0])]),
    )


def half_of_a_box() -> Polyhedron:
    """Return the points of a box with x_0 + x_1 ≤ 1/2."""
    sides = [wide(*([0] * k), sign) for k in range(MANY) for sign in (1, -1)]
    return Polyhedron.from_constraints([wide(1, 1), *sides], [Fraction(1, 2)] + [1] * len(sides))


@pytest.mark.parametrize("is_box", [True, False])
def test_scaled_neurons(is_box: bool) -> None:
    domain = Polyhedron.box([-1] * MANY, [1] * MANY) if is_box else half_of_a_box()
    for seed in (1, 2, 3, 5):
        found = polyrelu.deviation(*scaled_pair(seed), domain, gap=0)
        assert isinstance(found, DeviationBounds)
        assert found.at_most == found.at_least
        assert is_accepted(found.certificate), seed


def test_an_open_neuron_without_a_relaxation() -> None:
    """The difference is 1/3 - max(x_0, 0)/4; its forms are rounded."""
    hidden = [wide(1)], [0]
    first = from_arrays([hidden, ([[-1]], [Fraction(1, 3)])])
    second = from_arrays([hidden, ([[Fraction(-3, 4)]], [0])])
    found = polyrelu.deviation(first, second, "box:-1,1", gap=0)
    assert isinstance(found, DeviationBounds)
    assert found.at_most == found.at_least == Fraction(1, 3)
    assert is_accepted(found.certificate)


def test_an_empty_leaf_and_a_negative_limit() -> None:
    """Of s = x_0 + x_1: no s has s ≥ 1/2 and s ≤ 0, where the value would be less than 10."""
    network = from_arrays([([[1, 1], [1, 1]], [0, Fraction(-1, 2)]), ([[1, -1]], [10])])
    found = polyrelu.output_range(network, "box:-1,1", gap=0)
    assert isinstance(found, RangeBounds)
    (values,) = found.ranges
    assert list(map(str, (*values.minimum, *values.maximum))) == ["10", "10", "21/2", "21/2"]
    assert is_accepted(found.certificate)
