"""Who carries a linear part: R = D H + P G + X U, decided exactly, with its dimension, one solution and random ones.

R (m × n) is what the bends of a one-hidden-layer map leave over. It can be carried by

* *doubled* hyperplanes, with neurons of both orientations: rows H (given), any D;
* *pairs*: two neurons v and -v on a hyperplane of their own: s rows G, any G and P;
* *linear* neurons, which are ≥ 0 on the domain: r rows U, each bounded below there; any X.

Without the first two this is the nonnegative column rank of three-layer symmetries, Appendix C.4, on any domain. Let K
be a basis of the kernel of H, ρ = rank(R K), t = s + r (on R^n, where linear neurons are constant: t = s and U = 0), L
the row space of R and H together, Q the forms in L that are bounded below on the domain, and σ the rank of R on those
lines of the domain that lie in the kernel of H. R can be carried iff σ ≤ s and: ρ < t, or ρ ≤ s, or

    ρ = t and the span of Q has dimension ≥ r modulo the rows of H.                                             (*)

*Proof.* Modulo H the rows G and U span the rows of R, so ρ ≤ t. If ρ ≤ s, pairs suffice. If s < ρ < t: let G be s rows
of R, B the rest of a basis of its rows modulo H, so that R = P G + Y B + D H, and w a form inside the cone of the forms
that are bounded below; U = (B_1 + c w, …, c w) with c large, X = (Y, -Σ Y). If ρ = t, G and U are a basis of the rows
of R modulo H, so U lies in L and in Q, independent modulo H; conversely r such forms are completed by s rows of R. On a
domain with lines U vanishes there, so G alone makes R on the lines in the kernel of H: σ ≤ s. If so, let G take σ rows
of R that are independent there; the other rows of a basis, less combinations of these and of H, vanish on the lines,
and w is a form inside the cone of those that do; then as before. ∎
On the orthant, for s = 0 and H empty, (*) says that the columns of R that are not 0 lie strictly on one side of a
hyperplane: that their cone is pointed (Proposition 29 there).

*Dimension* of the set of (D, P, G, X, U): D is determined up to m (|H| - rank H) by the rest, a factorisation Y Z = R K
with Z = (G; U) K, and each row of Z has rank H further dimensions. The pairs (Y, Z) with rank Y = p < t have dimension
(p - ρ)(m - p) + t p + n' (t - p), n' the columns of K; positivity cuts nothing off, since Y may be chosen with a
positive vector in its kernel. Those with the rows of Z in L: s dim L + r dim Q + m (t - ρ) in all, if there are such
that still make R: if ρ ≤ s, or r ≥ ρ - s and the span of Q has dimension ≥ ρ - s modulo H; not if s > 0 and L = 0, for
the rows of G are not 0. The largest of these numbers
is the dimension; not worked out for pairs and doubled hyperplanes on domains with lines other than R^n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from random import Random

from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix, kernel, rank, row_basis, solve
from polyrelu.support.typing import Vector
from polyrelu.symmetry import LayerDomain

__all__ = ["Carriers", "LinearPart", "Realisation"]


@dataclass(frozen=True, slots=True)
class Carriers:
    """What may carry a linear part.

    Attributes
    ----------
    doubled : the linear parts H of the doubled hyperplanes, one per row, n columns.
    pairs, linear : s and r.
    """

    doubled: RationalMatrix
    pairs: int
    linear: int


@dataclass(frozen=True, slots=True)
class Realisation:
    """R = D H + P G + X U.

    Attributes
    ----------
    doubled : D, m × |H|.
    pair_heads, pair_forms : P, m × s, and G, s × n, no row 0.
    linear_heads, linear_forms : X, m × r, and U, r × n, every row bounded below on the domain.
    """

    doubled: RationalMatrix
    pair_heads: RationalMatrix
    pair_forms: RationalMatrix
    linear_heads: RationalMatrix
    linear_forms: RationalMatrix


class LinearPart:
    """The question whether some carriers can make a linear part R on a domain.

    >>> from polyrelu.symmetry import LayerDomain
    >>> nobody = RationalMatrix.from_rows([], ncols=2)
    >>> part = RationalMatrix.from_rows([[1, -1]])
    >>> [LinearPart(part, Carriers(nobody, 0, r), LayerDomain.orthant(2)).is_realisable for r in (0, 1, 2)]
    [False, False, True]
    >>> LinearPart(part, Carriers(nobody, 0, 2), LayerDomain.orthant(2)).dimension
    4
    """

    def __init__(self, remainder: RationalMatrix, carriers: Carriers, domain: LayerDomain) -> None:
        self.remainder, self.domain, self.carriers = remainder, domain, carriers

    # -- the quantities of the theorem ----------------------------------------------------------------------------

    @property
    def _rows(self) -> int:
        return self.carriers.pairs + self._useful

    @property
    def _useful(self) -> int:
        """r, but 0 where linear neurons are constant."""
        return self.carriers.linear if self.domain.bounded_dimension else 0

    @cached_property
    def _own(self) -> int:
        """The rank of H."""
        return rank(self.carriers.doubled) if self.carriers.doubled.nrows else 0

    @cached_property
    def _kernel(self) -> RationalMatrix:
        return kernel(self.carriers.doubled)

    @cached_property
    def rank(self) -> int:
        """ρ, the rank that is left modulo the doubled hyperplanes."""
        return rank(self.remainder @ self._kernel)

    @cached_property
    def _span(self) -> RationalMatrix:
        """A basis of L: of the rows of H, then of R modulo them."""
        whole = self.carriers.doubled.over(self.remainder)
        return whole.take(rows=row_basis(whole))

    @cached_property
    def _bounded(self) -> tuple[RationalMatrix, Vector]:
        """A basis of the span of Q out of Q, and a form of its relative interior."""
        return self.domain.forms_within(self._span)

    @cached_property
    def _enough(self) -> bool:
        """Whether U and G can be taken from Q and L and still make R: (*) or ρ < t."""
        needed = self.rank - self.carriers.pairs
        if needed <= 0:
            return True
        if self._useful < needed:
            return False
        forms, _ = self._bounded
        return rank(forms @ self._kernel) >= needed

    # -- answers --------------------------------------------------------------------------------------------------

    @cached_property
    def is_realisable(self) -> bool:
        """Whether R can be carried."""
        if rank(self.remainder @ self._line_kernel) > self.carriers.pairs:
            return False
        if self.rank <= self.carriers.pairs:
            return True
        return self.rank < self._rows or (self.rank == self._rows and self._enough)

    @cached_property
    def _line_kernel(self) -> RationalMatrix:
        """The directions in the lines of the domain that H does not see: nor does U."""
        lines = RationalMatrix.from_integers(
            [list(line) for line in self.domain.lines], ncols=self.domain.dimension
        )
        return lines.transpose() @ kernel(self.carriers.doubled @ lines.transpose())

    @cached_property
    def dimension(self) -> int | None:
        """The dimension of the set of all (D, P, G, X, U), or None if there are none.

        Raises
        ------
        DomainError : doubled hyperplanes or pairs on a domain with lines that is not R^n: not worked out.
        """
        if not self.is_realisable:
            return None
        if self.domain.lines and self.domain.kind != "space" and (self.carriers.pairs or self._own):
            raise DomainError(
                "the dimension of this component is known on domains without lines and on R^n only"
            )
        strata = [size for size in self._strata if size is not None]
        doubled = self.carriers.doubled.nrows - self._own
        constant = 0 if self._useful else self.carriers.linear
        return max(strata) + self.remainder.nrows * (doubled + constant)

    @cached_property
    def _strata(self) -> tuple[int | None, int | None]:
        """The dimensions of the set of (P, G, X, U): of the factors of smaller rank, and of those with G, U in L."""
        t, rho, own = self._rows, self.rank, self._own
        smaller = max((size for size, _ in self._by_rank), default=None)
        if not self._enough or (self.carriers.pairs and not self._span.nrows):  # G has no row 0
            return smaller, None
        bounded = self._bounded[0].nrows if self._useful else 0
        return smaller, self.carriers.pairs * (
            rho + own
        ) + self._useful * bounded + self.remainder.nrows * (t - rho)

    @property
    def _is_within(self) -> bool:
        """Whether those with G and U in L are the larger set."""
        smaller, within = self._strata
        return smaller is None or (within is not None and within >= smaller)

    @property
    def _by_rank(self) -> list[tuple[int, int]]:
        """The dimension of the factorisations with rank Y = p < t, and t - p, for every p."""
        m, t, rho, own = self.remainder.nrows, self._rows, self.rank, self._own
        free = (self.domain.bounded_dimension or self.domain.dimension) - own
        ranks = range(rho, min(m, t - 1) + 1)
        return [((p - rho) * (m - p) + t * p + free * (t - p) + t * own, t - p) for p in ranks]

    def realisation(self, rng: Random | None = None) -> Realisation | None:
        """One solution, or a random one; None if there is none."""
        if not self.is_realisable:
            return None
        forms = self._forms()
        if rng is not None:
            forms = self._mixed(forms, rng)
        return self._solved(forms, rng)

    # -- solutions ------------------------------------------------------------------------------------------------

    def _forms(self) -> list[Vector]:
        """Rows G, then U, that can make R; of the larger stratum."""
        s, r = self.carriers.pairs, self._useful
        basis = self._line_rows_first(self._span.rows()[self._own :])
        if r and self._is_within:
            bounded = self._bounded_forms(r)
            rest = self._completing(bounded, basis, s)
        else:
            rest = basis[:s]
            bounded = self._lifted(basis[s:], r)
        return [*self._filled(rest, s), *bounded]

    def _line_rows_first(self, basis: list[Vector]) -> list[Vector]:
        """The basis with those rows first that only pairs can carry, the others made to vanish on the lines."""
        lines = self._line_kernel
        if not self.domain.lines or self.domain.kind == "space" or not basis:
            return basis
        matrix = RationalMatrix.from_rows(basis)
        first = row_basis(matrix @ lines)
        others = [k for k in range(len(basis)) if k not in first]
        all_lines = RationalMatrix.from_integers(
            [list(line) for line in self.domain.lines]
        ).transpose()
        seen = matrix.take(rows=first).over(self.carriers.doubled)
        rest = matrix.take(rows=others)
        weights = solve((seen @ all_lines).transpose(), (rest @ all_lines).transpose())
        if weights is None:
            raise ArithmeticError(
                "rows that H and others do not reach on the lines"
            )  # pragma: no cover
        return [basis[k] for k in first] + (rest - weights.transpose() @ seen).rows()

    def _bounded_forms(self, count: int) -> list[Vector]:
        """So many forms out of Q, as independent as they can be, modulo H first."""
        forms, inside = self._bounded
        rows = forms.rows()
        order = [*row_basis(forms @ self._kernel), *range(len(rows))]
        found = [rows[k] for k in dict.fromkeys(order)][:count]
        return [*found, *([inside] * (count - len(found)))]

    def _lifted(self, rows: Sequence[Vector], count: int) -> list[Vector]:
        """(B_1 + c w, …, c w, w, …): forms that are bounded below and span the given ones."""
        inside = self.domain.positive_form()
        factor = self._enough_of(inside, rows)
        lifted = [_sum(row, inside, factor) for row in rows]
        return [*lifted, *([tuple(factor * entry for entry in inside)] * (count - len(lifted)))]

    def _enough_of(self, inside: Vector, rows: Sequence[Vector]) -> Fraction:
        """A power of 2, so many times `inside` more and all rows are bounded below."""
        factor = Fraction(1)
        for ray in self.domain.rays:
            slope = _dot(inside, ray)
            while any(_dot(row, ray) + factor * slope < 0 for row in rows):
                factor *= 2
        return factor

    def _completing(
        self, chosen: Sequence[Vector], basis: Sequence[Vector], count: int
    ) -> list[Vector]:
        """Rows of the basis that complete the chosen ones modulo H."""
        whole = (
            RationalMatrix.from_rows([*chosen, *basis], ncols=self.domain.dimension) @ self._kernel
        )
        return [basis[k - len(chosen)] for k in row_basis(whole) if k >= len(chosen)][:count]

    def _filled(self, rows: list[Vector], count: int) -> list[Vector]:
        """So many rows: further pairs stand anywhere, with outgoing weights that may be 0."""
        unit = (Fraction(1), *((Fraction(),) * (self.domain.dimension - 1)))
        return [*rows, *([unit] * (count - len(rows)))]

    def _mixed(self, forms: list[Vector], rng: Random) -> list[Vector]:
        """Random forms of the larger stratum; those that are given, if the random ones do not make R."""
        mixed = (
            self._combined(forms, rng)
            if self._is_within
            else self._wide(max(self._by_rank)[1], rng)
        )
        usable = self._makes(mixed) and all(any(row) for row in mixed[: self.carriers.pairs])
        return mixed if usable else forms

    def _combined(self, forms: list[Vector], rng: Random) -> list[Vector]:
        """Other forms with the same span modulo H: the U by a nonnegative matrix."""
        s = self.carriers.pairs
        everything, linear = [*forms, *self.carriers.doubled.rows()], forms[s:]
        pairs = [_combination(everything, _weights(rng, len(everything), k, -8)) for k in range(s)]
        return [
            *pairs,
            *(_combination(linear, _weights(rng, len(linear), k, 0)) for k in range(len(linear))),
        ]

    def _wide(self, more: int, rng: Random) -> list[Vector]:
        """Forms that span L and so many further directions."""
        size = self.domain.dimension
        inside = self.domain.positive_form()
        extra = [self._direction(inside, k, rng) for k in range(more)]
        spanning = (
            [*self._line_rows_first(self._span.rows()), *extra]
            if self._own == 0
            else [*self._span.rows(), *extra]
        )
        found = []
        for k in range(self._rows):
            form = _combination(spanning, [_number(rng) for _ in spanning])
            if k >= self.carriers.pairs:
                form = self._raised(form, inside)
            found.append(form or (Fraction(),) * size)
        return found

    def _direction(self, inside: Vector, number: int, rng: Random) -> Vector:
        """A random form that is bounded below; any form where only pairs are there to use it."""
        if not self._useful:
            return tuple(_number(rng) for _ in inside)
        return _shaken(inside, rng, self.domain) if number or not any(inside) else inside

    def _raised(self, form: Vector, inside: Vector) -> Vector:
        """The form plus so much of one from the inside that it is bounded below, if that helps."""
        factor = Fraction(1)
        for _ in range(64):
            if self.domain.allows(_sum(form, inside, factor)):
                return _sum(
                    form, inside, factor * Fraction(3, 2)
                )  # not just so: the form could be -inside
            factor *= 2
        return form

    def _makes(self, forms: Sequence[Vector]) -> bool:
        matrix = RationalMatrix.from_rows(forms, ncols=self.domain.dimension)
        return self._heads(matrix) is not None and all(
            map(self.domain.allows, forms[self.carriers.pairs :])
        )

    def _heads(self, forms: RationalMatrix) -> RationalMatrix | None:
        """(P X) with (P X) (G; U) K = R K."""
        found = solve(
            (forms @ self._kernel).transpose(), (self.remainder @ self._kernel).transpose()
        )
        return None if found is None else found.transpose()

    def _solved(self, forms: list[Vector], rng: Random | None) -> Realisation:
        """The heads for given forms; at random among all of them."""
        n, s = self.domain.dimension, self.carriers.pairs
        matrix = RationalMatrix.from_rows(forms, ncols=n)
        heads = self._heads(matrix)
        if heads is None:
            raise ArithmeticError(
                "the chosen forms do not make the linear part"
            )  # pragma: no cover
        if rng is not None:
            heads = heads + _random_left_kernel(matrix @ self._kernel, heads.nrows, rng)
        rest = (self.remainder - heads @ matrix).transpose()
        doubled = solve(self.carriers.doubled.transpose(), rest)
        if doubled is None:
            raise ArithmeticError(
                "what is left is not in the span of the doubled hyperplanes"
            )  # pragma: no cover
        on_doubled = doubled.transpose()
        if rng is not None:
            on_doubled = on_doubled + _random_left_kernel(self.carriers.doubled, heads.nrows, rng)
        constant = (
            self.carriers.linear - self._useful
        )  # on R^n, linear neurons are constants: any heads
        numbers = [
            [Fraction(0) if rng is None else _number(rng) for _ in range(constant)]
        ] * heads.nrows
        return Realisation(
            on_doubled,
            heads.take(columns=range(s)),
            matrix.take(rows=range(s)),
            heads.take(columns=range(s, matrix.nrows)).beside(
                RationalMatrix.from_rows(numbers, ncols=constant)
            ),
            matrix.take(rows=range(s, matrix.nrows)).over(RationalMatrix.zeros(constant, n)),
        )


def _dot(left: Sequence[Fraction], right: Sequence[int]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), Fraction())


def _sum(row: Vector, other: Vector, factor: Fraction) -> Vector:
    return tuple(a + factor * b for a, b in zip(row, other, strict=True))


def _shaken(form: Vector, rng: Random, domain: LayerDomain) -> Vector:
    """A form nearby that is bounded below, in a random direction that vanishes on the lines."""
    lines = RationalMatrix.from_integers(
        [list(line) for line in domain.lines], ncols=domain.dimension
    )
    directions = kernel(lines).transpose().rows()
    if not directions:
        return form
    direction = _combination(directions, [_number(rng) for _ in directions])
    for _ in range(64):
        moved = _sum(form, direction, Fraction(1))
        if domain.allows(moved):
            return moved
        direction = tuple(entry / 4 for entry in direction)
    return form


def _number(rng: Random) -> Fraction:
    """A random number that is not 0: zeros would be special."""
    return Fraction(rng.choice((-1, 1)) * rng.randint(1, 16), 8)


def _weights(rng: Random, count: int, own: int, low: int) -> Vector:
    """Random weights, that of the own row not 0."""
    return tuple(
        Fraction(rng.randint(4, 16) if k == own else rng.randint(low, 4), 8) for k in range(count)
    )


def _combination(rows: Sequence[Vector], weights: Sequence[Fraction]) -> Vector:
    return tuple(
        sum((w * x for w, x in zip(weights, column, strict=True)), Fraction())
        for column in zip(*rows, strict=True)
    )


def _random_left_kernel(matrix: RationalMatrix, rows: int, rng: Random) -> RationalMatrix:
    """A random matrix Y with so many rows and Y matrix = 0."""
    basis = kernel(matrix.transpose()).transpose()
    numbers = [[_number(rng) for _ in range(basis.nrows)] for _ in range(rows)]
    return RationalMatrix.from_rows(numbers, ncols=basis.nrows) @ basis
