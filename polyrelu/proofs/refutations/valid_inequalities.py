"""Valid inequalities of a plain stack: linear forms that are nonnegative at every input in R^n.

They prove signs of neurons for theorem `one-sided` (`one_sided`). The proof that all of them are
valid is in docs/theory/one_sided.md. The checker adds up the multiples that a certificate lists;
multipliers of 1 ≥ 0 and of a ≥ 0 are not listed, because the coefficients that are left show these.

A form is affine in the inputs and in the activations of the hidden neurons. Let t be the integer
form of a neuron's preactivation over the denominator d, so that its activation is a = max(t/d, 0).
Then

* a ≥ 0 and d a - t ≥ 0 are valid;
* t - d a ≥ 0 is valid where the neuron is on, which is used for the *guard* of a statement;
* q d a ≤ G, q > 0, is valid if G and G - q t are sums of nonnegative multiples of valid
  inequalities. This is a *derived inequality*, an upper bound of the activation.

A derived inequality need not give a number, and nothing need be bounded: G = 0 says that the neuron
is dead, G = q t that it is linear, and G may be the activation of another neuron.

One linear program finds multipliers whose sum is a form below a given one by as little as possible.
The derived inequalities that it needs are part of it: the multipliers in all their forms G and G -
q t are unknowns, too.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from polyrelu.exact import LinearProgram, Optimal
from polyrelu.network import Network, NeuronId

__all__ = ["GUARD", "ONE", "Bound", "DerivedInequality", "Form", "Key", "ValidInequalities"]

#: Integer coefficients by symbol: 0 for 1, then the inputs, then the hidden neurons by layer.
Form: TypeAlias = dict[int, int]
#: Names a valid inequality: 2k and 2k + 1 are a ≥ 0 and d a - t ≥ 0 for neuron k, numbered from 0;
#: `ONE` is 1 ≥ 0, `GUARD` is t - d a ≥ 0 for the guard, and derived inequalities are below `GUARD`.
Key: TypeAlias = int
ONE, GUARD = -1, -2

#: Maximum number of entries of the table of a linear program.
_MAX_PROGRAM_ENTRIES = 5_000_000


class DerivedInequality(NamedTuple):
    """The inequality q d a ≤ G for the activation a of a neuron.

    Attributes
    ----------
    neuron
        The number of the neuron.
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
    upper: dict[Key, int]
    remainder: dict[Key, int]
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
    multipliers: dict[Key, int]


class _Unknown(NamedTuple):
    """An unknown multiplier of a linear program.

    Attributes
    ----------
    part
        0 for the sum that bounds the given form; k + 1 for the derived inequality of neuron k.
    key
        The valid inequality that is multiplied; None for the factor q of the derived inequality.
    is_upper
        Whether the multiplier belongs to G, and not to the sum that is subtracted from G - q t.
    form
        The form of the valid inequality.
    """

    part: int
    key: Key | None
    is_upper: bool
    form: Form


@dataclass(frozen=True, slots=True)
class _ProgramScope:
    """The valid inequalities that a linear program may use.

    Attributes
    ----------
    stop
        The number of neurons, from 0, whose inequalities are used.
    guard
        The number of the guard, or None.
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

    Attributes
    ----------
    network
        The plain stack.
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

    def __init__(self, network: Network) -> None:
        self.network = network
        widths = network.widths
        self._starts = list(accumulate(widths, initial=1))
        self._first = self._starts[1]
        tables = [layer.augmented() for layer in network.layers]
        self._denominators = [table.denominator for table in tables]
        self._rows = [table.integer_rows() for table in tables]
        self._layers = [number for number in range(1, network.depth) for _ in range(widths[number])]
        self.derivations: list[DerivedInequality] = []
        self._global_keys: list[Key] = []  # of derivations that hold on R^n
        self._derived_layers = 1  # the first layer whose neurons were not bounded yet

    # -- forms -------------------------------------------------------------------------------------

    def number(self, neuron: NeuronId) -> int:
        """Return the number of a hidden neuron, from 0."""
        return self._starts[neuron.layer] + neuron.index - self._first

    def num_neurons_before(self, layer: int) -> int:
        """Return the number of hidden neurons in the layers before a layer."""
        return self._starts[layer] - self._first

    def preactivation(self, neuron: NeuronId, sign: int = 1) -> Form:
        """Return sign · the preactivation of a neuron, over the denominator of its layer."""
        *row, bias = self._rows[neuron.layer - 1][neuron.index]
        entries = enumerate((sign * w for w in row), self._starts[neuron.layer - 1])
        return {0: sign * bias, **{symbol: w for symbol, w in entries if w}}

    def inequality(self, key: Key, guard: int | None = None) -> Form:
        """Return a valid inequality's form; the one of `GUARD` is valid where the guard is on."""
        if key == ONE:
            return {0: 1}
        if key == GUARD:
            return {symbol: -w for symbol, w in self._relu_inequality(guard or 0).items()}
        if key < 0:
            return self.derivation(key).form
        neuron, is_relu = divmod(key, 2)
        return self._relu_inequality(neuron) if is_relu else {self._first + neuron: 1}

    def derivation(self, key: Key) -> DerivedInequality:
        """Return the derived inequality of a key less than `GUARD`."""
        return self.derivations[GUARD - 1 - key]

    def _id(self, neuron: int) -> NeuronId:
        layer = self._layers[neuron]
        return NeuronId(layer, self._first + neuron - self._starts[layer])

    def _relu_inequality(self, neuron: int) -> Form:
        """Return the form d a - t of a neuron."""
        form = self.preactivation(self._id(neuron), -1)
        return {**form, self._first + neuron: self._denominators[self._layers[neuron] - 1]}

    # -- bounds ------------------------------------------------------------------------------------

    def lower_bound(self, form: Form, layer: int, guard: NeuronId | None = None) -> Bound | None:
        """Return the best lower bound found for a form over the neurons before a layer, or None.

        With a guard the bound holds where the guard is on. New derived inequalities that it uses
        are appended to `derivations`.
        """
        number = None if guard is None else self.number(guard)
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

    def derive_bounds(
        self, bounded: Mapping[NeuronId, Iterable[int]], layer: int, deadline: float | None = None
    ) -> None:
        """Derive inequalities for neurons before a layer that seem to be bounded on given sides.

        A side is 1 (from above) or -1 (from below). `deadline` is a time of the monotonic clock,
        after which nothing more is tried.
        """
        for neuron, sides in sorted(bounded.items()):
            if self._derived_layers <= neuron.layer < layer and (
                deadline is None or time.monotonic() < deadline
            ):
                self._derive(neuron, set(sides))
        self._derived_layers = max(self._derived_layers, layer)

    def _derive(self, neuron: NeuronId, sides: set[int]) -> None:
        """Derive an inequality for a neuron that is bounded from above or never negative."""
        number, form = self.number(neuron), self.preactivation(neuron)
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
            {key: top * high.scale * factor for key, factor in upper.items()},
            {key: -bottom * low.scale * factor for key, factor in high.multipliers.items()},
            {},
        )

    def _exact_multipliers(self, form: Form, bound: Bound, value: Fraction) -> dict[Key, int]:
        """Return multipliers of valid inequalities whose sum is exactly scale · (form - value)."""
        rest = {symbol: bound.scale * w for symbol, w in form.items()}
        rest[0] = rest.get(0, 0) - int(bound.scale * value)
        for key, factor in bound.multipliers.items():
            _add_multiple(rest, self.inequality(key), -factor)
        more = {2 * (symbol - self._first) if symbol else ONE: w for symbol, w in rest.items() if w}
        return {
            key: bound.multipliers.get(key, 0) + more.get(key, 0)
            for key in {**bound.multipliers, **more}
        }

    def _add_global(self, derivation: DerivedInequality) -> None:
        """Keep a derived inequality for all later bounds; it must hold without a guard."""
        self._global_keys.append(self._append(derivation))

    def _append(self, derivation: DerivedInequality, guard: int | None = None) -> Key:
        """Append a derived inequality, with its form computed; return its key."""
        form: Form = {}
        for key, factor in derivation.upper.items():
            _add_multiple(form, self.inequality(key, guard), factor)
        denominator = self._denominators[self._layers[derivation.neuron] - 1]
        _add_multiple(form, {self._first + derivation.neuron: denominator}, -derivation.scale)
        self.derivations.append(derivation._replace(form=form))
        return GUARD - len(self.derivations)

    # -- the linear program ------------------------------------------------------------------------

    def _solve(self, form: Form, scope: _ProgramScope) -> Bound | None:
        """Return the best lower bound of a form from the inequalities in scope, or None."""
        columns = list(self._columns(scope))
        rows = self._program_rows(scope)
        if not columns or len(rows) * len(columns) > _MAX_PROGRAM_ENTRIES:
            return None
        bits, own = [_bits_of_longest(column.form) for column in columns], _bits_of_longest(form)
        # Columns are scaled by powers of two to entries of one size, which are integers because the
        # solver reads them fastest.
        most = max(*bits, own)
        table, costs = [[0] * len(columns) for _ in rows], [0] * len(columns)
        for j, column in enumerate(columns):
            for part, symbol, w in self._entries(column):
                line = table[rows[part, symbol]] if part or symbol else costs
                line[j] = w << most - bits[j]
        right = [0 if part else form.get(symbol, 0) << most - own for part, symbol in rows]
        equal = [0 < symbol < self._first for _, symbol in rows]
        # The bound is limited to 2^own, because there is no best bound if the guard is never on.
        table.append([-w for w in costs])
        answer = _minimize(
            table, costs, [*right, (1 << own) - form.get(0, 0) << most - own], [*equal, False]
        )
        if answer is None:
            return None
        values = [x * Fraction(2) ** (own - b) for x, b in zip(answer.point, bits, strict=True)]
        value = form.get(0, 0) - answer.value / (1 << most - own)
        return self._bound_from(value, columns, values, scope.guard)

    def _columns(self, scope: _ProgramScope) -> Iterator[_Unknown]:
        """Yield the unknowns of the sum, then the unknowns of the derived inequalities."""
        yield from (
            _Unknown(0, key, False, form)
            for key, form in self._listed_inequalities(range(scope.stop), scope.guard)
        )
        for k in scope.derived_for:
            neurons = self._readable_neurons(scope, k)
            listed = self._listed_inequalities(neurons, scope.guard)
            signs = [(key, self.inequality(key)) for key in (ONE, *(2 * j for j in neurons))]
            yield _Unknown(k + 1, None, True, self._relu_inequality(k))
            yield from (_Unknown(k + 1, key, False, form) for key, form in listed)
            yield from (_Unknown(k + 1, key, True, form) for key, form in listed + signs)

    def _readable_neurons(self, scope: _ProgramScope, neuron: int) -> list[int]:
        """Return the neurons that a neuron's derived inequality may contain."""
        stop = self.num_neurons_before(self._layers[neuron] + 1)
        return [k for k in scope.readable if k < stop]

    def _listed_inequalities(
        self, neurons: Sequence[int], guard: int | None
    ) -> list[tuple[Key, Form]]:
        """Return the valid inequalities about some neurons, except 1 ≥ 0 and all a ≥ 0."""
        allowed = {*range(self._first), *(self._first + k for k in neurons)}
        keys = [2 * k + 1 for k in neurons] + [GUARD] * (guard in neurons)
        forms = [(key, self.inequality(key, guard)) for key in (*keys, *self._global_keys)]
        return [(key, form) for key, form in forms if form.keys() <= allowed]

    def _program_rows(self, scope: _ProgramScope) -> dict[tuple[int, int], int]:
        """Return the numbers of the program's rows: one for each part and symbol.

        The constant of the sum has no row, because it is maximised.
        """
        found = [(0, symbol) for symbol in range(1, self._first + scope.stop)]
        for k in scope.derived_for:
            found += [(k + 1, symbol) for symbol in range(self._first)]
            found += [(k + 1, self._first + j) for j in self._readable_neurons(scope, k)]
        return {place: number for number, place in enumerate(found)}

    def _entries(self, column: _Unknown) -> Iterator[tuple[int, int, int]]:
        """Yield the entries (part, symbol, coefficient) of an unknown's column.

        The sum of part 0 is at most the given form. In every other part the sum, which is q t - G
        plus what is subtracted, is at most 0.
        """
        part, key, is_upper, form = column
        if key is None:  # q: -q d a in the sum, q t in the part
            own = self._first + part - 1
            yield 0, own, -form[own]
            yield from ((part, symbol, -w) for symbol, w in form.items() if symbol != own)
        elif is_upper:
            yield from ((0, symbol, w) for symbol, w in form.items())
            yield from ((part, symbol, -w) for symbol, w in form.items())
        else:
            yield from ((part, symbol, w) for symbol, w in form.items())

    def _bound_from(
        self, value: Fraction, columns: list[_Unknown], values: list[Fraction], guard: int | None
    ) -> Bound | None:
        """Append the derived inequalities of a solution, and return its bound."""
        sums: dict[Key, Fraction] = {}
        scales: dict[int, Fraction] = {}
        remainders: dict[int, dict[Key, Fraction]] = {}
        uppers: dict[int, dict[Key, Fraction]] = {}
        for column, x in zip(columns, values, strict=True):
            if not x:
                continue
            if column.key is None:
                scales[column.part] = x
                uppers.setdefault(column.part, {})
            elif not column.part:
                sums[column.key] = x
            else:
                target = uppers if column.is_upper else remainders
                target.setdefault(column.part, {})[column.key] = x
        for part, upper in uppers.items():
            scale, remainder = scales.get(part), remainders.get(part, {})
            if scale is None:  # q = 0: G is a sum of inequalities that bounds no neuron
                for key, x in upper.items():
                    sums[key] = sums.get(key, Fraction()) + x
                continue
            common = math.lcm(
                *(x.denominator for x in (scale, *upper.values(), *remainder.values()))
            )
            derivation = DerivedInequality(
                part - 1,
                int(scale * common),
                _integer_multipliers(upper, common),
                _integer_multipliers(remainder, common),
                {},
            )
            sums[self._append(derivation, guard)] = Fraction(1, common)
        common = math.lcm(*(x.denominator for x in sums.values()))
        return Bound(value, common, _integer_multipliers(sums, common))


def _minimize(
    table: list[list[int]], costs: list[int], right: list[int], equal: list[bool]
) -> Optimal | None:
    """Return the least costs · x for x ≥ 0 and table x ≤ right (= where `equal`), or None."""
    program = LinearProgram(len(costs), lower=[0] * len(costs))
    for is_equation, add in ((False, program.add_inequalities), (True, program.add_equations)):
        chosen = [i for i, flag in enumerate(equal) if flag is is_equation]
        if chosen:
            add([table[i] for i in chosen], [right[i] for i in chosen])
    return program.try_minimize(costs)


def _integer_multipliers(multipliers: Mapping[Key, Fraction], factor: int) -> dict[Key, int]:
    return {key: int(x * factor) for key, x in multipliers.items()}


def _bits_of_longest(form: Form) -> int:
    return max(map(abs, form.values()), default=0).bit_length()


def _add_multiple(sums: Form, form: Form, factor: int) -> None:
    for symbol, w in form.items():
        sums[symbol] = sums.get(symbol, 0) + factor * w
