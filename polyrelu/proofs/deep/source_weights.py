"""Weights of the last hidden layer that its own pieces do not determine (Theorem D, D2').

A *source* is a neuron h of the layer before the last hidden one that is active at no known piece of
some neuron v of the last hidden layer, so that the zeros of v cannot determine the weight W_vh. The
zeros of h may do so instead. `resolved_sources` decides for which sources they do; the order in
which it lists them goes into the certificate. Mathematics: docs/theory/deep.md, condition (D2') and
Claim 12.

Where z_h = 0, the gradient of f jumps by Σ_v W[L]_v W_vh ∇z_h, the sum over the v that are active.
If all other sources are inactive there, the same neurons are active in a competitor, so the
differences x_vh between its weights and those weights satisfy Σ_v W[L]_v x_vh = 0. The theorem asks
that

* the rows of any two neurons of the last hidden layer are independent on the weights that are
  determined of both, and the biases;
* on some cell of full dimension all sources are inactive, and every layer before the last hidden
  one has active neurons;
* source by source, the equations at the cells of codimension 1 on which the source alone vanishes,
  and on which all other sources that are not resolved yet are inactive, have only the solution x =
  0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from polyrelu.exact import eliminate_mod
from polyrelu.proofs.deep.neuron_evidence import NeuronEvidence, bits_of
from polyrelu.proofs.deep.ridges import DeepNetwork, Ridge

__all__ = ["resolved_sources", "sources"]

#: For the number of each source, the numbers of the neurons of the last hidden layer at whose
#: pieces it is never active.
Sources: TypeAlias = dict[int, list[int]]


def sources(deep_network: DeepNetwork, chosen: Mapping[int, NeuronEvidence]) -> Sources:
    """Return the sources; there are none if the last hidden layer is the first one."""
    last = deep_network.depth - 1
    neurons_of: Sources = {}
    for neuron in deep_network.neurons_in(last) if last > 1 else ():
        if neuron in chosen:
            for h in bits_of(deep_network.mask_before(neuron) & ~chosen[neuron].num_active):
                neurons_of.setdefault(h, []).append(neuron)
    return neurons_of


def resolved_sources(
    deep_network: DeepNetwork, ridges: Sequence[Ridge], chosen: Mapping[int, NeuronEvidence]
) -> list[int]:
    """Return the numbers of the sources whose weights the ridges determine, in a possible order."""
    unresolved, order = sources(deep_network, chosen), list[int]()
    if (
        unresolved
        and _rows_are_independent(deep_network, chosen)
        and _has_cell(deep_network, _mask_of_neurons(unresolved), ridges)
    ):
        facets = _facets(unresolved, ridges)
        while resolved := [
            h for h in unresolved if _is_resolved(deep_network, h, unresolved, facets[h])
        ]:
            unresolved = {h: vs for h, vs in unresolved.items() if h not in resolved}
            order += resolved
    return order


def _mask_of_neurons(neurons: Iterable[int]) -> int:
    return sum(1 << neuron for neuron in neurons)


def _has_cell(deep_network: DeepNetwork, inactive: int, ridges: Sequence[Ridge]) -> bool:
    """Return whether some sector is one of (D2'), with the given neurons inactive."""
    layers = deep_network.layer_mask[1:-1]
    return any(
        not mask & inactive and all(mask & layer for layer in layers)
        for ridge in ridges
        for mask in ridge.sectors
    )


def _rows_are_independent(deep_network: DeepNetwork, chosen: Mapping[int, NeuronEvidence]) -> bool:
    """Return whether any two rows of the last hidden layer are independent where known.

    The known columns of both are the h that are active at pieces of both, and the bias.
    """
    last = deep_network.depth - 1
    neurons = deep_network.neurons_in(last)
    rows = deep_network.network.layers[last - 1].augmented().integer_rows()
    if any(neuron not in chosen for neuron in neurons):
        return False
    start = deep_network.starts[last - 2]
    for v, w in combinations(range(len(rows)), 2):
        active_at_both = chosen[neurons[v]].num_active & chosen[neurons[w]].num_active
        common = [h - start for h in bits_of(active_at_both)] + [-1]
        if eliminate_mod([[rows[v][k], rows[w][k]] for k in common], 2)[0] < 2:
            return False
    return True


def _facets(unresolved: Sources, ridges: Sequence[Ridge]) -> dict[int, set[int]]:
    """Return, for each source, the masks of known facets on which it alone vanishes."""
    facets: dict[int, set[int]] = {h: set() for h in unresolved}
    for ridge in ridges:
        for neuron in (ridge.u, ridge.v):
            if neuron in unresolved:
                facets[neuron].update(ridge.ray(neuron, active).mask for active in (True, False))
    return facets


def _is_resolved(
    deep_network: DeepNetwork, h: int, unresolved: Sources, facets: Iterable[int]
) -> bool:
    """Return whether the jumps across zeros of a source determine the weights on it."""
    vs, others = unresolved[h], _mask_of_neurons(other for other in unresolved if other != h)
    patterns = {tuple(bool(mask >> v & 1) for v in vs) for mask in facets if not mask & others}
    start, output_rows = deep_network.starts[-2], deep_network.integer_rows[-1]
    equations = [
        [row[v - start] if active else 0 for v, active in zip(vs, pattern, strict=True)]
        for pattern in patterns
        for row in output_rows
    ]
    return eliminate_mod(equations, len(vs))[0] == len(vs)
