"""Claims that the function of a network determines its parameters, or a part of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, get_args

from polyrelu.certificate.claims.statement import (
    Statement,
    domain_terms,
    expect_network,
    plain_name,
)
from polyrelu.certificate.text import domain_text, part_text
from polyrelu.errors import ArgumentError
from polyrelu.exact import Polyhedron, format_rational
from polyrelu.network import Network
from polyrelu.support.arguments import expect, expect_choice, expect_count
from polyrelu.support.display import shortened, widths_text

__all__ = [
    "Among",
    "Claim",
    "PartClaim",
    "TeachingClaim",
    "expect_place",
    "place_terms",
    "place_text",
]

#: The classes of competitors. Each one contains those after it, but `regular` and `sparse`: these
#: contain `transversal`, and neither of them the other one.
Among = Literal["all", "regular", "sparse", "transversal", "generic"]
ParameterClaimKind = Literal["identifiable", "not-identifiable"]


@dataclass(frozen=True, slots=True, repr=False)
class Claim(Statement):
    """A claim about the parameters of a network among competitors on a domain.

    Attributes
    ----------
    kind
        `identifiable`: every competitor with the same function equals the network up to permutation
        and positive scaling of neurons; `not-identifiable`: some competitor does not.
    network
        The network that the claim is about.
    among
        The class of competitors.
    other
        The competitor that refutes identifiability; only for `not-identifiable`.
    domain
        A polyhedron without equations; the functions agree on its interior. None for R^n.
    slope
        The slope of the leaky ReLU, if the competitors are leaky ReLU stacks (FORMAT.md, section
        3.13); None for others.
    has_blocks
        Whether the competitors are all networks whose layers read the same layers (FORMAT.md,
        section 3.14).

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> claim = Claim("identifiable", from_arrays([([[1, 2]], [3])]), "all")
    >>> claim.terms()
    {'domain': 'R^n', 'among': 'all'}
    """

    kind: ParameterClaimKind
    network: Network
    among: Among
    other: Network | None = None
    domain: Polyhedron | None = None
    slope: Fraction | None = None
    has_blocks: bool = False

    def __post_init__(self) -> None:
        expect_choice(self.kind, get_args(ParameterClaimKind), "kind")
        expect_choice(self.among, get_args(Among), "among")
        expect_place(self.domain)
        if self.slope is not None:
            expect(self.slope, Fraction, "slope")
        expect(self.has_blocks, bool, "has_blocks")
        if self.has_blocks and self.slope is not None:
            raise ArgumentError("has_blocks: a claim with a slope is about leaky ReLU stacks")
        expect_network(self.network, "network")
        if self.other is not None:
            expect_network(self.other, "other")

    @property
    def networks(self) -> dict[str, Network]:
        """The networks by their keys in the certificate."""
        return {"network": self.network} | ({} if self.other is None else {"other": self.other})

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        terms: dict[str, Any] = {"domain": place_terms(self.domain), "among": self.among}
        if self.slope is not None:
            terms["architecture"] = {"kind": "leaky", "slope": format_rational(self.slope)}
        if self.has_blocks:
            terms["architecture"] = {"kind": "blocks"}
        return terms

    @property
    def summary(self) -> str:
        """The claim in short."""
        verb = "is identifiable" if self.kind == "identifiable" else "is not identifiable"
        place = f" on {place_text(self.domain)}" if self.domain else ""
        return f"{self._name} {verb} among {self.among} parameters{place}"

    @property
    def _name(self) -> str:
        """The network with its architecture."""
        widths = shortened(widths_text(self.network.widths))
        if self.has_blocks:
            return f"{widths} network, among those whose layers read the same layers,"
        if self.slope is None:
            return plain_name(self.network)
        return f"{widths} stack of leaky ReLUs of slope {format_rational(self.slope)}"

    def __str__(self) -> str:
        if self.domain is not None:
            return self._on_domain(self.domain)
        shape = f"The {self._name}"
        members = "every parameter" if self.among == "all" else f"every {self.among} parameter"
        if self.kind == "identifiable":
            return (
                f"{shape} is identifiable among {self.among} parameters on R^n: "
                f"{members} of its architecture with the same function is this one up to "
                "permutation and positive scaling of neurons."
            )
        member = "another" if self.among == "all" else f"a {self.among}"
        return (
            f"{shape} is not identifiable among {self.among} parameters on R^n: {member} "
            "parameter of its architecture, not related to it by permutation and positive scaling, "
            "computes the same function."
        )

    def _on_domain(self, domain: Polyhedron) -> str:
        """The sentence on a domain, on which the class of competitors depends, too."""
        shape = f"The {self._name}"
        place = f"on {place_text(domain)} among {_members_on_domain(self.among)}"
        if self.kind == "identifiable":
            return (
                f"{shape} is identifiable {place}: every one of them that has its architecture and "
                "the same function there is this one up to permutation and positive scaling of "
                "neurons."
            )
        return (
            f"{shape} is not identifiable {place}: one of them that has its architecture, and is "
            "not related to it by permutation and positive scaling, computes the same function "
            "there."
        )


@dataclass(frozen=True, slots=True, repr=False)
class PartClaim(Statement):
    """The claim that the function determines a part of the parameters (FORMAT.md, section 3.2).

    Attributes
    ----------
    network
        The network that the claim is about.
    num_layers
        M: the rows [W|b] of the hidden layers 1 to M are determined. The rows of layer M are
        determined up to their signs if `neurons` is empty.
    neurons
        Indices of neurons of layer M + 1, ascending; their rows are determined up to signs.
    kind
        Always `determined`.
    among
        The class of competitors, `transversal`, `regular` or `sparse`.
    domain
        A polyhedron without equations; the functions agree on its interior. None for R^n.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [-1]), ([[1]], [0])])
    >>> PartClaim(net, 1).terms()
    {'domain': 'R^n', 'among': 'transversal', 'layers': 1, 'neurons': []}
    """

    network: Network
    num_layers: int
    neurons: tuple[int, ...] = ()
    kind: Literal["determined"] = "determined"
    among: Among = "transversal"
    domain: Polyhedron | None = None

    def __post_init__(self) -> None:
        expect_network(self.network, "network")
        expect_count(self.num_layers, "layers", 1)
        expect(self.neurons, tuple, "neurons")
        expect_choice(self.among, get_args(Among), "among")
        expect_place(self.domain)

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {
            "domain": place_terms(self.domain),
            "among": self.among,
            "layers": self.num_layers,
            "neurons": list(self.neurons),
        }

    @property
    def summary(self) -> str:
        """The claim in short."""
        part = part_text(self.num_layers, self.neurons)
        place = f" on {place_text(self.domain)}" if self.domain else ""
        return f"{plain_name(self.network)} is determined in {part}{place}"

    def __str__(self) -> str:
        part = part_text(self.num_layers, self.neurons)
        shape = f"The {plain_name(self.network)}"
        if self.domain is not None:
            return (
                f"{shape} is determined on {place_text(self.domain)} among "
                f"{_members_on_domain(self.among)} in {part}: every one of them that has its "
                "architecture and the same function there agrees with it in this part after "
                "permutation and positive scaling of neurons."
            )
        return (
            f"{shape} is determined among {self.among} parameters on R^n in {part}: every "
            f"{self.among} parameter of its architecture with the same function agrees with it "
            "there after permutation and positive scaling of neurons."
        )


def expect_place(domain: object) -> None:
    """Refuse what is neither None, for R^n, nor a polyhedron that can have an interior."""
    if domain is not None and expect(domain, Polyhedron, "domain").equations:
        raise ArgumentError("domain: expected a polyhedron without equations, or None for R^n")


def place_terms(domain: Polyhedron | None) -> str | dict[str, list[str]]:
    """Return where competitors agree as it stands in claims (FORMAT.md, section 3.2)."""
    return "R^n" if domain is None else domain_terms(domain)


def place_text(domain: Polyhedron | None) -> str:
    """Return where competitors agree in words."""
    return "R^n" if domain is None else f"the interior of {domain_text(domain_terms(domain))}"


def _members_on_domain(among: Among) -> str:
    """Return the class of competitors on a domain in words."""
    return "all parameters" if among == "all" else f"parameters that are {among} there"


@dataclass(frozen=True, slots=True, repr=False)
class TeachingClaim(Statement):
    """The claim that the values at some points determine a network with one hidden layer.

    FORMAT.md, section 5.9, has the details.

    Attributes
    ----------
    network
        The network.
    count
        The number of points.
    pins
        `parameters`: every network with one hidden layer that is not wider and has the same values
        there equals it up to permutation and positive scaling of neurons; `function`: every one
        computes the same function.
    kind
        Always `teaching-set`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[2]], [3]), ([[4]], [5])])
    >>> TeachingClaim(net, 4, "parameters").terms()
    {'count': 4, 'pins': 'parameters'}
    """

    network: Network
    count: int
    pins: Literal["function", "parameters"]
    kind: Literal["teaching-set"] = "teaching-set"
    among: ClassVar[str] = ""  # the competitors may be narrower

    def __post_init__(self) -> None:
        expect_network(self.network, "network")
        expect_count(self.count, "count")
        expect_choice(self.pins, ("function", "parameters"), "pins")

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {"count": self.count, "pins": self.pins}

    @property
    def summary(self) -> str:
        """The claim in short."""
        return f"{self.count} points teach {plain_name(self.network)}"

    def __str__(self) -> str:
        end = "computes the same function"
        if self.pins == "parameters":
            end = "has its parameters up to permutation and positive scaling"
        width = self.network.widths[1]
        return (
            f"Every network with one hidden layer of at most {width} neurons that agrees with the "
            f"{plain_name(self.network)} at the {self.count} points of the certificate {end}."
        )
