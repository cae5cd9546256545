"""Points with the exact outputs there, which people can check without a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from polyrelu.certificate import number_text, vector_text
from polyrelu.errors import ArgumentError
from polyrelu.exact import format_rational
from polyrelu.support.arguments import expect
from polyrelu.support.display import bracketed, html_table

__all__ = ["Collision", "NearPair", "Witness"]


class _Vectors:
    """Base of points with outputs: exact vectors, shown one a line."""

    __slots__ = ()

    #: For each field what it is called in texts, and its key in JSON.
    _names: ClassVar[dict[str, tuple[str, str]]]
    #: Two fields that have the same length, and what their entries are.
    _same_length: ClassVar[tuple[str, str, str]]

    def __post_init__(self) -> None:
        for name in self._names:
            numbers = expect(getattr(self, name), tuple, name)
            if not numbers or not all(isinstance(number, Fraction) for number in numbers):
                raise ArgumentError(f"{name}: expected a tuple of at least one Fraction")
        one, other, entries = self._same_length
        sizes = len(getattr(self, one)), len(getattr(self, other))
        if sizes[0] != sizes[1]:
            raise ArgumentError(f"{one} and {other}: {sizes[0]} {entries} and {sizes[1]}")

    def __str__(self) -> str:
        return "\n".join(f"{name}: {text}" for name, text in self._rows())

    def _repr_html_(self) -> str:
        return html_table(self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        """The vectors with their names in texts."""
        numbers = self.to_json()
        return [(name, vector_text(numbers[key])) for name, key in self._names.values()]

    def to_json(self) -> dict[str, list[str]]:
        """Return the numbers as text, as certificates and `--json` have them."""
        return {
            key: list(map(format_rational, getattr(self, field)))
            for field, (_, key) in self._names.items()
        }


@dataclass(frozen=True, slots=True, repr=False)
class Witness(_Vectors):
    """A point and the exact outputs of two networks there.

    Attributes
    ----------
    x
        The coordinates of the point.
    f, g
        The outputs of the first and of the second network.

    Examples
    --------
    >>> Witness((Fraction(1),), (Fraction(2),), (Fraction(1, 2),)).difference()
    'output 0 differs most: f(x) - g(x) = 3/2'
    """

    x: tuple[Fraction, ...]
    f: tuple[Fraction, ...]
    g: tuple[Fraction, ...]

    _names: ClassVar = {"x": ("x", "x"), "f": ("f(x)", "f"), "g": ("g(x)", "g")}
    _same_length: ClassVar = ("f", "g", "outputs")

    def __repr__(self) -> str:
        return bracketed(f"Witness: {self.difference()}")

    def difference(self) -> str:
        """Return a sentence with the output that differs most and the difference."""
        differences = [a - b for a, b in zip(self.f, self.g, strict=True)]
        i = max(range(len(differences)), key=lambda k: abs(differences[k]))
        return (
            f"output {i} differs most: f(x) - g(x) = {number_text(format_rational(differences[i]))}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Collision(_Vectors):
    """Two different points with equal outputs.

    Attributes
    ----------
    x, y
        The coordinates of the points.
    value
        The outputs at both of them.

    Examples
    --------
    >>> print(Collision((Fraction(-1),), (Fraction(-2),), (Fraction(0),)))
    x: -1
    y: -2
    f(x) = f(y): 0
    """

    x: tuple[Fraction, ...]
    y: tuple[Fraction, ...]
    value: tuple[Fraction, ...]

    _names: ClassVar = {"x": ("x", "x"), "y": ("y", "y"), "value": ("f(x) = f(y)", "f")}
    _same_length: ClassVar = ("x", "y", "coordinates")

    def __repr__(self) -> str:
        return bracketed(f"Collision of {self._rows()[0][1]} with {self._rows()[1][1]}")


@dataclass(frozen=True, slots=True, repr=False)
class NearPair(_Vectors):
    """Two points and the exact outputs there, near each other relative to the points.

    Attributes
    ----------
    x, y
        The coordinates of the points.
    f, g
        The outputs at x and at y.

    Examples
    --------
    >>> one, two = (Fraction(1),), (Fraction(2),)
    >>> NearPair(one, two, one, one)
    <NearPair 1 and 2>
    """

    x: tuple[Fraction, ...]
    y: tuple[Fraction, ...]
    f: tuple[Fraction, ...]
    g: tuple[Fraction, ...]

    _names: ClassVar = {
        "x": ("x", "x"),
        "y": ("y", "y"),
        "f": ("f(x)", "f"),
        "g": ("f(y)", "g"),
    }
    _same_length: ClassVar = ("x", "y", "coordinates")

    def __repr__(self) -> str:
        return bracketed(f"NearPair {self._rows()[0][1]} and {self._rows()[1][1]}")
