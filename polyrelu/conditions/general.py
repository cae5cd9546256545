"""Conditions that are several others together: generic (the three-layer paper), general (Phuong and Lampert).

Sources: the three-layer paper, Definition 8, generic: supertransversal, and masked products of maximal rank. Phuong and
Lampert (2020), Definition A.11, general: masked products of maximal rank (Lemma A.10), no collinear pieces (Lemma
A.11), no local extrema with value 0 (Lemma A.12). They have at least two inputs, one output, and an open set in R^n as
domain; here the words are taken as they are for any numbers of inputs and outputs and for the interior of a domain of
full dimension. The first two of their conditions do not depend on the domain.
"""

from __future__ import annotations

from dataclasses import dataclass

from polyrelu.complex.completeness import require_complete
from polyrelu.complex.polyhedral_complex import PolyhedralComplex
from polyrelu.conditions.collinear import PIECE_LIMIT, noncollinear_pieces
from polyrelu.conditions.condition import Condition, Parts, UndefinedError, combined, require_plain
from polyrelu.conditions.genericity import PRODUCT_LIMIT, masked_ranks, supertransversality
from polyrelu.conditions.zero_extrema import zero_extrema

__all__ = ["Limits", "generic", "pl_general", "require_pl"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what grows exponentially with the widths: masked products, affine pieces for masks."""

    products: int = PRODUCT_LIMIT
    pieces: int = PIECE_LIMIT


_LIMITS = Limits()


def generic(cells: PolyhedralComplex, limits: Limits = _LIMITS) -> Condition[Parts]:
    """Whether a network is generic on the domain of its complex.

    Parameters
    ----------
    cells : a complete complex of a plain stack, on any domain.

    Raises
    ------
    DomainError : the complex is incomplete or a part, or the network has skip connections.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> print(generic(canonical_complex(from_arrays([([[1, 0], [0, 1]], [1, -1]), ([[2, 3]], [5])]))))
    generic: holds, 2 conditions
    """
    require_plain(cells.network, "genericity")
    return combined(
        "generic", [supertransversality(cells), masked_ranks(cells.network, limits.products)]
    )


def pl_general(cells: PolyhedralComplex, limits: Limits = _LIMITS) -> Condition[Parts]:
    """Whether a network is general in the sense of Phuong and Lampert, on the interior of the domain of its complex.

    Parameters
    ----------
    cells : a complete complex of a plain stack that ends in an affine layer, on a domain of full dimension.

    Raises
    ------
    DomainError : the complex is incomplete or a part, or the network or the domain are others.

    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> print(pl_general(canonical_complex(from_arrays([([[1, 0], [0, 1]], [1, 2]), ([[1, 3]], [1])]))))
    pl_general: holds, 3 conditions
    >>> print(pl_general(canonical_complex(from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 3]], [-1])]))))
    pl_general: holds, 3 conditions
    >>> print(pl_general(canonical_complex(from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 3]], [0])]))))
    pl_general: fails, noncollinear fails, no_zero_extrema fails
    """
    require_pl(cells)
    return combined(
        "pl_general",
        [
            masked_ranks(cells.network, limits.products),
            noncollinear_pieces(cells.network, limits.pieces),
            zero_extrema(cells),
        ],
    )


def require_pl(cells: PolyhedralComplex) -> None:
    """Refuse what the definition of "general" does not cover."""
    require_plain(cells.network, "general networks")
    require_complete(cells, "general networks")
    if cells.network.last == "relu":
        raise UndefinedError(
            "general networks: defined for networks that end in an affine layer only"
        )
    if cells.dimension < cells.network.inputs:
        raise UndefinedError(
            f"general networks: defined on open sets of R^{cells.network.inputs}; put the parametrisation of the "
            f"domain of dimension {cells.dimension} into the first layer"
        )
