"""The answer that the values at some points determine a network."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from polyrelu.certificate import Certificate
from polyrelu.exact.vectors import add_multiple
from polyrelu.outcomes.answers import Proved

__all__ = ["TeachingSet"]


@dataclass(frozen=True, slots=True, repr=False)
class TeachingSet(Proved[Certificate]):
    """Points whose values determine a network among all with one hidden layer that is not wider.

    Attributes
    ----------
    certificate
        The certificate that says why.
    direction
        The direction of the lines.
    starts
        A point of each line.
    places
        The numbers t of the points start + t direction, for each line.
    values
        The outputs of the network at all points.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> hidden = polyrelu.from_arrays([([[1, 2], [3, -1]], [0, 2]), ([[1, -2]], [5])])
    >>> taught = polyrelu.teaching_set(hidden)
    >>> taught.status, len(taught.points), taught.pins
    ('proved', 10, 'parameters')
    """

    direction: tuple[Fraction, ...]
    starts: tuple[tuple[Fraction, ...], ...]
    places: tuple[tuple[Fraction, ...], ...]
    values: tuple[tuple[Fraction, ...], ...]

    @property
    def points(self) -> tuple[tuple[Fraction, ...], ...]:
        """All points, line by line."""
        return tuple(
            add_multiple(start, self.direction, t)
            for start, places in zip(self.starts, self.places, strict=True)
            for t in places
        )

    @property
    def pins(self) -> str:
        """What the values determine: "parameters", or only the "function"."""
        return str(self.certificate.claim.terms()["pins"])

    @property
    def per_parameter(self) -> float:
        """How many points there are for a parameter of the network."""
        return len(self.points) / self.certificate.claim.network.num_parameters

    def _remarks(self) -> list[str]:
        return [f"{self.per_parameter:.2f} points for a parameter"]
