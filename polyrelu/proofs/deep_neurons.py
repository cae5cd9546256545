"""Theorem D, one neuron from its families: which families belong to one neuron of every competitor (proofs/deep.md).

A family *crosses* a neuron h of the layer before if h is on at some of its pieces and off at others; then two of them
are linked at a ridge of h. Let `placed` mean that its chains up and down are as long as they can be, so that in a
competitor it lies in its own layer ℓ. One placed family is chosen for each neuron. Another placed family of the same
neuron can be joined to it

* if ℓ = 1: always, because the hyperplanes of the neurons of the first layer are different;
* if ℓ > 1: if it and the chosen family of v cross a common h, and if all the chosen families of layer ℓ are pairwise
  told apart, and it is told apart from those of the other neurons of the layer. The families of two neurons v ≠ w are
  *told apart* if the rows v and w of W[ℓ] are linearly independent on the h that both cross: a competitor has multiples
  of these rows there.

What is joined crosses what its parts cross.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyrelu.network import Network, NeuronId
from polyrelu.proofs.deep_families import Family
from polyrelu.proofs.deep_ridges import Piece

__all__ = ["Portrait", "joins_in_order", "portraits"]


@dataclass(frozen=True, slots=True, eq=False)
class Portrait:
    """What is known of one neuron (ℓ, i).

    Attributes
    ----------
    neuron : (ℓ, i).
    families : the chosen family and those that were joined to it.
    on, off : whether each neuron of layer ℓ-1 is on, off, at some piece (no entries if ℓ = 1).
    crossed : whether one of the families crosses it.
    """

    neuron: NeuronId
    families: tuple[Family, ...]
    on: NDArray[np.bool_]
    off: NDArray[np.bool_]
    crossed: NDArray[np.bool_]

    @classmethod
    def of(cls, family: Family) -> Portrait:
        """Of one family."""
        before = family.neuron.layer - 2
        signs = [piece.signs.layers[before] if before >= 0 else () for piece in family.pieces]
        table = np.array(signs, dtype=np.int8)
        on, off = (np.logical_or.reduce(there, axis=0) for there in (table > 0, table < 0))
        return cls(family.neuron, (family,), on, off, on & off)

    def joined(self, other: Portrait) -> Portrait:
        """With the families of another one."""
        return Portrait(
            self.neuron,
            (*self.families, *other.families),
            self.on | other.on,
            self.off | other.off,
            self.crossed | other.crossed,
        )

    @property
    def pieces(self) -> list[Piece]:
        """The pieces of all the families."""
        return [piece for family in self.families for piece in family.pieces]

    @property
    def oriented(self) -> bool:
        """Whether no other neuron of its layer is on at one of the pieces, so that f is constant on the off side."""
        return any(family.oriented for family in self.families)


def portraits(network: Network, families: Iterable[Family]) -> dict[NeuronId, Portrait]:
    """One portrait for each neuron that has a piece, with all families that can be joined."""
    found: dict[NeuronId, list[Portrait]] = {neuron: [] for neuron in network.neurons()}
    for family in families:
        found[family.neuron].append(Portrait.of(family))
    for own in found.values():
        own.sort(key=lambda part: _merit(network, part), reverse=True)
    result: dict[NeuronId, Portrait] = {}
    for layer in range(1, network.depth):
        parts = [found[NeuronId(layer, i)] for i in range(network.widths[layer])]
        result.update({portrait.neuron: portrait for portrait in _joined(network, layer, parts)})
    return result


def joins_in_order(network: Network, known: dict[NeuronId, Portrait]) -> list[Family]:
    """The families that were joined to chosen ones, each after those that it needs; `known` is of `portraits`."""
    order: list[Family] = []
    for layer in range(1, network.depth):
        rows = network.weight(layer).integer_rows()
        own = [known[NeuronId(layer, i)] for i in range(network.widths[layer])]
        chosen = [Portrait.of(portrait.families[0]) for portrait in own]
        waiting = [Portrait.of(family) for portrait in own for family in portrait.families[1:]]
        while waiting:
            later = [part for part in waiting if not _join(rows, layer, chosen, part)]
            order += [part.families[0] for part in waiting if part not in later]
            waiting = later
    return order


def is_placed(network: Network, family: Family) -> bool:
    """Whether chains up and down fix the layer of a family in every competitor."""
    layer = family.neuron.layer
    return family.up == network.depth - 1 - layer and family.down == layer - 1


def _merit(network: Network, part: Portrait) -> tuple[bool, int, int, int]:
    """What makes a family a good choice."""
    (family,) = part.families
    return is_placed(network, family), int(part.crossed.sum()), int(part.on.sum()), len(family.pieces)


def _joined(network: Network, layer: int, parts: Sequence[Sequence[Portrait]]) -> list[Portrait]:
    """One portrait for each neuron of a layer that has a piece, from the portraits of its families, best ones first."""
    chosen = [own[0] for own in parts if own]
    if len(chosen) < len(parts) or not all(is_placed(network, own.families[0]) for own in chosen):
        return chosen
    rows = network.weight(layer).integer_rows()
    if layer > 1 and not all(_told_apart(rows, a, b) for i, a in enumerate(chosen) for b in chosen[:i]):
        return chosen
    waiting = [part for own in parts for part in own[1:] if is_placed(network, part.families[0])]
    while True:
        later = [part for part in waiting if not _join(rows, layer, chosen, part)]
        if len(later) == len(waiting):
            return chosen
        waiting = later


def _join(rows: list[list[int]], layer: int, chosen: list[Portrait], part: Portrait) -> bool:
    """Join a portrait to that of its neuron, if it can be; whether it was."""
    own = part.neuron.index
    if layer > 1:
        if not (part.crossed & chosen[own].crossed).any():
            return False
        if not all(_told_apart(rows, part, other) for i, other in enumerate(chosen) if i != own):
            return False
    chosen[own] = chosen[own].joined(part)
    return True


def _told_apart(rows: list[list[int]], one: Portrait, other: Portrait) -> bool:
    """Whether the rows are independent on what both cross; the weights there are not 0."""
    common = np.flatnonzero(one.crossed & other.crossed).tolist()
    a, b = rows[one.neuron.index], rows[other.neuron.index]
    return any(a[common[0]] * b[h] != a[h] * b[common[0]] for h in common[1:])
