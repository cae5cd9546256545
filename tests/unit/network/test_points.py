"""Points in every form: one or many, sequences, arrays and tensors, always exact."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from polyrelu.errors import ArgumentError, NetworkError
from polyrelu.network import AffineMap, SignVector, from_arrays

NETWORK = from_arrays([([[1, 2], [0, 1]], [0, 1]), ([[1, -1], [2, 0]], [3, "1/3"])])
POINTS: list[list[Any]] = [[1, 0.1], ["-2/3", 5], [Fraction(1, 7), -3]]
FLOATS = [[1.0, 0.1], [-0.7, 5.0], [1e300, -(2.0**-1074)]]

#: Functions that take one point or many.
OF_BOTH: dict[str, Callable[..., Any]] = {
    "network": NETWORK,
    "signs": NETWORK.sign_vector,
    "affine map at": NETWORK.affine_map_at,
    "affine map": NETWORK.affine_map_at([1, 2]),
}
#: Functions that take points only.
OF_MANY: dict[str, Callable[..., Any]] = {
    "evaluate": NETWORK.evaluate,
    "preactivations": NETWORK.preactivations,
    "activations": NETWORK.activations,
}


@pytest.mark.parametrize("name", OF_BOTH)
def test_the_answer_has_the_shape_of_the_argument(name: str) -> None:
    function = OF_BOTH[name]
    answers = [function(point) for point in POINTS]
    assert not any(isinstance(answer, list) for answer in answers)
    assert function(POINTS) == function(tuple(POINTS)) == function(iter(POINTS)) == answers
    array = np.array(FLOATS)
    answers = [function(point) for point in FLOATS]
    assert function(array) == function(list(array)) == answers
    assert function(array[1]) == answers[1]
    assert function([]) == function(np.zeros((0, 2))) == []


def test_kinds_of_answers() -> None:
    assert NETWORK([1, 2]) == (Fraction(5), Fraction(31, 3))
    assert NETWORK([[1, 2]]) == [(Fraction(5), Fraction(31, 3))]
    assert NETWORK.sign_vector([[1, 2]]) == [SignVector(((1, 1),))]
    (found,) = NETWORK.affine_map_at([[1, 2]])
    assert isinstance(found, AffineMap)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble, np.int8])
def test_arrays_are_taken_exactly(kind: type) -> None:
    array: NDArray[Any] = np.array([[1, 0.1], [-3, 5]]).astype(kind)
    exact = [[Fraction(*np.longdouble(x).as_integer_ratio()) for x in row] for row in array]
    assert NETWORK(array) == NETWORK.evaluate(array) == NETWORK.evaluate(exact)
    assert NETWORK(array.astype(object)) == NETWORK.evaluate(exact)


@pytest.mark.parametrize("kind", ["float32", "float64", "bfloat16", "int64"])
def test_tensors_are_taken_exactly(kind: str) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([[1, 0.1], [-3, 5]]).to(getattr(torch, kind))
    if kind != "int64":
        tensor.requires_grad_()
    exact = tensor.tolist()
    assert NETWORK(tensor) == NETWORK.evaluate(tensor) == NETWORK.evaluate(exact)
    assert NETWORK(tensor[1]) == NETWORK(exact[1])
    assert NETWORK(list(tensor)) == NETWORK(exact)
    assert NETWORK(list(tensor[0])) == NETWORK(exact[0])  # scalars are tensors without axes
    assert NETWORK.preactivations(tensor) == NETWORK.preactivations(exact)


WRONG: list[tuple[Any, type[Exception], str]] = [
    ([1], NetworkError, r"got shape \(1,\)$"),
    ([[1, 2, 3]] * 4, NetworkError, r"got shape \(4, 3\)$"),
    (np.zeros((4, 3)), NetworkError, r"got shape \(4, 3\)$"),
    (np.zeros((2, 2, 2)), NetworkError, "got more than two axes$"),
    ([[1, 2], [1]], NetworkError, "got rows of different lengths$"),
    ([1, [2, 3]], NetworkError, "got a mixture of numbers and rows$"),
    (3, ArgumentError, "got int$"),
    (np.array(3.0), ArgumentError, "got an array without axes$"),
    ("12", ArgumentError, "got str$"),
    ({1: 2, 3: 4}, ArgumentError, "got dict$"),
    (None, ArgumentError, "got NoneType$"),
]


@pytest.mark.parametrize(("wrong", "kind", "end"), WRONG, ids=lambda value: str(value)[:20])
def test_errors_name_the_expected_shape(wrong: Any, kind: type[Exception], end: str) -> None:
    for function in OF_BOTH.values():
        start = r"^x: expected a point of shape \(2,\) or points of shape \(k, 2\), "
        with pytest.raises(kind, match=start + end):
            function(wrong)
    for function in OF_MANY.values():
        with pytest.raises((kind, ArgumentError), match=r"^points: expected points of shape "):
            function(wrong)


def test_one_point_is_no_batch() -> None:
    for function in OF_MANY.values():
        with pytest.raises(ArgumentError, match=r"got shape \(2,\); \[points\] makes one row$"):
            function([1, 2])


def test_entries_are_numbers() -> None:
    wrong: Any
    for wrong in (True, None, "x", float("nan"), 1j, np.array(1j), object()):
        for points in ([1, wrong], [[1, 2], [wrong, 0]]):
            with pytest.raises(NetworkError):
                NETWORK(points)


def test_no_library_is_imported() -> None:
    """Tensors are read without torch being imported by polyrelu."""
    code = (
        "import sys\n"
        "import polyrelu\n"
        "net = polyrelu.from_arrays([([[1, 2]], [3])])\n"
        "net([[1, 2]])\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
