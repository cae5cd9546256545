"""Lists of integers that are packed into one integer, so that one product serves all of them."""

from __future__ import annotations

from collections.abc import Sequence

# ==== 5.8 Bounds: theorems deviation, range, holds, same-decisions ====

# -- Packed numbers


class Packing:
    """`count` integers of absolute value below 2^(slot-1) as digits of one integer, base 2^slot.

    Sums and multiples of packed lists are those of the lists, as long as the digits stay small.
    """

    def __init__(self, slot: int, count: int) -> None:
        self.slot, self.count, self.base = slot, count, (1 << slot) - 1
        self.ones = ((1 << slot * count) - 1) // self.base
        self.half = self.ones << slot - 1  # added, it makes all digits positive
        self.low = self.half - self.ones

    def pack(self, digits: Sequence[int]) -> int:
        """The list as one integer; the slot is a number of bytes. The empty list is 0."""
        size, half = self.slot // 8, 1 << self.slot - 1
        text = b"".join((x + half).to_bytes(size, "little") for x in digits)
        return int.from_bytes(text, "little") - self.half if digits else 0

    def digits(self, packed: int) -> list[int]:
        """The list of a packed integer."""
        size, half = self.slot // 8, 1 << self.slot - 1
        text = (packed + self.half).to_bytes(size * self.count + 1, "little")
        places = range(0, size * self.count, size)
        return [int.from_bytes(text[k : k + size], "little") - half for k in places]

    def is_multiple(self, packed: int, shift: int) -> bool:
        """Whether every digit is a multiple of 2^shift."""
        return not packed + self.half & (self.ones << shift) - self.ones

    def floored(self, packed: int, shift: int) -> int:
        """Every digit over 2^shift, rounded down."""
        kept = (self.ones << self.slot - shift) - self.ones
        return ((packed + self.half >> shift) & kept) - (self.half >> shift)

    def radius(self, packed: int) -> int:
        """The sum of the absolute values of all digits, which is below 2^slot - 1.

        The bits of negative digits are flipped; modulo 2^slot - 1 a number is the sum of its
        digits.
        """
        raised = packed + self.half
        negative = self.ones - (raised >> self.slot - 1 & self.ones)
        flipped = (raised ^ (negative << self.slot - 1) - negative) & self.low
        return (flipped + negative) % self.base
