"""Directions in which walks along a bent hyperplane meet the zeros of chosen neurons, in floats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polyrelu.proofs.deep.settings import SETTINGS
from polyrelu.support.typing import Floats

__all__ = ["WalkTargets"]


@dataclass(frozen=True, slots=True)
class WalkTargets:
    """Neurons whose zeros a walk along a bent hyperplane should meet.

    Attributes
    ----------
    values
        Their preactivations at the start of the walk, shape (count,).
    gradients
        The components of their gradients along the bent hyperplane, shape (count, n_0).

    Examples
    --------
    >>> targets = WalkTargets(np.array([1.0, -4.0]), np.array([[1.0, 0.0], [0.0, 2.0]]))
    >>> targets.distances.tolist(), targets.to_nearest().tolist()
    ([1.0, 2.0], [-1.0, -0.0])
    """

    values: Floats
    gradients: Floats

    @property
    def distances(self) -> Floats:
        """Approximate distances of the zeros, shape (count,); infinite if there is none."""
        lengths = np.linalg.norm(self.gradients, axis=1)
        with np.errstate(all="ignore"):
            distances: Floats = np.where(lengths > 0, np.abs(self.values) / lengths, np.inf)
        return distances

    def to_nearest(self) -> Floats:
        """Return the direction to the nearest zero."""
        i = int(np.argmin(self.distances))
        return np.asarray(-np.sign(self.values[i]) * self.gradients[i], dtype=np.float64)

    def to_several(self, count: int) -> Floats:
        """Return the least-squares displacement that changes the sign of several values.

        The values belong to the `count` neurons whose zeros are nearest.
        """
        near = np.argsort(self.distances, kind="stable")[:count]
        changes = -SETTINGS.overshoot * self.values[near]
        displacement = np.linalg.lstsq(
            self.gradients[near], changes, rcond=SETTINGS.singular_value_cutoff
        )[0]
        return np.asarray(displacement, dtype=np.float64)
