"""What became of a condition of a theorem: it holds, fails, or was not decided; with what shows it.

The theorems on deep networks ask for conditions on a network and a domain. Each has a function that returns a
`Condition`; a bound on the work is never passed in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any, Generic, Literal, TypeVar

from polyrelu.errors import DomainError
from polyrelu.exact.rational import format_rational
from polyrelu.network import Network, NeuronId

__all__ = [
    "Condition",
    "Parts",
    "Status",
    "UndefinedError",
    "combined",
    "neuron_text",
    "point_text",
    "require_plain",
]

Status = Literal["holds", "fails", "unchecked", "undefined"]

E = TypeVar("E", covariant=True)


@dataclass(frozen=True, slots=True)
class Condition(Generic[E]):
    """A condition and what is known of it.

    Attributes
    ----------
    name : one word, as in JSON.
    status : "holds"; "fails"; "unchecked" where the bound on the work was reached first; "undefined" where the
        definition does not cover the network or the domain.
    checked : how many things were looked at and are as they should be; for "holds" these are all there are.
    subject : what these things are.
    evidence : for "fails" what violates the condition; for "holds" what proves it, where that is more than a count.
    reason : why it is "unchecked" or "undefined".

    >>> print(Condition("transparent", "holds", 7, "regions"))
    transparent: holds, 7 regions
    """

    name: str
    status: Status
    checked: int
    subject: str
    evidence: E | None = None
    reason: str = ""

    @property
    def detail(self) -> str:
        """What stands behind the status, for people."""
        if self.status == "fails":
            return str(self.evidence)
        return f"{self.checked} {self.subject}" if self.status == "holds" else self.reason

    def __str__(self) -> str:
        return f"{self.name}: {self.status}, {self.detail}"

    def to_json(self) -> dict[str, Any]:
        """The condition as JSON data; rational numbers are text.

        >>> Condition("transparent", "unchecked", 3, "regions", reason="3 regions of many").to_json()
        {'name': 'transparent', 'status': 'unchecked', 'checked': 3, 'subject': 'regions', 'evidence': None,
        'reason': '3 regions of many'}
        """
        return {field.name: _as_json(getattr(self, field.name)) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class Parts:
    """The evidence of a condition that is several others together."""

    conditions: tuple[Condition[Any], ...]

    def __str__(self) -> str:
        return ", ".join(
            f"{part.name} {part.status}" for part in self.conditions if part.status != "holds"
        )

    def to_json(self) -> dict[str, str]:
        """The status of each part by its name."""
        return {part.name: part.status for part in self.conditions}


def combined(name: str, parts: Sequence[Condition[Any]]) -> Condition[Parts]:
    """All of several conditions: undefined if one of them is, else failing if one fails, else unchecked if one is.

    >>> one, other = Condition("a", "holds", 2, "cells"), Condition("b", "unchecked", 5, "masks", reason="5 of 9 masks")
    >>> print(combined("both", [one, other]))
    both: unchecked, b unchecked
    """
    order: tuple[Status, ...] = ("undefined", "fails", "unchecked")
    status: Status = next(
        (status for status in order if any(part.status == status for part in parts)), "holds"
    )
    evidence = Parts(tuple(parts))
    holding = sum(part.status == "holds" for part in parts)
    reason = "" if status in ("holds", "fails") else str(evidence)
    return Condition(name, status, holding, "conditions", evidence, reason)


class UndefinedError(DomainError):
    """A condition is not defined for this network or domain."""


def require_plain(network: Network, what: str) -> None:
    """Refuse networks with skip connections."""
    if not network.is_plain:
        raise UndefinedError(f"{what}: defined for networks without skip connections only")


def neuron_text(neuron: NeuronId) -> str:
    """A neuron in words."""
    return f"neuron {neuron.index} of layer {neuron.layer}"


def point_text(point: Sequence[Fraction]) -> str:
    """A point or a row in exact numbers."""
    return f"({', '.join(map(format_rational, point))})"


def _as_json(value: Any) -> Any:
    if isinstance(value, Fraction):
        return format_rational(value)
    if isinstance(value, Parts):
        return value.to_json()
    if isinstance(value, tuple):
        return [_as_json(entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _as_json(getattr(value, field.name)) for field in fields(value)}
    return value
