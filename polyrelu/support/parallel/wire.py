"""Tasks and results of searches as bytes: JSON, with exact numbers in hexadecimal digits."""

from __future__ import annotations

import contextlib
import json
import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from polyrelu.errors import PolyreluError

__all__ = ["exact_numbers", "exact_texts", "packed", "understood", "unpacked", "work_of"]

#: Maximum number of bytes of a task or a result, after it was decompressed.
_MAX_BYTES = 1 << 28
#: What comes of entries of another form.
_WRONG_FORM = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RecursionError,
    zlib.error,
)


def exact_texts(numbers: Iterable[Fraction]) -> list[str]:
    """Return exact numbers as texts, whatever their length.

    >>> exact_texts([Fraction(-17, 4), Fraction(3)])
    ['-11/4', '3/1']
    """
    return [f"{number.numerator:x}/{number.denominator:x}" for number in numbers]


def exact_numbers(texts: Sequence[str]) -> tuple[Fraction, ...]:
    """Return the numbers of texts.

    >>> exact_numbers(["-11/4", "3/1"])
    (Fraction(-17, 4), Fraction(3, 1))
    """
    pairs = (text.split("/") for text in texts)
    return tuple(Fraction(int(above, 16), int(below, 16)) for above, below in pairs)


def packed(entries: Any) -> bytes:
    """Return lists, numbers and texts as bytes, always the same for the same entries.

    >>> unpacked(packed({"cuts": [[0, 2]], "upper": [0.5, float("inf")]}))
    {'cuts': [[0, 2]], 'upper': [0.5, inf]}
    """
    text = json.dumps(entries, separators=(",", ":"), sort_keys=True)
    return zlib.compress(text.encode("ascii"), 1)


def unpacked(data: bytes) -> Any:
    """Return the entries of `packed`."""
    with understood():
        stream = zlib.decompressobj()
        text = stream.decompress(data, _MAX_BYTES)
        if not stream.eof:
            raise ValueError("too long")
        return json.loads(text)


def work_of(result: Any) -> float:
    """Return the units of work that a task has spent."""
    with understood():
        work = float(result["work"])
        if not 0 <= work < math.inf:
            raise ValueError("not an amount of work")
        return work


@contextlib.contextmanager
def understood() -> Iterator[None]:
    """Turn errors of a result of another form into an error for people."""
    try:
        yield
    except _WRONG_FORM:
        raise PolyreluError(
            "a result in the checkpoint, or of a worker, is not understood; delete the checkpoint, "
            "and use the same version of polyrelu everywhere"
        ) from None
