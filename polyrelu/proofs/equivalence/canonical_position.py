"""The canonical position of a network with two hidden layers behind a bottleneck.

Parameters with the same function may differ by translations and flips of hidden hyperplanes. They
are undone here: hidden neurons are moved to a position that depends only on the function, if the
parameters are generic. The result has the function of the network for any parameters, but it only
tells provers what to look for; no certificate rests on it. See
docs/theory/bottleneck_pairs.md.

Write f(x) = F(σ(z)), z = W[1] x + b[1], where F on the orthant is Σ_h D_h σ(h·(u,1)) + L·(u,1), the
sum over distinct hyperplanes of rows h with entries of both signs, so that σ(h·(u,1)) bends inside
the orthant. Neurons that are dead or linear on the orthant, doubled, or opposite to another neuron
are written in this way, too. First-layer neurons that F does not read are dropped.

Neuron j is *hidden* if L has no entry at j and every row h that reads j has h_j > 0 and no other
positive entry, the constant included. (Of a row and its negative the one that could hide a neuron
is taken for h.) No row hides two neurons, so hidden neurons are moved independently of each other:

* *Flips.* Let k be a neuron such that h_k = -μ h_j with one μ > 0 for all h that read j, and such
  that nothing else reads k. (If a single row h reads j, this is any k that h alone reads.) Row k is
  given the orientation in which its first nonzero entry is positive; row j changes as in
  docs/theory/hidden_hyperplanes.md.
* *Translation.* Bias j is changed by the least admissible shift, after which some h that reads j
  has the constant 0.

That page proves both symmetries for weak signs. Its proof for flips takes one h after the other and
covers several h with a common μ. So the canonical network has the function of the network, for any
parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from polyrelu.exact import RationalMatrix, primitive, rank
from polyrelu.network import Block, Layer, Network, layer_from_rows
from polyrelu.support.typing import Vector

__all__ = ["CanonicalPosition", "canonical_position"]


@dataclass(frozen=True, slots=True)
class CanonicalPosition:
    """A network with the function of a given network.

    Attributes
    ----------
    network
        A plain stack with two hidden layers.
    neurons
        For each of its first-layer neurons the first-layer neuron of the given network that it
        comes from.
    """

    network: Network
    neurons: tuple[int, ...]


def canonical_position(network: Network) -> CanonicalPosition | None:
    """Return a plain stack with the same function and its hidden neurons in canonical position.

    The result depends only on the function if the parameters are generic. It is None if the network
    has another shape than two hidden layers and an affine output, or if the rows of W[1] that the
    function reads are linearly dependent.

    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.symmetry.hidden_hyperplanes import flip, translate
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    >>> moved = translate(flip(net, 1, 0, [1]), 1, 0, 5)
    >>> canonical_position(net) == canonical_position(moved)
    True
    >>> canonical_position(net).network.layers[0].augmented().rows() == [(1, 0, -1), (0, 1, 0)]
    True
    """
    if network.num_hidden_layers != 2 or network.last != "affine" or not network.is_plain:
        return None
    reduced = _orthant_network(network)
    reduced.orient_for_hiding()
    reduced.drop_unread_neurons()
    if rank(network.weight(1).take(reduced.neurons)) < len(reduced.neurons):
        return None
    for j in reduced.hidden_neurons():
        reduced.move_to_canonical_position(j)
    return CanonicalPosition(reduced.network(), tuple(reduced.neurons))


@dataclass(slots=True)
class _OrthantNetwork:
    """A network Σ_h D_h σ(h·(u,1)) + L·(u,1) in moved activations u of the first layer.

    Attributes
    ----------
    first
        The first layer [W | b] before any move.
    neurons
        The first-layer neurons that are kept.
    linear
        The columns of L, the constant last.
    rows
        The rows h, the constant last.
    columns
        The columns D_h.
    factors
        By pairs of kept neurons, the multiple of the second neuron's row that is added to the first
        neuron's row.
    shifts
        What is added to the biases of moved neurons, by neuron.
    """

    first: RationalMatrix
    neurons: list[int]
    linear: list[list[Fraction]]
    rows: list[list[Fraction]] = field(default_factory=list)
    columns: list[Vector] = field(default_factory=list)
    factors: dict[tuple[int, int], Fraction] = field(default_factory=dict)
    shifts: dict[int, Fraction] = field(default_factory=dict)

    def add_linear(self, column: Vector, row: Sequence[Fraction | int], factor: Fraction) -> None:
        """Add factor · column · row to L."""
        for target, entry in zip(self.linear, row, strict=True):
            if entry:
                for i, v in enumerate(column):
                    target[i] += factor * entry * v

    def add_hyperplane(
        self, row: Sequence[int], members: Sequence[tuple[Fraction, Vector]]
    ) -> None:
        """Add Σ v σ(s h) over the members (s, v) of one hyperplane, by σ(-h) = σ(h) - h."""
        total = [Fraction()] * len(self.linear[0])
        for scale, column in members:
            total = [a + abs(scale) * v for a, v in zip(total, column, strict=True)]
            if scale < 0:
                self.add_linear(column, row, scale)
        if any(total):
            self.rows.append([Fraction(entry) for entry in row])
            self.columns.append(tuple(total))

    def orient_for_hiding(self) -> None:
        """Choose between a row and its negative where both hide a neuron.

        The one that makes L vanish at the neurons that the row reads is taken, if there is one.
        """
        for row, column in zip(self.rows, self.columns, strict=True):
            read = [k for k, entry in enumerate(row[:-1]) if entry]
            if len(read) != 2 or row[-1] or not any(any(self.linear[k]) for k in read):
                continue
            new_linear = (
                [x + row[k] * v for x, v in zip(self.linear[k], column, strict=True)] for k in read
            )
            if not any(map(any, new_linear)):  # σ(h) = h + σ(-h)
                self.add_linear(column, row, Fraction(1))
                row[:] = [-entry for entry in row]

    def drop_unread_neurons(self) -> None:
        """Drop the first-layer neurons that nothing reads; at least one neuron is kept."""
        size = len(self.neurons)
        kept = [
            k for k in range(size) if any(self.linear[k]) or any(row[k] for row in self.rows)
        ] or [0]
        self.first, self.neurons = self.first.take(kept), kept
        self.linear = [self.linear[k] for k in [*kept, size]]
        self.rows = [[row[k] for k in [*kept, size]] for row in self.rows]

    def readers(self, neuron: int) -> list[list[Fraction]]:
        """Return the rows h that read a neuron."""
        return [row for row in self.rows if row[neuron]]

    def hidden_neurons(self) -> list[int]:
        """Return the hidden neurons."""
        places = {j for row in self.rows if (j := _hidden_by(row)) is not None}
        return [
            j
            for j in sorted(places)
            if not any(self.linear[j]) and all(_hidden_by(row) == j for row in self.readers(j))
        ]

    def move_to_canonical_position(self, hidden: int) -> None:
        """Flip and translate a hidden neuron into its canonical position."""
        readers = self.readers(hidden)
        self._flip(hidden, readers)
        shift = max(row[-1] / row[hidden] for row in readers)
        self.shifts[hidden] = shift
        for row in readers:
            row[-1] -= shift * row[hidden]

    def _flip(self, hidden: int, readers: list[list[Fraction]]) -> None:
        """Orient the rows of all neurons that can be flipped together with a hidden neuron."""
        signs = self.first.signs()
        for k in range(len(self.neurons)):
            ratios = {row[k] / row[hidden] for row in readers}
            if k == hidden or ratios == {0} or len(ratios) > 1:
                continue
            if any(self.linear[k]) or len(self.readers(k)) > len(readers):
                continue
            if next(sign for sign in signs[k] if sign) < 0:
                self.factors[hidden, k] = ratios.pop()
                self.factors[k, k] = Fraction(-2)

    def _first_layer(self) -> Layer:
        """Return the first layer after all moves."""
        moved, size = self.first, len(self.neurons)
        if self.shifts:
            table = [
                [Fraction(int(i == k)) + self.factors.get((i, k), 0) for k in range(size)]
                for i in range(size)
            ]
            moved = RationalMatrix.from_rows(table) @ moved
        weight = moved.take(columns=range(moved.ncols - 1))
        bias = moved.take(columns=[moved.ncols - 1])
        shifts = RationalMatrix.column([self.shifts.get(k, Fraction()) for k in range(size)])
        return Layer((Block(0, weight),), bias + shifts)

    def network(self) -> Network:
        """Return the plain stack, with a linear neuron for each column of L that is not 0."""
        size = len(self.neurons)
        read = [k for k in range(size) if any(self.linear[k]) or not self.rows]
        units = [[Fraction(int(k == j)) for j in range(size + 1)] for k in read]
        heads = RationalMatrix.from_rows(
            [*self.columns, *(self.linear[k] for k in read)]
        ).transpose()
        outputs = Layer((Block(2, heads),), RationalMatrix.column(self.linear[-1]))
        return Network(
            self.first.ncols - 1,
            (self._first_layer(), layer_from_rows([*self.rows, *units], 1), outputs),
        )


def _orthant_network(network: Network) -> _OrthantNetwork:
    """Write a network with two hidden layers as a sum over distinct hyperplanes."""
    width = network.widths[1]
    linear = [[Fraction()] * network.num_outputs for _ in range(width)]
    first = network.layers[0].augmented()
    reduced = _OrthantNetwork(first, list(range(width)), [*linear, list(network.bias(3).entries())])
    hyperplanes: dict[tuple[int, ...], list[tuple[Fraction, Vector]]] = {}
    columns = network.weight(3).transpose().rows()
    for row, column in zip(network.layers[1].augmented().rows(), columns, strict=True):
        if max(row) <= 0 or not any(column):
            continue
        if min(row) >= 0:
            reduced.add_linear(column, row, Fraction(1))
            continue
        normal, scale = primitive(row)
        hyperplanes.setdefault(normal, []).append((scale, column))
    for normal, members in hyperplanes.items():
        sign = _orientation(normal, 1 if members[0][0] > 0 else -1)
        reduced.add_hyperplane(
            [sign * entry for entry in normal],
            [(sign * scale, column) for scale, column in members],
        )
    return reduced


def _orientation(normal: tuple[int, ...], given: int) -> int:
    """Return the sign for which sign · normal hides a neuron; the given sign if none or both do."""
    signs = [
        sign
        for sign in (given, -given)
        if _hidden_by([sign * entry for entry in normal]) is not None
    ]
    return signs[0] if signs else given


def _hidden_by(row: Sequence[Fraction | int]) -> int | None:
    """Return the neuron that a row hides: its only positive entry, unless that is the constant."""
    positive = [k for k, entry in enumerate(row) if entry > 0]
    return positive[0] if len(positive) == 1 and positive[0] < len(row) - 1 else None
