"""Files that readers cannot open by their name: packed ones, bytes, and open files.

Readers open files by their name. Here the content of a packed file, of bytes or of an open file is
written to a temporary file, whose ending says the format, and which is gone after the reading.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from polyrelu.errors import ArgumentError, NetworkError, NetworkFileError
from polyrelu.formats.meter import PACKED_LIMIT
from polyrelu.formats.unpacking import PACKED, TooLargeError, unpacked_pieces
from polyrelu.support.temporary import temporary_folder

__all__ = ["PlainFile", "ending_of", "is_content", "is_packed", "plain_file", "sha256_of_file"]

#: Maximum number of bytes of a packed file after unpacking. Float64 weights, as many as a network
#: may have, take fewer.
_UNPACKED_LIMIT = 2**28
#: Maximum number of bytes of an open file.
_STREAM_LIMIT = 2**30


@dataclass(frozen=True, slots=True)
class PlainFile:
    """A file that a reader can open.

    Attributes
    ----------
    path
        The file, with the ending of its format.
    shown
        What the user calls it, for errors.
    source
        Its name without a folder, for the record; empty for bytes.
    sha256
        The SHA-256 hash, in hexadecimal, of what the user gave.
    size
        Number of bytes of what the user gave, packed or not.
    """

    path: Path
    shown: str
    source: str
    sha256: str
    size: int


def is_packed(path: Path) -> bool:
    """Return whether the name of a file says that it is packed."""
    return path.suffix.lower() == PACKED


def ending_of(path: Path) -> str:
    """Return the ending of a file that says its format, without .gz, in small letters.

    >>> ending_of(Path("net.ONNX.gz")), ending_of(Path("net.npz"))
    ('.onnx', '.npz')
    """
    return (path.with_suffix("") if is_packed(path) else path).suffix.lower()


def is_content(source: object) -> bool:
    """Return whether a source is the content of a file: bytes, or an object with `read`."""
    return isinstance(source, bytes | bytearray | memoryview) or callable(
        getattr(source, "read", None)
    )


@contextmanager
def plain_file(source: Any, format_: str, read_limit: float = 1.0) -> Iterator[PlainFile]:
    """Give a file that a reader can open, for a packed file, bytes, or an open file.

    `format_` is the ending of the format, such as ``.onnx`` or ``.onnx.gz``; a packed file and an
    open file with a name may leave it empty. A packed file may unpack to `read_limit` times what is
    usual for its size.
    """
    with temporary_folder() as folder:
        if isinstance(source, Path):
            shown, ending = str(source), format_ or f"{ending_of(source)}{PACKED}"
            packed, digest = source, sha256_of_file(source)
        else:
            shown, ending = _described(source, format_)
            packed = Path(folder, f"given{ending}")
            packed.write_bytes(_content(source, shown))
            digest = sha256_of_file(packed)
        path = packed
        if ending.endswith(PACKED):
            path = Path(folder, f"content{ending.removesuffix(PACKED)}")
            _unpack(packed, path, shown, read_limit)
        name = "" if isinstance(source, bytes | bytearray | memoryview) else Path(shown).name
        yield PlainFile(path, shown, name, digest, packed.stat().st_size)


def _described(source: Any, format_: str) -> tuple[str, str]:
    """Return what bytes or an open file are called, and the ending of their format."""
    name = getattr(source, "name", None)
    shown = name if isinstance(name, str) else type(source).__name__
    if format_:
        return shown, format_
    if isinstance(name, str) and Path(name).suffix:
        path = Path(name)
        return shown, f"{ending_of(path)}{PACKED if is_packed(path) else ''}"
    raise NetworkError(
        f"{shown}: bytes and open files do not say their format; say it, as in "
        "format='onnx', 'npz' or 'onnx.gz'"
    )


def _content(source: Any, shown: str) -> bytes:
    """Return the bytes of a source, from where an open file stands."""
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source)
    try:
        content = source.read(_STREAM_LIMIT + 1)
    except (OSError, ValueError) as error:
        raise NetworkFileError(shown, "", f"cannot read: {error}") from None
    if not isinstance(content, bytes):
        kind = type(content).__name__
        raise ArgumentError(f"{shown}: its read() gives {kind}, not bytes; open it with 'rb'")
    if len(content) > _STREAM_LIMIT:
        raise NetworkFileError(shown, "", f"larger than {_STREAM_LIMIT} bytes")
    return content


def _unpack(packed: Path, path: Path, shown: str, read_limit: float) -> None:
    """Write the unpacked content of a file, up to the limit."""
    limit = min(_UNPACKED_LIMIT, PACKED_LIMIT.times(read_limit, packed.stat().st_size))
    try:
        with packed.open("rb") as file, path.open("wb") as unpacked:
            unpacked.writelines(unpacked_pieces(file, limit))
    except TooLargeError as error:
        remedy = "unpack it before, with gunzip"
        if limit < _UNPACKED_LIMIT:
            remedy += ", or read it with --read-limit inf (read_limit=inf)"
        raise NetworkFileError(shown, "", f"cannot read: {error}; {remedy}") from None
    except OSError as error:
        reason = error.strerror or error
        raise NetworkFileError(shown, "", f"cannot read: {reason}") from None


def sha256_of_file(path: Path) -> str:
    """Return the SHA-256 hash of a file; refuse anything but a regular file."""
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise NetworkFileError(path, "", "not a regular file")
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:  # a null byte in the name is a ValueError
        raise NetworkFileError(
            path, "", f"cannot read: {getattr(error, 'strerror', None) or error}"
        ) from None
