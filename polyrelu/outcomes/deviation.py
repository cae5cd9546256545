"""Answers to the questions how far two networks differ, and which values outputs take."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

from polyrelu.certificate import BoundsCertificate, SubBox, number_text
from polyrelu.exact import decimal_above, decimal_below, format_rational
from polyrelu.outcomes.answers import Proved, Refuted, answer_text, meaning_of
from polyrelu.outcomes.points import Witness
from polyrelu.outcomes.work import BoundStatistics
from polyrelu.support.display import bracketed, count_text

__all__ = ["DeviationBounds", "DeviationExceeded", "LipschitzBounds", "RangeBounds", "ValueRange"]


@dataclass(frozen=True, slots=True, repr=False)
class ValueRange:
    """Bounds of the least and of the largest value of an output on a domain.

    Attributes
    ----------
    output
        The index of the output.
    minimum, maximum
        Each a lower and an upper bound; equal if the value is known exactly.
    at_minimum, at_maximum
        Points whose outputs show the inner bounds: the upper one of the minimum, and the lower one
        of the maximum.

    Examples
    --------
    >>> zero, one, half = Fraction(0), Fraction(1), Fraction(1, 2)
    >>> print(ValueRange(0, (zero, zero), (one, one), (half,), (one,)))
    output 0: least value 0, largest value 1
    """

    output: int
    minimum: tuple[Fraction, Fraction]
    maximum: tuple[Fraction, Fraction]
    at_minimum: tuple[Fraction, ...]
    at_maximum: tuple[Fraction, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the numbers as text."""
        entries = ("minimum", "maximum", "at_minimum", "at_maximum")
        numbers = {key: list(map(format_rational, getattr(self, key))) for key in entries}
        return {"output": self.output, **numbers}

    def __str__(self) -> str:
        low, high = _between_text(self.minimum), _between_text(self.maximum)
        return f"output {self.output}: least value {low}, largest value {high}"

    def __repr__(self) -> str:
        return bracketed(f"ValueRange, {self}")


@dataclass(frozen=True, slots=True, repr=False)
class DeviationBounds(Proved[BoundsCertificate]):
    """The largest difference of two networks on a domain lies between two bounds.

    Attributes
    ----------
    certificate
        The certificate that says why.
    witness
        The point with the largest difference that was found.
    at_least, at_most
        The bounds: the difference at the point, and what no difference on the domain exceeds,
        outside of the boxes that the claim excludes.
    values_seen
        The least and the largest output of the first network at the points tried, for the output
        that differs most at the witness: what the difference is to be compared with.
    covered
        Share of the volume of the box around the domain on which the upper bound is proved.
    search
        How the bounds were found.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> net = polyrelu.from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    >>> copy = polyrelu.from_arrays([([[1], ["-7/8"]], [0, 0]), ([[1, 1]], [0])])
    >>> found = polyrelu.deviation(net, copy, "box:-1,1")
    >>> found.at_least, found.at_most, found.witness.x
    (Fraction(1, 8), Fraction(1, 8), (Fraction(-1, 1),))
    """

    witness: Witness
    at_least: Fraction
    at_most: Fraction
    values_seen: tuple[Fraction, Fraction]
    covered: Fraction
    search: BoundStatistics

    @property
    def is_exact(self) -> bool:
        """Whether both bounds agree."""
        return self.at_least == self.at_most and self.covered == 1

    @property
    def open_boxes(self) -> tuple[SubBox, ...]:
        """The boxes, in the coordinates of the domain, on which the upper bound is not proved."""
        claim: Any = self.certificate.claim
        boxes: tuple[SubBox, ...] = claim.excluded
        return boxes

    def _remarks(self) -> list[str]:
        low, high = (number_text(format_rational(value)) for value in self.values_seen)
        seen = f"at the points tried, that output of the first network is from {low} to {high}"
        boxes = len(self.open_boxes)
        share = decimal_below(100 * self.covered, digits=4)
        open_part = [f"proved on {share} % of the box; {boxes} boxes are open"] if boxes else []
        added = self.certificate.unverified.get("added-layers")
        note = [f"{added}; the certificate is about the deeper network"] if added else []
        return [*open_part, self.witness.difference(), seen, *note, str(self.search)]


@dataclass(frozen=True, slots=True, repr=False)
class DeviationExceeded(Refuted):
    """The difference of two networks exceeds a given number at a point of the domain.

    Attributes
    ----------
    certificate
        The certificate, which has the point.
    limit
        The number that is exceeded.
    witness
        The point.
    search
        How it was found.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> one, other = polyrelu.from_arrays([([[1]], [0])]), polyrelu.from_arrays([([[1]], [2])])
    >>> polyrelu.deviation(one, other, "box:0,1", at_most=1).witness.difference()
    'output 0 differs most: f(x) - g(x) = -2'
    """

    certificate: BoundsCertificate  # type: ignore[assignment]
    limit: Fraction
    witness: Witness
    search: BoundStatistics

    def __str__(self) -> str:
        limit = number_text(format_rational(self.limit))
        lines = [
            f"refuted: the outputs differ by more than {limit} at a point of the domain.",
            self.statement,
            *str(self.witness).splitlines(),
            self.witness.difference(),
            str(self.search),
        ]
        return answer_text([*lines, meaning_of(self.certificate)], self.next)

    @property
    def statement(self) -> str:
        """The sentence that the point shows; no upper bound is proved anywhere."""
        claim: Any = self.certificate.claim
        return str(claim.lower_statement)


@dataclass(frozen=True, slots=True, repr=False)
class RangeBounds(Proved[BoundsCertificate]):
    """The least and largest values of outputs on a domain lie between bounds.

    Attributes
    ----------
    certificate
        The certificate that says why.
    ranges
        The bounds of each output.
    search
        How the bounds were found.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> polyrelu.output_range("example:xor", "box:-1,1").ranges
    (<ValueRange, output 0: least value -3, largest value 1>,)
    """

    ranges: tuple[ValueRange, ...]
    search: BoundStatistics

    def _remarks(self) -> list[str]:
        return [*map(str, self.ranges), str(self.search)]


@dataclass(frozen=True, slots=True, repr=False)
class LipschitzBounds(Proved[BoundsCertificate]):
    """The Lipschitz constant of outputs on a domain lies between two bounds.

    Attributes
    ----------
    certificate
        The certificate that says why.
    at_least, at_most
        Bounds of the largest norm of a gradient; of its square for the 2-norm.
    search
        How the bounds were found.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> found = polyrelu.lipschitz_bounds("example:xor", "box:-1,1")
    >>> found.at_least, found.at_most
    (Fraction(4, 1), Fraction(4, 1))
    """

    at_least: Fraction
    at_most: Fraction
    search: BoundStatistics

    @property
    def is_exact(self) -> bool:
        """Whether both bounds agree."""
        return self.at_least == self.at_most

    @property
    def norm(self) -> str:
        """The norm of gradients: ``1``, ``2`` or ``inf``."""
        claim: Any = self.certificate.claim
        return str(claim.norm)

    def _remarks(self) -> list[str]:
        parts = (self.search.num_nodes, "node"), (self.search.num_leaves, "leaf")
        remarks = [count_text(parts)]
        if self.norm == "2":
            low, high = decimal_below(_root(self.at_least)), decimal_above(_root(self.at_most, 1))
            remarks.insert(0, f"the constant itself is from {low} to {high}")
        return remarks


def _root(square: Fraction, more: int = 0) -> Fraction:
    """Return a number below the root of a number, or above it."""
    unit = 10**12 * square.denominator
    return Fraction(isqrt(square.numerator * square.denominator * 10**24) + more, unit)


def _between_text(bounds: tuple[Fraction, Fraction]) -> str:
    """Return bounds in words, rounded outwards."""
    if bounds[0] == bounds[1]:
        return number_text(format_rational(bounds[0]))
    return f"from {decimal_below(bounds[0])} to {decimal_above(bounds[1])}"
