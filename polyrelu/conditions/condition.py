"""The result of checking a condition of a theorem: its status, and the evidence for it.

The theorems on deep networks ask for conditions on a network and a domain. Each has a function
that returns a `Condition`, so that reports, JSON and the provers read all of them in one way. A
bound on the work is never passed in silence: beyond it the status is "unchecked".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any, Generic, Literal, TypeVar

from polyrelu.complex.polyhedral_complex import PolyhedralComplex
from polyrelu.errors import DomainError
from polyrelu.exact.rational import format_rational
from polyrelu.network import Network, NeuronId
from polyrelu.support.arguments import expect
from polyrelu.support.display import bracketed, html_columns

__all__ = [
    "Condition",
    "Parts",
    "Status",
    "UndefinedError",
    "as_complex",
    "combined",
    "neuron_text",
    "point_text",
    "require_plain",
]

#: What is known of a condition.
Status = Literal["holds", "fails", "unchecked", "undefined"]

#: Keys of the JSON output that differ from the name of the attribute.
_COUNT_KEYS = {"num_checked": "checked", "num_constraints": "constraints", "num_zeros": "zeros"}

#: The type of the evidence.
E = TypeVar("E", covariant=True)


@dataclass(frozen=True, slots=True, repr=False)
class Condition(Generic[E]):
    """A condition and what is known of it.

    Attributes
    ----------
    name
        One word, as in JSON.
    status
        "holds"; "fails"; "unchecked" if the bound on the work was reached first; "undefined" if the
        definition does not cover the network or the domain.
    num_checked
        The number of items (`subject`) that were checked and satisfy the condition; if it holds,
        these are all items.
    subject
        What the items are, such as "cells".
    evidence
        If it fails, what violates the condition; if it holds, what proves it, where the proof is
        more than the count.
    reason
        Why it is "unchecked" or "undefined".

    Examples
    --------
    >>> print(Condition("transparent", "holds", 7, "regions"))
    transparent: holds, 7 regions
    """

    name: str
    status: Status
    num_checked: int
    subject: str
    evidence: E | None = None
    reason: str = ""

    @property
    def detail(self) -> str:
        """The evidence, the count or the reason behind the status, as text."""
        if self.status == "fails":
            return str(self.evidence)
        return f"{self.num_checked} {self.subject}" if self.status == "holds" else self.reason

    def __str__(self) -> str:
        return f"{self.name}: {self.status}, {self.detail}"

    def __repr__(self) -> str:
        return bracketed(f"Condition, {self}")

    def _repr_html_(self) -> str:
        return html_columns(["condition", "status", ""], [[self.name, self.status, self.detail]])

    def to_json(self) -> dict[str, Any]:
        """Return the condition as JSON data; rational numbers are text.

        >>> opaque = Condition("transparent", "unchecked", 3, "regions", reason="3 regions of many")
        >>> opaque.to_json()
        {'name': 'transparent', 'status': 'unchecked', 'checked': 3, 'subject': 'regions',
        'evidence': None, 'reason': '3 regions of many'}
        """
        return _fields_as_json(self)


@dataclass(frozen=True, slots=True, repr=False)
class Parts:
    """The evidence of a condition that is a conjunction of other conditions.

    Attributes
    ----------
    conditions
        The conditions that it joins.

    Examples
    --------
    >>> one = Condition("a", "holds", 2, "cells")
    >>> other = Condition("b", "unchecked", 5, "masks", reason="5 of 9 masks")
    >>> print(Parts((one, other)))
    b unchecked
    """

    conditions: tuple[Condition[Any], ...]

    def __str__(self) -> str:
        return ", ".join(
            f"{part.name} {part.status}" for part in self.conditions if part.status != "holds"
        )

    def __repr__(self) -> str:
        parts = ", ".join(f"{part.name} {part.status}" for part in self.conditions)
        return bracketed(f"Parts, {parts}")

    def _repr_html_(self) -> str:
        rows = [[part.name, part.status, part.detail] for part in self.conditions]
        return html_columns(["condition", "status", ""], rows)

    def to_json(self) -> dict[str, str]:
        """Return the status of each part by its name."""
        return {part.name: part.status for part in self.conditions}


def combined(name: str, parts: Sequence[Condition[Any]]) -> Condition[Parts]:
    """Return the conjunction of several conditions.

    It is undefined if one of them is undefined; otherwise it fails if one fails; otherwise it is
    unchecked if one is unchecked.

    >>> one = Condition("a", "holds", 2, "cells")
    >>> other = Condition("b", "unchecked", 5, "masks", reason="5 of 9 masks")
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
    """The definition of a condition does not cover this network or domain."""


def as_complex(cells: object) -> PolyhedralComplex:
    """Return the argument itself if it is a complex, or raise an error that says what makes one."""
    remedy = "polyrelu.complex.canonical_complex(network, domain) makes one"
    return expect(cells, PolyhedralComplex, "cells", remedy)


def require_plain(network: Network, what: str) -> None:
    """Refuse networks with skip connections."""
    if not network.is_plain:
        raise UndefinedError(f"{what}: defined for networks without skip connections only")


def neuron_text(neuron: NeuronId) -> str:
    """Return a neuron in words."""
    return f"neuron {neuron.index} of layer {neuron.layer}"


def point_text(point: Sequence[Fraction]) -> str:
    """Return a point or a row in exact numbers."""
    return f"({', '.join(map(format_rational, point))})"


def _as_json(value: Any) -> Any:
    """JSON data for a value that may contain fractions, tuples and dataclasses."""
    if isinstance(value, Fraction):
        return format_rational(value)
    if isinstance(value, Parts):
        return value.to_json()
    if isinstance(value, tuple):
        return [_as_json(entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, type):
        return _fields_as_json(value)
    return value


def _fields_as_json(value: Any) -> dict[str, Any]:
    """The fields of a dataclass as JSON data, under the keys that the output has always had."""
    entries = {field.name: _as_json(getattr(value, field.name)) for field in fields(value)}
    return {_COUNT_KEYS.get(name, name): entry for name, entry in entries.items()}
