"""Certificates of claims about injectivity."""

from __future__ import annotations

from typing import Any, Literal

from polyrelu.certificate import Certificate, Hypothesis, InjectivityClaim
from polyrelu.network import Network
from polyrelu.outcomes import Collision, InjectivityStatistics, NotInjective
from polyrelu.proofs.injectivity.collisions import PointPair
from polyrelu.proofs.trees.node_polyhedron import DomainCoordinates
from polyrelu.version import __version__

__all__ = ["injectivity_certificate", "not_injective"]


def injectivity_certificate(
    kind: Literal["injective", "not-injective"],
    network: Network,
    layers: tuple[int, int],
    coordinates: DomainCoordinates,
    theorem: str,
    evidence: dict[str, dict[str, Any]],
) -> Certificate:
    """Return the certificate of a claim about some layers; `evidence` has its hypotheses."""
    claim = InjectivityClaim(kind, network, layers, coordinates.domain)
    hypotheses = tuple(Hypothesis(theorem, name, entry) for name, entry in evidence.items())
    return Certificate(claim, theorem, hypotheses, {"tool": f"polyrelu {__version__}"})


def not_injective(
    network: Network,
    layers: tuple[int, int],
    part: Network,
    coordinates: DomainCoordinates,
    points: PointPair,
    work: InjectivityStatistics,
) -> NotInjective:
    """Return the answer that two points have equal outputs, after evaluating them."""
    x, y = points
    value, other = part.evaluate([x, y])
    if value != other or x == y:
        raise AssertionError("two points with equal outputs")
    collision = Collision(x, y, value)
    evidence = collision.to_json()
    certificate = injectivity_certificate(
        "not-injective",
        network,
        layers,
        coordinates,
        "collision",
        {"points": {"x": evidence["x"], "y": evidence["y"]}, "values": {"f": evidence["f"]}},
    )
    return NotInjective(certificate, collision, work)
