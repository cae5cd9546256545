"""Theorem `one-sided`: a neuron that has one sign wherever another one is on leaves a weight free.

Let h be a neuron of layer ℓ - 1, the *source*, or the constant 1, and v one of layer ℓ. If z_v ≤ 0 wherever h is on,
W_vh can be lowered: v stays off there, and where h is off nothing changes. If z_v ≥ 0 wherever h is on, then raising
W_vh by t adds t a_h to the activation of v, at every input; the next layer does not see it if these terms cancel, or,
for the constant, if its bias takes it back. A dead or linear neuron is the case of the constant.

That the sign is right at all inputs in R^n follows by linear programming duality from what `one_sided_facts` knows.
Proof and rule: one_sided.md beside this module, FORMAT.md §3.3. None of it needs genericity.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import NamedTuple

from polyrelu.errors import NetworkError, PolyreluError
from polyrelu.exact import LinearProgram, Optimal
from polyrelu.network import Network, NeuronId
from polyrelu.proofs.refutations.moves import Move
from polyrelu.proofs.refutations.one_layer import LayerPair, layer_pair, plus
from polyrelu.proofs.refutations.suspects import Suspect, bounded_suspects, seen_suspects
from polyrelu.proofs.refutations.valid_inequalities import (
    ONE,
    SOURCE,
    Bound,
    Key,
    ValidInequalities,
)
from polyrelu.support.limits import BIT_LIMIT, is_affordable
from polyrelu.symmetry import first_difference

__all__ = ["THEOREM", "OneSided", "one_sided_moves", "one_sided_neurons"]

THEOREM = "one-sided"

#: Seconds for all linear programs.
TIME_LIMIT = 10.0

#: So many other networks are made of one sign, with changes of different sizes.
_VARIANTS = 2

#: No more suspects whose weights are raised together are looked at.
_RAISED = 2_000


class OneSided(NamedTuple):
    """A suspect that was proved, and the bound that proves it."""

    suspect: Suspect
    bound: Bound


def one_sided_neurons(
    network: Network,
    suspects: Iterable[Suspect] | None = None,
    time_limit: float | None = TIME_LIMIT,
    seed: int = 0,
) -> list[Suspect]:
    """The suspects that are proved: neurons that have one sign wherever their source is on, or everywhere.

    Parameters
    ----------
    network : a plain stack; one with less than three layers, or another network, has none.
    suspects : what is tried, in this order; by default what random points do not contradict.
    time_limit : seconds for the proofs, None for no limit.
    seed : for the points.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [-1, -1]), ([[2, -1], [-1, 1]], [0, -1]), ([[1, 1]], [0])])
    >>> [(s.neuron.index, s.sign, s.source.index) for s in one_sided_neurons(net)]
    [(1, -1, 0), (0, -1, 1), (0, 1, 0)]
    """
    return [
        found.suspect for found in _proved(ValidInequalities(network), suspects, time_limit, seed)
    ]


def one_sided_moves(
    network: Network,
    suspects: Iterable[Suspect] | None = None,
    time_limit: float | None = TIME_LIMIT,
    seed: int = 0,
) -> Iterator[Move]:
    """Other networks with the same function, not related to a plain stack, by the suspects that are proved.

    Parameters as for `one_sided_neurons`.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [-1, -1]), ([[2, -1], [-1, 3]], [1, -1]), ([[1, 1]], [0])])
    >>> move = next(one_sided_moves(net))
    >>> move.explanation
    'neuron 1 of layer 2 is off wherever neuron 0 of layer 1 is on, so its weight on it can be lowered'
    >>> move.other([3]) == net([3])
    True
    """
    if not _has_room(network):
        return
    facts, rng = ValidInequalities(network), Random(seed)
    raised: dict[NeuronId, list[OneSided]] = {}
    chosen = _of_use(network, seen_suspects(network, seed) if suspects is None else suspects)
    try:
        for found in _proved(facts, chosen, time_limit, seed):
            group = [found]
            if _is_raised(found.suspect):
                group = raised.setdefault(found.suspect.source or found.suspect.neuron, [])
                group.append(found)
            for explanation, other in _alternatives(network, group, rng):
                difference, evidence = (
                    first_difference(network, other),
                    _evidence(facts, group, other),
                )
                if difference is not None and evidence is not None:
                    yield Move(THEOREM, evidence, other, difference, explanation)
    except NetworkError:  # numbers longer than the files hold
        return


def _has_room(network: Network) -> bool:
    """Whether the network is a plain stack with a layer that reads activations and is read by another one."""
    return network.is_plain and network.depth >= 3


def _is_raised(suspect: Suspect) -> bool:
    """Whether it is of use only together with others of its source, whose weights on it are raised together."""
    return suspect.sign > 0 and suspect.source is not None


def _of_use(network: Network, suspects: Iterable[Suspect]) -> list[Suspect]:
    """The suspects that lead to another network if they are proved. Whether those that are raised do takes a linear
    program each; where there are many, they are left out."""
    chosen, groups = list(suspects), dict[NeuronId, list[Suspect]]()
    if sum(map(_is_raised, chosen)) > _RAISED:
        return [suspect for suspect in chosen if not _is_raised(suspect)]
    for suspect in filter(_is_raised, chosen):
        groups.setdefault(suspect.source or suspect.neuron, []).append(suspect)
    useless: set[Suspect] = set()
    pairs = {
        layer: layer_pair(network, layer)
        for layer in {group[0].neuron.layer for group in groups.values()}
    }
    for group in groups.values():
        pair = pairs[group[0].neuron.layer]
        useless |= {
            suspect
            for suspect in group
            if _shares(pair, [s.neuron.index for s in group], suspect) is None
        }
    return [suspect for suspect in chosen if suspect not in useless]


def _shares(
    pair: LayerPair, neurons: Sequence[int], wanted: Suspect
) -> tuple[Fraction, ...] | None:
    """By how much the weights of some neurons can be raised so that the next layer sees no change, that of a wanted one
    among them; None if they cannot be."""
    program = LinearProgram(len(neurons), lower=[0] * len(neurons))
    program.add_equations(
        list(zip(*(pair.columns[v] for v in neurons), strict=True)), [0] * len(pair.offset)
    )
    program.add_inequalities([[1] * len(neurons)], [1])
    answer = program.maximize([int(v == wanted.neuron.index) for v in neurons])
    return answer.point if isinstance(answer, Optimal) and answer.value else None


def _proved(
    facts: ValidInequalities,
    suspects: Iterable[Suspect] | None,
    time_limit: float | None,
    seed: int,
) -> Iterator[OneSided]:
    """The suspects that are proved within the time. On R^n itself no neuron has one sign but constant ones, which
    other moves see."""
    network = facts.network
    if not _has_room(network):
        return
    deadline = None if time_limit is None else time.monotonic() + time_limit
    chosen = seen_suspects(network, seed) if suspects is None else list(suspects)
    bounded = bounded_suspects(network, seed) if chosen else {}
    for suspect in chosen:
        neuron, sign, source = suspect
        if neuron.layer >= network.depth or (
            source is not None and source.layer != neuron.layer - 1
        ):
            raise PolyreluError(
                f"{neuron} is not hidden below another layer, or {source} not of the layer before"
            )
        if deadline is not None and time.monotonic() > deadline:
            return
        facts.learn(bounded, neuron.layer, deadline)
        bound = facts.below(facts.preactivation(neuron, sign), neuron.layer, source)
        if bound is not None and bound.value >= 0:
            yield OneSided(suspect, bound)


# -- other networks ---------------------------------------------------------------------------------------------------


def _alternatives(
    network: Network, group: Sequence[OneSided], rng: Random
) -> Iterator[tuple[str, Network]]:
    """What the last member of a group allows; the members are neurons that are on wherever one source is on, or the
    group is a single neuron."""
    neuron, sign, source = group[-1].suspect
    pair = layer_pair(network, neuron.layer)
    name = pair.name(neuron.index)
    if source is not None and sign > 0:
        yield from _traded(pair, group, source, rng)
        return
    place = len(pair.rows[0]) - 1 if source is None else source.index
    for _ in range(_VARIANTS):
        shift = Fraction(sign * rng.randint(1, 64), 16)
        row = _changed(pair.rows[neuron.index], place, shift)
        offset = plus(pair.offset, pair.columns[neuron.index], -shift) if sign > 0 else pair.offset
        if source is not None:
            on = f"wherever neuron {source.index} of layer {source.layer} is on"
            explanation = f"{name} is off {on}, so its weight on it can be lowered"
        else:
            explanation = f"{name} is {'linear: it is never negative' if sign > 0 else 'dead: it is never positive'} on R^n"
        yield explanation, pair.replaced({neuron.index: row}, {}, offset)


def _traded(
    pair: LayerPair, group: Sequence[OneSided], source: NeuronId, rng: Random
) -> Iterator[tuple[str, Network]]:
    """Neurons that are on wherever the source is on raise their weights on it, so that the next layer sees no
    change; the last one takes part."""
    neurons = [found.suspect.neuron.index for found in group]
    shares = _shares(pair, neurons, group[-1].suspect)
    if shares is None:
        return
    explanation = f"neurons of layer {pair.layer} are on wherever neuron {source.index} of layer {source.layer} is on, so "
    explanation += "their weights on it can be raised together"
    for _ in range(_VARIANTS):
        factor = Fraction(rng.randint(1, 64), 16)
        rows = {
            v: _changed(pair.rows[v], source.index, factor * t)
            for v, t in zip(neurons, shares, strict=True)
            if t
        }
        yield explanation, pair.replaced(rows, {})


def _changed(row: Sequence[Fraction], place: int, shift: Fraction) -> tuple[Fraction, ...]:
    return tuple(w + shift * (k == place) for k, w in enumerate(row))


# -- evidence ---------------------------------------------------------------------------------------------------------


def _evidence(
    facts: ValidInequalities, group: Sequence[OneSided], other: Network
) -> dict[str, object] | None:
    """The evidence of FORMAT.md §3.3 that another network has the same function; None if it is beyond the limits of
    §3.6."""
    neuron, _, source = group[0].suspect
    layer, on = neuron.layer, None if source is None else facts.number(source)
    first = 2 * facts.count(layer)
    used = _used_steps(facts, [found.bound.multiples for found in group])
    numbers = {ONE: first, SOURCE: first + 1}
    numbers |= {key: first + 1 + (source is not None) + i for i, key in enumerate(used)}
    bounds = [
        _times(found.bound, other.layers[layer - 1].augmented().denominator) for found in group
    ]
    entries = [factors for key in used for factors in facts.step(key)[2:4]] + [
        bound.multiples for bound in bounds
    ]
    if not _is_affordable(facts, on, entries):
        return None

    def listed(multiples: dict[Key, int]) -> list[list[object]]:
        return [
            [key, str(w)]
            for key, w in sorted((numbers.get(key, key), w) for key, w in multiples.items() if w)
        ]

    steps = [facts.step(key) for key in used]
    signs = sorted(
        (suspect.neuron.index, suspect.sign, bound)
        for (suspect, _), bound in zip(group, bounds, strict=True)
    )
    return {
        "layer": layer,
        "source": [] if source is None else [source.index],
        "steps": [
            [step.neuron, str(step.scale), listed(step.above), listed(step.gap)] for step in steps
        ],
        "signs": [
            [v, "+" if sign > 0 else "-", str(bound.scale), listed(bound.multiples)]
            for v, sign, bound in signs
        ],
    }


def _times(bound: Bound, factor: int) -> Bound:
    """A bound for the multiple of a form."""
    divisor = math.gcd(bound.scale, *(w * factor for w in bound.multiples.values()))
    multiples = {key: w * factor // divisor for key, w in bound.multiples.items()}
    return Bound(bound.value, bound.scale // divisor, multiples)


def _used_steps(facts: ValidInequalities, multiples: Iterable[dict[Key, int]]) -> list[Key]:
    """The steps that are used, in the order in which they were made (descending keys), and so each after those that it
    uses itself."""
    waiting, used = [key for entry in multiples for key in entry], set[Key]()
    while waiting:
        key = waiting.pop()
        if key < SOURCE and key not in used:
            used.add(key)
            step = facts.step(key)
            waiting += [*step.above, *step.gap]
    return sorted(used, reverse=True)


def _is_affordable(
    facts: ValidInequalities, on: int | None, entries: Sequence[dict[Key, int]]
) -> bool:
    """Whether the checker can add up so many multiples."""
    operations, longest = 0, 1
    for multiples in entries:
        for key, factor in multiples.items():
            form = facts.fact(key, on)
            operations += len(form)
            longest = max(
                longest, factor.bit_length() + max(abs(w) for w in form.values()).bit_length()
            )
            if factor.bit_length() > BIT_LIMIT:
                return False
    return is_affordable(2 * operations, longest)
