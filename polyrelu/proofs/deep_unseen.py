"""Theorem D, weights of the last hidden layer that its own pieces do not show (proofs/deep.md, "Unseen weights").

Let v be a neuron of the last hidden layer, h one of the layer before, a *source*, that is on at no known piece of v.
The zeros of v do not show the weight W_vh, but the zeros of h may: where z_h = 0, f jumps by Σ_v W[L]_v W_vh ∇z_h, the
sum over the v that are on. If all other sources are off there, a competitor has the same neurons on, so that the
differences x_vh of the weights satisfy Σ_v W[L]_v x_vh = 0. What is needed:

* The rows of two neurons of the last hidden layer are independent on the weights that are seen of both, and the biases.
* On some cell of full dimension all sources are off, and every layer before the last hidden one has neurons on.
* Source by source, the equations at cells of codimension 1 where it alone vanishes, and all other sources that are not
  done are off, have only the solution x = 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np

from polyrelu.exact import eliminate_mod
from polyrelu.network import Network, NeuronId, SignVector
from polyrelu.proofs.deep_neurons import Portrait
from polyrelu.proofs.deep_ridges import Ridge, Space

__all__ = ["admissible", "shown_sources", "sources", "unshown_pairs"]

#: For each source h, by its index, the indices of the neurons v of the last hidden layer that have it on at no piece.
Sources = dict[int, list[int]]


def sources(network: Network, known: dict[NeuronId, Portrait]) -> Sources:
    """The sources of the last hidden layer, which is not the first one."""
    last = network.depth - 1
    found: Sources = {}
    for v in range(network.widths[last]) if last > 1 else ():
        portrait = known.get(NeuronId(last, v))
        for h in () if portrait is None else np.flatnonzero(~portrait.on).tolist():
            found.setdefault(h, []).append(v)
    return found


def admissible(network: Network, left: Iterable[int], cells: Iterable[SignVector]) -> Iterator[SignVector]:
    """The cells on which all the given sources are off, and every layer before the last hidden one has neurons on."""
    before, off = network.depth - 2, list(left)
    for signs in cells:
        if all(signs.layers[before - 1][h] < 0 for h in off) and all(map(signs.active, range(1, before + 1))):
            yield signs


def unshown_pairs(space: Space, ridges: Sequence[Ridge], known: dict[NeuronId, Portrait]) -> set[tuple[int, int]]:
    """The pairs (v, h) of sources whose weight the ridges do not show, by their indices."""
    shown = shown_sources(space, ridges, known)
    return {(v, h) for h, neurons in sources(space.network, known).items() if h not in shown for v in neurons}


def shown_sources(space: Space, ridges: Sequence[Ridge], known: dict[NeuronId, Portrait]) -> list[int]:
    """The sources whose weights the ridges show, in an order in which they do."""
    network = space.network
    left, order = sources(network, known), list[int]()
    cells = (signs for ridge in ridges for signs in ridge.sectors)
    if left and _rows_are_apart(network, known) and next(admissible(network, left, cells), None) is not None:
        facets = _facets(network.depth - 2, left, ridges)
        while done := [h for h in left if _is_shown(space, h, left, facets[h])]:
            left = {h: neurons for h, neurons in left.items() if h not in done}
            order += done
    return order


def _rows_are_apart(network: Network, known: dict[NeuronId, Portrait]) -> bool:
    last = network.depth - 1
    rows = network.layers[last - 1].augmented().integer_rows()
    seen = [np.append(known[NeuronId(last, v)].on, True) for v in range(len(rows)) if NeuronId(last, v) in known]
    if len(seen) < len(rows):
        return False
    for v, w in combinations(range(len(rows)), 2):
        common = np.flatnonzero(seen[v] & seen[w]).tolist()
        if eliminate_mod([[rows[v][k], rows[w][k]] for k in common], 2)[0] < 2:
            return False
    return True


def _facets(layer: int, left: Sources, ridges: Sequence[Ridge]) -> dict[int, list[SignVector]]:
    """Cells of codimension 1 on which a source alone vanishes."""
    found: dict[int, list[SignVector]] = {h: [] for h in left}
    for ridge in ridges:
        for neuron, pairs in ((ridge.u, ((0, 1), (0, -1))), (ridge.v, ((1, 0), (-1, 0)))):
            if neuron.layer == layer and neuron.index in left:
                found[neuron.index] += map(ridge.at, pairs)
    return found


def _is_shown(space: Space, h: int, left: Sources, facets: Sequence[SignVector]) -> bool:
    """Whether the jumps across zeros of h determine its weights on the neurons that do not see it."""
    network, neurons = space.network, left[h]
    others = [other for other in left if other != h]
    on = {
        tuple(signs.layers[-1][v] > 0 for v in neurons)
        for signs in facets
        if all(signs.layers[-2][other] < 0 for other in others)
    }
    outputs = network.weight(network.depth).integer_rows()
    rows = [
        [row[v] if is_on else 0 for v, is_on in zip(neurons, marks, strict=True)] for marks in on for row in outputs
    ]
    return eliminate_mod(rows, len(neurons))[0] == len(neurons)
