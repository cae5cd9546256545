"""Folders and files for the time of a computation, which nothing leaves behind.

A program that ends at once, as after a second Ctrl-C, leaves no block in the usual way. So the
folders and files are also kept in a set, all of which the program removes before it ends.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["UNFINISHED", "remove_unfinished", "temporary_folder"]

#: The folders and files that exist for some time only.
UNFINISHED = set[Path]()


@contextmanager
def temporary_folder(parent: Path | None = None, prefix: str = "polyrelu-") -> Iterator[str]:
    """Make a folder for the time of a block.

    >>> with temporary_folder() as folder:
    ...     _ = Path(folder, "file").write_text("text")
    >>> Path(folder).exists()
    False
    """
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix=prefix, dir=parent) as folder:
        UNFINISHED.add(Path(folder))
        try:
            yield folder
        finally:
            UNFINISHED.discard(Path(folder))


def remove_unfinished() -> None:
    """Remove all folders and files of the set, before the program ends at once."""
    from shutil import rmtree

    for path in tuple(UNFINISHED):
        with contextlib.suppress(OSError):
            rmtree(path) if path.is_dir() else os.unlink(path)
