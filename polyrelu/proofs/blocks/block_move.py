"""Other networks of the same blocks with the same function, and their evidence."""

from __future__ import annotations

from typing import Any, NamedTuple

from polyrelu.network import Network

__all__ = ["BlockMove"]


class BlockMove(NamedTuple):
    """Another network of the same blocks with the same function.

    Attributes
    ----------
    theorem
        The theorem of FORMAT.md §3.14 that shows that the functions agree.
    evidence
        The evidence of `same-function`.
    difference
        The evidence of `not-related`.
    other
        The other network.
    explanation
        Why the functions agree, in words.
    """

    theorem: str
    evidence: dict[str, Any]
    difference: dict[str, int]
    other: Network
    explanation: str
