"""MAT files of versions 5 to 7: matrices of numbers, text, and cell arrays of these.

Here is a reader for the part of the format that networks need. The reader of networks calls it
instead of scipy, whose reader can crash on a damaged file. Every length in a file may be wrong, so
lengths and the number of entries are checked before anything is converted; variables of other kinds
are not read.

The format is a list of elements, each with a type and a length: "MAT-File Level 5 File Format",
MathWorks.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import NetworkError, NetworkFileError
from polyrelu.formats.meter import need, remaining
from polyrelu.support.limits import PARAMETER_LIMIT

__all__ = ["Cells", "Text", "Variable", "read_mat5"]

#: Maximum number of bytes of a file, and of an unpacked variable.
_MAX_BYTES = 2**30

#: The types of elements with numbers, as numpy names them.
_NUMBERS = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
#: The types of elements that contain elements.
_MATRIX, _COMPRESSED = 14, 15
#: The types of elements with text, and their encodings.
_ENCODINGS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}

#: Classes of matrices: cell arrays, text, sparse matrices, and the number types of numeric classes.
_CELL, _CHAR, _SPARSE = 1, 4, 5
_CLASSES = {
    6: "f8",
    7: "f4",
    8: "i1",
    9: "u1",
    10: "i2",
    11: "u2",
    12: "i4",
    13: "u4",
    14: "i8",
    15: "u8",
}
#: Flags of matrices that are not read.
_COMPLEX, _LOGICAL = 0x0800, 0x0200


@dataclass(frozen=True, slots=True)
class Cells:
    """A cell array: its shape, and its entries column by column."""

    shape: tuple[int, ...]
    entries: list[Variable]


@dataclass(frozen=True, slots=True)
class Text:
    """A matrix of characters by its rows, with the blanks that fill the rows."""

    rows: list[str]


#: The value of a variable; None for a kind that is not read.
Variable: TypeAlias = "NDArray[Any] | Cells | Text | None"


def read_mat5(
    path: Path, is_wanted: Callable[[str], bool]
) -> tuple[list[str], dict[str, Variable]]:
    """Return the names of all variables, and the values of the wanted ones."""
    if path.stat().st_size > _MAX_BYTES:
        raise NetworkFileError(path, "", "larger than 1 GiB")
    data = path.read_bytes()
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128], "")
    if data.startswith((b"MATLAB 7.3 MAT-file", b"\x89HDF")):
        raise NetworkFileError(path, "", "saved as version 7.3; save it again with the option -v7")
    if not order or struct.unpack(f"{order}H", data[124:126])[0] >> 8 != 1:
        raise NetworkFileError(
            path, "", "not a MAT file of version 5 to 7; save it with the option -v7"
        )
    try:
        return _variables(_Reader(order), data[128:], is_wanted)
    except NetworkError:
        raise
    except RecursionError:
        raise NetworkFileError(path, "", "cell arrays nested too deeply") from None
    except (ValueError, struct.error, zlib.error, OverflowError) as error:
        raise NetworkFileError(
            path, "", f"not a readable .mat file: {error or type(error).__name__}"
        ) from None


def _variables(
    reader: _Reader, data: bytes, is_wanted: Callable[[str], bool]
) -> tuple[list[str], dict[str, Variable]]:
    """Return the names and the wanted values of the variables in the elements of a file."""
    names, values = list[str](), dict[str, Variable]()
    for kind, content in reader.elements(data):
        compressed = content if kind == _COMPRESSED else b""
        if compressed:  # the first bytes contain the type and the name of the variable
            kind, content = reader.first_element(_inflated(compressed, 4096))
        if kind != _MATRIX:
            raise ValueError(f"an element of type {kind} where a variable was expected")
        name = reader.name(content)
        if name in names:
            raise ValueError(f"two variables {name!r}")
        names.append(name)
        if is_wanted(name):
            if compressed:
                limit = min(_MAX_BYTES, remaining("unpacked", _MAX_BYTES) + 1)
                inflated = _inflated(compressed, limit)
                need(unpacked=len(inflated))
                _, content = reader.first_element(inflated)
            values[name] = reader.value(content)
    return names, values


def _inflated(compressed: bytes, limit: int) -> bytes:
    """Return at most `limit` bytes of the decompressed content."""
    return zlib.decompressobj().decompress(compressed, limit)


@dataclass(slots=True)
class _Reader:
    """A reader of elements in a byte order.

    Attributes
    ----------
    order
        The byte order, "<" or ">".
    numbers
        The number of entries read so far, which is limited for a file.
    """

    order: str
    numbers: int = 0

    def elements(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the types and contents of the elements, one after the other."""
        position = 0
        while position < len(data):
            kind, length, start, end = self._place(data, position)
            if start + length > len(data):
                raise ValueError(
                    f"an element of {length} bytes, of which {len(data) - start} are there"
                )
            yield kind, data[start : start + length]
            position = end

    def first_element(self, data: bytes) -> tuple[int, bytes]:
        """Return the type and the content of the first element, which may be incomplete."""
        kind, length, start, _ = self._place(data, 0)
        return kind, data[start : start + length]

    def _place(self, data: bytes, position: int) -> tuple[int, int, int, int]:
        """Return type, length, start and end of an element; its tag may contain up to 4 bytes."""
        kind, length = struct.unpack_from(f"{self.order}II", data, position)
        if kind >> 16:
            return kind & 0xFFFF, kind >> 16, position + 4, position + 8
        padding = 0 if kind == _COMPRESSED else -length % 8
        return kind, length, position + 8, position + 8 + length + padding

    def name(self, content: bytes) -> str:
        """Return the name of a matrix."""
        parts = self.elements(content)
        for _ in range(2):
            _next(parts)
        return self._name(*_next(parts))

    def _name(self, kind: int, content: bytes) -> str:
        """Return the name in an element."""
        name = content.decode("ascii")
        if kind != 1 or not (name.isidentifier() or not name):
            raise ValueError("the name of a variable is not readable")
        return name

    def value(self, content: bytes) -> Variable:
        """Return the value of a matrix."""
        if not content:  # an empty cell
            return np.zeros((0, 0))
        parts = self.elements(content)
        flags, shape = self._integers(*_next(parts)), tuple(self._integers(*_next(parts)))
        self._name(*_next(parts))
        if len(flags) != 2 or len(shape) < 2 or min(shape) < 0:
            raise ValueError("flags or shape of a matrix are not readable")
        kind = flags[0] & 0xFF
        if flags[0] & (_COMPLEX | _LOGICAL):
            return None
        if kind == _CELL:
            return self._cells(shape, list(parts))
        if kind == _CHAR:
            return self._text(shape, *_next(parts))
        if kind == _SPARSE:
            return self._sparse(shape, [_next(parts) for _ in range(3)])
        return self._array(shape, _CLASSES[kind], *_next(parts)) if kind in _CLASSES else None

    def _integers(self, kind: int, content: bytes) -> list[int]:
        """Return the integers in an element."""
        if kind not in (5, 6):
            raise ValueError(f"an element of type {kind} where integers were expected")
        return [int(entry) for entry in np.frombuffer(content, self.order + _NUMBERS[kind])]

    def _cells(self, shape: tuple[int, ...], parts: list[tuple[int, bytes]]) -> Cells:
        """Return a cell array with the matrices in its elements."""
        if len(parts) != math.prod(shape) or any(kind != _MATRIX for kind, _ in parts):
            raise ValueError(f"{len(parts)} cells where {math.prod(shape)} were expected")
        return Cells(shape, [self.value(content) for _, content in parts])

    def _text(self, shape: tuple[int, ...], kind: int, content: bytes) -> Text:
        """Return the rows of a matrix of characters."""
        encoding = _ENCODINGS.get(kind)
        if encoding is None:
            raise ValueError(f"text of type {kind}")
        suffix = "" if encoding in ("latin-1", "utf-8") else {"<": "-le", ">": "-be"}[self.order]
        letters = np.array(list(content.decode(encoding + suffix)), dtype=object)
        if letters.size != math.prod(shape):
            raise ValueError(f"{letters.size} characters where {math.prod(shape)} were expected")
        table = letters.reshape(shape[0], -1, order="F") if letters.size else letters.reshape(0, 0)
        return Text(["".join(row) for row in table])

    def _sparse(self, shape: tuple[int, ...], parts: list[tuple[int, bytes]]) -> NDArray[Any]:
        """Return a sparse matrix as a full one: rows of the entries, starts of columns, numbers.

        The arrays may be longer than the number of entries, which is the last start.
        """
        rows, starts = (np.array(self._integers(*part), dtype=np.int64) for part in parts[:2])
        (kind, content) = parts[2]
        if kind not in _NUMBERS or len(shape) != 2:
            raise ValueError("a sparse matrix is not readable")
        numbers = np.frombuffer(content, self.order + _NUMBERS[kind])
        self._count(math.prod(shape))
        count = int(starts[-1]) if starts.size else -1
        if (
            starts.size != shape[1] + 1
            or not 0 <= count <= min(rows.size, numbers.size)
            or starts[0] != 0
            or (np.diff(starts) < 0).any()
            or ((rows[:count] < 0) | (rows[:count] >= shape[0])).any()
        ):
            raise ValueError("a sparse matrix is not readable")
        columns = np.repeat(np.arange(shape[1]), np.diff(starts))
        if np.unique(rows[:count] + columns * shape[0]).size < count:
            raise ValueError("a sparse matrix has two entries at one place")
        full = np.zeros(shape)
        full[rows[:count], columns] = numbers[:count]
        return full

    def _count(self, size: int) -> None:
        """Count entries of the file, or raise an error if there are too many."""
        self.numbers += size
        if self.numbers > PARAMETER_LIMIT:
            raise ValueError(f"more than {PARAMETER_LIMIT} numbers")

    def _array(
        self, shape: tuple[int, ...], number_type: str, kind: int, content: bytes
    ) -> NDArray[Any]:
        """Return an array; a file stores its numbers in the shortest type that holds them."""
        if kind not in _NUMBERS:
            raise ValueError(f"numbers of type {kind}")
        stored = np.frombuffer(content, self.order + _NUMBERS[kind])
        if stored.size != math.prod(shape):
            raise ValueError(f"{stored.size} numbers where {math.prod(shape)} were expected")
        self._count(stored.size)
        with np.errstate(invalid="ignore", over="ignore"):
            converted = stored.astype(number_type)
        if not np.array_equal(converted, stored, equal_nan=True):
            raise ValueError("numbers that their type does not hold")
        return converted.reshape(shape, order="F")


def _next(parts: Iterator[tuple[int, bytes]]) -> tuple[int, bytes]:
    """Return the next element of a matrix, or raise an error if there is none."""
    found = next(parts, None)
    if found is None:
        raise ValueError("a matrix ends early")
    return found
