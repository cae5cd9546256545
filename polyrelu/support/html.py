"""Self-contained HTML pages: elements of the standard library's XML trees, which escape every text.

Reports, audits and the tables in notebooks are made here. A page has its style, pictures and files
inside and refers to nothing outside, so that it can be sent as one file; its policy forbids
browsers to load or run anything else. Texts come from files of strangers; they reach the page only
as texts and attributes of elements.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from xml.etree.ElementTree import Element, tostring

from polyrelu.support.document import (
    Attachment,
    Block,
    Document,
    Image,
    Listing,
    Paragraph,
    Table,
)

__all__ = ["document_page", "element", "fragment", "page", "table"]

#: What a browser may load: pictures that stand in the page itself, and its style.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
 color: #222; background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { border: 1px solid #bbb; padding: .3rem .6rem; text-align: left; vertical-align: top; }
th { background: #f0f0f0; }
.long { overflow-wrap: anywhere; }
.good { color: #05660a; font-weight: bold; }
.bad { color: #a31515; font-weight: bold; }
.open { color: #7a4a00; font-weight: bold; }
h1, p, figcaption { overflow-wrap: anywhere; }
pre { background: #f6f6f6; padding: .6rem; white-space: pre-wrap; overflow-wrap: anywhere; }
figure { margin: 1rem 0; }
img { max-width: 100%; height: auto; }
figcaption { color: #444; font-size: .9em; }
@media print {
 body { max-width: none; margin: 0; font-size: 11pt; }
 figure, tr, pre { break-inside: avoid; }
 img { max-height: 13cm; width: auto; }
 h2 { break-after: avoid; }
}
"""
#: Maximum number of bytes of a picture in vectors; larger ones are shown as pixels.
_LARGEST_SVG = 300_000
#: Maximum number of characters of a word in a table that is never broken.
_LONG_WORD = 32
#: The type of a file by the end of its name, for links that hold the file.
_TYPES = {".json": "application/json", ".png": "image/png", ".svg": "image/svg+xml"}


def element(
    tag: str,
    *children: Element | str,
    class_: str = "",
    attributes: Mapping[str, str] | None = None,
) -> Element:
    """Return an element with texts and elements in it, in order.

    Examples
    --------
    >>> fragment(element("p", "1 < ", element("b", "2 & 3")))
    '<p>1 &lt; <b>2 &amp; 3</b></p>'
    """
    given = {name: printable(text) for name, text in (attributes or {}).items()}
    made = Element(tag, given | ({"class": class_} if class_ else {}))
    last: Element | None = None
    for child in children:
        if isinstance(child, Element):
            made.append(child)
            last = child
        elif last is None:
            made.text = (made.text or "") + printable(child)
        else:
            last.tail = (last.tail or "") + printable(child)
    return made


def printable(text: str) -> str:
    """Return a text without characters that XML forbids.

    >>> printable("a" + chr(0) + "b")
    'a?b'
    """
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def table(titles: Iterable[str], rows: Iterable[Iterable[Element | str]]) -> Element:
    """Return a table with a title above each column.

    Examples
    --------
    >>> fragment(table(["a"], [["<b>"]]))
    '<table><tr><th>a</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    head = element("tr", *(element("th", title) for title in titles))
    lines = [element("tr", *map(_cell, row)) for row in rows]
    return element("table", head, *lines)


def fragment(part: Element) -> str:
    """Return an element as HTML text."""
    text: str = tostring(part, encoding="unicode", method="html")
    return text


def page(title: str, *parts: Element) -> str:
    """Return a whole page in ASCII, with its style inside.

    Examples
    --------
    >>> page("<x>", element("p", "é"))[-33:]
    '<body><p>&#233;</p></body></html>'
    """
    meta = Element("meta", {"charset": "ascii"})
    policy = Element("meta", {"http-equiv": "Content-Security-Policy", "content": _POLICY})
    view = Element("meta", {"name": "viewport", "content": "width=device-width"})
    head = element("head", meta, policy, view, element("title", title), element("style", _STYLE))
    root = Element("html", {"lang": "en"})
    root.extend([head, element("body", *parts)])
    text = tostring(root, encoding="us-ascii", method="html").decode("ascii")
    return f"<!DOCTYPE html>\n{text}"


def document_page(document: Document) -> str:
    """Return a document as one page, with its pictures and files inside.

    Examples
    --------
    >>> from polyrelu.support.document import Section
    >>> text = document_page(Document("<net>", (Section("Sizes", (Paragraph("3 < 4"),)),)))
    >>> "<h1>&lt;net&gt;</h1><h2>Sizes</h2><p>3 &lt; 4</p>" in text
    True
    """
    return page(document.title, *_document_elements(document))


def _document_elements(document: Document) -> Iterator[Element]:
    """Yield the heading of a document and everything below it."""
    yield element("h1", document.title)
    for section in document.sections:
        yield element("h2", section.title)
        yield from map(_block, section.blocks)


def _block(block: Block) -> Element:
    """Return the element of a block."""
    match block:
        case Paragraph(text, verdict, tone):
            if not verdict:
                return element("p", text)
            return element("p", element("span", verdict, class_=tone), f". {text}")
        case Listing(text):
            return element("pre", text)
        case Table(titles, rows):
            return table(titles, rows) if titles else named_rows(rows)
        case Image():
            return _figure(block)
        case Attachment():
            return _link(block)


def named_rows(rows: Iterable[Iterable[Element | str]]) -> Element:
    """Return a table whose first column holds the titles of its rows.

    >>> fragment(named_rows([("net", "<b>")]))
    '<table><tr><th>net</th><td>&lt;b&gt;</td></tr></table>'
    """
    lines = []
    for name, *cells in rows:
        lines.append(element("tr", element("th", name), *map(_cell, cells)))
    return element("table", *lines)


def _cell(content: Element | str) -> Element:
    """Return a cell of a table; only words that are too long for a column may be broken.

    >>> fragment(_cell("a membership")), fragment(_cell("0" * 64))[:16]
    ('<td>a membership</td>', '<td class="long"')
    """
    text = content if isinstance(content, str) else " ".join(content.itertext())
    is_long = any(len(word) > _LONG_WORD for word in text.split())
    return element("td", content, class_="long" if is_long else "")


def _figure(image: Image) -> Element:
    """Return a picture with its caption."""
    ending, content = ".svg", image.render(".svg")
    if len(content) > _LARGEST_SVG:
        ending, content = ".png", image.render(".png")
    source = _data(content, ending)
    shown = element("img", attributes={"src": source, "alt": image.caption})
    return element("figure", shown, element("figcaption", image.caption))


def _link(attachment: Attachment) -> Element:
    """Return a link that saves a file."""
    ending = ".json" if attachment.name.endswith(".json") else ""
    target = {"download": attachment.name, "href": _data(attachment.content, ending)}
    link = element("a", attachment.name, attributes=target)
    return element("p", link, f" ({_size(attachment.content)}): {attachment.about}")


def _data(content: bytes, ending: str) -> str:
    kind = _TYPES.get(ending, "application/octet-stream")
    return f"data:{kind};base64,{b64encode(content).decode('ascii')}"


def _size(content: bytes) -> str:
    """Return the size of a file in words.

    >>> _size(bytes(20)), _size(bytes(110_000)), _size(bytes(3_500_000))
    ('20 bytes', '110 kB', '3.5 MB')
    """
    for unit, size in (("MB", 1e6), ("kB", 1e3)):
        if len(content) >= size:
            number = len(content) / size
            return f"{number:.{0 if number >= 10 else 1}f} {unit}"
    return f"{len(content)} bytes"
