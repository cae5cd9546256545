"""Answers to the question whether a list of regions or cells is complete."""

from __future__ import annotations

from dataclasses import dataclass

from polyrelu.certificate import RegionsCertificate, VertexCertificate
from polyrelu.outcomes.answers import Proved
from polyrelu.outcomes.work import ProofStatistics
from polyrelu.support.display import count_text

__all__ = ["ComplexListed", "RegionsListed"]


@dataclass(frozen=True, slots=True, repr=False)
class RegionsListed(Proved[RegionsCertificate | VertexCertificate]):
    """The list of the regions of a network on a domain is complete.

    Attributes
    ----------
    certificate
        The certificate: the vertices, or a split tree with a point inside each region.
    work
        How much the proof took; a proof by vertices has one node for each of them.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> net = polyrelu.from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])
    >>> listed = polyrelu.certify_regions(polyrelu.canonical_complex(net))
    >>> listed.certificate.claim.num_regions
    4
    """

    work: ProofStatistics

    def _remarks(self) -> list[str]:
        if isinstance(self.certificate, VertexCertificate):
            return [count_text([(self.work.num_nodes, "vertex")])]
        return [f"tree: {self.work}"]


@dataclass(frozen=True, slots=True, repr=False)
class ComplexListed(Proved[VertexCertificate]):
    """The cells of a network on a domain are complete, in every dimension.

    Attributes
    ----------
    certificate
        The certificate, which has all vertices.
    work
        How much the proof took, with one node for each vertex.
    next
        What to try next, the most promising first; empty if there is nothing to suggest.

    Examples
    --------
    >>> import polyrelu
    >>> net = polyrelu.from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])
    >>> listed = polyrelu.certify_complex(polyrelu.canonical_complex(net))
    >>> listed.certificate.claim.f_vector
    (1, 4, 4)
    """

    work: ProofStatistics

    def _remarks(self) -> list[str]:
        return [count_text([(self.work.num_nodes, "vertex")])]
