"""Documents for people, as data: sections of paragraphs, tables, pictures and files.

Reports of other rooms are made of these blocks. `support.html`, `support.markdown` and
`support.latex` render them, and escape every text: names and messages come from files of strangers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = [
    "Attachment",
    "Block",
    "Document",
    "Image",
    "Listing",
    "Paragraph",
    "Section",
    "Table",
    "facts",
]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of plain text.

    Attributes
    ----------
    text
        The text.
    verdict
        A word before the text, such as `proved`; empty for none.
    tone
        How the verdict is shown: `good`, `bad` or `open`.
    """

    text: str
    verdict: str = ""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines of text that keep their layout, such as commands."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes
    ----------
    titles
        The titles of the columns; without titles the first column names what stands beside it.
    rows
        The cells, row by row.
    """

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Image:
    """A picture.

    Attributes
    ----------
    name
        The name of its file, without an ending.
    render
        Returns the picture as bytes in the format of an ending: `.png`, `.svg` or `.pdf`.
    caption
        What the picture shows.
    """

    name: str
    render: Callable[[str], bytes] = field(repr=False)
    caption: str


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that belongs to a document.

    Attributes
    ----------
    name
        The name of the file.
    content
        Its bytes.
    about
        What it is, in words.
    """

    name: str
    content: bytes = field(repr=False)
    about: str


Block: TypeAlias = Paragraph | Listing | Table | Image | Attachment


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with blocks below it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A title and sections.

    Examples
    --------
    >>> document = Document("net.onnx", (Section("Sizes", (facts([("neurons", "3")]),)),))
    >>> document.attachments
    ()
    """

    title: str
    sections: tuple[Section, ...]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks, in order."""
        return tuple(block for section in self.sections for block in section.blocks)

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """All files, in order."""
        return tuple(block for block in self.blocks if isinstance(block, Attachment))

    @property
    def images(self) -> tuple[Image, ...]:
        """All pictures, in order."""
        return tuple(block for block in self.blocks if isinstance(block, Image))


def facts(rows: Iterable[tuple[str, str]]) -> Table:
    """Return a table of names and texts, without rows whose text is empty.

    >>> facts([("format", "npz"), ("note", "")]).rows
    (('format', 'npz'),)
    """
    return Table((), tuple((name, text) for name, text in rows if text))
