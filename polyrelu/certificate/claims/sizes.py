"""Claims about the least size of networks with one function, and about functional dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from polyrelu.certificate.claims.parameters import Among, expect_place, place_terms, place_text
from polyrelu.certificate.claims.statement import (
    Statement,
    domain_terms,
    expect_network,
    plain_name,
)
from polyrelu.certificate.text import domain_text, size_text
from polyrelu.exact import Polyhedron
from polyrelu.network import Network
from polyrelu.support.arguments import expect, expect_choice, expect_count

__all__ = ["DimensionClaim", "Quantity", "SizeClaim"]

#: What a claim on sizes counts.
Quantity = Literal["hidden-layers", "neurons", "neurons-of-one-layer"]


@dataclass(frozen=True, slots=True, repr=False)
class SizeClaim(Statement):
    """The claim that every network of a class with the same function has at least some size.

    FORMAT.md, section 3.11, has the details.

    Attributes
    ----------
    network
        The network whose function it is.
    quantity
        What is counted: `hidden-layers`, `neurons`, or `neurons-of-one-layer`, which is about
        networks with one hidden layer only.
    at_least
        The bound.
    among
        `all` for networks of any kind, or the class of plain stacks, `regular` or `transversal`.
    domain
        A polyhedron without equations; the functions agree on its interior. None for R^n.
    kind
        Always `size`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    >>> SizeClaim(net, "hidden-layers", 1).terms()
    {'domain': 'R^n', 'among': 'all', 'quantity': 'hidden-layers', 'at-least': 1}
    """

    network: Network
    quantity: Quantity
    at_least: int
    among: Among = "all"
    domain: Polyhedron | None = None
    kind: Literal["size"] = "size"

    def __post_init__(self) -> None:
        expect_network(self.network, "network")
        expect_choice(self.quantity, get_args(Quantity), "quantity")
        expect_count(self.at_least, "at_least", 1)
        expect_choice(self.among, get_args(Among), "among")
        expect_place(self.domain)

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {
            "domain": place_terms(self.domain),
            "among": self.among,
            "quantity": self.quantity,
            "at-least": self.at_least,
        }

    @property
    def summary(self) -> str:
        """The claim in short."""
        size = size_text(self.quantity, self.at_least)
        return f"the function of the {plain_name(self.network)} needs at least {size}"

    def __str__(self) -> str:
        members = "every network"
        if self.among != "all":
            there = "" if self.domain is None else " there"
            members = f"every plain stack that is {self.among}{there}"
        shapes, condition = "with any widths and any number of layers", ""
        if self.quantity == "neurons-of-one-layer":
            shapes, condition = "of any width", " with one hidden layer"
        return (
            f"The function of the {plain_name(self.network)} on {place_text(self.domain)} needs at "
            f"least {size_text(self.quantity, self.at_least)}: {members}{condition}, {shapes}, "
            "that computes it there has as many or more."
        )


@dataclass(frozen=True, slots=True, repr=False)
class DimensionClaim(Statement):
    """The claim that the functional dimension of a network lies between two bounds.

    FORMAT.md, section 3.12, has the details.

    Attributes
    ----------
    network
        The network.
    domain
        A polyhedron of inputs, with equations in reduced echelon form.
    at_least, at_most
        The bounds.
    kind
        Always `functional-dimension`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 2]], [3])])
    >>> DimensionClaim(net, Polyhedron.universe(2), 3, 3).terms()["at-least"]
    3
    """

    network: Network
    domain: Polyhedron
    at_least: int
    at_most: int
    kind: Literal["functional-dimension"] = "functional-dimension"
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        expect_network(self.network, "network")
        expect(self.domain, Polyhedron, "domain")
        expect_count(self.at_least, "at_least")
        expect_count(self.at_most, "at_most")

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {
            "domain": domain_terms(self.domain),
            "at-least": self.at_least,
            "at-most": self.at_most,
        }

    @property
    def _bounds(self) -> str:
        if self.at_least == self.at_most:
            return f"{self.at_least}"
        return f"between {self.at_least} and {self.at_most}"

    @property
    def summary(self) -> str:
        """The claim in short."""
        return f"functional dimension of the {plain_name(self.network)}: {self._bounds}"

    def __str__(self) -> str:
        return (
            f"The functional dimension of the {plain_name(self.network)} on "
            f"{domain_text(self.terms()['domain'])} is {self._bounds}, of "
            f"{self.network.num_parameters} parameters."
        )
