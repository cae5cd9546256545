"""Activation patterns that several points share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyrelu.attributes.float_maps import FloatMaps, expect_maps
from polyrelu.errors import DomainError

__all__ = ["SharedPatterns", "shared_patterns"]


@dataclass(frozen=True, slots=True)
class SharedPatterns:
    """How many points have an activation pattern in common.

    Attributes
    ----------
    num_points
        Number of points whose pattern is certified. Only these are compared.
    num_uncertified
        Number of the other points.
    num_patterns
        Number of different patterns.
    num_sharing
        Number of points that have their pattern in common with another point.
    largest
        Number of points with the most frequent pattern.

    Examples
    --------
    >>> from polyrelu.attributes import float_maps
    >>> shared_patterns(float_maps("example:xor", [[1, 1], [2, 3], [-1, -1], [-0.25, 0]]))
    SharedPatterns(num_points=4, num_uncertified=0, num_patterns=3, num_sharing=2, largest=2)
    """

    num_points: int
    num_uncertified: int
    num_patterns: int
    num_sharing: int
    largest: int


def shared_patterns(maps: FloatMaps) -> SharedPatterns:
    """Count the points that share an activation pattern, among those with a certified one.

    Parameters
    ----------
    maps
        Maps of a network at points.

    Returns
    -------
    SharedPatterns
        The counts.

    Raises
    ------
    DomainError
        The maps come from a computation that does not show patterns.

    Examples
    --------
    >>> from polyrelu.attributes import exact_maps
    >>> maps = exact_maps("example:xor", [[1, 1], [2, 3], ["1/2", "-1/2"]]).to_floats()
    >>> shared_patterns(maps).num_uncertified  # the last point lies on a boundary
    1
    """
    maps = expect_maps(maps, "maps")
    if maps.patterns is None:
        raise DomainError(f"maps: activation patterns are not known ({maps.reason})")
    rows = maps.patterns[maps.certified]
    sizes = np.unique(rows, axis=0, return_counts=True)[1] if len(rows) else np.zeros(0, int)
    return SharedPatterns(
        len(rows),
        maps.num_uncertified,
        len(sizes),
        int(sizes[sizes > 1].sum()),
        int(sizes.max(initial=0)),
    )
