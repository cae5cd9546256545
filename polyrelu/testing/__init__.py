"""Assertions for the tests of float tools, which compare them with the exact answers.

The functions of `assertions` fail with a point that shows the difference. `plugin` is a plugin of
pytest, which installations of the package register: the fixture `exact`, and the mark
``polyrelu_corpus``. Importing this room imports no mathematics.
"""

from polyrelu.testing.assertions import (
    assert_outputs_within_rounding,
    assert_same_function,
    assert_same_regions,
    assert_same_vertices,
    assert_sound_bounds,
    assert_valid_counterexample,
)

__all__ = [
    "assert_outputs_within_rounding",
    "assert_same_function",
    "assert_same_regions",
    "assert_same_vertices",
    "assert_sound_bounds",
    "assert_valid_counterexample",
]
