"""Claims about the functions of networks: equality of two, and rounding errors of a runtime."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from polyrelu.certificate.claims.statement import (
    Statement,
    domain_terms,
    expect_network,
    name_of,
    plain_name,
)
from polyrelu.certificate.text import domain_text
from polyrelu.errors import ArgumentError
from polyrelu.exact import Polyhedron, decimal_above, format_rational
from polyrelu.network import Network
from polyrelu.support.arguments import expect, expect_choice

__all__ = ["PairClaim", "RuntimeClaim"]


@dataclass(frozen=True, slots=True, repr=False)
class PairClaim(Statement):
    """The claim that two networks compute the same function on a domain, or do not.

    FORMAT.md, section 3.8, has the details.

    Attributes
    ----------
    kind
        `equivalent` or `not-equivalent`.
    network
        The first network.
    other
        The second network.
    domain
        A polyhedron whose equations are in reduced echelon form.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net, line = from_arrays([([[1]], [0])]), Polyhedron.universe(1)
    >>> PairClaim("equivalent", net, net, line).terms()
    {'domain': {'inequalities': [], 'equations': []}}
    """

    kind: Literal["equivalent", "not-equivalent"]
    network: Network
    other: Network
    domain: Polyhedron
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        expect_choice(self.kind, ("equivalent", "not-equivalent"), "kind")
        expect_network(self.network, "network")
        expect_network(self.other, "other")
        expect(self.domain, Polyhedron, "domain")

    @property
    def networks(self) -> dict[str, Network]:
        """The networks by their keys in the certificate."""
        return {"network": self.network, "other": self.other}

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {"domain": domain_terms(self.domain)}

    @property
    def summary(self) -> str:
        """The claim in short."""
        names = " and ".join(map(name_of, self.networks.values()))
        verb = "are" if self.kind == "equivalent" else "are not"
        return f"{names} {verb} equivalent on {domain_text(self.terms()['domain'])}"

    def __str__(self) -> str:
        place = domain_text(self.terms()["domain"])
        names = " and ".join(map(name_of, self.networks.values()))
        if self.network == self.other:
            same = name_of(self.network)
            return f"Both are one network, {same}, so they compute the same function on {place}."
        if self.kind == "equivalent":
            return f"The networks {names} compute the same function on {place}."
        return f"The networks {names} do not compute the same function on {place}."


@dataclass(frozen=True, slots=True, repr=False)
class RuntimeClaim(Statement):
    """The claim that a float runtime stays close to the exact function on a box.

    FORMAT.md, section 3.7, has the details.

    Attributes
    ----------
    network
        The network that the claim is about.
    lower
        The lower corner of the box, one number for each input.
    upper
        The upper corner of the box, one number for each input.
    arithmetic
        The format of the runtime, `float32` or `float64`, which computes layer by layer.
    at_most
        A bound of the absolute error of each output.
    kind
        Always `runtime-error`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net, one = from_arrays([([[1]], [0])]), Fraction(1)
    >>> claim = RuntimeClaim(net, (-one,), (one,), "float32", (Fraction(1, 2**20),))
    >>> claim.terms()["at-most"]
    ['1/1048576']
    """

    network: Network
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]
    arithmetic: str
    at_most: tuple[Fraction, ...]
    kind: Literal["runtime-error"] = "runtime-error"
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        expect_network(self.network, "network")
        expect(self.arithmetic, str, "arithmetic")
        for name in ("lower", "upper", "at_most"):
            numbers = expect(getattr(self, name), tuple, name)
            if not numbers or not all(isinstance(number, Fraction) for number in numbers):
                raise ArgumentError(f"{name}: expected a tuple of at least one Fraction")

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        lower, upper, at_most = (
            list(map(format_rational, part)) for part in (self.lower, self.upper, self.at_most)
        )
        return {
            "domain": {"lower": lower, "upper": upper},
            "arithmetic": self.arithmetic,
            "at-most": at_most,
        }

    @property
    def summary(self) -> str:
        """The claim in short."""
        bound = decimal_above(max(self.at_most))
        return f"{plain_name(self.network)} in {self.arithmetic}, error at most {bound}"

    def __str__(self) -> str:
        return (
            f"The {plain_name(self.network)}, computed layer "
            f"by layer in {self.arithmetic}, differs from its exact function by at most "
            f"{decimal_above(max(self.at_most))} on the box."
        )
