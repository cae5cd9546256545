"""Drafts from lists of affine maps, each with or without a ReLU after it.

Readers of formats that store layers rather than a graph (``.npz``, ``.mat``, scikit-learn, state
dicts of PyTorch) use the two functions here. The functions differ in the layout: `draft_of_stack`
takes maps x A + b with A of shape (in, out) and builds a graph; `draft_of_pairs` takes pairs (W, b)
with W of shape (out, in) and builds the network directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.formats.graph import tensors
from polyrelu.formats.graph.float_error import BOUNDED
from polyrelu.formats.graph.values import Graph, Value
from polyrelu.formats.imported import Draft
from polyrelu.formats.meter import need
from polyrelu.network import from_arrays
from polyrelu.support.typing import Array

__all__ = ["Affine", "draft_of_pairs", "draft_of_stack"]


@dataclass(frozen=True, slots=True)
class Affine:
    """The affine map x A + b, with or without a ReLU after it.

    Attributes
    ----------
    name
        Name of the map in error messages.
    weight
        The matrix A, shape (in, out).
    bias
        The vector b, shape (out,).
    relu
        Whether a ReLU follows.
    slope
        The slope of this ReLU for negative arguments; other than 0 if it is leaky.
    """

    name: str
    weight: Array
    bias: Array
    relu: bool
    slope: Fraction = Fraction(0)


def draft_of_stack(format_: str, layers: Sequence[Affine]) -> Draft:
    """Return the draft of the composition of affine maps and ReLUs.

    A `NetworkError` names the first map whose shape does not fit.

    >>> import numpy as np
    >>> draft = draft_of_stack("example", [Affine("layer 1", np.eye(2), np.zeros(2), True)])
    >>> draft.steps, draft.num_stored
    (['affine [1, 2]', 'relu [1, 2]'], 6)
    """
    if not layers:
        raise NetworkError("there are no layers")
    graph, steps, width = Graph(), list[str](), None
    for layer in layers:
        _check_shapes(layer, width)
        width = layer.weight.shape[1]
    (value,) = graph.inputs([(1, layers[0].weight.shape[0])])
    for layer in layers:
        try:
            value = tensors.matmul(graph, value, layer.weight, layer.bias)
        except NetworkError as error:
            raise NetworkError(f"{layer.name}: {error}") from None
        steps.append(f"affine {list(value.shape)}")
        if layer.relu:
            value = _activated(graph, value, layer.slope)
            steps.append(f"{'leaky relu' if layer.slope else 'relu'} {list(value.shape)}")
    graph.finish([value])
    arrays = [array for layer in layers for array in (layer.weight, layer.bias)]
    types = {array.dtype.name for array in arrays}
    return Draft(
        format_,
        graph,
        steps=steps,
        dtypes=types,
        num_stored=sum(array.size for array in arrays),
        input_shapes=[(1, layers[0].weight.shape[0])],
        arithmetic=next(iter(types)) if len(types) == 1 and types <= BOUNDED else "",
    )


def _activated(graph: Graph, value: Value, slope: Fraction) -> Value:
    """Return the ReLU of a value, or the leaky ReLU if the slope is not 0."""
    if not slope:
        return tensors.relu(graph, value)
    return tensors.leaky_relu(graph, value, np.array(slope, dtype=object))


def draft_of_pairs(format_: str, pairs: Sequence[tuple[Array, Array]], notes: list[str]) -> Draft:
    """Return the draft of a network with a ReLU between consecutive affine maps.

    Each pair holds a weight of shape (out, in) and a bias of shape (out,).
    """
    arrays = [array for pair in pairs for array in pair]
    need(entries=sum(array.size for array in arrays))
    dtypes = {array.dtype.name for array in arrays if array.dtype != object}
    return Draft(
        format_,
        network=from_arrays(pairs),
        steps=[f"affine [{weight.shape[0]}, {weight.shape[1]}]" for weight, _ in pairs],
        dtypes=dtypes,
        notes=notes,
        num_stored=sum(array.size for array in arrays),
        arithmetic="float64" if dtypes == {"float64"} else "float32",
    )


def _check_shapes(layer: Affine, width: int | None) -> None:
    """Raise a `NetworkError` unless the map takes `width` values (None: any number)."""
    weight, bias = layer.weight, layer.bias
    if weight.ndim != 2 or bias.shape != weight.shape[1:] or not weight.size:
        raise NetworkError(
            f"{layer.name}: expected shapes (in, out) and (out,); got {weight.shape} and "
            f"{bias.shape}"
        )
    if width not in (None, weight.shape[0]):
        raise NetworkError(
            f"{layer.name}: it takes {weight.shape[0]} values, the one before gives {width}"
        )
