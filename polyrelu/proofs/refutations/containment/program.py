"""The linear program that looks for a zonotope inside another one, in floats.

Let a neuron of layer 2 be in question, with a sign and a guard, and let t_k be d times the
preactivation of neuron k of layer 1, d their denominator. Without the guard, sign · z is a sum of
m_j a_j with m_j > 0, the *positive* terms, minus a sum of p_k a_k with p_k > 0, the *negative*
ones, plus a constant. The program asks for combinations

    p_k t_k = Σ_j γ_kj t_j + Σ_e g_ke e,

e being 1 and t of the guard, which are both ≥ 0, such that Σ_k |γ_kj| + λ_j ≤ s m_j for each j, and
the multiples λ_j ≥ 0 of a_j - z_j make the coefficients of the inputs vanish in what is left of
sign · z once each p_k a_k is replaced by the upper bound that its combination gives. It minimises
s, and s < 1 is what a proof needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from polyrelu.exact import RationalMatrix, as_float, column_basis, nearest_vector, row_basis
from polyrelu.exact.lp.support import SparseProgram, interior_optimum
from polyrelu.proofs.refutations.inequality_forms import InequalityForms
from polyrelu.proofs.refutations.sampled_candidates import OneSidedCandidate
from polyrelu.support.budget import Budget
from polyrelu.support.prices import price_of_sparse_program
from polyrelu.support.typing import Floats

__all__ = ["Combinations", "ContainmentProgram"]


@dataclass(frozen=True, slots=True)
class ProgramSettings:
    """Limits of the program, and what it leaves for rounding.

    Attributes
    ----------
    max_entries
        Maximum number of entries.
    max_iterations
        Maximum number of iterations of the interior point method.
    spare
        Share of the positive terms of the basis, and of a positive constant, that is left for
        rounding.
    """

    max_entries: int = 2_000_000
    max_iterations: int = 200
    spare: float = 1e-4


SETTINGS = ProgramSettings()


@dataclass(frozen=True, slots=True)
class Combinations:
    """A solution in floats.

    Attributes
    ----------
    gammas
        The coefficients γ_kj, shape (negative terms, positive terms).
    of_guard
        The coefficients g_ke of the guard, shape (negative terms,); zeros without a guard.
    lambdas
        The multiples λ_j, shape (positive terms,).
    guard
        The multiple of t of the guard in what is left.
    """

    gammas: Floats
    of_guard: Floats
    lambdas: Floats
    guard: float

    @property
    def is_finite(self) -> bool:
        """Whether no number is beyond the range of floats."""
        parts = self.gammas, self.of_guard, self.lambdas, self.guard
        return all(bool(np.isfinite(part).all()) for part in parts)


class ContainmentProgram:
    """The program about one candidate.

    Parameters
    ----------
    inequalities
        The valid inequalities of a plain stack on R^n.
    candidate
        A neuron of layer 2 with its sign and its guard.

    Attributes
    ----------
    inequalities, candidate
        As given.
    guard
        The number of the guard, or None.
    denominator
        The number d.
    rows
        The coefficients of t for each neuron of layer 1, at a basis of the inputs, then its
        constant.
    row, constant
        The coefficients of sign · z at the activations, over the denominator of layer 2, and its
        constant.
    positive, negative
        The numbers of the neurons of the positive and of the negative terms.

    Examples
    --------
    >>> from polyrelu.network import NeuronId, from_arrays
    >>> first, last = ([[1], [-1], [1]], [0, 0, -1]), ([[1]], [0])
    >>> net = from_arrays([first, ([[-2, -2, 1]], [0]), last])
    >>> program = ContainmentProgram(InequalityForms(net), OneSidedCandidate(NeuronId(2, 0), -1))
    >>> program.row, program.positive, program.negative, program.basis
    ([2, 2, -1], [0, 1], [2], (0,))
    >>> found = program.solve(Budget())
    >>> bool(found.gammas[0] @ [1, -1] > 0.99)
    True
    """

    def __init__(self, inequalities: InequalityForms, candidate: OneSidedCandidate) -> None:
        self.inequalities, self.candidate = inequalities, candidate
        number_of, form_of = inequalities.number_of, inequalities.preactivation
        self.guard = None if candidate.guard is None else number_of(candidate.guard)
        self.denominator = inequalities.denominators[0]
        weight = inequalities.network.weight(1)
        symbols = [*(1 + j for j in column_basis(weight)), 0]
        forms = [form_of(inequalities.neuron_id(k)) for k in range(weight.nrows)]
        self.rows = [[form.get(symbol, 0) for symbol in symbols] for form in forms]
        form = form_of(candidate.neuron, candidate.sign)
        self.row = [form.get(inequalities.first + k, 0) for k in range(weight.nrows)]
        self.constant = form.get(0, 0)
        others = [k for k in range(weight.nrows) if k != self.guard]
        self.positive = [k for k in others if self.row[k] > 0]
        self.negative = [k for k in others if self.row[k] < 0]

    @cached_property
    def basis(self) -> tuple[int, ...] | None:
        """Return places in `positive` of neurons with a basis of all linear parts, or None.

        Neurons with large coefficients come first.
        """
        order = sorted(range(len(self.positive)), key=lambda j: -self.row[self.positive[j]])
        if not order:
            return None
        parts = RationalMatrix.from_rows([self.rows[self.positive[j]][:-1] for j in order])
        found = row_basis(parts)
        return None if len(found) < parts.ncols else tuple(sorted(order[i] for i in found))

    @np.errstate(all="ignore")
    def solve(self, budget: Budget) -> Combinations | None:
        """Return combinations with s < 1, or None; `LimitReached` if the work does not last.

        There are none, either, where numbers are beyond the range of floats.
        """
        if self.basis is None:
            return None
        rows, sizes = np.array([nearest_vector(row) for row in self.rows]), nearest_vector(self.row)
        positive, negative = rows[self.positive], rows[self.negative]
        extras = np.eye(rows.shape[1])[-1:]
        if self.guard is not None:
            extras = np.concatenate([extras, rows[self.guard][None]])
        lengths, of_extras = _lengths(positive), _lengths(extras)
        table = _Table(positive / lengths[:, None], extras / of_extras[:, None], len(negative))
        budget.spend(price_of_sparse_program(table.num_entries))
        if table.num_entries > SETTINGS.max_entries:
            return None
        unit = np.abs(sizes).max() * lengths.max()
        terms = -sizes[self.negative, None] * negative / unit
        rest, caps = self._rest(rows, sizes) / unit, sizes[self.positive] * lengths / unit
        if not all(np.isfinite(part).all() for part in (table.vectors, terms, rest, caps)):
            return None
        point = table.solve(terms, rest, caps)
        if point is None or not point[-1] < 1 - 2 * SETTINGS.spare:
            return None
        gammas, g, lambdas, over = table.parts(point)
        to_guard, has_guard = unit / of_extras[-1], self.guard is not None
        found = Combinations(
            gammas * unit / lengths,
            g[:, -1] * to_guard * has_guard,
            lambdas * unit / lengths,
            float(over[-1] * to_guard * has_guard),
        )
        return found if found.is_finite else None

    def _rest(self, rows: Floats, sizes: Floats) -> Floats:
        """Return the vector of what is in the sum besides the terms, and is left for rounding."""
        chosen = [self.positive[j] for j in self.basis or ()]
        rest = SETTINGS.spare * sizes[chosen] @ rows[chosen]
        constant = as_float(self.denominator * self.constant)
        rest[-1] += constant - SETTINGS.spare * max(constant, 0)
        if self.guard is not None:  # where the guard is active its activation is linear
            rest += sizes[self.guard] * rows[self.guard]
        return np.asarray(rest, dtype=np.float64)


class _Table:
    """The columns and rows of the program, for vectors of about length 1.

    For each negative term k there are the columns γ⁺_kj, g⁺_ke, γ⁻_kj and g⁻_ke, whose differences
    are γ_kj and g_ke; then come λ_j, the multiples of the e that are left, and s. The rows are the
    equations of each k, the equations of what is left, and one limit for each j.

    Parameters
    ----------
    positive, extras
        The vectors of the t_j and of the e, shapes (count, size).
    num_terms
        The number of negative terms.

    Attributes
    ----------
    vectors
        The vectors, as columns.
    num_entries
        The number of entries of the program that are not 0.
    """

    def __init__(self, positive: Floats, extras: Floats, num_terms: int) -> None:
        self._num_terms, self._num_positive = num_terms, len(positive)
        self.vectors = np.concatenate([positive, extras]).T
        size, self._width = self.vectors.shape
        self._num_equations = (num_terms + 1) * size
        # the upper bound of p_k a_k has g⁺ e and γ⁻ (a_j - z_j)
        first, second = self.vectors.copy(), self.vectors.copy()
        first[:, : len(positive)] = 0
        second[:, len(positive) :] = 0
        self._in_sum = np.hstack([-first, second])
        self._left = second - first
        self.num_entries = (2 * size + 2) * self._width * num_terms

    def solve(self, terms: Floats, rest: Floats, caps: Floats) -> Floats | None:
        """Return an optimal point, or None.

        Parameters
        ----------
        terms
            The vectors of the p_k t_k, shape (negative terms, size).
        rest
            What is in the sum besides, shape (size,).
        caps
            The coefficients m_j, shape (positive terms,).
        """
        blocks = list(self._blocks(caps))
        places = [np.nonzero(block) for *_, block in blocks]
        rows = [row + i for (row, _, _), (i, _) in zip(blocks, places, strict=True)]
        columns = [column + j for (_, column, _), (_, j) in zip(blocks, places, strict=True)]
        values = [block[place] for (*_, block), place in zip(blocks, places, strict=True)]
        costs = np.zeros(2 * self._num_terms * self._width + self._width + 1)
        costs[-1] = 1
        right = np.concatenate([terms.ravel(), -rest, np.zeros(len(caps))])
        program = SparseProgram(
            np.concatenate(rows).astype(np.int32),
            np.concatenate(columns).astype(np.int32),
            np.concatenate(values),
            costs,
            right,
            np.arange(len(right)) < self._num_equations,
        )
        return interior_optimum(program, SETTINGS.max_iterations)

    def _blocks(self, caps: Floats) -> Iterator[tuple[int, int, Floats]]:
        """Yield the blocks of the matrix with their first rows and columns."""
        size, width = self.vectors.shape
        of_sum, limits = self._num_terms * size, self._num_equations
        shares = np.eye(self._num_positive, width)
        for k in range(self._num_terms):
            column = 2 * width * k
            yield size * k, column, np.hstack([self.vectors, -self.vectors])
            yield of_sum, column, self._in_sum
            yield limits, column, np.hstack([shares, shares])
        column = 2 * width * self._num_terms
        yield of_sum, column, self._left
        yield limits, column, shares
        yield limits, column + width, -caps[:, None]

    def parts(self, point: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return γ, g, λ and the multiples of the e of a point."""
        count, pairs = self._num_positive, 2 * self._num_terms * self._width
        first, second = np.split(point[:pairs].reshape(self._num_terms, 2 * self._width), 2, axis=1)
        # what both parts of a coefficient have in common does what λ does
        left = point[pairs:-1] + np.minimum(first, second).sum(axis=0)
        both = first - second
        return both[:, :count], both[:, count:], left[:count], left[count:]


def _lengths(vectors: Floats) -> Floats:
    """Return the lengths of vectors, 1 for zero vectors."""
    lengths = np.linalg.norm(vectors, axis=1)
    return np.where(lengths > 0, lengths, 1.0)
