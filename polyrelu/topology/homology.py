"""Betti numbers, torsion and Euler characteristics of a subcomplex: of any closed union of cells.

The homology of the union |K| is that of the cells of K that are bounded up to lines (proved in `chains`), and a finite
complex of free abelian groups is determined by the ranks n_k and the elementary divisors of its maps ∂_k: if there are
r_k of them, H_k is the sum of Z^b, b = n_k - r_k - r_{k+1}, and of Z/d for the divisors d > 1 of ∂_{k+1}. Over a field
the rank of ∂_k is the number of its divisors that are not 0 there. So a divisor of ∂_{k+1} that p divides adds 1 to the
Betti numbers over GF(p) twice, in the dimensions k and k + 1.

The Euler characteristic is Σ (-1)^k b_k, over any field, and Σ (-1)^k n_k over the bounded cells. The one with compact
support counts all cells, with their true dimensions: each is an open ball. It is additive over disjoint cells, and
both are equal where |K| is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass

from polyrelu.complex import Subcomplex
from polyrelu.errors import DomainError
from polyrelu.topology.chains import cellular_chains
from polyrelu.topology.smith import chain_divisors

__all__ = ["Homology", "betti_numbers", "homology"]


@dataclass(frozen=True, slots=True)
class Homology:
    """The homology of a closed union of cells.

    Attributes
    ----------
    betti : the Betti numbers b_0, b_1, … over Q, up to the dimension of the whole complex; b_0 counts components.
    torsion : for each of these dimensions the numbers d > 1 of the summands Z/d, each a divisor of the next.
    euler_characteristic : the alternating sum of the Betti numbers.
    euler_with_compact_support : the alternating sum of the numbers of cells, the unbounded ones included.
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
        """The Betti numbers over a field: of characteristic 0, or a prime.

        Raises
        ------
        DomainError : no field has this characteristic.

        >>> projective_plane = Homology((1, 0, 0), ((), (2,), ()), 1, 1)
        >>> projective_plane.betti_over(0), projective_plane.betti_over(2), projective_plane.betti_over(3)
        ((1, 0, 0), (1, 1, 1), (1, 0, 0))
        """
        if not is_characteristic(characteristic):
            raise DomainError(
                f"no field has the characteristic {str(characteristic)[:40]}: give 0 or a prime"
            )
        if characteristic == 0:
            return self.betti
        lost = [
            sum(divisor % characteristic == 0 for divisor in torsion) for torsion in self.torsion
        ]
        return tuple(
            b + here + below
            for b, here, below in zip(self.betti, lost, [0, *lost[:-1]], strict=True)
        )


def homology(part: Subcomplex) -> Homology:
    """The homology of the union of the cells of a subcomplex, of bounded and unbounded ones.

    Parameters
    ----------
    part : a subcomplex; the whole complex need not be complete.

    Raises
    ------
    DomainError : the faces of a cell are missing.

    >>> from polyrelu.complex import bent_hyperplane, canonical_complex
    >>> from polyrelu.network import NeuronId, from_arrays
    >>> net = from_arrays([([[1, 0], [-1, 0], [0, 1], [0, -1]], [0] * 4), ([[1] * 4], [-1]), ([[1]], [0])])
    >>> homology(bent_hyperplane(canonical_complex(net), NeuronId(2, 0)))  # |x| + |y| = 1
    Homology(betti=(1, 1, 0), torsion=((), (), ()), euler_characteristic=0, euler_with_compact_support=0)
    """
    chains, lowest = cellular_chains(part), part.cells.lineality_dim
    divisors = [*chain_divisors(chains), (0, ())]
    ranks = [ones + len(others) for ones, others in divisors]
    counts = [boundary.columns for boundary in chains]
    betti = [n - here - above for n, here, above in zip(counts, ranks[:-1], ranks[1:], strict=True)]
    none: tuple[int, ...] = ()
    return Homology(
        betti=(*betti, *[0] * lowest),
        torsion=(*(others for _, others in divisors[1:]), *[none] * lowest),
        euler_characteristic=_alternating(counts),
        euler_with_compact_support=_alternating(part.f_vector),
    )


def betti_numbers(part: Subcomplex, characteristic: int = 0) -> tuple[int, ...]:
    """The Betti numbers of the union of the cells of a subcomplex.

    Parameters
    ----------
    part : as for `homology`.
    characteristic : of the field: 0 for Q, a prime p for GF(p).

    Raises
    ------
    DomainError : as `homology` and `Homology.betti_over`.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])]))
    >>> betti_numbers(Subcomplex.closure(cells, {0: cells.signs(0)[:, 0] <= 0}))
    (1, 0)
    """
    return homology(part).betti_over(characteristic)


def _alternating(numbers: list[int] | tuple[int, ...]) -> int:
    return sum(-n if k % 2 else n for k, n in enumerate(numbers))


def is_characteristic(number: int) -> bool:
    """Room-internal: whether a field has this characteristic: 0 or a prime."""
    if not isinstance(number, int) or isinstance(number, bool):
        return False
    if number in (0, 2):
        return True
    from sympy import isprime  # imported late: it takes a moment

    return bool(isprime(number))
