"""The provers with networks and domains in any form, and with wrong arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu import (
    ArgumentError,
    DomainError,
    NetworkError,
    Polyhedron,
    canonical_complex,
    certify_complex,
    certify_regions,
    equivalent,
    identify,
    injective,
    inverse_lipschitz,
    region_graph,
    runtime_error,
    teaching_set,
)
from polyrelu.formats import read
from polyrelu.network import from_arrays
from polyrelu.outcomes import (
    Collision,
    NearPair,
    NotIdentifiable,
    Proved,
    Refuted,
    Undecided,
    Witness,
)
from polyrelu.proofs import left_inverse
from polyrelu.proofs.runtime_error import prove_runtime_error
from tests.generators.wrong_arguments import WRONG, calls_with, outcome

PAIRS: list[Any] = [([[1], [-1]], [0, 0]), ([[1, 1]], [0])]
NET = from_arrays(PAIRS)
CELLS = canonical_complex(NET)
LIMITS = {"time_limit": 60.0, "memory_limit": 1 << 20, "progress": lambda step: None}
PROVED: Any = identify(NET)
ONE = (Fraction(1),)

#: Each prover, and each type of answers that checks its fields, with good arguments and options.
CALLS: dict[str, tuple[Callable[..., object], tuple[Any, ...], dict[str, Any]]] = {
    "identify": (
        identify,
        (NET,),
        {
            "among": "all",
            "seed": 0,
            "time_limit": 60,
            "checkpoint": None,
            "progress": lambda step: None,
        },
    ),
    "equivalent": (equivalent, (NET, NET, "box:-3,3"), {"seed": 0, **LIMITS}),
    "injective": (injective, (NET, "box:-3,3"), {"layers": (1, 1), "seed": 0, **LIMITS}),
    "teaching_set": (teaching_set, (NET,), {"seed": 0}),
    "inverse_lipschitz": (inverse_lipschitz, (NET, "box:-3,3"), {"layers": 1, "seed": 0, **LIMITS}),
    "left_inverse": (
        left_inverse,
        (NET, "box:-3,3"),
        {"inverse": None, "layers": 1, "seed": 0, "time_limit": 60.0, "memory_limit": 1 << 20},
    ),
    "certify_complex": (certify_complex, (CELLS,), LIMITS),
    "certify_regions": (certify_regions, (CELLS,), {"method": "auto", **LIMITS}),
    "prove_runtime_error": (prove_runtime_error, (runtime_error(NET, "box:-1,1"),), {}),
    "Proved": (Proved, (PROVED.certificate,), {}),
    "Refuted": (Refuted, (PROVED.certificate,), {}),
    "save": (PROVED.save, ("cert.json",), {}),
    "with_provenance": (PROVED.with_provenance, ({"source": "net"},), {}),
    "Collision": (Collision, (ONE, ONE, ONE), {}),
    "NearPair": (NearPair, (ONE, ONE, ONE, ONE), {}),
    "Witness": (Witness, (ONE, ONE, ONE), {}),
}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments(
    name: str, wrong: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for call in calls_with(*CALLS[name], wrong):
        outcome(call)


@pytest.mark.parametrize("name", [name for name in CALLS if "seed" in CALLS[name][2]])
def test_negative_seeds(name: str) -> None:
    function, arguments, options = CALLS[name]
    with pytest.raises(ArgumentError, match=r"^seed: expected an integer, at least 0, got -1$"):
        function(*arguments, **{**options, "seed": -1})


@pytest.mark.parametrize("name", CALLS)
def test_good_arguments(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    function, arguments, options = CALLS[name]
    function(*arguments, **options)


def test_networks_and_domains_in_any_form(tmp_path: Path) -> None:
    path = tmp_path / "net.npz"
    np.savez(path, W1=[[1.0], [-1.0]], b1=[0.0, 0.0], W2=[[1.0, 1.0]], b2=[0.0])
    for form in (path, str(path), PAIRS, read(path), NET):
        found = identify(form)
        assert isinstance(found, Proved)
        notes = found.certificate.unverified
        assert notes.get("source", "") == ("" if form is PAIRS or form is NET else "net.npz")
        same = replace(found.certificate, unverified=PROVED.certificate.unverified)
        assert same == PROVED.certificate
        for domain in ("box:-3,3", Polyhedron.box([-3], [3]), None):
            assert equivalent(form, NET, domain).status == "proved"
    assert equivalent(PAIRS, [([[1]], [0])], "orthant").status == "proved"


def test_a_module_of_torch() -> None:
    torch = pytest.importorskip("torch")
    layer = torch.nn.Linear(2, 2)
    assert identify(layer).status == "proved"
    assert equivalent(layer, layer, "box:-1,1").status == "proved"


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: identify("net.onnx"), NetworkError, "net.onnx: cannot read"),
        (lambda: equivalent(NET, "net.onnx"), NetworkError, "net.onnx: cannot read"),
        (
            lambda: identify(CELLS),  # type: ignore[arg-type]
            NetworkError,
            "PolyhedralComplex: expected pairs (W, b)",
        ),
        (
            lambda: identify(NET, among="some"),  # type: ignore[arg-type]
            ArgumentError,
            "among: choose from 'all', 'regular', 'sparse', 'transversal', 'generic', "
            "got str 'some'",
        ),
        (
            lambda: identify(NET, seed=0.5),  # type: ignore[arg-type]
            ArgumentError,
            "seed: expected int, got float 0.5",
        ),
        (
            lambda: identify(NET, time_limit=-1),
            ArgumentError,
            "time_limit: expected a number, at least 0, or None, got int -1",
        ),
        (
            lambda: identify(NET, checkpoint=NET),  # type: ignore[arg-type]
            ArgumentError,
            "checkpoint: expected the name of a file, got Network",
        ),
        (
            lambda: equivalent(NET, NET, memory_limit="1 GB"),  # type: ignore[arg-type]
            ArgumentError,
            "memory_limit: expected a number, at least 0, or None, got str '1 GB'",
        ),
        (
            lambda: equivalent(NET, NET, progress=3),  # type: ignore[arg-type]
            ArgumentError,
            "progress: expected a function or None, got int 3",
        ),
        (
            lambda: equivalent(NET, NET, Polyhedron.universe(2)),
            DomainError,
            "domain: a polyhedron in R^2, but the network has 1 inputs",
        ),
        (lambda: equivalent(NET, NET, "cube"), DomainError, "domain 'cube' is not understood"),
        (
            lambda: certify_regions(NET),  # type: ignore[arg-type]
            ArgumentError,
            "cells: expected PolyhedralComplex or RegionGraph, got Network; "
            "canonical_complex(network, domain) and region_graph(network, domain) make them",
        ),
        (
            lambda: prove_runtime_error(NET),  # type: ignore[arg-type]
            ArgumentError,
            "found: expected RuntimeErrorBound, got Network; runtime_error(network, domain)",
        ),
        (
            lambda: PROVED.with_provenance({"a": 1}),
            ArgumentError,
            "provenance: expected texts by key",
        ),
        (lambda: Witness(ONE, ONE, ONE * 2), ArgumentError, "f and g: 1 outputs and 2"),
        (
            lambda: Witness((1,), ONE, ONE),  # type: ignore[arg-type]
            ArgumentError,
            "x: expected a tuple of at least one Fraction",
        ),
    ],
)
def test_errors(call: Callable[[], object], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as error:
        call()
    assert str(error.value).startswith(text)


def test_regions_of_both_kinds() -> None:
    for cells in (CELLS, region_graph(NET)):
        assert certify_regions(cells).status == "proved"
    assert isinstance(certify_regions(CELLS, time_limit=0), Undecided)


def test_options_are_named() -> None:
    """The class of competitors stands in the call by its name, like every other option."""
    with pytest.raises(TypeError, match="positional"):
        identify(NET, "R^n", "all")  # type: ignore[call-arg]
    assert isinstance(
        identify([([[1], [2]], [0, 1]), ([[1, 0]], [0])], among="all"), NotIdentifiable
    )
