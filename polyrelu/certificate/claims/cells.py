"""Claims about the numbers of regions and of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from polyrelu.certificate.claims.statement import (
    Statement,
    domain_terms,
    expect_network,
    name_of,
)
from polyrelu.certificate.text import cell_counts_text, domain_text
from polyrelu.exact import Polyhedron
from polyrelu.network import Network
from polyrelu.support.arguments import expect, expect_count
from polyrelu.support.display import count_text

__all__ = ["ComplexClaim", "RegionsClaim"]


@dataclass(frozen=True, slots=True, repr=False)
class RegionsClaim(Statement):
    """The claim that a canonical complex has a number of cells of full dimension.

    FORMAT.md, section 5.1, has the details.

    Attributes
    ----------
    network
        The network that the claim is about.
    domain
        A polyhedron whose equations, implied ones included, are in reduced echelon form.
    num_regions
        The number of cells of full dimension, called regions.
    kind
        Always `regions`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1]], [0]), ([[1]], [0])])
    >>> RegionsClaim(net, Polyhedron.universe(1), 2).terms()
    {'domain': {'inequalities': [], 'equations': []}, 'count': 2}
    """

    network: Network
    domain: Polyhedron
    num_regions: int
    kind: Literal["regions"] = "regions"
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        expect_network(self.network, "network")
        expect(self.domain, Polyhedron, "domain")
        expect_count(self.num_regions, "count", 1)

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {"domain": domain_terms(self.domain), "count": self.num_regions}

    @property
    def summary(self) -> str:
        """The claim in short."""
        regions = count_text([(self.num_regions, "region")])
        return f"{regions} of {name_of(self.network)} on {domain_text(self.terms()['domain'])}"

    def __str__(self) -> str:
        place = domain_text(self.terms()["domain"])
        name = name_of(self.network)
        return (
            f"The canonical complex of the network {name} on {place} has exactly "
            f"{count_text([(self.num_regions, 'region')])}."
        )


@dataclass(frozen=True, slots=True, repr=False)
class ComplexClaim(Statement):
    """The claim that a canonical complex has given numbers of cells, by dimension.

    FORMAT.md, section 5.3, has the details.

    Attributes
    ----------
    network
        The network that the claim is about.
    domain
        A polyhedron whose equations, implied ones included, are in reduced echelon form.
    f_vector
        The number of cells of each dimension, from 0 to the dimension of the domain.
    kind
        Always `complex`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1]], [0]), ([[1]], [0])])
    >>> ComplexClaim(net, Polyhedron.universe(1), (1, 2)).terms()
    {'domain': {'inequalities': [], 'equations': []}, 'f-vector': [1, 2]}
    """

    network: Network
    domain: Polyhedron
    f_vector: tuple[int, ...]
    kind: Literal["complex"] = "complex"
    among: ClassVar[str] = ""  # there are no competitors

    def __post_init__(self) -> None:
        expect_network(self.network, "network")
        expect(self.domain, Polyhedron, "domain")
        for count in expect(self.f_vector, tuple, "f_vector"):
            expect_count(count, "f_vector", 0)

    def terms(self) -> dict[str, Any]:
        """Return the entries of the claim in a certificate, without kind and networks."""
        return {"domain": domain_terms(self.domain), "f-vector": list(self.f_vector)}

    @property
    def num_regions(self) -> int:
        """The number of cells of full dimension."""
        return self.f_vector[-1]

    @property
    def summary(self) -> str:
        """The claim in short."""
        cells = count_text([(sum(self.f_vector), "cell")])
        return f"{cells} of {name_of(self.network)} on {domain_text(self.terms()['domain'])}"

    def __str__(self) -> str:
        place = domain_text(self.terms()["domain"])
        return (
            f"The canonical complex of the network {name_of(self.network)} on {place} has exactly "
            f"{cell_counts_text(self.f_vector)}."
        )
