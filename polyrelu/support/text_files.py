"""Text files that appear whole or not at all, a readable layout for JSON, and lines of a readable length."""

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
    """JSON text in which whatever fits stands on one line.

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
    """A line of prose broken at blanks, the rest indented by four more.

    >>> print(wrapped("  one two three", width=9))
      one two
          three
    """
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(
        line.strip(), width, initial_indent=indent, subsequent_indent=f"{indent}    ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def write_all(contents: Sequence[tuple[Path, str | Iterable[bytes]]]) -> list[Path]:
    """Write all files under temporary names, then rename them: all of them appear, or none.

    A text gets a newline at its end; pieces of bytes are written as they come. Where a name ends in .gz, the file is
    packed, with the same bytes every time. Raises `PolyreluError`, naming the file, if one cannot be written or two
    have one path.
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
    """A new empty file in the path's folder, with the permissions that the user's mask leaves."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".polyrelu-", suffix=".tmp")
    os.close(handle)
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)
    return Path(name)


def _write(file: Path, pieces: Iterable[bytes], path: Path) -> None:
    """Write pieces to a file that will have the name `path`."""
    with file.open("wb") as plain:
        if path.suffix != ".gz":
            plain.writelines(pieces)
            return
        with gzip.GzipFile(filename="", mode="wb", fileobj=plain, mtime=0) as packed:
            for piece in pieces:
                packed.write(piece)
