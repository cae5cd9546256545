"""Valid inequalities of a network: linear forms that are nonnegative at all inputs.

The inputs range over R^n, or over a domain, whose inequalities c - a·x ≥ 0 are valid as well.

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
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from polyrelu.exact import Polyhedron
from polyrelu.network import Network, NeuronId
from polyrelu.proofs.refutations.bound_program import Bound, BoundProgram, ProgramScope
from polyrelu.proofs.refutations.inequality_forms import (
    ONE,
    DerivedInequality,
    Form,
    Inequality,
    InequalityForms,
    Multipliers,
    add_multiple,
)
from polyrelu.support.budget import Budget

__all__ = ["ValidInequalities"]


class ValidInequalities(InequalityForms):
    """The valid inequalities of a network, and lower bounds that follow from them.

    The example bounds max(x - 1, 0) - max(x, 0) from above by 0.

    Parameters
    ----------
    network
        The network.
    budget
        What pays for the linear programs, each by the size of its table; without one there is no
        limit.
    domain
        The domain, a polyhedron without equations; None for R^n.
    with_large
        Whether large linear programs are solved as well, first in floats.

    Attributes
    ----------
    network, domain
        As given.
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

    def __init__(
        self,
        network: Network,
        budget: Budget | None = None,
        domain: Polyhedron | None = None,
        with_large: bool = False,
    ) -> None:
        super().__init__(network, domain)
        self.budget = Budget() if budget is None else budget
        self._program = BoundProgram(self, self.budget, with_large)
        self._first_layer_to_derive = 1

    def lower_bound(self, form: Form, layer: int, guard: NeuronId | None = None) -> Bound | None:
        """Return the best lower bound found for a form over the neurons before a layer, or None.

        With a guard the bound holds where the guard is active. New derived inequalities that it
        uses are appended to `derivations`.
        """
        number = None if guard is None else self.number_of(guard)
        stop = self.num_neurons_before(layer)
        if not stop and (found := self._bound_by_sides(form)) is not None:
            return found
        bound = self._program.solve(form, ProgramScope(stop, number))
        if bound is not None and bound.value >= 0:
            return bound
        last = self.num_neurons_before(layer - 1)
        derived_for = tuple(
            k for k in range(stop) if k != number and (k < last or form.get(self.first + k, 0) < 0)
        )
        readable = tuple(
            k for k in range(stop) if k == number or k < last or form.get(self.first + k, 0) > 0
        )
        better = self._program.solve(form, ProgramScope(stop, number, derived_for, readable))
        return bound if better is None else better

    def _bound_by_sides(self, form: Form) -> Bound | None:
        """Return the best lower bound of a form over the inputs if all walls bound one input.

        It takes no linear program. The result is None if some wall does not, or there is no bound.
        """
        if any(len(wall.keys() - {0}) != 1 for wall in self.walls):
            return None
        best: dict[tuple[int, bool], tuple[Fraction, int]] = {}
        for number, wall in enumerate(self.walls):
            ((symbol, w),) = ((symbol, w) for symbol, w in wall.items() if symbol)
            distance, key = Fraction(wall.get(0, 0), abs(w)), (symbol, w > 0)
            if key not in best or distance < best[key][0]:
                best[key] = distance, number
        value, used = Fraction(form.get(0, 0)), dict[int, Fraction]()
        for symbol, w in form.items():
            if symbol and w:
                if (symbol, w > 0) not in best:
                    return None
                distance, number = best[symbol, w > 0]
                value -= abs(w) * distance
                used[number] = Fraction(w, self.walls[number][symbol])
        common = math.lcm(*(x.denominator for x in used.values()))
        multipliers = {Inequality("domain", k): int(x * common) for k, x in used.items()}
        return Bound(value, common, multipliers)

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
        form = self.preactivation(self.neuron_id(number))
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
            add_multiple(difference, self.inequality(name), -factor)
        unlisted = {
            Inequality("activation", symbol - self.first) if symbol else ONE: w
            for symbol, w in difference.items()
            if w
        }
        return {
            name: bound.multipliers.get(name, 0) + unlisted.get(name, 0)
            for name in {**bound.multipliers, **unlisted}
        }

    def _add_global(self, derivation: DerivedInequality) -> None:
        """Keep a derived inequality for all later bounds; it must hold without a guard."""
        self.unguarded.append(self.append(derivation))
