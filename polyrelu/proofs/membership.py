"""Is a parameter in the class *generic* of FORMAT.md §3.1? Verified, refuted with a reason, or left open.

The class asks for exponentially many things, so verification is for small networks: every minor of [A | a] (A =
W[2], a = b[2]) is nonzero, which implies that the network is supertransversal (proofs/bottleneck.md, Lemma 1), and
every sum Σ_{i∈T} V_i A_ij is nonzero. Refutation looks for a zero weight, a zero bias, and a vanishing sum. Being
in the class is closed under permutation and positive scaling.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from polyrelu.exact import RationalMatrix, determinant, nonzero_minor, vanishing_subset
from polyrelu.network import Network

__all__ = ["generic_membership"]

_MINOR_LIMIT = 5_000
_SUM_LIMIT = 2**16

OPEN: dict[str, Any] = {"status": "open"}


def generic_membership(network: Network) -> dict[str, Any]:
    """Evidence on the membership of a three-layer plain stack (FORMAT.md §3.4).

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 0]], [1]), ([[1]], [0])])
    >>> generic_membership(net)
    {'status': 'refuted', 'method': 'product', 'rows': [0], 'column': 1}
    """
    refuted = _refuted(network)
    if refuted is not None:
        return {"status": "refuted", **refuted}
    minor = nonzero_minor(network.weight(1))
    if minor is None or not _all_minors_nonzero(network) or not _all_sums_nonzero(network):
        return dict(OPEN)
    return {"status": "verified", "method": "minors", "prime": str(minor.prime), "columns": list(minor.columns)}


def _refuted(network: Network) -> dict[str, Any] | None:
    weight, bias = network.weight(2).signs(), network.bias(2).signs()
    for i, k in zip(*(weight == 0).nonzero(), strict=True):
        return {"method": "product", "rows": [int(i)], "column": int(k)}
    for i in (bias[:, 0] == 0).nonzero()[0]:
        return {"method": "bias", "row": int(i)}
    for j, column in enumerate(_columns(network.weight(2))):
        subset = vanishing_subset(network.weight(3), column).subset
        if subset is not None:
            return {"method": "product", "rows": list(subset), "column": j}
    return None


def _columns(matrix: RationalMatrix) -> Iterator[RationalMatrix]:
    """The columns up to a common factor, which no vanishing sum feels; much faster than `take` one by one."""
    for entries in matrix.transpose().integer_rows():
        yield RationalMatrix.from_integers([[entry] for entry in entries])


def _all_minors_nonzero(network: Network) -> bool:
    n1, n2 = network.widths[1], network.widths[2]
    if math.comb(n1 + n2 + 1, n2) - 1 > _MINOR_LIMIT:
        return False
    rows = network.layers[1].augmented().integer_rows()
    for size in range(1, min(n1 + 1, n2) + 1):
        for chosen in itertools.combinations(rows, size):
            for columns in itertools.combinations(range(n1 + 1), size):
                if determinant([[row[k] for k in columns] for row in chosen]) == 0:
                    return False
    return True


def _all_sums_nonzero(network: Network) -> bool:
    """No vanishing Σ_{i∈T} V_i A_ij: already looked for by `_refuted`, but that search may have been cut short."""
    n1, n2 = network.widths[1], network.widths[2]
    if n1 * 2**n2 > _SUM_LIMIT:
        return False
    columns = _columns(network.weight(2))
    return all(vanishing_subset(network.weight(3), column).evidence is not None for column in columns)
