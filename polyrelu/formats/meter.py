"""The meter of a file: how much memory and work a file may ask for while it is read.

A few hundred bytes can ask for gigabytes: a window slides over a large value, two convolutions
without a ReLU between them are multiplied out, an archive unpacks to a thousand times its size.
Each step of a reader alone may be modest, so that one meter counts them all, from the first
unpacked byte to the last layer. Readers ask `need` before they allocate or compute, and the meter
raises an error
in one line once the sum exceeds what a file of that size may ask for.

`load.read` opens a meter for each file. Objects of Python, which are in memory already, have none.
A user who knows that a file needs more raises all limits by a factor (`ReadOptions.read_limit`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from polyrelu.errors import NetworkError

__all__ = [
    "JSON_FACTOR",
    "LIMITS",
    "PACKED_LIMIT",
    "Limit",
    "Meter",
    "allow_file",
    "metered",
    "need",
    "remaining",
]


#: More than any file can ask for.
_NO_LIMIT = 2**62


@dataclass(frozen=True, slots=True)
class Limit:
    """How much of something a file may ask for, in all.

    Attributes
    ----------
    base
        The amount for an empty file.
    per_byte
        The further amount for each byte of the file.
    """

    base: int
    per_byte: int

    def of(self, size: int) -> int:
        """Return the amount for a file of that many bytes."""
        return self.base + self.per_byte * size

    def times(self, factor: float, size: int) -> int:
        """Return a multiple of the amount, which is finite for an infinite factor too."""
        return int(min(factor * self.of(size), _NO_LIMIT))


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a meter.

    Attributes
    ----------
    entries
        Numbers that are held in values, matrices and tables of indices. An entry takes about 40
        bytes and half a microsecond until the network is compared with its runtime.
    products
        Products of two numbers, in units of one product of sparse matrices with short numbers, a
        fifth of a microsecond.
    unpacked
        Bytes that come out of an archive, and bytes that are read from other files.
    """

    entries: Limit = Limit(3 * 10**7, 12)
    products: Limit = Limit(6 * 10**7, 20)
    unpacked: Limit = Limit(2**26, 64)


LIMITS = Limits()
#: What a file in gzip's format may unpack to. Weights pack to a half and text to a tenth of their
#: size, while parsers take up to 500 bytes of memory for each byte of a file.
PACKED_LIMIT = Limit(2**22, 32)

#: Unpacked bytes that a byte of JSON counts for: a list of two characters takes 56 bytes.
JSON_FACTOR = 8


class Meter:
    """What the file that is being read has asked for so far.

    Attributes
    ----------
    size
        Number of bytes of the file, and of the files that belong to it.
    factor
        How many times the usual amounts the file may ask for, maybe infinite.
    files
        The names of these other files.
    used
        The amount of each kind, by the names of the fields of `Limits`.

    Examples
    --------
    >>> meter = Meter(100, Limits(entries=Limit(1000, 1)))
    >>> meter.need("entries", 1100)
    >>> meter.remaining("entries")
    0
    """

    def __init__(self, size: int, limits: Limits = LIMITS, factor: float = 1.0) -> None:
        self.size, self.factor, self.files, self._limits = size, factor, set[str](), limits
        self.used = {"entries": 0, "products": 0, "unpacked": 0}

    def remaining(self, kind: str) -> int:
        """Return how much of a kind the file may still ask for."""
        return self._limit(kind) - self.used[kind]

    def _limit(self, kind: str) -> int:
        limit: Limit = getattr(self._limits, kind)
        return limit.times(self.factor, self.size)

    def need(self, kind: str, amount: int) -> None:
        """Count an amount of a kind; raise a `NetworkError` if the file may not ask for it."""
        if amount > self.remaining(kind):
            raise NetworkError(
                f"reading it takes more than {self._limit(kind)} {_WORDS[kind]}, too many for a "
                f"file of {self.size} bytes; {_REMEDIES[kind]}, or read it without this limit: "
                "--read-limit inf (read_limit=inf)"
            )
        self.used[kind] += amount


_WORDS = {
    "entries": "entries of values, matrices and tables",
    "products": "products of numbers",
    "unpacked": "unpacked bytes",
}
_REMEDIES = {
    "entries": "export a smaller network, or one without so large values",
    "products": "export it with fewer affine operations between two ReLUs",
    "unpacked": "save it without compression, its tensors contiguous",
}

_meter: ContextVar[Meter | None] = ContextVar("_meter", default=None)


@contextmanager
def metered(size: int, factor: float = 1.0) -> Iterator[Meter]:
    """Count what is needed inside the `with` statement for a file of that many bytes.

    The file may ask for `factor` times the usual amounts.
    """
    meter = Meter(size, factor=factor)
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


def need(*, entries: int = 0, products: int = 0, unpacked: int = 0) -> None:
    """Count amounts for the file that is being read, before they are allocated or computed.

    A `NetworkError` is raised if the file may not ask for them.
    """
    meter = _meter.get()
    if meter is not None:
        for kind, amount in (("entries", entries), ("products", products), ("unpacked", unpacked)):
            if amount:
                meter.need(kind, int(amount))


def remaining(kind: str, default: int) -> int:
    """Return how much the file being read may still ask for, or the default outside of a file."""
    meter = _meter.get()
    return default if meter is None else meter.remaining(kind)


def allow_file(name: str, size: int) -> None:
    """Enlarge the limits by what another file, which belongs to the one being read, may use.

    Files are told apart by their names, so that each counts once.
    """
    meter = _meter.get()
    if meter is not None and name not in meter.files:
        meter.files.add(name)
        meter.size += size
