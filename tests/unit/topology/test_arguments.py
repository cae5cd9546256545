"""Arguments of the functions on sets and their topology: an answer, or one clear error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from polyrelu.complex import Subcomplex, canonical_complex
from polyrelu.errors import ArgumentError, DomainError, PolyreluError
from polyrelu.exact import Polyhedron
from polyrelu.formats import save
from polyrelu.network import from_arrays
from polyrelu.topology import (
    Homology,
    betti_numbers,
    decision_boundary,
    decision_region,
    homology,
    level_set,
    sublevel_persistence,
    sublevel_set,
    superlevel_persistence,
    superlevel_set,
)
from tests.generators.wrong_arguments import Unrelated

#: |x| + |y|, and |x| - 1 and 1 - |x|.
PAIRS = [([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[1] * 4], [0])]
NORM = from_arrays(PAIRS)
TWO = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1], [-1, -1]], [-1, 1])])
BOX = "box:-2,2"

#: Functions of a network and a domain, all other arguments given.
SETS: dict[str, Callable[..., Any]] = {
    "level": lambda network, domain=BOX, **more: level_set(network, 1, domain, **more),
    "sublevel": lambda network, domain=BOX, **more: sublevel_set(network, 1, domain, **more),
    "superlevel": lambda network, domain=BOX, **more: superlevel_set(network, 1, domain, **more),
    "boundary": lambda network, domain=BOX: decision_boundary(network, domain),
    "region": lambda network, domain=BOX: decision_region(network, 0, domain),
    "below": lambda network, domain=BOX, **more: sublevel_persistence(network, domain, **more),
    "above": lambda network, domain=BOX, **more: superlevel_persistence(network, domain, **more),
}
WITH_OUTPUT = ("level", "sublevel", "superlevel", "below", "above")
WRONG = (3, None, "no such file", Unrelated())


def one_line(error: pytest.ExceptionInfo[PolyreluError]) -> str:
    """The text of an error, which is a single line."""
    text = str(error.value)
    assert text
    assert "\n" not in text
    return text


@pytest.fixture(autouse=True)
def _with_gudhi(request: pytest.FixtureRequest) -> None:
    if "below" in request.node.name or "above" in request.node.name:
        pytest.importorskip("gudhi")


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("wrong", WRONG, ids=str.__call__)
def test_no_network(name: str, wrong: object) -> None:
    with pytest.raises(PolyreluError) as error:
        SETS[name](wrong)
    one_line(error)


@pytest.mark.parametrize("name", SETS)
def test_networks_in_every_form(name: str, tmp_path: Path) -> None:
    path = tmp_path / "norm.json"
    save(NORM, path)
    shown = repr(SETS[name](NORM))
    assert repr(SETS[name](path)) == repr(SETS[name](str(path))) == shown
    assert repr(SETS[name](PAIRS)) == shown


@pytest.mark.parametrize("name", SETS)
def test_domains(name: str) -> None:
    box = Polyhedron.box([-2, -2], [2, 2])
    assert repr(SETS[name](NORM, box)) == repr(SETS[name](NORM, BOX))
    for wrong in (3, "no such domain", Unrelated(), Polyhedron.box([0], [1]), "box:0,1;0,1;0,1"):
        with pytest.raises((DomainError, ArgumentError), match=r"domain|box"):
            SETS[name](NORM, wrong)


@pytest.mark.parametrize("name", ["below", "above"])
def test_persistence_needs_a_bounded_domain(name: str) -> None:
    for domain in (None, "orthant"):
        with pytest.raises(DomainError, match="needs a bounded polyhedron"):
            SETS[name](NORM, domain)
    for wrong in (0, 4, "2", None):
        with pytest.raises(DomainError, match="is not a prime of at most"):
            SETS[name](NORM, characteristic=wrong)


@pytest.mark.parametrize("name", WITH_OUTPUT)
@pytest.mark.parametrize("wrong", [1, -1, True, "0", None, 0.0])
def test_no_such_output(name: str, wrong: object) -> None:
    with pytest.raises(DomainError, match=r"there is no output .*, only 0 to 0"):
        SETS[name](NORM, output=wrong)


def test_no_such_label() -> None:
    for network in (NORM, TWO):
        for wrong in (2, -1, True, "0", None):
            with pytest.raises(DomainError, match=r"there is no class .*, only 0 to 1"):
                decision_region(network, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [None, "one", float("nan"), True, Unrelated(), [1]])
def test_levels_that_are_no_numbers(wrong: Any) -> None:
    for function in (level_set, sublevel_set, superlevel_set):
        with pytest.raises(PolyreluError, match=r"^level: "):
            function(NORM, wrong)


@pytest.mark.parametrize("function", [homology, betti_numbers])
def test_no_subcomplex(function: Callable[[Any], object]) -> None:
    cells = canonical_complex(NORM)
    with pytest.raises(ArgumentError, match=r"whole PolyhedralComplex.*; level_set, .* make one"):
        function(cells)
    for wrong in (*WRONG, NORM, "norm.json", PAIRS):
        with pytest.raises(ArgumentError, match=r"part: expected Subcomplex, .*level_set makes"):
            function(wrong)
    assert function(Subcomplex.closure(cells, {0: cells.signs(0)[:, 0] == 0}))


@pytest.mark.parametrize("wrong", [4, -2, "2", None, 2.0, Unrelated()])
def test_no_characteristic(wrong: Any) -> None:
    circle = Homology((1, 1), ((), ()), 0, 0)
    with pytest.raises(DomainError, match="no field has the characteristic"):
        circle.betti_over(wrong)
    with pytest.raises(DomainError, match="no field has the characteristic"):
        betti_numbers(level_set(NORM, 1), characteristic=wrong)
