"""Float slopes with the wrong sign, which once made a walk turn back.

The neuron at the back end of a cell seemed to come next, and the walk went to and fro for ever.
The weights 1 + 0.49 e, -(1 + 0.501 e) and e/2, where e is one ulp of 1, sum to 0.489 e; the floats
nearest to them sum to -e/2.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np

from polyrelu.exact import UNDECIDED
from polyrelu.network import Network, NeuronId, from_arrays
from polyrelu.walks import AffineSlice, walk_bent_hyperplane, walk_line
from polyrelu.walks.float_forms import LocalForms

ULP = Fraction(1, 2**52)
WEIGHTS = (1 + Fraction(49, 100) * ULP, -(1 + Fraction(501, 1000) * ULP), ULP / 2)
SLOPE = sum(WEIGHTS)
PLANE = ([0, 0], [[1, 0], [0, 1]])
#: Parameters where SLOPE * (t + 1) is 2^20, and a little larger.
FIRST = Fraction(2**20) / SLOPE - 1
SECOND = FIRST * Fraction(1001, 1000)


def test_a_line() -> None:
    network = from_arrays(
        [([[1], [1], [1], [-1]], [1, 1, 1, SECOND]), ([[*WEIGHTS, 0]], [-(2**20)]), ([[1]], [0])]
    )
    cells = list(islice(walk_line(network, [0], [1]), 8))
    assert [cell.end and cell.end.t for cell in cells] == [FIRST, SECOND, None]
    assert [str(cell.signs) for cell in cells] == ["++++|-", "++++|+", "+++-|+"]


def test_a_bent_hyperplane() -> None:
    first = [[1, 0], [1, 0], [1, 0], [-1, 0], [0, 1]]
    network = from_arrays(
        [(first, [1, 1, 1, SECOND, 0]), ([[*WEIGHTS, 0, 0]], [-(2**20)]), ([[1]], [0])]
    )
    pieces = list(islice(walk_bent_hyperplane(network, NeuronId(1, 4), *PLANE), 8))
    assert [piece.end and piece.end.point[0] for piece in pieces] == [FIRST, SECOND, None]


def test_a_bent_hyperplane_whose_heading_floats_get_wrong() -> None:
    """There are other events behind the first end.

    A form with the slope -e/2 in floats and 0.489 e exactly must decide which way is ahead.
    """
    first = [[1, 0], [1, 0], [1, 0], [-1, 0], [0, 1], [-1, 0]]
    for back in (1, 2**30, FIRST / 2):
        biases = [1, 1, 1, SECOND, 0, back]
        network = from_arrays([(first, biases), ([[*WEIGHTS, 0, 0, 0]], [-(2**20)]), ([[1]], [0])])
        pieces = list(islice(walk_bent_hyperplane(network, NeuronId(1, 4), *PLANE), 8))
        assert [piece.end and piece.end.point[0] for piece in pieces] == [back, FIRST, SECOND, None]


# -- the bounds that decide: cases in which each part of them is needed -------------------------


def forms_of(network: Network) -> tuple[AffineSlice, LocalForms]:
    """The forms on the cell where all neurons are on."""
    plane = AffineSlice(network, *PLANE)
    forms = LocalForms(plane)
    forms.update(np.ones(plane.num_neurons, dtype=np.int8))
    return plane, forms


def test_a_carrier_that_is_less_steep_than_in_floats() -> None:
    """0.489 e x - y is 0 at (1 / 0.489 e, 1), farther away than 1 / (e/2).

    The other neuron is 0 between the two.
    """
    between = 1 / (Fraction(4945, 10000) * ULP)
    ones = [[1, 0], [1, 0], [1, 0], [0, 1]]
    network = from_arrays(
        [([*ones, [-1, 0]], [0, 0, 0, 0, between]), ([[*WEIGHTS, -1, 0]], [0]), ([[1]], [0])]
    )
    _, forms = forms_of(network)
    assert forms.columns[0, 5] < 0 < SLOPE  # floats do not even give the sign of the slope
    assert forms.signs_at(np.array([0.0, 1.0]), 5, 0) is None


def test_a_neuron_that_is_steeper_than_in_floats() -> None:
    """The slope is 0 in floats and 0.49 e exactly.

    The exact point is 10^20 away, and there the neuron is positive.
    """
    first = [[1, 0], [1, 0], [1, 0], [0, 1]]
    network = from_arrays(
        [(first, [0, 0, 0, 0]), ([[1, 0, 0, -1], [WEIGHTS[0], -1, 0, 0]], [0, -1]), ([[1, 1]], [0])]
    )
    plane, forms = forms_of(network)
    assert forms.columns[0, 5] == 0
    found = forms.signs_at(np.array([0.0, 1e20]), 4, 0)
    assert found is not None
    (row,) = plane.rows(np.ones(plane.num_neurons, dtype=np.int8), [5])
    assert row[0] * 10**20 + row[2] > 0
    assert found[5] in (1, UNDECIDED)


def test_the_bound_pays_for_the_evaluation_as_well() -> None:
    """The evaluation of a float form at a float point stays within its part of the bound.

    The errors of the form itself are counted besides.
    """
    slope, constant = 1 + 2.0**-27, -(1 + 2.0**-26)
    _, forms = forms_of(from_arrays([([[slope, 0]], [constant]), ([[1]], [0])]))
    q = np.array([slope, 0.0])
    value = float((np.append(q, 1.0) @ forms.columns)[0])
    exact = Fraction(slope) ** 2 + Fraction(constant)
    assert value == 0 < exact
    kept = (np.abs(np.append(q, 1.0)) @ (forms.margins - forms.errors))[0]
    assert abs(Fraction(value) - exact) <= Fraction(float(kept))


def test_an_end_just_before_an_event_that_floats_have_found() -> None:
    network = from_arrays([([[1], [1], [1]], [-1, -2, Fraction(-17, 8)]), ([[1, 1, 1]], [0])])
    for end in (Fraction(15, 8), 2 - Fraction(1, 2**60)):
        cells = list(walk_line(network, [0], [1], end=end))
        assert [cell.end and cell.end.t for cell in cells] == [1, None]
    assert [cell.end and cell.end.t for cell in walk_line(network, [0], [1], end=2)] == [1, 2]
