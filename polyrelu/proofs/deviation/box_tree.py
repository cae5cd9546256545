"""Trees of cuts of a box, whose leaves are boxes again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from polyrelu.proofs.deviation.problem import ExactPoint

__all__ = ["BoxTree", "Cut"]


@dataclass(frozen=True, slots=True)
class Cut:
    """A cut of a box at the middle of a coordinate, into a lower and an upper part."""

    coordinate: int
    below: int
    above: int


@dataclass(slots=True)
class BoxTree:
    """A tree of cuts; nodes are numbered in the order in which they were made, the root is 0.

    A task has several roots, which have the first numbers.

    Attributes
    ----------
    cuts
        The cut of each inner node.
    num_nodes
        The number of nodes.
    """

    cuts: dict[int, Cut] = field(default_factory=dict)
    num_nodes: int = 1

    @property
    def num_leaves(self) -> int:
        """The number of leaves."""
        return self.num_nodes - len(self.cuts)

    def cut(self, node: int, coordinate: int) -> tuple[int, int]:
        """Cut a leaf, and return its two parts."""
        below, above = self.num_nodes, self.num_nodes + 1
        self.cuts[node] = Cut(coordinate, below, above)
        self.num_nodes += 2
        return below, above

    def copy(self) -> BoxTree:
        """Return a copy, which may be cut in another way."""
        return BoxTree(dict(self.cuts), self.num_nodes)

    def first_cuts(self, num_nodes: int) -> BoxTree:
        """Return the tree after its first cuts, with at most as many nodes."""
        cuts = {node: cut for node, cut in self.cuts.items() if cut.above < num_nodes}
        return BoxTree(cuts, 1 + 2 * len(cuts))

    def boxes(
        self, lower: ExactPoint, upper: ExactPoint
    ) -> Iterator[tuple[int, ExactPoint, ExactPoint]]:
        """Yield all nodes in prefix order, each with the corners of its box."""
        stack = [(0, lower, upper)]
        while stack:
            node, low, high = stack.pop()
            yield node, low, high
            if (cut := self.cuts.get(node)) is not None:
                j = cut.coordinate
                at = ((low[j] + high[j]) / 2,)
                stack.append((cut.above, low[:j] + at + low[j + 1 :], high))
                stack.append((cut.below, low, high[:j] + at + high[j + 1 :]))
