"""Membership of a parameter in the classes of FORMAT.md §3.1: verified, refuted or left open.

The theorems about generic, regular and transversal competitors do not need θ itself to be in the
class; their certificates report what is known of that. Membership in a class does not change under
permutation and positive scaling. The limits on sizes are part of FORMAT.md §3.4 and §3.6, because
the checker repeats the verification.

The class *generic* is defined by exponentially many conditions, so only small networks are
verified: every minor of [A | a] (A = W[2], a = b[2]) is nonzero, which implies that the network is
supertransversal (docs/theory/bottleneck.md, Lemma 1), and every sum Σ_{i∈T} V_i A_ij is nonzero.
Refutations are a zero weight, a zero bias or a vanishing sum.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from polyrelu.exact import RationalMatrix, determinant, nonzero_minor, vanishing_subset
from polyrelu.network import Network
from polyrelu.support.limits import MINOR_LIMIT, SUM_BIT_LIMIT, SUM_LIMIT, is_affordable

__all__ = [
    "can_be_verified",
    "deep_membership",
    "generic_membership",
    "has_generic_class",
    "sparse_membership",
]


@dataclass(frozen=True, slots=True)
class MembershipSettings:
    """Limits of the search for reasons why a parameter is not in a class.

    Attributes
    ----------
    max_paths
        Maximum number of paths of two weights that are compared, for all layers together.
    """

    max_paths: int = 10**8


SETTINGS = MembershipSettings()

#: The evidence where nothing is known.
_OPEN: dict[str, Any] = {"status": "open"}


def has_generic_class(network: Network) -> bool:
    """Whether generic parameters are defined: a plain stack, two hidden layers, affine output."""
    return network.is_plain and network.depth == 3 and network.last == "affine"


def can_be_verified(network: Network) -> bool:
    """Whether a network is small enough for a verification (FORMAT.md §3.4, §3.6)."""
    if (
        not has_generic_class(network)
        or _num_minors(network) > MINOR_LIMIT
        or _num_sums(network) > SUM_LIMIT
    ):
        return False
    n1, n2, n3 = network.widths[1:]
    size, (_, second, third) = min(n1 + 1, n2), network.layers
    sum_bits = (2 + n2.bit_length() + second.bits + third.bits) * n3 << n2
    return sum_bits < SUM_BIT_LIMIT and is_affordable(
        (_num_minors(network) + 1) * size**3, size * second.bits
    )


def num_conditions(network: Network) -> int:
    """Return the number of minors and sums that a verification computes; 0 if there is none."""
    return _num_minors(network) + _num_sums(network) if can_be_verified(network) else 0


def generic_membership(network: Network) -> dict[str, Any]:
    """Return evidence on membership in the class of generic parameters (FORMAT.md §3.4).

    Parameters
    ----------
    network
        A network for which the class is defined (`has_generic_class`).

    Returns
    -------
    dict
        The JSON object of the hypothesis `membership`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 0]], [1]), ([[1]], [0])])
    >>> generic_membership(net)
    {'status': 'refuted', 'method': 'product', 'rows': [0], 'column': 1}
    """
    refuted = _refutation(network)
    if refuted is not None:
        return {"status": "refuted", **refuted}
    minor = nonzero_minor(network.weight(1))
    if minor is None or not can_be_verified(network) or not _all_minors_nonzero(network):
        return dict(_OPEN)
    return {
        "status": "verified",
        "method": "minors",
        "prime": str(minor.prime),
        "columns": list(minor.columns),
    }


def deep_membership(network: Network) -> dict[str, Any]:
    """Return evidence on membership in the classes of transversal and of regular parameters.

    The evidence is the same for both (FORMAT.md §3.4): generic networks are transversal, hence
    regular. A refutation consists of two terms of a masked product of two layers that cancel, which
    neither class allows; in wide networks not all layers are searched for it.

    Parameters
    ----------
    network
        A plain stack with an affine output.

    Returns
    -------
    dict
        The JSON object of the hypothesis `membership`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> first, second = ([[1, 2], [3, 4]], [5, 6]), ([[1, 2], [3, -1]], [7, 8])
    >>> third, last = ([[1, 2], [2, 6]], [0, 0]), ([[1, 1]], [0])
    >>> deep_membership(from_arrays([first, second, third, last]))
    {'status': 'refuted', 'method': 'masks', 'layer': 1, 'masks': [[1], [0, 1], [0]]}
    """
    if has_generic_class(network):
        generic = generic_membership(network)
        if generic["status"] == "verified" or generic.get("method") == "product":
            return generic
    left = SETTINGS.max_paths
    for layer in range(1, network.depth - 2):
        left -= math.prod(network.widths[layer : layer + 3])
        found = None if left < 0 else _cancelling_pair(network, layer)
        if found is not None:
            j, pair, i = found
            return {
                "status": "refuted",
                "method": "masks",
                "layer": layer,
                "masks": [[j], list(pair), [i]],
            }
    return dict(_OPEN)


def sparse_membership(network: Network) -> dict[str, Any]:
    """Return evidence on membership in the class of sparse parameters.

    Generic networks are transversal, hence sparse. Zero weights refute nothing.

    >>> from polyrelu.network import from_arrays
    >>> first, second = ([[1, 2], [3, 4]], [5, 6]), ([[1, 0], [3, -1]], [7, 8])
    >>> sparse_membership(from_arrays([first, second, ([[1, 1]], [0])]))
    {'status': 'open'}
    """
    if has_generic_class(network):
        generic = generic_membership(network)
        if generic["status"] == "verified":
            return generic
    return dict(_OPEN)


def _cancelling_pair(network: Network, layer: int) -> tuple[int, tuple[int, int], int] | None:
    """Hidden neurons j, (h, k) and i of the layers ℓ, ℓ+1 and ℓ+2 whose two paths cancel.

    That is, W[ℓ+2]_ih W[ℓ+1]_hj + W[ℓ+2]_ik W[ℓ+1]_kj = 0.
    """
    columns = network.weight(layer + 1).transpose().integer_rows()
    for i, row in enumerate(network.weight(layer + 2).integer_rows()):
        for j, column in enumerate(columns):
            neuron_of_product: dict[int, int] = {}
            for h, product in enumerate(a * b for a, b in zip(row, column, strict=True)):
                if -product in neuron_of_product:
                    return j, (neuron_of_product[-product], h), i
                neuron_of_product[product] = h
    return None


def _num_minors(network: Network) -> int:
    """The number of square submatrices of [A | a]."""
    n1, n2 = network.widths[1:3]
    return math.comb(n1 + n2 + 1, n2) - 1


def _num_sums(network: Network) -> int:
    """The number of sums Σ_{i∈T} V_i A_ij."""
    n1, n2 = network.widths[1:3]
    return int(n1 << n2)


def _refutation(network: Network) -> dict[str, Any] | None:
    """A zero weight, a zero bias or a vanishing sum; sums only if all of them can be searched."""
    weight, bias = network.weight(2).signs(), network.bias(2).signs()
    for i, k in zip(*(weight == 0).nonzero(), strict=True):
        return {"method": "product", "rows": [int(i)], "column": int(k)}
    for i in (bias[:, 0] == 0).nonzero()[0]:
        return {"method": "bias", "row": int(i)}
    if _num_sums(network) > SUM_LIMIT:
        return None
    for j, column in enumerate(_columns(network.weight(2))):
        subset = vanishing_subset(network.weight(3), column).subset
        if subset is not None:
            return {"method": "product", "rows": list(subset), "column": j}
    return None


def _columns(matrix: RationalMatrix) -> Iterator[RationalMatrix]:
    """The columns up to a common factor, which does not change what sums vanish.

    This is much faster than `take` for one column after the other.
    """
    for entries in matrix.transpose().integer_rows():
        yield RationalMatrix.from_integers([[entry] for entry in entries])


def _all_minors_nonzero(network: Network) -> bool:
    n1, n2 = network.widths[1:3]
    rows = network.layers[1].augmented().integer_rows()
    for size in range(1, min(n1 + 1, n2) + 1):
        for chosen in itertools.combinations(rows, size):
            for columns in itertools.combinations(range(n1 + 1), size):
                if determinant([[row[k] for k in columns] for row in chosen]) == 0:
                    return False
    return True
