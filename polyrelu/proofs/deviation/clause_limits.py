"""Up to which bounds clauses need no further cut, given the best points of all clauses.

A search and its tasks have to agree on that while they find better points. So limits are values
that can be sent, and not functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from polyrelu.proofs.deviation.box_search import Goal
from polyrelu.proofs.deviation.points import BestPoint
from polyrelu.support.parallel.wire import exact_numbers, exact_texts

__all__ = ["ClauseLimits", "FixedLimits", "GoalLimits", "RangeLimits", "limits_from"]


class ClauseLimits(Protocol):
    """The limits of all clauses."""

    def of(self, clause: int, best: Sequence[BestPoint]) -> Fraction:
        """Return the number up to which the bound of a clause needs no further cut."""

    def to_json(self) -> list[Any]:
        """Return the limits for a task."""


@dataclass(frozen=True, slots=True)
class GoalLimits:
    """The goal of a search for one number, to which all clauses belong."""

    goal: Goal

    def of(self, clause: int, best: Sequence[BestPoint]) -> Fraction:
        """See `ClauseLimits`."""
        return self.goal.bound(best[clause].known_value)

    def to_json(self) -> list[Any]:
        """See `ClauseLimits`."""
        return ["goal", self.goal.to_texts()]


@dataclass(frozen=True, slots=True)
class RangeLimits:
    """A share of the length of a range; clauses are its two ends, one after the other."""

    gap: Fraction

    def of(self, clause: int, best: Sequence[BestPoint]) -> Fraction:
        """See `ClauseLimits`."""
        own, other = best[clause].known_value, best[clause ^ 1].known_value
        return own + self.gap * (own + other)

    def to_json(self) -> list[Any]:
        """See `ClauseLimits`."""
        return ["range", exact_texts([self.gap])]


@dataclass(frozen=True, slots=True)
class FixedLimits:
    """A number for each clause."""

    values: tuple[Fraction, ...]

    def of(self, clause: int, best: Sequence[BestPoint]) -> Fraction:
        """See `ClauseLimits`."""
        return self.values[clause]

    def to_json(self) -> list[Any]:
        """See `ClauseLimits`."""
        return ["fixed", exact_texts(self.values)]


def limits_from(entries: Sequence[Any]) -> ClauseLimits:
    """Return the limits of a task."""
    kind, numbers = entries
    if kind == "goal":
        return GoalLimits(Goal.from_texts(numbers))
    if kind == "range":
        return RangeLimits(exact_numbers(numbers)[0])
    return FixedLimits(exact_numbers(numbers))
