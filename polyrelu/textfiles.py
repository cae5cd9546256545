"""Text files that appear whole or not at all, a readable layout for JSON, and lines of a readable length."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polyrelu.errors import PolyreluError

__all__ = ["file_permissions", "layout", "wrapped", "write_all"]


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
        parts = [f"{deeper}{json.dumps(key)}: {layout(entry, deeper, room)}" for key, entry in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(deeper + layout(entry, deeper, room) for entry in value) + f"\n{indent}]"


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


def write_all(texts: Sequence[tuple[Path, str]]) -> list[Path]:
    """Write all files under temporary names, then rename them: all of them appear, or none.

    Raises `PolyreluError`, naming the file, if one cannot be written or two have one path.
    """
    paths = [path for path, _ in texts]
    resolved = [path.resolve() for path in paths]
    for path, real in zip(paths, resolved, strict=True):
        if path.exists() and not path.is_file():
            raise PolyreluError(f"{path}: cannot write: it is not a regular file")
        if resolved.count(real) > 1:
            raise PolyreluError(f"{path}: two outputs would be written to this file; choose two names")
    pending: list[Path] = []
    try:
        for path, text in texts:
            pending.append(_write_beside(path, text))
        for path, temporary in zip(paths, pending, strict=True):
            os.replace(temporary, path)
    except OSError as error:
        raise PolyreluError(f"{path}: cannot write: {error.strerror or error}") from None
    finally:
        for temporary in pending:
            temporary.unlink(missing_ok=True)
    return paths


def _write_beside(path: Path, text: str) -> Path:
    """Write the text to a temporary file in the path's folder; packed if the name ends in .gz."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".polyrelu-", suffix=".tmp")
    data = f"{text}\n".encode("ascii")
    with os.fdopen(handle, "wb") as file:
        file.write(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    os.chmod(name, file_permissions())
    return Path(name)


def file_permissions() -> int:
    """The mode of a new file: what the user's mask leaves of reading and writing."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
