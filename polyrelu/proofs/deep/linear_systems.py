"""The linear systems of Theorem D at the pieces of neurons: signs (D3) and weights (D2).

The systems decide whether a competitor can have other signs in a layer, or other weights of a
neuron. Ranks are taken modulo a prime, so they are never too large, and a part of the equations is
enough for a lower bound. A set of neurons may prove signs only if the checker tries it too
(FORMAT.md §3.9); in wide layers the prover tries fewer sets than the checker. Mathematics:
docs/theory/deep.md, conditions (D2) and (D3), and the paragraphs "Determined weights" and "Joining
by weights".

Let m ≥ 1 be a layer and v a neuron of layer m+1, and suppose that the layers before m of a
competitor are the layers of θ, and that layer m is so up to signs. At each piece of v an equation
Σ_h c_h ∇z_h = 0 holds, the sum over the neurons h of layer m, with c_h = 0 if both the weight of v
on h and the sign of h are right.

* *Signs* (D3). The unknowns are p_h for each h that is not oriented and crosses some v of a set T
  of neurons, and s_vh and t_vh for each v in T and each h that does not cross v. The coefficient
  c_h is W_vh p_h if h crosses v, s_vh where h is active, and t_vh where it is inactive; p_h and
  t_vh are replaced by 0 if h is oriented. If only 0 solves the system, the signs are right. A
  neuron v can belong to T only if its own unknowns s_vh, t_vh are determined once the p_h are
  known. A larger T has more equations and more unknowns p_h: like the checker, the prover tries
  each such v alone, and the first k of them for every k. Above `many_neurons` neurons v, it tries
  only those alone that the most neurons cross. If this fails, and few neurons h are not oriented,
  each set Γ of them is tried by itself: a v excludes Γ if its system has only the solution 0 where
  p_h is the same for all h in Γ that cross it, and 0 for the others; s_vh is W_vh times this number
  for the h in Γ; and t_vh is 0 for the other h.
* *Weights* (D2). If the signs are right, only unknowns s_h remain, for the h that are active and
  whose weights are not determined yet. If only 0 solves this system, the weights of v on these h
  are determined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import eliminate_mod
from polyrelu.proofs.deep.families import Family
from polyrelu.proofs.deep.neuron_evidence import (
    LayerEvidence,
    NeuronEvidence,
    all_have_full_chains,
    are_pairwise_distinguished,
    bits_of,
    join_families,
)
from polyrelu.proofs.deep.ridges import DeepNetwork
from polyrelu.proofs.deep.settings import SETTINGS

__all__ = [
    "SignSystem",
    "all_sets_are_excluded",
    "determines_weights",
    "is_crossed_where_active",
    "join_by_weights",
    "sign_rank_deficit",
    "sign_system",
    "with_determined_weights",
]

#: The equations at one piece: which neurons of layer m are active there, and ∂z_h/∂x_k for some
#: inputs k, the rows, and all h of layer m, the columns.
_PieceEquations: TypeAlias = tuple[NDArray[np.bool_], NDArray[np.int64]]


def is_crossed_where_active(deep_network: DeepNetwork, above: Iterable[NeuronEvidence]) -> bool:
    """Return whether all neurons that are active at a piece of one of some neurons cross it.

    This is case 1 of (D3), about the neurons of the layer before.
    """
    return any(
        not mask & deep_network.mask_before(v.neuron) & ~v.crossed_by
        for v in above
        for mask in v.masks
    )


def sign_rank_deficit(
    deep_network: DeepNetwork,
    layer: int,
    chosen: Mapping[int, NeuronEvidence],
    above: Sequence[NeuronEvidence],
) -> int:
    """Compute by how much the rank in the p_h is too small in the second case of (D3).

    It is 0 as well if the third case holds: if each set of signs is excluded by itself.

    Parameters
    ----------
    deep_network
        The network.
    layer
        The layer m < L-1 whose signs are in question.
    chosen
        The evidence about the neurons of layer m, by their numbers.
    above
        The evidence about the neurons of layer m+1 that may belong to T.

    Returns
    -------
    int
        0 if the signs of the layer are determined.

    Notes
    -----
    The own unknowns of each v are eliminated; what remains has the unknowns p_h only. The
    computation ends as soon as one v alone, or those so far together, are enough.
    """
    oriented = sum(
        1 << neuron
        for neuron in deep_network.neurons_in(layer)
        if neuron in chosen and chosen[neuron].oriented
    )
    unresolved = deep_network.layer_mask[layer] & ~oriented
    crossing, together, deficit = 0, list[list[int]](), max(1, unresolved.bit_count())
    alone_only = len(above) > SETTINGS.many_neurons
    if alone_only:
        above = sorted(above, key=lambda v: -v.crossed_by.bit_count())[: SETTINGS.best_neurons]
    for v in above:  # in the order of the checker
        system = sign_system(deep_network, layer, v, unresolved)
        if system.own_deficit:
            continue
        crossing_v = v.crossed_by & unresolved
        if len(system.remaining) == crossing_v.bit_count():
            return 0
        if alone_only:
            continue
        crossing |= crossing_v
        together = eliminate_mod([*together, *system.remaining], 0, deep_network.prime)[1]
        deficit = crossing.bit_count() - len(together)
        if not deficit:
            return 0
    return 0 if all_sets_are_excluded(deep_network, layer, above, unresolved) else deficit


@dataclass(frozen=True, slots=True, eq=False)
class SignSystem:
    """The equations of one v after elimination of its own unknowns.

    Attributes
    ----------
    own_deficit
        By how much the rank in the own unknowns s_vh, t_vh is too small.
    remaining
        Independent equations that have the unknowns p_h only, a row each.
    """

    own_deficit: int
    remaining: list[list[int]]


def sign_system(
    deep_network: DeepNetwork, layer: int, v: NeuronEvidence, unresolved: int
) -> SignSystem:
    """Return the system of (D3) for a neuron v; `unresolved` masks the h that are not oriented."""
    start, width = deep_network.starts[layer - 1], deep_network.widths[layer]
    crossing = v.crossed_by & unresolved
    is_active, is_inactive = _by_sight(deep_network, layer, v.masks)
    own_active = v.num_active & ~v.crossed_by & ~is_active
    own_inactive = v.num_inactive & ~v.crossed_by & unresolved & ~is_inactive
    if not (own_active | own_inactive | crossing & ~(is_active | is_inactive)):
        return SignSystem(0, [_unit(h - start, width) for h in bits_of(crossing)])
    equations = _sign_equations(deep_network, layer, v, unresolved)
    num_own = len(equations.with_s) + len(equations.with_t)
    rank, remaining = eliminate_mod(equations.rows, num_own, deep_network.prime)
    return SignSystem(num_own - rank, remaining)


@dataclass(frozen=True, slots=True, eq=False)
class _SignEquations:
    """Independent equations of one v in all of its unknowns.

    Attributes
    ----------
    with_s, with_t
        The indices of the neurons of layer m that have unknowns s_vh, t_vh.
    crossing
        The indices of the neurons that cross v and are not oriented.
    weights
        The weights of v, modulo the prime.
    rows
        A row for each equation: coefficients of the s_vh, of the t_vh, and of p_h for each h of
        layer m, which is 0 for those that do not cross v or are oriented.
    """

    with_s: list[int]
    with_t: list[int]
    crossing: set[int]
    weights: NDArray[np.int64]
    rows: list[list[int]]


def _sign_equations(
    deep_network: DeepNetwork,
    layer: int,
    v: NeuronEvidence,
    unresolved: int,
    needs_own: bool = True,
) -> _SignEquations:
    """Return the equations of (D3) at the pieces of a neuron v.

    With `needs_own` there are none if they are fewer than the unknowns s_vh and t_vh.
    """
    prime, start = deep_network.prime, deep_network.starts[layer - 1]
    width = deep_network.widths[layer]
    with_s = [h - start for h in bits_of(v.num_active & ~v.crossed_by)]
    with_t = [h - start for h in bits_of(v.num_inactive & ~v.crossed_by & unresolved)]
    weights = np.array([w % prime for w in deep_network.integer_row(v.neuron)])
    factors = np.where(_layer_part(v.crossed_by & unresolved, start, width), weights, 0)
    num_own = len(with_s) + len(with_t)
    full_rank = num_own + int(np.count_nonzero(factors))
    ranks = num_own if needs_own else 1, full_rank
    blocks = (
        np.vstack(
            [
                np.hstack(
                    [
                        np.where(active[with_s], slopes[:, with_s], 0),
                        np.where(active[with_t], 0, slopes[:, with_t]),
                        slopes * factors % prime,
                    ]
                )
                for active, slopes in equations
            ]
        )
        for equations in _equations(deep_network, layer, v.masks, ~v.crossed_by, ranks)
    )
    rows = _independent_rows(blocks, full_rank, prime)
    crossing = {h - start for h in bits_of(v.crossed_by & unresolved)}
    return _SignEquations(with_s, with_t, crossing, weights, rows)


def all_sets_are_excluded(
    deep_network: DeepNetwork, layer: int, above: Sequence[NeuronEvidence], unresolved: int
) -> bool:
    """Return whether no set of neurons of a layer can have other signs: (D3), case 3.

    Parameters
    ----------
    deep_network
        The network.
    layer
        The layer m < L-1 whose signs are in question.
    above
        The evidence about the neurons of layer m+1 that may exclude sets.
    unresolved
        The mask of the neurons of layer m that are not oriented. If there are more than
        `SETTINGS.most_tried`, no set is tried.
    """
    if unresolved.bit_count() > SETTINGS.most_tried:
        return False
    start = deep_network.starts[layer - 1]
    free = [h - start for h in bits_of(unresolved)]
    systems = [_sign_equations(deep_network, layer, v, unresolved, False) for v in above]
    return all(
        any(_excludes(system, set(flipped), deep_network.prime) for system in systems)
        for size in range(1, len(free) + 1)
        for flipped in combinations(free, size)
    )


def _excludes(system: _SignEquations, flipped: set[int], prime: int) -> bool:
    """Return whether only 0 solves the equations of v if the signs of some neurons are flipped.

    The unknowns are s_vh for the others, t_vh for the flipped ones, and one that stands for the
    weights on the flipped ones where they are active or cross v.
    """
    num_s, num_own = len(system.with_s), len(system.with_s) + len(system.with_t)
    kept = [c for c, h in enumerate(system.with_s) if h not in flipped]
    kept += [num_s + c for c, h in enumerate(system.with_t) if h in flipped]
    known = [(c, int(system.weights[h])) for c, h in enumerate(system.with_s) if h in flipped]
    known += [(num_own + h, 1) for h in flipped & system.crossing]
    rows = [
        [*(row[c] for c in kept), *([sum(row[c] * x for c, x in known) % prime] if known else [])]
        for row in system.rows
    ]
    return len(eliminate_mod(rows, 0, prime)[1]) == len(kept) + bool(known)


def determines_weights(
    deep_network: DeepNetwork, layer: int, masks: Iterable[int], unknown: int
) -> bool:
    """Return whether pieces determine the weights on all neurons h of a mask, given all others.

    Parameters
    ----------
    deep_network
        The network.
    layer
        The layer of the h.
    masks
        The masks of the pieces, which belong to one neuron of the next layer.
    unknown
        The mask of the h.

    Returns
    -------
    bool
        Whether the system of (D2) has only the solution 0, modulo the prime.
    """
    unknown &= ~_by_sight(deep_network, layer, masks := list(masks))[0]
    if not unknown:
        return True
    start = deep_network.starts[layer - 1]
    columns = np.array([h - start for h in bits_of(unknown)], dtype=np.int64)
    ranks = len(columns), len(columns)
    blocks = (
        np.vstack([np.where(active[columns], slopes[:, columns], 0) for active, slopes in block])
        for block in _equations(deep_network, layer, masks, unknown, ranks)
    )
    return len(_independent_rows(blocks, len(columns), deep_network.prime)) == len(columns)


def _by_sight(deep_network: DeepNetwork, layer: int, masks: Iterable[int]) -> tuple[int, int]:
    """Return which neurons of a layer are active, inactive, at pieces that suffice by themselves.

    They do where all neurons of the earlier layers are active, if the gradients of the whole layer
    are independent there. Then the equation at a piece determines all of its unknowns.
    """
    before, own = (1 << deep_network.starts[layer - 1]) - 1, deep_network.layer_mask[layer]
    is_active = is_inactive = 0
    for mask in masks:
        if mask & before == before and deep_network.is_independent_if_all_active(layer):
            is_active, is_inactive = is_active | mask & own, is_inactive | ~mask & own
    return is_active, is_inactive


def _unit(place: int, size: int) -> list[int]:
    """Return a unit vector."""
    return [int(i == place) for i in range(size)]


def _independent_rows(
    blocks: Iterable[NDArray[np.int64]], full_rank: int, prime: int
) -> list[list[int]]:
    """Eliminate block after block; stop at the full rank, or when blocks add nothing for long."""
    rows, idle_blocks = list[list[int]](), 0
    for block in blocks:
        rank_before = len(rows)
        if not _are_spanned(block, rows, prime):
            rows = eliminate_mod([*rows, *block.tolist()], 0, prime)[1]
        idle_blocks = idle_blocks + 1 if len(rows) == rank_before else 0
        if len(rows) == full_rank or idle_blocks == SETTINGS.idle_blocks:
            break
    return rows


def _are_spanned(block: NDArray[np.int64], rows: Sequence[Sequence[int]], prime: int) -> bool:
    """Return whether all rows of a block are combinations of rows in reduced echelon form.

    Entries are between 0 and the prime. Sums of as many products of them as a layer has neurons are
    less than 2^53 (`DeepNetwork.prime`), and there are at most two unknowns for each neuron.
    """
    if not rows:
        return False
    basis = np.array(rows, dtype=np.int64)
    pivots = (basis != 0).argmax(axis=1)
    others = np.setdiff1d(np.arange(basis.shape[1]), pivots)
    rest = block[:, others] - block[:, pivots] @ basis[:, others]
    return not (rest % prime).any()


def _equations(
    deep_network: DeepNetwork,
    layer: int,
    masks: Iterable[int],
    relevant: int,
    ranks: tuple[int, int],
) -> Iterator[list[_PieceEquations]]:
    """Yield the equations at pieces, in blocks of several pieces.

    Pieces with the same signs in the layers before `layer`, and in the neurons of `layer` that the
    mask `relevant` has, give the same equations. `ranks` are the least rank that is of use and the
    largest possible one; there are no blocks if there are fewer equations than the first.
    """
    start, width = deep_network.starts[layer - 1], deep_network.widths[layer]
    kept = ((1 << start) - 1) | (relevant & deep_network.layer_mask[layer])
    different = list({mask & kept: mask for mask in masks}.values())
    least, largest = ranks
    count = min(deep_network.network.num_inputs, largest + SETTINGS.spare_equations)
    if count * len(different) < least:
        return
    pieces_per_block = -(-(largest + SETTINGS.spare_equations) // count)
    for first in range(0, len(different), pieces_per_block):
        yield [
            (_layer_part(mask, start, width), deep_network.gradients(layer, mask, count).T)
            for mask in different[first : first + pieces_per_block]
        ]


def _layer_part(mask: int, start: int, width: int) -> NDArray[np.bool_]:
    """Return the part of a mask that belongs to a layer, as an array."""
    text = np.frombuffer(
        (mask >> start & (1 << width) - 1).to_bytes(width // 8 + 1, "little"), dtype=np.uint8
    )
    return np.unpackbits(text, count=width, bitorder="little").view(np.bool_)


def join_by_weights(deep_network: DeepNetwork, layer: int, evidence: LayerEvidence) -> list[Family]:
    """Determine the weights of the neurons of a layer ℓ ≥ 2, and join families by weights.

    Parameters
    ----------
    deep_network
        The network.
    layer
        The layer ℓ.
    evidence
        The evidence so far; its dictionaries are changed.

    Returns
    -------
    list of Family
        The families that were joined, in an order in which that is allowed.
    """
    neurons = [neuron for neuron in deep_network.neurons_in(layer) if neuron in evidence.chosen]
    for neuron in neurons:
        evidence.chosen[neuron] = with_determined_weights(deep_network, evidence.chosen[neuron])
    if not all_have_full_chains(deep_network, deep_network.neurons_in(layer), evidence.chosen):
        return []
    determined = {neuron: evidence.chosen[neuron].num_determined_weights for neuron in neurons}
    if all(determined[neuron] == deep_network.mask_before(neuron) for neuron in neurons):
        return []
    if not are_pairwise_distinguished(deep_network, neurons, determined):
        return []
    joined = join_families(
        deep_network,
        neurons,
        evidence.chosen,
        evidence.unjoined,
        lambda candidate: with_determined_weights(deep_network, candidate),
    )
    for neuron in neurons:
        evidence.chosen[neuron] = with_determined_weights(deep_network, evidence.chosen[neuron])
    return joined


def with_determined_weights(deep_network: DeepNetwork, evidence: NeuronEvidence) -> NeuronEvidence:
    """Return the evidence with the weights that all its pieces together determine.

    They are the weights on all neurons that are active at some piece, or none beyond those known.
    """
    unknown = evidence.num_active & ~evidence.num_determined_weights
    if unknown and _is_determined(deep_network, evidence, unknown):
        return evidence.with_determined(unknown)
    return evidence


def _is_determined(deep_network: DeepNetwork, evidence: NeuronEvidence, unknown: int) -> bool:
    """Return what `determines_weights` does; for small families it is remembered.

    Ridges that come later leave most of these families as they are.
    """
    layer, masks = deep_network.layer_of[evidence.neuron] - 1, tuple(evidence.masks)
    if len(masks) > SETTINGS.remembered_pieces:
        return determines_weights(deep_network, layer, masks, unknown)
    key, known = (layer, frozenset(masks), unknown), deep_network.determined
    if key not in known:
        known[key] = determines_weights(deep_network, layer, masks, unknown)
    return known[key]
