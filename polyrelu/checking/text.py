"""Files as JSON values, shapes of values, and numbers in strings."""

from __future__ import annotations

import io
import json
import math
import re
import zlib
from fractions import Fraction
from typing import IO, Any

from polyrelu.checking.meter import Meter, quote, well_formed

# ==== 1. Text ====

CERTIFICATE_BYTES, NETWORK_BYTES = 256 << 20, 1 << 30
GZIP_START = b"\x1f\x8b"
#: Bytes of a network file that are unpacked before the next ones are paid.
UNPACKED_PART = 1 << 20

# Possessive quantifiers: no backtracking. `fullmatch` everywhere, because `$` matches before "\n".
NUMBER = r"(?:-?0x[1-9a-f][0-9a-f]{0,4095}+|0|-?[1-9][0-9]{0,999}+)"
NATURAL, ROW = re.compile(f"(?!-){NUMBER}"), re.compile(f"{NUMBER}(?: {NUMBER})*+")
RATIONAL, INDEX = re.compile(f"{NUMBER}(?:/(?!-){NUMBER})?+"), re.compile("[0-9]{1,9}")
#: Integers from here on are hexadecimal.
FIRST_HEXADECIMAL = 10**1000


class OneOf(tuple[Any, ...]):
    """A shape: one of several shapes."""


class Mismatch:
    """How a value differs from a shape, and where: keys and indices from the inside out."""

    def __init__(self, wanted: Any, value: Any) -> None:
        self.wanted, self.value, self.path = wanted, value, list[str]()

    def within(self, key: str) -> Mismatch:
        """The same as a part of a larger value."""
        self.path.append(key)
        return self

    def text(self) -> str:
        """What was expected and what was found."""
        if isinstance(self.wanted, dict):
            found = ", ".join(self.value) if isinstance(self.value, dict) else self.value
            return f"expected the keys {', '.join(self.wanted)}, got {quote(found)}"
        wanted = getattr(self.wanted, "pattern", self.wanted)
        if isinstance(self.wanted, type):
            wanted = self.wanted.__name__
        if isinstance(self.wanted, tuple):
            wanted = f"a list of {len(self.wanted)} entries"
        return f"expected {quote(wanted)}, got {quote(self.value)}"


def mismatch(value: Any, shape: Any) -> Mismatch | None:
    """How a value differs from a shape; None if it does not.

    A shape is a dict (exactly these keys), a list (entries alike), a tuple (a list this long), a
    pattern, `int`, `object` (anything), OneOf, or a literal. Types are exact: to Python True == 1.
    """
    if isinstance(shape, OneOf):
        return mismatch_of_all(value, shape)
    if isinstance(shape, dict):
        if type(value) is not dict or value.keys() != shape.keys():
            return Mismatch(shape, value)
        return first_mismatch((f".{key}", value[key], entry) for key, entry in shape.items())
    if isinstance(shape, list):
        if type(value) is not list:
            return Mismatch(list, value)
        return first_mismatch((f"[{i}]", entry, shape[0]) for i, entry in enumerate(value))
    if isinstance(shape, tuple):
        if type(value) is not list or len(value) != len(shape):
            return Mismatch(shape, value)
        pairs = enumerate(zip(value, shape, strict=True))
        return first_mismatch((f"[{i}]", entry, part) for i, (entry, part) in pairs)
    if isinstance(shape, re.Pattern):
        fits = type(value) is str and shape.fullmatch(value) is not None
    elif isinstance(shape, type):
        fits = shape is object or type(value) is shape
    else:
        fits = type(value) is type(shape) and value == shape
    return None if fits else Mismatch(shape, value)


def first_mismatch(parts: Any) -> Mismatch | None:
    """The first of the parts (key, value, shape) that differs."""
    for key, value, shape in parts:
        if found := mismatch(value, shape):
            return found.within(key)
    return None


def mismatch_of_all(value: Any, options: OneOf) -> Mismatch | None:
    """The mismatch that lies deepest, if a value has none of several shapes."""
    tried = list[Mismatch]()
    for option in options:
        found = mismatch(value, option)
        if found is None:
            return None
        tried.append(found)
    return max(tried, key=lambda found: len(found.path))


def fit(value: Any, shape: Any, place: str) -> None:
    """A value of another shape is unreadable."""
    if found := mismatch(value, shape):
        well_formed(False, found.text(), place + "".join(reversed(found.path)))


def parse(data: bytes, place: str, size: int, meter: Meter) -> Any:
    """The JSON value of a file, paid for before it is parsed.

    `json` sees no escapes, and refuses deep nesting by itself.
    """
    well_formed(len(data) <= size, f"more than {size} bytes, the limit of the format", place)
    meter.units(8 * len(data))
    well_formed(data.isascii(), "a byte that is not ASCII, so the file is not in the format", place)
    well_formed(b"\\" not in data, "a backslash, so the file is not in the format", place)
    commas, colons, lists, objects = (data.count(mark) for mark in (b",", b":", b"[", b"{"))
    meter.units(500 * (commas + colons + lists + objects))
    meter.hold(cells_of_text(data) + commas + 2 * colons + lists + 3 * objects)
    try:
        text = data.decode("ascii")  # `json` would take bytes with NULs for UTF-16
        return json.loads(
            text,
            parse_int=lambda digits: index(digits, place),
            parse_float=lambda digits: index(digits, place),
            parse_constant=lambda digits: index(digits, place),
            object_pairs_hook=lambda items: without_duplicates(items, place),
        )
    except ValueError as error:
        return well_formed(False, f"not JSON: {error}", place)


def unpacked(data: bytes, place: str, size: int, meter: Meter) -> bytes:
    """The bytes of a file that may be packed, paid for part by part: few bytes may hold many."""
    if not data.startswith(GZIP_START):
        return data
    found, cells = io.BytesIO(), 0
    with io.BufferedReader(Unpacked(io.BytesIO(data))) as file:
        while part := file.read(UNPACKED_PART):
            found.write(part)
            message = f"more than {size} bytes unpacked, the limit of the format"
            well_formed(found.tell() <= size, message, place)
            meter.units(8 * len(part))
            meter.hold(cells_of_text(part))
            cells += cells_of_text(part)
    meter.release(cells)
    return found.getvalue()


class Unpacked(io.RawIOBase):
    """What the members of a packed file hold, one after the other.

    Zeros may follow a member. `zlib` looks at the headers and at the sums of the members.
    """

    #: Bytes that are read at once.
    SIZE = 1 << 16
    #: A window of 2^15 bytes, and a header and sums as RFC 1952 says.
    FORMAT = 31

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self.file, self.packed, self.member = file, b"", zlib.decompressobj(self.FORMAT)

    def readable(self) -> bool:
        """Files of this kind are only read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a part of a buffer; nothing, at the end of the last member."""
        found = b""
        while not found:
            self.packed = self.packed or self.file.read(self.SIZE)
            if self.member.eof:
                if not self.packed:
                    return 0
                self.packed = self.packed.lstrip(b"\0")
                if self.packed:
                    self.member = zlib.decompressobj(self.FORMAT)
                continue
            is_ended = not self.packed
            try:
                found = self.member.decompress(self.packed, len(buffer))
            except zlib.error as error:
                well_formed(False, f"not a packed file, or a damaged one: {error}")
            self.packed = self.member.unconsumed_tail or self.member.unused_data
            if is_ended and not found:
                raise EOFError
        buffer[: len(found)] = found
        return len(found)


def cells_of_text(data: bytes) -> int:
    """The cells that a text takes."""
    return len(data) // 64


def index(digits: str, place: str) -> int:
    """A JSON number, which is an index or a count."""
    if not INDEX.fullmatch(digits):
        well_formed(False, f"not an integer from 0 to 999999999: {quote(digits)}", place)
    return int(digits)


def without_duplicates(items: list[tuple[str, Any]], place: str) -> dict[str, Any]:
    """A JSON object."""
    found = dict(items)
    well_formed(len(found) == len(items), "duplicate key", place)
    return found


def integer(text: str) -> int:
    """An integer that matches NUMBER; one that is spelled in the other way is unreadable."""
    if "x" not in text:
        return int(text)
    value = int(text, 16)
    if abs(value) < FIRST_HEXADECIMAL:
        well_formed(False, "integers below 10^1000 must be decimal", quote(text))
    return value


def integers(row: str, meter: Meter) -> list[int]:
    """The numbers of a text that matches ROW."""
    parts = row.split(" ")
    meter.units(200 * len(parts) + 8 * len(row))
    meter.hold(len(parts) - 7 * parts.count("0") // 8)
    return list(map(int, parts)) if "x" not in row else list(map(integer, parts))


def rational(text: str, meter: Meter) -> Fraction:
    """A number that matches RATIONAL, in lowest terms."""
    meter.units(1_000 + len(text) ** 2 // 256)
    top, slash, bottom = text.partition("/")
    if not slash:
        return Fraction(integer(top))
    p, q = integer(top), integer(bottom)
    if q < 2 or math.gcd(p, q) != 1:
        well_formed(False, "must be in lowest terms, denominator >= 2", quote(text))
    return Fraction(p, q)


def rationals(texts: list[str], meter: Meter) -> list[Fraction]:
    """The numbers of a list."""
    return [rational(text, meter) for text in texts]
