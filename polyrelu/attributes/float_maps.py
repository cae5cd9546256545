"""Affine maps at points in floats: the type that clustering and maps between networks use."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from polyrelu.errors import ArgumentError, DomainError
from polyrelu.support.arguments import expect, expect_index
from polyrelu.support.arrays import freeze_arrays, read_only
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.typing import Floats, Mask

__all__ = ["LARGEST", "FloatMaps", "expect_in_range", "expect_labels", "expect_maps"]

#: Largest size of a number of a map with which sums of squares do not overflow.
LARGEST = 2.0**400


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

    @property
    def in_range(self) -> Mask:
        """Whether no number of a point, its map and outputs exceeds 2^400, shape (points,).

        Beyond that, sums of squares may exceed the floats, so that such points have to be left out
        before maps are compared.
        """
        with np.errstate(invalid="ignore"):
            is_small = (np.abs(self.duals) <= LARGEST).all(axis=(1, 2))
            is_small = is_small & (np.abs(self.samples) <= LARGEST).all(axis=1)
            is_small = is_small & (np.abs(self.outputs) <= LARGEST).all(axis=1)
        return read_only(np.asarray(is_small))

    def restricted(self, chosen: object) -> FloatMaps:
        """Return the maps at some of the points.

        Parameters
        ----------
        chosen
            Whether each point is kept, shape (points,).

        Returns
        -------
        FloatMaps
            The maps at the points that are kept.

        Raises
        ------
        DomainError
            There are not as many entries as points.

        Examples
        --------
        >>> from polyrelu.attributes import float_maps
        >>> float_maps("example:xor", [[1, 0.5], [1e200, 0]]).restricted([True, False])
        <FloatMaps of 1 point, 1 output, 0 uncertified>
        """
        kept = np.asarray(chosen)
        if kept.shape != (self.num_points,) or kept.dtype != bool:
            raise DomainError(f"chosen: expected {self.num_points} truth values, one for a point")
        patterns = None if self.patterns is None else self.patterns[kept]
        return replace(
            self,
            samples=self.samples[kept],
            duals=self.duals[kept],
            certified=self.certified[kept],
            patterns=patterns,
        )

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
            There are more or fewer labels than points, or labels that are no outputs; or a map is
            too large for floats.
        """
        wanted = expect_labels(labels, expect_in_range(self, "maps"))
        return int((classes(self.outputs) == wanted).sum())

    def __repr__(self) -> str:
        counts = [(self.num_points, "point"), (self.num_outputs, "output")]
        return bracketed(f"FloatMaps of {count_text(counts)}, {self.num_uncertified} uncertified")


def values_at(duals: Floats, points: Floats) -> Floats:
    """Return W x + b for the rows [W | b] of each point, shape (points, n_L)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.einsum("pjd,pd->pj", duals[:, :, :-1], points) + duals[:, :, -1])


def classes(outputs: Floats) -> NDArray[np.int64]:
    """Return the class of each row of outputs: the largest one, or the sign of a single output."""
    if outputs.shape[1] == 1:
        return np.asarray((outputs[:, 0] > 0).astype(np.int64))
    return np.asarray(outputs.argmax(axis=1))


def expect_maps(value: object, name: str) -> FloatMaps:
    """Return an argument that has maps in floats."""
    return expect(value, FloatMaps, name, "float_maps(network, points) makes them")


def expect_in_range(maps: FloatMaps, name: str) -> FloatMaps:
    """Return maps without a number that is too large for floats, or raise a `DomainError`."""
    if count := int((~maps.in_range).sum()):
        points = count_text([(count, "point")])
        raise DomainError(
            f"{name}: numbers beyond 2^400 in the maps at {points}; leave them out with "
            "maps.restricted(maps.in_range)"
        )
    return maps


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
