"""The canonical position of a network with two hidden layers that cannot tell its first-layer parameters apart.

Write f(x) = F(σ(z)), z = W[1] x + b[1], and F on the orthant as Σ_h D_h σ(h·(u,1)) + L·(u,1), the sum over distinct
rows h up to a factor that bend inside the orthant (have entries of both signs); neurons that are dead or linear there,
doubled or opposite to another one are written this way too. First-layer neurons that F does not read are dropped.

Neuron j is *hidden* if L has no entry at j and every h that reads j has h_j > 0 and no other positive entry, the
constant included. (Of a row and its opposite the one that could hide is taken for h.) Hidden neurons are moved, each by
itself, because no h hides two:

* *flips*: a neuron k with h_k = -μ h_j, μ > 0, for all h that read j, and that nothing else reads (so for any k if a
  single h reads j, and it alone reads k), is given a row whose first nonzero entry is positive; row j changes as in
  `hiding`;
* *translation*: bias j is changed by the least admissible shift, after which some h that reads j has the constant 0.

Both are symmetries proved in `hiding`, for weak signs; its proof for flips takes one h after the other, and is the same
for several ones that have one μ. So the canonical network has the function of the network, for any parameters.
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
    """A network with the function of another one.

    Attributes
    ----------
    network : a plain stack with two hidden layers.
    neurons : the neuron of the other one that each of its first-layer neurons comes from.
    """

    network: Network
    neurons: tuple[int, ...]


def canonical_position(network: Network) -> CanonicalPosition | None:
    """A plain stack with the function of a plain stack with two hidden layers, its hidden neurons moved to a place that
    depends on the function if the parameters are generic.

    None if the network has another shape, or if the rows of W[1] that the function reads are linearly dependent.

    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.symmetry.hidden_hyperplanes import flip, translate
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-1]), ([[1]], [0])])
    >>> moved = translate(flip(net, 1, 0, [1]), 1, 0, 5)
    >>> canonical_position(net) == canonical_position(moved)
    True
    >>> canonical_position(net).network.layers[0].augmented().rows() == [(1, 0, -1), (0, 1, 0)]
    True
    """
    if network.hidden_layers != 2 or network.last != "affine" or not network.is_plain:
        return None
    position = _reduced(network)
    position.turn_towards_hiding()
    position.drop_unread()
    if rank(network.weight(1).take(position.neurons)) < len(position.neurons):
        return None
    for j in position.hidden():
        position.move(j)
    return CanonicalPosition(position.network(), tuple(position.neurons))


@dataclass(slots=True)
class _Position:
    """Σ_h D_h σ(h·(u,1)) + L·(u,1), u the activations of some neurons of a first layer, changed.

    Attributes
    ----------
    first : the first layer, [W | b].
    neurons : its neurons that are kept.
    factors : by two neurons that are kept, how often the row of the second is added to the new row of the first, beyond
        what it is itself. shifts : what is added to biases, by neuron.
    linear : the columns of L, the constant last.
    bends : the rows h, the constant last.
    columns : the D_h.
    """

    first: RationalMatrix
    neurons: list[int]
    linear: list[list[Fraction]]
    bends: list[list[Fraction]] = field(default_factory=list)
    columns: list[Vector] = field(default_factory=list)
    factors: dict[tuple[int, int], Fraction] = field(default_factory=dict)
    shifts: dict[int, Fraction] = field(default_factory=dict)

    def add_linear(self, column: Vector, row: Sequence[Fraction | int], factor: Fraction) -> None:
        """Add factor · column · row to L."""
        for target, entry in zip(self.linear, row, strict=True):
            if entry:
                for i, v in enumerate(column):
                    target[i] += factor * entry * v

    def add_bend(self, row: Sequence[int], members: Sequence[tuple[Fraction, Vector]]) -> None:
        """Add Σ v σ(s h) over the members (s, v) of one hyperplane, by σ(-h) = σ(h) - h."""
        total = [Fraction()] * len(self.linear[0])
        for scale, column in members:
            total = [a + abs(scale) * v for a, v in zip(total, column, strict=True)]
            if scale < 0:
                self.add_linear(column, row, scale)
        if any(total):
            self.bends.append([Fraction(entry) for entry in row])
            self.columns.append(tuple(total))

    def turn_towards_hiding(self) -> None:
        """Of a row and its opposite that both hide a neuron, take the one that leaves L = 0 where it reads, if any."""
        for row, column in zip(self.bends, self.columns, strict=True):
            read = [k for k, entry in enumerate(row[:-1]) if entry]
            if len(read) != 2 or row[-1] or not any(any(self.linear[k]) for k in read):
                continue
            turned = (
                [x + row[k] * v for x, v in zip(self.linear[k], column, strict=True)] for k in read
            )
            if not any(map(any, turned)):  # σ(h) = h + σ(-h)
                self.add_linear(column, row, Fraction(1))
                row[:] = [-entry for entry in row]

    def drop_unread(self) -> None:
        """Drop the first-layer neurons that nothing reads; of a constant function the first one is left."""
        size = len(self.neurons)
        kept = [
            k for k in range(size) if any(self.linear[k]) or any(row[k] for row in self.bends)
        ] or [0]
        self.first, self.neurons = self.first.take(kept), kept
        self.linear = [self.linear[k] for k in [*kept, size]]
        self.bends = [[row[k] for k in [*kept, size]] for row in self.bends]

    def readers(self, neuron: int) -> list[list[Fraction]]:
        """The rows h that read a neuron."""
        return [row for row in self.bends if row[neuron]]

    def hidden(self) -> list[int]:
        """The hidden neurons."""
        places = {j for row in self.bends if (j := _hidden_by(row)) is not None}
        return [
            j
            for j in sorted(places)
            if not any(self.linear[j]) and all(_hidden_by(row) == j for row in self.readers(j))
        ]

    def move(self, hidden: int) -> None:
        """Move a hidden neuron to its canonical place."""
        readers = self.readers(hidden)
        self._flip(hidden, readers)
        shift = max(row[-1] / row[hidden] for row in readers)
        self.shifts[hidden] = shift
        for row in readers:
            row[-1] -= shift * row[hidden]

    def _flip(self, hidden: int, readers: list[list[Fraction]]) -> None:
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
        moved, size = self.first, len(self.neurons)
        if self.shifts:
            table = [
                [Fraction(int(i == k)) + self.factors.get((i, k), 0) for k in range(size)]
                for i in range(size)
            ]
            moved = RationalMatrix.from_rows(table) @ moved
        weight, bias = (
            moved.take(columns=range(moved.ncols - 1)),
            moved.take(columns=[moved.ncols - 1]),
        )
        shifts = RationalMatrix.column([self.shifts.get(k, Fraction()) for k in range(size)])
        return Layer((Block(0, weight),), bias + shifts)

    def network(self) -> Network:
        """As a plain stack: a linear neuron for each column of L that is not 0."""
        size = len(self.neurons)
        read = [k for k in range(size) if any(self.linear[k]) or not self.bends]
        units = [[Fraction(int(k == j)) for j in range(size + 1)] for k in read]
        heads = RationalMatrix.from_rows(
            [*self.columns, *(self.linear[k] for k in read)]
        ).transpose()
        outputs = Layer((Block(2, heads),), RationalMatrix.column(self.linear[-1]))
        return Network(
            self.first.ncols - 1,
            (self._first_layer(), layer_from_rows([*self.bends, *units], 1), outputs),
        )


def _reduced(network: Network) -> _Position:
    width = network.widths[1]
    linear = [[Fraction()] * network.outputs for _ in range(width)]
    first = network.layers[0].augmented()
    position = _Position(first, list(range(width)), [*linear, list(network.bias(3).entries())])
    hyperplanes: dict[tuple[int, ...], list[tuple[Fraction, Vector]]] = {}
    columns = network.weight(3).transpose().rows()
    for row, column in zip(network.layers[1].augmented().rows(), columns, strict=True):
        if max(row) <= 0 or not any(column):
            continue
        if min(row) >= 0:
            position.add_linear(column, row, Fraction(1))
            continue
        normal, scale = primitive(row)
        hyperplanes.setdefault(normal, []).append((scale, column))
    for normal, members in hyperplanes.items():
        sign = _orientation(normal, 1 if members[0][0] > 0 else -1)
        position.add_bend(
            [sign * entry for entry in normal],
            [(sign * scale, column) for scale, column in members],
        )
    return position


def _orientation(normal: tuple[int, ...], given: int) -> int:
    """1 or -1, so that the row times it hides a neuron, if one of them does; else as given."""
    signs = [
        sign
        for sign in (given, -given)
        if _hidden_by([sign * entry for entry in normal]) is not None
    ]
    return signs[0] if signs else given


def _hidden_by(row: Sequence[Fraction | int]) -> int | None:
    """The neuron that a row h hides: the only positive entry, if it is not the constant."""
    positive = [k for k, entry in enumerate(row) if entry > 0]
    return positive[0] if len(positive) == 1 and positive[0] < len(row) - 1 else None
