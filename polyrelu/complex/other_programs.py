"""A complex as a file for polymake (`.polymake`) or Sage (`.sage`), where people go on with it.

Numbers are exact in both. Maximal cells are given by their vertices and rays, and the lines that
all cells contain apart from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from polyrelu.complex.cell import Cell
from polyrelu.complex.polyhedral_complex import PolyhedralComplex
from polyrelu.exact import format_rational
from polyrelu.support.progress import Progress, reported
from polyrelu.version import __version__

__all__ = ["PROGRAM_FORMATS", "program_text"]

#: Suffixes of the files for other programs.
PROGRAM_FORMATS = (".polymake", ".sage")


def program_text(cells: PolyhedralComplex, suffix: str, progress: Progress | None = None) -> str:
    """Return the text of a file for polymake or Sage.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> cells = canonical_complex([([[2]], [-1]), ([["1/3"]], [0])])
    >>> print(program_text(cells, ".polymake"))  # doctest: +ELLIPSIS
    # canonical complex of a ReLU network, polyrelu ...; polymake --script FILE
    use application "fan";
    my $vertices = new Matrix<Rational>(<<".");
    1 1/2
    0 1
    0 -1
    .
    my $cells = new IncidenceMatrix(<<".");
    {0 1}
    {0 2}
    .
    my $lines = new Matrix<Rational>(0, 2);
    our $complex = new PolyhedralComplex<Rational>(
      VERTICES=>$vertices, MAXIMAL_POLYTOPES=>$cells, LINEALITY_SPACE=>$lines);
    """
    lines = _polymake(cells, progress) if suffix == ".polymake" else _sage(cells, progress)
    return "\n".join(lines)


def _members(cells: PolyhedralComplex, progress: Progress | None) -> Iterator[list[int]]:
    """Yield the numbers of the generators of each region."""
    regions = range(cells.num_regions)
    for index in reported(regions, progress, "preparing the file", "regions"):
        yield cells.generators.numbers_of(Cell(cells.dimension, index))


def _rows(cells: PolyhedralComplex) -> Iterator[tuple[int, list[Fraction]]]:
    """Yield each generator: 1 and a point, or 0 and a direction."""
    for number in range(len(cells.generators)):
        row = cells.generators.exact(number)
        if row[-1]:
            yield 1, list(cells.frame.embedded(row))
        else:
            yield 0, [Fraction(entry) for entry in cells.frame.direction(row)]


def _text(entries: Sequence[Fraction], separator: str = " ") -> str:
    return separator.join(map(format_rational, entries))


def _polymake(cells: PolyhedralComplex, progress: Progress | None) -> Iterator[str]:
    """Yield the lines of a script of polymake that makes the complex."""
    yield f"# canonical complex of a ReLU network, polyrelu {__version__}; polymake --script FILE"
    yield 'use application "fan";'
    yield 'my $vertices = new Matrix<Rational>(<<".");'
    for kind, entries in _rows(cells):
        yield f"{kind} {_text(entries)}"
    yield "."
    yield 'my $cells = new IncidenceMatrix(<<".");'
    for members in _members(cells, progress):
        yield "{" + " ".join(map(str, sorted(members))) + "}"
    yield "."
    size = cells.network.num_inputs + 1
    if cells.lineality_dim:
        yield 'my $lines = new Matrix<Rational>(<<".");'
        yield from (f"0 {' '.join(map(str, line))}" for line in cells.lineality)
        yield "."
    else:
        yield f"my $lines = new Matrix<Rational>(0, {size});"
    yield "our $complex = new PolyhedralComplex<Rational>("
    yield "  VERTICES=>$vertices, MAXIMAL_POLYTOPES=>$cells, LINEALITY_SPACE=>$lines);"


def _sage(cells: PolyhedralComplex, progress: Progress | None) -> Iterator[str]:
    """Yield the lines of a program of Sage that makes the complex."""
    yield f"# canonical complex of a ReLU network, polyrelu {__version__}; load('this file')"
    yield "points = {"
    rays: dict[int, str] = {}
    for number, (kind, entries) in enumerate(_rows(cells)):
        text = ", ".join(f"QQ('{format_rational(entry)}')" for entry in entries)
        if kind:
            yield f"    {number}: [{text}],"
        else:
            rays[number] = text
    yield "}"
    yield "rays = {"
    yield from (f"    {number}: [{text}]," for number, text in rays.items())
    yield "}"
    yield f"lines = {[list(map(int, line)) for line in cells.lineality]}"
    yield "members = ["
    for members in _members(cells, progress):
        yield f"    {sorted(map(int, members))},"
    yield "]"
    yield "cells = ["
    yield "    Polyhedron("
    yield "        vertices=[points[k] for k in region if k in points],"
    yield "        rays=[rays[k] for k in region if k in rays],"
    yield "        lines=lines,"
    yield "        base_ring=QQ,"
    yield "    )"
    yield "    for region in members"
    yield "]"
    yield "complex = PolyhedralComplex(cells, maximality_check=False, face_to_face_check=False)"
