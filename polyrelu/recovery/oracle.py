"""Oracles: functions that are asked for their values at points, with a count of the queries."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from polyrelu.errors import ArgumentError, DomainError
from polyrelu.exact import Polyhedron, dot, to_fraction
from polyrelu.support.arguments import expect_count
from polyrelu.support.parallel import TaskStream
from polyrelu.support.parallel.wire import exact_numbers, exact_texts, packed, understood, unpacked
from polyrelu.support.typing import Point, Vector

__all__ = ["Oracle", "QueriesSpentError", "ask", "difference", "scaled"]

#: Takes a point, a tuple of exact numbers, and returns a row of numbers.
Function = Callable[[Point], Sequence[Any]]

#: How many rounding errors two values may differ by and still count as equal.
_ROUNDINGS = 256


class QueriesSpentError(Exception):
    """The number of queries that was allowed is used up."""


class Oracle:
    """A function on R^n or a polyhedron that can only be asked for its values.

    Points are asked for once: a value that is known already is no query.

    Parameters
    ----------
    function
        Takes a point, a tuple of n exact numbers, and returns its outputs.
    num_inputs
        n.
    domain
        Where the function may be asked; None is R^n.
    relative_error
        The relative error of a value: 0 for exact functions, 2^-52 for float64. The values of a
        function with an error are asked for at the nearest points whose coordinates are float64.
    max_queries
        The number of queries after which `QueriesSpentError` is raised; None is no limit.
    seed
        Determines all random points and directions.
    answers
        A stream of tasks of `ask`, which asks the function and may keep the answers in a
        checkpoint; None to ask it directly.

    Attributes
    ----------
    num_queries
        The number of points that were asked for.
    num_kept
        How many of `max_queries` are kept for later.

    Raises
    ------
    ArgumentError
        The error is negative; or, when it is asked, the function returns no row of numbers.
    DomainError
        The domain has no interior.

    Examples
    --------
    >>> oracle = Oracle(lambda x: (abs(x[0]),), 1)
    >>> oracle((Fraction(-2),)), oracle((Fraction(-2),)), oracle.num_queries
    ((Fraction(2, 1),), (Fraction(2, 1),), 1)
    """

    def __init__(
        self,
        function: Function,
        num_inputs: int,
        *,
        domain: Polyhedron | None = None,
        relative_error: Fraction = Fraction(0),
        max_queries: int | None = None,
        seed: int = 0,
        answers: TaskStream | None = None,
    ) -> None:
        if domain is not None and domain.dimension < num_inputs:
            raise DomainError("the domain: expected one with interior; recovery looks at all sides")
        if relative_error < 0:
            raise ArgumentError(f"relative_error: expected a number >= 0, got {relative_error}")
        self.num_inputs, self.domain = num_inputs, domain
        self.relative_error, self.max_queries = relative_error, max_queries
        self.random = random.Random(expect_count(seed, "seed"))
        self.num_queries = self.num_kept = 0
        self._function, self._answers = function, answers
        self._known: dict[Point, Vector] = {}

    @property
    def is_exact(self) -> bool:
        """Whether the values have no error."""
        return not self.relative_error

    def __call__(self, x: Point) -> Vector:
        """Return the outputs at a point."""
        if not self.is_exact:
            x = tuple(Fraction(float(entry)) for entry in x)
        found = self._known.get(x)
        if found is None:
            if self.max_queries is not None and (
                self.num_queries >= self.max_queries - self.num_kept
            ):
                raise QueriesSpentError
            self.num_queries += 1
            found = self._known[x] = self._outputs(x)
        return found

    def known_points(self) -> list[Point]:
        """Return all points that were asked for."""
        return list(self._known)

    def _outputs(self, x: Point) -> Vector:
        """Ask the function."""
        if self._answers is None:
            found = _numbers(self._function(x))
        else:
            self._answers.add(packed(exact_texts(x)))
            texts = unpacked(self._answers.take())
            with understood():
                found = exact_numbers(texts)
        num_outputs = len(next(iter(self._known.values()), found))
        if not found or len(found) != num_outputs:
            raise ArgumentError(
                f"the function: expected equally many outputs at all points, at least one; got "
                f"{len(found)} at one point and {num_outputs} at another"
            )
        return found

    def same(self, u: Vector, v: Vector, growth: Fraction = Fraction(1)) -> bool:
        """Whether values are equal, up to their errors times `growth`."""
        if self.is_exact:
            return u == v
        largest = max(Fraction(1), *(abs(entry) for entry in (*u, *v)))
        bound = _ROUNDINGS * self.relative_error * largest * growth
        return all(abs(a - b) <= bound for a, b in zip(u, v, strict=True))

    def is_small(self, x: Fraction, size: Fraction) -> bool:
        """Whether a number computed from differences of values is 0, beside numbers of a size."""
        if self.is_exact:
            return not x
        return abs(x) <= size / 2**12

    def direction(self) -> Vector:
        """Return a random direction; all entries differ from 0."""
        return tuple(self.entry() for _ in range(self.num_inputs))

    def entry(self) -> Fraction:
        """Return a random number between 1/4 and 1 in absolute value."""
        return Fraction(self.random.choice((-1, 1)) * self.random.randint(2**14, 2**16), 2**16)

    def between(self, low: Fraction, high: Fraction) -> Fraction:
        """Return a random number in the middle half of an interval, with few digits."""
        width = high - low
        exponent = (width.numerator.bit_length() - width.denominator.bit_length()) - 12
        unit = Fraction(2) ** exponent
        wanted = low + width * Fraction(self.random.randint(256, 768), 1024)
        return Fraction(round(wanted / unit)) * unit

    def reach(self, x: Point, direction: Vector) -> tuple[Fraction | None, Fraction | None]:
        """Return the least and the largest t for which x + t direction is in the domain."""
        low: Fraction | None = None
        high: Fraction | None = None
        for *row, right in self.domain.inequalities if self.domain is not None else ():
            slope, slack = dot(row, direction), right - dot(row, x)
            if slope > 0:
                high = slack / slope if high is None else min(high, slack / slope)
            elif slope < 0:
                low = slack / slope if low is None else max(low, slack / slope)
        return low, high


def ask(function: Function, task: bytes) -> bytes:
    """Ask a function at a point, as a task."""
    with understood():
        point = exact_numbers(unpacked(task))
    return packed(exact_texts(_numbers(function(point))))


def _numbers(outputs: Any) -> Vector:
    """Return what a function has returned at a point as exact numbers."""
    try:
        return () if isinstance(outputs, str | bytes) else tuple(map(to_fraction, outputs))
    except (TypeError, ValueError, DomainError) as error:
        raise ArgumentError(
            f"the function: expected finite numbers at a point, got {outputs!r}; "
            "it has to return one row of numbers"
        ) from error


def difference(u: Sequence[Fraction], v: Sequence[Fraction]) -> Vector:
    """Return u - v."""
    return tuple(a - b for a, b in zip(u, v, strict=True))


def scaled(u: Sequence[Fraction], factor: Fraction) -> Vector:
    """Return factor u."""
    return tuple(factor * a for a in u)
