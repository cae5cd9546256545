"""Text files that appear whole or not at all, and a readable layout for JSON."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from polyrelu.errors import PolyreluError

__all__ = ["layout", "write_all"]


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


def write_all(texts: dict[Path, str]) -> list[Path]:
    """Write all files under temporary names, then rename them, so that none is half-written."""
    pending: list[tuple[str, Path]] = []
    try:
        for path, text in texts.items():
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".polyrelu-", suffix=".tmp")
            pending.append((temporary, path))
            with os.fdopen(handle, "w", encoding="ascii", newline="\n") as file:
                file.write(text + "\n")
            os.chmod(temporary, 0o666 & ~_umask())
        for temporary, path in pending:
            os.replace(temporary, path)
    except OSError as error:
        raise PolyreluError(f"{next(reversed(texts))}: cannot write: {error.strerror or error}") from None
    finally:
        for temporary, _ in pending:
            Path(temporary).unlink(missing_ok=True)
    return list(texts)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
