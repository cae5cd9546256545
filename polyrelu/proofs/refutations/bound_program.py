"""The linear program that finds the best lower bound of a form, with its derivation.

The best lower bound of a form p is the largest number m such that p - m is
a sum of nonnegative multiples of valid inequalities. One linear program finds m, the multiplier of
each inequality, and the derived inequalities that the sum contains: for each neuron k for which an
inequality may be derived, q_k and the multipliers of the inequalities whose sums are G_k and G_k -
q_k t_k are unknowns as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import NamedTuple, TypeAlias

import numpy as np

from polyrelu.exact import LinearProgram, Optimal, nearest_float
from polyrelu.exact.lp.support import SparseProgram, guessed_support
from polyrelu.proofs.refutations.inequality_forms import (
    GUARD,
    ONE,
    DerivedInequality,
    Form,
    Inequality,
    InequalityForms,
    Multipliers,
)
from polyrelu.proofs.refutations.settings import SETTINGS
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_program, price_of_sparse_program

__all__ = ["Bound", "BoundProgram", "ProgramScope"]

#: The index of the row of each sum and symbol; the sum of the form itself has the key None.
Rows: TypeAlias = dict[tuple[int | None, int], int]


class Bound(NamedTuple):
    """The inequality form ≥ value with its derivation.

    Attributes
    ----------
    value
        The lower bound.
    scale
        A positive integer.
    multipliers
        The multipliers of valid inequalities such that their sum is at most scale · (form - value),
        with a difference whose coefficients show that it is nonnegative.
    """

    value: Fraction
    scale: int
    multipliers: Multipliers


class _Unknown(NamedTuple):
    """An unknown of a linear program: a multiplier of an inequality, or a factor q.

    Attributes
    ----------
    neuron
        The neuron whose derived inequality the unknown belongs to; None for a multiplier in the sum
        that bounds the given form.
    inequality
        The inequality that is multiplied; None for the factor q of the derived inequality.
    is_upper
        Whether the multiplier belongs to G, and not to the sum that is subtracted from G - q t.
    form
        The form of the inequality; d a - t of the neuron for a factor q.
    """

    neuron: int | None
    inequality: Inequality | None
    is_upper: bool
    form: Form


@dataclass(frozen=True, slots=True)
class ProgramScope:
    """The valid inequalities that a linear program may use.

    Attributes
    ----------
    stop
        The inequalities of the neurons with numbers below this one are used.
    guard
        The neuron number of the guard, or None.
    derived_for
        The neurons for which the program may derive inequalities.
    readable
        The neurons that the forms G of these inequalities may contain.
    """

    stop: int
    guard: int | None
    derived_for: tuple[int, ...] = ()
    readable: tuple[int, ...] = ()


class BoundProgram:
    """Linear programs over the valid inequalities of a plain stack.

    Parameters
    ----------
    forms
        The valid inequalities; what a solution derives is appended to them.
    budget
        What pays for the linear programs, each by the size of its table.
    with_large
        Whether programs beyond the limit of exact tables are solved on the unknowns that a solution
        in floats uses.
    """

    def __init__(self, forms: InequalityForms, budget: Budget, with_large: bool = False) -> None:
        self._forms, self._budget, self._with_large = forms, budget, with_large
        self._forms_on_basis: dict[Inequality, Form] = {}

    def solve(self, form: Form, scope: ProgramScope) -> Bound | None:
        """Return the best lower bound of a form from the inequalities in scope, or None.

        A large program has a bound only if the bound is about nonnegative, or larger.
        """
        form, rows = self._on_basis(form), self._program_rows(scope)
        most = SETTINGS.max_program_entries // max(1, len(rows))
        unknowns = list(islice(self._unknowns(scope), most + 1))
        if not unknowns:
            return None
        if len(unknowns) > most:
            return self._solve_large(form, scope, rows) if self._with_large else None
        return self._solve_exactly(form, scope, rows, unknowns)

    def _solve_exactly(
        self, form: Form, scope: ProgramScope, rows: Rows, unknowns: list[_Unknown]
    ) -> Bound | None:
        # The columns of the table and the right sides are scaled by powers of two such that their
        # longest entries have equally many bits. The entries stay integers, which the solver reads
        # fastest.
        bits = [_bits_of_longest(unknown.form) for unknown in unknowns]
        bits_of_form = _bits_of_longest(form)
        longest = max(*bits, bits_of_form)
        self._budget.spend(price_of_program(len(rows), len(unknowns), longest))
        form_shift = longest - bits_of_form
        table, costs = [[0] * len(unknowns) for _ in rows], [0] * len(unknowns)
        for j, unknown in enumerate(unknowns):
            shift = longest - bits[j]
            for neuron, symbol, w in self._entries(unknown):
                row = costs if neuron is None and symbol == 0 else table[rows[neuron, symbol]]
                row[j] = w << shift
        right = [
            form.get(symbol, 0) << form_shift if neuron is None else 0 for neuron, symbol in rows
        ]
        is_equation = [0 < symbol < self._forms.first for _, symbol in rows]
        # The bound is limited to 2^bits_of_form, because there is no largest bound if the guard is
        # never active.
        constant, limit = form.get(0, 0), 1 << bits_of_form
        table.append([-w for w in costs])
        right.append((limit - constant) << form_shift)
        is_equation.append(False)
        answer = _minimize(table, costs, right, is_equation)
        if answer is None:
            return None
        values = [
            x * Fraction(2) ** (bits_of_form - b) for x, b in zip(answer.point, bits, strict=True)
        ]
        value = constant - answer.value / (1 << form_shift)
        return self._bound_from(value, unknowns, values, scope.guard)

    def _solve_large(self, form: Form, scope: ProgramScope, rows: Rows) -> Bound | None:
        """Return the bound from the unknowns that a solution in floats uses, or None."""
        unknowns, num_entries = list[_Unknown](), 0
        for unknown in self._unknowns(scope):
            unknowns.append(unknown)
            num_entries += self._num_entries(unknown)
            if num_entries > SETTINGS.max_sparse_entries:  # most forms are never made then
                return None
        self._budget.spend(price_of_sparse_program(num_entries))
        program = self._in_floats(form, rows, unknowns)
        found = guessed_support(program, SETTINGS.max_sparse_iterations)
        if (
            found is None
            or _scaled(form.get(0, 0), _bits_of_longest(form)) - found.value < -SETTINGS.close
        ):
            return None
        used = [unknowns[j] for j in found.columns]
        touched = {(neuron, symbol) for u in used for neuron, symbol, _ in self._entries(u)}
        touched |= {(None, symbol) for symbol in form}
        kept = [key for key in rows if key in touched]
        if not used or len(kept) * len(used) > SETTINGS.max_program_entries:
            return None
        return self._solve_exactly(form, scope, {key: i for i, key in enumerate(kept)}, used)

    @staticmethod
    def _num_entries(unknown: _Unknown) -> int:
        return len(unknown.form) * (2 if unknown.is_upper else 1)

    def _in_floats(self, form: Form, rows: Rows, unknowns: list[_Unknown]) -> SparseProgram:
        """Return a program in floats, whose columns are scaled by powers of two."""
        places, columns, values = list[int](), list[int](), list[float]()
        costs = np.zeros(len(unknowns))
        for j, unknown in enumerate(unknowns):
            bits = _bits_of_longest(unknown.form)
            for neuron, symbol, w in self._entries(unknown):
                if neuron is None and symbol == 0:
                    costs[j] = _scaled(w, bits)
                elif w:
                    places.append(rows[neuron, symbol])
                    columns.append(j)
                    values.append(_scaled(w, bits))
        bits = _bits_of_longest(form)
        right = [_scaled(form.get(symbol, 0), bits) if k is None else 0.0 for k, symbol in rows]
        limited = np.flatnonzero(costs)
        return SparseProgram(
            np.array([*places, *[len(rows)] * len(limited)], dtype=np.int32),
            np.array([*columns, *limited], dtype=np.int32),
            np.array([*values, *-costs[limited]]),
            costs,
            np.array([*right, 1 - _scaled(form.get(0, 0), bits)]),
            np.array([*(0 < symbol < self._forms.first for _, symbol in rows), False]),
        )

    def _unknowns(self, scope: ProgramScope) -> Iterator[_Unknown]:
        """Yield the unknowns of the sum, then the unknowns of the derived inequalities.

        The multiplier of 1 ≥ 0 makes the bound smaller, so that its limit excludes no sum.
        """
        yield _Unknown(None, ONE, False, self._forms.inequality(ONE))
        yield from (
            _Unknown(None, name, False, form)
            for name, form in self._listed_inequalities(range(scope.stop), scope.guard)
        )
        for k in scope.derived_for:
            neurons = self._readable_neurons(scope, k)
            listed = self._listed_inequalities(neurons, scope.guard)
            unlisted = [
                (name, self._forms.inequality(name))
                for name in (ONE, *(Inequality("activation", j) for j in neurons))
            ]
            yield _Unknown(k, None, True, self._on_basis(self._forms.relu_inequality(k)))
            yield from (_Unknown(k, name, False, form) for name, form in listed)
            yield from (_Unknown(k, name, True, form) for name, form in listed + unlisted)

    def _readable_neurons(self, scope: ProgramScope, neuron: int) -> list[int]:
        """Return the neurons that a neuron's derived inequality may contain."""
        stop = self._forms.num_neurons_before(self._forms.layers[neuron] + 1)
        return [k for k in scope.readable if k < stop]

    def _listed_inequalities(
        self, neurons: Sequence[int], guard: int | None
    ) -> list[tuple[Inequality, Form]]:
        """Return the valid inequalities that contain only some neurons, without 1 ≥ 0 and a ≥ 0.

        These are the inequalities whose multiples a certificate lists in a sum.
        """
        allowed = {*range(self._forms.first), *(self._forms.first + k for k in neurons)}
        names = [Inequality("relu", k) for k in neurons]
        names += [Inequality("domain", k) for k in range(len(self._forms.walls))]
        if guard in neurons:
            names.append(GUARD)
        forms = [
            (name, self._forms.inequality(name, guard)) for name in (*names, *self._forms.unguarded)
        ]
        return [(name, self._kept(name, form)) for name, form in forms if form.keys() <= allowed]

    def _kept(self, name: Inequality, form: Form) -> Form:
        """Return the form of an inequality as programs look at it, made once for each name."""
        if name == GUARD:  # depends on the guard
            return self._on_basis(form)
        if name not in self._forms_on_basis:
            self._forms_on_basis[name] = self._on_basis(form)
        return self._forms_on_basis[name]

    def _on_basis(self, form: Form) -> Form:
        """Return a form without the inputs that the program need not look at."""
        dropped = self._forms.dependent_inputs
        if not dropped:
            return form
        return {symbol: w for symbol, w in form.items() if symbol not in dropped}

    def _program_rows(self, scope: ProgramScope) -> Rows:
        """Return the index of the program's row for each sum and each symbol.

        The sum that bounds the given form has the key None, and the sum of a derived inequality its
        neuron number. The constant of the first sum has no row, because it is maximised.
        """
        dropped, first = self._forms.dependent_inputs, self._forms.first
        inputs = [symbol for symbol in range(1, first) if symbol not in dropped]
        keys: list[tuple[int | None, int]] = [
            (None, symbol) for symbol in (*inputs, *range(first, first + scope.stop))
        ]
        for k in scope.derived_for:
            keys += [(k, symbol) for symbol in (0, *inputs)]
            keys += [(k, first + j) for j in self._readable_neurons(scope, k)]
        return {key: index for index, key in enumerate(keys)}

    def _entries(self, unknown: _Unknown) -> Iterator[tuple[int | None, int, int]]:
        """Yield the entries (key of the sum, symbol, coefficient) of an unknown.

        The sum with the key None, which contains G - q d a of each derived inequality, is at most
        the given form. For each derived inequality, q t - G plus the sum that is subtracted from
        G - q t is at most 0.
        """
        neuron, inequality, is_upper, form = unknown
        if neuron is None or (inequality is not None and not is_upper):
            yield from ((neuron, symbol, w) for symbol, w in form.items())
        elif inequality is None:  # q; its form is d a - t
            activation = self._forms.first + neuron
            yield None, activation, -form[activation]
            yield from ((neuron, symbol, -w) for symbol, w in form.items() if symbol != activation)
        else:
            yield from ((None, symbol, w) for symbol, w in form.items())
            yield from ((neuron, symbol, -w) for symbol, w in form.items())

    def _bound_from(
        self, value: Fraction, unknowns: list[_Unknown], values: list[Fraction], guard: int | None
    ) -> Bound | None:
        """Append the derived inequalities of a solution, and return its bound."""
        sums: dict[Inequality, Fraction] = {}
        scales: dict[int, Fraction] = {}
        remainders: dict[int, dict[Inequality, Fraction]] = {}
        uppers: dict[int, dict[Inequality, Fraction]] = {}
        for (neuron, inequality, is_upper, _), x in zip(unknowns, values, strict=True):
            if not x:
                continue
            if neuron is None:
                if inequality is not None and inequality != ONE:
                    sums[inequality] = x
            elif inequality is None:
                scales[neuron] = x
                uppers.setdefault(neuron, {})
            else:
                target = uppers if is_upper else remainders
                target.setdefault(neuron, {})[inequality] = x
        for neuron, upper in uppers.items():
            scale, remainder = scales.get(neuron), remainders.get(neuron, {})
            if scale is None:  # q = 0: G is a sum of inequalities that bounds no neuron
                for name, x in upper.items():
                    sums[name] = sums.get(name, Fraction()) + x
                continue
            common = math.lcm(
                *(x.denominator for x in (scale, *upper.values(), *remainder.values()))
            )
            derivation = DerivedInequality(
                neuron,
                int(scale * common),
                _integer_multipliers(upper, common),
                _integer_multipliers(remainder, common),
                {},
            )
            sums[self._forms.append(derivation, guard)] = Fraction(1, common)
        common = math.lcm(*(x.denominator for x in sums.values()))
        return Bound(value, common, _integer_multipliers(sums, common))


def _minimize(
    table: list[list[int]], costs: list[int], right: list[int], is_equation: list[bool]
) -> Optimal | None:
    """Return the least costs · x for x ≥ 0 that satisfies the rows of a table, or None.

    Row i is table[i] · x = right[i] if is_equation[i], and table[i] · x ≤ right[i] otherwise.
    """
    program = LinearProgram(len(costs), lower=[0] * len(costs))
    for kind, add in ((False, program.add_inequalities), (True, program.add_equations)):
        chosen = [i for i, flag in enumerate(is_equation) if flag is kind]
        if chosen:
            add([table[i] for i in chosen], [right[i] for i in chosen])
    return program.try_minimize(costs, max_pivots=SETTINGS.max_pivot_rows // max(1, len(table)))


def _integer_multipliers(multipliers: Mapping[Inequality, Fraction], factor: int) -> Multipliers:
    return {name: int(x * factor) for name, x in multipliers.items()}


def _bits_of_longest(form: Form) -> int:
    return max(map(abs, form.values()), default=0).bit_length()


def _scaled(number: int, bits: int) -> float:
    """Return number / 2^bits."""
    return nearest_float(number, 1 << bits)
