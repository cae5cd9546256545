"""Affine maps at points in floats: the type that clustering and maps between networks use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import ArgumentError, DomainError
from polyrelu.support.arguments import expect, expect_index
from polyrelu.support.arrays import freeze_arrays, read_only
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.typing import Floats, Mask

__all__ = ["FloatMaps", "expect_labels", "expect_maps"]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class FloatMaps:
    """The affine maps of a network at points, in floats of 64 bits.

    Attributes
    ----------
    samples
        The points, shape (points, n_0).
    duals
        The dual points: the rows of [W | b] for each point, shape (points, n_L, n_0 + 1). The table
        `duals[:, j]` is the matrix C_j of Sattelberg et al. (2023).
    certified
        Whether the network is proved to be affine around each point, with the activation pattern
        that gave the map, shape (points,). Entries of maps have rounding errors in any case.
    patterns
        The activation pattern of each point, eight bits to a byte, shape (points, bytes); None if
        the computation does not show patterns.
    num_bits
        Number of bits of a pattern.
    reason
        Why no point is certified; empty if points were examined.
    basis
        Orthonormal rows that span all dual points, shape (r, n_0 + 1), where the first layer shows
        such a basis; None stands for all n_0 + 1 coordinates.

    Examples
    --------
    >>> from polyrelu.attributes import float_maps
    >>> maps = float_maps("example:xor", [[0.25, 0.25], [-0.25, -0.25]])
    >>> maps.duals[:, 0].tolist(), maps.num_uncertified
    ([[-2.0, -2.0, 1.0], [2.0, 2.0, 1.0]], 0)
    """

    samples: Floats
    duals: Floats
    certified: Mask
    patterns: NDArray[np.uint8] | None = None
    num_bits: int = 0
    reason: str = ""
    basis: Floats | None = None

    def __post_init__(self) -> None:
        freeze_arrays(self)

    @property
    def num_points(self) -> int:
        """The number of points."""
        return len(self.samples)

    @property
    def num_outputs(self) -> int:
        """The number of outputs."""
        return int(self.duals.shape[1])

    @property
    def num_uncertified(self) -> int:
        """The number of points at which the activation pattern is not proved."""
        return int((~self.certified).sum())

    @property
    def outputs(self) -> Floats:
        """The values W x + b of the maps at their points, shape (points, n_L)."""
        return read_only(values_at(self.duals, self.samples))

    def coordinates(self, output: int) -> Floats:
        """Return the dual points of an output in the coordinates of the basis.

        Parameters
        ----------
        output
            The index of the output.

        Returns
        -------
        Array
            Coordinates with the distances of the dual points, shape (points, r).

        Raises
        ------
        ArgumentError
            There is no such output.
        """
        rows = self.duals[:, expect_index(output, self.num_outputs, "output")]
        return rows if self.basis is None else np.asarray(rows @ self.basis.T)

    def num_right(self, labels: object) -> int:
        """Return at how many points the largest output is the labelled one.

        Parameters
        ----------
        labels
            The class of each point, shape (points,).

        Returns
        -------
        int
            The number of points.

        Raises
        ------
        DomainError
            There are more or fewer labels than points, or labels that are no outputs.
        """
        wanted = expect_labels(labels, self)
        return int((classes(self.outputs) == wanted).sum())

    def __repr__(self) -> str:
        counts = [(self.num_points, "point"), (self.num_outputs, "output")]
        return bracketed(f"FloatMaps of {count_text(counts)}, {self.num_uncertified} uncertified")


def values_at(duals: Floats, points: Floats) -> Floats:
    """Return W x + b for the rows [W | b] of each point, shape (points, n_L)."""
    return np.asarray(np.einsum("pjd,pd->pj", duals[:, :, :-1], points) + duals[:, :, -1])


def classes(outputs: Floats) -> NDArray[np.int64]:
    """Return the class of each row of outputs: the largest one, or the sign of a single output."""
    if outputs.shape[1] == 1:
        return np.asarray((outputs[:, 0] > 0).astype(np.int64))
    return np.asarray(outputs.argmax(axis=1))


def expect_maps(value: object, name: str) -> FloatMaps:
    """Return an argument that has maps in floats."""
    return expect(value, FloatMaps, name, "float_maps(network, points) makes them")


def expect_labels(labels: object, maps: FloatMaps, name: str = "labels") -> NDArray[np.int64]:
    """Return labels, one for each point, as integers.

    Raises
    ------
    DomainError
        There are more or fewer labels than points, or labels that are no outputs.
    """
    try:
        found = np.asarray(labels)
    except ValueError as error:
        raise ArgumentError(f"{name}: {error}") from None
    if found.shape != (maps.num_points,):
        raise DomainError(
            f"{name}: expected shape ({maps.num_points},), a class for each point, "
            f"got shape {found.shape}"
        )
    count = max(maps.num_outputs, 2)
    if not found.size:
        return np.zeros(0, dtype=np.int64)
    if found.dtype.kind not in "iub" or ((found < 0) | (found >= count)).any():
        raise DomainError(f"{name}: expected classes, integers from 0 to {count - 1}")
    return found.astype(np.int64)
