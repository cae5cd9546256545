"""How objects show themselves: a line in a terminal, a small table in a notebook.

The fields of most objects here are long, so that their generated texts would fill pages; an object
shows the counts and the few facts that identify it.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

__all__ = ["html_table", "summary"]

#: Maximum number of characters of the facts in a summary.
_MAX_FACTS = 120


def summary(thing: object, facts: str) -> str:
    """Return the representation of an object: its type and some facts, in one line.

    Examples
    --------
    >>> summary(3, "odd")
    '<int, odd>'
    """
    line = " ".join(facts.split())
    if len(line) > _MAX_FACTS:
        line = f"{line[: _MAX_FACTS - 1]}…"
    return f"<{type(thing).__name__}, {line}>" if line else f"<{type(thing).__name__}>"


def html_table(titles: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as HTML; whatever stands in a cell is text.

    Examples
    --------
    >>> html_table(["a"], [["<b>"]])
    '<table><tr><th>a</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    head = "".join(f"<th>{escape(str(title))}</th>" for title in titles)
    lines = ["".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows]
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
