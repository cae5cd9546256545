"""Theorem D, weights of the last hidden layer that its own pieces do not show (docs/theory/deep.md, "Unseen weights").

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

from collections.abc import Iterable, Sequence
from itertools import combinations

from polyrelu.exact import eliminate_mod
from polyrelu.proofs.deep.neuron_evidence import NeuronEvidence, bits_of
from polyrelu.proofs.deep.ridges import DeepNetwork, Ridge

__all__ = ["shown_sources", "sources"]

#: For each source, by its place, the places of the neurons of the last hidden layer that have it on at no piece.
Sources = dict[int, list[int]]


def sources(space: DeepNetwork, known: dict[int, NeuronEvidence]) -> Sources:
    """The sources of the last hidden layer, which is not the first one."""
    last = space.network.depth - 1
    found: Sources = {}
    for place in space.places(last) if last > 1 else ():
        if place in known:
            for h in bits_of(space.before(place) & ~known[place].on):
                found.setdefault(h, []).append(place)
    return found


def shown_sources(
    space: DeepNetwork, ridges: Sequence[Ridge], known: dict[int, NeuronEvidence]
) -> list[int]:
    """The places of the sources whose weights the ridges show, in an order in which they do."""
    left, order = sources(space, known), list[int]()
    if left and _rows_are_apart(space, known) and _has_cell(space, _mask(left), ridges):
        facets = _facets(left, ridges)
        while done := [h for h in left if _is_shown(space, h, left, facets[h])]:
            left = {h: neurons for h, neurons in left.items() if h not in done}
            order += done
    return order


def _mask(places: Iterable[int]) -> int:
    return sum(1 << place for place in places)


def _has_cell(space: DeepNetwork, off: int, ridges: Sequence[Ridge]) -> bool:
    """Whether there is a sector where some neurons are off, and every layer before the last hidden one has neurons
    on."""
    layers = space.layer_mask[1:-1]
    return any(
        not mask & off and all(mask & layer for layer in layers)
        for ridge in ridges
        for mask in ridge.sectors
    )


def _rows_are_apart(space: DeepNetwork, known: dict[int, NeuronEvidence]) -> bool:
    last = space.network.depth - 1
    places, rows = space.places(last), space.network.layers[last - 1].augmented().integer_rows()
    if any(place not in known for place in places):
        return False
    start = space.starts[last - 2]
    for v, w in combinations(range(len(rows)), 2):
        common = [h - start for h in bits_of(known[places[v]].on & known[places[w]].on)] + [-1]
        if eliminate_mod([[rows[v][k], rows[w][k]] for k in common], 2)[0] < 2:
            return False
    return True


def _facets(left: Sources, ridges: Sequence[Ridge]) -> dict[int, set[int]]:
    """The masks of cells of codimension 1 on which a source alone vanishes."""
    found: dict[int, set[int]] = {h: set() for h in left}
    for ridge in ridges:
        for place in (ridge.u, ridge.v):
            if place in left:
                found[place].update(ridge.ray(place, on).mask for on in (True, False))
    return found


def _is_shown(space: DeepNetwork, h: int, left: Sources, facets: Iterable[int]) -> bool:
    """Whether the jumps across zeros of h determine its weights on the neurons that do not see it."""
    neurons, others = left[h], _mask(other for other in left if other != h)
    on = {tuple(bool(mask >> v & 1) for v in neurons) for mask in facets if not mask & others}
    start, outputs = space.starts[-2], space.rows[-1]
    rows = [
        [row[v - start] if is_on else 0 for v, is_on in zip(neurons, marks, strict=True)]
        for marks in on
        for row in outputs
    ]
    return eliminate_mod(rows, len(neurons))[0] == len(neurons)
