"""Which exact vertices a claimed point may stand for, found by sorting and decided exactly.

Floats propose pairs: vertices are sorted by their product with a fixed direction, so that those
near a claimed point are neighbours in this order. Whether a point may stand for a vertex is then
decided with fractions, except where it is the nearest float of each coordinate and the allowance
permits that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polyrelu.audit.allowance import Allowance
from polyrelu.audit.tables import entry, floats_of, is_finite
from polyrelu.exact import to_fraction
from polyrelu.support.typing import Array, Floats, Indices, Mask, Point

__all__ = ["VertexIndex", "matched"]

#: Number of pairs of points whose distances are computed at a time.
_PAIRS_PER_BLOCK = 1 << 22


class VertexIndex:
    """Exact points, sorted for the search of those near a claimed point.

    Examples
    --------
    >>> from fractions import Fraction
    >>> index = VertexIndex([(Fraction(1, 3),)], np.array([[1 / 3]]), Allowance())
    >>> index.candidates(np.array([[1 / 3], [0.3]]))
    [[0], []]
    """

    def __init__(self, points: Sequence[Point], floats: Floats, allowance: Allowance) -> None:
        self.points, self.floats, self.allowance = points, floats, allowance
        self._direction = np.sqrt(np.arange(2, floats.shape[1] + 2))  # no simple ratios
        with np.errstate(all="ignore"):
            keys = floats @ self._direction
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    def candidates(self, rows: Array) -> list[list[int]]:
        """Return for each claimed point the exact points that it may stand for."""
        floats = floats_of(rows)
        with np.errstate(all="ignore"):
            keys = floats @ self._direction
            # Each of the two keys is off by at most (n + 2) u times such a sum.
            unit = (2 * floats.shape[1] + 8) * 2.0**-53
            reach = self._reach(floats) + unit * (np.abs(floats) @ self._direction)
            first = np.searchsorted(self._keys, keys - reach)
            last = np.searchsorted(self._keys, keys + reach, side="right")
        usable: Mask = np.asarray(is_finite(rows).all(axis=1))
        found: list[list[int]] = []
        for i, (start, end) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
            near = self._order[start:end].tolist() if usable[i] else []
            found.append([k for k in near if self._allowed(rows[i], floats[i], k)])
        return found

    def _reach(self, floats: Floats) -> Floats:
        """Return a bound on the difference of keys of points that may stand for each other."""
        allowance = self.allowance
        kind = np.float32 if allowance.arithmetic == "float32" else np.float64
        units = np.spacing(np.abs(floats).astype(kind)).astype(np.float64)
        bound = 2 * float(to_fraction(allowance.ulps)) * units + float(
            to_fraction(allowance.absolute)
        )
        return np.asarray((1.001 * bound) @ self._direction)

    def _allowed(self, row: Array, floats: Floats, number: int) -> bool:
        """Return whether a claimed point may stand for an exact one."""
        is_float = self.allowance.allows_nearest and row.dtype != object
        if is_float and (floats == self.floats[number]).all():
            return True
        pairs = zip(row, self.points[number], strict=True)
        return all(self.allowance.allows(entry(claimed), exact) for claimed, exact in pairs)

    def nearest(self, rows: Array) -> Indices:
        """Return the number of the exact point that looks nearest to each claimed one."""
        floats = np.nan_to_num(floats_of(rows))
        found = np.zeros(len(rows), dtype=np.int64)
        size = max(1, _PAIRS_PER_BLOCK // max(1, self.floats.size))
        for start in range(0, len(rows), size):
            block = floats[start : start + size, None, :]
            found[start : start + size] = np.abs(block - self.floats).max(axis=2).argmin(axis=1)
        return found


def matched(candidates: Sequence[Sequence[int]]) -> Indices:
    """Return an exact point for each claimed one that has candidates, and -1 for the others.

    As many exact points as possible are used. A claimed point beyond that gets its first candidate,
    which another one has already.

    >>> matched([[0, 1], [0], [], [0]]).tolist()
    [1, 0, -1, 0]
    """
    assigned = np.array([near[0] if near else -1 for near in candidates], dtype=np.int64)
    unclear = np.array([len(near) > 1 for near in candidates], dtype=bool)
    if not unclear.any():
        return assigned
    contested = {k for i in np.flatnonzero(unclear).tolist() for k in candidates[i]}
    involved = [i for i, near in enumerate(candidates) if contested.intersection(near)]
    for item, exact in _maximum_matching(candidates, involved).items():
        assigned[item] = exact
    return assigned


def _maximum_matching(candidates: Sequence[Sequence[int]], items: Sequence[int]) -> dict[int, int]:
    """Return a maximum matching of items with their candidates."""
    import networkx as nx

    graph = nx.Graph()
    # Nodes are integers, whose order in sets is the same in every process.
    graph.add_nodes_from(items)
    graph.add_edges_from((i, -1 - k) for i in items for k in candidates[i])
    pairs = nx.bipartite.hopcroft_karp_matching(graph, items)
    return {one: -1 - other for one, other in pairs.items() if one >= 0}
