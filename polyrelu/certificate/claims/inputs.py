"""Claims about different inputs: whether outputs differ, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

from polyrelu.certificate.claims.statement import (
    Statement,
    domain_terms,
    expect_network,
    name_of,
)
from polyrelu.certificate.text import domain_text, layers_text, number_text
from polyrelu.exact import Polyhedron, format_rational
from polyrelu.network import Network
from polyrelu.support.arguments import expect, expect_choice

__all__ = ["InjectivityClaim", "LipschitzClaim"]


@dataclass(frozen=True, slots=True, repr=False)
class InjectivityClaim(Statement):
    """The claim that layers of a network are injective on a domain, or are not.

    FORMAT.md, section 3.10, has the details.

    Attributes
    ----------
    kind
        `injective` or `not-injective`.
    network
        The network.
    layers
        The first and the last layer of the part that the claim is about, from 1.
    domain
        A polyhedron of inputs of the first of these layers, with equations in reduced echelon form.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0])], last="relu")
    >>> InjectivityClaim("injective", net, (1, 1), Polyhedron.universe(1)).terms()
    {'layers': [1, 1], 'domain': {'inequalities': [], 'equations': []}}
    """

    kind: Literal["injective", "not-injective"]
    network: Network
    layers: tuple[int, int]
    domain: Polyhedron
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        expect_choice(self.kind, ("injective", "not-injective"), "kind")
        expect_network(self.network, "network")
        expect(self.layers, tuple, "layers")
        expect(self.domain, Polyhedron, "domain")

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {"layers": list(self.layers), "domain": domain_terms(self.domain)}

    @property
    def summary(self) -> str:
        """The claim in short."""
        verb = "is" if self.kind == "injective" else "is not"
        place = domain_text(self.terms()["domain"])
        part = _part_of(self.network, self.layers)
        return f"{part}{name_of(self.network)} {verb} injective on {place}"

    def __str__(self) -> str:
        verb = "is" if self.kind == "injective" else "is not"
        points = "no two points have" if self.kind == "injective" else "two points have"
        what = "activations" if self.layers[1] < self.network.depth else "outputs"
        place = domain_text(self.terms()["domain"])
        subject = f"{_part_of(self.network, self.layers)}the network {name_of(self.network)}"
        return (
            f"{subject[0].upper()}{subject[1:]} {verb} injective on {place}: {points} equal {what}."
        )


@dataclass(frozen=True, slots=True, repr=False)
class LipschitzClaim(Statement):
    """The claim that the inverse Lipschitz constant of some layers lies between two bounds.

    The constant κ is the largest number with |f(x) - f(y)| ≥ κ |x - y| for all x, y of the domain,
    in Euclidean norms. FORMAT.md, section 5.5, has the details.

    Attributes
    ----------
    network
        The network.
    layers
        The first and the last layer of the part that the claim is about, from 1.
    domain
        A polyhedron of inputs of the first of these layers, with equations in reduced echelon form.
    at_least, at_most
        Bounds of κ².
    kind
        Always `inverse-lipschitz`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0])], last="relu")
    >>> half = Fraction(1, 2)
    >>> LipschitzClaim(net, (1, 1), Polyhedron.universe(1), half, half).terms()["at-least"]
    '1/2'
    """

    network: Network
    layers: tuple[int, int]
    domain: Polyhedron
    at_least: Fraction
    at_most: Fraction
    kind: Literal["inverse-lipschitz"] = "inverse-lipschitz"
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        expect_network(self.network, "network")
        expect(self.layers, tuple, "layers")
        expect(self.domain, Polyhedron, "domain")
        expect(self.at_least, Fraction, "at_least")
        expect(self.at_most, Fraction, "at_most")

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {
            "layers": list(self.layers),
            "domain": domain_terms(self.domain),
            "at-least": format_rational(self.at_least),
            "at-most": format_rational(self.at_most),
        }

    @property
    def summary(self) -> str:
        """The claim in short."""
        part = _part_of(self.network, self.layers)
        return f"inverse Lipschitz constant of {part}{name_of(self.network)}"

    def __str__(self) -> str:
        terms = self.terms()
        low, high = number_text(terms["at-least"]), number_text(terms["at-most"])
        subject = f"{_part_of(self.network, self.layers)}the network {name_of(self.network)}"
        return (
            f"{subject[0].upper()}{subject[1:]} has an inverse Lipschitz constant on "
            f"{domain_text(terms['domain'])} whose square lies between {low} and {high}."
        )


def _part_of(network: Network, layers: tuple[int, int]) -> str:
    """The layers, if they are not the whole network."""
    return "" if layers == (1, network.depth) else f"the map of {layers_text(*layers)} of "
