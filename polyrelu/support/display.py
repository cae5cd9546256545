"""How objects show themselves: texts of one line, and pictures in notebooks.

A notebook asks an object for `_repr_svg_`. The room `plot` draws, and stands above the rooms whose
objects are drawn; so `svg_of` asks for it by name when a picture is wanted, and this is the only
place of the package where a lower room reaches a higher one. `polyrelu/__init__.py` stands above
all rooms and could hand the function down, but would have to import this module for it, and
whoever imports the checker shall load nothing else of the package.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from polyrelu.errors import PolyreluError
from polyrelu.support.html import fragment, named_rows, table

__all__ = [
    "bracketed",
    "count_text",
    "escaped_latex",
    "html_columns",
    "html_table",
    "shortened",
    "svg_of",
    "widths_text",
]

#: Maximum number of characters of the line that stands for an object.
_WIDTH = 100

#: What stands in LaTeX for the characters that mean something there, or that its fonts lack.
_LATEX = {c: rf"\{c}" for c in "_&%#${}"} | {
    "\\": r"\textbackslash{}",
    "^": r"\^{}",
    "~": r"\~{}",
    "<": "$<$",
    ">": "$>$",
    "≤": r"$\le$",
    "≥": r"$\geq$",
    "∞": r"$\infty$",
    "…": r"\dots{}",
    "·": r"$\cdot$",
    "\n": " ",
}


def svg_of(thing: object) -> str | None:
    """Return the picture of an object as SVG; None if there is none.

    There is no picture without matplotlib, of more than three dimensions, and of objects with more
    cells than a picture shows.
    """
    try:
        text: str = import_module("polyrelu.plot.display").svg_of(thing)
    except PolyreluError:
        return None
    return text


def widths_text(widths: Iterable[int]) -> str:
    """Return the widths of a network, or of some of its layers, as all texts show them.

    >>> widths_text((2, 3, 1))
    '2-3-1'
    """
    return "-".join(map(str, widths))


def shortened(text: str, length: int = 40) -> str:
    """Return a text whose middle is left out if it is longer than a part of a line.

    Examples
    --------
    >>> shortened("+-" * 30, 9)
    '+-+-…+-+-'
    """
    if len(text) <= length:
        return text
    half = (length - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def count_text(counts: Iterable[tuple[int, str]]) -> str:
    """Return numbers with their nouns.

    Examples
    --------
    >>> count_text([(1, "region"), (2, "edge"), (0, "vertex"), (3, "leaf")])
    '1 region, 2 edges, 0 vertices, 3 leaves'
    """
    texts = []
    for count, noun in counts:
        several = noun[:-2] + "ices" if noun.endswith("ex") else f"{noun}s"
        several = noun[:-1] + "ies" if noun.endswith("ity") else several
        several = f"{noun}es" if noun.endswith("ox") else several
        several = noun[:-1] + "ves" if noun.endswith("leaf") else several
        texts.append(f"{count} {noun if count == 1 else several}")
    return ", ".join(texts)


def bracketed(text: str) -> str:
    """Return the text of `__repr__`: one line of at most 100 printable characters in <…>.

    Examples
    --------
    >>> bracketed("Attempt, shallow: two\\nlines")
    '<Attempt, shallow: two lines>'
    """
    line = "".join(c if c.isprintable() else "?" for c in " ".join(text[:4000].split()))
    return f"<{line}>" if len(line) <= _WIDTH - 2 else f"<{line[: _WIDTH - 3].rstrip()}…>"


def escaped_latex(text: str) -> str:
    """Return the LaTeX source of a text, in one line.

    Examples
    --------
    >>> print(escaped_latex("50 % of \\\\input{net_1}"))
    50 \\% of \\textbackslash{}input\\{net\\_1\\}
    """
    return "".join(_LATEX.get(character, character) for character in text)


def html_table(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table with a heading and a text in each row, both escaped.

    Examples
    --------
    >>> html_table([("source", "<b>.npz")])
    '<table><tr><th>source</th><td>&lt;b&gt;.npz</td></tr></table>'
    """
    return fragment(named_rows(rows))


def html_columns(titles: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table with a title above each column; titles and cells are escaped.

    Examples
    --------
    >>> html_columns(["region"], [["<b>"]])
    '<table><tr><th>region</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    return fragment(table(titles, [[str(cell) for cell in row] for row in rows]))
