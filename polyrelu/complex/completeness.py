"""`require_complete`, a guard for functions that need a complete complex.

Weights, balancing and many conditions look at all regions around a cell. In an interrupted complex
or in one of the parts of `stream_complex` some of these regions are missing, and the functions
would return wrong results without notice.
"""

from __future__ import annotations

from polyrelu.complex.polyhedral_complex import PolyhedralComplex, expect_complex
from polyrelu.errors import DomainError

__all__ = ["require_complete"]


def require_complete(cells: PolyhedralComplex, what: str) -> None:
    """Raise an error for an incomplete complex and for a part of a complex.

    In a complete complex every cell of codimension 1 inside the domain lies between two regions.
    The domain is convex, so that a part has cells of codimension 1 where this fails.

    Parameters
    ----------
    cells
        The complex in question.
    what
        What needs a complete complex, for the message.

    Raises
    ------
    DomainError
        Cuts are missing because of Ctrl-C, or the complex is one of the parts of `stream_complex`.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex, stream_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])])
    >>> require_complete(canonical_complex(net), "weights")
    >>> require_complete(next(stream_complex(net, limit=1)), "weights")
    Traceback (most recent call last):
    polyrelu.errors.DomainError: weights: these cells are a part of a complex;
    canonical_complex makes the whole one
    """
    cells = expect_complex(cells)
    if not cells.complete:
        raise DomainError(f"{what}: the complex is incomplete")
    k = cells.dimension - 1
    if k >= cells.lineality_dim and len(cells.adjacency()) != int(cells.inside(k).sum()):
        raise DomainError(
            f"{what}: these cells are a part of a complex; canonical_complex makes the whole one"
        )
