"""Parts of a report as tasks, and as bytes: JSON, with pictures and files in base 64."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import partial
from typing import Any

from polyrelu.errors import PolyreluError
from polyrelu.report.question import OpenEnd, Part, Question
from polyrelu.support.document import Attachment, Block, Image, Listing, Paragraph, Table
from polyrelu.support.parallel.wire import packed, understood, unpacked

__all__ = ["is_final", "packed_part", "part_from"]

#: The endings of pictures in the formats of reports.
_ENDINGS = (".svg", ".png", ".pdf")
#: Marks the bytes of a part that a limit of time or memory has cut short, and of other ones.
_CUT, _FINAL = b"-", b"+"


def packed_part(question: Question, part: Part) -> bytes:
    """Return a part as bytes, with its pictures in every format."""
    entries = {
        "title": part.title,
        "short": part.short,
        "blocks": [_entry(block) for block in part.blocks],
        "answers": part.answers,
        "open": [[end.question, end.reason, end.next] for end in part.open],
    }
    is_cut = question.limits.why_stopped() is not None
    return (_CUT if is_cut else _FINAL) + packed(entries)


def is_final(data: bytes) -> bool:
    """Whether no limit of time or memory has cut a part short, so that it can be kept."""
    return data.startswith(_FINAL)


def part_from(data: bytes) -> Part:
    """Return the part of `packed_part`.

    Raises
    ------
    PolyreluError
        The bytes are of another form.
    """
    entries = unpacked(data[1:])
    with understood():
        blocks = tuple(map(_block, entries["blocks"]))
        ends = tuple(OpenEnd(what, why, tuple(steps)) for what, why, steps in entries["open"])
        return Part(entries["title"], entries["short"], blocks, entries["answers"], ends)


def _entry(block: Block) -> list[Any]:
    """Return a block as a list: its kind, and what is in it."""
    if isinstance(block, Paragraph):
        return ["paragraph", block.text, block.verdict, block.tone]
    if isinstance(block, Listing):
        return ["listing", block.text]
    if isinstance(block, Table):
        return ["table", block.titles, block.rows]
    if isinstance(block, Attachment):
        return ["attachment", block.name, _text(block.content), block.about]
    return ["image", block.name, {e: _text(block.render(e)) for e in _ENDINGS}, block.caption]


def _block(entry: list[Any]) -> Block:
    kind, *values = entry
    makers: dict[str, Callable[..., Block]] = {
        "paragraph": Paragraph,
        "listing": Listing,
        "table": _table,
        "attachment": lambda name, text, about: Attachment(name, _bytes(text), about),
        "image": lambda name, pictures, caption: Image(name, partial(_picture, pictures), caption),
    }
    return makers[kind](*values)


def _table(titles: list[str], rows: list[list[str]]) -> Table:
    return Table(tuple(titles), tuple(map(tuple, rows)))


def _picture(pictures: dict[str, str], ending: str) -> bytes:
    if ending not in pictures:
        raise PolyreluError(f"pictures were made as {', '.join(pictures)}, not as {ending}")
    return _bytes(pictures[ending])


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
