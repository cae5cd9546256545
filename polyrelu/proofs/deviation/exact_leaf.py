"""Exact maxima on leaves where networks are affine, with the multiples that prove them.

Where the signs of all neurons are known on a node, a row is affine there. Its maximum over the node
is the value of a linear program, and the dual multipliers of inequalities of the domain and of cuts
by sign are the multiples that a leaf `exact` lists (FORMAT.md, section 5.8). The checker takes the
maximum over the box itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.certificate import LinearRow
from polyrelu.exact import Infeasible, LinearProgram, Optimal, RationalMatrix
from polyrelu.network import Network
from polyrelu.proofs.deviation.affine_values import largest_value
from polyrelu.proofs.deviation.grid_layers import Neuron
from polyrelu.proofs.deviation.rounded import RoundedLeaf, RoundedRule
from polyrelu.support.typing import Point

__all__ = ["ExactLeaf", "ExactMaximum"]


@dataclass(frozen=True, slots=True)
class ExactMaximum:
    """The maximum of a row on a node.

    Attributes
    ----------
    value
        The maximum; None if no point of the node has the signs of its cuts.
    point
        A point y of the node where it is attained.
    multiples
        Multiples of inequalities by number: with them the maximum over the box is the value, or, at
        an empty node, less than the limit.
    """

    value: Fraction | None
    point: Point | None
    multiples: Mapping[int, Fraction]


class ExactLeaf:
    """One network or a pair as affine maps on a node without open neurons.

    Parameters
    ----------
    rule, leaf
        The rule, and its forms at the node; no neuron is open.
    lower, upper, cuts
        The node, as `RoundedRule.leaf` takes it.

    Attributes
    ----------
    constraints
        The inequalities of the domain and the cuts by number, as rows in (1, y) that are not
        negative; without the sides of the domain, since the box is inside of them.
    """

    def __init__(
        self,
        rule: RoundedRule,
        leaf: RoundedLeaf,
        lower: Sequence[Fraction],
        upper: Sequence[Fraction],
        cuts: Mapping[Neuron, int],
    ) -> None:
        self._box, self._inputs = (list(lower), list(upper)), rule.coordinates.inputs
        networks = [rule.first] if rule.second is None else [rule.first, rule.second]
        layers = [
            _affine_layers(network, self._inputs, [signs[which] for signs in leaf.signs])
            for which, network in enumerate(networks)
        ]
        self._outputs = [
            _masked(found[-1], leaf.signs[-1][which]) if network.last == "relu" else found[-1]
            for which, (network, found) in enumerate(zip(networks, layers, strict=True))
        ]
        self.constraints = {number: list(rule.slack(number)) for number in rule.oblique}
        self._scales = dict.fromkeys(rule.oblique, Fraction(1))
        for number, (neuron, side) in enumerate(cuts.items(), rule.num_inequalities):
            which, layer, index = neuron
            row = layers[which][layer - 1].row(index)
            self.constraints[number] = [side * entry for entry in row]
            self._scales[number] = rule.scale(neuron)

    def affine(self, row: LinearRow) -> list[Fraction]:
        """Return a row as an affine function of y, the constant first."""
        total = [row.constant, *([Fraction(0)] * len(self._box[0]))]
        parts = [(row.f, self._outputs[0]), (row.x, self._inputs)]
        if row.g:
            parts.append((row.g, self._outputs[1]))
        for weights, matrix in parts:
            for i, weight in weights.items():
                total = [t + weight * x for t, x in zip(total, matrix.row(i), strict=True)]
        return total

    def upper_bound(
        self, row: LinearRow, multiples: Mapping[int, Fraction] | None = None
    ) -> Fraction:
        """Return the largest value over the box of a row with multiples of constraints."""
        return largest_value(self._with(self.affine(row), multiples or {}), *self._box)

    def from_rounded(self, multiples: Mapping[int, Fraction]) -> dict[int, Fraction]:
        """Return the multiples that stand for multiples of the forms of the rule.

        The rule divides neurons of the second network by the scales of their partners; the exact
        maps belong to the network as it is.
        """
        return {number: x / self._scales[number] for number, x in multiples.items()}

    def maximize(self, row: LinearRow, limit: Fraction) -> ExactMaximum:
        """Return the maximum of a row on the node; of an empty node, multiples for a limit."""
        constant, *slopes = self.affine(row)
        program = LinearProgram(len(slopes), *self._box)
        if self.constraints:
            rows = list(self.constraints.values())
            program.add_inequalities(
                [[-x for x in entries[1:]] for entries in rows], [entries[0] for entries in rows]
            )
        found, numbers = program.maximize(slopes), list(self.constraints)
        assert isinstance(found, Optimal | Infeasible)  # the box is bounded
        multiples = {numbers[place]: x for place, x in found.multipliers.rows.items() if x}
        if isinstance(found, Optimal):
            return ExactMaximum(found.value + constant, found.point, multiples)
        return ExactMaximum(None, None, self._enough([constant - limit, *slopes], multiples))

    def _enough(
        self, row: Sequence[Fraction], farkas: Mapping[int, Fraction]
    ) -> dict[int, Fraction]:
        """Return so large Farkas multipliers that the row with these multiples is negative."""
        none = [Fraction(0)] * len(row)
        excess = largest_value(self._with(none, farkas), *self._box)
        factor = max(Fraction(1), (largest_value(row, *self._box) + 1) / -excess)
        return {number: factor * multiple for number, multiple in farkas.items()}

    def _with(self, row: Sequence[Fraction], multiples: Mapping[int, Fraction]) -> list[Fraction]:
        """Return a row with multiples of constraints."""
        total = list(row)
        for number, multiple in multiples.items():
            entries = self.constraints[number]
            total = [t + multiple * x for t, x in zip(total, entries, strict=True)]
        return total


def _affine_layers(
    network: Network, inputs: RationalMatrix, signs: Sequence[Sequence[int]]
) -> list[RationalMatrix]:
    """Return the preactivations of all layers in (1, y), by the signs of hidden neurons."""
    found, activations = list[RationalMatrix](), inputs
    for number in range(1, network.depth + 1):
        constant = network.bias(number).beside(
            RationalMatrix.zeros(network.widths[number], inputs.ncols - 1)
        )
        found.append(network.weight(number) @ activations + constant)
        if number < network.depth:
            activations = _masked(found[-1], signs[number - 1])
    return found


def _masked(matrix: RationalMatrix, signs: Sequence[int]) -> RationalMatrix:
    """Return a matrix with rows of zeros where a sign is not positive."""
    return matrix.scale_rows([int(sign > 0) for sign in signs])
