"""A comparison with a runtime warned of overflow, and counted what it had not compared as agreeing.

Where float numbers overflow there is no bound on a runtime's rounding: these entries are left out
and counted, and if nothing is left, nothing was compared.
"""

from __future__ import annotations

import re
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from polyrelu.exact import RationalMatrix
from polyrelu.formats import read
from polyrelu.formats.graph.enclosures import Enclosure, FloatMatrix
from tests.generators.onnx_files import constant, model, node, write


@pytest.mark.parametrize(
    ("exponent", "words"),
    [
        (0, r"3 values of the file agree with onnxruntime"),
        (
            100,
            r"3 values .* of the bound\); \d+ entries were left out, where the runtime may overf",
        ),
        (127, r"not compared: a float32 runtime may overflow in every value"),
    ],
)
def test_what_overflows_is_left_out(exponent: int, words: str, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    nodes = [node("MatMul", ["x", "w"], "h"), node("Relu", "h", "r"), node("MatMul", "rw", "y")]
    weight = constant("w", np.eye(2) * 2.0**exponent)
    path = write(tmp_path, "net.onnx", model(nodes, [weight], (1, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        imported = read(path)
    assert imported.network.evaluate([[1, 2]])[0] == tuple(
        Fraction(4) ** exponent * x for x in (1, 2)
    )
    assert re.search(words, str(imported.comparison))


def test_enclosures_of_numbers_beyond_floats() -> None:
    """Sums of huge numbers of both signs: an enclosure contains them, however floats are added."""
    rows = [
        [2**1023] * 3 + [-(2**1023)] * 3,
        [-(2**1023)] * 4 + [2**1023, 0],
        [10**400, 0, 0, 0, 0, 0],
    ]
    matrix = RationalMatrix.from_rows(rows)
    x = Enclosure.of_exact(np.ones((6, 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        image = x.image(FloatMatrix(matrix))
        total = image.plus(image).plus(Enclosure.of_column(matrix.take(columns=[0]), 1))
    for enclosure, exact in (
        (image, [sum(row) for row in rows]),
        (total, [2 * sum(row) + row[0] for row in rows]),
    ):
        assert np.isfinite(enclosure.middle).all()
        for value, middle, radius in zip(
            exact, enclosure.middle[:, 0], enclosure.radius[:, 0], strict=True
        ):
            assert radius == np.inf or abs(value - Fraction(middle)) <= Fraction(radius)
