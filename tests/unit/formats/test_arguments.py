"""Public functions of the room with arguments of any form, and with wrong ones."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyrelu import ArgumentError, DomainError, NetworkError, Polyhedron
from polyrelu.formats import (
    Imported,
    NetworkLike,
    Rounding,
    Slice,
    as_domain,
    as_imported,
    as_network,
    as_point,
    as_points,
    check_counterexample,
    choices_of,
    float_outputs,
    load,
    parse_domain,
    parse_slice,
    read,
    read_counterexample,
    read_vnnlib,
    runtime_error,
    save,
    save_nnet,
    save_npz,
    save_onnx,
)
from polyrelu.network import from_arrays
from tests.generators.wrong_arguments import WRONG, calls_with, outcome

PAIRS: list[Any] = [([[1, -1], [2, 1]], [0, 1]), ([[1, 1]], [0])]
NET = from_arrays(PAIRS)

#: Each public function with good arguments and with all of its options.
CALLS: dict[str, tuple[Callable[..., object], tuple[Any, ...], dict[str, Any]]] = {
    "check_counterexample": (
        check_counterexample,
        ("query.vnnlib", "result.txt", NET),
        {},
    ),
    "read_counterexample": (read_counterexample, ("result.txt",), {}),
    "read_vnnlib": (read_vnnlib, ("query.vnnlib",), {}),
    "as_domain": (as_domain, ("box:-1,1",), {"num_inputs": 2}),
    "as_imported": (as_imported, (NET,), {}),
    "as_network": (as_network, (PAIRS,), {}),
    "as_point": (as_point, ([1, "1/2"],), {"size": 2}),
    "as_points": (as_points, ([[1, "1/2"]],), {"size": 2}),
    "choices_of": (choices_of, ("net.nnet",), {}),
    "float_outputs": (float_outputs, (NET, [1, 2]), {}),
    "load": (
        load,
        (PAIRS,),
        {
            "format": None,
            "prefix": None,
            "rounding": "",
            "normalisation": "none",
            "strip_tail": False,
            "input_shape": None,
            "compare": True,
        },
    ),
    "parse_domain": (parse_domain, ("orthant", 2), {}),
    "parse_slice": (parse_slice, ("slice:no.json", 2), {}),
    "read": (read, (PAIRS,), {"prefix": None, "rounding": "", "input_shape": None}),
    "Rounding": (Rounding, ("float64", "exact", "stored", "exact"), {}),
    "Rounding.parse": (Rounding.parse, ("text=float32",), {}),
    "runtime_error": (runtime_error, (NET, "box:-1,1"), {"arithmetic": "float32"}),
    "save": (save, (NET, "net.npz"), {"numbers": None}),
    "save_nnet": (save_nnet, (NET, "net.nnet"), {"numbers": "float32"}),
    "save_npz": (save_npz, (NET, "net.npz"), {"numbers": "float64"}),
    "save_onnx": (save_onnx, (NET, "net.onnx"), {"numbers": None}),
}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments(
    name: str, wrong: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for call in calls_with(*CALLS[name], wrong):
        outcome(call)


@pytest.mark.parametrize("name", sorted(set(CALLS) - {"parse_slice"}))
def test_good_arguments(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    declared = "".join(f"(declare-const {name} Real)" for name in ("X_0", "X_1", "Y_0"))
    Path("query.vnnlib").write_text(f"{declared}(assert (<= Y_0 X_0))")
    Path("result.txt").write_text("sat ((X_0 1) (X_1 0))".replace(" (", "\n(", 1))
    function, arguments, options = CALLS[name]
    function(*arguments, **options)


@pytest.mark.parametrize("place", ["path", "text", "pairs", "imported", "network"])
def test_networks_in_any_form(place: str, tmp_path: Path) -> None:
    path = tmp_path / "net.npz"
    np.savez(path, W1=[[1, -1], [2, 1]], b1=[0, 1], W2=[[1, 1]], b2=[0])
    forms: dict[str, NetworkLike] = {
        "path": path,
        "text": str(path),
        "pairs": PAIRS,
        "imported": read(path),
    }
    form = forms.get(place, NET)
    assert as_network(form) == NET
    assert as_imported(form).network == NET
    assert runtime_error(form, "box:-1,1").network == NET
    assert float_outputs(form, [1, 2]).values == (5.0,)
    save(form, tmp_path / "again.json")
    assert load(tmp_path / "again.json") == NET


def test_names_of_files_of_any_type(tmp_path: Path) -> None:
    class Name(os.PathLike[str]):
        def __fspath__(self) -> str:
            return str(tmp_path / "net.json")

    save(NET, Name())  # type: ignore[arg-type]
    assert load(Name()) == NET


def test_a_file_computes_its_own_operations(tmp_path: Path) -> None:
    """A file name is as good as what `read` returns: the format's arithmetic is the file's."""
    np.savez(tmp_path / "net.npz", W1=np.eye(2), b1=np.zeros(2))
    assert runtime_error(tmp_path / "net.npz", "box:0,1").arithmetic == "float64"
    assert runtime_error(load(tmp_path / "net.npz"), "box:0,1").arithmetic == "float32"


def test_domains_of_the_rounding_error() -> None:
    """A polyhedron, its text and the corners of the box around it give one bound."""
    corners = ([-1, "-1/2"], [1, 2])
    found = runtime_error(NET, corners)
    assert found.lower == (Fraction(-1), Fraction(-1, 2))
    assert runtime_error(NET, Polyhedron.box(*corners)) == found
    assert runtime_error(NET, "box:-1,1;-1/2,2") == found


@pytest.mark.parametrize(
    ("domain", "kind", "text"),
    [
        (None, DomainError, "bounded domains only"),
        ("orthant", DomainError, "use a box: 'box:-1,1'"),
        (Polyhedron.box([0], [1]), DomainError, "a polyhedron in R^1, but the network has 2"),
        (([0], [1, 1]), DomainError, "the lower corner has 1 coordinates, not 2"),
        (([0, 0], [1, "a"]), DomainError, "the upper corner: 'a' is not exact text"),
        (([0, 2], [1, 1]), DomainError, "the box is empty"),
        ((0, 1), ArgumentError, "the lower corner: expected a sequence, got int 0"),
        (NET, ArgumentError, "a text such as 'box:-1,1', or None, got Network"),
    ],
)
def test_domains_without_a_rounding_error(domain: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as error:
        runtime_error(NET, domain)
    assert text in str(error.value)


def test_arithmetics() -> None:
    with pytest.raises(NetworkError, match="only for float32 and float64"):
        runtime_error(NET, "box:0,1", arithmetic="float16")
    with pytest.raises(ArgumentError, match="arithmetic: expected str, got int 3"):
        runtime_error(NET, "box:0,1", arithmetic=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("writer", "name"),
    [(save, "net.json"), (save_onnx, "net.onnx"), (save_npz, "net.npz"), (save_nnet, "net.nnet")],
)
def test_arguments_in_the_wrong_order(writer: Callable[..., object], name: str) -> None:
    """The error names the order, and nothing is read or written."""
    order = rf"the network comes first: {writer.__name__}\(network, path\)"
    with pytest.raises(ArgumentError, match=f"path: expected the name of a file, got .*{order}"):
        writer(name, NET)


def test_no_network() -> None:
    with pytest.raises(NetworkError, match="int: expected a file name, pairs"):
        read(3)  # type: ignore[arg-type]
    with pytest.raises(NetworkError, match="ndarray: expected a file name, pairs"):
        read(np.array(1))
    with pytest.raises(NetworkError, match="no such file: cannot read: No such file"):
        read("no such file")


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        ({"prefix": 3}, "prefix: expected str, got int 3"),
        ({"compare": "no"}, "compare: expected bool, got str 'no'"),
        ({"strip_tail": None}, "strip_tail: expected bool, got NoneType None"),
        ({"input_shape": 3}, "input_shape is a list of sizes"),
        ({"input_shape": [1.5]}, "input_shape is a list of sizes"),
        ({"rounding": 3}, "rounding is text"),
        ({"normalisation": ["both"]}, "choose from none, inputs, outputs, both"),
    ],
)
def test_choices_of_a_reader(choices: dict[str, Any], text: str) -> None:
    with pytest.raises((ArgumentError, NetworkError)) as error:
        read(PAIRS, **choices)
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("text", "inputs", "error"),
    [
        ("cube", 2, "'cube' is not understood; use R^n"),
        ("box:0,1;0,1", 3, "2 sides, but the network has 3 inputs"),
        ("box:0,1", 0, "inputs: expected an integer, at least 1, got 0"),
        ("box:0,1", "2", "inputs: expected int, got str '2'"),
        (Polyhedron.universe(2), 2, "text: expected str, got Polyhedron"),
    ],
)
def test_texts_of_domains(text: Any, inputs: Any, error: str) -> None:
    assert error in outcome(lambda: parse_domain(text, inputs))


@pytest.mark.parametrize(
    ("entries", "error"),
    [
        ([1], "the point has 1 coordinates, not 2"),
        ([1, None], "the point: NoneType is not an exact number"),
        ([1, float("nan")], "the point: nan is not a finite number"),
        ("12", "the point: expected a sequence, got str '12'"),
        (np.eye(2), "the point: ndarray is not an exact number"),
    ],
)
def test_points(entries: Any, error: str) -> None:
    assert error in outcome(lambda: as_point(entries, 2))
    assert error in outcome(lambda: float_outputs(NET, entries))


def test_values_are_what_they_say() -> None:
    no_network: Any = 3
    with pytest.raises(ArgumentError, match="network: expected Network, got int 3"):
        Imported(no_network, "", (), ())
    assert (
        repr(Slice(Polyhedron.universe(1), (Fraction(0),), ())) == "<Slice of dimension 0 in R^1>"
    )
