"""Theorems `trailing-affine` and `trailing-shallow`: proofs, and an attack on small grids."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from polyrelu import Network, checker, from_arrays, identify, related
from polyrelu.exact import Polyhedron
from polyrelu.outcomes import Attempt, Identifiable
from polyrelu.proofs.shallow import trailing
from tests.generators.campaigns import few_and_all
from tests.oracles.judge import certificate_bytes

Parameters = tuple[int, ...]

#: Functions of the grids that agree at k/12 for these k are taken for equal, which asks for more
#: than the theorem says.
NUMBERS = range(-40, 41)


def _of_width(width: int, values: Parameters) -> Network:
    """Return x -> ReLU(Σ v_i ReLU(w_i x + b_i) + c)."""
    w, b, v = (values[k * width : (k + 1) * width] for k in range(3))
    return from_arrays([([[x] for x in w], list(b)), ([list(v)], [values[-1]])], last="relu")


def _values(width: int, values: Parameters) -> tuple[int, ...]:
    """Return twelve times the function at k/12 for the numbers k, without the package."""
    w, b, v = (values[k * width : (k + 1) * width] for k in range(3))
    neurons = list(zip(w, b, v, strict=True))
    return tuple(
        max(12 * values[-1] + sum(c * max(a * k + 12 * s, 0) for a, s, c in neurons), 0)
        for k in NUMBERS
    )


@pytest.mark.parametrize("count", few_and_all(25, 400))
@pytest.mark.parametrize(("width", "entries"), [(1, (-2, -1, 0, 1, 2)), (2, (-1, 0, 1))])
def test_nobody_in_a_grid_has_the_function_of_a_proved_network(
    width: int, entries: Parameters, count: int
) -> None:
    """Everybody with the same values is related to a network that is proved."""
    classes = defaultdict[tuple[int, ...], list[Parameters]](list)
    for parameters in product(entries, repeat=3 * width + 1):
        classes[_values(width, parameters)].append(parameters)
    chosen = Random(width).sample(list(classes.values()), min(count, len(classes)))
    proved = 0
    for members in chosen:
        network = _of_width(width, members[0])
        if isinstance(trailing.prove(network), list):
            proved += 1
            assert all(related(network, _of_width(width, other)) for other in members)
    assert 0 < proved < len(chosen)


@pytest.mark.parametrize("domain", [None, "box:-3,3"])
def test_what_the_prover_writes_is_accepted(domain: str | None) -> None:
    """One and no hidden layer, two outputs, on R^n and on a box."""
    first = ([[1, 2], [2, -1], [1, 1]], [0, 2, -1])
    for layers in ([first, ([[1, 1, 3], [1, 2, 1]], [1, 1])], [first]):
        outcome = identify(from_arrays(layers, last="relu"), domain)
        assert isinstance(outcome, Identifiable)
        assert outcome.certificate.theorem.startswith("trailing")
        assert checker.check_bytes(certificate_bytes(outcome)).verdict == "accepted"


def test_an_output_without_a_positive_value() -> None:
    """ReLU(x - 2) on [-1, 1], and ReLU(-1) everywhere."""
    late = from_arrays([([[1]], [-2])], last="relu")
    assert isinstance(trailing.prove_affine(late), list)
    on_box = trailing.prove_affine(late, Polyhedron.box([-1], [1]))
    assert isinstance(on_box, Attempt)
    assert "output 0 is positive nowhere inside the domain" in on_box.reason
    assert isinstance(trailing.prove_affine(from_arrays([([[0]], [-1])], last="relu")), Attempt)


def test_a_bend_that_no_output_shows() -> None:
    """ReLU(ReLU(x) - 1) = ReLU(ReLU(x + 1) - 2)."""
    one = from_arrays([([[1]], [0]), ([[1]], [-1])], last="relu")
    two = from_arrays([([[1]], [1]), ([[1]], [-2])], last="relu")
    assert all(one([Fraction(k, 12)]) == two([Fraction(k, 12)]) for k in NUMBERS)
    assert not related(one, two)
    assert isinstance(trailing.prove(one), Attempt)
