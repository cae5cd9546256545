"""Entries of sparse matrices as codes: entry i is ``values[codes[i]]``.

The values are arrays of `integer_arrays`. Arithmetic on entries is arithmetic on values wherever
one value stands for many entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact.integer_arrays import products
from polyrelu.support.typing import Indices

__all__ = ["as_integers", "coded_products", "sorted_entries", "used_values"]


def as_integers(integers: Sequence[int] | NDArray[Any]) -> NDArray[Any]:
    """Return integers as int64, if they are given so, and else as an array of Python integers."""
    if isinstance(integers, np.ndarray) and integers.dtype in (object, np.int64):
        return integers
    array = np.empty(len(integers), dtype=object)
    array[:] = integers if isinstance(integers, list) else list(map(int, integers))
    return array


def sorted_entries(
    keys: Indices, columns: Indices, codes: Indices
) -> tuple[Indices, Indices, Indices]:
    """Return the places of entries, their columns and their codes in the order of the places."""
    if (keys[1:] >= keys[:-1]).all():
        return keys, columns, codes
    order = np.argsort(keys, kind="stable")
    return keys[order], columns[order], codes[order]


def used_values(values: NDArray[Any], codes: Indices) -> tuple[NDArray[Any], Indices]:
    """Return the values that have a code, and the codes of the entries among these."""
    used = np.zeros(len(values), dtype=bool)
    used[codes] = True
    return (values, codes) if used.all() else (values[used], (np.cumsum(used) - 1)[codes])


def coded_products(
    left: NDArray[Any], left_codes: Indices, right: NDArray[Any], right_codes: Indices
) -> tuple[NDArray[Any], Indices]:
    """Return the values and codes of the products of two lists of coded entries.

    Where the code of one factor determines the code of the other, as for a convolution whose
    channels are scaled, there is one product for each code.
    """
    for (one, codes), (other, others) in (
        ((right, right_codes), (left, left_codes)),
        ((left, left_codes), (right, right_codes)),
    ):
        partner = np.zeros(len(one), dtype=np.int64)
        partner[codes] = others
        if len(other) and np.array_equal(partner[codes], others):
            return products(one, other[partner]), codes
    pairs = left_codes * len(right) + right_codes
    if len(left) * len(right) <= len(pairs):
        table = products(left[:, None], right[None, :]).reshape(-1)
        return table, pairs
    return products(left[left_codes], right[right_codes]), np.arange(len(pairs))
