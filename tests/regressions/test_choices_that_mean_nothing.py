"""Choices without meaning for a format were ignored, and objects raised bare errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu import DomainError, NetworkError, runtime_error
from polyrelu.formats import load, read
from polyrelu.network import from_arrays


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A network file of a format without names, normalisation or open shapes."""
    path = tmp_path / "net.npz"
    np.savez(path, W1=np.eye(2), b1=np.zeros(2))
    return path


@pytest.mark.parametrize(
    ("choice", "value"),
    [("prefix", "q."), ("prefix", ""), ("normalisation", "both"), ("input_shape", [1, 2])],
)
def test_choices_that_mean_nothing_for_a_format_are_refused(
    choice: str, value: Any, path: Path
) -> None:
    choices: dict[str, Any] = {choice: value}
    with pytest.raises(
        NetworkError,
        match=rf"--{choice.replace('_', '-')} \({choice}=\) means nothing for a \.npz file",
    ):
        load(path, **choices)


@pytest.mark.parametrize("rounding", [{"text": "float32"}, 1, None])
def test_rounding_that_is_no_text(rounding: Any, path: Path) -> None:
    with pytest.raises(NetworkError, match="rounding is text"):
        load(path, rounding=rounding)


def test_an_input_shape_that_is_text(path: Path) -> None:
    text: Any = "1,2"
    with pytest.raises(NetworkError, match="input_shape is a list"):
        load(path, input_shape=text)


@pytest.mark.parametrize(
    "thing",
    [{"W": np.eye(2)}, [np.eye(2), np.zeros(2)], [(np.eye(2),)], ["ab"], [1, 2]],
    ids=["dict", "flat", "one", "text", "ints"],
)
def test_objects_that_are_no_pairs(thing: Any) -> None:
    with pytest.raises(NetworkError, match="expected pairs"):
        load(thing)


def test_runtime_error_of_a_file_name(path: Path) -> None:
    assert runtime_error(str(path), "box:0,1").arithmetic == "float64"
    assert runtime_error(read(path), "box:0,1").arithmetic == "float64"
    with pytest.raises(DomainError):
        runtime_error(from_arrays([([[1]], [0])]), ([1], [0]))
