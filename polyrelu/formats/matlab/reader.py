"""Networks in ``.mat`` files with the cell arrays W and b, as NNV stores them.

Here is the translation of the variables of a MAT file into a `Draft` of a plain stack. W{i} has the
shape (out, in) and b{i} is a column or a row. The variable ``act_fcns`` contains the name of the
activation of each layer, as rows of text or as a cell array; without it, the assumption of ReLUs
must be stated.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.dense_stack import Affine, draft_of_stack
from polyrelu.formats.imported import Draft
from polyrelu.formats.matlab.files import Cells, Text, Variable, read_mat5
from polyrelu.formats.options import ReadOptions
from polyrelu.support.typing import Array

__all__ = ["read_mat"]


#: The names of the ReLU and of the identity.
_RELU, _LINEAR = ("relu", "poslin"), ("linear", "purelin")

#: The variables that are read.
_USED = ("W", "b", "act_fcns")


def read_mat(path: Path, options: ReadOptions) -> Draft:
    """Read the layers of a .mat file."""
    names, variables = read_mat5(path, _USED)
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
    relus, caveats = _activations(path, variables.get("act_fcns"), len(weights))
    unused = [name for name in names if name not in _USED]
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
        if not isinstance(cell, np.ndarray) or cell.ndim != 2:
            raise NetworkFileError(
                path, f"{name}{{{number}}}", "expected a full matrix of real numbers"
            )
        if name == "b" and 1 not in cell.shape:
            raise NetworkFileError(
                path, f"b{{{number}}}", f"expected a column, got shape {cell.shape}"
            )
        cells.append(cell)
    return cells


def _activations(path: Path, found: Variable, depth: int) -> tuple[list[bool], list[str]]:
    """Return for each layer whether a ReLU follows it, and caveats."""
    if found is None:
        assumption = (
            "the file names no activations (act_fcns): a ReLU between consecutive affine maps is "
            "assumed"
        )
        return [number < depth for number in range(1, depth + 1)], [assumption]
    texts = found.entries if isinstance(found, Cells) else [found]
    names = [row.strip() for text in texts if isinstance(text, Text) for row in text.rows]
    if len(names) != depth:
        raise NetworkFileError(
            path, "act_fcns", f"{len(names)} names of activations for {depth} layers"
        )
    for number, name in enumerate(names, 1):
        if name not in _RELU + _LINEAR:
            known = ", ".join(_RELU + _LINEAR)
            problem = f"the activation {name[:40]!r} is not supported; supported are {known}"
            raise NetworkFileError(path, f"layer {number}", problem)
    return [name in _RELU for name in names], []
