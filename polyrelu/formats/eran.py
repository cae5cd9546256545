"""``.eran`` text files of fully connected layers, as ERAN and SyReNN write them.

A layer is a line with its name, a line with its weights as a list of rows of shape (out, in), and a
line with its biases: ``ReLU`` and ``HardTanh`` are affine maps with the activation after them,
``Affine`` has none. A line ``Normalize mean=[…] std=[…]`` at the beginning is (x - mean) / std.
Other layers, such as ``Conv2D``, are refused by name. Decimals are exact, or rounded under the rule
`text`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.graph import tensors
from polyrelu.formats.graph.constants import reciprocals
from polyrelu.formats.graph.values import Graph, Value
from polyrelu.formats.imported import Draft
from polyrelu.formats.options import ReadOptions
from polyrelu.support.limits import PARAMETER_LIMIT
from polyrelu.support.typing import Array

__all__ = ["read_eran"]

#: Maximum size of a file in bytes, and of a decimal in characters.
_SIZE_LIMIT, _LENGTH_LIMIT = 2**30, 1000
#: The layers that are read.
_LAYERS = ("ReLU", "Affine", "HardTanh")
_ROWS = re.compile(r"\[\s*\[[^\[\]]*\]\s*(?:,\s*\[[^\[\]]*\]\s*)*\]")
_ROW = re.compile(r"\[[^\[\]]*\]")
_NORMALIZE = re.compile(r"Normalize\s+mean\s*=\s*(\[[^\[\]]*\])\s+std\s*=\s*(\[[^\[\]]*\])")


@dataclass(frozen=True, slots=True)
class _Layer:
    """A layer: its line, its name, weights (out, in) and biases (out,)."""

    line: int
    kind: str
    weight: Array
    bias: Array


def read_eran(path: Path, options: ReadOptions) -> Draft:
    """Read the layers of an .eran file.

    A `NetworkFileError` names the line that cannot be taken exactly.
    """
    if path.stat().st_size > _SIZE_LIMIT:
        raise NetworkFileError(path, "", "larger than 1 GiB")
    text = _Text(path, options)
    normalisation, layers = text.read()
    graph = Graph()
    draft = Draft("eran", graph, dtypes={"decimal text"}, arithmetic="")
    draft.rounding.add(f"text: {options.rounding.text}")
    if options.rounding.text != "exact":
        draft.arithmetic, draft.bounded = options.rounding.text, {options.rounding.text}
    draft.input_shapes = [(1, layers[0].weight.shape[1])]
    (value,) = graph.inputs(draft.input_shapes)
    if normalisation is not None:
        value = _normalised(text, graph, value, normalisation, draft)
    for layer in layers:
        if layer.weight.shape[1] != value.size:
            problem = f"{layer.weight.shape[1]} weights a row, the layer before has {value.size}"
            raise text.fail(layer.line + 1, problem)
        try:
            value = tensors.matmul(graph, value, layer.weight.T, layer.bias)
        except NetworkError as error:
            raise text.fail(layer.line, str(error)) from None
        draft.steps.append(f"affine {list(layer.weight.shape)}")
        draft.num_stored += layer.weight.size + layer.bias.size
        if layer.kind == "ReLU":
            value = tensors.relu(graph, value)
        elif layer.kind == "HardTanh":
            value = tensors.clip(graph, value, Fraction(-1), Fraction(1))
        if layer.kind != "Affine":
            draft.steps.append(f"{layer.kind.lower()} [{value.size}]")
    graph.finish([value])
    return draft


def _normalised(
    text: _Text, graph: Graph, value: Value, normalisation: tuple[Array, Array], draft: Draft
) -> Value:
    """Return (x - mean) / std, with one number for all inputs or one for each."""
    means, sizes = normalisation
    if means.size not in (1, value.size) or sizes.size not in (1, value.size):
        problem = (
            f"{means.size} means and {sizes.size} deviations for {value.size} inputs; which input "
            "is of which channel is not known"
        )
        raise text.fail(1, problem)
    if (sizes == 0).any():
        raise text.fail(1, "a deviation is 0, so nothing can be normalised")
    shifted = tensors.add_constant(graph, value, np.broadcast_to(-means, (1, value.size)))
    factors = np.broadcast_to(reciprocals(sizes), (1, value.size))
    draft.steps.append("(x - mean) / std")
    draft.num_stored += means.size + sizes.size
    draft.notes.append("the normalisation (x - mean) / std is part of the network")
    draft.bounded = set()  # a runtime may multiply by a rounded 1 / std
    return tensors.multiply(graph, shifted, factors)


class _Text:
    """The lines of a file."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        self._path, self._options = path, options
        lines = path.read_bytes().decode("latin-1").split("\n")
        self._lines = [(j, line.strip()) for j, line in enumerate(lines, 1) if line.strip()]
        self._count = 0

    def fail(self, line: int, problem: str) -> NetworkFileError:
        """Return the error that names a line."""
        return NetworkFileError(self._path, f"line {line}", problem)

    def read(self) -> tuple[tuple[Array, Array] | None, list[_Layer]]:
        """Return the normalisation, if there is one, and the layers."""
        lines, normalisation, layers = self._lines, None, list[_Layer]()
        if lines and (found := _NORMALIZE.fullmatch(lines[0][1])):
            normalisation = (self._row(1, found[1]), self._row(1, found[2]))
            lines = lines[1:]
        for place in range(0, len(lines), 3):
            line, kind = lines[place]
            if kind not in _LAYERS:
                raise self.fail(
                    line,
                    f"{kind[:40]!r} is not supported; supported are {', '.join(_LAYERS)}, others "
                    "by an ONNX export of the network",
                )
            if place + 2 >= len(lines):
                raise self.fail(line, "weights and biases of this layer are missing")
            layers.append(self._layer(kind, line, *lines[place + 1 : place + 3]))
        if not layers:
            raise NetworkFileError(self._path, "", "it has no layers")
        return normalisation, layers

    def _layer(
        self, kind: str, line: int, weights: tuple[int, str], biases: tuple[int, str]
    ) -> _Layer:
        if not _ROWS.fullmatch(weights[1]):
            raise self.fail(weights[0], "expected a list of rows of weights, [[1, 2], [3, 4]]")
        rows = [self._row(weights[0], row) for row in _ROW.findall(weights[1])]
        if not _ROW.fullmatch(biases[1]):
            raise self.fail(biases[0], "expected a list of biases, [1, 2]")
        bias = self._row(biases[0], biases[1])
        sizes = {row.size for row in rows}
        if len(sizes) > 1 or bias.size != len(rows):
            problem = f"{len(rows)} rows of {sorted(sizes)} weights, but {bias.size} biases"
            raise self.fail(weights[0], problem)
        return _Layer(line, kind, np.array(rows, dtype=object).reshape(len(rows), -1), bias)

    def _row(self, line: int, text: str) -> Array:
        """Return the exact numbers of a list in brackets."""
        self._count += text.count(",") + 1
        if self._count > PARAMETER_LIMIT:
            raise self.fail(line, f"more than {PARAMETER_LIMIT} numbers")
        return np.array([self._number(line, entry) for entry in text[1:-1].split(",")], object)

    def _number(self, line: int, text: str) -> Fraction:
        try:
            if len(text) <= _LENGTH_LIMIT:
                return self._options.rounding.number(text.strip())
        except NetworkError as error:
            raise self.fail(line, f"{text.strip()[:40]!r}: {error}") from None
        except ValueError:
            pass
        problem = "is not a decimal number with an exponent of at most three digits"
        raise self.fail(line, f"{text.strip()[:40]!r} {problem}")
