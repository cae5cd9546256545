"""Files that are a list of layers: the network directly, a ReLU between consecutive affine maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from numpy.typing import NDArray

from polyrelu.importers.imported import Draft
from polyrelu.network import from_arrays

__all__ = ["draft_of_pairs"]

Array: TypeAlias = NDArray[Any]


def draft_of_pairs(format_: str, pairs: Sequence[tuple[Array, Array]], notes: list[str]) -> Draft:
    """The draft of weights (out, in) and biases (out,), arrays of numbers."""
    arrays = [array for pair in pairs for array in pair]
    dtypes = {array.dtype.name for array in arrays if array.dtype != object}
    return Draft(
        format_,
        network=from_arrays(pairs),
        steps=[f"affine [{weight.shape[0]}, {weight.shape[1]}]" for weight, _ in pairs],
        dtypes=dtypes,
        notes=notes,
        numbers=sum(array.size for array in arrays),
        arithmetic="float64" if dtypes == {"float64"} else "float32",
    )
