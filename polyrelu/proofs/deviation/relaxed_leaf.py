"""Bounds of rows on a node by affine functions, with exact weights, and their best slopes.

The rule has intervals for all neurons. From the outputs down, multiples of activations are replaced
by affine functions of preactivations: exactly where signs are known, and by slopes and the largest
distance at the corners where they are open. What remains is an affine function of the inputs. Its
maximum over the box bounds the row, whatever the slopes and the multiples of cuts by sign are; the
best ones are dual multipliers of a linear program (docs/theory/deviation.md, Claim 10).
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
from polyrelu.proofs.deviation.open_groups import RowEvidence, open_groups
from polyrelu.proofs.deviation.rounded import RoundedLeaf, RoundedRule
from polyrelu.support.typing import Point

__all__ = ["RelaxedLeaf", "RelaxedMaximum"]


@dataclass(frozen=True, slots=True)
class RelaxedMaximum:
    """The exact maximum of a relaxed row on a node.

    Attributes
    ----------
    value
        The maximum; None if the relaxation shows that the node has no point.
    point
        A point y where it is attained.
    evidence
        With it the bound of the row is the value.
    """

    value: Fraction | None
    point: Point | None
    evidence: RowEvidence


class RelaxedLeaf:
    """One network or a pair on a node, with affine bounds of open neurons.

    Parameters
    ----------
    rule, leaf
        The rule, and its forms at the node.
    lower, upper, cuts
        The node, as `RoundedRule.leaf` takes it.

    Attributes
    ----------
    groups
        The open neurons with their partners.
    cuts
        The cuts by sign with their numbers.
    oblique
        The inequalities of the domain that are not sides of the box, by number.
    """

    def __init__(
        self,
        rule: RoundedRule,
        leaf: RoundedLeaf,
        lower: Sequence[Fraction],
        upper: Sequence[Fraction],
        cuts: Mapping[Neuron, int],
    ) -> None:
        self.rule, self.signs = rule, leaf.signs
        self.lower, self.upper = lower, upper
        self.networks = [rule.first] if rule.second is None else [rule.first, rule.second]
        self.groups = open_groups(rule, leaf)
        self.cuts = {
            number: (*neuron, side)
            for number, (neuron, side) in enumerate(cuts.items(), rule.num_inequalities)
        }
        self.oblique = {number: rule.slack(number) for number in rule.oblique}

    # -- bounds ------------------------------------------------------------------------------------

    def upper_bound(self, row: LinearRow, evidence: RowEvidence) -> Fraction:
        """Return the largest value over the box of the affine function above a row.

        Every group has slopes.
        """
        return self.bound_and_weights(row, evidence)[0]

    def bound_and_weights(
        self, row: LinearRow, evidence: RowEvidence
    ) -> tuple[Fraction, dict[Neuron, tuple[Fraction, Fraction]]]:
        """Return the bound, and for each group the weights s and t of its activations."""
        constant, found = row.constant, dict[Neuron, tuple[Fraction, Fraction]]()
        parts = [
            _listed(weights, network.num_outputs)
            for weights, network in zip((row.f, row.g), self.networks, strict=False)
        ]
        for number in range(self.rule.first.depth, 0, -1):
            if number <= self.rule.first.num_hidden_layers:
                parts, added = self._replaced(number, parts, evidence, found)
                constant += added
            below = list[list[Fraction]]()
            for network, part in zip(self.networks, parts, strict=True):
                line = RationalMatrix.from_rows([part])
                constant += (line @ network.bias(number))[0, 0]
                below.append(list((line @ network.weight(number)).row(0)))
            parts = below
        total = _listed(row.x, len(parts[0]))
        for part in parts:
            total = [x + y for x, y in zip(total, part, strict=True)]
        form = list((RationalMatrix.from_rows([total]) @ self.rule.coordinates.inputs).row(0))
        form[0] += constant
        for number, multiple in evidence.multiples.items():
            if number in self.oblique:
                slack = self.oblique[number]
                form = [x + multiple * y for x, y in zip(form, slack, strict=True)]
        return largest_value(form, self.lower, self.upper), found

    def _replaced(
        self,
        number: int,
        parts: Sequence[list[Fraction]],
        evidence: RowEvidence,
        found: dict[Neuron, tuple[Fraction, Fraction]],
    ) -> tuple[list[list[Fraction]], Fraction]:
        """Return weights of preactivations above weights of activations, and a constant."""
        rest, constant = [list(part) for part in parts], Fraction(0)
        above = [[Fraction(0)] * len(part) for part in parts]
        for group in (group for group in self.groups if group.layer == number):
            weights, slopes = [Fraction(0)] * 2, evidence.slopes[group.neuron]
            for which, index in enumerate((group.first, group.second)):
                if index >= 0:
                    weights[which], rest[which][index] = rest[which][index], Fraction(0)
                    above[which][index] += slopes[which]
            found[group.neuron] = weights[0], weights[1]
            constant += group.largest(found[group.neuron], slopes, self.rule.grid)
        for which, part in enumerate(rest):
            for index, weight in enumerate(part):
                if self.signs[number - 1][which][index] > 0:
                    above[which][index] += weight
        for key, (which, layer, index, side) in self.cuts.items():
            if layer == number and key in evidence.multiples:
                above[which][index] += side * evidence.multiples[key]
        return above, constant

    # -- the exact maximum -------------------------------------------------------------------------

    def maximize(self, row: LinearRow) -> RelaxedMaximum:
        """Return the exact maximum of a row on the node, as the relaxation has it."""
        size, num_corners = len(self.lower), sum(len(group.corners) for group in self.groups)
        program = LinearProgram(
            size + num_corners,
            [*self.lower, *[Fraction(0)] * num_corners],
            [*self.upper, *[None] * num_corners],
        )
        keys = self._add_constraints(program)
        constant, *slopes = self._of_row(row)
        found = program.maximize(slopes)
        assert isinstance(found, Optimal | Infeasible)  # the box is bounded
        multiples, by_neuron = dict[int, Fraction](), dict[Neuron, list[Fraction]]()
        for group in self.groups:
            by_neuron[group.neuron] = [Fraction(0)] * (1 if group.second < 0 else 2)
        for place, x in found.multipliers.rows.items():
            key = keys[place]
            if isinstance(key, int):
                multiples[key] = x
            elif key is not None:
                group_neuron, which = key
                by_neuron[group_neuron][which] = -x
        evidence = RowEvidence(
            {number: x for number, x in multiples.items() if x},
            {neuron: tuple(entries) for neuron, entries in by_neuron.items()},
        )
        if isinstance(found, Optimal):
            return RelaxedMaximum(found.value + constant, found.point[:size], evidence)
        return RelaxedMaximum(None, None, evidence)

    def emptied(self, row: LinearRow, farkas: RowEvidence, limit: Fraction) -> RowEvidence:
        """Return evidence for a bound below a limit on a node that has no point."""
        none = LinearRow({})
        plain = RowEvidence({}, dict.fromkeys(farkas.slopes, (Fraction(0), Fraction(0))))
        below = self.upper_bound(none, farkas)
        factor = max(Fraction(1), (self.upper_bound(row, plain) - limit + 1) / -below)
        return RowEvidence(
            {number: factor * x for number, x in farkas.multiples.items()},
            {neuron: tuple(factor * x for x in p) for neuron, p in farkas.slopes.items()},
        )

    def _add_constraints(self, program: LinearProgram) -> list[int | tuple[Neuron, int] | None]:
        """Add all constraints; return what each row is about: a number, a slope, or nothing."""
        keys, size = list[int | tuple[Neuron, int] | None](), len(self.lower)
        num_corners, unit, first = program.num_variables - size, 1 << self.rule.grid, 0
        for group in self.groups:
            own = slice(first, first + len(group.corners))
            first = own.stop
            total = [Fraction(0)] * num_corners
            total[own] = [Fraction(1)] * len(group.corners)
            program.add_equations([[*[Fraction(0)] * size, *total]], [1])
            keys.append(None)
            for which, index in enumerate((group.first, group.second)):
                if index < 0:
                    continue
                scale = (Fraction(1), group.scale)[which] / unit
                constant, *form = self._of_neuron(which, group.layer, index)
                for place, corner in enumerate(group.corners, size + own.start):
                    form[place] -= scale * corner[which]
                program.add_equations([form], [-constant])
                keys.append((group.neuron, which))
        for number, (which, layer, index, side) in self.cuts.items():
            constant, *form = self._of_neuron(which, layer, index)
            program.add_inequalities([[-side * x for x in form]], [side * constant])
            keys.append(number)
        for number, (constant, *form) in self.oblique.items():
            line = [-x for x in form] + [Fraction(0)] * num_corners
            program.add_inequalities([line], [constant])
            keys.append(number)
        return keys

    def _of_neuron(self, which: int, layer: int, index: int) -> list[Fraction]:
        """Return a preactivation as an affine function of y and of the shares of all corners."""
        width = self.networks[which].widths[layer]
        part = [Fraction(int(k == index)) for k in range(width)]
        return self._below(which, layer, part, is_activated=False)

    def _of_row(self, row: LinearRow) -> list[Fraction]:
        """Return a row in the same way."""
        weights = RationalMatrix.from_rows([_listed(row.x, self.rule.first.num_inputs)])
        found = list((weights @ self.rule.coordinates.inputs).row(0))
        found += [Fraction(0)] * sum(len(group.corners) for group in self.groups)
        found[0] += row.constant
        for which, (part, network) in enumerate(zip((row.f, row.g), self.networks, strict=False)):
            is_activated = network.num_hidden_layers == network.depth
            line = _listed(part, network.num_outputs)
            form = self._below(which, network.depth, line, is_activated=is_activated)
            found = [x + y for x, y in zip(found, form, strict=True)]
        return found

    def _below(
        self, which: int, layer: int, part: list[Fraction], *, is_activated: bool
    ) -> list[Fraction]:
        """Return weights of neurons of a layer as an affine function of y and of the shares."""
        network: Network = self.networks[which]
        constant, unit = Fraction(0), 1 << self.rule.grid
        shares = {place: [Fraction(0)] * len(g.corners) for place, g in enumerate(self.groups)}
        for number in range(layer, 0, -1):
            if number < layer or is_activated:
                part = list(part)
                for place, group in enumerate(self.groups):
                    index = (group.first, group.second)[which]
                    if group.layer == number and index >= 0 and part[index]:
                        scale = (Fraction(1), group.scale)[which] * part[index] / unit
                        shares[place] = [scale * max(c[which], 0) for c in group.corners]
                        part[index] = Fraction(0)
                signs = self.signs[number - 1][which]
                part = [x if sign > 0 else Fraction(0) for x, sign in zip(part, signs, strict=True)]
            line = RationalMatrix.from_rows([part])
            constant += (line @ network.bias(number))[0, 0]
            part = list((line @ network.weight(number)).row(0))
        found = list((RationalMatrix.from_rows([part]) @ self.rule.coordinates.inputs).row(0))
        found[0] += constant
        return [*found, *(x for listed in shares.values() for x in listed)]


def _listed(weights: Mapping[int, Fraction], width: int) -> list[Fraction]:
    """Return weights by index as a list."""
    return [weights.get(i, Fraction(0)) for i in range(width)]
