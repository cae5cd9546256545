"""Self-contained HTML pages: elements of the standard library's XML trees, which escape every text.

A page has its style inside and refers to nothing outside, so that it can be sent as one file. Texts
come from files of strangers; they reach the page only as texts of elements.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, tostring

__all__ = ["element", "fragment", "page", "table"]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
 color: #222; background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { border: 1px solid #bbb; padding: .3rem .6rem; text-align: left; vertical-align: top;
 overflow-wrap: anywhere; }
th { background: #f0f0f0; }
.good { color: #05660a; font-weight: bold; }
.bad { color: #a31515; font-weight: bold; }
"""


def element(tag: str, *children: Element | str, class_: str = "") -> Element:
    """Return an element with texts and elements in it, in order.

    Examples
    --------
    >>> fragment(element("p", "1 < ", element("b", "2 & 3")))
    '<p>1 &lt; <b>2 &amp; 3</b></p>'
    """
    made = Element(tag, {"class": class_} if class_ else {})
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
    lines = [element("tr", *(element("td", cell) for cell in row)) for row in rows]
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
    view = Element("meta", {"name": "viewport", "content": "width=device-width"})
    head = element("head", meta, view, element("title", title), element("style", _STYLE))
    root = Element("html", {"lang": "en"})
    root.extend([head, element("body", *parts)])
    text = tostring(root, encoding="us-ascii", method="html").decode("ascii")
    return f"<!DOCTYPE html>\n{text}"
