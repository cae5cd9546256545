"""Betti numbers of a closed union of polyhedra by brute force: the order complex of its face poset.

The cells are contractible, bounded or not, and the inclusions of their faces are cofibrations, so
the union is homotopy equivalent to the simplicial complex of all chains of faces, unbounded cells
included. Its boundary matrices are reduced column by column, over GF(p) or with fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

__all__ = ["TooManyChainsError", "betti_numbers", "chains", "faces_by_signs"]

Chain = tuple[int, ...]
Column = dict[int, Any]


class TooManyChainsError(Exception):
    """More chains than were allowed."""


def faces_by_signs(keys: Sequence[Sequence[int]]) -> list[set[int]]:
    """For every cell, named by its signs, its proper faces.

    Their signs are the signs of the cell with some replaced by 0.
    """
    found = []
    for i, cell in enumerate(keys):
        faces = (all(a in (0, b) for a, b in zip(face, cell, strict=True)) for face in keys)
        found.append({j for j, is_face in enumerate(faces) if is_face and j != i})
    return found


def chains(faces: Sequence[set[int]], limit: int) -> list[list[Chain]]:
    """All chains of cells, from large ones to small ones, by length."""
    found: list[list[Chain]] = []
    level: list[Chain] = [(cell,) for cell in range(len(faces))]
    total = 0
    while level:
        total += len(level)
        if total > limit:
            raise TooManyChainsError(f"more than {limit} chains")
        found.append(level)
        level = [(*chain, cell) for chain in level for cell in sorted(faces[chain[-1]])]
    return found


def betti_numbers(faces: Sequence[set[int]], characteristic: int, limit: int = 10**6) -> list[int]:
    """The Betti numbers over Q (characteristic 0) or GF(p), up to the longest chain."""
    levels = chains(faces, limit)
    ranks = [0]
    for lower, upper in pairwise(levels):
        places = {chain: i for i, chain in enumerate(lower)}
        ranks.append(
            _rank([_boundary(chain, places, characteristic) for chain in upper], characteristic)
        )
    ranks.append(0)
    return [len(level) - ranks[k] - ranks[k + 1] for k, level in enumerate(levels)]


def _boundary(chain: Chain, places: dict[Chain, int], characteristic: int) -> Column:
    column: Column = {}
    for k in range(len(chain)):
        sign = -1 if k % 2 else 1
        column[places[chain[:k] + chain[k + 1 :]]] = (
            sign % characteristic if characteristic else Fraction(sign)
        )
    return column


def _rank(columns: list[Column], characteristic: int) -> int:
    reduced: dict[int, Column] = {}
    for column in columns:
        while column:
            low = max(column)
            pivot = reduced.get(low)
            if pivot is None:
                reduced[low] = column
                break
            quotient = _quotient(column[low], pivot[low], characteristic)
            for i, entry in pivot.items():
                value = column.get(i, 0) - quotient * entry
                value = value % characteristic if characteristic else value
                if value:
                    column[i] = value
                else:
                    column.pop(i, None)
    return len(reduced)


def _quotient(a: Any, b: Any, characteristic: int) -> Any:
    return a * pow(b, -1, characteristic) % characteristic if characteristic else a / b
