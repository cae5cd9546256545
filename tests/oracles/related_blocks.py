"""Whether two small networks of blocks are related, by all permutations of their hidden neurons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product

from polyrelu.network import Network

__all__ = ["related_blocks"]

#: A neuron: its layer and index. The inputs and outputs, and the constant 1, are one node.
Node = tuple[int, int]
FIXED = (-1, 0)


def related_blocks(one: Network, two: Network) -> bool:
    """Return whether permutations and positive scales of hidden neurons lead from one to two."""
    orders = [permutations(range(width)) for width in one.widths[1:-1]]
    return any(
        _has_scales(_ratios(one, two, [range(one.num_inputs), *chosen, range(one.num_outputs)]))
        for chosen in product(*orders)
    )


def _ratios(
    one: Network, two: Network, orders: Sequence[Sequence[int]]
) -> Iterator[tuple[Node, Node, Fraction, Fraction]]:
    """Yield entries w, w' between neurons i, h; related networks have w' = w s(i) / s(h)."""
    for number, (mine, others) in enumerate(zip(one.layers, two.layers, strict=True), 1):
        for i, k in enumerate(orders[number]):
            node = FIXED if number == one.depth else (number, i)
            yield node, FIXED, mine.bias[i, 0], others.bias[k, 0]
            for block, other in zip(mine.blocks, others.blocks, strict=True):
                for h, m in enumerate(orders[block.source]):
                    source = (block.source, h) if block.source else FIXED
                    yield node, source, block.weight[i, h], other.weight[k, m]


def _has_scales(ratios: Iterator[tuple[Node, Node, Fraction, Fraction]]) -> bool:
    """Return whether positive scales fit all entries, walking along those that are not 0."""
    edges = dict[Node, list[tuple[Node, Fraction]]]()
    for i, h, w, other in ratios:
        if (w > 0) != (other > 0) or (w < 0) != (other < 0):
            return False
        if w:
            edges.setdefault(i, []).append((h, w / other))
            edges.setdefault(h, []).append((i, other / w))
    scales = dict[Node, Fraction]()
    for start in (FIXED, *edges):
        if start in scales:
            continue
        scales[start], waiting = Fraction(1), [start]
        while waiting:
            node = waiting.pop()
            for neighbour, factor in edges.get(node, []):
                wanted = scales[node] * factor
                if neighbour not in scales:
                    scales[neighbour] = wanted
                    waiting.append(neighbour)
                elif scales[neighbour] != wanted:
                    return False
    return True
