"""Theorem D, the linear systems at the pieces of the neurons of one layer (docs/theory/deep.md): signs and rows.

Let m ≥ 1 be a layer, v neurons of layer m+1, and suppose that the layers before m of a competitor are those of θ, and
layer m up to signs. At each piece of v an equation Σ_h c_h ∇z_h = 0 holds, h in layer m, where c_h = 0 if the weight of
v on h and the sign of h are right.

* *Signs* (D3). Unknowns p_h, for each h that is not oriented and crosses some v of a set T, and s_vh and t_vh for the h
  that do not cross v ∈ T: c_h = W_vh p_h if h crosses v, s_vh where it is on, t_vh where it is off (0 instead of p_h
  and t_vh if it is oriented). If only 0 solves the system, the signs are right. T can have those v only whose own
  unknowns are determined when the p_h are taken for known. A large T has more equations, and more unknowns p_h: each
  such v alone is tried, and the first k of them for every k, as in the checker.
* *Rows* (D2). If the signs are right, s_h alone is left, for the h that are on and not yet seen. If only 0 solves this
  system, the weights on them are right: v *sees* them.

Ranks are taken modulo a prime, so they are never too large. Some of the equations are enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import eliminate_mod
from polyrelu.proofs.deep.families import Family
from polyrelu.proofs.deep.neuron_evidence import (
    LayerEvidence,
    NeuronEvidence,
    all_placed,
    bits_of,
    enlarged,
    pairwise_distinguished,
)
from polyrelu.proofs.deep.ridges import DeepNetwork

__all__ = [
    "determines_weights",
    "is_crossed_by_all",
    "join_by_weights",
    "signs_short_of",
    "with_determined_weights",
]

#: So many more equations than unknowns are taken at a time.
_SPARE = 8

#: Of more neurons than the first number only so many are tried, those that are crossed most, and each alone: a system
#: of 256 unknowns takes a second.
_WIDE, _BEST = 64, 8

#: After so many parts of the equations, each as many as the unknowns, that add nothing to the rank, the rest is left
#: out.
_IDLE = 3


def is_crossed_by_all(space: DeepNetwork, above: Iterable[NeuronEvidence]) -> bool:
    """Whether one of the neurons is crossed by all neurons of the layer before: the first case of (D3)."""
    return any(v.crossed == space.before(v.place) for v in above)


def signs_short_of(
    space: DeepNetwork,
    layer: int,
    known: dict[int, NeuronEvidence],
    above: Sequence[NeuronEvidence],
) -> int:
    """(D3) for a layer m < L-1, the second case, with what is known of neurons of layer m+1: by how much the rank in
    the p_h is short; 0 if the signs are determined.

    For each v its own unknowns are eliminated; what is left has the p_h only. It ends as soon as one v alone, or those
    so far together, are enough.
    """
    oriented = sum(
        1 << place for place in space.places(layer) if place in known and known[place].oriented
    )
    unresolved = space.layer_mask[layer] & ~oriented
    crossed, left, short = 0, list[list[int]](), max(1, unresolved.bit_count())
    wide = len(above) > _WIDE
    some = sorted(above, key=lambda v: -v.crossed.bit_count())[:_BEST] if wide else above
    for v in some:  # in the order of the checker, which tries each alone, and then those so far
        system = _system(space, layer, v, unresolved)
        if system.short:
            continue
        own = v.crossed & unresolved
        if len(system.rest) == own.bit_count():
            return 0
        if wide:
            continue
        crossed |= own
        left = eliminate_mod([*left, *system.rest], 0, space.prime)[1]
        short = crossed.bit_count() - len(left)
        if not short:
            break
    return short


@dataclass(frozen=True, slots=True, eq=False)
class _System:
    """The equations of one v: by how much its own unknowns are short of rank, and independent ones that are left for
    the p_h."""

    short: int
    rest: list[list[int]]


def _system(space: DeepNetwork, layer: int, v: NeuronEvidence, unresolved: int) -> _System:
    start, width = space.starts[layer - 1], space.network.widths[layer]
    ons = [h - start for h in bits_of(v.on & ~v.crossed)]
    offs = [h - start for h in bits_of(v.off & ~v.crossed & unresolved)]
    weights = np.array([w % space.prime for w in space.row(v.place)])
    factors = np.where(_marks(v.crossed & unresolved, start, width), weights, 0)
    own, rows = len(ons) + len(offs), list[list[int]]()
    wanted = own + int(np.count_nonzero(factors))
    idle = 0
    for equations in _equations(space, layer, v.masks, ~v.crossed, (own, wanted)):
        block = [
            np.hstack([np.where(on[ons], slopes[:, ons], 0), np.where(on[offs], 0, slopes[:, offs]),
                       slopes * factors % space.prime])
            for on, slopes in equations
        ]  # fmt: skip
        before, rows = (
            len(rows),
            eliminate_mod([*rows, *np.vstack(block).tolist()], 0, space.prime)[1],
        )
        idle = idle + 1 if len(rows) == before else 0
        if len(rows) == wanted or idle == _IDLE:
            break
    rank, rest = eliminate_mod(rows, own, space.prime)
    return _System(own - rank, rest)


def determines_weights(space: DeepNetwork, layer: int, masks: Iterable[int], unknown: int) -> bool:
    """Whether the pieces determine the weights on all the neurons of layer m in a mask, those on others being right."""
    start = space.starts[layer - 1]
    wanted = np.array([h - start for h in bits_of(unknown)], dtype=np.int64)
    rows, idle = list[list[int]](), 0
    for equations in _equations(space, layer, masks, unknown, (len(wanted), len(wanted))):
        block = [np.where(on[wanted], slopes[:, wanted], 0) for on, slopes in equations]
        before, rows = (
            len(rows),
            eliminate_mod([*rows, *np.vstack(block).tolist()], 0, space.prime)[1],
        )
        if len(rows) == len(wanted):
            return True
        idle = idle + 1 if len(rows) == before else 0
        if idle == _IDLE:
            break
    return not len(wanted)


def _equations(
    space: DeepNetwork, layer: int, masks: Iterable[int], apart: int, ranks: tuple[int, int]
) -> Iterator[list[tuple[NDArray[np.bool_], NDArray[np.int64]]]]:
    """For pieces, several at a time: which neurons of the layer are on, and the gradients of all of them as columns.

    Pieces with the same signs in the layers before and in `apart`, a mask, give the same equations. `ranks`: the least
    rank that is of use, and the largest one that there can be; nothing comes if there are fewer equations than that.
    """
    start, width, own = (
        space.starts[layer - 1],
        space.network.widths[layer],
        space.layer_mask[layer],
    )
    kept = ((1 << start) - 1) | (apart & own)
    different = list({mask & kept: mask for mask in masks}.values())
    least, most = ranks
    count = min(space.network.inputs, most + _SPARE)
    if count * len(different) < least:
        return
    batch = -(-(most + _SPARE) // count)
    for first in range(0, len(different), batch):
        some = different[first : first + batch]
        yield [(_marks(mask, start, width), space.gradients(layer, mask, count).T) for mask in some]


def _marks(mask: int, start: int, width: int) -> NDArray[np.bool_]:
    """The part of a mask that belongs to a layer, as an array."""
    text = np.frombuffer(
        (mask >> start & (1 << width) - 1).to_bytes(width // 8 + 1, "little"), dtype=np.uint8
    )
    return np.unpackbits(text, count=width, bitorder="little").view(np.bool_)


def join_by_weights(space: DeepNetwork, layer: int, found: LayerEvidence) -> list[Family]:
    """What the neurons of a layer ℓ ≥ 2 see, and the families that were joined to them by sight; `found` is changed."""
    places = [place for place in space.places(layer) if place in found.chosen]
    for place in places:
        found.chosen[place] = with_determined_weights(space, found.chosen[place])
    if not all_placed(space, space.places(layer), found.chosen):
        return []
    if all(found.chosen[place].seen == space.before(place) for place in places):
        return []
    if not pairwise_distinguished(
        space, places, {place: found.chosen[place].seen for place in places}
    ):
        return []
    order = enlarged(
        space, places, found.chosen, found.left, lambda part: with_determined_weights(space, part)
    )
    for place in places:
        found.chosen[place] = with_determined_weights(space, found.chosen[place])
    return order


def with_determined_weights(space: DeepNetwork, part: NeuronEvidence) -> NeuronEvidence:
    """A portrait with what all its pieces together see."""
    unknown = part.on & ~part.seen
    layer = space.layer_of[part.place] - 1
    return (
        part.seeing(unknown)
        if unknown and determines_weights(space, layer, part.masks, unknown)
        else part
    )
