"""The longest chain of bends of bends among some ridges: a bound on the number of hidden layers.

A crossing of type B or C leads from the level of u to the level of v, which is of a later layer in
every competitor, whatever its widths and depth (`families`). Mathematics:
docs/theory/minimality.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import networkx as nx

from polyrelu.proofs.deep.ridges import Piece, Ridge

__all__ = ["longest_chain"]


def longest_chain(ridges: Iterable[Ridge]) -> tuple[int, list[Ridge]]:
    """Return the number of steps of a longest chain, and few ridges that show it.

    Without good ridges the number is -1; without steps one good ridge is returned.
    """
    good = [ridge for ridge in ridges if ridge.crossing is not None]
    if not good:
        return -1, []
    linked, steps = _linked(good), nx.DiGraph()
    level: dict[Piece, int] = {}
    for number, pieces in enumerate(nx.connected_components(linked)):
        level |= dict.fromkeys(pieces, number)
    for ridge in good:
        crossing = ridge.crossing
        if crossing is not None and crossing.kind != "A":
            steps.add_edge(level[crossing.u], level[crossing.v], ridge=ridge)
    chain = nx.dag_longest_path(steps)
    found = [steps.edges[edge]["ridge"] for edge in pairwise(chain)]
    if not found:
        return 0, good[:1]
    shown = dict.fromkeys(found)
    for low, high in pairwise(found):
        path = nx.shortest_path(linked, low.crossing.v, high.crossing.u)
        shown |= dict.fromkeys(linked.edges[edge]["ridge"] for edge in pairwise(path))
    return len(found), list(shown)


def _linked(ridges: Iterable[Ridge]) -> nx.Graph:
    """The pieces, with edges between those of one level of every competitor."""
    linked = nx.Graph()
    for ridge in ridges:
        linked.add_nodes_from(ridge.pieces)
        linked.add_edges_from(ridge.links, ridge=ridge)
        crossing = ridge.crossing
        if crossing is not None and crossing.kind == "A":
            linked.add_edge(crossing.u, crossing.v, ridge=ridge)
    return linked
