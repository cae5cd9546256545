"""The search of `node_search` by the compiled core, where it is installed.

The core solves the systems of signs in floats, proves what it finds by a bound on all rounding
errors, and asks Python for the others. It makes the same records
(docs/development/compiled-core.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from polyrelu._core import chosen_engine
from polyrelu.exact import SignSystem
from polyrelu.proofs.injectivity.independence import Quotient

__all__ = ["CompiledSearch", "compiled_search"]

#: The prime of the core.
_PRIME = 2**31 - 1
#: The least size of an entry that is not 0, as a part of the length of its row; HiGHS drops smaller
#: ones, and the error bounds of the core hold without underflow.
_LEAST = 1e-11


class CompiledSearch(Protocol):
    """A search in the core, see `polyrelu._core.compiled.SpanSearch`."""

    num_leaves: int
    depth: int
    closed: float

    def visit(self, count: int) -> bool:
        """Visit some nodes; return whether any is left."""

    def take_records(self) -> list[tuple[str, list[int]] | tuple[str, list[list[int]]]]:
        """Hand the records of the nodes over."""

    def open_nodes(self) -> list[tuple[list[int], list[int], float, int]]:
        """Return the nodes that are left."""

    def set_open_nodes(self, nodes: Sequence[tuple[list[int], list[int], float, int]]) -> None:
        """Let other nodes be left."""


def compiled_search(
    signs: SignSystem,
    num_zeros: int,
    root: Quotient,
    rounded: NDArray[np.int64],
    names: Sequence[int],
    limits: tuple[int, int],
    *,
    spend: Callable[[], None],
    solve: Callable[[NDArray[np.int8], NDArray[np.bool_], bool], list[int] | None],
    is_line: Callable[[list[int], list[int]], bool],
) -> CompiledSearch | None:
    """Return a search from a root on, or None where the core is missing or cannot do it.

    Parameters
    ----------
    signs
        The systems of signs of the neurons and then the limits.
    num_zeros
        Number of entries of these rows that are 0.
    root
        The neurons modulo the subspace of the root.
    rounded
        The neurons with rounded entries.
    names
        The numbers of rows in records.
    limits
        Maximum numbers of packed dependences, and of choices from them.
    spend, solve, is_line
        Pays for a system; solves one; decides whether U and new rows have one dimension more.
    """
    if root.prime != _PRIME or chosen_engine().name != "compiled":
        return None
    rows = signs.unit_rows
    if np.count_nonzero(np.abs(rows) < _LEAST) != num_zeros:
        return None
    from polyrelu._core.compiled import SpanSearch

    return SpanSearch(
        rows,
        signs.small_costs,
        root.rows.astype(np.uint32),
        root.is_outside.astype(np.uint8),
        list(root.members),
        rounded,
        list(names),
        limits,
        spend,
        solve,
        is_line,
    )
