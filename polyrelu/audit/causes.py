"""Causes of differences, each with the check that it has passed.

A cause is a guess that was tested on the exact complex: a function returns it if the test succeeds
and None otherwise. Several causes may hold at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from polyrelu.audit.findings import Cause, number_text
from polyrelu.audit.ground_truth import GroundTruth
from polyrelu.audit.measures import sign_polyhedron
from polyrelu.exact import Polyhedron
from polyrelu.support.typing import Array, Point

__all__ = [
    "degenerate_region",
    "degenerate_vertex",
    "float32_region",
    "held",
    "outside_domain",
    "sliver",
    "zero_neurons",
]


def held(*causes: Cause | None) -> tuple[Cause, ...]:
    """Return the causes whose checks succeeded.

    >>> held(None)
    ()
    """
    return tuple(cause for cause in causes if cause is not None)


def sliver(radius: Fraction | None, tolerance: Fraction) -> Cause | None:
    """Return the cause of a region that is thinner than a tolerance."""
    if radius is None or radius > tolerance:
        return None
    return Cause(
        "sliver",
        f"its inradius {number_text(radius)} is at most {number_text(tolerance)}, and a tool with "
        "that tolerance takes the region for empty",
    )


def zero_neurons(truth: GroundTruth, region: int) -> Cause | None:
    """Return the cause of a region on which neurons are identically 0."""
    zero = np.flatnonzero(truth.region_signs[region] == 0)
    if not len(zero):
        return None
    neuron = truth.network.neurons[int(zero[0])]
    return Cause(
        "neuron zero on a region",
        f"neuron {neuron.index} of layer {neuron.layer} is identically 0 on it",
    )


def degenerate_vertex(truth: GroundTruth, vertex: int) -> Cause | None:
    """Return the cause of a vertex on more hyperplanes than the space has dimensions."""
    count, size = truth.num_zeros(vertex), truth.cells.dimension
    if count <= size:
        return None
    return Cause(
        "degenerate vertex",
        f"{count} neurons and constraints vanish at it, more than the {size} of a simple vertex",
    )


def degenerate_region(truth: GroundTruth, region: int) -> Cause | None:
    """Return the cause of a region with a degenerate vertex."""
    return next(
        filter(None, (degenerate_vertex(truth, int(v)) for v in truth.vertices_of(region))), None
    )


def float32_region(truth: GroundTruth, signs: Array, is_claimed: bool) -> Cause | None:
    """Return the cause of a sign vector that only one of the network and its float32 copy has."""
    rounded = truth.with_float32_weights
    if rounded is None:
        return None
    row: Iterable[int] = signs.tolist()
    exists = sign_polyhedron(rounded, truth.domain, list(row)).interior_point() is not None
    if exists != is_claimed:
        return None
    verb = "is a region" if exists else "is no region"
    return Cause("float32 weights", f"with weights rounded to float32 it {verb}")


def outside_domain(truth: GroundTruth, signs: Array) -> tuple[Cause, Point] | None:
    """Return the cause of a region that lies outside the domain, and a point of the region."""
    everywhere = Polyhedron.universe(truth.network.num_inputs)
    point = sign_polyhedron(truth.network, everywhere, signs.tolist()).interior_point()
    if point is None:
        return None
    return Cause("box edge", "it is a region of the network, but outside the domain"), point
