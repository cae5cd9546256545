"""Neurons of networks of blocks that have one sign wherever a neuron that they read is active.

The guard is a neuron of any hidden layer that the layer of the neuron reads, or the constant 1. If
the neuron is never positive wherever the guard is active, its weight on the guard can be lowered.
If it is never negative there, the weight can be raised, if the layers that read the neuron read the
guard, too, so that they can make up for it. The theorem is Theorem 7 of
docs/theory/architectures.md, the rule of the checker in FORMAT.md §3.14. The signs are proved as in
plain stacks (`refutations.one_sided`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from fractions import Fraction

from polyrelu.errors import NetworkError
from polyrelu.exact import Polyhedron, SparseMatrix, add, as_sparse
from polyrelu.network import Block, Layer, Network, NeuronId
from polyrelu.proofs.blocks.block_move import BlockMove
from polyrelu.proofs.blocks.names import NeuronNames
from polyrelu.proofs.blocks.settings import SETTINGS
from polyrelu.proofs.refutations.one_sided import one_sided_evidence, proved_candidates
from polyrelu.proofs.refutations.sampled_candidates import OneSidedCandidate, sampled_candidates
from polyrelu.proofs.refutations.valid_inequalities import ValidInequalities
from polyrelu.support.budget import Budget, WorkLimit
from polyrelu.support.prices import price_of_samples

__all__ = ["THEOREM", "one_sided_block_moves"]

#: The name of the theorem in certificates.
THEOREM = "blocks-one-sided"


def one_sided_block_moves(
    network: Network, budget: Budget, domain: Polyhedron | None = None, seed: int = 0
) -> Iterator[BlockMove]:
    """Yield networks in which a neuron has another weight on its guard, or another bias.

    The functions agree on the domain; without one, on R^n.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [-1, -1]), ([[2, -1], [-1, 3]], [1, -1]), ([[1, 1]], [0])])
    >>> next(one_sided_block_moves(net, Budget())).explanation.partition(", ")[0]
    'neuron 1 of layer 2 is off wherever neuron 0 of layer 1 is on'
    """
    if network.num_parameters > SETTINGS.max_parameters:
        return
    with contextlib.suppress(NetworkError, WorkLimit):  # too long numbers, or no work left
        budget.spend(price_of_samples(network.num_parameters))
        candidates = sampled_candidates(network, seed, domain)
        useful = [found for found in candidates if _is_useful(network, found)]
        inequalities, names = ValidInequalities(network, budget, domain), NeuronNames(network)
        for proved in proved_candidates(inequalities, useful, seed):
            neuron, _, guard = proved.candidate
            if not names.is_affordable(neuron.layer):
                return
            for other in _others(network, proved.candidate, names):
                evidence = one_sided_evidence(inequalities, [proved], other)
                if evidence is not None:
                    evidence["source"] = [] if guard is None else [guard.layer, guard.index]
                    difference, text = (
                        {"layer": neuron.layer},
                        _explanation(proved.candidate, domain),
                    )
                    yield BlockMove(THEOREM, evidence, difference, other, text)


def _is_useful(network: Network, candidate: OneSidedCandidate) -> bool:
    """Return whether a candidate leads to another network if it is proved."""
    neuron, sign, guard = candidate
    if sign < 0 or guard is None:
        return True
    sources = (
        {block.source for block in layer.blocks}
        for later, layer in enumerate(network.layers[neuron.layer :], neuron.layer + 1)
        if _column(network, later, neuron) is not None
    )
    return all(guard.layer in read for read in sources)


def _column(network: Network, later: int, neuron: NeuronId) -> SparseMatrix | None:
    """Return the weights of a later layer on a neuron; None if they are 0."""
    for block in network.layers[later - 1].blocks:
        if block.source == neuron.layer:
            unit = SparseMatrix.from_entries((block.shape[1], 1), [neuron.index], [0], [1])
            column = as_sparse(block.entries).times_sparse(unit)
            return None if column.is_zero() else column
    return None


def _others(
    network: Network, candidate: OneSidedCandidate, names: NeuronNames
) -> Iterator[Network]:
    """Yield networks that differ by what a proved candidate allows."""
    neuron, sign, guard = candidate
    number, i = neuron.layer, neuron.index
    for size in SETTINGS.shifts:
        shift = sign * size
        unit = SparseMatrix.from_entries((network.widths[number], 1), [i], [0], [1])
        changed = {number: _with_added(network.layers[number - 1], guard, unit, shift)}
        for later in range(number + 1, network.depth + 1):
            column = _column(network, later, neuron) if sign > 0 else None
            if column is not None:
                changed[later] = _with_added(network.layers[later - 1], guard, column, -shift)
        layers = changed.values()
        has_zeros = any(
            as_sparse(b.entries).is_zero() for layer in layers for b in layer.blocks[:-1]
        )
        own, other = (
            names.of_neuron(layer, number, i)
            for layer in (network.layers[number - 1], changed[number])
        )
        if not has_zeros and own != other:
            yield network.replace_layers(changed)


def _with_added(
    layer: Layer, guard: NeuronId | None, column: SparseMatrix, factor: Fraction
) -> Layer:
    """Return a layer with a multiple of a column added to the weights on the guard, or the bias."""
    p, q = factor.as_integer_ratio()
    rows, numerators = column.row_of_entries(), [p * int(x) for x in column.numerators]
    if guard is None:
        added = SparseMatrix.from_entries(
            column.shape, rows, [0] * len(rows), numerators, q * column.denominator
        )
        return Layer(layer.blocks, layer.bias + added.to_dense())
    blocks = tuple(
        Block(
            b.source,
            add(
                b.entries,
                SparseMatrix.from_entries(
                    b.shape,
                    rows,
                    [guard.index] * len(rows),
                    numerators,
                    q * column.denominator,
                ),
            ),
        )
        if b.source == guard.layer
        else b
        for b in layer.blocks
    )
    return Layer(blocks, layer.bias)


def _explanation(candidate: OneSidedCandidate, domain: Polyhedron | None) -> str:
    """Return in words why the functions agree."""
    neuron, sign, guard = candidate
    name = f"neuron {neuron.index} of layer {neuron.layer}"
    place = "R^n" if domain is None else "the domain"
    if guard is None:
        kind = "linear: it is never negative" if sign > 0 else "dead: it is never positive"
        return f"{name} is {kind} on {place}"
    where = f"wherever neuron {guard.index} of layer {guard.layer} is on"
    if sign < 0:
        return f"{name} is off {where}, so its weight on it can be lowered"
    return (
        f"{name} is on {where}, so its weight on it can be raised, and what reads both neurons can "
        "make up for it"
    )
