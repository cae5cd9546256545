"""Claims that the function of a network determines its parameters, or a part of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from polyrelu.certificate.claims.statement import Statement, expect_network, plain_name
from polyrelu.certificate.text import part_text
from polyrelu.network import Network
from polyrelu.support.arguments import expect, expect_choice, expect_count

__all__ = ["Among", "Claim", "PartClaim"]

#: The classes of competitors, from the largest to the smallest.
Among = Literal["all", "regular", "transversal", "generic"]
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
        The domain on which the functions agree, in words.

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
    domain: str = "R^n"

    def __post_init__(self) -> None:
        expect_choice(self.kind, get_args(ParameterClaimKind), "kind")
        expect_choice(self.among, get_args(Among), "among")
        expect_network(self.network, "network")
        if self.other is not None:
            expect_network(self.other, "other")

    @property
    def networks(self) -> dict[str, Network]:
        """The networks by their keys in the certificate."""
        return {"network": self.network} | ({} if self.other is None else {"other": self.other})

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {"domain": self.domain, "among": self.among}

    @property
    def summary(self) -> str:
        """The claim in short."""
        verb = "is identifiable" if self.kind == "identifiable" else "is not identifiable"
        return f"{plain_name(self.network)} {verb} among {self.among} parameters"

    def __str__(self) -> str:
        shape = f"The {plain_name(self.network)}"
        members = "every parameter" if self.among == "all" else f"every {self.among} parameter"
        if self.kind == "identifiable":
            return (
                f"{shape} is identifiable among {self.among} parameters on {self.domain}: "
                f"{members} of its architecture with the same function is this one up to "
                "permutation and positive scaling of neurons."
            )
        member = "another" if self.among == "all" else f"a {self.among}"
        return (
            f"{shape} is not identifiable among {self.among} parameters on {self.domain}: {member} "
            "parameter of its architecture, not related to it by permutation and positive scaling, "
            "computes the same function."
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
        The class of competitors, `transversal` or `regular`.
    domain
        The domain on which the functions agree, in words.

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
    domain: str = "R^n"

    def __post_init__(self) -> None:
        expect_network(self.network, "network")
        expect_count(self.num_layers, "layers", 1)
        expect(self.neurons, tuple, "neurons")
        expect_choice(self.among, get_args(Among), "among")

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {
            "domain": self.domain,
            "among": self.among,
            "layers": self.num_layers,
            "neurons": list(self.neurons),
        }

    @property
    def summary(self) -> str:
        """The claim in short."""
        part = part_text(self.num_layers, self.neurons)
        return f"{plain_name(self.network)} is determined in {part}"

    def __str__(self) -> str:
        return (
            f"The {plain_name(self.network)} is determined "
            f"among {self.among} parameters on {self.domain} in "
            f"{part_text(self.num_layers, self.neurons)}: every {self.among} parameter of its "
            "architecture with the same function agrees with it there after permutation and "
            "positive scaling of neurons."
        )
