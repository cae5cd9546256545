"""What an audit says about single items: verdicts, and findings with exact witnesses.

Each claimed item gets a verdict. Items that are not right, and exact items that nobody claims, are
findings. A finding has a point with rational coordinates as far as there is one, a size, and
causes; a cause is named only if its check succeeded, and its text says what was checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from polyrelu.exact import decimal_above, format_rational
from polyrelu.support.display import bracketed, shortened
from polyrelu.support.typing import Point

__all__ = ["DIFFERENCES", "Cause", "Finding", "Verdict", "number_text"]

#: What an audit says about an item. Nothing was found against an item that is *not refuted*.
Verdict = Literal["right", "missing", "extra", "duplicated", "wrong", "not refuted"]
#: The verdicts that are differences from the exact answer.
DIFFERENCES: tuple[Verdict, ...] = ("missing", "extra", "duplicated", "wrong")
#: Number of characters up to which a number is written exactly in a sentence.
_SHORT = 12
#: Numbers smaller than this, and larger than its inverse, are beyond the range of floats.
_SMALLEST = Fraction(1, 10**300)


def number_text(value: Fraction) -> str:
    """Return a number for a sentence: exactly if it is short, else a rounded decimal.

    >>> number_text(Fraction(1, 3)), number_text(Fraction(1, 3**40))
    ('1/3', 'about 8.22526e-20')
    """
    if value.numerator.bit_length() + value.denominator.bit_length() < 4 * _SHORT:
        text = format_rational(value)
        if len(text) <= _SHORT:
            return text
    if _SMALLEST < abs(value) < 1 / _SMALLEST:
        return f"about {float(value):.6g}"
    return f"about {decimal_above(value)}"


@dataclass(frozen=True, slots=True)
class Cause:
    """A checked reason for a difference.

    Attributes
    ----------
    name
        One of the names in docs/how-to/audit.md, such as ``sliver``.
    evidence
        What was checked, as a sentence.

    Examples
    --------
    >>> print(Cause("flipped sign", "with the sign of neuron 0 of layer 1 changed it is a region"))
    flipped sign: with the sign of neuron 0 of layer 1 changed it is a region
    """

    name: str
    evidence: str

    def __str__(self) -> str:
        return f"{self.name}: {self.evidence}"


@dataclass(frozen=True, slots=True, repr=False)
class Finding:
    """One difference between a claim and the exact answer, or one claim that nothing decides.

    Attributes
    ----------
    subject
        What the item is: ``region``, ``vertex``, ``output``, ….
    verdict
        The verdict.
    message
        What differs, as a sentence.
    item
        Index of the claimed item, from 0; None for an exact item that is missing.
    exact
        Index of the exact item, such as a region of the complex; None if there is none.
    witness
        A point at which the difference can be seen; None if there is no such point.
    size
        How large the difference is; None if it has no size.
    measure
        What `size` measures, such as ``inradius`` or ``distance``; empty without a size.
    causes
        The causes whose checks succeeded.

    Examples
    --------
    >>> print(Finding("vertex", "wrong", "vertex 3 is off", 3, 5, (Fraction(1, 3),), Fraction(1, 9),
    ...     "distance"))
    wrong vertex: vertex 3 is off
    witness: (1/3)
    distance: 1/9
    """

    subject: str
    verdict: Verdict
    message: str
    item: int | None = None
    exact: int | None = None
    witness: Point | None = None
    size: Fraction | None = None
    measure: str = ""
    causes: tuple[Cause, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.verdict} {self.subject}: {self.message}"]
        if self.witness is not None:
            lines.append(f"witness: {_point_text(self.witness)}")
        if self.size is not None:
            lines.append(f"{self.measure}: {number_text(self.size)}")
        return "\n".join([*lines, *(f"cause: {cause}" for cause in self.causes)])

    def __repr__(self) -> str:
        return bracketed(f"Finding, {self.verdict} {self.subject}: {self.message}")

    def to_json(self) -> dict[str, Any]:
        """Return the finding as an object of JSON; numbers are texts ``p`` or ``p/q``."""
        witness = None if self.witness is None else list(map(format_rational, self.witness))
        return {
            "subject": self.subject,
            "verdict": self.verdict,
            "message": self.message,
            "item": self.item,
            "exact": self.exact,
            "witness": witness,
            "size": None if self.size is None else format_rational(self.size),
            "measure": self.measure,
            "causes": [{"name": cause.name, "evidence": cause.evidence} for cause in self.causes],
        }


def _point_text(point: Point) -> str:
    """Return a point in parentheses; long coordinates and many of them are shortened."""
    texts = [shortened(format_rational(entry), 48) for entry in point[:8]]
    return f"({', '.join([*texts, '…'] if len(point) > 8 else texts)})"
