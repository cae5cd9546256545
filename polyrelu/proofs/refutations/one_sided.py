"""Theorem `one-sided`: a neuron with one sign wherever another one is active has a free weight.

Candidates from sample points are proved by linear programming duality from valid inequalities
(`valid_inequalities`); each proof gives another network with the same function. The theorem is in
docs/theory/one_sided.md, the rule of the checker in FORMAT.md §3.3, and a table at the head of the
page lists the words that differ between the two. The theorem holds for all parameters.

Let h be a neuron of layer ℓ - 1, the *guard*, or let the guard be the constant 1, and let v be a
neuron of layer ℓ.

* If z_v ≤ 0 wherever h is active, W_vh can be lowered: z_v stays ≤ 0 where h is active, and
  nothing changes where h is inactive.
* If z_v ≥ 0 wherever h is active, raising W_vh by t adds t a_h to the activation of v at every
  input. The next layer does not change if such terms of several neurons cancel or, for the constant
  guard, if its bias subtracts t.

Dead and linear neurons are the case of the constant guard.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import NamedTuple

from polyrelu.errors import NetworkError, PolyreluError
from polyrelu.exact import LinearProgram, Optimal, Polyhedron, format_integer
from polyrelu.network import Network, NeuronId
from polyrelu.proofs.refutations.bound_program import Bound
from polyrelu.proofs.refutations.inequality_forms import Inequality, Multipliers, denominator_of
from polyrelu.proofs.refutations.moves import Move
from polyrelu.proofs.refutations.one_layer import LayerPair, layer_pair, plus_multiple
from polyrelu.proofs.refutations.sampled_candidates import (
    OneSidedCandidate,
    apparently_bounded_neurons,
    sampled_candidates,
)
from polyrelu.proofs.refutations.valid_inequalities import ValidInequalities
from polyrelu.support.budget import Budget, BudgetLike, WorkLimit, as_budget
from polyrelu.support.limits import BIT_LIMIT, is_affordable
from polyrelu.support.prices import price_of_program, price_of_samples
from polyrelu.symmetry import first_difference

__all__ = [
    "THEOREM",
    "OneSided",
    "alternatives_of",
    "one_sided_evidence",
    "one_sided_moves",
    "one_sided_neurons",
    "proved_candidates",
]

THEOREM = "one-sided"


@dataclass(frozen=True, slots=True)
class OneSidedSettings:
    """Limits of the search for other networks.

    Attributes
    ----------
    budget
        Default of the work for samples and all linear programs, in the units of `Budget`.
    num_variants
        Number of other networks for each proved candidate, with changes of different sizes.
    max_raised
        Maximum number of candidates that are useful only in groups; if there are more, all of them
        are left out.
    share_for_groups
        Share of the budget that is for linear programs which decide what is useful in groups; if it
        is not enough, all candidates that are useful only in groups are left out.
    """

    budget: float = 10_000
    num_variants: int = 2
    max_raised: int = 2_000
    share_for_groups: float = 0.5


SETTINGS = OneSidedSettings()


class OneSided(NamedTuple):
    """A candidate that was proved, and the bound that proves it."""

    candidate: OneSidedCandidate
    bound: Bound


def one_sided_neurons(
    network: Network,
    candidates: Iterable[OneSidedCandidate] | None = None,
    budget: BudgetLike = SETTINGS.budget,
    seed: int = 0,
) -> list[OneSidedCandidate]:
    """Return the candidates that are proved to have one sign wherever their guard is active.

    Parameters
    ----------
    network
        A plain stack. Networks with fewer than three layers, and other networks, give an empty
        list.
    candidates
        What is tried, in this order; by default the candidates that sample points do not
        contradict.
    budget
        Units of work for the proofs, or a `Budget`; None for no limit.
    seed
        Seed of the sample points.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [-1, -1]), ([[2, -1], [-1, 1]], [0, -1]), ([[1, 1]], [0])])
    >>> [(s.neuron.index, s.sign, s.guard.index) for s in one_sided_neurons(net)]
    [(1, -1, 0), (0, -1, 1), (0, 1, 0)]
    """
    inequalities = ValidInequalities(network, as_budget(budget))
    if not _is_applicable(inequalities):
        return []
    return [proved.candidate for proved in proved_candidates(inequalities, candidates, seed)]


def one_sided_moves(
    network: Network,
    candidates: Iterable[OneSidedCandidate] | None = None,
    budget: BudgetLike = SETTINGS.budget,
    seed: int = 0,
    domain: Polyhedron | None = None,
    with_large: bool = False,
) -> Iterator[Move]:
    """Yield networks with the same function that are not related to a plain stack.

    The parameters are the same as for `one_sided_neurons`. The functions agree on the domain;
    without one, on R^n. `with_large` is as for `ValidInequalities`.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [-1, -1]), ([[2, -1], [-1, 3]], [1, -1]), ([[1, 1]], [0])])
    >>> move = next(one_sided_moves(net))
    >>> move.explanation.partition(", ")[0]
    'neuron 1 of layer 2 is off wherever neuron 0 of layer 1 is on'
    >>> move.other([3]) == net([3])
    True
    """
    limits = as_budget(budget)
    inequalities, rng = ValidInequalities(network, limits, domain, with_large), Random(seed)
    if not _is_applicable(inequalities):
        return
    groups: dict[NeuronId, list[OneSided]] = {}
    try:
        chosen = _useful_candidates(
            network,
            _sampled(inequalities, seed, limits) if candidates is None else candidates,
            limits,
        )
        for proved in proved_candidates(inequalities, chosen, seed):
            group = [proved]
            if _needs_a_group(proved.candidate):
                group = groups.setdefault(proved.candidate.guard or proved.candidate.neuron, [])
                group.append(proved)
            for explanation, other in _alternatives(inequalities, group, rng, limits):
                difference = first_difference(network, other)
                evidence = one_sided_evidence(inequalities, group, other)
                if difference is not None and evidence is not None:
                    yield Move(THEOREM, evidence, other, difference, explanation)
    except (NetworkError, WorkLimit):  # too long numbers in the other network, or no work left
        return


def _is_applicable(inequalities: ValidInequalities) -> bool:
    """Return whether the network is a plain stack with a layer that may have a neuron of one sign.

    On R^n it is one that reads and gives activations.
    """
    network = inequalities.network
    return network.is_plain and network.depth >= (3 if inequalities.domain is None else 2)


def _needs_a_group(candidate: OneSidedCandidate) -> bool:
    """Return whether a candidate is useful only in a group whose weights are raised together."""
    return candidate.sign > 0 and candidate.guard is not None


def _sampled(inequalities: ValidInequalities, seed: int, budget: Budget) -> list[OneSidedCandidate]:
    """Return the candidates that sample points do not contradict, and pay for the points."""
    network = inequalities.network
    budget.spend(price_of_samples(network.num_parameters))
    return sampled_candidates(network, seed, inequalities.domain)


def _useful_candidates(
    network: Network, candidates: Iterable[OneSidedCandidate], budget: Budget
) -> list[OneSidedCandidate]:
    """Return the candidates that lead to another network if they are proved.

    For candidates that need a group this takes a linear program each; if there are many of them,
    they are left out.
    """
    chosen = list(candidates)
    in_groups = [candidate for candidate in chosen if _needs_a_group(candidate)]
    useless = set(in_groups)
    if len(in_groups) <= SETTINGS.max_raised:
        with contextlib.suppress(WorkLimit):
            useless = _useless(network, in_groups, budget.trial(SETTINGS.share_for_groups))
    return [candidate for candidate in chosen if candidate not in useless]


def _useless(
    network: Network, candidates: Iterable[OneSidedCandidate], budget: Budget
) -> set[OneSidedCandidate]:
    """Return the candidates that are not useful even in a group with all others of their guard."""
    groups = dict[NeuronId, list[OneSidedCandidate]]()
    for candidate in candidates:
        groups.setdefault(candidate.guard or candidate.neuron, []).append(candidate)
    useless: set[OneSidedCandidate] = set()
    pairs = {
        layer: layer_pair(network, layer)
        for layer in {group[0].neuron.layer for group in groups.values()}
    }
    for group in groups.values():
        pair = pairs[group[0].neuron.layer]
        useless |= {
            candidate
            for candidate in group
            if _joint_shifts(pair, [s.neuron.index for s in group], candidate, budget) is None
        }
    return useless


def _joint_shifts(
    pair: LayerPair, neurons: Sequence[int], wanted: OneSidedCandidate, budget: Budget
) -> tuple[Fraction, ...] | None:
    """Return shifts of some neurons' weights that the next layer does not notice, or None.

    The weights are those on one guard; the shifts are nonnegative, and positive for the wanted
    neuron.
    """
    budget.spend(price_of_program(1 + len(pair.offset), len(neurons)))
    program = LinearProgram(len(neurons), lower=[0] * len(neurons))
    program.add_equations(
        list(zip(*(pair.columns[v] for v in neurons), strict=True)), [0] * len(pair.offset)
    )
    program.add_inequalities([[1] * len(neurons)], [1])
    answer = program.maximize([int(v == wanted.neuron.index) for v in neurons])
    return answer.point if isinstance(answer, Optimal) and answer.value else None


def proved_candidates(
    inequalities: ValidInequalities,
    candidates: Iterable[OneSidedCandidate] | None,
    seed: int,
) -> Iterator[OneSided]:
    """Yield the candidates that are proved within the budget of the inequalities.

    On R^n there are none in layer 1: only constant neurons have one sign, and other moves cover
    them.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [-1, -1]), ([[2, -1], [-1, 3]], [1, -1]), ([[1, 1]], [0])])
    >>> next(proved_candidates(ValidInequalities(net), None, 0)).candidate.neuron
    NeuronId(layer=2, index=1)
    """
    network = inequalities.network
    budget = inequalities.budget
    try:
        chosen = _sampled(inequalities, seed, budget) if candidates is None else list(candidates)
        if chosen:
            budget.spend(price_of_samples(network.num_parameters))
    except WorkLimit:
        return
    bounded = apparently_bounded_neurons(network, seed, inequalities.domain) if chosen else {}
    for candidate in chosen:
        neuron, sign, guard = candidate
        if neuron.layer >= network.depth or (
            guard is not None and not _is_read(network, candidate)
        ):
            raise PolyreluError(
                f"{neuron} is not hidden below another layer, or does not read the layer of {guard}"
            )
        try:
            inequalities.derive_bounds(bounded, neuron.layer)
            bound = inequalities.lower_bound(
                inequalities.preactivation(neuron, sign), neuron.layer, guard
            )
        except WorkLimit:
            return
        if bound is not None and bound.value >= 0:
            yield OneSided(candidate, bound)


def _is_read(network: Network, candidate: OneSidedCandidate) -> bool:
    """Return whether the layer of a candidate reads the hidden layer of its guard."""
    read = {block.source for block in network.layers[candidate.neuron.layer - 1].blocks}
    return candidate.guard is not None and candidate.guard.layer in read - {0}


# -- other networks --------------------------------------------------------------------------------


def _alternatives(
    inequalities: ValidInequalities, group: Sequence[OneSided], rng: Random, budget: Budget
) -> Iterator[tuple[str, Network]]:
    """Yield networks that differ by what the last member of a group allows, with explanations.

    The members are neurons with z ≥ 0 wherever one guard is active, or the group is a single
    candidate.
    """
    candidate, network = group[-1].candidate, inequalities.network
    if candidate.guard is not None and candidate.sign > 0:
        pair = layer_pair(network, candidate.neuron.layer)
        yield from _raised_together(pair, group, candidate.guard, rng, budget)
    else:
        yield from alternatives_of(network, candidate, rng, inequalities.domain)


def alternatives_of(
    network: Network, candidate: OneSidedCandidate, rng: Random, domain: Polyhedron | None = None
) -> Iterator[tuple[str, Network]]:
    """Yield networks that differ by what a candidate allows, if it is right, with explanations.

    The candidate is a dead or a linear neuron, or one that is off wherever its guard is active.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1]], [0]), ([[-1]], [-1]), ([[1]], [0])])
    >>> candidate = OneSidedCandidate(NeuronId(2, 0), -1)
    >>> next(alternatives_of(net, candidate, Random(1)))[0]
    'neuron 0 of layer 2 is dead: it is never positive on R^n'
    """
    neuron, sign, guard = candidate
    pair = layer_pair(network, neuron.layer)
    name, place = pair.name(neuron.index), "R^n" if domain is None else "the domain"
    column = len(pair.rows[0]) - 1 if guard is None else guard.index
    for _ in range(SETTINGS.num_variants):
        shift = Fraction(sign * rng.randint(1, 64), 16)
        row = _with_shifted_entry(pair.rows[neuron.index], column, shift)
        offset = pair.offset
        if sign > 0:
            offset = plus_multiple(offset, pair.columns[neuron.index], -shift)
        if guard is not None:
            where = f"wherever neuron {guard.index} of layer {guard.layer} is on"
            explanation = f"{name} is off {where}, so its weight on it can be lowered"
        else:
            kind = "linear: it is never negative" if sign > 0 else "dead: it is never positive"
            explanation = f"{name} is {kind} on {place}"
        yield explanation, pair.replaced({neuron.index: row}, {}, offset)


def _raised_together(
    pair: LayerPair, group: Sequence[OneSided], guard: NeuronId, rng: Random, budget: Budget
) -> Iterator[tuple[str, Network]]:
    """Yield networks in which neurons of a group raise their weights on the guard together.

    The next layer does not change; the last member takes part.
    """
    neurons = [found.candidate.neuron.index for found in group]
    shifts = _joint_shifts(pair, neurons, group[-1].candidate, budget)
    if shifts is None:
        return
    explanation = (
        f"neurons of layer {pair.layer} are on wherever neuron {guard.index} of layer "
        f"{guard.layer} is on, so their weights on it can be raised together"
    )
    for _ in range(SETTINGS.num_variants):
        factor = Fraction(rng.randint(1, 64), 16)
        rows = {
            v: _with_shifted_entry(pair.rows[v], guard.index, factor * t)
            for v, t in zip(neurons, shifts, strict=True)
            if t
        }
        yield explanation, pair.replaced(rows, {})


def _with_shifted_entry(
    row: Sequence[Fraction], column: int, shift: Fraction
) -> tuple[Fraction, ...]:
    """Return the row with a shift added to one entry."""
    return tuple(w + shift * (k == column) for k, w in enumerate(row))


# -- evidence --------------------------------------------------------------------------------------


def one_sided_evidence(
    inequalities: ValidInequalities, group: Sequence[OneSided], other: Network
) -> dict[str, object] | None:
    """Return the evidence of FORMAT.md §3.3 that another network has the same function, or None.

    It is None if the evidence is beyond the limits of FORMAT.md §3.6. The source is named by its
    index alone, as in plain stacks.
    """
    neuron, _, guard = group[0].candidate
    layer = neuron.layer
    used = _used_derivations(inequalities, [proved.bound.multipliers for proved in group])
    bounds = [
        _bound_of_multiple(proved.bound, denominator_of(other.layers[layer - 1]))
        for proved in group
    ]
    derivations = [inequalities.derivations[index] for index in used]
    entries = [entry for step in derivations for entry in (step.upper, step.remainder)]
    entries += [bound.multipliers for bound in bounds]
    guard_number = None if guard is None else inequalities.number_of(guard)
    scales = [*(step.scale for step in derivations), *(bound.scale for bound in bounds)]
    if any(scale.bit_length() > BIT_LIMIT for scale in scales):
        return None
    if not _is_affordable(inequalities, guard_number, entries):
        return None
    fact_number = _FactNumbers(
        inequalities.num_neurons_before(layer),
        guard is not None,
        len(inequalities.walls),
        {k: i for i, k in enumerate(used)},
    )

    def listed(multipliers: Multipliers) -> list[list[object]]:
        """Return multipliers as the file lists them, by the numbers of facts."""
        pairs = sorted((fact_number.of(name), w) for name, w in multipliers.items() if w)
        return [[number, format_integer(w)] for number, w in pairs]

    signs = sorted(
        (candidate.neuron.index, candidate.sign, bound)
        for (candidate, _), bound in zip(group, bounds, strict=True)
    )
    return {
        "layer": layer,
        "source": [] if guard is None else [guard.index],
        "steps": [
            [step.neuron, format_integer(step.scale), listed(step.upper), listed(step.remainder)]
            for step in derivations
        ],
        "signs": [
            [v, "+" if sign > 0 else "-", format_integer(bound.scale), listed(bound.multipliers)]
            for v, sign, bound in signs
        ],
    }


@dataclass(frozen=True, slots=True)
class _FactNumbers:
    """The numbers of the valid inequalities in one certificate: the "facts" of FORMAT.md §3.3.

    Attributes
    ----------
    num_neurons
        The number N of hidden neurons before the layer of the statement.
    has_guard
        Whether the guard is a neuron.
    num_walls
        The number of inequalities of the domain.
    steps
        For the index of each derived inequality that the certificate lists, its position there.
    """

    num_neurons: int
    has_guard: bool
    num_walls: int
    steps: dict[int, int]

    def of(self, name: Inequality) -> int:
        """Return the number of an inequality."""
        match name.kind:
            case "activation":
                return 2 * name.number
            case "relu":
                return 2 * name.number + 1
            case "one":
                return 2 * self.num_neurons
            case "guard":
                return 2 * self.num_neurons + 1
            case "domain":
                return 2 * self.num_neurons + 1 + self.has_guard + name.number
            case "derived":
                first = 2 * self.num_neurons + 1 + self.has_guard + self.num_walls
                return first + self.steps[name.number]


def _bound_of_multiple(bound: Bound, factor: int) -> Bound:
    """Return a bound of a form as a bound of factor · form, with multipliers in lowest terms."""
    divisor = math.gcd(bound.scale, *(w * factor for w in bound.multipliers.values()))
    multipliers = {name: w * factor // divisor for name, w in bound.multipliers.items()}
    return Bound(bound.value, bound.scale // divisor, multipliers)


def _used_derivations(inequalities: ValidInequalities, entries: Iterable[Multipliers]) -> list[int]:
    """Return the indices of the derived inequalities that are used, directly or by others.

    They are in the order of their derivation, in which each comes after those that it uses.
    """
    waiting, used = [name for entry in entries for name in entry], set[int]()
    while waiting:
        kind, number = waiting.pop()
        if kind == "derived" and number not in used:
            used.add(number)
            step = inequalities.derivations[number]
            waiting += [*step.upper, *step.remainder]
    return sorted(used)


def _is_affordable(
    inequalities: ValidInequalities, guard: int | None, entries: Sequence[Multipliers]
) -> bool:
    """Return whether the checker can add up all the multiples."""
    operations, longest = 0, 1
    for multipliers in entries:
        for name, factor in multipliers.items():
            form = inequalities.inequality(name, guard)
            operations += len(form)
            largest = max(abs(w) for w in form.values())
            longest = max(longest, factor.bit_length() + largest.bit_length())
            if factor.bit_length() > BIT_LIMIT:
                return False
    return is_affordable(2 * operations, longest)
