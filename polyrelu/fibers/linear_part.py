"""Which neurons can contribute a given linear part: R = D H + P G + X U.

Here is the exact decision whether some numbers of neurons can contribute a matrix R to the linear
part of a layer's map, with the dimension of the set of solutions, one solution and random
solutions. `Component` uses it: R is the linear part that neurons on visible hyperplanes with one
orientation leave over. The theorem, its proof and the dimension formulas stand in
docs/theory/linear_parts.md, and the names of the private members follow its notation.

The matrix R has shape m × n. Three kinds of neurons contribute to it:

* *doubled* hyperplanes, with neurons of both orientations: the rows H are given, D is arbitrary;
* *pairs* of neurons with opposite rows on a hyperplane of their own: s rows G, none of them 0, and
  any P;
* *linear* neurons, which are ≥ 0 on the domain: r rows U, each bounded below there, and any X.

Let K be a basis of the kernel of H, ρ = rank(R K), and t = s + r (t = s on R^n, where linear
neurons are constant). L is the row space of R and H together, and Q is the set of the forms in L
that are bounded below on the domain. τ is the rank of R on those lines of the domain that lie in
the kernel of H. A solution exists if and only if τ ≤ s and: ρ < t, or ρ ≤ s, or

    ρ = t and the span of Q has dimension ≥ r modulo the rows of H.
    (*)

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
from polyrelu.support.arguments import expect, expect_integer
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.typing import Vector
from polyrelu.symmetry import LayerDomain

__all__ = ["Carriers", "LinearPart", "Realisation", "random_source", "realise"]

#: Maximum number of steps, doubled or quartered each time, that try to make a form bounded below.
_MAX_ADJUSTMENTS = 64


@dataclass(frozen=True, slots=True, repr=False)
class Carriers:
    """The neurons that may contribute to a linear part.

    Attributes
    ----------
    doubled
        The linear parts H of the doubled hyperplanes, one per row, n columns.
    pairs
        The number s of pairs of neurons on a hyperplane of their own.
    linear
        The number r of linear neurons.

    Examples
    --------
    >>> Carriers(RationalMatrix.from_rows([[1, -1]]), pairs=0, linear=2).doubled.shape
    (1, 2)
    """

    doubled: RationalMatrix
    pairs: int
    linear: int

    def __str__(self) -> str:
        return count_text(
            [
                (self.doubled.nrows, "doubled hyperplane"),
                (self.pairs, "pair"),
                (self.linear, "linear neuron"),
            ]
        )

    def __repr__(self) -> str:
        return bracketed(f"Carriers, {self}")


@dataclass(frozen=True, slots=True, repr=False)
class Realisation:
    """A solution of R = D H + P G + X U.

    Attributes
    ----------
    doubled
        D, shape (m, |H|).
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
    >>> carriers = Carriers(RationalMatrix.zeros(0, 2), pairs=0, linear=2)
    >>> found = LinearPart(remainder, carriers, LayerDomain.orthant(2)).realisation()
    >>> found.linear_weights @ found.linear_forms == remainder
    True
    """

    doubled: RationalMatrix
    pair_weights: RationalMatrix
    pair_forms: RationalMatrix
    linear_weights: RationalMatrix
    linear_forms: RationalMatrix

    def __repr__(self) -> str:
        counts = Carriers(self.doubled.transpose(), self.pair_forms.nrows, self.linear_forms.nrows)
        return bracketed(f"Realisation, {counts}")


class LinearPart:
    """The question whether some neurons can contribute a linear part R on a domain.

    Parameters
    ----------
    remainder
        R, shape (m, n).
    carriers
        The neurons that may contribute.
    domain
        The domain of the layer, in dimension n.

    Attributes
    ----------
    remainder
        R, shape (m, n).
    domain
        The domain of the layer.
    carriers
        The neurons that may contribute.

    Examples
    --------
    >>> from polyrelu.symmetry import LayerDomain
    >>> nothing, orthant = RationalMatrix.zeros(0, 2), LayerDomain.orthant(2)
    >>> remainder = RationalMatrix.from_rows([[1, -1]])
    >>> parts = [LinearPart(remainder, Carriers(nothing, 0, r), orthant) for r in (0, 1, 2)]
    >>> [part.is_realisable for part in parts], parts[2].dimension
    ([False, False, True], 4)
    """

    def __init__(self, remainder: RationalMatrix, carriers: Carriers, domain: LayerDomain) -> None:
        self.remainder = expect(
            remainder, RationalMatrix, "remainder", "RationalMatrix.from_rows makes one"
        )
        self.carriers = expect(carriers, Carriers, "carriers")
        self.domain = expect(domain, LayerDomain, "domain", "LayerDomain.of makes one")
        if {remainder.ncols, carriers.doubled.ncols} != {domain.dimension}:
            raise DomainError(
                f"R has {remainder.ncols} columns and H has {carriers.doubled.ncols}, but the "
                f"domain lies in R^{domain.dimension}"
            )

    def __repr__(self) -> str:
        m, n = self.remainder.shape
        return bracketed(f"LinearPart, R of shape ({m}, {n}), {self.carriers}")

    # -- the quantities of the theorem ----------------------------------------------------------

    @property
    def _num_forms(self) -> int:
        """t, the number of rows of G and of U that are not constrained to be 0."""
        return self.carriers.pairs + self._num_linear

    @property
    def _num_linear(self) -> int:
        """r, or 0 on R^n, where linear neurons are constant."""
        return self.carriers.linear if self.domain.bounded_dimension else 0

    @cached_property
    def _doubled_rank(self) -> int:
        """The rank of H."""
        return rank(self.carriers.doubled) if self.carriers.doubled.nrows else 0

    @cached_property
    def _kernel(self) -> RationalMatrix:
        """K, whose columns are a basis of the kernel of H."""
        return kernel(self.carriers.doubled)

    @cached_property
    def rank(self) -> int:
        """The rank ρ of R modulo the rows of the doubled hyperplanes."""
        return rank(self.remainder @ self._kernel)

    @cached_property
    def _span_basis(self) -> RationalMatrix:
        """A basis of L: first a basis of the rows of H, then rows of R that complete it."""
        rows = self.carriers.doubled.over(self.remainder)
        return rows.take(rows=row_basis(rows))

    @cached_property
    def _bounded_in_span(self) -> tuple[RationalMatrix, Vector]:
        """A basis of the span of Q, of forms in Q, and a form in the relative interior of Q."""
        return self.domain.forms_within(self._span_basis)

    @cached_property
    def _span_suffices(self) -> bool:
        """Whether a solution exists for which G and U have their rows in L, apart from lines."""
        needed = self.rank - self.carriers.pairs
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
        if rank(self.remainder @ self._line_kernel) > self.carriers.pairs:
            return False
        if self.rank <= self.carriers.pairs:
            return True
        return self.rank < self._num_forms or (self.rank == self._num_forms and self._span_suffices)

    @cached_property
    def _line_kernel(self) -> RationalMatrix:
        """A matrix whose columns span the lines of the domain on which H vanishes.

        The rows of U vanish on these directions as well.
        """
        lines = RationalMatrix.from_integers(
            [list(line) for line in self.domain.lines], ncols=self.domain.dimension
        )
        return lines.transpose() @ kernel(self.carriers.doubled @ lines.transpose())

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
        has_pairs_or_doubled = self.carriers.pairs or self._doubled_rank
        if self.domain.lines and self.domain.kind != "space" and has_pairs_or_doubled:
            raise DomainError(
                "the dimension of this component is known on domains without lines and on R^n only"
            )
        strata = [size for size in self._stratum_dimensions if size is not None]
        doubled = self.carriers.doubled.nrows - self._doubled_rank
        constant = 0 if self._num_linear else self.carriers.linear
        return max(strata) + self.remainder.nrows * (doubled + constant)

    @cached_property
    def _stratum_dimensions(self) -> tuple[int | None, int | None]:
        """The dimensions of two sets of (P, G, X, U), None for an empty set.

        In the first set the factor (P X) has rank below t; in the second set G and U have rows in
        L.
        """
        t, rho, own = self._num_forms, self.rank, self._doubled_rank
        low_rank = max((size for size, _ in self._low_rank_strata), default=None)
        only_zero_pairs = self.carriers.pairs and not self._span_basis.nrows  # G has no row 0
        if not self._span_suffices or only_zero_pairs:
            return low_rank, None
        bounded = self._bounded_in_span[0].nrows if self._num_linear else 0
        forms = self.carriers.pairs * (rho + own) + self._num_linear * bounded
        return low_rank, forms + self.remainder.nrows * (t - rho)

    @property
    def _span_stratum_is_larger(self) -> bool:
        """Whether the solutions with G and U in L have the largest dimension."""
        low_rank, within_span = self._stratum_dimensions
        return low_rank is None or (within_span is not None and within_span >= low_rank)

    @property
    def _low_rank_strata(self) -> list[tuple[int, int]]:
        """The dimension of the factorisations with rank (P X) = p < t, and t - p, for every p."""
        m, t, rho, own = self.remainder.nrows, self._num_forms, self.rank, self._doubled_rank
        free = (self.domain.bounded_dimension or self.domain.dimension) - own
        ranks = range(rho, min(m, t - 1) + 1)
        return [((p - rho) * (m - p) + t * p + free * (t - p) + t * own, t - p) for p in ranks]

    def realisation(self, *, seed: int | None = None) -> Realisation | None:
        """Return one solution, or a random solution if a seed is given; None if there is none."""
        return realise(self, random_source(seed))

    # -- solutions ------------------------------------------------------------------------------

    def _realising_forms(self) -> list[Vector]:
        """Rows of G, then of U, of a solution in the stratum of the largest dimension."""
        s, r = self.carriers.pairs, self._num_linear
        basis = self._line_rows_first(self._span_basis.rows()[self._doubled_rank :])
        if r and self._span_stratum_is_larger:
            bounded = self._bounded_forms(r)
            rest = self._completion(bounded, basis, s)
        else:
            rest = basis[:s]
            bounded = self._lifted(basis[s:], r)
        return [*self._padded(rest, s), *bounded]

    def _line_rows_first(self, basis: list[Vector]) -> list[Vector]:
        """Reorder and change a basis such that the rows after the first τ vanish on the lines.

        The first τ rows are independent on the lines in the kernel of H, so only pairs can
        contribute them. Combinations of them and of rows of H are subtracted from the other rows.
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
        spanning = matrix.take(rows=first).over(self.carriers.doubled)
        rest = matrix.take(rows=others)
        weights = solve((spanning @ all_lines).transpose(), (rest @ all_lines).transpose())
        if weights is None:
            raise ArithmeticError(
                "rows that H and others do not reach on the lines"
            )  # pragma: no cover
        return [basis[k] for k in first] + (rest - weights.transpose() @ spanning).rows()

    def _bounded_forms(self, count: int) -> list[Vector]:
        """The given number of forms in Q, as many of them independent modulo H as possible."""
        forms, inside = self._bounded_in_span
        rows = forms.rows()
        order = [*row_basis(forms @ self._kernel), *range(len(rows))]
        chosen = [rows[k] for k in dict.fromkeys(order)][:count]
        return [*chosen, *([inside] * (count - len(chosen)))]

    def _lifted(self, rows: Sequence[Vector], count: int) -> list[Vector]:
        """The rows plus a multiple c w that makes them bounded below, then c w up to `count` forms.

        Here w is the positive form of the domain. The forms span the given rows if there are more
        forms than rows.
        """
        inside = self.domain.positive_form()
        factor = self._bounding_factor(inside, rows)
        lifted = [add_multiple(row, inside, factor) for row in rows]
        return [*lifted, *([tuple(factor * entry for entry in inside)] * (count - len(lifted)))]

    def _bounding_factor(self, inside: Vector, rows: Sequence[Vector]) -> Fraction:
        """A power of 2 such that every row plus this multiple of `inside` is bounded below."""
        factor = Fraction(1)
        for ray in self.domain.rays:
            slope = dot(inside, ray)
            while any(dot(row, ray) + factor * slope < 0 for row in rows):
                factor *= 2
        return factor

    def _completion(
        self, chosen: Sequence[Vector], basis: Sequence[Vector], count: int
    ) -> list[Vector]:
        """At most `count` rows of the basis that are independent of the chosen rows modulo H."""
        rows = RationalMatrix.from_rows([*chosen, *basis], ncols=self.domain.dimension)
        independent = row_basis(rows @ self._kernel)
        return [basis[k - len(chosen)] for k in independent if k >= len(chosen)][:count]

    def _padded(self, rows: list[Vector], count: int) -> list[Vector]:
        """The rows and unit vectors, `count` in all, since spare pairs may lie anywhere."""
        unit = (Fraction(1), *((Fraction(),) * (self.domain.dimension - 1)))
        return [*rows, *([unit] * (count - len(rows)))]

    def _randomised(self, forms: list[Vector], rng: Random) -> list[Vector]:
        """Random forms of the larger stratum, or the given forms if the random ones fail."""
        candidates = (
            self._random_forms_in_span(forms, rng)
            if self._span_stratum_is_larger
            else self._random_wider_forms(max(self._low_rank_strata)[1], rng)
        )
        no_zero_pair = all(any(row) for row in candidates[: self.carriers.pairs])
        return candidates if self._are_realising(candidates) and no_zero_pair else forms

    def _random_forms_in_span(self, forms: list[Vector], rng: Random) -> list[Vector]:
        """Random combinations of the forms and of rows of H.

        Rows of U are combined with nonnegative weights, so they stay bounded below.
        """
        s = self.carriers.pairs
        everything, linear = [*forms, *self.carriers.doubled.rows()], forms[s:]
        pairs = [
            linear_combination(everything, _random_weights(rng, len(everything), k, -8))
            for k in range(s)
        ]
        return [
            *pairs,
            *(
                linear_combination(linear, _random_weights(rng, len(linear), k, 0))
                for k in range(len(linear))
            ),
        ]

    def _random_wider_forms(self, more: int, rng: Random) -> list[Vector]:
        """Random forms whose span contains L and `more` further directions."""
        size = self.domain.dimension
        inside = self.domain.positive_form()
        extra = [self._random_direction(inside, k, rng) for k in range(more)]
        rows = self._span_basis.rows()
        spanning = [*(self._line_rows_first(rows) if self._doubled_rank == 0 else rows), *extra]
        forms = []
        for k in range(self._num_forms):
            form = linear_combination(spanning, [_random_number(rng) for _ in spanning])
            if k >= self.carriers.pairs:
                form = self._raised(form, inside)
            forms.append(form or (Fraction(),) * size)
        return forms

    def _random_direction(self, inside: Vector, number: int, rng: Random) -> Vector:
        """A random form that is bounded below; any form if there are pairs only."""
        if not self._num_linear:
            return tuple(_random_number(rng) for _ in inside)
        return _perturbed(inside, rng, self.domain) if number or not any(inside) else inside

    def _raised(self, form: Vector, inside: Vector) -> Vector:
        """The form plus a multiple of `inside` that makes it bounded below, if there is one."""
        factor = Fraction(1)
        for _ in range(_MAX_ADJUSTMENTS):
            if self.domain.allows(add_multiple(form, inside, factor)):
                # with the factor itself the sum is 0 if the form is -inside
                return add_multiple(form, inside, factor * Fraction(3, 2))
            factor *= 2
        return form

    def _are_realising(self, forms: Sequence[Vector]) -> bool:
        """Whether these forms occur in a solution as the rows of G and U."""
        matrix = RationalMatrix.from_rows(forms, ncols=self.domain.dimension)
        return self._weights_for(matrix) is not None and all(
            map(self.domain.allows, forms[self.carriers.pairs :])
        )

    def _weights_for(self, forms: RationalMatrix) -> RationalMatrix | None:
        """The factor (P X) with (P X) (G; U) K = R K for given forms (G; U), if there is one."""
        found = solve(
            (forms @ self._kernel).transpose(), (self.remainder @ self._kernel).transpose()
        )
        return None if found is None else found.transpose()

    def _realisation_with(self, forms: list[Vector], rng: Random | None) -> Realisation:
        """A solution with these forms; random weights among all possible ones if `rng` is given."""
        n, s = self.domain.dimension, self.carriers.pairs
        matrix = RationalMatrix.from_rows(forms, ncols=n)
        weights = self._weights_for(matrix)
        if weights is None:
            raise ArithmeticError(
                "the chosen forms do not make the linear part"
            )  # pragma: no cover
        if rng is not None:
            weights = weights + _random_left_kernel(matrix @ self._kernel, weights.nrows, rng)
        on_doubled = self._doubled_weights(self.remainder - weights @ matrix, rng)
        constant = self.carriers.linear - self._num_linear  # on R^n: constants with any weights
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

    def _doubled_weights(self, rest: RationalMatrix, rng: Random | None) -> RationalMatrix:
        """The matrix D with D H equal to what pairs and linear neurons leave of R."""
        found = solve(self.carriers.doubled.transpose(), rest.transpose())
        if found is None:
            raise ArithmeticError(
                "what is left is not in the span of the doubled hyperplanes"
            )  # pragma: no cover
        weights = found.transpose()
        if rng is not None:
            weights = weights + _random_left_kernel(self.carriers.doubled, rest.nrows, rng)
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
    return None if seed is None else Random(expect_integer(seed, "seed"))


def _perturbed(form: Vector, rng: Random, domain: LayerDomain) -> Vector:
    """A nearby form that is bounded below, in a random direction that vanishes on the lines."""
    lines = RationalMatrix.from_integers(
        [list(line) for line in domain.lines], ncols=domain.dimension
    )
    directions = kernel(lines).transpose().rows()
    if not directions:
        return form
    direction = linear_combination(directions, [_random_number(rng) for _ in directions])
    for _ in range(_MAX_ADJUSTMENTS):
        moved = add_multiple(form, direction, Fraction(1))
        if domain.allows(moved):
            return moved
        direction = tuple(entry / 4 for entry in direction)
    return form


def _random_number(rng: Random) -> Fraction:
    """A random number that is not 0, so that random members are in general position."""
    return Fraction(rng.choice((-1, 1)) * rng.randint(1, 16), 8)


def _random_weights(rng: Random, count: int, own: int, low: int) -> Vector:
    """Random weights between low/8 and 1/2; weight number `own` is between 1/2 and 2."""
    return tuple(
        Fraction(rng.randint(4, 16) if k == own else rng.randint(low, 4), 8) for k in range(count)
    )


def _random_left_kernel(matrix: RationalMatrix, rows: int, rng: Random) -> RationalMatrix:
    """A random matrix Y with the given number of rows and Y · matrix = 0."""
    basis = kernel(matrix.transpose()).transpose()
    numbers = [[_random_number(rng) for _ in range(basis.nrows)] for _ in range(rows)]
    return RationalMatrix.from_rows(numbers, ncols=basis.nrows) @ basis
