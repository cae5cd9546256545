"""Is a network generic, with evidence either way?

Source: the three-layer paper, Definition 8: the complex is supertransversal, and every masked product I_l W_l I_{l-1} …
I_k W_k, with masks I that keep some neurons, has the rank that its shape and masks allow. There are exponentially many
masks, so the work is bounded, and beyond the bound the answer is "unchecked", never "generic".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from polyrelu.complex.bent import supertransversality_violation
from polyrelu.complex.polyhedral_complex import Cell, PolyhedralComplex
from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix, rank
from polyrelu.network import Network

__all__ = ["Genericity", "MaskedProduct", "genericity", "masked_products"]

_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class MaskedProduct:
    """I_l W_l … I_k W_k.

    Attributes
    ----------
    first : k, from 1.
    masks : the neurons kept in layers k, …, l.
    rank : of the product.
    """

    first: int
    masks: tuple[tuple[int, ...], ...]
    rank: int

    @property
    def last(self) -> int:
        """l."""
        return self.first + len(self.masks) - 1


@dataclass(frozen=True, slots=True)
class Genericity:
    """The answer, and what proves that it is "not generic".

    Attributes
    ----------
    cell : one whose sign vector has not as many zeros as its codimension, or None.
    product : a masked product of too small a rank, or None.
    checked_products : how many masked products have the rank that they should.
    """

    status: Literal["generic", "not generic", "unchecked"]
    cell: Cell | None
    product: MaskedProduct | None
    checked_products: int


def genericity(cells: PolyhedralComplex, limit: int = _LIMIT) -> Genericity:
    """Whether a network is generic on the domain of its complex.

    Parameters
    ----------
    cells : a complete complex of a plain stack.
    limit : at most so many masked products are looked at.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [1, -1]), ([[2, 3]], [5])])
    >>> genericity(canonical_complex(net)).status
    'generic'
    >>> parallel = from_arrays([([[1, 2], [2, 4]], [1, -1]), ([[2, 3]], [5])])
    >>> genericity(canonical_complex(parallel)).product
    MaskedProduct(first=1, masks=((0, 1),), rank=1)
    """
    if not cells.complete or not cells.network.is_plain:
        raise DomainError("genericity is defined for complete complexes of networks without skip connections")
    cell = supertransversality_violation(cells)
    checked = 0
    for product, allowed in masked_products(cells.network):
        if product.rank < allowed:
            return Genericity("not generic", cell, product, checked)
        if checked == limit:
            return Genericity("unchecked" if cell is None else "not generic", cell, None, checked)
        checked += 1
    return Genericity("generic" if cell is None else "not generic", cell, None, checked)


def masked_products(network: Network) -> Iterator[tuple[MaskedProduct, int]]:
    """All masked products of the weights, the output layer included, with the rank that is allowed, one by one."""
    for first in range(1, network.depth + 1):
        yield from _from_layer(network, first, (), network.weight(first), network.widths[first - 1])


def _from_layer(
    network: Network, first: int, masks: tuple[tuple[int, ...], ...], product: RationalMatrix, allowed: int
) -> Iterator[tuple[MaskedProduct, int]]:
    """The products that go on from W_l I_{l-1} … W_first with a mask of layer l."""
    layer = first + len(masks)
    for mask in _masks(network.widths[layer]):
        masked, most, chosen = product.take(rows=mask), min(allowed, len(mask)), (*masks, mask)
        yield MaskedProduct(first, chosen, rank(masked)), most
        if layer < network.depth:
            longer = network.weight(layer + 1).take(columns=mask) @ masked
            yield from _from_layer(network, first, chosen, longer, most)


def _masks(width: int) -> Iterator[tuple[int, ...]]:
    """All nonempty sets of neurons, small ones first."""
    for size in range(1, width + 1):
        yield from combinations(range(width), size)
