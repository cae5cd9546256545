"""Text files that are written completely or not at all, and readable layouts of JSON and prose.

Certificates and the networks they name must never exist half written or one without the other, so
that all files of a command go through `write_all`.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from polyrelu.errors import PolyreluError
from polyrelu.support.temporary import UNFINISHED

__all__ = ["LazyList", "layout", "layout_bytes", "layout_pieces", "wrapped", "write_all"]

_T_co = TypeVar("_T_co", covariant=True)

#: Number of characters of a text that are written at a time.
_PART = 1 << 20
#: How hard gzip tries: the highest level takes three times as long for a hundredth less.
_GZIP_LEVEL = 6


class LazyList(Generic[_T_co]):
    """A list in a JSON document whose entries are made when they are written, and not kept.

    A document with millions of small lists takes much memory, and so much time of Python's garbage
    collector that Ctrl-C has to wait.

    Parameters
    ----------
    size
        Number of entries.
    make
        Returns an iterator over the entries.

    Examples
    --------
    >>> print(layout({"squares": LazyList(3, lambda: (number**2 for number in range(3)))}))
    {"squares": [0, 1, 4]}
    """

    def __init__(self, size: int, make: Callable[[], Iterator[_T_co]]) -> None:
        self._size, self._make = size, make

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[_T_co]:
        return self._make()


def layout(value: Any, indent: str = "", room: int = 110) -> str:
    """Return JSON text in which every value that fits on one line stands on one line.

    Parameters
    ----------
    value
        A value that `json.dumps` takes; a list in it may be a `LazyList`.
    indent
        Blanks before the value's own lines.
    room
        Maximum number of characters of a value on one line.

    Returns
    -------
    str
        The text, without a newline at its end.

    Examples
    --------
    >>> print(layout({"a": [1, 2], "b": "x" * 120})[:22])
    {
     "a": [1, 2],
     "b":
    """
    return "".join(layout_pieces(value, indent, room))


def layout_pieces(value: Any, indent: str = "", room: int = 110) -> Iterator[str]:
    """Yield the text of `layout` in pieces, none longer than a line.

    Ctrl-C takes effect between two pieces, however long the text is.

    Examples
    --------
    >>> list(layout_pieces({"a": ["x" * 120]}))[:3]
    ['{\\n', ' "a": ', '[\\n']
    """
    if not isinstance(value, dict | list | LazyList) or _least_length(value, room) <= room:
        flat = json.dumps(value, default=_listed)
        if len(flat) <= room or not isinstance(value, dict | list | LazyList):
            yield flat
            return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    deeper, start = indent + " ", opening + "\n"
    for entry in value:
        yield start
        start = ",\n"
        if isinstance(value, dict):
            yield f"{deeper}{json.dumps(entry)}: "
            entry = value[entry]
        else:
            yield deeper
        yield from layout_pieces(entry, deeper, room)
    yield f"\n{indent}{closing}"


def layout_bytes(value: Any) -> Iterator[bytes]:
    """Yield the file with the text of `layout` and a newline, in parts of about a mebibyte.

    Examples
    --------
    >>> list(layout_bytes({"a": [1, 2]}))
    [b'{"a": [1, 2]}\\n']
    """
    waiting, size = list[str](), 0
    for piece in layout_pieces(value):
        waiting.append(piece)
        size += len(piece)
        if size >= _PART:
            yield "".join(waiting).encode("ascii")
            waiting, size = [], 0
    yield "".join([*waiting, "\n"]).encode("ascii")


def _listed(value: object) -> list[Any]:
    """Return a list that `json.dumps` can write."""
    if isinstance(value, LazyList):
        return list(value)
    raise TypeError(f"{type(value).__name__} is no part of a JSON document")


def _least_length(value: Any, limit: int) -> int:
    """Return a lower bound for the length of a list or dict as JSON; beyond a limit, any one.

    The time depends on the limit and not on the size of the value.
    """
    length = 3 * len(value)  # brackets, commas and blanks, and a character for each entry
    if length > limit:
        return length
    for entry in value.values() if isinstance(value, dict) else value:
        if isinstance(entry, dict | list | LazyList):
            length += _least_length(entry, limit - length) - 1
            if length > limit:
                break
    return length


def wrapped(line: str, width: int = 100) -> str:
    """Break a line of prose at blanks; continuation lines are indented by four more characters.

    Parameters
    ----------
    line
        The text, whose leading blanks are its indentation.
    width
        Maximum number of columns.

    Returns
    -------
    str
        The lines. A word that is longer than `width` is not broken.

    Examples
    --------
    >>> print(wrapped("  one two three", width=9))
      one two
          three
    """
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(
        line.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def write_all(contents: Sequence[tuple[Path, str | Iterable[bytes]]]) -> list[Path]:
    """Write all files under temporary names, then rename them, so that all of them appear or none.

    Parameters
    ----------
    contents
        Pairs of a path and its content. A text gets a newline at its end; pieces of bytes are
        written unchanged, one after the other as they come. If the name ends in .gz, the file is
        compressed, with the same bytes every time.

    Returns
    -------
    list of Path
        The paths, in the given order.

    Raises
    ------
    PolyreluError
        A file cannot be written, or two contents have one path; the message names the file.
    """
    paths = [path for path, _ in contents]
    resolved = list(map(os.path.realpath, paths))
    pending: list[Path] = []
    try:
        for path, real in zip(paths, resolved, strict=True):
            if path.exists() and not path.is_file():
                raise PolyreluError(f"{path}: cannot write: it is not a regular file")
            if resolved.count(real) > 1:
                raise PolyreluError(
                    f"{path}: two outputs would be written to this file; choose two names"
                )
        for path, content in contents:
            pending.append(_temporary(path))
            pieces = _encoded(content) if isinstance(content, str) else content
            _write(pending[-1], pieces, path)
        for path, temporary in zip(paths, pending, strict=True):
            os.replace(temporary, path)
    except OSError as error:
        raise PolyreluError(f"{path}: cannot write: {error.strerror or error}") from None
    finally:
        for temporary in pending:
            temporary.unlink(missing_ok=True)
            UNFINISHED.discard(temporary)
    return paths


def _encoded(text: str) -> Iterator[bytes]:
    """Yield a text and a newline as bytes, in parts between which Ctrl-C takes effect."""
    for start in range(0, len(text), _PART):
        yield text[start : start + _PART].encode("ascii")
    yield b"\n"


def _temporary(path: Path) -> Path:
    """A new empty file in the path's folder, with the permissions of an ordinary new file."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".polyrelu-", suffix=".tmp")
    os.close(handle)
    UNFINISHED.add(Path(name))
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)
    return Path(name)


def _write(file: Path, pieces: Iterable[bytes], path: Path) -> None:
    """Write pieces to a file that will be renamed to `path`, compressed if `path` ends in .gz."""
    with file.open("wb") as plain:
        if path.suffix != ".gz":
            for piece in pieces:
                plain.write(piece)
            return
        with gzip.GzipFile("", "wb", _GZIP_LEVEL, fileobj=plain, mtime=0) as packed:
            for piece in pieces:
                packed.write(piece)
