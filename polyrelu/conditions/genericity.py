"""The two halves of genericity: supertransversality, and masked products of maximal rank.

Source: the three-layer paper (arXiv 2605.18319), Definition 8. The complex has to be
supertransversal, and every masked product I_l W_l I_{l-1} … I_k W_k, with masks I that keep some
neurons, has to have the rank that its shape and masks allow. The number of masks is exponential,
so the work is bounded, and beyond the bound the answer is "unchecked", never "generic".

The second condition is also Lemma A.10 of Phuong and Lampert (2020). Their masks belong to hidden
layers, but they have one output, for which a mask of the output layer adds nothing; and with empty
masks the products are 0 and have rank 0, as they should. With several outputs the masks of the
output layer are required as well.
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
from polyrelu.conditions.condition import Condition, as_complex, point_text, require_plain
from polyrelu.conditions.masks import masks_of
from polyrelu.exact import RationalMatrix, rank
from polyrelu.formats.arguments import NetworkLike, as_network
from polyrelu.network import Network
from polyrelu.support.arguments import expect_count
from polyrelu.support.display import bracketed, count_text

__all__ = [
    "PRODUCT_LIMIT",
    "DeficientProduct",
    "MaskedProduct",
    "WrongCell",
    "masked_products",
    "masked_ranks",
    "supertransversality",
]

#: Default for the maximum number of masked products to check.
PRODUCT_LIMIT = 10_000


@dataclass(frozen=True, slots=True, repr=False)
class MaskedProduct:
    """A product I_l W_l … I_k W_k of weight matrices with masks.

    Attributes
    ----------
    first
        The number k of its first layer, from 1.
    masks
        The neurons kept in layers k, …, l.
    rank
        The rank of the product.

    Examples
    --------
    >>> product = MaskedProduct(2, ((0, 1), (0,)), 1)
    >>> print(product)
    the product of layers 2 to 3 with masks {0, 1} {0} has rank 1
    >>> product.last
    3
    """

    first: int
    masks: tuple[tuple[int, ...], ...]
    rank: int

    @property
    def last(self) -> int:
        """The number l of the last layer of the product."""
        return self.first + len(self.masks) - 1

    def __str__(self) -> str:
        masks = " ".join("{" + ", ".join(map(str, mask)) + "}" for mask in self.masks)
        one = self.first == self.last
        layers = f"layer {self.first}" if one else f"layers {self.first} to {self.last}"
        return f"the product of {layers} with masks {masks} has rank {self.rank}"

    def __repr__(self) -> str:
        return bracketed(f"MaskedProduct, {self}")


@dataclass(frozen=True, slots=True, repr=False)
class WrongCell:
    """A cell whose number of zeros in the sign vector differs from its codimension.

    Attributes
    ----------
    cell
        The cell.
    codimension
        Its codimension in the domain.
    num_zeros
        The number of neurons and of constraints of the domain that are 0 on it.
    point
        A point inside the cell.
    num_constraints
        The number of zeros that are constraints of the domain.

    Examples
    --------
    >>> print(WrongCell(Cell(0, 4), 2, 3, (Fraction(0), Fraction(1, 2))))
    cell 4 of dimension 0, at (0, 1/2), has codimension 2 and 3 zeros
    """

    cell: Cell
    codimension: int
    num_zeros: int
    point: tuple[Fraction, ...]
    num_constraints: int = 0

    def __str__(self) -> str:
        cell = f"cell {self.cell.index} of dimension {self.cell.dimension}"
        place = f"{cell}, at {point_text(self.point)}"
        zeros = count_text([(self.num_zeros, "zero")])
        if self.num_constraints:
            are = "is a constraint" if self.num_constraints == 1 else "are constraints"
            zeros += f", {self.num_constraints} of which {are} of the domain"
        return f"{place}, has codimension {self.codimension} and {zeros}"

    def __repr__(self) -> str:
        return bracketed(f"WrongCell, {self}")


def supertransversality(cells: PolyhedralComplex) -> Condition[WrongCell]:
    """Check whether every cell of codimension k has exactly k zeros.

    Parameters
    ----------
    cells
        A complete complex, of any network on any domain; codimensions are taken in the domain.
        Zeros of the domain's constraints count. So constraints that are 0 on the whole domain, and
        redundant ones that touch it, violate the condition: give a domain of lower dimension by
        equations.

    Returns
    -------
    Condition
        The condition "supertransversal"; its evidence is a cell that violates it, its count is the
        number of cells.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one.

    Notes
    -----
    Source: the three-layer paper (arXiv 2605.18319), Definition 8.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.exact import Polyhedron
    >>> from polyrelu.network import from_arrays
    >>> concurrent = from_arrays([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    >>> print(supertransversality(canonical_complex(concurrent)).evidence)
    cell 0 of dimension 0, at (0, 0), has codimension 2 and 3 zeros
    >>> line = from_arrays([([[1]], [0]), ([[1]], [0])])
    >>> print(supertransversality(canonical_complex(line, Polyhedron.box([0], [1]))).evidence)
    cell 0 of dimension 0, at (0), has codimension 1 and 2 zeros, 1 of which is a constraint of the
    domain
    """
    cells = as_complex(cells)
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
    """The number of neurons and constraints that are 0 on each cell of a dimension."""
    neurons = (cells.signs(dimension) == 0).sum(axis=1)
    return np.asarray(neurons + (cells.constraint_signs(dimension) == 0).sum(axis=1))


@dataclass(frozen=True, slots=True, repr=False)
class DeficientProduct:
    """A masked product whose rank is too small.

    Attributes
    ----------
    product
        The product.
    allowed
        The rank that its shape and masks allow.

    Examples
    --------
    >>> print(DeficientProduct(MaskedProduct(1, ((0, 1),), 1), 2))
    the product of layer 1 with masks {0, 1} has rank 1, not 2
    """

    product: MaskedProduct
    allowed: int

    def __str__(self) -> str:
        return f"{self.product}, not {self.allowed}"

    def __repr__(self) -> str:
        return bracketed(f"DeficientProduct, {self}")


def masked_ranks(
    network: NetworkLike, *, limit: int = PRODUCT_LIMIT
) -> Condition[DeficientProduct]:
    """Check whether all masked products have the rank that their shape and masks allow.

    The condition does not depend on a domain.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, without skip connections. If it ends in a ReLU,
        the products end in that layer, and the identity after it is left out.
    limit
        Maximum number of masked products to check.

    Returns
    -------
    Condition
        The condition "masked_ranks"; its evidence is a product of smaller rank, its count is the
        number of products.

    Raises
    ------
    DomainError
        The network has skip connections.

    Notes
    -----
    Sources: the three-layer paper (arXiv 2605.18319), Definition 8; Phuong and Lampert (2020),
    Lemma A.10.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> print(masked_ranks(from_arrays([([[1, 2], [2, 4]], [1, -1]), ([[2, 3]], [5])])))
    masked_ranks: fails, the product of layer 1 with masks {0, 1} has rank 1, not 2
    """
    network, limit = as_network(network), expect_count(limit, "limit")
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
    """Generate all masked products of the weights, each with the rank that is allowed.

    The output layer is included.
    """
    for first in range(1, network.depth + 1):
        yield from _from_layer(network, first, (), network.weight(first), network.widths[first - 1])


def _from_layer(
    network: Network,
    first: int,
    masks: tuple[tuple[int, ...], ...],
    product: RationalMatrix,
    allowed: int,
) -> Iterator[tuple[MaskedProduct, int]]:
    """Generate the products that extend W_l I_{l-1} … W_first with a mask of layer l."""
    layer = first + len(masks)
    for mask in masks_of(network.widths[layer]):
        masked, most, chosen = product.take(rows=mask), min(allowed, len(mask)), (*masks, mask)
        yield MaskedProduct(first, chosen, rank(masked)), most
        if layer < network.depth:
            longer = network.weight(layer + 1).take(columns=mask) @ masked
            yield from _from_layer(network, first, chosen, longer, most)
