"""Functions of the user as tools: outputs at points, and lists of regions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from polyrelu.audit.allowance import NEAREST, Allowance
from polyrelu.audit.claims import (
    ActivationPatterns,
    HalfSpaces,
    LocalMaps,
    RegionClaims,
    SignVectors,
    VertexLists,
)
from polyrelu.audit.extremes import has_few_regions
from polyrelu.audit.ground_truth import GroundTruth, ground_truth
from polyrelu.audit.outputs import audit_outputs
from polyrelu.audit.regions import audit_regions
from polyrelu.audit.reports import AuditReport
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.exact import Polyhedron, nearest_vector
from polyrelu.formats import DomainLike, Imported, NetworkLike, as_domain, as_imported
from polyrelu.network import Network
from polyrelu.support.arguments import expect_count, expect_function
from polyrelu.support.typing import Array

__all__ = ["audit_callable", "audit_enumerator", "points_to_try", "region_claims"]

#: Maximum number of regions in each of which a point is tried.
_MAX_REGIONS = 1000


def audit_callable(
    network: NetworkLike,
    function: Callable[[Any], Any],
    domain: DomainLike,
    *,
    arithmetic: str = "float64",
    allowance: Allowance | None = None,
    num_points: int = 200,
    seed: int = 0,
    max_findings: int = 100,
) -> AuditReport:
    """Compare a function of points with the exact outputs of a network.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    function
        Takes an array of points, shape (k, n_0), and returns the outputs, shape (k, n_L) or (k,).
    domain
        A bounded polyhedron, or a text such as ``"box:-1,1"``.
    arithmetic
        The format in which the function computes, ``float64`` or ``float32``.
    allowance
        When an output stands for the exact one; None for a proved bound on rounding errors.
    num_points
        Number of random points of the domain. A point in each region and the exact vertices,
        rounded, come besides where there are few.
    seed
        Seed of the random points.
    max_findings
        Maximum number of differences that are explained; all are counted.

    Returns
    -------
    AuditReport
        A verdict for each point.

    Raises
    ------
    DomainError
        The domain is unbounded, or the function returns another shape.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    >>> audit_callable(net, abs, "box:-1,1").agrees
    True
    >>> audit_callable(net, lambda x: x, "box:-1,1").agrees
    False
    """
    expect_function(function, "function")
    imported = as_imported(network)
    polyhedron = as_domain(domain, imported.network.num_inputs)
    points = points_to_try(imported.network, polyhedron, arithmetic, num_points, seed)
    values = np.asarray(function(points))
    if values.ndim == 1 and imported.network.num_outputs == 1:
        values = values[:, None]
    if values.shape != (len(points), imported.network.num_outputs):
        raise DomainError(f"function: it returned shape {values.shape} for {len(points)} points")
    return audit_outputs(
        imported,
        points,
        values,
        arithmetic=arithmetic,
        allowance=allowance,
        max_findings=max_findings,
    )


def points_to_try(
    network: Network, domain: Polyhedron, arithmetic: str, num_points: int, seed: int
) -> Array:
    """Return points of a bounded domain as floats: one in each region, vertices, random ones."""
    box = domain.bounding_box()
    if box is None:
        raise DomainError("domain: points are tried on bounded domains only; use 'box:-1,1'")
    low, high = (nearest_vector(corner) for corner in box)
    draw = np.random.default_rng(expect_count(seed, "seed"))
    count = expect_count(num_points, "num_points")
    parts = [low + (high - low) * draw.random((count, len(low)))]
    if has_few_regions(network):
        truth = ground_truth(network, domain)
        chosen = range(min(truth.num_regions, _MAX_REGIONS))
        inside = [nearest_vector(truth.point_in(k)) for k in chosen]
        parts += [np.array(inside), truth.vertex_floats[:_MAX_REGIONS]]
    points = np.concatenate(parts).astype(arithmetic)
    good = GroundTruth.contained(domain, points.astype(np.float64))
    return points[good]


def audit_enumerator(
    network: NetworkLike,
    regions: Callable[[Any, Any], Any],
    domain: DomainLike = None,
    *,
    allowance: Allowance = NEAREST,
    max_findings: int = 100,
) -> AuditReport:
    """Compare an enumerator of regions with the exact regions.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    regions
        Takes the exact network and the domain, as they are given here, and returns the regions in
        any form of `audit_regions`; an array is read as sign vectors, or as activation patterns if
        it is of truth values or of 0 and 1 only.
    domain
        A polyhedron, or a text such as ``"box:-1,1"``; None for the whole space.
    allowance
        When a claimed number stands for an exact one.
    max_findings
        Maximum number of differences that are explained; all are counted.

    Returns
    -------
    AuditReport
        As from `audit_regions`.

    Raises
    ------
    ArgumentError
        The enumerator returns something else.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [0, -1]), ([[1, 1]], [0])])
    >>> audit_enumerator(net, lambda net, box: [[0, 0], [1, 0], [1, 1]]).agrees
    True
    """
    expect_function(regions, "regions")
    imported: Imported = as_imported(network)
    claims = region_claims(regions(imported.network, domain))
    return audit_regions(
        imported.network, claims, domain, allowance=allowance, max_findings=max_findings
    )


def region_claims(value: object) -> RegionClaims:
    """Return regions in a form of `audit_regions`; an array holds signs or activations."""
    if isinstance(value, SignVectors | ActivationPatterns | LocalMaps | HalfSpaces | VertexLists):
        return value
    if not isinstance(value, np.ndarray | list | tuple):
        kind = type(value).__name__
        raise ArgumentError(f"regions: expected lists of signs or one of the claims, got {kind}")
    claims = SignVectors(value)
    is_pattern = bool((claims.rows >= 0).all()) and bool((claims.rows == 0).any())
    return ActivationPatterns(claims.rows) if is_pattern else claims
