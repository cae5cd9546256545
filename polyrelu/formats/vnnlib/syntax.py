"""S-expressions, as SMT-LIB and VNN-LIB write them, with the lines where they begin.

Files come from users, so size, depth and number of tokens are limited before anything is built.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

from polyrelu.errors import DomainError
from polyrelu.formats.meter import PACKED_LIMIT
from polyrelu.formats.unpacking import PACKED, TooLargeError, file_content

__all__ = ["Index", "Item", "SExpression", "at_line", "content", "number", "s_expressions", "shown"]

#: Maximum number of bytes of a file, unpacked.
_SIZE_LIMIT = 100_000_000
#: Maximum number of tokens of a file, of parentheses inside each other, and of characters a token.
_TOKEN_LIMIT, _DEPTH_LIMIT, _LENGTH_LIMIT = 5_000_000, 200, 1000

_TOKEN = re.compile(r';.*|[()]|\[[^\[\]();"]*\]|"(?:[^"\\]|\\.)*"|[^\s()\[\];"]+|\S')
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,3})?", re.ASCII
)
_INDEX = re.compile(r"\[\s*(?:[0-9]{1,9}\s*(?:,\s*[0-9]{1,9}\s*)*)?\]", re.ASCII)


@dataclass(frozen=True, slots=True)
class Index:
    """Numbers in brackets: the shape of a tensor, or the place of an entry."""

    entries: tuple[int, ...]


@dataclass(slots=True)
class SExpression:
    """The items between two parentheses.

    Attributes
    ----------
    line
        The line of the opening parenthesis, from 1.
    items
        Words, numbers in brackets, and S-expressions.
    """

    line: int
    items: list[Item] = field(default_factory=list)

    @property
    def head(self) -> str:
        """The first item if it is a word; empty otherwise."""
        first = self.items[0] if self.items else ""
        return first if isinstance(first, str) else ""


Item: TypeAlias = str | Index | SExpression


def content(path: Path) -> bytes:
    """Return the bytes of a file, unpacked if it ends in .gz."""
    try:
        limit = PACKED_LIMIT.of(path.stat().st_size) if path.suffix == PACKED else _SIZE_LIMIT
        return file_content(path, min(limit, _SIZE_LIMIT))
    except (OSError, ValueError, TooLargeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DomainError(f"{path}: cannot read: {reason}") from None


def at_line(name: str, line: int, problem: str) -> DomainError:
    """Return the error about a line of a file."""
    return DomainError(f"{name}: line {line}: {problem}")


def shown(item: Item) -> str:
    """Return an item in a few characters, for errors."""
    if isinstance(item, SExpression):
        return f"({shown(item.items[0]) if item.items else ''} …)"
    return str(list(item.entries)) if isinstance(item, Index) else repr(item[:40])


def number(name: str, line: int, text: str) -> Fraction:
    """Return the exact number that a word is."""
    if not _NUMBER.fullmatch(text):
        raise at_line(name, line, f"{text[:40]!r} is not a number of at most 400 digits")
    return Fraction(text)


def s_expressions(data: bytes, name: str) -> Iterator[SExpression]:
    """Yield the outermost S-expressions of a file."""
    stack: list[SExpression] = []
    for line, token in _tokens(data, name):
        if token == "(":
            if len(stack) == _DEPTH_LIMIT:
                raise at_line(name, line, f"more than {_DEPTH_LIMIT} parentheses in each other")
            group = SExpression(line)
            if stack:
                stack[-1].items.append(group)
            stack.append(group)
        elif not stack:
            raise at_line(name, line, f"{token[:40]!r} stands outside of all parentheses")
        elif token == ")":
            closed = stack.pop()
            if not stack:
                yield closed
        else:
            stack[-1].items.append(_item(name, line, token))
    if stack:
        raise at_line(name, stack[-1].line, "this parenthesis is never closed")


def _tokens(data: bytes, name: str) -> Iterator[tuple[int, str]]:
    """Yield each token with its line; comments are left out."""
    count = 0
    for line, raw in enumerate(data.split(b"\n"), 1):
        # In Latin-1 every byte is a character; comments may have any encoding.
        for found in _TOKEN.finditer(raw.decode("latin-1")):
            token = found[0]
            if token[0] == ";":
                continue
            count += 1
            if count > _TOKEN_LIMIT:
                raise at_line(name, line, f"more than {_TOKEN_LIMIT} words and parentheses")
            if len(token) > _LENGTH_LIMIT or not (token.isascii() and token.isprintable()):
                problem = f"{token[:40]!a} is too long, or no printable ASCII"
                raise at_line(name, line, problem)
            yield line, token


def _item(name: str, line: int, token: str) -> Item:
    """Return the word or the numbers in brackets that a token is."""
    if token[0] not in '[]"':
        return token
    if token[0] == '"' and len(token) > 1:
        return token
    if not _INDEX.fullmatch(token):
        problem = f"{token[:40]!r} is not understood; expected numbers in brackets such as [0,2]"
        raise at_line(name, line, problem)
    return Index(tuple(int(digits) for digits in re.findall("[0-9]+", token)))
