"""What is known of the activations of a network at every input: forms that are never negative, and what follows.

A form is affine in the inputs and the activations of the hidden neurons. An activation a = max(t/d, 0), t the integer
form of the preactivation, satisfies a ≥ 0 and d a - t ≥ 0; these are the facts. An upper bound is a *step*: if G is a
sum of nonnegative multiples of facts, and so is G - q t, then q d a ≤ G, a fact as well. It need not be a number, and
nothing need be bounded: G = 0 says that the neuron is dead, G = q t that it is linear, and G may be the activation of
another neuron. Where a *source* is on, t - d a ≥ 0 for it as well (proof: one_sided.md beside this module).

A linear program finds multiples whose sum is below a given form by as little as possible. The steps that it needs are
part of it: the multiples in all their G are unknowns too.
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

__all__ = ["ONE", "SOURCE", "Bound", "DerivedInequality", "Form", "Key", "ValidInequalities"]

#: Coefficients by symbol: 0 for 1, then the inputs, then the hidden neurons, layer by layer.
Form: TypeAlias = dict[int, int]
#: A fact: 2k and 2k+1 are a ≥ 0 and d a - t ≥ 0 of neuron k, numbered from 0; then 1, what the source adds, the steps.
Key: TypeAlias = int
ONE, SOURCE = -1, -2

#: Numbers in the table of a linear program, at most.
_ENTRIES = 5_000_000
_SHORT = 16  # significant bits of the bounds of neurons


class DerivedInequality(NamedTuple):
    """q d a ≤ G for a neuron: G is the sum of the multiples `above`, and G - q t that of `gap` and a form that is seen
    to be nonnegative; `form` is G - q d a."""

    neuron: int
    scale: int
    above: dict[Key, int]
    gap: dict[Key, int]
    form: Form


class Bound(NamedTuple):
    """scale · (form - value) is the sum of some multiples of facts and a form that is seen to be nonnegative."""

    value: Fraction
    scale: int
    multiples: dict[Key, int]


class _Column(NamedTuple):
    """An unknown multiple of a fact; `part` 0 is the sum, part k + 1 belongs to the step of neuron k: its G, or what
    is subtracted from G - q t. Without a key it is the q of that step."""

    part: int
    key: Key | None
    is_bound: bool
    form: Form


@dataclass(frozen=True, slots=True)
class _View:
    """The facts that a program may use: those of the neurons before `stop`, of known steps, and of the source; neurons
    for which it may make steps, and the neurons that these may read."""

    stop: int
    source: int | None
    nested: tuple[int, ...] = ()
    giving: tuple[int, ...] = ()


class ValidInequalities:
    """The facts of a plain stack, and bounds that follow from them.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [0, -1]), ([[-1, 1]], [0]), ([[1]], [0])])
    >>> facts = ValidInequalities(net)
    >>> bound = facts.below(facts.preactivation(NeuronId(2, 0), -1), 2)  # max(x, 0) - max(x - 1, 0)
    >>> bound.value, facts.steps[0].neuron
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
        self.steps: list[DerivedInequality] = []
        self._known: list[Key] = []  # steps that hold everywhere
        self._learnt = 1

    # -- forms ----------------------------------------------------------------------------------------------------

    def number(self, neuron: NeuronId) -> int:
        """The number of a hidden neuron, from 0."""
        return self._starts[neuron.layer] + neuron.index - self._first

    def count(self, layer: int) -> int:
        """How many hidden neurons stand in the layers before one."""
        return self._starts[layer] - self._first

    def preactivation(self, neuron: NeuronId, sign: int = 1) -> Form:
        """± the preactivation, over the denominator of its layer."""
        *row, bias = self._rows[neuron.layer - 1][neuron.index]
        entries = enumerate((sign * w for w in row), self._starts[neuron.layer - 1])
        return {0: sign * bias, **{symbol: w for symbol, w in entries if w}}

    def fact(self, key: Key, source: int | None = None) -> Form:
        """A form that is not negative (`SOURCE`: where the source is on)."""
        if key == ONE:
            return {0: 1}
        if key == SOURCE:
            return {symbol: -w for symbol, w in self._gap(source or 0).items()}
        if key < 0:
            return self.step(key).form
        neuron, is_gap = divmod(key, 2)
        return self._gap(neuron) if is_gap else {self._first + neuron: 1}

    def step(self, key: Key) -> DerivedInequality:
        """The step of a key below `SOURCE`."""
        return self.steps[SOURCE - 1 - key]

    def _id(self, neuron: int) -> NeuronId:
        layer = self._layers[neuron]
        return NeuronId(layer, self._first + neuron - self._starts[layer])

    def _gap(self, neuron: int) -> Form:
        form = self.preactivation(self._id(neuron), -1)
        return {**form, self._first + neuron: self._denominators[self._layers[neuron] - 1]}

    # -- bounds ---------------------------------------------------------------------------------------------------

    def below(self, form: Form, layer: int, source: NeuronId | None = None) -> Bound | None:
        """The best lower bound that is found for a form over the neurons before a layer; None if there is none.

        With a source it holds where the source is on. The steps that are not in `steps` yet are added there.
        """
        on = None if source is None else self.number(source)
        stop = self.count(layer)
        bound = self._solve(form, _View(stop, on))
        if bound is not None and bound.value >= 0:
            return bound
        last = self.count(layer - 1)
        owed = tuple(
            k for k in range(stop) if k != on and (k < last or form.get(self._first + k, 0) < 0)
        )
        giving = tuple(
            k for k in range(stop) if k == on or k < last or form.get(self._first + k, 0) > 0
        )
        better = self._solve(form, _View(stop, on, owed, giving))
        return bound if better is None else better

    def learn(
        self, bounded: Mapping[NeuronId, Iterable[int]], layer: int, deadline: float | None = None
    ) -> None:
        """Bound neurons of the layers before one, where this is worth a try: from above (1), from below (-1); until
        a time of the monotonic clock."""
        for neuron, sides in sorted(bounded.items()):
            if self._learnt <= neuron.layer < layer and (
                deadline is None or time.monotonic() < deadline
            ):
                self._bound(neuron, set(sides))
        self._learnt = max(self._learnt, layer)

    def _bound(self, neuron: NeuronId, sides: set[int]) -> None:
        """A step for a neuron that is bounded from above or never negative."""
        number, form = self.number(neuron), self.preactivation(neuron)
        low = self.below(form, neuron.layer) if -1 in sides else None
        if low is not None and low.value >= 0:
            self._keep(
                DerivedInequality(
                    number, low.scale, self._completed(form, low, Fraction(0)), {}, {}
                )
            )
            return
        high = self.below(self.preactivation(neuron, -1), neuron.layer) if 1 in sides else None
        if high is None:
            return
        if high.value >= 0:
            self._keep(DerivedInequality(number, high.scale, {}, high.multiples, {}))
            return
        top = math.ceil(-high.value)
        self._keep(
            DerivedInequality(number, high.scale, {ONE: top * high.scale}, high.multiples, {})
        )
        if low is not None:
            self._keep(self._chord(number, low, high))

    def _chord(self, number: int, low: Bound, high: Bound) -> DerivedInequality:
        """With l ≤ t ≤ u: (u - l) d a ≤ u (t - l)."""
        form = self.preactivation(self._id(number))
        bottom, top = math.floor(low.value), math.ceil(-high.value)
        scale = low.scale * high.scale
        above = self._completed(form, low, Fraction(bottom))
        return DerivedInequality(
            number,
            (top - bottom) * scale,
            {key: top * high.scale * factor for key, factor in above.items()},
            {key: -bottom * low.scale * factor for key, factor in high.multiples.items()},
            {},
        )

    def _completed(self, form: Form, bound: Bound, value: Fraction) -> dict[Key, int]:
        """Multiples whose sum is scale · (form - value) exactly."""
        rest = {symbol: bound.scale * w for symbol, w in form.items()}
        rest[0] = rest.get(0, 0) - int(bound.scale * value)
        for key, factor in bound.multiples.items():
            _add(rest, self.fact(key), -factor)
        more = {2 * (symbol - self._first) if symbol else ONE: w for symbol, w in rest.items() if w}
        return {
            key: bound.multiples.get(key, 0) + more.get(key, 0)
            for key in {**bound.multiples, **more}
        }

    def _keep(self, step: DerivedInequality) -> None:
        self._known.append(self._append(step))

    def _append(self, step: DerivedInequality, source: int | None = None) -> Key:
        form: Form = {}
        for key, factor in step.above.items():
            _add(form, self.fact(key, source), factor)
        _add(
            form,
            {self._first + step.neuron: self._denominators[self._layers[step.neuron] - 1]},
            -step.scale,
        )
        self.steps.append(step._replace(form=form))
        return SOURCE - len(self.steps)

    # -- the program ----------------------------------------------------------------------------------------------

    def _solve(self, form: Form, view: _View) -> Bound | None:
        columns = list(self._columns(view))
        rows = self._row_numbers(view)
        if not columns or len(rows) * len(columns) > _ENTRIES:
            return None
        bits, own = [_bits(column.form) for column in columns], _bits(form)
        most = max(*bits, own)  # the program has columns of one size, and integers are read fastest
        table, costs = [[0] * len(columns) for _ in rows], [0] * len(columns)
        for j, column in enumerate(columns):
            for part, symbol, w in self._entries(column):
                line = table[rows[part, symbol]] if part or symbol else costs
                line[j] = w << most - bits[j]
        right = [0 if part else form.get(symbol, 0) << most - own for part, symbol in rows]
        equal = [0 < symbol < self._first for _, symbol in rows]
        # A bound above 2^own is worth no more than that one; without a limit there may be no best one, if the source
        # is never on.
        table.append([-w for w in costs])
        answer = _minimum(
            table, costs, [*right, (1 << own) - form.get(0, 0) << most - own], [*equal, False]
        )
        if answer is None:
            return None
        values = [x * Fraction(2) ** (own - b) for x, b in zip(answer.point, bits, strict=True)]
        value = form.get(0, 0) - answer.value / (1 << most - own)
        return self._written(value, columns, values, view.source)

    def _columns(self, view: _View) -> Iterator[_Column]:
        """The unknowns of the sum, then those of the steps."""
        yield from (
            _Column(0, key, False, form) for key, form in self._gaps(range(view.stop), view.source)
        )
        for k in view.nested:
            neurons = self._read(view, k)
            gaps = self._gaps(neurons, view.source)
            signs = [(key, self.fact(key)) for key in (ONE, *(2 * j for j in neurons))]
            yield _Column(k + 1, None, True, self._gap(k))
            yield from (_Column(k + 1, key, False, form) for key, form in gaps)
            yield from (_Column(k + 1, key, True, form) for key, form in gaps + signs)

    def _read(self, view: _View, neuron: int) -> list[int]:
        """The neurons that a step for one may read: no later layers."""
        stop = self.count(self._layers[neuron] + 1)
        return [k for k in view.giving if k < stop]

    def _gaps(self, neurons: Sequence[int], source: int | None) -> list[tuple[Key, Form]]:
        """The facts about some neurons, but a ≥ 0."""
        allowed = {*range(self._first), *(self._first + k for k in neurons)}
        keys = [2 * k + 1 for k in neurons] + [SOURCE] * (source in neurons)
        forms = [(key, self.fact(key, source)) for key in (*keys, *self._known)]
        return [(key, form) for key, form in forms if form.keys() <= allowed]

    def _row_numbers(self, view: _View) -> dict[tuple[int, int], int]:
        """One row for each symbol of each part; the constant of the sum is what is minimised."""
        found = [(0, symbol) for symbol in range(1, self._first + view.stop)]
        for k in view.nested:
            found += [(k + 1, symbol) for symbol in range(self._first)]
            found += [(k + 1, self._first + j) for j in self._read(view, k)]
        return {place: number for number, place in enumerate(found)}

    def _entries(self, column: _Column) -> Iterator[tuple[int, int, int]]:
        """Where a column has entries: (part, symbol, coefficient). Rows of part 0 are at most the form, others at most
        0: q t - G + what is subtracted."""
        part, key, is_bound, form = column
        if key is None:  # q: -q d a in the sum, q t in the part
            own = self._first + part - 1
            yield 0, own, -form[own]
            yield from ((part, symbol, -w) for symbol, w in form.items() if symbol != own)
        elif is_bound:
            yield from ((0, symbol, w) for symbol, w in form.items())
            yield from ((part, symbol, -w) for symbol, w in form.items())
        else:
            yield from ((part, symbol, w) for symbol, w in form.items())

    def _written(
        self, value: Fraction, columns: list[_Column], values: list[Fraction], source: int | None
    ) -> Bound | None:
        """The steps of an answer are appended, and its bound is written with them."""
        sums: dict[Key, Fraction] = {}
        scales: dict[int, Fraction] = {}
        gaps: dict[int, dict[Key, Fraction]] = {}
        aboves: dict[int, dict[Key, Fraction]] = {}
        for column, x in zip(columns, values, strict=True):
            if not x:
                continue
            if column.key is None:
                scales[column.part] = x
                aboves.setdefault(column.part, {})
            elif not column.part:
                sums[column.key] = x
            else:
                (aboves if column.is_bound else gaps).setdefault(column.part, {})[column.key] = x
        for part, above in aboves.items():
            scale, gap = scales.get(part), gaps.get(part, {})
            if scale is None:  # a sum of facts that is no bound of anything
                for key, x in above.items():
                    sums[key] = sums.get(key, Fraction()) + x
                continue
            common = math.lcm(*(x.denominator for x in (scale, *above.values(), *gap.values())))
            step = DerivedInequality(
                part - 1, int(scale * common), _scaled(above, common), _scaled(gap, common), {}
            )
            sums[self._append(step, source)] = Fraction(1, common)
        common = math.lcm(*(x.denominator for x in sums.values()))
        return Bound(value, common, _scaled(sums, common))


def _minimum(
    table: list[list[int]], costs: list[int], right: list[int], equal: list[bool]
) -> Optimal | None:
    """The least costs·x for x ≥ 0 with table x ≤ right, or = where it says so; None if there is none."""
    program = LinearProgram(len(costs), lower=[0] * len(costs))
    for is_equation, add in ((False, program.add_inequalities), (True, program.add_equations)):
        chosen = [i for i, flag in enumerate(equal) if flag is is_equation]
        if chosen:
            add([table[i] for i in chosen], [right[i] for i in chosen])
    return program.try_minimize(costs)


def _scaled(multiples: Mapping[Key, Fraction], factor: int) -> dict[Key, int]:
    return {key: int(x * factor) for key, x in multiples.items()}


def _bits(form: Form) -> int:
    return max(map(abs, form.values()), default=0).bit_length()


def _add(sums: Form, form: Form, factor: int) -> None:
    for symbol, w in form.items():
        sums[symbol] = sums.get(symbol, 0) + factor * w
