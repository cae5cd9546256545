"""Domains as users write them: ``R^n``, ``box:-1,1``, ``orthant``, ``slice:FILE``, or the name of a JSON file.

* ``box:lo,hi`` is the same interval for every coordinate, ``box:lo0,hi0;lo1,hi1;…`` one for each. Numbers are decimals
  or fractions, and exact: 0.1 is 1/10, and so is 1e-1.
* A JSON polyhedron is ``{"A": …, "c": …, "E": …, "e": …}`` for A x ≤ c, E x = e, or ``{"vertices": …, "rays": …,
  "lines": …}`` for the hull of points, rays and lines. Every part may be left out.
* ``slice:FILE`` is the line, plane or larger affine space through the ``{"points": …}`` p_0, p_1, … of a JSON file. On
  it the complex of a network with many inputs has few dimensions. It has the coordinates s, t, …, for
  p_0 + s (p_1 - p_0) + t (p_2 - p_0) + …, and may be cut with ``"range": [[lo, hi], …]``, an interval for each of them,
  or with ``"A"`` and ``"c"`` for A x ≤ c.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, RationalMatrix, column_basis, solve
from polyrelu.support.limits import NUMBER

__all__ = ["Slice", "parse_domain", "parse_slice"]

_SIZE_LIMIT = 100_000_000  # bytes of a file
_ENTRY_LIMIT = 10_000_000
_H_KEYS, _V_KEYS = {"A", "c", "E", "e"}, {"vertices", "rays", "lines"}


def parse_domain(text: str, inputs: int) -> Polyhedron:
    """The domain in R^inputs that a text describes.

    Raises
    ------
    DomainError : the text is not understood, or a file it names; the message says which part.

    >>> parse_domain("box:0,0.5", 2).inequalities
    ((-1, 0, 0), (2, 0, 1), (0, -1, 0), (0, 2, 1))
    """
    if text == "R^n":
        return Polyhedron.universe(inputs)
    if text == "orthant":
        return Polyhedron.orthant(inputs)
    if text.startswith("box:"):
        return _box(text[len("box:") :], inputs)
    if text.startswith("slice:"):
        return parse_slice(text, inputs).domain
    if Path(text).suffix == ".json":
        return _polyhedron(text, inputs)
    raise DomainError(
        f"domain {text[:60]!r} is not understood; use R^n, orthant, box:lo,hi, box:lo0,hi0;lo1,hi1;…, slice:FILE or a "
        "JSON polyhedron (FILE.json)"
    )


@dataclass(frozen=True, slots=True)
class Slice:
    """A domain in an affine space with coordinates s, t, …, for x = origin + s directions[0] + t directions[1] + ….

    Attributes
    ----------
    domain : in R^{n_0}.
    origin, directions : p_0, and p_i - p_0, independent.
    """

    domain: Polyhedron
    origin: tuple[Fraction, ...]
    directions: tuple[tuple[Fraction, ...], ...]


def parse_slice(text: str, inputs: int) -> Slice:
    """The domain ``slice:FILE`` in R^inputs, with its coordinates.

    Raises
    ------
    DomainError : it is none; the message says why.
    """
    name = text.removeprefix("slice:")
    if not name or name == text:
        raise DomainError("slice: needs the name of a JSON file with points, slice:FILE")
    document = _document(name)
    points = _table(name, document, "points", inputs)
    if not points or not set(document) <= {"points", "range", "A", "c"}:
        raise DomainError(
            f'{name}: a slice needs "points", at least one, and may have "range", or "A" and "c"; nothing else'
        )
    directions = [
        tuple(a - b for a, b in zip(point, points[0], strict=True)) for point in points[1:]
    ]
    _check_independent(name, directions, inputs)
    whole = Polyhedron.from_generators(points[:1], (), directions, inputs)
    part: dict[str, Any] = {key: document[key] for key in ("A", "c") if key in document}
    domain = whole.intersect(_of_constraints(name, part, inputs))
    if "range" in document:
        domain = domain.intersect(_in_range(name, document, points[0], directions))
    return Slice(domain, tuple(points[0]), tuple(directions))


def _check_independent(name: str, directions: Sequence[Sequence[Fraction]], inputs: int) -> None:
    rows = RationalMatrix.from_rows(directions, ncols=inputs)
    kept = column_basis(rows.transpose())
    if len(kept) < len(directions):
        index = next(i for i in range(len(directions)) if i not in kept) + 1
        what = (
            "is equal to the first one"
            if not any(directions[index - 1])
            else "lies in the space through those before"
        )
        raise DomainError(
            f"{name}: point {index} (from 0) {what}; leave it out, or give another one"
        )


def _in_range(
    name: str,
    document: dict[str, Any],
    origin: Sequence[Fraction],
    directions: Sequence[Sequence[Fraction]],
) -> Polyhedron:
    """lo ≤ s, t, … ≤ hi: the coordinates are read off from as many entries of x as there are."""
    bounds = _table(name, document, "range", 2)
    if len(bounds) != len(directions):
        raise DomainError(
            f'{name}: "range" has {len(bounds)} intervals, not one for each point after the first'
        )
    for low, high in bounds:
        if low > high:
            raise DomainError(f'{name}: an interval of "range" is empty, {low} > {high}')
    along = RationalMatrix.from_rows(directions, ncols=len(origin)).transpose()
    read = list(column_basis(along.transpose()))
    inverse = solve(along.take(rows=read), RationalMatrix.identity(len(read)))
    if inverse is None:
        raise AssertionError("the directions are independent")
    rows, sides = [], []
    for coefficients, (low, high) in zip(inverse.rows(), bounds, strict=True):
        row = [Fraction()] * len(origin)
        for column, entry in zip(read, coefficients, strict=True):
            row[column] = entry
        start = sum((a * b for a, b in zip(row, origin, strict=True)), Fraction())
        rows += [row, [-entry for entry in row]]
        sides += [high + start, -low - start]
    return Polyhedron.from_constraints(rows, sides, ambient_dimension=len(origin))


def _box(text: str, inputs: int) -> Polyhedron:
    sides = [side.split(",") for side in text.split(";")]
    if any(len(side) != 2 for side in sides):
        raise DomainError(
            f"box:{text[:60]}: every side is two numbers lo,hi, sides are separated by ';'"
        )
    if len(sides) == 1:
        sides = sides * inputs
    if len(sides) != inputs:
        raise DomainError(
            f"box:{text[:60]}: {len(sides)} sides, but the network has {inputs} inputs"
        )
    bounds = [(_number(low), _number(high)) for low, high in sides]
    for j, (low, high) in enumerate(bounds):
        if low > high:
            raise DomainError(f"box: side {j} is empty, {low} > {high}")
    return Polyhedron.box([low for low, _ in bounds], [high for _, high in bounds])


def _number(text: str) -> Fraction:
    if not NUMBER.fullmatch(text.strip()):
        raise DomainError(
            f"{text.strip()[:40]!r} is not a number; write decimals such as -0.25 or 1e-3, or fractions such as 1/3"
        )
    return Fraction(text.strip())


def _polyhedron(name: str, inputs: int) -> Polyhedron:
    document = _document(name)
    keys = set(document)
    if keys and keys <= _H_KEYS:
        return _of_constraints(name, document, inputs)
    if keys and keys <= _V_KEYS and "vertices" in keys:
        vertices, rays, lines = (
            _table(name, document, key, inputs) for key in ("vertices", "rays", "lines")
        )
        return Polyhedron.from_generators(vertices, rays, lines, inputs)
    raise DomainError(
        f'{name}: expected the keys "A", "c", "E", "e", or "vertices", "rays", "lines"; got {sorted(keys)}'
    )


def _of_constraints(name: str, document: dict[str, Any], inputs: int) -> Polyhedron:
    matrices = [_table(name, document, key, inputs) for key in ("A", "E")]
    sides = [_vector(name, document, key) for key in ("c", "e")]
    for (key, side_key), matrix, side in zip(
        (("A", "c"), ("E", "e")), matrices, sides, strict=True
    ):
        if len(matrix) != len(side):
            raise DomainError(
                f'{name}: "{key}" has {len(matrix)} rows, "{side_key}" {len(side)} entries'
            )
    return Polyhedron.from_constraints(matrices[0], sides[0], matrices[1], sides[1], inputs)


def _table(name: str, document: dict[str, Any], key: str, inputs: int) -> list[list[Fraction]]:
    rows = document.get(key, [])
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise DomainError(f'{name}: "{key}" must be a list of lists of numbers')
    if sum(map(len, rows)) > _ENTRY_LIMIT:
        raise DomainError(f'{name}: "{key}" has more than {_ENTRY_LIMIT} entries')
    for number, row in enumerate(rows):
        if len(row) != inputs:
            wanted = "an interval has 2" if key == "range" else f"the network {inputs} inputs"
            raise DomainError(f'{name}: row {number} of "{key}" has {len(row)} entries, {wanted}')
    return [[_entry(name, key, entry) for entry in row] for row in rows]


def _vector(name: str, document: dict[str, Any], key: str) -> list[Fraction]:
    entries = document.get(key, [])
    if not isinstance(entries, list):
        raise DomainError(f'{name}: "{key}" must be a list of numbers')
    return [_entry(name, key, entry) for entry in entries]


def _entry(name: str, key: str, entry: object) -> Fraction:
    text = entry.text if isinstance(entry, _Literal) else entry if isinstance(entry, str) else ""
    if not NUMBER.fullmatch(text):
        raise DomainError(
            f'{name}: an entry of "{key}" is not a number: use integers, decimals, or text like "1/3"'
        )
    return Fraction(text)


class _Literal:
    """A number of a JSON file, as it is written there: Python reads long integers in quadratic time."""

    def __init__(self, text: str) -> None:
        self.text = text


def _document(name: str) -> dict[str, Any]:
    text = _content(Path(name))
    try:
        document = json.loads(
            text, parse_float=_Literal, parse_int=_Literal, object_pairs_hook=_unique
        )
    except (ValueError, RecursionError) as error:
        raise DomainError(f"{name}: not a JSON file of a domain: {str(error)[:80]}") from None
    if not isinstance(document, dict):
        raise DomainError(f"{name}: expected an object with the keys of a domain")
    return document


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size <= _SIZE_LIMIT:
            return path.read_bytes()
    except OSError as error:
        raise DomainError(f"{path}: cannot read: {error.strerror or error}") from None
    except ValueError as error:  # such as a null byte in the name
        raise DomainError(f"{path}: cannot read: {error}") from None
    raise DomainError(f"{path}: more than {_SIZE_LIMIT} bytes")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found
