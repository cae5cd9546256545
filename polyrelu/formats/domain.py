"""Domains as users write them: `R^n`, `box:-1,1`, `orthant`, `slice:FILE`, or a file.

`parse_domain` turns such a text into an exact `Polyhedron`, and `parse_slice` returns in addition
the coordinates of a slice. Texts and files come from users, so that every mistake must end in a
`DomainError` that names the part that is wrong; sizes are limited before anything is computed.

* `box:lo,hi` is the same interval for every coordinate, and `box:lo0,hi0;lo1,hi1;…` has an interval
  for each. Numbers are decimals or fractions, and exact: 0.1 is 1/10, and so is 1e-1.
* A JSON polyhedron is `{"A": …, "c": …, "E": …, "e": …}` for A x ≤ c, E x = e, or
  `{"vertices": …, "rays": …, "lines": …}` for the hull of points, rays and lines. Every part may be
  left out, except that a hull needs `vertices`.
* `slice:FILE` is the line, plane or larger affine space through the points p_0, p_1, … that a JSON
  file lists under `"points"`. On a slice the complex of a network with many inputs has few
  dimensions. A slice has the coordinates s, t, … of the points
  p_0 + s (p_1 - p_0) + t (p_2 - p_0) + …. It may be cut with `"range": [[lo, hi], …]`, an interval
  for each of these coordinates, or with `"A"` and `"c"` for A x ≤ c.
* A VNN-LIB file (`FILE.vnnlib`, `FILE.vnnlib.gz`) is the set of all inputs that satisfy its
  constraints on inputs alone, which must be one polyhedron. Constraints on outputs play no role.
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
from polyrelu.formats.vnnlib import read_vnnlib
from polyrelu.support.arguments import expect, expect_count
from polyrelu.support.display import bracketed
from polyrelu.support.limits import NUMBER

__all__ = ["Slice", "parse_domain", "parse_slice"]

#: Maximum size of a file, in bytes.
_SIZE_LIMIT = 100_000_000
#: Maximum number of entries of a table in a file.
_ENTRY_LIMIT = 10_000_000
#: The keys of H- and V-representations.
_H_KEYS, _V_KEYS = {"A", "c", "E", "e"}, {"vertices", "rays", "lines"}


def parse_domain(text: str, inputs: int) -> Polyhedron:
    """Return the domain that a text describes.

    Parameters
    ----------
    text
        `R^n`, `orthant`, `box:…`, `slice:FILE`, or the name of a JSON file of a polyhedron or of a
        VNN-LIB file; the text of the module `polyrelu.formats.domain` describes them.
    inputs
        The number of inputs of the network, which is the dimension of the space.

    Returns
    -------
    Polyhedron
        The domain in R^inputs, exactly.

    Raises
    ------
    DomainError
        The text or a file that it names is not understood; the message says which part.
    ArgumentError
        An argument has a wrong type.

    Examples
    --------
    >>> parse_domain("box:0,0.5", 2).inequalities
    ((-1, 0, 0), (2, 0, 1), (0, -1, 0), (0, 2, 1))
    """
    text, inputs = expect(text, str, "text"), expect_count(inputs, "inputs", 1)
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
    if text.endswith((".vnnlib", ".vnnlib.gz")):
        return _inputs_of_query(text, inputs)
    raise DomainError(
        f"domain {text[:60]!r} is not understood; use R^n, orthant, box:lo,hi, "
        "box:lo0,hi0;lo1,hi1;…, slice:FILE, a JSON polyhedron (FILE.json) or FILE.vnnlib"
    )


def _inputs_of_query(name: str, inputs: int) -> Polyhedron:
    """Return the polyhedron of the inputs of a VNN-LIB file."""
    query = read_vnnlib(name)
    declared = query.networks[0].num_inputs
    if declared != inputs:
        raise DomainError(f"{name}: it declares {declared} inputs, the network has {inputs}")
    return query.domain()


@dataclass(frozen=True, slots=True, repr=False)
class Slice:
    """A domain in an affine space with coordinates s, t, ….

    The coordinates stand for the points x = origin + s directions[0] + t directions[1] + ….

    Attributes
    ----------
    domain
        The slice as a polyhedron in R^{n_0}, cut by `"range"` or inequalities of its file.
    origin
        The point p_0.
    directions
        The linearly independent directions p_1 - p_0, p_2 - p_0, ….

    Examples
    --------
    >>> line = Slice(Polyhedron.universe(1), (Fraction(1),), ((Fraction(2),),))
    >>> line.origin[0] + 3 * line.directions[0][0]
    Fraction(7, 1)
    """

    domain: Polyhedron
    origin: tuple[Fraction, ...]
    directions: tuple[tuple[Fraction, ...], ...]

    def __repr__(self) -> str:
        return bracketed(f"Slice of dimension {len(self.directions)} in R^{len(self.origin)}")


def parse_slice(text: str, inputs: int) -> Slice:
    """Return the slice that a text `slice:FILE` names, with its coordinates.

    Parameters
    ----------
    text
        `slice:` and the name of a JSON file; the module text describes its contents.
    inputs
        The number of inputs of the network, which is the dimension of the space.

    Returns
    -------
    Slice
        The domain with the coordinates s, t, ….

    Raises
    ------
    DomainError
        The text or the file is not understood; the message says which part.
    ArgumentError
        An argument has a wrong type.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "line.json")
    ...     _ = path.write_text('{"points": [[0, 1], [2, 1]], "range": [[0, 1]]}')
    ...     found = parse_slice(f"slice:{path}", 2)
    >>> found.directions, found.domain.dimension
    (((Fraction(2, 1), Fraction(0, 1)),), 1)
    """
    text, inputs = expect(text, str, "text"), expect_count(inputs, "inputs", 1)
    name = text.removeprefix("slice:")
    if not name or name == text:
        raise DomainError("slice: needs the name of a JSON file with points, slice:FILE")
    document = _document(name)
    points = _table(name, document, "points", inputs)
    if not points or not set(document) <= {"points", "range", "A", "c"}:
        raise DomainError(
            f'{name}: a slice needs "points", at least one, and may have "range", '
            'or "A" and "c"; nothing else'
        )
    directions = [
        tuple(a - b for a, b in zip(point, points[0], strict=True)) for point in points[1:]
    ]
    _check_independent(name, directions, inputs)
    affine_space = Polyhedron.from_generators(points[:1], (), directions, inputs)
    given: dict[str, Any] = {key: document[key] for key in ("A", "c") if key in document}
    domain = affine_space.intersect(_of_constraints(name, given, inputs))
    if "range" in document:
        domain = domain.intersect(_of_ranges(name, document, points[0], directions))
    return Slice(domain, tuple(points[0]), tuple(directions))


def _check_independent(name: str, directions: Sequence[Sequence[Fraction]], inputs: int) -> None:
    """Raise an error for the first direction that depends on the directions before it."""
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


def _of_ranges(
    name: str,
    document: dict[str, Any],
    origin: Sequence[Fraction],
    directions: Sequence[Sequence[Fraction]],
) -> Polyhedron:
    """The polyhedron lo ≤ s, t, … ≤ hi, with one interval for each coordinate of a slice.

    The coordinates are linear functions of as many entries of x as there are directions.
    """
    bounds = _table(name, document, "range", 2)
    if len(bounds) != len(directions):
        raise DomainError(
            f'{name}: "range" has {len(bounds)} intervals, not one for each point after the first'
        )
    for low, high in bounds:
        if low > high:
            raise DomainError(f'{name}: an interval of "range" is empty, {low} > {high}')
    along = RationalMatrix.from_rows(directions, ncols=len(origin)).transpose()
    entries_read = list(column_basis(along.transpose()))
    identity = RationalMatrix.identity(len(entries_read))
    inverse = solve(along.take(rows=entries_read), identity)
    if inverse is None:
        raise AssertionError("the directions are independent")
    rows, sides = [], []
    for coefficients, (low, high) in zip(inverse.rows(), bounds, strict=True):
        row = [Fraction()] * len(origin)
        for column, entry in zip(entries_read, coefficients, strict=True):
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
            f"{text.strip()[:40]!r} is not a number; "
            "write decimals such as -0.25 or 1e-3, or fractions such as 1/3"
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
    if "points" in keys:
        raise DomainError(f"{name}: the points of a slice; write slice:{name}")
    raise DomainError(
        f'{name}: expected the keys "A", "c", "E", "e", or "vertices", "rays", "lines"; '
        f"got {sorted(keys)}"
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


def _table(name: str, document: dict[str, Any], key: str, width: int) -> list[list[Fraction]]:
    """The rows under a key, with `width` numbers each; none if the key is missing."""
    rows = document.get(key, [])
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise DomainError(f'{name}: "{key}" must be a list of lists of numbers')
    if sum(map(len, rows)) > _ENTRY_LIMIT:
        raise DomainError(f'{name}: "{key}" has more than {_ENTRY_LIMIT} entries')
    for number, row in enumerate(rows):
        if len(row) != width:
            wanted = "an interval has 2" if key == "range" else f"the network {width} inputs"
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
            f'{name}: an entry of "{key}" is not a number: '
            'use integers, decimals, or text like "1/3"'
        )
    return Fraction(text)


class _Literal:
    """A number as the text that stands in the JSON file.

    Python would read long integers in quadratic time; `NUMBER` limits their length first.
    """

    def __init__(self, text: str) -> None:
        self.text = text


def _document(name: str) -> dict[str, Any]:
    """The object in a JSON file, numbers as `_Literal`."""
    text = _content(Path(name))
    try:
        document = json.loads(
            text, parse_float=_Literal, parse_int=_Literal, object_pairs_hook=_with_unique_keys
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


def _with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key occurs twice")
    return document
