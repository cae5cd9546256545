"""All conditions of the theorems on deep networks at once, for a network on a domain.

Each is defined in the module of its function, with its source and what it means on boxes, on
slices and for other networks: `supertransversality`, `masked_ranks`, `generic`,
`noncollinear_pieces`, `zero_extrema`, `pl_general`, `transparency`, `linear_regions_property`,
`pairwise_crossings`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polyrelu.complex.completeness import require_complete
from polyrelu.complex.polyhedral_complex import PolyhedralComplex
from polyrelu.conditions.collinear import noncollinear_pieces
from polyrelu.conditions.condition import Condition, Parts, UndefinedError, as_complex, combined
from polyrelu.conditions.crossings import pairwise_crossings
from polyrelu.conditions.general import Limits, require_pl
from polyrelu.conditions.genericity import masked_ranks, supertransversality
from polyrelu.conditions.linear_regions import linear_regions_property
from polyrelu.conditions.transparency import transparency
from polyrelu.conditions.zero_extrema import zero_extrema
from polyrelu.support.arguments import expect

__all__ = ["conditions"]

_DEFAULT_LIMITS = Limits()


def conditions(
    cells: PolyhedralComplex, *, limits: Limits = _DEFAULT_LIMITS
) -> tuple[Condition[Any], ...]:
    """Check all conditions, always the same ones in the same order.

    Parameters
    ----------
    cells
        A complete complex, of any network on any domain; a condition whose definition does not
        cover it is "undefined".
    limits
        Bounds on the work; beyond them a condition is "unchecked".

    Returns
    -------
    tuple of Condition
        One for each condition.

    Raises
    ------
    DomainError
        The complex is incomplete, or a part of one.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [1, 2]), ([[1, 3]], [-9]), ([[1]], [1])])
    >>> for condition in conditions(canonical_complex(net)):
    ...     print(condition)
    supertransversal: holds, 19 cells
    masked_ranks: holds, 12 products
    generic: holds, 2 conditions
    noncollinear: holds, 8 pieces
    no_zero_extrema: holds, 15 zeros
    pl_general: holds, 3 conditions
    transparent: fails, all neurons of layer 1 are negative on region 3, at (-2, -3)
    lra: fails, one affine map on the regions 3 and 5, between which (-1, -3) lies
    tpic: holds, 2 pairs
    """
    cells, limits = as_complex(cells), expect(limits, Limits, "limits")
    require_complete(cells, "conditions")
    network = cells.network
    transversal = supertransversality(cells)
    ranks = _defined(
        "masked_ranks", "products", lambda: masked_ranks(network, limit=limits.products)
    )
    pieces = _defined(
        "noncollinear", "pieces", lambda: noncollinear_pieces(network, limit=limits.pieces)
    )
    extrema = _defined("no_zero_extrema", "zeros", lambda: zero_extrema(cells))
    return (
        transversal,
        ranks,
        combined("generic", [transversal, ranks]),
        pieces,
        extrema,
        _defined("pl_general", "conditions", lambda: _general(cells, ranks, pieces, extrema)),
        transparency(cells),
        linear_regions_property(cells),
        _defined("tpic", "pairs", lambda: pairwise_crossings(cells)),
    )


def _general(cells: PolyhedralComplex, *parts: Condition[Any]) -> Condition[Parts]:
    """The condition "pl_general" from its parts."""
    require_pl(cells)
    return combined("pl_general", parts)


def _defined(name: str, subject: str, check: Callable[[], Condition[Any]]) -> Condition[Any]:
    """The condition that a check returns, or an undefined one with the reason."""
    try:
        return check()
    except UndefinedError as error:
        return Condition(name, "undefined", 0, subject, reason=str(error))
