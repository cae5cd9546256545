"""Documents as Markdown; every text is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from polyrelu.support.document import (
    Attachment,
    Block,
    Document,
    Image,
    Listing,
    Paragraph,
    Table,
)

__all__ = ["document_markdown", "escaped_markdown"]


def escaped_markdown(text: str) -> str:
    """Return a text in one line that Markdown shows as it is.

    Examples
    --------
    >>> print(escaped_markdown("net_1 <b>"))
    net\\_1 \\<b\\>
    """
    line = "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
    return re.sub(r"([\\`*_{}\[\]<>#|~!&])", r"\\\1", line)


def document_markdown(document: Document) -> str:
    """Return a document as Markdown; pictures and files are named, and stand beside it.

    Examples
    --------
    >>> from polyrelu.support.document import Section
    >>> print(document_markdown(Document("net_1", (Section("Sizes", (Paragraph("3"),)),))))
    # net\\_1
    <BLANKLINE>
    ## Sizes
    <BLANKLINE>
    3
    """
    parts = [f"# {escaped_markdown(document.title)}"]
    for section in document.sections:
        parts.append(f"## {escaped_markdown(section.title)}")
        parts += ["\n".join(_lines(block)) for block in section.blocks]
    return "\n\n".join(parts)


def _lines(block: Block) -> Iterator[str]:
    """Yield the lines of a block."""
    match block:
        case Paragraph(text, verdict):
            word = f"**{escaped_markdown(verdict)}**. " if verdict else ""
            yield f"{word}{escaped_markdown(text)}"
        case Listing(text):
            yield from (f"    {line}" for line in _printable_lines(text))
        case Table(titles, rows):
            yield from _table(titles, rows)
        case Image(name, _, caption):
            yield f"![{escaped_markdown(caption)}](<{_in_brackets(name)}.png>)"
        case Attachment(name, _, about):
            yield f"[{escaped_markdown(name)}](<{_in_brackets(name)}>): {escaped_markdown(about)}"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    width = len(titles) or max(map(len, rows), default=1)
    head = [*titles] or [""] * width
    for cells in (head, ["---"] * width, *rows):
        texts = cells if cells[0] == "---" else map(escaped_markdown, cells)
        yield f"| {' | '.join(texts)} |"


def _printable_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield "".join(c if c.isprintable() else "?" for c in line)


def _in_brackets(name: str) -> str:
    """Return a name for a link between < and >."""
    return re.sub(r"([<>\\])", r"\\\1", "".join(_printable_lines(name)))
