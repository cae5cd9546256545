"""Limits of split trees."""

from __future__ import annotations

# ==== 5.2 Limits ====

#: Maximum number of splits one below the other, and of bytes of a line and of a file, unpacked.
MAX_DEPTH, MAX_LINE, MAX_TREE = 4_096, 64 << 20, 2**36
