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
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from polyrelu.errors import PolyreluError

__all__ = ["layout", "wrapped", "write_all"]


def layout(value: Any, indent: str = "", room: int = 110) -> str:
    """Return JSON text in which every value that fits on one line stands on one line.

    Parameters
    ----------
    value
        A value that `json.dumps` takes.
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
    flat = json.dumps(value)
    if len(flat) <= room or not isinstance(value, (dict, list)):
        return flat
    deeper = indent + " "
    if isinstance(value, dict):
        parts = [
            f"{deeper}{json.dumps(key)}: {layout(entry, deeper, room)}"
            for key, entry in value.items()
        ]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return (
        "[\n" + ",\n".join(deeper + layout(entry, deeper, room) for entry in value) + f"\n{indent}]"
    )


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
        written unchanged. If the name ends in .gz, the file is compressed, with the same bytes
        every time.

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
    resolved = [path.resolve() for path in paths]
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
            _write(
                pending[-1],
                [f"{content}\n".encode("ascii")] if isinstance(content, str) else content,
                path,
            )
        for path, temporary in zip(paths, pending, strict=True):
            os.replace(temporary, path)
    except OSError as error:
        raise PolyreluError(f"{path}: cannot write: {error.strerror or error}") from None
    finally:
        for temporary in pending:
            temporary.unlink(missing_ok=True)
    return paths


def _temporary(path: Path) -> Path:
    """A new empty file in the path's folder, with the permissions of an ordinary new file."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".polyrelu-", suffix=".tmp")
    os.close(handle)
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)
    return Path(name)


def _write(file: Path, pieces: Iterable[bytes], path: Path) -> None:
    """Write pieces to a file that will be renamed to `path`, compressed if `path` ends in .gz."""
    with file.open("wb") as plain:
        if path.suffix != ".gz":
            plain.writelines(pieces)
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=plain, mtime=0) as packed:
            for piece in pieces:
                packed.write(piece)
