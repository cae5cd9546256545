"""Conjunctions of conditions: generic (the three-layer paper) and general (Phuong and Lampert).

Generic means supertransversal, with masked products of maximal rank. General means: masked
products of maximal rank (Lemma A.10), no collinear pieces (Lemma A.11), and no local extrema with
value 0 (Lemma A.12). Phuong and Lampert have at least two inputs, one output, and an open set in
R^n as domain; here the same words are used for any numbers of inputs and outputs and for the
interior of a domain of full dimension. The first two of their conditions do not depend on the
domain.

Sources: the three-layer paper (arXiv 2605.18319), Definition 8; Phuong and Lampert (2020),
Definition A.11.
"""

from __future__ import annotations

from dataclasses import dataclass

from polyrelu.complex.completeness import require_complete
from polyrelu.complex.polyhedral_complex import PolyhedralComplex
from polyrelu.conditions.collinear import PIECE_LIMIT, noncollinear_pieces
from polyrelu.conditions.condition import (
    Condition,
    Parts,
    UndefinedError,
    as_complex,
    combined,
    require_plain,
)
from polyrelu.conditions.genericity import PRODUCT_LIMIT, masked_ranks, supertransversality
from polyrelu.conditions.zero_extrema import zero_extrema
from polyrelu.support.arguments import expect, expect_count

__all__ = ["Limits", "generic", "pl_general", "require_pl"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on the work of checks that grow exponentially with the widths.

    Attributes
    ----------
    products
        Maximum number of masked products to check.
    pieces
        Maximum number of formal affine pieces to check.

    Examples
    --------
    >>> Limits(products=100).pieces
    20000
    """

    products: int = PRODUCT_LIMIT
    pieces: int = PIECE_LIMIT

    def __post_init__(self) -> None:
        expect_count(self.products, "products")
        expect_count(self.pieces, "pieces")


_DEFAULT_LIMITS = Limits()


def generic(cells: PolyhedralComplex, *, limits: Limits = _DEFAULT_LIMITS) -> Condition[Parts]:
    """Check whether a network is generic on the domain of its complex.

    Parameters
    ----------
    cells
        A complete complex of a network without skip connections, on any domain.
    limits
        Bounds on the work; beyond them the condition is "unchecked".

    Returns
    -------
    Condition
        The condition "generic", with its parts as evidence.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one, or the network has skip connections.

    Notes
    -----
    Source: the three-layer paper (arXiv 2605.18319), Definition 8.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [1, -1]), ([[2, 3]], [5])])
    >>> print(generic(canonical_complex(net)))
    generic: holds, 2 conditions
    """
    cells, limits = as_complex(cells), expect(limits, Limits, "limits")
    require_plain(cells.network, "genericity")
    return combined(
        "generic", [supertransversality(cells), masked_ranks(cells.network, limit=limits.products)]
    )


def pl_general(cells: PolyhedralComplex, *, limits: Limits = _DEFAULT_LIMITS) -> Condition[Parts]:
    """Check whether a network is general in the sense of Phuong and Lampert inside its domain.

    Parameters
    ----------
    cells
        A complete complex, on a domain of full dimension, of a network without skip connections
        that ends in an affine layer.
    limits
        Bounds on the work; beyond them the condition is "unchecked".

    Returns
    -------
    Condition
        The condition "pl_general", with its parts as evidence.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one, or the definition does not cover the network
        or the domain.

    Notes
    -----
    Source: Phuong and Lampert (2020), Definition A.11.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> def check(first_bias, bias):
    ...     net = from_arrays([([[1, 0], [0, 1]], first_bias), ([[1, 3]], bias)])
    ...     print(pl_general(canonical_complex(net)))
    >>> check([1, 2], [1])
    pl_general: holds, 3 conditions
    >>> check([0, 0], [-1])
    pl_general: holds, 3 conditions
    >>> check([0, 0], [0])
    pl_general: fails, noncollinear fails, no_zero_extrema fails
    """
    cells, limits = as_complex(cells), expect(limits, Limits, "limits")
    require_pl(cells)
    return combined(
        "pl_general",
        [
            masked_ranks(cells.network, limit=limits.products),
            noncollinear_pieces(cells.network, limit=limits.pieces),
            zero_extrema(cells),
        ],
    )


def require_pl(cells: PolyhedralComplex) -> None:
    """Refuse networks and domains that the definition of "general" does not cover."""
    require_plain(cells.network, "general networks")
    require_complete(cells, "general networks")
    if cells.network.last == "relu":
        raise UndefinedError(
            "general networks: defined for networks that end in an affine layer only"
        )
    if cells.dimension < cells.network.num_inputs:
        raise UndefinedError(
            f"general networks: defined on open sets of R^{cells.network.num_inputs}; put the "
            "parametrisation of the "
            f"domain of dimension {cells.dimension} into the first layer"
        )
