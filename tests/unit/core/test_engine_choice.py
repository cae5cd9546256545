"""Which engine computes complexes, and what is said where the compiled core is missing."""

from __future__ import annotations

import importlib
import json
import sys
from fractions import Fraction

import numpy as np
import pytest

from polyrelu import canonical_complex, from_arrays
from polyrelu._core import VARIABLE, EngineChoice, chosen_engine
from polyrelu.cli.main import main
from polyrelu.errors import DomainError


@pytest.fixture
def without_core(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the extension module one that cannot be found."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setitem(sys.modules, "polyrelu._core.compiled", None)


@pytest.mark.usefixtures("without_core")
def test_without_the_core_numpy_serves() -> None:
    engine = chosen_engine()
    assert engine.name == "numpy"
    assert "is not installed; install a C++20 compiler" in engine.reason
    net = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, -1]), ([[1, 1, 1]], [0])])
    assert canonical_complex(net).f_vector == (3, 9, 7)


@pytest.mark.usefixtures("without_core")
def test_a_missing_core_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "compiled")
    assert main(["info", "--engine"]) == 2
    assert "POLYRELU_ENGINE=compiled: the compiled core is not" in capsys.readouterr().err


def test_a_core_that_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ImportError("undefined symbol: x")

    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(importlib, "import_module", broken)
    assert "cannot be loaded (undefined symbol: x)" in chosen_engine().reason


def test_a_core_of_older_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that was left behind lacks what newer sources have."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(importlib, "import_module", lambda name: object())
    assert "built from older sources" in chosen_engine().reason


def test_unknown_engines_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "fast")
    with pytest.raises(DomainError, match="POLYRELU_ENGINE=fast: no engine has this name; use"):
        chosen_engine()


def test_info_engine(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(VARIABLE, "numpy")
    assert chosen_engine() == EngineChoice("numpy", "POLYRELU_ENGINE=numpy asks for it")
    assert main(["info", "--engine"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "engine       numpy",
        "reason       POLYRELU_ENGINE=numpy asks for it",
    ]
    assert main(["info", "--engine", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["engine"] == "numpy"
    assert main(["info"]) == 2
    assert "required: NET (or --engine)" in capsys.readouterr().err


@pytest.mark.skipif(chosen_engine().name != "compiled", reason="the compiled core is not installed")
def test_the_core_refuses_answers_of_a_wrong_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise it would read beyond the end of the array."""
    from polyrelu.complex.engine.compiled import CompiledSubdivision

    def nothing(*_: object) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
        return np.zeros(0, dtype=np.int8)

    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(CompiledSubdivision, "_exact_signs", nothing)
    rows = [[Fraction(1, 3), 0], [0, Fraction(1, 7)], [Fraction(1, 5), Fraction(1, 3)]]
    net = from_arrays([(rows, [0, 0, 0]), ([[1, 1, 1]], [0])])
    with pytest.raises(ValueError, match="a sign for each pair"):
        canonical_complex(net)
