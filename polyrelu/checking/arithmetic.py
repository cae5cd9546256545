"""Exact arithmetic that several rules share: vectors, ranks, and forms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

from polyrelu.checking.meter import GROWN_BITS, Meter, longest, require, well_formed

# ---- Exact arithmetic

Matrix = Sequence[Sequence[int]]
#: A linear combination of symbols; which symbols there are depends on the rule. Symbol 0 is 1.
Form = dict[int, int]
#: Bytes of a number modulo a prime that is packed into one integer with others: a million products
#: of two such numbers can be added in this place.
PLACE = 18


class Row(tuple[int, ...]):
    """Integers as a key of a dictionary, hashed as text: nobody can make many hashes collide."""

    hashed = 0

    def __hash__(self) -> int:
        self.hashed = self.hashed or hash(" ".join(f"{x:x}" for x in self))
        return self.hashed


def dot(left: Iterable[int], right: Iterable[int]) -> int:
    """The scalar product."""
    return sum(x * y for x, y in zip(left, right, strict=True))


def primitive_plane(row: Sequence[int], meter: Meter) -> tuple[Row, int]:
    """(h, s) with row = s h, h primitive and its first nonzero entry positive; s = 0 if row = 0.

    There is one h for each hyperplane.
    """
    bits = longest([row])
    meter.pay(2 * len(row))
    meter.pay_divisions(2 * len(row), bits, bits)
    scale = math.gcd(*row) * (-1 if next((x for x in row if x), 0) < 0 else 1)
    return Row(x // (scale or 1) for x in row), scale


def check_indices(indices: Sequence[int], bound: int, name: str, count: int | None = None) -> None:
    """Require strictly ascending indices below a bound, and `count` of them if given."""
    require(all(x < y for x, y in pairwise(indices)), f"{name} in strictly ascending order")
    require(not indices or indices[-1] < bound, f"{name} below {bound}")
    require(count in (None, len(indices)), f"{count} {name}", str(len(indices)))


def common_denominator(numbers: Iterable[Fraction], name: str, meter: Meter) -> int:
    """The least common denominator, of at most 65,536 bits."""
    scale = 1
    for x in numbers:
        if x.denominator == scale:
            continue
        meter.pay_divisions(2, scale.bit_length(), x.denominator.bit_length())
        scale = math.lcm(scale, x.denominator)
        if scale.bit_length() > GROWN_BITS:
            message = f"beyond the limits: {name} of more than {GROWN_BITS} bits"
            well_formed(False, message)
    return scale


# -- ranks


def pack(row: Iterable[int]) -> int:
    """Numbers from 0 to a prime below 2^61, in one integer."""
    return int.from_bytes(b"".join(x.to_bytes(PLACE, "little") for x in row), "little")


def unpack(packed: int, count: int, prime: int) -> list[int]:
    """The numbers modulo the prime."""
    data = packed.to_bytes(PLACE * count, "little")
    return [
        int.from_bytes(data[i : i + PLACE], "little") % prime
        for i in range(0, PLACE * count, PLACE)
    ]


def reduce_into(basis: dict[int, int], row: Sequence[int], prime: int, meter: Meter) -> None:
    """Let a row join an echelon form modulo a prime; a row in its span leaves it as it is.

    The rows of the form are named by the column of their first nonzero entry, which is 1. Only what
    comes after this entry is kept, packed.
    """
    size = len(row)
    meter.units(300 * size)
    rest, place = pack(row), 8 * PLACE
    digit = (1 << place) - 1
    for c in range(size):
        x, rest = (rest & digit) % prime, rest >> place
        if x == 0:
            continue
        if c not in basis:
            inverse = pow(x, -1, prime)
            basis[c] = pack(y * inverse % prime for y in unpack(rest, size - c - 1, prime))
            return
        meter.units(200 + 15 * (size - c))
        rest += (prime - x) * basis[c]


def check_determinant(rows: list[list[int]], prime: int, meter: Meter) -> None:
    """Require a determinant that is not 0 modulo a prime."""
    basis = dict[int, int]()
    meter.hold(len(rows) ** 2)
    for row in rows:
        reduce_into(basis, [x % prime for x in row], prime, meter)
    require(len(basis) == len(rows), f"a determinant that is not 0 modulo {prime}", "zero")


def pivot_columns(matrix: Matrix, meter: Meter) -> list[int]:
    """Columns that are a basis of the column space.

    Bareiss: all numbers are minors, and divisions are exact.
    """
    rest, last, found = [list(row) for row in matrix], 1, list[int]()
    bits, width = longest(matrix), len(matrix[0]) if matrix else 0
    for c in range(width):
        pivot = next((row for row in rest if row[c]), None)
        if pivot is None:
            continue
        size = (len(found) + 1) * (bits + 10)
        left = (len(rest) - 1) * (width - c)
        meter.pay(10 * len(rest))
        meter.pay(2 * left, size, size)
        meter.pay_divisions(left, 2 * size, size)
        rest = [
            [(pivot[c] * x - row[c] * y) // last for x, y in zip(row, pivot, strict=True)]
            for row in rest
            if row is not pivot
        ]
        last = pivot[c]
        found.append(c)
    return found


def reduced(row: list[int], pivot: list[int], c: int, p: int, last: int) -> list[int]:
    """A row with 0 at the place c of the pivot p, over the pivot before."""
    q = row[c]
    if last == 1:
        return [p * x - q * y for x, y in zip(row, pivot, strict=True)]
    return [(p * x - q * y) // last for x, y in zip(row, pivot, strict=True)]


# -- forms


def add_to(sums: Form, form: Form, factor: int) -> None:
    """Add a multiple of a form."""
    if factor:
        for symbol, entry in form.items():
            sums[symbol] = sums.get(symbol, 0) + factor * entry


def added(one: Form, other: Form, factor: int) -> Form:
    """one + factor * other."""
    add_to(result := dict(one), other, factor)
    return result


def without_zeros(sums: Form) -> Form:
    """The form without coefficients that are 0."""
    return {symbol: entry for symbol, entry in sums.items() if entry}


def bits_of_form(form: Form) -> int:
    """The bits of the longest coefficient."""
    return max(map(int.bit_length, form.values()), default=0)
