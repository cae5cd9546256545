"""What all claims have in common, and how they name networks and domains."""

from __future__ import annotations

from abc import ABC, abstractmethod

from polyrelu.exact import Polyhedron, format_integer
from polyrelu.network import Network
from polyrelu.support.arguments import expect
from polyrelu.support.display import bracketed, widths_text

__all__ = ["Statement", "domain_terms", "expect_network", "name_of", "plain_name"]


class Statement(ABC):
    """A claim, which `str` shows as a sentence and `repr` in short."""

    __slots__ = ()

    network: Network

    @property
    def networks(self) -> dict[str, Network]:
        """The networks by their keys in the certificate."""
        return {"network": self.network}

    @property
    @abstractmethod
    def summary(self) -> str:
        """The claim in short."""

    def __repr__(self) -> str:
        return bracketed(f"{type(self).__name__}: {self.summary}")


def name_of(network: Network) -> str:
    """The widths of any network, and the beginning of its hash."""
    return f"{widths_text(network.widths)} {network.sha256[:12]}…"


def plain_name(network: Network) -> str:
    """The architecture of a plain stack, and the beginning of its hash."""
    return f"{network.architecture} network {network.sha256[:12]}…"


def expect_network(value: object, name: str) -> None:
    """Refuse an argument that is no network."""
    expect(value, Network, name, "polyrelu.load reads one")


def domain_terms(domain: Polyhedron) -> dict[str, list[str]]:
    """Return a domain as it stands in claims (FORMAT.md, section 3.8)."""
    parts = {"inequalities": domain.inequalities, "equations": domain.equations}
    return {
        key: [" ".join(map(format_integer, row)) for row in rows] for key, rows in parts.items()
    }
