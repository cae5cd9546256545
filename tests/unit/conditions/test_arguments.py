"""Arguments of the functions on conditions: an answer, or one clear error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from polyrelu.breakpoints import breakpoint_complex
from polyrelu.complex import canonical_complex
from polyrelu.conditions import (
    Limits,
    affine_pieces,
    conditions,
    generic,
    linear_regions_property,
    masked_ranks,
    noncollinear_pieces,
    pairwise_crossings,
    pl_general,
    supertransversality,
    transparency,
    zero_extrema,
)
from polyrelu.errors import ArgumentError, DomainError, PolyreluError
from polyrelu.formats import save
from polyrelu.network import Block, Layer, Network, from_arrays
from tests.generators.wrong_arguments import Unrelated

PAIRS = [([[1, 0], [0, 1]], [1, 2]), ([[1, 3]], [1])]
NETWORK = from_arrays(PAIRS)
CELLS = canonical_complex(NETWORK)
WRONG = (3, None, "no such file", Unrelated())

OF_CELLS: tuple[Callable[..., Any], ...] = (
    conditions,
    generic,
    linear_regions_property,
    pairwise_crossings,
    pl_general,
    supertransversality,
    transparency,
    zero_extrema,
)


def pieces(network: Any) -> str:
    """All affine pieces as text."""
    return str(list(affine_pieces(network)))


OF_NETWORK: tuple[Callable[..., Any], ...] = (pieces, masked_ranks, noncollinear_pieces)


@pytest.mark.parametrize("function", OF_CELLS)
@pytest.mark.parametrize("wrong", [*WRONG, NETWORK, PAIRS], ids=str.__call__)
def test_no_complex(function: Callable[[object], object], wrong: object) -> None:
    with pytest.raises(ArgumentError) as error:
        function(wrong)
    text = str(error.value)
    assert text.startswith("cells: expected PolyhedralComplex, got ")
    assert text.endswith("; polyrelu.complex.canonical_complex(network, domain) makes one")
    assert "\n" not in text


@pytest.mark.parametrize("function", OF_CELLS)
def test_complexes(function: Callable[[object], object]) -> None:
    assert function(CELLS)


@pytest.mark.parametrize("function", OF_NETWORK)
@pytest.mark.parametrize("wrong", WRONG, ids=str.__call__)
def test_no_network(function: Callable[[object], object], wrong: object) -> None:
    with pytest.raises(PolyreluError) as error:
        function(wrong)
    assert str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("function", OF_NETWORK)
def test_networks_in_every_form(function: Callable[[object], object], tmp_path: Path) -> None:
    path = tmp_path / "network.json"
    save(NETWORK, path)
    assert function(path) == function(str(path)) == function(PAIRS) == function(NETWORK)


def test_pieces_of_a_network_with_skip_connections_are_refused_at_once() -> None:
    one = Layer((Block(0, NETWORK.weight(1)),), NETWORK.bias(1))
    last = Layer((Block(0, NETWORK.weight(2)), Block(1, NETWORK.weight(2))), NETWORK.bias(2))
    with pytest.raises(DomainError, match="affine pieces: defined for networks without skip"):
        affine_pieces(Network(2, (one, last)))


@pytest.mark.parametrize("wrong", ["3", None, -1, 2.5, True])
def test_limits(wrong: Any) -> None:
    for function in (masked_ranks, noncollinear_pieces):
        with pytest.raises(ArgumentError, match=r"^limit: expected"):
            function(NETWORK, limit=wrong)
    with pytest.raises(ArgumentError, match=r"^products: expected"):
        Limits(products=wrong)
    with pytest.raises(ArgumentError, match=r"^pieces: expected"):
        Limits(pieces=wrong)
    for check in (conditions, generic, pl_general):
        with pytest.raises(ArgumentError, match=r"^limits: expected Limits"):
            check(CELLS, limits=wrong)


def test_other_options() -> None:
    with pytest.raises(ArgumentError, match=r"^outputs: expected bool, got int 3"):
        zero_extrema(CELLS, outputs=3)  # type: ignore[arg-type]
    for wrong in (3, CELLS, "weights"):
        with pytest.raises(ArgumentError, match=r"breakpoint_complex\(cells\) makes it"):
            linear_regions_property(CELLS, breakpoints=wrong)  # type: ignore[arg-type]
    known = breakpoint_complex(CELLS)
    assert linear_regions_property(CELLS, breakpoints=known) == linear_regions_property(CELLS)
