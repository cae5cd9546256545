"""The neurons on which a statement about one neuron and its guard depends.

Neurons that neither the neuron nor the guard reads, directly or through others, can have any
activations without a change of the statement, so that no proof needs them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

from polyrelu.exact import Polyhedron, RationalMatrix, column_basis, rank
from polyrelu.network import Network
from polyrelu.proofs.refutations.sampled_candidates import OneSidedCandidate

__all__ = ["Rows", "Scope"]


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """Constants of scopes.

    Attributes
    ----------
    largest
        Floats guess nothing about networks with numbers beyond this one, or below its inverse.
    """

    largest: float = 1e30


SETTINGS = ScopeSettings()


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows [W | b] of the neurons of one layer that are in a scope.

    Attributes
    ----------
    indices
        The indices of the neurons in their layer, ascending.
    weight, bias
        Their weights on the neurons of the layer before that are in the scope, and their biases.
    """

    indices: tuple[int, ...]
    weight: RationalMatrix
    bias: RationalMatrix


@dataclass(frozen=True)
class Scope:
    """The neurons that matter for a candidate, layer by layer.

    They are numbered from 0, layer by layer; `positions` gives the numbers of a layer.

    Attributes
    ----------
    network
        A plain stack.
    candidate
        The neuron in question with its sign and its guard.
    domain
        The domain, a polyhedron without equations; None for R^n.
    layers
        The rows of the layers before the one of the candidate.
    last
        The row of the candidate's neuron.

    Examples
    --------
    >>> from polyrelu.network import NeuronId, from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 0]], [-1]), ([[1]], [0])])
    >>> scope = Scope.of(net, OneSidedCandidate(NeuronId(2, 0), -1))
    >>> scope.layers[0].indices, scope.reads_inputs
    ((0,), True)
    """

    network: Network
    candidate: OneSidedCandidate
    domain: Polyhedron | None
    layers: tuple[Rows, ...]
    last: Rows

    @classmethod
    def of(
        cls, network: Network, candidate: OneSidedCandidate, domain: Polyhedron | None = None
    ) -> Scope:
        """Return the scope of a candidate."""
        neuron, _, guard = candidate
        chosen, columns = [[neuron.index]], [list[int]()]
        for number in range(neuron.layer, 1, -1):
            signs = network.weight(number).take(chosen[-1]).signs()
            needed = {int(j) for j in np.flatnonzero(signs.any(axis=0))}
            if guard is not None and number == neuron.layer:
                needed.add(guard.index)
            columns[-1] = sorted(needed)
            chosen.append(columns[-1])
            columns.append([])
        columns[-1] = list(range(network.num_inputs))
        rows = [
            Rows(
                tuple(indices),
                network.weight(number).take(indices, sources),
                network.bias(number).take(indices),
            )
            for number, indices, sources in zip(
                range(neuron.layer, 0, -1), chosen, columns, strict=True
            )
        ]
        return cls(network, candidate, domain, tuple(rows[:0:-1]), rows[0])

    @cached_property
    def starts(self) -> list[int]:
        """Return the number of the first neuron of each layer, and the number of all."""
        return list(accumulate((len(rows.indices) for rows in self.layers), initial=0))

    @property
    def num_neurons(self) -> int:
        """Return the number of neurons before the layer of the candidate."""
        return self.starts[-1]

    @cached_property
    def layer_of(self) -> list[int]:
        """Return the layer of each neuron, counted from 0."""
        return [j for j, (a, b) in enumerate(pairwise(self.starts)) for _ in range(b - a)]

    @cached_property
    def guard(self) -> int | None:
        """Return the number of the guard."""
        found = self.candidate.guard
        if found is None:
            return None
        return self.starts[-2] + self.layers[-1].indices.index(found.index)

    @cached_property
    def reads_inputs(self) -> bool:
        """Return whether the inputs matter.

        They do not if the rows of layer 1 are independent on R^n, so that its activations are any
        nonnegative numbers; the guard must be in a later layer.
        """
        if self.domain is not None or len(self.layers) < 2:
            return True
        weight = self.layers[0].weight
        return weight.nrows > weight.ncols or rank(weight) < weight.nrows

    @cached_property
    def has_ordinary_numbers(self) -> bool:
        """Return whether floats hold products of all weights, so that they can guess anything."""
        parts = [part for rows in (*self.layers, self.last) for part in (rows.weight, rows.bias)]
        if self.domain is not None and self.domain.inequalities:
            parts.append(RationalMatrix.from_rows(self.domain.inequalities))
        with np.errstate(all="ignore"):
            sizes = np.abs(np.concatenate([part.to_floats().ravel() for part in parts]))
        is_large_enough = (sizes > 1 / SETTINGS.largest) | (sizes == 0)
        return bool(((sizes < SETTINGS.largest) & is_large_enough).all())

    @cached_property
    def inputs(self) -> tuple[int, ...]:
        """Return the inputs at which coefficients have to vanish, so that all others do."""
        if not self.reads_inputs:
            return ()
        if self.domain is not None:
            return tuple(range(self.network.num_inputs))
        return column_basis(self.layers[0].weight)
