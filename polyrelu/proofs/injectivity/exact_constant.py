"""The inverse Lipschitz constant κ of one ReLU layer with at most three inputs, exactly.

κ² is the least λ of finitely many numbers, one for each pair of cells or faces, of those whose
direction lies in the pair (docs/theory/inverse_lipschitz.md, "The exact value"). They are
eigenvalues of rational matrices of size at most 3, so that κ² is a root of a polynomial with
integers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex import canonical_complex
from polyrelu.errors import ArgumentError
from polyrelu.exact import (
    LinearProgram,
    RationalMatrix,
    dot,
    format_rational,
    kernel,
    row_basis,
    solve,
)
from polyrelu.exact.lp import Optimal
from polyrelu.formats import NetworkLike, as_network
from polyrelu.network import Network, from_arrays
from polyrelu.outcomes import Undecided
from polyrelu.proofs.injectivity.gram import is_semidefinite
from polyrelu.proofs.injectivity.parts import part_of
from polyrelu.proofs.injectivity.real_roots import LeastRoot, characteristic_polynomial
from polyrelu.proofs.injectivity.settings import SETTINGS
from polyrelu.support.arguments import expect_integer
from polyrelu.support.budget import ENDINGS, Budget, BudgetLike, as_budget
from polyrelu.support.display import bracketed
from polyrelu.support.interrupts import deferred_interrupt
from polyrelu.support.prices import price_of_sign_system

__all__ = ["ExactConstant", "exact_inverse_lipschitz"]

#: Maximum number of inputs: eigenvalues have degree 3 at most.
_MAX_INPUTS = 3


@dataclass(frozen=True, slots=True)
class ExactConstantSettings:
    """Limits of the computation.

    Attributes
    ----------
    bits
        Bits of the approximations of λ with which linear programs are solved, one after the other.
    near
        Relative distance of eigenvalues in floats within which they are compared exactly.
    """

    bits: tuple[int, ...] = (60, 150, 400)
    near: float = 1e-6


_SETTINGS = ExactConstantSettings()


@dataclass(frozen=True, slots=True, repr=False)
class ExactConstant:
    """The square of an inverse Lipschitz constant as an algebraic number.

    Attributes
    ----------
    polynomial
        Integers in ascending order; κ² is the least root of this polynomial, whose roots are real.
    low, high
        Numbers with low ≤ κ² ≤ high, at most 2^-60 apart; they are equal where κ² is rational.
    num_pairs
        Number of pairs of sets of neurons.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> exact_inverse_lipschitz(from_arrays([([[1], [-1], [2]], [0, 0, 0])], last="relu")).high
    Fraction(5, 6)
    """

    polynomial: tuple[int, ...]
    low: Fraction
    high: Fraction
    num_pairs: int

    def to_json(self) -> dict[str, Any]:
        """Return the polynomial and the bounds as JSON has them."""
        return {
            "polynomial": list(map(str, self.polynomial)),
            "low": format_rational(self.low),
            "high": format_rational(self.high),
        }

    def __repr__(self) -> str:
        return bracketed(f"ExactConstant, κ = {float(self.high) ** 0.5:.6g}")

    def __str__(self) -> str:
        if self.low == self.high:
            return f"the square of the inverse Lipschitz constant is {self.high}"
        terms = " + ".join(f"{c} t^{k}" for k, c in enumerate(self.polynomial) if c)
        return (
            "the square of the inverse Lipschitz constant is the least root of "
            f"{terms}, about {float(self.high):.12g}"
        )


def exact_inverse_lipschitz(
    network: NetworkLike,
    *,
    layer: int = 1,
    budget: BudgetLike = SETTINGS.budget,
    time_limit: float | None = None,
    memory_limit: int | None = None,
) -> ExactConstant | Undecided:
    """Compute the inverse Lipschitz constant of one ReLU layer on R^n, n ≤ 3.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    layer
        The number of the layer, from 1.
    budget
        Units of work, or a `Budget` with all limits; None for no limit.
    time_limit
        Seconds; no limit by default.
    memory_limit
        MiB of the process; no limit by default.

    Returns
    -------
    ExactConstant or Undecided
        The constant, or the limit that was reached. The value is computed exactly, but there is no
        certificate; `inverse_lipschitz` certifies bounds.

    Raises
    ------
    NetworkError
        The network cannot be read, or the layer reads activations of several others.
    ArgumentError
        The layer has more than three inputs or no ReLU, or an argument has a wrong type.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> both = ([[3, 4], [-8, 6], [-3, -4], [8, -6]], [0, 0, 0, 0])
    >>> print(exact_inverse_lipschitz(from_arrays([both], last="relu")))
    the square of the inverse Lipschitz constant is 25/2
    """
    whole = as_network(network)
    number = expect_integer(layer, "layer")
    if not 1 <= number <= whole.depth:
        raise ArgumentError(f"layer: expected a layer from 1 to {whole.depth}")
    part = part_of(whole, number, number)
    if part.num_inputs > _MAX_INPUTS or not part.num_hidden_layers:
        raise ArgumentError(f"layer: expected a ReLU layer of at most {_MAX_INPUTS} inputs")
    limits = as_budget(budget, time_limit, memory_limit)
    with deferred_interrupt() as interrupt:
        limits = limits.with_interrupt(interrupt)
        try:
            return _constant(part, limits)
        except ENDINGS as error:
            if (why := limits.reason_of(error)) is None:
                raise
            return Undecided(why)


class _Pair:
    """Two sets of neurons that are on, with the quadratic form q(v, u) of |f(x) - f(y)|².

    Points are x = p + v/2 and y = p - v/2; u = (p, s) where neurons are w·x + b s, or u = p. All
    rows are doubled, so that they are integers: q is four times as large.
    """

    def __init__(
        self,
        rows: Sequence[Sequence[int]],
        size: int,
        first: Sequence[bool],
        second: Sequence[bool],
    ) -> None:
        self.size, num_more = size, len(rows[0]) - size
        used, self.limits = list[list[int]](), list[list[int]]()
        for row, is_first, is_second in zip(rows, first, second, strict=True):
            linear, at = row[:size], [2 * entry for entry in row]
            here, there = [*linear, *at], [*(-entry for entry in linear), *at]
            self.limits.append(here if is_first else [-entry for entry in here])
            self.limits.append(there if is_second else [-entry for entry in there])
            if is_first and is_second:
                used.append([*(2 * entry for entry in linear), *[0] * (size + num_more)])
            elif is_first or is_second:
                used.append(here if is_first else there)
        if num_more:
            self.limits.append([*[0] * 2 * size, 1])
        self.width = 2 * size + num_more
        table = np.array(used, dtype=object).reshape(len(used), self.width)
        self.form: NDArray[np.object_] = table.T @ table
        self.guess = self._guess()

    def _guess(self) -> float:
        """Return the least eigenvalue in floats."""
        table, size = self.form.astype(np.float64), self.size
        upper, lower = table[:size, size:], table[size:, size:]
        inverse = np.linalg.pinv(lower, rcond=1e-11, hermitian=True)
        return float(np.linalg.eigvalsh(table[:size, :size] - upper @ inverse @ upper.T)[0])

    def is_at_least(self, bound: Fraction) -> bool:
        """Whether q(v, u) ≥ bound |v|² everywhere, exactly."""
        table = bound.denominator * self.form
        for k in range(self.size):
            table[k, k] -= bound.numerator
        return is_semidefinite(RationalMatrix.from_integers(table.tolist()))

    def solve(self) -> _Minimum:
        """Return the least eigenvalue and what belongs to it, exactly."""
        size = self.size
        whole = RationalMatrix.from_integers(self.form.tolist())
        heads, tails = range(size), range(size, self.width)
        corner = whole.take(rows=tails, columns=tails)
        side = whole.take(rows=tails, columns=heads)
        back = solve(corner, side)
        if back is None:
            raise AssertionError("a semidefinite form")
        left = whole.take(rows=heads, columns=heads) - side.transpose() @ back
        reduced = [list(row) for row in left.rows()]
        root = LeastRoot(characteristic_polynomial(reduced), self.guess)
        free = [list(column) for column in kernel(corner).transpose().rows()]
        return _Minimum(self, root, reduced, [list(row) for row in back.rows()], free)


@dataclass(slots=True)
class _Minimum:
    """The least eigenvalue λ of a pair, the matrix, u = -X v + Σ c_k z_k."""

    pair: _Pair
    root: LeastRoot
    reduced: list[list[Fraction]]
    back: list[list[Fraction]]
    free: list[list[Fraction]]

    def is_attained(self) -> bool | None:
        """Whether some v ≠ 0 of the eigenspace lies in the pair; None if it is left open."""
        if self.root.is_rational:
            return self._is_attained_rationally(self.root.high)
        answers = [self._is_in_pair(sign) for sign in (1, -1)]
        return True if True in answers else None if None in answers else False

    def _is_attained_rationally(self, value: Fraction) -> bool:
        size = self.pair.size
        table = self.pair.form.astype(object).tolist()
        for k in range(size):
            table[k][k] = table[k][k] - value
        basis = [
            list(column) for column in kernel(RationalMatrix.from_rows(table)).transpose().rows()
        ]
        inside = [[-dot(row, vector) for vector in basis] for row in self.pair.limits]
        for k in range(size):
            for sign in (1, -1):
                program = LinearProgram(len(basis))
                program.add_inequalities(inside, [0] * len(inside))
                program.add_equations([[vector[k] for vector in basis]], [sign])
                if isinstance(program.feasible_point(), tuple):
                    return True
        return False

    def _is_in_pair(self, sign: int) -> bool | None:
        """Whether ± the eigenvector, whose entries are polynomials in λ, has u in the pair."""
        vector = [[sign * entry for entry in p] for p in self._eigenvector()]
        size, fixed = self.pair.size, list[list[Fraction]]()
        for row in self.pair.limits:
            factors = [
                row[k]
                - sum((row[size + i] * self.back[i][k] for i in range(len(self.back))), Fraction())
                for k in range(size)
            ]
            fixed.append(_combined(factors, vector))
        loose = [[dot(row[size:], z) for z in self.free] for row in self.pair.limits]
        return self._is_feasible(fixed, loose)

    def _is_feasible(
        self, fixed: Sequence[Sequence[Fraction]], loose: Sequence[Sequence[Fraction]]
    ) -> bool | None:
        """Whether fixed_j(λ) + loose_j·c ≥ 0 for all j and some c."""
        size = len(loose[0]) if loose else 0
        if not size:
            return all(self.root.sign(p) >= 0 for p in fixed)
        for bits in _SETTINGS.bits:
            near = self.root.approximation(bits)
            program = LinearProgram(size + 1, upper=[None] * size + [1])
            rows = [[*(-x for x in row), 1] for row in loose]
            program.add_inequalities(rows, [_at(p, near) for p in fixed])
            found = program.maximize([0] * size + [1])
            if not isinstance(found, Optimal):
                raise AssertionError("a bounded program with solutions")
            moved = _moved(fixed, loose, [[x] for x in found.point[:-1]])
            if all(self.root.sign(p) >= 0 for p in moved):
                return True
            if not found.multipliers.upper:
                used = found.multipliers.rows
                sign = self.root.sign(_combined(list(used.values()), [fixed[j] for j in used]))
                if sign < 0:
                    return False
                if sign == 0:
                    return self._is_feasible_on_face(fixed, loose, list(used))
        return None

    def _is_feasible_on_face(
        self,
        fixed: Sequence[Sequence[Fraction]],
        loose: Sequence[Sequence[Fraction]],
        tight: Sequence[int],
    ) -> bool | None:
        """Answer the same where some inequalities can hold as equations only."""
        basis = [tight[k] for k in row_basis(RationalMatrix.from_rows([loose[j] for j in tight]))]
        if not basis:
            if any(self.root.sign(fixed[j]) < 0 for j in tight):
                return False
            rest = [j for j in range(len(fixed)) if j not in tight]
            return self._is_feasible([fixed[j] for j in rest], [loose[j] for j in rest])
        matrix = RationalMatrix.from_rows([loose[j] for j in basis])
        degree = max(map(len, fixed))
        right = [[-x for x in (*fixed[j], *[Fraction()] * (degree - len(fixed[j])))] for j in basis]
        point = solve(matrix, RationalMatrix.from_rows(right))
        if point is None:
            raise AssertionError("independent equations")
        directions = kernel(matrix)
        columns = [list(column) for column in directions.transpose().rows()]
        moved = _moved(fixed, loose, [list(row) for row in point.rows()])
        return self._is_feasible(moved, [[dot(row, z) for z in columns] for row in loose])

    def _eigenvector(self) -> list[list[Fraction]]:
        """Return a column of the adjugate of S - λ that is not 0, as polynomials in λ."""
        size = len(self.reduced)
        entries = [
            [
                [self.reduced[i][j], Fraction(-1)] if i == j else [self.reduced[i][j]]
                for j in range(size)
            ]
            for i in range(size)
        ]
        for j in range(size):
            column = [_cofactor(entries, j, i) for i in range(size)]
            if any(self.root.sign(p) for p in column):
                return column
        raise AssertionError("an eigenvalue that is not rational is simple")


def _cofactor(entries: Sequence[Sequence[list[Fraction]]], row: int, column: int) -> list[Fraction]:
    """Return a cofactor of a matrix of polynomials of size 2 or 3."""
    rows = [i for i in range(len(entries)) if i != row]
    columns = [j for j in range(len(entries)) if j != column]
    if len(rows) == 1:
        found = entries[rows[0]][columns[0]]
    else:
        (a, b), (c, d) = ([entries[i][j] for j in columns] for i in rows)
        found = _combined([Fraction(1), Fraction(-1)], [_product(a, d), _product(b, c)])
    return [(-1) ** (row + column) * entry for entry in found]


def _moved(
    fixed: Sequence[Sequence[Fraction]],
    loose: Sequence[Sequence[Fraction]],
    point: Sequence[Sequence[Fraction]],
) -> list[list[Fraction]]:
    """Return fixed_j + loose_j·c for a point c whose coordinates are polynomials."""
    one = Fraction(1)
    return [_combined([one, *row], [p, *point]) for p, row in zip(fixed, loose, strict=True)]


def _product(one: Sequence[Fraction], two: Sequence[Fraction]) -> list[Fraction]:
    found = [Fraction()] * (len(one) + len(two) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(two):
            found[i + j] += a * b
    return found


def _combined(
    factors: Sequence[Fraction], polynomials: Sequence[Sequence[Fraction]]
) -> list[Fraction]:
    """Return a combination of polynomials."""
    found = [Fraction()] * max((len(p) for p in polynomials), default=1)
    for factor, p in zip(factors, polynomials, strict=True):
        for k, entry in enumerate(p):
            found[k] += factor * entry
    return found


def _at(polynomial: Sequence[Fraction], place: Fraction) -> Fraction:
    total = Fraction()
    for entry in reversed(polynomial):
        total = total * place + entry
    return total


def _pairs(layer: Network) -> Iterator[_Pair]:
    """Yield all pairs of sets of neurons that are ≥ 0 at a point, with and without bias."""
    size, weight, bias = layer.num_inputs, layer.weight(1), layer.bias(1)
    scale = math.lcm(weight.denominator, bias.denominator)
    linear = [[int(x * scale) for x in row] for row in weight.rows()]
    shifts = [int(x * scale) for x in bias.entries()]
    central = from_arrays([(linear, [0] * len(linear))], last="relu")
    families = [(central, linear)]
    if any(shifts):
        both = [[*row, b] for row, b in zip(linear, shifts, strict=True)]
        families.append((from_arrays([(linear, shifts)], last="relu"), both))
    for network, rows in families:
        cells, found = canonical_complex(network), dict[tuple[bool, ...], None]()
        for dimension in range(cells.dimension, cells.lineality_dim - 1, -1):
            found |= dict.fromkeys(map(tuple, (cells.signs(dimension) >= 0).tolist()))
        for first, second in itertools.combinations_with_replacement(found, 2):
            yield _Pair(rows, size, first, second)


def _constant(layer: Network, budget: Budget) -> ExactConstant | Undecided:
    """Return the least eigenvalue that is attained."""
    pairs = list[_Pair]()
    price = price_of_sign_system(layer.widths[1], 2 * layer.num_inputs + 1)
    for pair in _pairs(layer):
        budget.spend(price)
        pairs.append(pair)
    pairs.sort(key=lambda pair: pair.guess)
    best: LeastRoot | None = None
    for pair in pairs:
        budget.spend(price)
        if best is not None and pair.guess > 0:
            far = best.approximation(_SETTINGS.bits[0])
            if pair.guess > float(far) * (1 + _SETTINGS.near) and pair.is_at_least(far):
                continue
        found = pair.solve()
        if best is not None and not _is_less(found.root, best):
            continue
        attained = found.is_attained()
        if attained is None:
            return Undecided("a pair of cells touches an eigenvector of irrational coordinates")
        if attained:
            best = found.root
    if best is None:
        raise AssertionError("an eigenvalue of one cell is attained")
    scale = math.lcm(layer.weight(1).denominator, layer.bias(1).denominator)
    return _answer(best, 4 * scale**2, len(pairs))


def _is_less(one: LeastRoot, two: LeastRoot) -> bool:
    """Whether one root is less than another, exactly."""
    if two.sign(one.polynomial) == 0 and one.sign(two.polynomial) == 0:
        # Each is a root of the other polynomial, so not less than its least root.
        return False
    while one.high > two.low and two.high > one.low:
        one.refine()
        two.refine()
    return one.high <= two.low


def _answer(root: LeastRoot, scale: int, num_pairs: int) -> ExactConstant:
    """Return the constant of the layer whose form is smaller by a factor."""
    if root.is_rational:
        value = root.high / scale
        return ExactConstant((-value.numerator, value.denominator), value, value, num_pairs)
    while root.high - root.low > Fraction(scale, 2**60):
        root.refine()
    scaled = [c * scale**k for k, c in enumerate(root.polynomial)]
    divisor = math.gcd(*scaled)
    polynomial = tuple(c // divisor for c in scaled)
    return ExactConstant(polynomial, root.low / scale, root.high / scale, num_pairs)
