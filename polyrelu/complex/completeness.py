"""Is a complex the whole one? Weights, balancing and many conditions look at all regions around a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyrelu.errors import DomainError

if TYPE_CHECKING:
    from polyrelu.complex.polyhedral_complex import PolyhedralComplex

__all__ = ["require_complete"]


def require_complete(cells: PolyhedralComplex, what: str) -> None:
    """Refuse incomplete complexes, and parts of complexes: they do not have all regions around their cells.

    In a whole complex every cell of codimension 1 inside the domain lies between two regions; the domain is convex, so
    that a part has some that do not.

    Parameters
    ----------
    what : what needs a whole complex, for the message.

    Raises
    ------
    DomainError : Ctrl-C came, so that cuts are missing, or it is one of the parts of `stream_complex`.

    >>> from polyrelu.complex import canonical_complex, stream_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])])
    >>> require_complete(canonical_complex(net), "weights")
    >>> require_complete(next(stream_complex(net, limit=1)), "weights")
    Traceback (most recent call last):
    polyrelu.errors.DomainError: weights: these cells are a part of a complex; canonical_complex makes the whole one
    """
    if not cells.complete:
        raise DomainError(f"{what}: the complex is incomplete")
    k = cells.dimension - 1
    if k >= cells.lineality_dim and len(cells.adjacency()) != int(cells.inside(k).sum()):
        raise DomainError(
            f"{what}: these cells are a part of a complex; canonical_complex makes the whole one"
        )
