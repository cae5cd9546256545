"""Valid inequalities of a plain stack: linear forms that are nonnegative at every input in R^n.

They prove signs of neurons for theorem `one-sided` (`one_sided`). The proof that all of them are
valid is in docs/theory/one_sided.md, whose first table gives the words of FORMAT.md §3.3 for the
same things. The checker adds up the multiples that a certificate lists; multiples of 1 ≥ 0 and of
a ≥ 0 are not listed, because the coefficients of the remaining form show them.

A form is affine in the inputs and in the activations of the hidden neurons. Let t be the integer
form of a neuron's preactivation over the denominator d, so that its activation is a = max(t/d, 0).
Then

* a ≥ 0 and d a - t ≥ 0 are valid;
* t - d a ≥ 0 is valid where the neuron is active. It is used for one neuron, the *guard* of a
  statement;
* q d a ≤ G, q > 0, is valid if G and G - q t are sums of nonnegative multiples of valid
  inequalities. This is a *derived inequality*, an upper bound G of the activation.

The upper bound G is a form and not a number, so neither it nor the activation need be bounded. If
G = 0, the neuron is dead; if G = q t, it is linear; and G may be the activation of another neuron.

**The linear program.** The best lower bound of a form p is the largest number m such that p - m is
a sum of nonnegative multiples of valid inequalities. One linear program finds m, the multiplier of
each inequality, and the derived inequalities that the sum contains: for each neuron k for which an
inequality may be derived, q_k and the multipliers of the inequalities whose sums are G_k and G_k -
q_k t_k are unknowns as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, islice
from typing import Literal, NamedTuple, TypeAlias

from polyrelu.exact import LinearProgram, Optimal
from polyrelu.network import Network, NeuronId
from polyrelu.proofs.refutations.settings import SETTINGS
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_program

__all__ = [
    "GUARD",
    "ONE",
    "Bound",
    "DerivedInequality",
    "Form",
    "Inequality",
    "Multipliers",
    "ValidInequalities",
]

#: Integer coefficients by symbol. Symbol 0 is the constant 1; then come the inputs and then the
#: activations of the hidden neurons, layer by layer.
Form: TypeAlias = dict[int, int]


class Inequality(NamedTuple):
    """The name of a valid inequality; `ValidInequalities.inequality` returns its form.

    `one_sided` translates these names into the numbers that FORMAT.md §3.3 gives to facts.

    Attributes
    ----------
    kind
        ``one``: 1 ≥ 0. ``activation``: a ≥ 0. ``relu``: d a - t ≥ 0. ``guard``: t - d a ≥ 0 for the
        guard. ``derived``: G - q d a ≥ 0.
    number
        The neuron number for ``activation`` and ``relu``; the index in
        `ValidInequalities.derivations` for ``derived``; 0 for the others.
    """

    kind: Literal["one", "activation", "relu", "guard", "derived"]
    number: int = 0


#: The inequality 1 ≥ 0, and t - d a ≥ 0 for the guard.
ONE, GUARD = Inequality("one"), Inequality("guard")

#: Nonnegative integers by the inequalities that they multiply.
Multipliers: TypeAlias = dict[Inequality, int]


class DerivedInequality(NamedTuple):
    """The inequality q d a ≤ G for the activation a of a neuron.

    Attributes
    ----------
    neuron
        The neuron number.
    scale
        The factor q.
    upper
        The multipliers of the valid inequalities whose sum is G.
    remainder
        The multipliers of valid inequalities such that their sum is at most G - q t, with a
        difference whose coefficients show that it is nonnegative.
    form
        The form G - q d a.
    """

    neuron: int
    scale: int
    upper: Multipliers
    remainder: Multipliers
    form: Form


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
class _ProgramScope:
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


class ValidInequalities:
    """The valid inequalities of a plain stack, and lower bounds that follow from them.

    The example bounds max(x - 1, 0) - max(x, 0) from above by 0.

    Parameters
    ----------
    network
        The plain stack.
    budget
        What pays for the linear programs, each by the size of its table; without one there is no
        limit.

    Attributes
    ----------
    network
        The plain stack.
    budget
        The work for linear programs.
    derivations
        The inequalities that were derived so far, in order.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [0, -1]), ([[-1, 1]], [0]), ([[1]], [0])])
    >>> inequalities = ValidInequalities(net)
    >>> bound = inequalities.lower_bound(inequalities.preactivation(NeuronId(2, 0), -1), 2)
    >>> bound.value, inequalities.derivations[0].neuron
    (Fraction(0, 1), 1)
    """

    def __init__(self, network: Network, budget: Budget | None = None) -> None:
        self.network = network
        self.budget = Budget() if budget is None else budget
        widths = network.widths
        self._starts = list(accumulate(widths, initial=1))
        self._first = self._starts[1]
        tables = [layer.augmented() for layer in network.layers]
        self._denominators = [table.denominator for table in tables]
        self._rows = [table.integer_rows() for table in tables]
        self._layers = [number for number in range(1, network.depth) for _ in range(widths[number])]
        self.derivations: list[DerivedInequality] = []
        self._global: list[Inequality] = []  # the derived inequalities that hold without a guard
        self._first_layer_to_derive = 1
        self._relu_inequalities: dict[int, Form] = {}

    # -- forms -------------------------------------------------------------------------------------

    def number_of(self, neuron: NeuronId) -> int:
        """Return the number of a hidden neuron, counted from 0 layer by layer."""
        return self._starts[neuron.layer] + neuron.index - self._first

    def num_neurons_before(self, layer: int) -> int:
        """Return the number of hidden neurons in the layers before a layer."""
        return self._starts[layer] - self._first

    def preactivation(self, neuron: NeuronId, sign: int = 1) -> Form:
        """Return sign · the preactivation of a neuron, over the denominator of its layer."""
        *row, bias = self._rows[neuron.layer - 1][neuron.index]
        entries = enumerate((sign * w for w in row), self._starts[neuron.layer - 1])
        return {0: sign * bias, **{symbol: w for symbol, w in entries if w}}

    def inequality(self, name: Inequality, guard: int | None = None) -> Form:
        """Return the form of a valid inequality.

        `guard` is the neuron number of the guard, which only `GUARD` needs; its form is valid where
        the guard is active.
        """
        match name.kind:
            case "activation":
                return {self._first + name.number: 1}
            case "relu":
                return self._relu_inequality(name.number)
            case "derived":
                return self.derivations[name.number].form
            case "guard":
                return {symbol: -w for symbol, w in self._relu_inequality(guard or 0).items()}
            case "one":
                return {0: 1}

    def _id(self, neuron: int) -> NeuronId:
        layer = self._layers[neuron]
        return NeuronId(layer, self._first + neuron - self._starts[layer])

    def _relu_inequality(self, neuron: int) -> Form:
        """Return the form d a - t of a neuron, which is kept; nobody may change it."""
        if (kept := self._relu_inequalities.get(neuron)) is None:
            kept = self.preactivation(self._id(neuron), -1)
            kept[self._first + neuron] = self._denominators[self._layers[neuron] - 1]
            self._relu_inequalities[neuron] = kept
        return kept

    # -- bounds ------------------------------------------------------------------------------------

    def lower_bound(self, form: Form, layer: int, guard: NeuronId | None = None) -> Bound | None:
        """Return the best lower bound found for a form over the neurons before a layer, or None.

        With a guard the bound holds where the guard is active. New derived inequalities that it
        uses are appended to `derivations`.
        """
        number = None if guard is None else self.number_of(guard)
        stop = self.num_neurons_before(layer)
        bound = self._solve(form, _ProgramScope(stop, number))
        if bound is not None and bound.value >= 0:
            return bound
        last = self.num_neurons_before(layer - 1)
        derived_for = tuple(
            k for k in range(stop) if k != number and (k < last or form.get(self._first + k, 0) < 0)
        )
        readable = tuple(
            k for k in range(stop) if k == number or k < last or form.get(self._first + k, 0) > 0
        )
        better = self._solve(form, _ProgramScope(stop, number, derived_for, readable))
        return bound if better is None else better

    def derive_bounds(self, bounded: Mapping[NeuronId, Iterable[int]], layer: int) -> None:
        """Derive inequalities for neurons before a layer that seem to be bounded on given sides.

        A side is 1 (from above) or -1 (from below).
        """
        for neuron, sides in sorted(bounded.items()):
            if self._first_layer_to_derive <= neuron.layer < layer:
                self._derive(neuron, set(sides))
        self._first_layer_to_derive = max(self._first_layer_to_derive, layer)

    def _derive(self, neuron: NeuronId, sides: set[int]) -> None:
        """Derive an inequality for a neuron that is bounded from above or never negative."""
        number, form = self.number_of(neuron), self.preactivation(neuron)
        low = self.lower_bound(form, neuron.layer) if -1 in sides else None
        if low is not None and low.value >= 0:
            upper = self._exact_multipliers(form, low, Fraction(0))
            self._add_global(DerivedInequality(number, low.scale, upper, {}, {}))
            return
        if 1 not in sides:
            return
        high = self.lower_bound(self.preactivation(neuron, -1), neuron.layer)
        if high is None:
            return
        if high.value >= 0:
            self._add_global(DerivedInequality(number, high.scale, {}, high.multipliers, {}))
            return
        upper = {ONE: math.ceil(-high.value) * high.scale}
        self._add_global(DerivedInequality(number, high.scale, upper, high.multipliers, {}))
        if low is not None:
            self._add_global(self._chord(number, low, high))

    def _chord(self, number: int, low: Bound, high: Bound) -> DerivedInequality:
        """Return (u - l) d a ≤ u (t - l), which holds if l ≤ t ≤ u."""
        form = self.preactivation(self._id(number))
        bottom, top = math.floor(low.value), math.ceil(-high.value)
        scale = low.scale * high.scale
        upper = self._exact_multipliers(form, low, Fraction(bottom))
        return DerivedInequality(
            number,
            (top - bottom) * scale,
            {name: top * high.scale * factor for name, factor in upper.items()},
            {name: -bottom * low.scale * factor for name, factor in high.multipliers.items()},
            {},
        )

    def _exact_multipliers(self, form: Form, bound: Bound, value: Fraction) -> Multipliers:
        """Return multipliers of valid inequalities whose sum is exactly scale · (form - value)."""
        difference = {symbol: bound.scale * w for symbol, w in form.items()}
        difference[0] = difference.get(0, 0) - int(bound.scale * value)
        for name, factor in bound.multipliers.items():
            _add_multiple(difference, self.inequality(name), -factor)
        unlisted = {
            Inequality("activation", symbol - self._first) if symbol else ONE: w
            for symbol, w in difference.items()
            if w
        }
        return {
            name: bound.multipliers.get(name, 0) + unlisted.get(name, 0)
            for name in {**bound.multipliers, **unlisted}
        }

    def _add_global(self, derivation: DerivedInequality) -> None:
        """Keep a derived inequality for all later bounds; it must hold without a guard."""
        self._global.append(self._append(derivation))

    def _append(self, derivation: DerivedInequality, guard: int | None = None) -> Inequality:
        """Append a derived inequality, with its form computed; return its name."""
        form: Form = {}
        for name, factor in derivation.upper.items():
            _add_multiple(form, self.inequality(name, guard), factor)
        denominator = self._denominators[self._layers[derivation.neuron] - 1]
        _add_multiple(form, {self._first + derivation.neuron: denominator}, -derivation.scale)
        self.derivations.append(derivation._replace(form=form))
        return Inequality("derived", len(self.derivations) - 1)

    # -- the linear program ------------------------------------------------------------------------

    def _solve(self, form: Form, scope: _ProgramScope) -> Bound | None:
        """Return the best lower bound of a form from the inequalities in scope, or None."""
        rows = self._program_rows(scope)
        most = SETTINGS.max_program_entries // max(1, len(rows))
        unknowns = list(islice(self._unknowns(scope), most + 1))
        if not 1 <= len(unknowns) <= most:
            return None
        # The columns of the table and the right sides are scaled by powers of two such that their
        # longest entries have equally many bits. The entries stay integers, which the solver reads
        # fastest.
        bits = [_bits_of_longest(unknown.form) for unknown in unknowns]
        bits_of_form = _bits_of_longest(form)
        longest = max(*bits, bits_of_form)
        self.budget.spend(price_of_program(len(rows), len(unknowns), longest))
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
        is_equation = [0 < symbol < self._first for _, symbol in rows]
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

    def _unknowns(self, scope: _ProgramScope) -> Iterator[_Unknown]:
        """Yield the unknowns of the sum, then the unknowns of the derived inequalities."""
        yield from (
            _Unknown(None, name, False, form)
            for name, form in self._listed_inequalities(range(scope.stop), scope.guard)
        )
        for k in scope.derived_for:
            neurons = self._readable_neurons(scope, k)
            listed = self._listed_inequalities(neurons, scope.guard)
            unlisted = [
                (name, self.inequality(name))
                for name in (ONE, *(Inequality("activation", j) for j in neurons))
            ]
            yield _Unknown(k, None, True, self._relu_inequality(k))
            yield from (_Unknown(k, name, False, form) for name, form in listed)
            yield from (_Unknown(k, name, True, form) for name, form in listed + unlisted)

    def _readable_neurons(self, scope: _ProgramScope, neuron: int) -> list[int]:
        """Return the neurons that a neuron's derived inequality may contain."""
        stop = self.num_neurons_before(self._layers[neuron] + 1)
        return [k for k in scope.readable if k < stop]

    def _listed_inequalities(
        self, neurons: Sequence[int], guard: int | None
    ) -> list[tuple[Inequality, Form]]:
        """Return the valid inequalities that contain only some neurons, without 1 ≥ 0 and a ≥ 0.

        These are the inequalities whose multiples a certificate lists in a sum.
        """
        allowed = {*range(self._first), *(self._first + k for k in neurons)}
        names = [Inequality("relu", k) for k in neurons]
        if guard in neurons:
            names.append(GUARD)
        forms = [(name, self.inequality(name, guard)) for name in (*names, *self._global)]
        return [(name, form) for name, form in forms if form.keys() <= allowed]

    def _program_rows(self, scope: _ProgramScope) -> dict[tuple[int | None, int], int]:
        """Return the index of the program's row for each sum and each symbol.

        The sum that bounds the given form has the key None, and the sum of a derived inequality its
        neuron number. The constant of the first sum has no row, because it is maximised.
        """
        keys: list[tuple[int | None, int]] = [
            (None, symbol) for symbol in range(1, self._first + scope.stop)
        ]
        for k in scope.derived_for:
            keys += [(k, symbol) for symbol in range(self._first)]
            keys += [(k, self._first + j) for j in self._readable_neurons(scope, k)]
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
            activation = self._first + neuron
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
                if inequality is not None:
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
            sums[self._append(derivation, guard)] = Fraction(1, common)
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


def _add_multiple(sums: Form, form: Form, factor: int) -> None:
    for symbol, w in form.items():
        sums[symbol] = sums.get(symbol, 0) + factor * w
