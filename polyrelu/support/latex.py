"""Documents as LaTeX; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polyrelu.support.display import escaped_latex
from polyrelu.support.document import (
    Attachment,
    Block,
    Document,
    Image,
    Listing,
    Paragraph,
    Table,
)

__all__ = ["document_latex"]

#: What stands before a document that LaTeX compiles as it is.
_PREAMBLE = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[a4paper,margin=25mm]{geometry}
\usepackage{graphicx,array,longtable}
\sloppy
\begin{document}"""


def document_latex(document: Document) -> str:
    r"""Return a document that LaTeX compiles; pictures stand beside it, as PDF.

    Examples
    --------
    >>> from polyrelu.support.document import Section
    >>> text = document_latex(Document("net_1", (Section("Sizes", (Paragraph("3 < 4"),)),)))
    >>> print(text.splitlines()[-3])
    3 $<$ 4
    """
    parts = [_PREAMBLE, rf"\section*{{{_text(document.title)}}}"]
    for section in document.sections:
        parts.append(rf"\subsection*{{{_text(section.title)}}}")
        parts += ["\n".join(_lines(block)) for block in section.blocks]
    return "\n\n".join([*parts, r"\end{document}"])


def _lines(block: Block) -> Iterator[str]:
    """Yield the lines of a block."""
    match block:
        case Paragraph(text, verdict):
            word = rf"\textbf{{{_text(verdict)}}}. " if verdict else ""
            yield f"{word}{_text(text)}"
        case Listing(text):
            yield r"\begin{flushleft}\small\ttfamily"
            yield "\\\\\n".join(
                _text(line).replace("  ", r"~~") or "~" for line in text.splitlines()
            )
            yield r"\end{flushleft}"
        case Table(titles, rows):
            yield from _table(titles, rows)
        case Image(name, _, caption):
            yield r"\begin{center}"
            yield rf"\includegraphics[width=0.8\linewidth]{{{name}.pdf}}"
            yield rf"\par\small {_text(caption)}"
            yield r"\end{center}"
        case Attachment(name, _, about):
            yield rf"\texttt{{{_text(name)}}}: {_text(about)}"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table; it may go over several pages."""
    width = len(titles) or max(map(len, rows), default=1)
    others = max(width - 1, 1)
    column = rf">{{\raggedright\arraybackslash}}p{{{0.72 / others:.2f}\linewidth}}"
    first = r">{\raggedright\arraybackslash}p{0.2\linewidth}"
    yield rf"\begin{{longtable}}{{{first}{column * (width - 1)}}}"
    if titles:
        bold = [rf"\textbf{{{_text(title)}}}" for title in titles]
        yield rf"{' & '.join(bold)} \\ \hline"
    for row in rows:
        yield rf"{' & '.join(map(_text, row))} \\"
    yield r"\end{longtable}"


def _text(text: str) -> str:
    """Return the source of a text; characters that LaTeX's fonts lack become `?`."""
    source = escaped_latex("".join(c if c.isprintable() else " " for c in text))
    return "".join(c if ord(c) < 256 else _LETTERS.get(c, "?") for c in source)


#: Letters and signs of formulas beyond those that `escaped_latex` knows.
_LETTERS = {
    "ℓ": r"$\ell$",
    "σ": r"$\sigma$",
    "κ": r"$\kappa$",
    "×": r"$\times$",
    "→": r"$\to$",
    "↦": r"$\mapsto$",
    "ₐ": "a",
    "–": "--",
    "’": "'",
}
