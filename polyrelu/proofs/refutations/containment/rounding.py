"""The exact proof that a solution of the containment program leads to.

The coefficients γ_kj of the solution are rounded. What is then lacking at the inputs, a little, is
a combination of the t_j of a basis, which exact arithmetic finds; all these combinations have one
denominator. Since the program left something of each m_j of the basis, the limits hold in the end.
What is left is looked at once more as the checker does it, so that no float has to be right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.exact import RationalMatrix, solve
from polyrelu.proofs.refutations.bound_program import Bound
from polyrelu.proofs.refutations.containment.program import Combinations, ContainmentProgram
from polyrelu.proofs.refutations.inequality_forms import (
    GUARD,
    ONE,
    DerivedInequality,
    Form,
    Inequality,
    Multipliers,
    add_multiple,
)
from polyrelu.support.typing import Floats

__all__ = ["rounded_bound"]


@dataclass(frozen=True, slots=True)
class RoundingSettings:
    """How coefficients are rounded.

    Attributes
    ----------
    digits
        Least number of binary digits of the largest coefficient m_j.
    """

    digits: int = 40


SETTINGS = RoundingSettings()


def rounded_bound(program: ContainmentProgram, found: Combinations) -> Bound | None:
    """Return the bound sign · z ≥ 0 where the guard is active, or None if rounding spoils it.

    Derived inequalities are appended to what the program has.

    >>> from polyrelu.network import NeuronId, from_arrays
    >>> from polyrelu.proofs.refutations.inequality_forms import InequalityForms
    >>> from polyrelu.proofs.refutations.sampled_candidates import OneSidedCandidate
    >>> from polyrelu.support.budget import Budget
    >>> first, last = ([[1], [-1], [1]], [0, 0, -1]), ([[1]], [0])
    >>> forms = InequalityForms(from_arrays([first, ([[-2, -2, 1]], [0]), last]))
    >>> program = ContainmentProgram(forms, OneSidedCandidate(NeuronId(2, 0), -1))
    >>> rounded_bound(program, program.solve(Budget())).value
    Fraction(0, 1)
    """
    proof = _Proof.of(program, found)
    terms = [proof.derived(place) for place in range(len(program.negative))]
    names = [program.inequalities.append(term, program.guard) for term in terms]
    bound = Bound(
        Fraction(0),
        proof.scale * program.denominator,
        proof.multipliers() | dict.fromkeys(names, 1),
    )
    own = program.inequalities.preactivation
    whole = _multiple(own(program.candidate.neuron, program.candidate.sign), bound.scale)
    is_right = _is_at_least(program, whole, bound.multipliers)
    for term in terms:
        left = _sum(program, term.upper)
        add_multiple(left, own(program.inequalities.neuron_id(term.neuron)), -term.scale)
        is_right = is_right and _is_at_least(program, left, term.remainder)
    return bound if is_right else None


@dataclass(frozen=True, slots=True)
class _Proof:
    """Coefficients that satisfy the equations at the inputs exactly.

    They are integers over the common denominator `scale`; the others are as for `Combinations`.
    """

    program: ContainmentProgram
    scale: int
    gammas: list[list[int]]
    of_guard: list[int]
    lambdas: list[int]
    guard: int

    @classmethod
    def of(cls, program: ContainmentProgram, found: Combinations) -> _Proof:
        """Round a solution, and give what is lacking at the inputs to the neurons of the basis."""
        bits = max(abs(program.row[k]) for k in program.positive).bit_length()
        unit = 1 << max(0, SETTINGS.digits - bits)
        gammas = [_rounded(row, unit) for row in found.gammas]
        of_guard, lambdas = _rounded(found.of_guard, unit), _rounded(found.lambdas, unit)
        (guard,) = _rounded([found.guard], unit)
        basis, rounded = program.basis or (), cls(program, unit, gammas, of_guard, lambdas, guard)
        lacking = [rounded._lacking(place) for place in range(len(gammas))]
        lacking.append(rounded._lacking_in_sum())
        rows = [program.rows[program.positive[j]][:-1] for j in basis]
        found_exactly = solve(
            RationalMatrix.from_rows(list(zip(*rows, strict=True))),
            RationalMatrix.from_rows(list(zip(*lacking, strict=True))),
        )
        assert found_exactly is not None  # the rows of the basis are independent
        common, table = found_exactly.denominator, found_exactly.integer_rows()
        gammas = [[common * x for x in row] for row in gammas]
        lambdas = [common * x for x in lambdas]
        for j, (*shifts, whole) in zip(basis, table, strict=True):
            for row, shift in zip(gammas, shifts, strict=True):
                row[j] += shift
            lambdas[j] = whole - sum(max(-row[j], 0) for row in gammas)
        of_guard = [common * g for g in of_guard]
        return cls(program, common * unit, gammas, of_guard, lambdas, common * guard)

    def _lacking(self, place: int) -> list[int]:
        """Return p_k t_k minus its combination, at the inputs."""
        program, k = self.program, self.program.negative[place]
        factors = [*(-x for x in self.gammas[place])]
        return self._at_inputs(
            [(-self.scale * program.row[k], k), *zip(factors, program.positive, strict=True)],
            -self.of_guard[place],
        )

    def _lacking_in_sum(self) -> list[int]:
        """Return what the neurons of the basis have to add to what is left, at the inputs.

        Each of them adds λ_j plus the sum of all max(-γ_kj, 0).
        """
        program, chosen = self.program, set(self.program.basis or ())
        factors = [
            (-x - sum(max(-row[j], 0) for row in self.gammas), program.positive[j])
            for j, x in enumerate(self.lambdas)
            if j not in chosen
        ]
        of_guard = self.guard + sum(max(g, 0) for g in self.of_guard)
        if program.guard is not None:
            of_guard -= self.scale * program.row[program.guard]
        return self._at_inputs(factors, of_guard)

    def _at_inputs(self, factors: Sequence[tuple[int, int]], of_guard: int) -> list[int]:
        """Return the coefficients of the inputs in a sum of multiples of some t and the guard's."""
        rows, guard = self.program.rows, self.program.guard
        left = [0] * (len(rows[0]) - 1)
        for factor, k in factors if guard is None else [*factors, (of_guard, guard)]:
            if factor:
                left = [x + factor * y for x, y in zip(left, rows[k][:-1], strict=True)]
        return left

    def derived(self, place: int) -> DerivedInequality:
        """Return the inequality p_k a_k ≤ G_k of a negative term."""
        program, g, guard = self.program, self.of_guard[place], self.program.guard
        k = program.negative[place]
        scale, upper, remainder = -self.scale * program.row[k], Multipliers(), Multipliers()
        constant = scale * program.rows[k][-1]
        for j, x in zip(program.positive, self.gammas[place], strict=True):
            constant -= x * program.rows[j][-1]
            if x > 0:
                upper[Inequality("activation", j)] = program.denominator * x
                remainder[Inequality("relu", j)] = x
            elif x < 0:
                upper[Inequality("relu", j)] = -x
        if guard is not None:
            constant -= g * program.rows[guard][-1]
            if g > 0:
                upper[GUARD], upper[Inequality("activation", guard)] = g, program.denominator * g
            elif g < 0:
                remainder[GUARD] = -g
        if constant > 0:
            upper[ONE] = constant
        return DerivedInequality(k, scale, upper, remainder, {})

    def multipliers(self) -> Multipliers:
        """Return the multipliers of what is left, without the derived inequalities."""
        program, guard = self.program, self.program.guard
        found = {
            Inequality("relu", j): x for j, x in zip(program.positive, self.lambdas, strict=True)
        }
        if guard is not None:
            own = self.scale * program.row[guard]
            found[Inequality("relu", guard)] = max(own, 0)
            found[GUARD] = self.guard + max(-own, 0)
        return {name: x for name, x in found.items() if x}


def _rounded(values: Floats | Sequence[float], unit: int) -> list[int]:
    """Return floats times a power of 2, rounded; the products may be beyond the range of floats."""
    return [round(Fraction(float(x)) * unit) for x in values]


def _multiple(form: Form, factor: int) -> Form:
    return {symbol: factor * w for symbol, w in form.items()}


def _sum(program: ContainmentProgram, multipliers: Multipliers) -> Form:
    """Return the sum of the multiples of valid inequalities."""
    total: Form = {}
    for name, factor in multipliers.items():
        add_multiple(total, program.inequalities.inequality(name, program.guard), factor)
    return total


def _is_at_least(program: ContainmentProgram, form: Form, multipliers: Multipliers) -> bool:
    """Return whether a form is at least a sum of nonnegative multiples, by its coefficients."""
    left, first = dict(form), program.inequalities.first
    add_multiple(left, _sum(program, multipliers), -1)
    is_sum = all(factor >= 0 for factor in multipliers.values())
    return is_sum and not any(w if 0 < symbol < first else w < 0 for symbol, w in left.items())
