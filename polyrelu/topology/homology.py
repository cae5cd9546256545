"""Betti numbers, torsion and Euler characteristics of a closed union of cells, a subcomplex.

The homology of the union is the homology of the chain complex of the cells that are bounded up to
lines (`chains`). If its map ∂_k has r_k elementary divisors and there are n_k cells of dimension
k, then H_k is the sum of Z^b with b = n_k - r_k - r_{k+1} and of Z/d for the divisors d > 1 of
∂_{k+1}. A divisor of ∂_{k+1} that a prime p divides adds 1 to the Betti numbers over GF(p) in the
dimensions k and k + 1.

The Euler characteristic is the alternating sum of the Betti numbers over any field. The one with
compact support counts all cells, bounded or not, with their true dimensions; it is additive over
disjoint cells, and both are equal where the union is bounded. The proofs stand in
docs/theory/topology.md.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from polyrelu.complex import PolyhedralComplex, Subcomplex
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.support.arguments import expect
from polyrelu.support.display import bracketed
from polyrelu.topology.chains import cellular_chains
from polyrelu.topology.smith import chain_divisors

__all__ = ["Homology", "betti_numbers", "homology"]


@dataclass(frozen=True, slots=True, repr=False)
class Homology:
    """The homology of a closed union of cells.

    Attributes
    ----------
    betti
        The Betti numbers b_0, b_1, … over Q, up to the dimension of the whole complex; b_0 is the
        number of connected components.
    torsion
        For each of these dimensions the numbers d > 1 of the summands Z/d, each a divisor of the
        next.
    euler_characteristic
        The alternating sum of the Betti numbers.
    euler_with_compact_support
        The alternating sum of the numbers of cells, including unbounded cells.

    Examples
    --------
    >>> circle = Homology((1, 1), ((), ()), 0, 0)
    >>> circle
    <Homology, H_0 = Z, H_1 = Z>
    >>> circle.betti_mod_2
    (1, 1)
    """

    betti: tuple[int, ...]
    torsion: tuple[tuple[int, ...], ...]
    euler_characteristic: int
    euler_with_compact_support: int

    @property
    def betti_mod_2(self) -> tuple[int, ...]:
        """The Betti numbers over GF(2)."""
        return self.betti_over(2)

    def betti_over(self, characteristic: int) -> tuple[int, ...]:
        """Return the Betti numbers over a field.

        Parameters
        ----------
        characteristic
            The characteristic of the field: 0, or a prime.

        Returns
        -------
        tuple of int
            One number for each dimension of `betti`.

        Raises
        ------
        DomainError
            No field has this characteristic.

        Examples
        --------
        >>> projective_plane = Homology((1, 0, 0), ((), (2,), ()), 1, 1)
        >>> [projective_plane.betti_over(p) for p in (0, 2, 3)]
        [(1, 0, 0), (1, 1, 1), (1, 0, 0)]
        """
        if not is_characteristic(characteristic):
            raise DomainError(
                f"no field has the characteristic {str(characteristic)[:40]}: give 0 or a prime"
            )
        if characteristic == 0:
            return self.betti
        lost_ranks = [
            sum(divisor % characteristic == 0 for divisor in torsion) for torsion in self.torsion
        ]
        return tuple(
            b + here + below
            for b, here, below in zip(self.betti, lost_ranks, [0, *lost_ranks[:-1]], strict=True)
        )

    def __str__(self) -> str:
        groups = (
            f"H_{k} = {' + '.join(_power(name, count) for name, count in summands)}"
            for k, summands in enumerate(self._summands)
            if summands
        )
        return ", ".join(groups) or "every H_k = 0"

    def __repr__(self) -> str:
        return bracketed(f"Homology, {self}")

    def _repr_latex_(self) -> str:
        groups = []
        for k, summands in enumerate(self._summands):
            sum_of = r" \oplus ".join(_latex_power(*each) for each in summands)
            groups.append(f"H_{{{k}}} = {sum_of or 0}")
        return f"${', '.join(groups)}$"

    @property
    def _summands(self) -> list[list[tuple[str, int]]]:
        """For every dimension the cyclic summands Z and Z/d of the group, and how often each is."""
        return [
            [*([("Z", betti)] if betti else []), *Counter(f"Z/{d}" for d in torsion).items()]
            for betti, torsion in zip(self.betti, self.torsion, strict=True)
        ]


def _power(name: str, count: int) -> str:
    """A power of a cyclic group as text."""
    if count == 1:
        return name
    return f"({name})^{count}" if "/" in name else f"{name}^{count}"


def _latex_power(name: str, count: int) -> str:
    """A power of a cyclic group in LaTeX."""
    text = name.replace("Z", r"\mathbb{Z}")
    if count == 1:
        return text
    return f"({text})^{{{count}}}" if "/" in name else f"{text}^{{{count}}}"


def homology(part: Subcomplex) -> Homology:
    """Compute the homology of the union of the cells of a subcomplex, bounded or not.

    Parameters
    ----------
    part
        A subcomplex, such as a level set or a bent hyperplane; the whole complex need not be
        complete. A complex itself is an error, because its cells fill a convex domain.

    Returns
    -------
    Homology
        Betti numbers, torsion and Euler characteristics.

    Raises
    ------
    DomainError
        The subcomplex lacks a face of one of its cells.
    ArgumentError
        The argument is no subcomplex.

    Examples
    --------
    >>> from polyrelu.complex import bent_hyperplane, canonical_complex
    >>> from polyrelu.network import NeuronId, from_arrays
    >>> first = ([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4)
    >>> net = from_arrays([first, ([[1] * 4], [-1]), ([[1]], [0])])
    >>> circle = homology(bent_hyperplane(canonical_complex(net), NeuronId(2, 0)))  # |x| + |y| = 1
    >>> circle.betti, circle.torsion, circle.euler_characteristic
    ((1, 1, 0), ((), (), ()), 0)
    """
    part = _subcomplex(part)
    chains, lowest = cellular_chains(part), part.cells.lineality_dim
    divisors = [*chain_divisors(chains), (0, ())]
    ranks = [ones + len(others) for ones, others in divisors]
    counts = [boundary.columns for boundary in chains]
    betti = [n - here - above for n, here, above in zip(counts, ranks[:-1], ranks[1:], strict=True)]
    none: tuple[int, ...] = ()
    return Homology(
        betti=(*betti, *[0] * lowest),
        torsion=(*(others for _, others in divisors[1:]), *[none] * lowest),
        euler_characteristic=_alternating_sum(counts),
        euler_with_compact_support=_alternating_sum(part.f_vector),
    )


def betti_numbers(part: Subcomplex, *, characteristic: int = 0) -> tuple[int, ...]:
    """Compute the Betti numbers of the union of the cells of a subcomplex.

    Parameters
    ----------
    part
        A subcomplex; the whole complex need not be complete.
    characteristic
        The characteristic of the field of coefficients: 0 for Q, a prime p for GF(p).

    Returns
    -------
    tuple of int
        One number for each dimension up to the dimension of the whole complex.

    Raises
    ------
    DomainError
        The subcomplex lacks a face of one of its cells, or no field has this characteristic.
    ArgumentError
        The argument is no subcomplex.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])]))
    >>> betti_numbers(Subcomplex.closure(cells, {0: cells.signs(0)[:, 0] <= 0}))
    (1, 0)
    """
    return homology(part).betti_over(characteristic)


def _subcomplex(part: object) -> Subcomplex:
    """The argument itself, or an error that says what makes a subcomplex."""
    if isinstance(part, PolyhedralComplex):
        raise ArgumentError(
            "part: expected Subcomplex, got the whole PolyhedralComplex, whose cells fill a convex "
            "domain; level_set, decision_boundary, bent_hyperplane and Subcomplex.closure make one"
        )
    return expect(part, Subcomplex, "part", "polyrelu.topology.level_set makes one")


def _alternating_sum(numbers: list[int] | tuple[int, ...]) -> int:
    return sum(-n if k % 2 else n for k, n in enumerate(numbers))


def is_characteristic(number: int) -> bool:
    """Return whether a field has this characteristic, that is, whether it is 0 or a prime."""
    if not isinstance(number, int) or isinstance(number, bool):
        return False
    if number in (0, 2):
        return True
    from sympy import isprime  # a slow import, rarely needed

    return bool(isprime(number))
