"""Which neurons can contribute a given linear part: R = D H + P G + X U.

This module decides exactly whether given numbers of neurons can contribute a matrix R to the linear
part of a layer's map. It computes the dimension of the set of solutions, and it constructs a
solution, simple or random. `Component` asks with the R that remains of the linear part when the
neurons on visible hyperplanes with one orientation have contributed. The theorem, its proof and the
dimension formulas are in docs/theory/linear_parts.md.

The matrix R has shape m × n. Three kinds of neurons contribute to it:

* *doubled* hyperplanes, with neurons of both orientations: the rows H are given, D is arbitrary;
* *pairs* of neurons with opposite rows on a hyperplane of their own: s rows G, none of them 0, and
  any P;
* *linear* neurons, which are ≥ 0 on the domain: r rows U, each bounded below there, and any X.

On R^n a linear neuron is constant and contributes nothing, so that r counts as 0 there.

**Notation.** Each symbol of the theorem has a member of `LinearPart`:

    H        available.doubled_forms     the linear parts of the doubled hyperplanes
    s        available.pairs       the number of pairs
    r        _num_linear          available.linear; 0 on R^n
    t        _num_forms           s + r
    rank H   _doubled_rank
    K        _kernel              a basis of the kernel of H, as columns
    ρ        rank                 the rank of R K
    L        _span_basis          the row space of R and H together
    Q        _bounded_in_span     the forms in L that are bounded below on the domain
    τ                             the rank of R · _line_kernel, whose columns span the lines of the
                                  domain that lie in the kernel of H

**Theorem.** A solution exists if and only if τ ≤ s and at least one of these holds: ρ < t; or
ρ ≤ s; or

    ρ = t and the span of Q has dimension ≥ r modulo the rows of H    (`_span_suffices`).

Without doubled hyperplanes and pairs this is the nonnegative column rank of the three-layer paper
(arXiv 2605.18319, Appendix C.4), on any domain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from random import Random

from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix, kernel, rank, row_basis, solve
from polyrelu.exact.vectors import add_multiple, dot, linear_combination
from polyrelu.fibers.settings import SETTINGS
from polyrelu.support.arguments import expect, expect_count
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.typing import Vector
from polyrelu.symmetry import LayerDomain

__all__ = ["AvailableNeurons", "LinearPart", "Realisation", "random_source", "realise"]


@dataclass(frozen=True, slots=True, repr=False)
class AvailableNeurons:
    """The neurons of the three kinds that may contribute to a linear part.

    These are not related to the carrier of a walk (`polyrelu.walks`), which is one neuron.

    Attributes
    ----------
    doubled_forms
        The linear parts H of the doubled hyperplanes, one per row, n columns. Each of these
        hyperplanes has neurons of both orientations.
    num_pairs
        The number s of pairs of neurons with opposite rows; each pair has a hyperplane of its own.
    num_linear
        The number r of linear neurons, which are nonnegative on the domain.

    Examples
    --------
    >>> forms = RationalMatrix.from_rows([[1, -1]])
    >>> AvailableNeurons(forms, num_pairs=0, num_linear=2)
    <AvailableNeurons, 1 doubled hyperplane, 0 pairs, 2 linear neurons>
    """

    doubled_forms: RationalMatrix
    num_pairs: int
    num_linear: int

    def __str__(self) -> str:
        return count_text(
            [
                (self.doubled_forms.nrows, "doubled hyperplane"),
                (self.num_pairs, "pair"),
                (self.num_linear, "linear neuron"),
            ]
        )

    def __repr__(self) -> str:
        return bracketed(f"AvailableNeurons, {self}")


@dataclass(frozen=True, slots=True, repr=False)
class Realisation:
    """A solution of R = D H + P G + X U.

    Attributes
    ----------
    doubled_weights
        D, the weights of the linear parts H of the doubled hyperplanes
        (`AvailableNeurons.doubled_forms`), shape (m, number of rows of H).
    pair_weights
        P, the outgoing weights of the pairs, shape (m, s).
    pair_forms
        G, the linear forms of the pairs, shape (s, n), without a row 0.
    linear_weights
        X, the outgoing weights of the linear neurons, shape (m, r).
    linear_forms
        U, the linear forms of the linear neurons, shape (r, n), every row bounded below on the
        domain.

    Examples
    --------
    >>> from polyrelu.symmetry import LayerDomain
    >>> remainder = RationalMatrix.from_rows([[1, -1]])
    >>> available = AvailableNeurons(RationalMatrix.zeros(0, 2), num_pairs=0, num_linear=2)
    >>> found = LinearPart(remainder, available, LayerDomain.orthant(2)).realisation()
    >>> found.linear_weights @ found.linear_forms == remainder
    True
    """

    doubled_weights: RationalMatrix
    pair_weights: RationalMatrix
    pair_forms: RationalMatrix
    linear_weights: RationalMatrix
    linear_forms: RationalMatrix

    def __repr__(self) -> str:
        counts = AvailableNeurons(
            self.doubled_weights.transpose(), self.pair_forms.nrows, self.linear_forms.nrows
        )
        return bracketed(f"Realisation, {counts}")


class LinearPart:
    """The question whether some neurons can contribute a linear part R on a domain.

    Parameters
    ----------
    remainder
        R, shape (m, n).
    available
        The neurons that may contribute.
    domain
        The domain of the layer, in dimension n.

    Attributes
    ----------
    remainder
        R, shape (m, n).
    domain
        The domain of the layer.
    available
        The neurons that may contribute.

    Examples
    --------
    >>> from polyrelu.symmetry import LayerDomain
    >>> nothing, orthant = RationalMatrix.zeros(0, 2), LayerDomain.orthant(2)
    >>> remainder = RationalMatrix.from_rows([[1, -1]])
    >>> parts = [LinearPart(remainder, AvailableNeurons(nothing, 0, r), orthant) for r in (0, 1, 2)]
    >>> [part.is_realisable for part in parts], parts[2].dimension
    ([False, False, True], 4)
    """

    def __init__(
        self, remainder: RationalMatrix, available: AvailableNeurons, domain: LayerDomain
    ) -> None:
        self.remainder = expect(
            remainder, RationalMatrix, "remainder", "RationalMatrix.from_rows makes one"
        )
        self.available = expect(available, AvailableNeurons, "available")
        self.domain = expect(domain, LayerDomain, "domain", "LayerDomain.of makes one")
        if {remainder.ncols, available.doubled_forms.ncols} != {domain.dimension}:
            raise DomainError(
                f"R has {remainder.ncols} columns and H has {available.doubled_forms.ncols}, "
                f"but the domain lies in R^{domain.dimension}"
            )

    def __repr__(self) -> str:
        m, n = self.remainder.shape
        return bracketed(f"LinearPart, R of shape ({m}, {n}), {self.available}")

    # -- the quantities of the theorem ----------------------------------------------------------

    @property
    def _num_forms(self) -> int:
        """t = s + r, the number of rows of G and U."""
        return self.available.num_pairs + self._num_linear

    @property
    def _num_linear(self) -> int:
        """r, the number of linear neurons that are not constant: 0 on R^n."""
        return self.available.num_linear if self.domain.bounded_dimension else 0

    @cached_property
    def _doubled_rank(self) -> int:
        """The rank of H."""
        return rank(self.available.doubled_forms) if self.available.doubled_forms.nrows else 0

    @cached_property
    def _kernel(self) -> RationalMatrix:
        """K, whose columns are a basis of the kernel of H."""
        return kernel(self.available.doubled_forms)

    @cached_property
    def rank(self) -> int:
        """The rank ρ of R modulo the linear parts H of the doubled hyperplanes."""
        return rank(self.remainder @ self._kernel)

    @cached_property
    def _span_basis(self) -> RationalMatrix:
        """A basis of L: first a basis of the rows of H, then rows of R that complete it."""
        rows = self.available.doubled_forms.over(self.remainder)
        return rows.take(rows=row_basis(rows))

    @cached_property
    def _bounded_in_span(self) -> tuple[RationalMatrix, Vector]:
        """Forms in Q that are a basis of its span, and a form in the relative interior of Q."""
        return self.domain.forms_within(self._span_basis)

    @cached_property
    def _span_suffices(self) -> bool:
        """Whether a solution with all rows of G and U in L exists, provided that τ ≤ s.

        For ρ = t this is the third condition of the theorem.
        """
        needed = self.rank - self.available.num_pairs
        if needed <= 0:
            return True
        if self._num_linear < needed:
            return False
        forms, _ = self._bounded_in_span
        return rank(forms @ self._kernel) >= needed

    # -- answers --------------------------------------------------------------------------------

    @cached_property
    def is_realisable(self) -> bool:
        """Whether the neurons can contribute R."""
        if rank(self.remainder @ self._line_kernel) > self.available.num_pairs:
            return False
        if self.rank <= self.available.num_pairs:
            return True
        return self.rank < self._num_forms or (self.rank == self._num_forms and self._span_suffices)

    @cached_property
    def _line_kernel(self) -> RationalMatrix:
        """A matrix whose columns span the lines of the domain that lie in the kernel of H.

        The rows of U vanish on these lines as well, since they are bounded below.
        """
        lines = RationalMatrix.from_integers(
            [list(line) for line in self.domain.lines], ncols=self.domain.dimension
        )
        return lines.transpose() @ kernel(self.available.doubled_forms @ lines.transpose())

    @cached_property
    def dimension(self) -> int | None:
        """The dimension of the set of all (D, P, G, X, U), or None if the set is empty.

        Raises
        ------
        DomainError
            There are doubled hyperplanes or pairs, and the domain has lines and is not R^n. The
            dimension is not worked out for this case.
        """
        if not self.is_realisable:
            return None
        has_pairs_or_doubled = self.available.num_pairs or self._doubled_rank
        if self.domain.lines and self.domain.kind != "space" and has_pairs_or_doubled:
            raise DomainError(
                "the dimension of this component is known on domains without lines and on R^n only"
            )
        strata = [size for size in self._stratum_dimensions if size is not None]
        doubled = self.available.doubled_forms.nrows - self._doubled_rank
        constant = 0 if self._num_linear else self.available.num_linear
        return max(strata) + self.remainder.nrows * (doubled + constant)

    @cached_property
    def _stratum_dimensions(self) -> tuple[int | None, int | None]:
        """The dimensions of two sets of (P, G, X, U), the *strata*; None for an empty set.

        In the first set the factor (P X) has rank below t; in the second set all rows of G and U
        are in L.
        """
        t, rho, rank_h = self._num_forms, self.rank, self._doubled_rank
        low_rank = max((size for size, _ in self._low_rank_strata), default=None)
        only_zero_pairs = self.available.num_pairs and not self._span_basis.nrows  # G has no row 0
        if not self._span_suffices or only_zero_pairs:
            return low_rank, None
        bounded = self._bounded_in_span[0].nrows if self._num_linear else 0
        forms = self.available.num_pairs * (rho + rank_h) + self._num_linear * bounded
        return low_rank, forms + self.remainder.nrows * (t - rho)

    @property
    def _span_stratum_is_larger(self) -> bool:
        """Whether the second stratum has the largest dimension."""
        low_rank, within_span = self._stratum_dimensions
        return low_rank is None or (within_span is not None and within_span >= low_rank)

    @property
    def _low_rank_strata(self) -> list[tuple[int, int]]:
        """The dimension of the factorisations with rank (P X) = p < t, and t - p, for every p."""
        m, t, rho, rank_h = self.remainder.nrows, self._num_forms, self.rank, self._doubled_rank
        free = (self.domain.bounded_dimension or self.domain.dimension) - rank_h
        ranks = range(rho, min(m, t - 1) + 1)
        return [((p - rho) * (m - p) + t * p + free * (t - p) + t * rank_h, t - p) for p in ranks]

    def realisation(self, *, seed: int | None = None) -> Realisation | None:
        """Return one solution, or a random solution if a seed is given; None if there is none."""
        return realise(self, random_source(seed))

    # -- solutions ------------------------------------------------------------------------------

    def _realising_forms(self) -> list[Vector]:
        """Return rows of G, then of U, of a solution in the stratum of largest dimension."""
        s, r = self.available.num_pairs, self._num_linear
        basis = self._line_rows_first(self._span_basis.rows()[self._doubled_rank :])
        if r and self._span_stratum_is_larger:
            bounded = self._bounded_forms(r)
            pair_rows = self._completion(bounded, basis, s)
        else:
            pair_rows = basis[:s]
            bounded = self._lifted(basis[s:], r)
        return [*self._padded(pair_rows, s), *bounded]

    def _line_rows_first(self, basis: list[Vector]) -> list[Vector]:
        """Change a basis so that its rows after the first τ vanish on the lines.

        The span modulo H remains the same.
        The first τ rows are independent on the lines in the kernel of H, so that only pairs can
        contribute them. From each of the other rows, a combination of these rows and of rows of H
        is subtracted.
        """
        lines = self._line_kernel
        if not self.domain.lines or self.domain.kind == "space" or not basis:
            return basis
        matrix = RationalMatrix.from_rows(basis)
        first = row_basis(matrix @ lines)
        others = [k for k in range(len(basis)) if k not in first]
        all_lines = RationalMatrix.from_integers(
            [list(line) for line in self.domain.lines]
        ).transpose()
        spanning = matrix.take(rows=first).over(self.available.doubled_forms)
        remaining = matrix.take(rows=others)
        weights = solve((spanning @ all_lines).transpose(), (remaining @ all_lines).transpose())
        if weights is None:
            raise ArithmeticError(
                "rows that H and others do not reach on the lines"
            )  # pragma: no cover
        return [basis[k] for k in first] + (remaining - weights.transpose() @ spanning).rows()

    def _bounded_forms(self, count: int) -> list[Vector]:
        """Return forms in Q, `count` in all, as many of them independent modulo H as possible."""
        forms, inside = self._bounded_in_span
        rows = forms.rows()
        order = [*row_basis(forms @ self._kernel), *range(len(rows))]
        chosen = [rows[k] for k in dict.fromkeys(order)][:count]
        return [*chosen, *([inside] * (count - len(chosen)))]

    def _lifted(self, rows: Sequence[Vector], count: int) -> list[Vector]:
        """Return the rows plus a multiple c w, all bounded below, then c w up to `count` forms.

        Here w is the positive form of the domain. The forms span the given rows if there are more
        forms than rows.
        """
        inside = self.domain.positive_form()
        factor = self._bounding_factor(inside, rows)
        lifted = [add_multiple(row, inside, factor) for row in rows]
        return [*lifted, *([tuple(factor * entry for entry in inside)] * (count - len(lifted)))]

    def _bounding_factor(self, inside: Vector, rows: Sequence[Vector]) -> Fraction:
        """Find a power of 2 such that each row plus this multiple of `inside` is bounded below."""
        factor = Fraction(1)
        for ray in self.domain.rays:
            slope = dot(inside, ray)
            while any(dot(row, ray) + factor * slope < 0 for row in rows):
                factor *= 2
        return factor

    def _completion(
        self, chosen: Sequence[Vector], basis: Sequence[Vector], count: int
    ) -> list[Vector]:
        """Choose at most `count` rows of a basis, independent of the chosen rows modulo H."""
        rows = RationalMatrix.from_rows([*chosen, *basis], ncols=self.domain.dimension)
        independent = row_basis(rows @ self._kernel)
        return [basis[k - len(chosen)] for k in independent if k >= len(chosen)][:count]

    def _padded(self, rows: list[Vector], count: int) -> list[Vector]:
        """Return the rows, followed by unit vectors for spare pairs, `count` rows in all."""
        unit = (Fraction(1), *((Fraction(),) * (self.domain.dimension - 1)))
        return [*rows, *([unit] * (count - len(rows)))]

    def _randomised(self, forms: list[Vector], rng: Random) -> list[Vector]:
        """Return random forms of the stratum of largest dimension; the given ones if these fail."""
        candidates = (
            self._random_forms_in_span(forms, rng)
            if self._span_stratum_is_larger
            else self._random_wider_forms(max(self._low_rank_strata)[1], rng)
        )
        no_zero_pair = all(any(row) for row in candidates[: self.available.num_pairs])
        return candidates if self._are_realising(candidates) and no_zero_pair else forms

    def _random_forms_in_span(self, forms: list[Vector], rng: Random) -> list[Vector]:
        """Return random combinations of the forms and of rows of H.

        Rows of U are combined with nonnegative weights, so they stay bounded below.
        """
        s = self.available.num_pairs
        spanning, linear = [*forms, *self.available.doubled_forms.rows()], forms[s:]
        pairs = [
            linear_combination(spanning, _random_weights(rng, len(spanning), k, -8))
            for k in range(s)
        ]
        return [
            *pairs,
            *(
                linear_combination(linear, _random_weights(rng, len(linear), k, 0))
                for k in range(len(linear))
            ),
        ]

    def _random_wider_forms(self, count: int, rng: Random) -> list[Vector]:
        """Return random forms in the span of L and of `count` other random forms."""
        size = self.domain.dimension
        inside = self.domain.positive_form()
        extra = [self._random_direction(inside, k, rng) for k in range(count)]
        rows = self._span_basis.rows()
        spanning = [*(self._line_rows_first(rows) if self._doubled_rank == 0 else rows), *extra]
        forms = []
        for k in range(self._num_forms):
            form = linear_combination(spanning, [_random_number(rng) for _ in spanning])
            if k >= self.available.num_pairs:
                form = self._raised(form, inside)
            forms.append(form or (Fraction(),) * size)
        return forms

    def _random_direction(self, inside: Vector, number: int, rng: Random) -> Vector:
        """Return a random form, which is bounded below unless there are pairs only."""
        if not self._num_linear:
            return tuple(_random_number(rng) for _ in inside)
        return _perturbed(inside, rng, self.domain) if number or not any(inside) else inside

    def _raised(self, form: Vector, inside: Vector) -> Vector:
        """Add a multiple of `inside` to a form that makes it bounded below, if there is one."""
        factor = Fraction(1)
        for _ in range(SETTINGS.max_adjustments):
            if self.domain.allows(add_multiple(form, inside, factor)):
                # with the factor itself the sum is 0 if the form is -inside
                return add_multiple(form, inside, factor * Fraction(3, 2))
            factor *= 2
        return form

    def _are_realising(self, forms: Sequence[Vector]) -> bool:
        """Return whether these forms occur in a solution as the rows of G and U."""
        matrix = RationalMatrix.from_rows(forms, ncols=self.domain.dimension)
        return self._weights_for(matrix) is not None and all(
            map(self.domain.allows, forms[self.available.num_pairs :])
        )

    def _weights_for(self, forms: RationalMatrix) -> RationalMatrix | None:
        """Solve (P X) (G; U) K = R K for (P X), given the forms (G; U); None if impossible."""
        transposed = solve(
            (forms @ self._kernel).transpose(), (self.remainder @ self._kernel).transpose()
        )
        return None if transposed is None else transposed.transpose()

    def _realisation_with(self, forms: list[Vector], rng: Random | None) -> Realisation:
        """Return a solution with these forms, and with random weights if `rng` is given."""
        n, s = self.domain.dimension, self.available.num_pairs
        matrix = RationalMatrix.from_rows(forms, ncols=n)
        weights = self._weights_for(matrix)
        if weights is None:
            raise ArithmeticError(
                "the chosen forms do not make the linear part"
            )  # pragma: no cover
        if rng is not None:
            weights = weights + _random_left_kernel(matrix @ self._kernel, weights.nrows, rng)
        on_doubled = self._doubled_weights(self.remainder - weights @ matrix, rng)
        constant = (
            self.available.num_linear - self._num_linear
        )  # on R^n: constants with any weights
        numbers = [
            [Fraction(0) if rng is None else _random_number(rng) for _ in range(constant)]
        ] * weights.nrows
        return Realisation(
            on_doubled,
            weights.take(columns=range(s)),
            matrix.take(rows=range(s)),
            weights.take(columns=range(s, matrix.nrows)).beside(
                RationalMatrix.from_rows(numbers, ncols=constant)
            ),
            matrix.take(rows=range(s, matrix.nrows)).over(RationalMatrix.zeros(constant, n)),
        )

    def _doubled_weights(self, remaining: RationalMatrix, rng: Random | None) -> RationalMatrix:
        """Return the matrix D with D H = R - P G - X U, which is `remaining`."""
        transposed = solve(self.available.doubled_forms.transpose(), remaining.transpose())
        if transposed is None:
            raise ArithmeticError(
                "what is left is not in the span of the doubled hyperplanes"
            )  # pragma: no cover
        weights = transposed.transpose()
        if rng is not None:
            weights = weights + _random_left_kernel(
                self.available.doubled_forms, remaining.nrows, rng
            )
        return weights


def realise(part: LinearPart, rng: Random | None) -> Realisation | None:
    """Return a solution of a linear part, drawn from a source of random numbers if one is given."""
    if not part.is_realisable:
        return None
    forms = part._realising_forms()
    if rng is not None:
        forms = part._randomised(forms, rng)
    return part._realisation_with(forms, rng)


def random_source(seed: int | None) -> Random | None:
    """Return the source of random numbers for a seed, None for none."""
    return None if seed is None else Random(expect_count(seed, "seed"))


def _perturbed(form: Vector, rng: Random, domain: LayerDomain) -> Vector:
    """Move a form in a random direction that is 0 on the lines, while it is bounded below."""
    lines = RationalMatrix.from_integers(
        [list(line) for line in domain.lines], ncols=domain.dimension
    )
    directions = kernel(lines).transpose().rows()
    if not directions:
        return form
    direction = linear_combination(directions, [_random_number(rng) for _ in directions])
    for _ in range(SETTINGS.max_adjustments):
        moved = add_multiple(form, direction, Fraction(1))
        if domain.allows(moved):
            return moved
        direction = tuple(entry / 4 for entry in direction)
    return form


def _random_number(rng: Random) -> Fraction:
    """Return a random number that is not 0, so that random members are in general position."""
    return Fraction(rng.choice((-1, 1)) * rng.randint(1, 16), 8)


def _random_weights(rng: Random, count: int, main: int, low: int) -> Vector:
    """Return random weights between low/8 and 1/2; number `main` is between 1/2 and 2."""
    return tuple(
        Fraction(rng.randint(4, 16) if k == main else rng.randint(low, 4), 8) for k in range(count)
    )


def _random_left_kernel(matrix: RationalMatrix, rows: int, rng: Random) -> RationalMatrix:
    """Return a random matrix Y with the given number of rows and Y · matrix = 0."""
    basis = kernel(matrix.transpose()).transpose()
    numbers = [[_random_number(rng) for _ in range(basis.nrows)] for _ in range(rows)]
    return RationalMatrix.from_rows(numbers, ncols=basis.nrows) @ basis
