"""Other networks with the same function, by signs that a contained zonotope shows.

`bound_program` has a program that asks for no more, but it has a row for each pair of neurons of
layer 1, too many for wide layers. Here each negative term has a row for each input.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from polyrelu.errors import NetworkError
from polyrelu.network import Network
from polyrelu.proofs.refutations.containment.program import ContainmentProgram
from polyrelu.proofs.refutations.containment.rounding import rounded_bound
from polyrelu.proofs.refutations.moves import Move
from polyrelu.proofs.refutations.one_sided import (
    THEOREM,
    OneSided,
    alternatives_of,
    one_sided_evidence,
)
from polyrelu.proofs.refutations.sampled_candidates import OneSidedCandidate, sample_points
from polyrelu.proofs.refutations.valid_inequalities import ValidInequalities
from polyrelu.support.budget import Budget, WorkLimit
from polyrelu.support.prices import price_of_samples
from polyrelu.support.typing import Floats
from polyrelu.symmetry import first_difference

__all__ = ["containment_moves"]


@dataclass(frozen=True, slots=True)
class ContainmentSettings:
    """When a candidate counts as false.

    Attributes
    ----------
    tolerance
        The negative terms may exceed the positive ones by this share at a sample point.
    """

    tolerance: float = 1e-9


SETTINGS = ContainmentSettings()


def containment_moves(
    network: Network,
    candidates: Iterable[OneSidedCandidate],
    budget: Budget,
    seed: int = 0,
) -> Iterator[Move]:
    """Yield networks with the same function on R^n that are not related to a plain stack.

    Of the candidates those about neurons of layer 2 are tried that are inactive, or have no guard;
    those first whose negative terms are the smallest share of the positive ones at sample points.
    The budget may end the search.

    >>> from polyrelu.network import NeuronId, from_arrays
    >>> first, last = ([[1], [-1], [1]], [0, 0, -1]), ([[1, 1]], [0])
    >>> net = from_arrays([first, ([[-2, -2, 1], [1, 1, 1]], [0, 0]), last])
    >>> move = next(containment_moves(net, [OneSidedCandidate(NeuronId(2, 0), -1)], Budget(1000)))
    >>> move.explanation
    'neuron 0 of layer 2 is dead: it is never positive on R^n'
    """
    if not network.is_plain or network.depth < 3:
        return
    rng = Random(seed)
    with contextlib.suppress(WorkLimit):
        for candidate in _in_order(network, candidates, budget, seed):
            inequalities = ValidInequalities(network, budget)
            program = ContainmentProgram(inequalities, candidate)
            found = program.solve(budget)
            bound = None if found is None else rounded_bound(program, found)
            if bound is not None:
                yield from _moves(inequalities, OneSided(candidate, bound), rng)


def _moves(inequalities: ValidInequalities, proved: OneSided, rng: Random) -> Iterator[Move]:
    """Yield the networks that differ by what a proved candidate allows."""
    network = inequalities.network
    with contextlib.suppress(NetworkError):  # too long numbers in the other network
        for explanation, other in alternatives_of(network, proved.candidate, rng):
            difference = first_difference(network, other)
            evidence = one_sided_evidence(inequalities, [proved], other)
            if difference is not None and evidence is not None:
                yield Move(THEOREM, evidence, other, difference, explanation)


def _in_order(
    network: Network, candidates: Iterable[OneSidedCandidate], budget: Budget, seed: int
) -> list[OneSidedCandidate]:
    """Return the candidates that no sample contradicts, in the order in which they are tried.

    Without a guard the zonotope of the negative terms has to lie in the one of the positive terms;
    then the sum of the lengths of its segments is at most as large, since it is proportional to the
    mean width. With a guard this need not be so, but a proof would hardly succeed otherwise.
    """
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(network.weight(1).to_floats(), axis=1)
        rows, biases = network.weight(2).to_floats(), network.bias(2).to_floats()[:, 0]
        chosen = [
            candidate
            for candidate in candidates
            if candidate.neuron.layer == 2
            and (candidate.sign < 0 or candidate.guard is None)
            and candidate.sign * rows[candidate.neuron.index] @ lengths > 0
        ]
        if not chosen:
            return []
        budget.spend(price_of_samples(network.num_parameters))
        active = _active_at_samples(network, seed)
        shares = [_share(candidate, active, rows, biases) for candidate in chosen]
    order: Sequence[int] = np.argsort(shares, kind="stable").tolist()
    return [chosen[i] for i in order if shares[i] <= 1 + SETTINGS.tolerance]


def _active_at_samples(network: Network, seed: int) -> Floats:
    """Return the activations of layer 1 at sample points, shape (points, n_1)."""
    points = sample_points(network, seed, None)
    values = points @ network.weight(1).to_floats().T + network.bias(1).to_floats()[:, 0]
    return np.maximum(values, 0)


def _share(candidate: OneSidedCandidate, active: Floats, rows: Floats, biases: Floats) -> float:
    """Return the largest share of negative terms in positive ones where the guard is active."""
    neuron, sign, guard = candidate
    here = active if guard is None else active[active[:, guard.index] > 0]
    row, bias = sign * rows[neuron.index], sign * biases[neuron.index]
    positive = here @ np.maximum(row, 0) + np.maximum(bias, 0)
    negative = here @ np.maximum(-row, 0) + np.maximum(-bias, 0)
    return float(np.nan_to_num(negative / positive, nan=0.0).max(initial=0.0))
