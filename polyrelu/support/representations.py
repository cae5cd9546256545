"""How objects show themselves: one line in a terminal, a table in a notebook.

Texts of objects contain names from files. They are shown without control characters, and in HTML
they are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

__all__ = ["bracketed", "html_table"]

#: Maximum number of characters of the line that stands for an object.
_WIDTH = 100


def bracketed(text: str) -> str:
    """Return the text of `__repr__`: one line of at most 100 printable characters in <…>.

    Examples
    --------
    >>> bracketed("Attempt, shallow: two\\nlines")
    '<Attempt, shallow: two lines>'
    """
    line = "".join(c if c.isprintable() else "?" for c in " ".join(text[:4000].split()))
    return f"<{line}>" if len(line) <= _WIDTH - 2 else f"<{line[: _WIDTH - 3].rstrip()}…>"


def html_table(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table with a heading and a text in each row, both escaped.

    Examples
    --------
    >>> html_table([("source", "<b>.npz")])
    '<table><tr><th>source</th><td>&lt;b&gt;.npz</td></tr></table>'
    """
    cells = (f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows)
    return f"<table>{''.join(cells)}</table>"
