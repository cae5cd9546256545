"""The bytes of a file that may be packed with gzip, up to a limit.

A few kilobytes can unpack to gigabytes, so unpacking stops at the limit, whatever the file says
about its own size.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

__all__ = ["PACKED", "TooLargeError", "file_content", "unpacked_pieces"]

#: The ending of packed files.
PACKED = ".gz"
#: Number of bytes that are unpacked at once.
_PIECE = 2**20


class TooLargeError(Exception):
    """Content with more bytes than the limit; the text says so."""


def file_content(path: Path, limit: int) -> bytes:
    """Return the content of a file, unpacked if its name ends in .gz.

    An `OSError` or `ValueError` says why the file cannot be read, a `TooLargeError` that the
    content has more than `limit` bytes.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError("not a regular file")
    with path.open("rb") as file:
        if path.suffix.lower() == PACKED:
            return b"".join(unpacked_pieces(file, limit))
        pieces, left = list[bytes](), limit + 1
        while left and (piece := file.read(min(_PIECE, left))):
            pieces.append(piece)
            left -= len(piece)
    if not left:
        raise TooLargeError(f"larger than {limit} bytes")
    return b"".join(pieces)


def unpacked_pieces(file: BinaryIO, limit: int) -> Iterator[bytes]:
    """Yield the unpacked content of a gzip file in pieces, with the errors of `file_content`."""
    total = 0
    with closing(gzip.GzipFile(fileobj=file, mode="rb")) as packed:
        while True:
            try:
                piece = packed.read(_PIECE)
            except (EOFError, zlib.error) as error:
                raise OSError(f"damaged gzip file ({error})") from None
            if not piece:
                return
            total += len(piece)
            if total > limit:
                raise TooLargeError(f"it unpacks to more than {limit} bytes")
            yield piece
