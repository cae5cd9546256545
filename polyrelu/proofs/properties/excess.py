"""The network that says by how much clauses fail.

A clause holds at x if one of its rows r_1, …, r_K is positive there (or 0, where it is not strict).
Its *excess* is -max(r_1(x), …, r_K(x)): negative where the clause holds strictly, positive where it
fails. The maximum is computed neuron by neuron, m_1 = r_1 and m_k = m_{k-1} + max(r_k - m_{k-1},
0), behind the last layers of the networks, so that the excess is a network with an output for each
clause and with all neurons of the networks in their layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.exact import RationalMatrix
from polyrelu.formats.vnnlib import Clause, ClauseRow
from polyrelu.network import Block, Layer, Network
from polyrelu.network.pairs import ends_affine, side_by_side

__all__ = ["all_outputs", "excess_network", "positive_part"]


def excess_network(networks: Sequence[Network], clauses: Sequence[Clause]) -> Network:
    """Return the excess of each clause as a network of the inputs.

    Parameters
    ----------
    networks
        One network or two with equally many inputs.
    clauses
        The clauses, at least one.
    """
    whole = all_outputs(networks)
    builder = _Builder(whole, [clause.rows for clause in clauses])
    longest = max(len(clause.rows) for clause in clauses)
    hidden = [builder.comparison(number) for number in range(1, longest)]
    return Network(whole.num_inputs, (*whole.layers[:-1], *hidden, builder.outputs(longest)))


def all_outputs(networks: Sequence[Network]) -> Network:
    """Return the outputs of one network or two as one network, which ends in an affine layer."""
    whole = ends_affine(networks[0])
    return side_by_side(whole, networks[1]) if len(networks) > 1 else whole


def positive_part(excess: Network, added: Sequence[Fraction]) -> Network:
    """Return max(excess + added, 0), which is 0 where each excess is at most -added.

    Parameters
    ----------
    excess
        A network that ends in an affine layer.
    added
        A number for each output.
    """
    last = excess.layers[-1]
    raised = Layer(last.blocks, last.bias + RationalMatrix.column(list(added)))
    return Network(excess.num_inputs, (*excess.layers[:-1], raised), "relu")


@dataclass(slots=True)
class _Builder:
    """The layers behind the hidden layers of a network that compare the rows of clauses.

    Attributes
    ----------
    whole
        The network of all outputs, which ends in an affine layer.
    clauses
        The rows of each clause.
    """

    whole: Network
    clauses: Sequence[Sequence[ClauseRow]]

    def comparison(self, number: int) -> Layer:
        """Return the layer of max(r - m, 0), r the row with a number, for clauses that have it."""
        compared = [index for index, rows in enumerate(self.clauses) if len(rows) > number]
        rows = [self.clauses[index] for index in compared]
        differences = [_Sum((listed[number],), (listed[0],)) for listed in rows]
        earlier = [self._places(index, number) for index in compared]
        return self._layer(differences, earlier, self.whole.depth + number - 2)

    def outputs(self, longest: int) -> Layer:
        """Return the layer of the -m, m the maximum of all rows of a clause."""
        sums = [_Sum((), (rows[0],)) for rows in self.clauses]
        earlier = [self._places(index, len(rows)) for index, rows in enumerate(self.clauses)]
        return self._layer(sums, earlier, self.whole.depth + longest - 2)

    def _places(self, index: int, number: int) -> list[int]:
        """Return, for each comparison before one, the place of a clause's neuron in its layer."""
        before = self.clauses[:index]
        return [sum(len(rows) > k for rows in before) for k in range(1, number)]

    def _layer(self, sums: Sequence[_Sum], earlier: Sequence[list[int]], last: int) -> Layer:
        """Return the layer of some sums of rows, minus neurons of earlier comparisons.

        `last` is the number of the layer before.
        """
        size = self.whole.num_outputs
        table = [part.table(size + self.whole.num_inputs) for part in sums]
        outputs = RationalMatrix.from_rows([row[:size] for row in table], ncols=size)
        output_layer = self.whole.layers[-1]
        blocks = {block.source: outputs @ block.weight for block in output_layer.blocks}
        inputs = RationalMatrix.from_rows(
            [row[size:-1] for row in table], ncols=self.whole.num_inputs
        )
        blocks[0] = inputs + blocks[0] if 0 in blocks else inputs
        for number in range(1, last - self.whole.depth + 2):
            blocks[self.whole.depth + number - 1] = self._subtracted(earlier, number)
        bias = outputs @ output_layer.bias + RationalMatrix.column([row[-1] for row in table])
        return Layer(
            tuple(
                Block(source, weight)
                for source, weight in sorted(blocks.items())
                if source == last or not weight.is_zero()
            ),
            bias,
        )

    def _subtracted(self, earlier: Sequence[list[int]], number: int) -> RationalMatrix:
        """Return the weights on the neurons of a comparison, by its number."""
        width = sum(len(rows) > number for rows in self.clauses)
        table = [[Fraction()] * width for _ in earlier]
        for row, places in zip(table, earlier, strict=True):
            if len(places) >= number:
                row[places[number - 1]] = Fraction(-1)
        return RationalMatrix.from_rows(table, ncols=width)


@dataclass(frozen=True, slots=True)
class _Sum:
    """The sum of some rows minus others."""

    added: tuple[ClauseRow, ...]
    subtracted: tuple[ClauseRow, ...]

    def table(self, size: int) -> list[Fraction]:
        """Return the coefficients of all values, and the constant."""
        total = [Fraction()] * (size + 1)
        for sign, rows in ((1, self.added), (-1, self.subtracted)):
            for row in rows:
                for place, coefficient in row.coefficients:
                    total[place] += sign * coefficient
                total[-1] += sign * row.constant
        return total
