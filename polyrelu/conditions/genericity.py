"""Is a network generic, with evidence either way?

Source: the three-layer paper, Definition 8: the complex is supertransversal, and every masked product I_l W_l I_{l-1} …
I_k W_k, with masks I that keep some neurons, has the rank that its shape and masks allow. There are exponentially many
masks, so the work is bounded, and beyond the bound the answer is "unchecked", never "generic".

The second condition is also Lemma A.10 of Phuong and Lampert (2020): their masks are those of hidden layers, but they
have one output, where a mask of the output layer says nothing new; and empty masks make products 0 of rank 0, as they
should be. With several outputs the masks of the output layer are asked for as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from polyrelu.complex.bent_hyperplanes import supertransversality_violation
from polyrelu.complex.completeness import require_complete
from polyrelu.complex.interior_points import point_in
from polyrelu.complex.polyhedral_complex import Cell, PolyhedralComplex
from polyrelu.conditions.condition import Condition, point_text, require_plain
from polyrelu.conditions.masks import masks_of
from polyrelu.exact import RationalMatrix, rank
from polyrelu.network import Network

__all__ = [
    "PRODUCT_LIMIT",
    "DeficientProduct",
    "MaskedProduct",
    "WrongCell",
    "masked_products",
    "masked_ranks",
    "supertransversality",
]

#: Masked products that are looked at.
PRODUCT_LIMIT = 10_000


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
class WrongCell:
    """A cell whose sign vector has not as many zeros as its codimension.

    Attributes
    ----------
    cell, codimension : of the complex; its codimension in the domain.
    zeros : of neurons and of constraints of the domain.
    point : a point inside the cell.
    constraints : how many of the zeros are constraints of the domain.
    """

    cell: Cell
    codimension: int
    zeros: int
    point: tuple[Fraction, ...]
    constraints: int = 0

    def __str__(self) -> str:
        place = f"cell {self.cell.index} of dimension {self.cell.dimension}, at {point_text(self.point)}"
        zeros = f"{self.zeros} zero{'' if self.zeros == 1 else 's'}"
        if self.constraints:
            are = "is a constraint" if self.constraints == 1 else "are constraints"
            zeros += f", {self.constraints} of which {are} of the domain"
        return f"{place}, has codimension {self.codimension} and {zeros}"


def supertransversality(cells: PolyhedralComplex) -> Condition[WrongCell]:
    """Whether every cell of codimension k has exactly k zeros.

    Parameters
    ----------
    cells : a complete complex, of any network on any domain; codimensions are those in the domain. Zeros of the
        domain's constraints count, so constraints that are 0 on all of it, and redundant ones that touch it, violate
        the condition: give a domain of lower dimension by equations.

    Returns
    -------
    The condition "supertransversal": a cell that violates it, or the number of cells.

    Raises
    ------
    DomainError : the complex is incomplete or a part.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> concurrent = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    >>> print(supertransversality(canonical_complex(concurrent)))
    supertransversal: fails, cell 0 of dimension 0, at (0, 0), has codimension 2 and 3 zeros
    >>> from polyrelu.exact import Polyhedron
    >>> line = from_arrays([([[1]], [0]), ([[1]], [0])])
    >>> print(supertransversality(canonical_complex(line, Polyhedron.box([0], [1]))))
    supertransversal: fails, cell 0 of dimension 0, at (0), has codimension 1 and 2 zeros, 1 of which is a constraint of
    the domain
    """
    require_complete(cells, "supertransversality")
    cell, count = supertransversality_violation(cells), sum(cells.f_vector)
    if cell is None:
        return Condition("supertransversal", "holds", count, "cells")
    codimension = cells.dimension - cell.dimension
    zeros = [_zeros(cells, k) for k in range(cells.lineality_dim, cells.dimension + 1)]
    right = sum(int((found == len(zeros) - 1 - k).sum()) for k, found in enumerate(zeros))
    own = int(zeros[cell.dimension - cells.lineality_dim][cell.index])
    constraints = int((cells.constraint_signs(cell.dimension)[cell.index] == 0).sum())
    evidence = WrongCell(cell, codimension, own, point_in(cells, cell), constraints)
    return Condition("supertransversal", "fails", right, "cells", evidence)


def _zeros(cells: PolyhedralComplex, dimension: int) -> NDArray[np.int64]:
    """How many neurons and constraints are 0 on each cell of a dimension."""
    neurons = (cells.signs(dimension) == 0).sum(axis=1)
    return np.asarray(neurons + (cells.constraint_signs(dimension) == 0).sum(axis=1))


@dataclass(frozen=True, slots=True)
class DeficientProduct:
    """A masked product whose rank is too small, and the rank that its shape and masks allow."""

    product: MaskedProduct
    allowed: int

    def __str__(self) -> str:
        masks = " ".join("{" + ", ".join(map(str, mask)) + "}" for mask in self.product.masks)
        first, last = self.product.first, self.product.last
        layers = f"layer {first}" if first == last else f"layers {first} to {last}"
        return f"the product of {layers} with masks {masks} has rank {self.product.rank}, not {self.allowed}"


def masked_ranks(network: Network, limit: int = PRODUCT_LIMIT) -> Condition[DeficientProduct]:
    """Whether all masked products have the rank that their shape and masks allow; this does not depend on a domain.

    Parameters
    ----------
    network : a plain stack; if it ends in a ReLU, so do the products, and the identity after it is left out.
    limit : at most so many masked products are looked at.

    Returns
    -------
    The condition "masked_ranks": a product of smaller rank, or the number of products.

    Raises
    ------
    DomainError : the network has skip connections.

    >>> from polyrelu.network import from_arrays
    >>> print(masked_ranks(from_arrays([([[1, 2], [2, 4]], [1, -1]), ([[2, 3]], [5])])))
    masked_ranks: fails, the product of layer 1 with masks {0, 1} has rank 1, not 2
    """
    require_plain(network, "masked products")
    checked = 0
    for product, allowed in masked_products(network):
        if product.rank < allowed:
            return Condition(
                "masked_ranks", "fails", checked, "products", DeficientProduct(product, allowed)
            )
        if checked == limit:
            reason = f"only {checked} products were looked at"
            return Condition("masked_ranks", "unchecked", checked, "products", reason=reason)
        checked += 1
    return Condition("masked_ranks", "holds", checked, "products")


def masked_products(network: Network) -> Iterator[tuple[MaskedProduct, int]]:
    """All masked products of the weights, the output layer included, with the rank that is allowed, one by one."""
    for first in range(1, network.depth + 1):
        yield from _from_layer(network, first, (), network.weight(first), network.widths[first - 1])


def _from_layer(
    network: Network,
    first: int,
    masks: tuple[tuple[int, ...], ...],
    product: RationalMatrix,
    allowed: int,
) -> Iterator[tuple[MaskedProduct, int]]:
    """The products that go on from W_l I_{l-1} … W_first with a mask of layer l."""
    layer = first + len(masks)
    for mask in masks_of(network.widths[layer]):
        masked, most, chosen = product.take(rows=mask), min(allowed, len(mask)), (*masks, mask)
        yield MaskedProduct(first, chosen, rank(masked)), most
        if layer < network.depth:
            longer = network.weight(layer + 1).take(columns=mask) @ masked
            yield from _from_layer(network, first, chosen, longer, most)
