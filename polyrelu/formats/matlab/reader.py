"""Networks in ``.mat`` files with the cell arrays W and b, as NNV stores them.

Here is the translation of the variables of a MAT file into a `Draft` of a plain stack. W{i} has the
shape (out, in) and b{i} is a column or a row; further dimensions have size 1. A variable such as
``act_fcns`` or ``activation_fcns`` contains the name of the activation of each layer, as rows of
text or as a cell array; without it, the assumption of ReLUs must be stated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.dense_stack import Affine, draft_of_stack
from polyrelu.formats.imported import Draft
from polyrelu.formats.matlab.files import Cells, Text, Variable, read_mat5
from polyrelu.formats.options import ReadOptions
from polyrelu.formats.settings import is_about_activations
from polyrelu.support.typing import Array

__all__ = ["read_mat"]


#: The names of the ReLU and of the identity.
_RELU, _LINEAR = ("relu", "poslin"), ("linear", "purelin")

#: The variables with numbers that are read.
_LAYERS = ("W", "b")


def read_mat(path: Path, options: ReadOptions) -> Draft:
    """Read the layers of a .mat file."""
    names, variables = read_mat5(path, lambda name: name in _LAYERS or is_about_activations(name))
    if options.normalisation != "none":
        raise NetworkFileError(
            path, "", "a normalisation in a .mat file is not read; make it part of W and b"
        )
    for name in ("W", "b"):
        if name not in variables:
            held = ", ".join(names)[:120] or "nothing"
            raise NetworkFileError(
                path, "", f"expected the cell arrays W and b; the file holds {held}"
            )
    weights, biases = (_cells(path, name, variables[name]) for name in ("W", "b"))
    if len(weights) != len(biases) or not weights:
        raise NetworkFileError(
            path,
            "",
            f"W has {len(weights)} cells and b {len(biases)}; expected one of each a layer",
        )
    relus, caveats = _activations(path, variables, len(weights))
    used = [*_LAYERS, *_about_activations(variables)]
    unused = [name for name in names if name not in used]
    if unused:
        caveats.append(f"variables that were not read: {', '.join(unused)[:200]}")
    layers = [
        Affine(f"layer {number}", weight.T, bias.reshape(-1), relu)
        for number, (weight, bias, relu) in enumerate(zip(weights, biases, relus, strict=True), 1)
    ]
    try:
        draft = draft_of_stack("mat", layers)
    except NetworkError as error:
        raise NetworkFileError(path, "", str(error)) from None
    draft.caveats = caveats
    return draft


def _cells(path: Path, name: str, found: Variable) -> list[Array]:
    """Return the matrices of a cell array."""
    if not isinstance(found, Cells) or max(found.shape) != len(found.entries):
        raise NetworkFileError(
            path, name, f"expected a cell array of matrices, a row or a column: {name}{{1}}, …"
        )
    cells = list[Array]()
    for number, cell in enumerate(found.entries, 1):
        if not isinstance(cell, np.ndarray) or math.prod(cell.shape[2:]) != 1:
            raise NetworkFileError(path, f"{name}{{{number}}}", "expected a matrix of real numbers")
        cell = cell.reshape(cell.shape[:2], order="F")
        if name == "b" and 1 not in cell.shape:
            raise NetworkFileError(
                path, f"b{{{number}}}", f"expected a column, got shape {cell.shape}"
            )
        cells.append(cell)
    return cells


def _activations(
    path: Path, variables: Mapping[str, Variable], depth: int
) -> tuple[list[bool], list[str]]:
    """Return for each layer whether a ReLU follows it, and caveats."""
    found = _about_activations(variables)
    if not found:
        assumption = (
            "the file names no activations (act_fcns): a ReLU between consecutive affine maps is "
            "assumed"
        )
        return [number < depth for number in range(1, depth + 1)], [assumption]
    caveats, relus = list[str](), dict[str, list[bool]]()
    for variable, value in found.items():
        names = _names(value)
        if len(names) != depth:
            _check_all_equal(path, variable, names, depth)
            caveats.append(
                f"{variable} has {len(names)} names of activations for {depth} layers, all "
                f"{names[0]!r}: every layer has this one"
            )
            names = names[:1] * depth
        relus[variable] = [_is_relu(path, number, name) for number, name in enumerate(names, 1)]
    first, *others = relus.values()
    if any(other != first for other in others):
        raise NetworkFileError(path, " and ".join(relus), "they name different activations")
    return first, caveats


def _about_activations(variables: Mapping[str, Variable]) -> dict[str, Variable]:
    """Return the variables that name activations; one of another name may hold their values."""
    return {
        name: value
        for name, value in variables.items()
        if name == "act_fcns" or (name not in _LAYERS and _names(value))
    }


def _names(value: Variable) -> list[str]:
    """Return the names of activations in rows of text or in a cell array of such."""
    texts = value.entries if isinstance(value, Cells) else [value]
    return [row.strip() for text in texts if isinstance(text, Text) for row in text.rows]


def _check_all_equal(path: Path, variable: str, names: list[str], depth: int) -> None:
    """Refuse more or fewer names of activations than layers, unless all names are one."""
    if len(names) < depth or len(set(names)) != 1:
        raise NetworkFileError(
            path, variable, f"{len(names)} names of activations for {depth} layers"
        )


def _is_relu(path: Path, number: int, name: str) -> bool:
    """Whether the activation of a layer is the ReLU; others than the identity are refused."""
    if name not in _RELU + _LINEAR:
        known = ", ".join(_RELU + _LINEAR)
        problem = f"the activation {name[:40]!r} is not supported; supported are {known}"
        raise NetworkFileError(path, f"layer {number}", problem)
    return name in _RELU
