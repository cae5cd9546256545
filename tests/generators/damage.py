"""Damaged copies of good files."""

from __future__ import annotations

import random


def damaged(chance: random.Random, content: bytes) -> bytes:
    """Return a copy with a few bits flipped, or a few bytes overwritten, removed or repeated."""
    found = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 2])):
        position, change = chance.randrange(len(found)), chance.randrange(8)
        if change < 4:
            found[position] ^= 1 << chance.randrange(8)
        elif change < 6:
            found[position] = chance.randrange(256)
        elif change == 6:
            del found[position : position + chance.randint(1, 4)]
        else:
            found[position:position] = found[position : position + chance.randint(1, 9)]
    return bytes(found)
