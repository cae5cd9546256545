"""Public functions of `polyrelu.breakpoints` with arguments of every kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from polyrelu.breakpoints import (
    breakpoint_complex,
    breakpoints_document,
    closed_form_jump,
    is_balanced,
    oriented_sum,
    reconstruct,
    save_breakpoints,
    tropical_form,
    unbalanced_ridge,
    vanishing_neuron,
    weighted_dual_graph,
)
from polyrelu.complex import canonical_complex
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.network import from_arrays
from tests.generators.wrong_arguments import WRONG, outcome

NETWORK = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
CELLS = canonical_complex(NETWORK)
BREAKPOINTS = breakpoint_complex(CELLS)
(FORM,) = tropical_form(CELLS)
MAP = CELLS.region(0).affine_map
FACET = int(BREAKPOINTS.facets[0])


@pytest.mark.parametrize("wrong", [*WRONG, NETWORK], ids=lambda wrong: repr(wrong)[:20])
def test_something_else_in_place_of_a_complex(wrong: Any) -> None:
    facet = BREAKPOINTS.weight(FACET)
    for call in (breakpoint_complex, tropical_form, lambda cells: vanishing_neuron(cells, facet)):
        with pytest.raises(ArgumentError, match=r"canonical_complex.* makes a complex"):
            call(wrong)


@pytest.mark.parametrize("wrong", [*WRONG, NETWORK, CELLS], ids=lambda wrong: repr(wrong)[:20])
def test_something_else_in_place_of_a_breakpoint_complex(wrong: Any) -> None:
    calls: list[Callable[[Any], object]] = [
        breakpoints_document,
        is_balanced,
        unbalanced_ridge,
        weighted_dual_graph,
        lambda value: closed_form_jump(value, FACET),
        lambda value: oriented_sum(value, 0),
        lambda value: reconstruct(value, 0, MAP),
        lambda value: save_breakpoints(value, "nowhere/weights.csv"),
    ]
    for call in calls:
        with pytest.raises(ArgumentError, match=r"breakpoint_complex.* makes one"):
            call(wrong)


@pytest.mark.parametrize("wrong", [*WRONG[1:], -1, 10**6], ids=repr)
def test_wrong_facets_outputs_and_files(wrong: Any) -> None:
    calls: list[Callable[[Any], object]] = [
        BREAKPOINTS.weight,
        BREAKPOINTS.bends_of,
        lambda value: FORM([value]),
        lambda value: FORM.numerator([value]),
        lambda value: closed_form_jump(BREAKPOINTS, value),
        lambda value: oriented_sum(BREAKPOINTS, value),
        lambda value: reconstruct(BREAKPOINTS, value, MAP),
        lambda value: reconstruct(BREAKPOINTS, 0, value),
        lambda value: save_breakpoints(BREAKPOINTS, value),
        lambda value: vanishing_neuron(CELLS, value),
    ]
    assert all(outcome(lambda call=call: call(wrong)) for call in calls)  # type: ignore[misc]


def test_points_that_do_not_fit() -> None:
    functions: tuple[Any, ...] = (FORM, FORM.numerator)
    for function in functions:
        with pytest.raises(DomainError, match=r"^x: expected a point of shape \(2,\) or points of"):
            function([1])
        with pytest.raises(DomainError, match="x: nan is not a finite number"):
            function([0, float("nan")])
        with pytest.raises(ArgumentError, match=r"^x: expected .* got int$"):
            function(3)


def test_values_at_several_points() -> None:
    points: list[list[Any]] = [[1, 2], ["1/2", 0.25]]
    assert FORM(points) == [FORM(point) for point in points]
    assert FORM([]) == []
