"""CSV tables of claims: the header says what the rows are, comments before it are settings.

A number that is written as an integer or a decimal is the nearest float64, as where Python writes
floats; a fraction p/q is exact.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby, pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import DomainError
from polyrelu.formats.claims.claims_file import SETTINGS
from polyrelu.support.limits import NUMBER

__all__ = ["read_csv"]

#: Maximum number of columns of a table.
_MAX_COLUMNS = 100_000
#: Words for numbers that are not finite.
_SPECIAL = {"nan", "inf", "-inf", "+inf", "infinity", "-infinity"}
_COLUMN = re.compile(r"([a-z]+)((?:_[0-9]{1,9}){0,2})", re.ASCII)

Table = NDArray[Any]


def read_csv(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the claims and the settings of a CSV text.

    >>> read_csv("count,value\\nregions,7\\n")
    ({'counts': {'regions': 7}}, {})
    """
    lines = text.splitlines()
    start = next((k for k, line in enumerate(lines) if not line.startswith("#")), len(lines))
    settings = _settings(lines[:start])
    if start == len(lines):
        raise DomainError("it has no header line")
    header = [name.strip() for name in next(csv.reader(lines[start : start + 1]))]
    if len(header) > _MAX_COLUMNS:
        raise DomainError(f"line {start + 1}: more than {_MAX_COLUMNS} columns")
    rows = csv.reader(lines[start + 1 :])
    if header == ["count", "value"]:
        return {"counts": _counts(rows, start + 2)}, settings
    kind = _kind(header, start + 1)
    return _claims(kind, _table(rows, len(header), start + 2), header), settings


def _settings(lines: Iterable[str]) -> dict[str, Any]:
    """Return the settings in comments such as ``# domain: box:-1,1``."""
    found: dict[str, Any] = {}
    for number, line in enumerate(lines, 1):
        name, colon, value = line[1:].partition(":")
        name = name.strip()
        if name in SETTINGS and colon:
            if name in found:
                raise DomainError(f"line {number}: {name} is given twice")
            text = value.strip()
            if name == "complete" and text not in ("true", "false"):
                raise DomainError(f"line {number}: complete: expected true or false")
            found[name] = text == "true" if name == "complete" else text
    return found


#: The letters of the columns of a header, in order, and the claim that such a table makes.
_KINDS = {
    ("s",): "signs",
    ("on",): "activations",
    ("x",): "interior_points",
    ("x", "m"): "maps",
    ("x", "m", "b"): "maps",
    ("region", "a", "c"): "half_spaces",
    ("region", "v"): "vertex_lists",
    ("v",): "vertices",
    ("x", "y"): "outputs",
    ("x", "g"): "gradients",
    ("x", "radius"): "radii",
    ("output", "lower", "upper"): "bounds",
    ("dimension", "birth", "death"): "persistence",
}


def _kind(header: Sequence[str], line: int) -> str:
    """Return what a table claims, by the letters of its columns."""
    names = [_COLUMN.fullmatch(name) for name in header]
    letters = tuple(key for key, _ in groupby(m.group(1) if m else "" for m in names))
    if letters not in _KINDS:
        known = "; ".join(map(_header_text, [("count", "value"), *_KINDS]))
        raise DomainError(f"line {line}: a header of columns that is not known; known are {known}")
    _check_order([(m.group(1), m.group(2)) for m in names if m], line)
    return _KINDS[letters]


def _check_order(columns: Sequence[tuple[str, str]], line: int) -> None:
    """Refuse columns that are out of order or leave gaps, since tables are read by place."""
    for letter, group in groupby(columns, key=lambda column: column[0]):
        numbers = [tuple(map(int, end.split("_")[1:])) for _, end in group]
        if not any(numbers):
            continue
        axes = [sorted(set(axis)) for axis in zip(*numbers, strict=False)]
        is_dense = all(axis[-1] - axis[0] == len(axis) - 1 for axis in axes)
        # The neurons of several layers, numbered by layer and place, are no full rectangle.
        is_full = len(axes) < 2 or letter in ("s", "on") or numbers == list(product(*axes))
        ascends = all(one < two for one, two in pairwise(numbers))
        if len(set(map(len, numbers))) > 1 or not (is_dense and is_full and ascends):
            raise DomainError(
                f"line {line}: the columns {letter}_* must stand in the order of their numbers, "
                "without gaps"
            )


def _header_text(kind: Sequence[str]) -> str:
    """Return the beginning of a header as an example.

    >>> _header_text(("x", "m"))
    'x_0,…,m_0_0,…'
    """
    numbered = {**dict.fromkeys(("s", "on", "x", "v", "a", "y", "b"), "_0,…"), "m": "_0_0,…"}
    numbered["g"] = "_0_0,…"
    return ",".join(letter + numbered.get(letter, "") for letter in kind)


def _counts(rows: Iterable[list[str]], line: int) -> dict[str, int]:
    """Return names with numbers."""
    found: dict[str, int] = {}
    for number, row in enumerate(rows, line):
        if not row:
            continue
        if len(row) != 2 or not re.fullmatch("[0-9]{1,18}", row[1].strip(), re.ASCII):
            raise DomainError(f"line {number}: expected a name and an integer")
        name = row[0].strip()
        if name in found:
            raise DomainError(f"line {number}: {name[:40]!r} is given twice")
        found[name] = int(row[1])
    return found


def _table(rows: Iterable[list[str]], width: int, line: int) -> Table:
    """Return the numbers of all rows."""
    values: list[list[Any]] = []
    for number, row in enumerate(rows, line):
        if not row:
            continue
        if len(row) != width:
            raise DomainError(f"line {number}: {len(row)} entries under {width} columns")
        try:
            values.append([_number(cell.strip()) for cell in row])
        except ValueError as error:
            raise DomainError(f"line {number}: {error}") from None
    if any(type(cell) is Fraction for row in values for cell in row):
        table = np.empty((len(values), width), dtype=object)
        for k, row in enumerate(values):
            table[k] = row
        return table
    return np.array(values, dtype=np.float64).reshape(len(values), width)


def _number(text: str) -> float | Fraction:
    """Return a fraction exactly, and any other number as the nearest float."""
    if text.lower() in _SPECIAL:
        return float(text)
    if not NUMBER.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is not a number")
    return Fraction(text) if "/" in text else float(text)


def _claims(kind: str, table: Table, header: Sequence[str]) -> dict[str, Any]:
    """Return the claims of a table."""
    letters = [name.partition("_")[0] for name in header]
    parts = {key: table[:, [k for k, x in enumerate(letters) if x == key]] for key in set(letters)}
    if kind in ("signs", "activations", "interior_points", "vertices"):
        return {kind: table}
    if kind == "half_spaces":
        rows = np.concatenate([parts["a"], parts["c"]], axis=1)
        return {kind: {"rows": rows, "regions": parts["region"][:, 0]}}
    if kind == "vertex_lists":
        return {kind: {"rows": parts["v"], "regions": parts["region"][:, 0]}}
    if kind == "outputs":
        return {"output_points": parts["x"], "output_values": parts["y"]}
    if kind == "radii":
        return {"radius_points": parts["x"], "radii": parts["radius"][:, 0]}
    if kind == "bounds":
        return _bounds(parts)
    if kind == "persistence":
        return {kind: {"intervals": table.tolist()}}
    return _maps(kind, parts)


def _bounds(parts: dict[str, Table]) -> dict[str, Any]:
    """Return the bounds of a table whose first column numbers the outputs."""
    order = [float(x) for x in parts["output"][:, 0].tolist()]
    if order != list(range(len(order))):
        raise DomainError("the column output must be 0, 1, 2, …")
    return {"lower": parts["lower"][:, 0], "upper": parts["upper"][:, 0]}


def _maps(kind: str, parts: dict[str, Table]) -> dict[str, Any]:
    """Return points with affine maps or gradients, whose columns are m_i_j, output i by input j."""
    points = parts["x"]
    entries = parts["m" if kind == "maps" else "g"]
    size = points.shape[1]
    if entries.shape[1] % size:
        raise DomainError(f"{entries.shape[1]} entries of a matrix do not fit {size} inputs")
    matrices = entries.reshape(len(points), -1, size)
    if kind == "gradients":
        return {"output_points": points, "gradients": matrices}
    found = {"interior_points": points, "matrices": matrices}
    return found | ({"offsets": parts["b"]} if "b" in parts else {})
