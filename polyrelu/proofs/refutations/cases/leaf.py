"""The exact proof of one case.

Floats guess which bound stands for each activation. With these bounds, what is left of sign · z
once the activations are replaced, from the last layer to the first, is linear in the multipliers of
the inequalities of the case, which a small exact linear program finds. What is left is computed
once more as the checker does it, so that no guess has to be right.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from polyrelu.exact import LinearProgram, RationalMatrix
from polyrelu.proofs.refutations.cases.relaxation import CaseAnswer
from polyrelu.proofs.refutations.cases.scope import Rows, Scope
from polyrelu.proofs.refutations.inequality_forms import Form, add_multiple
from polyrelu.support.typing import Floats

__all__ = ["ExactCases", "Leaf"]


@dataclass(frozen=True, slots=True)
class LeafSettings:
    """Constants by which floats guess a proof.

    Attributes
    ----------
    close
        Slopes this close to 0 or 1 are taken for 0 or 1.
    least
        Multipliers below this share of the largest one are taken for 0.
    unknown
        The guess of a multiplier that floats say nothing about.
    max_pivots
        Maximum number of exact pivots of a program.
    """

    close: float = 1e-7
    least: float = 1e-9
    unknown: float = 1e-3
    max_pivots: int = 50


SETTINGS = LeafSettings()

#: Inequalities that are multiplied: ± z ≥ 0 of a neuron of known sign, a - z ≥ 0, u - a ≥ 0 with
#: the sum u of the positive terms of z, and the rows of the domain.
Kind: TypeAlias = Literal["sign", "relu", "upper", "wall"]


class Leaf(NamedTuple):
    """Why sign · z ≥ 0 in a case, or why the case is impossible.

    Attributes
    ----------
    scale
        The multiple of sign · t, t the integer form of z; 0 if the case is impossible.
    multiples
        Of each kind the multiples, by the numbers of neurons or the indices of inequalities of the
        domain; the inequalities are about integer forms: ± t ≥ 0, d a - t ≥ 0 and u - d a ≥ 0.
    active
        The neurons of unknown sign whose activations are bounded by z from below.
    used
        The neurons whose known sign the proof uses, without the guard.
    """

    scale: int
    multiples: dict[Kind, dict[int, int]]
    active: frozenset[int]
    used: frozenset[int]


class ExactCases:
    """The exact numbers of a scope, and proofs of cases.

    Parameters
    ----------
    scope
        The neurons that matter.
    """

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._augmented = [rows.weight.beside(rows.bias) for rows in scope.layers]
        self._positive = [rows.relu() for rows in self._augmented]
        self._last = scope.last.weight.beside(scope.last.bias).scale(scope.candidate.sign)
        inputs = [*scope.inputs, self._augmented[0].ncols - 1]
        self._inputs = self._augmented[0].take(None, inputs)
        self._walls = self._domain_rows(inputs)
        self._tables = _Tables(scope)

    def leaf(self, signs: Mapping[int, int], answer: CaseAnswer) -> Leaf | None:
        """Return a proof of the case in which neurons have these signs, or None."""
        for is_guessed in (True, False):
            leaf = self._leaf(_Case(self._scope, signs, answer, is_guessed))
            if leaf is not None:
                return leaf
        return None

    def _leaf(self, case: _Case) -> Leaf | None:
        """Return a proof with the bounds of a case."""
        forms = _Forms(self._last)
        for j in range(len(self._scope.layers) - 1, 0, -1):
            forms.replace(case, j, self._augmented[j], self._positive[j])
        forms.finish(case, self._inputs, self._walls)
        program = _Program(forms, case.is_impossible)
        guesses = np.array([case.guess(kind, k) for kind, k in forms.names])
        factors = program.multipliers(guesses) or program.multipliers(guesses + 1)
        if factors is None:
            return None
        found = dict(zip(forms.names, factors, strict=True))
        return self._tables.checked(self._tables.leaf(case, found), case.signs)

    def _domain_rows(self, inputs: list[int]) -> RationalMatrix | None:
        """Return the rows of c - a·x for the inequalities of the domain."""
        domain = self._scope.domain
        if domain is None or not domain.inequalities:
            return None
        rows = [[*(-a for a in row[:-1]), row[-1]] for row in domain.inequalities]
        return RationalMatrix.from_rows(rows).take(None, inputs)


class _Case:
    """A case, and the bounds that stand for activations in it.

    Floats guess them; without guesses both bounds of all activations of unknown sign may be used.

    Attributes
    ----------
    signs
        The known signs.
    active, above
        The neurons of unknown sign for whose activations z stands, or the sum of positive terms.
    fractional
        Those for whose activations a share of z stands.
    free
        Those whose activations seem to have the coefficient 0.
    """

    def __init__(
        self, scope: Scope, signs: Mapping[int, int], answer: CaseAnswer, is_guessed: bool
    ) -> None:
        self.scope, self.signs, self.is_impossible = scope, signs, answer.is_impossible
        self._multipliers = answer.multipliers
        first = scope.starts[1]
        slopes = answer.slopes if is_guessed else np.full(scope.num_neurons, np.nan)
        later = [k for k in range(first, scope.num_neurons) if k not in signs]
        self.active = frozenset(k for k in later if slopes[k] >= 1 - SETTINGS.close)
        self.above = frozenset(k for k in later if slopes[k] < 0)
        self.fractional = frozenset(
            k for k in later if SETTINGS.close < slopes[k] < 1 - SETTINGS.close
        )
        self.free = frozenset(k for k in later if np.isnan(slopes[k]))

    def unknown(self, layer: int) -> list[int]:
        """Return the neurons of unknown sign of a layer, counted from 0."""
        return [k for k in range(*self.scope.starts[layer : layer + 2]) if k not in self.signs]

    def names(self, layer: int) -> list[tuple[Kind, int]]:
        """Return the inequalities that belong to neurons of a layer."""
        here = range(*self.scope.starts[layer : layer + 2])
        found: list[tuple[Kind, int]] = [("sign", k) for k in here if k in self.signs]
        if layer == 0:
            if self.scope.reads_inputs:
                found += [("relu", k) for k in self.unknown(0)]
            return found
        found += [("relu", k) for k in here if k in self.fractional or k in self.free]
        return found + [("upper", k) for k in here if k in self.free]

    def guess(self, kind: Kind, index: int) -> float:
        """Return about what multiple of an inequality is needed."""
        if kind == "upper":
            return SETTINGS.unknown
        if kind == "relu" and index in self.free:
            return SETTINGS.unknown
        place = index if kind != "wall" else index + self.scope.num_neurons
        return float(self._multipliers[place])


class _Forms:
    """Sign · z and inequalities, in which activations are replaced layer by layer from above.

    Attributes
    ----------
    names
        The inequalities, in the order of the rows after the first.
    rows
        The forms: at the end over the inputs and 1.
    kept
        In columns, coefficients that must stay ≥ 0, so that the bounds are the right ones.
    """

    def __init__(self, last: RationalMatrix) -> None:
        self.names: list[tuple[Kind, int]] = []
        self.rows = last
        self.kept: list[RationalMatrix] = []

    def replace(
        self, case: _Case, layer: int, augmented: RationalMatrix, positive: RationalMatrix
    ) -> None:
        """Replace the activations of a layer, and append the inequalities of its neurons."""
        start, names = case.scope.starts[layer], case.names(layer)
        self._keep(case, layer, names)
        neurons = range(start, start + augmented.nrows)
        is_z = [int(case.signs.get(k, 0) > 0 or k in case.active) for k in neurons]
        bounds = augmented.scale_rows(is_z)
        bounds = bounds + positive.scale_rows([int(k in case.above) for k in neurons])
        self.rows = _substituted(self.rows, bounds)
        for kinds, table in ((("sign", "relu"), augmented), (("upper",), positive)):
            self._append([name for name in names if name[0] in kinds], case, table, start)

    def finish(self, case: _Case, inputs: RationalMatrix, walls: RationalMatrix | None) -> None:
        """Replace the activations of layer 1, and append its inequalities and the domain's."""
        names = case.names(0)
        self._keep(case, 0, names)
        is_z = [int(case.signs.get(k, 0) > 0) for k in range(inputs.nrows)]
        self.rows = _substituted(self.rows, inputs.scale_rows(is_z))
        self._append(names, case, inputs, 0)
        if walls is not None:
            self.rows = self.rows.over(walls)
            self.names += [("wall", i) for i in range(walls.nrows)]

    def _append(
        self, names: list[tuple[Kind, int]], case: _Case, table: RationalMatrix, start: int
    ) -> None:
        """Append the inequalities of neurons whose rows, or positive terms, are in a table."""
        if names:
            factors = [_factor(kind, case.signs.get(k, 0)) for kind, k in names]
            rows = table.take([k - start for _, k in names])
            self.rows = self.rows.over(rows.scale_rows(factors))
            self.names += names

    def _keep(self, case: _Case, layer: int, names: list[tuple[Kind, int]]) -> None:
        """Note the coefficients of activations of unknown sign, with the sign they must have."""
        unknown, start = case.unknown(layer), case.scope.starts[layer]
        columns = self.rows.take(None, [k - start for k in unknown])
        marks = {"sign": 0, "relu": 1, "upper": -1}
        own = [[marks[kind] * (k == other) for other in unknown] for kind, k in names]
        if own and unknown:
            columns = columns.over(RationalMatrix.from_rows(own))
        if unknown:
            self.kept.append(columns.scale_columns([-1 if k in case.above else 1 for k in unknown]))


def _factor(kind: Kind, sign: int) -> int:
    """Return the multiple of z, or of its positive terms, in an inequality."""
    return {"sign": sign, "relu": -1, "upper": 1}[kind]


def _substituted(forms: RationalMatrix, rows: RationalMatrix) -> RationalMatrix:
    """Return forms over the activations of a layer and 1 with rows put in for the activations."""
    zeros = RationalMatrix.zeros(forms.nrows, rows.ncols - 1)
    constant = zeros.beside(forms.take(None, [rows.nrows]))
    return forms.take(None, range(rows.nrows)) @ rows + constant


class _Program:
    """Multipliers of the forms of a case.

    Parameters
    ----------
    forms
        Sign · z and the inequalities.
    is_impossible
        Whether the multiples are subtracted from 0 and not from sign · z.
    """

    def __init__(self, forms: _Forms, is_impossible: bool) -> None:
        self._is_impossible = is_impossible
        self._forms = forms.rows.transpose().rows()
        self._inputs, size = self._forms[:-1], forms.rows.nrows
        self._signed = [
            [*column, *[Fraction(0)] * (size - len(column))]
            for kept in forms.kept
            for column in kept.transpose().rows()
        ]

    def multipliers(self, guesses: Floats) -> list[Fraction] | None:
        """Return multipliers ≥ 0 of all forms but the first, or None.

        Nothing is left of the inputs, coefficients that must not be negative are not, and the
        constant is ≥ 0, or positive. Only forms with positive guesses are used.
        """
        least = SETTINGS.least * float(guesses.max(initial=0))
        chosen = [i for i, guess in enumerate(guesses, 1) if guess > least]
        first = 0 if self._is_impossible else 1
        program = LinearProgram(len(chosen), lower=[0] * len(chosen))
        rows = [[row[i] for i in chosen] for row in self._signed]
        right = [first * row[0] for row in self._signed]
        if not chosen:
            is_good = min(right, default=0) >= 0 and not any(row[0] for row in self._inputs)
            is_good = is_good and self._forms[-1][0] >= 0 and not self._is_impossible
            return [Fraction(0)] * len(guesses) if is_good else None
        program.add_inequalities(rows, right)
        if self._inputs:
            rows = [[row[i] for i in chosen] for row in self._inputs]
            program.add_equations(rows, [first * row[0] for row in self._inputs])
        constant = first * self._forms[-1][0] - self._is_impossible
        program.add_inequalities([[self._forms[-1][i] for i in chosen]], [constant])
        found = program.try_minimize([1] * len(chosen), max_pivots=SETTINGS.max_pivots)
        if found is None:
            return None
        result = dict(zip(chosen, found.point, strict=True))
        return [result.get(i, Fraction(0)) for i in range(1, 1 + len(guesses))]


class _Tables:
    """Integer rows of all neurons of a scope, over the symbols 0 for 1, inputs, and activations."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.num_inputs = scope.network.num_inputs
        network, neuron = scope.network, scope.candidate.neuron
        self.denominators = [
            network.layers[j].augmented().denominator for j in range(len(scope.layers))
        ]
        self.rows = [
            _integer_row(rows, i, d, self._sources(j))
            for j, (rows, d) in enumerate(zip(scope.layers, self.denominators, strict=True))
            for i in range(len(rows.indices))
        ]
        self.own_denominator = network.layers[neuron.layer - 1].augmented().denominator
        last = len(scope.layers)
        self.own = _integer_row(scope.last, 0, self.own_denominator, self._sources(last))
        domain = scope.domain
        self.walls = [] if domain is None else [_slack(row) for row in domain.inequalities]

    def _sources(self, layer: int) -> range:
        """Return the symbols that a layer, counted from 0, reads."""
        if layer == 0:
            return range(1, 1 + self.num_inputs)
        starts = self._scope.starts
        return range(self.symbol(starts[layer - 1]), self.symbol(starts[layer]))

    def symbol(self, neuron: int) -> int:
        """Return the symbol of an activation."""
        return 1 + self.num_inputs + neuron

    def leaf(self, case: _Case, found: Mapping[tuple[Kind, int], Fraction]) -> Leaf:
        """Return a proof with integer multipliers of integer forms, from multipliers of z."""
        layer_of = self._scope.layer_of
        factors = {
            (kind, k): x / (1 if kind == "wall" else self.denominators[layer_of[k]])
            for (kind, k), x in found.items()
            if x
        }
        own = Fraction(int(not case.is_impossible), self.own_denominator)
        common = math.lcm(own.denominator, *(x.denominator for x in factors.values()))
        divisor = math.gcd(int(own * common), *(int(x * common) for x in factors.values())) or 1
        of_kind: dict[Kind, dict[int, int]] = {"sign": {}, "relu": {}, "upper": {}, "wall": {}}
        for (kind, k), x in factors.items():
            of_kind[kind][k] = int(x * common) // divisor
        scale = int(own * common) // divisor
        return Leaf(scale, of_kind, case.active, frozenset())

    def checked(self, leaf: Leaf, signs: Mapping[int, int]) -> Leaf | None:
        """Return a leaf with the neurons whose signs it uses, if the checker will accept it."""
        form = self._difference(leaf, signs)
        used = set(leaf.multiples["sign"])
        for j in range(len(self._scope.layers) - 1, -1, -1):
            if not self._substitute(form, j, leaf, signs, used):
                return None
        if any(form.get(symbol, 0) for symbol in range(1, 1 + self.num_inputs)):
            return None
        left = form.get(0, 0)
        if left < 0 or (left == 0 and not leaf.scale):
            return None
        return leaf._replace(used=frozenset(used - {self._scope.guard}))

    def _difference(self, leaf: Leaf, signs: Mapping[int, int]) -> dict[int, int]:
        """Return the form of the neuron minus the multiples of all inequalities."""
        form = dict[int, int]()
        add_multiple(form, self.own, leaf.scale * self._scope.candidate.sign)
        for k, factor in leaf.multiples["sign"].items():
            add_multiple(form, self.rows[k], -factor * signs[k])
        for i, factor in leaf.multiples["wall"].items():
            add_multiple(form, self.walls[i], -factor)
        for k, factor in leaf.multiples["relu"].items():
            add_multiple(form, self.rows[k], factor)
            denominator = self.denominators[self._scope.layer_of[k]]
            add_multiple(form, {self.symbol(k): denominator}, -factor)
        for k, factor in leaf.multiples["upper"].items():
            add_multiple(form, self._positive_terms(k), -factor)
            denominator = self.denominators[self._scope.layer_of[k]]
            add_multiple(form, {self.symbol(k): denominator}, factor)
        return form

    def _positive_terms(self, neuron: int) -> Form:
        """Return the sum of the positive terms of a neuron of layer 2 or later."""
        return {symbol: w for symbol, w in self.rows[neuron].items() if w > 0}

    def _substitute(
        self, form: dict[int, int], j: int, leaf: Leaf, signs: Mapping[int, int], used: set[int]
    ) -> bool:
        """Replace the activations of a layer by their values or bounds; return whether it can."""
        starts, denominator = self._scope.starts, self.denominators[j]
        found = [(k, form.pop(self.symbol(k), 0)) for k in range(*starts[j : j + 2])]
        found = [(k, x) for k, x in found if x]
        for symbol in form:
            form[symbol] *= denominator
        for k, x in found:
            sign = signs.get(k, 0)
            if sign:
                used.add(k)
            if sign > 0 or (not sign and x > 0 and k in leaf.active):
                add_multiple(form, self.rows[k], x)
            elif sign or x > 0:
                continue
            elif j == 0:
                return False
            else:
                add_multiple(form, self._positive_terms(k), x)
        return True


def _integer_row(rows: Rows, i: int, denominator: int, sources: range) -> Form:
    """Return a row times the denominator of its layer, as a form."""
    entries = zip(sources, rows.weight.row(i), strict=True)
    form = {symbol: int(w * denominator) for symbol, w in entries if w}
    bias = int(rows.bias[i, 0] * denominator)
    return {0: bias, **form} if bias else form


def _slack(row: Sequence[int]) -> Form:
    """Return the form c - a·x of an inequality [a | c]."""
    form = {symbol: -a for symbol, a in enumerate(row[:-1], 1) if a}
    return {0: row[-1], **form}
