"""Maps between the dual points of two networks (Sattelberg et al. 2023, §2.4.2).

For each output j, least squares finds M_j with C_j M_j ≈ C'_j, where the rows of C_j and C'_j are
the dual points of two networks at the same points. The columns of C_j are dependent as a rule: in a
plain network whose first layer has n_1 < n_0 neurons, the gradients are combinations of its rows,
so that C_j has at most the rank n_1 + 1. So M_j is not unique. The one of least norm is taken, and
the rank is reported. It is C_j⁺ C'_j = Qᵀ (C_j Qᵀ)⁺ C'_j for orthonormal rows Q that span the rows
of C_j, and the small matrix C_j Qᵀ is what is decomposed.

All of this is in floats. The rank is numerical: the number of singular values above max(shape) ·
2^-52 times the largest one. `ExactMaps.rank` is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from polyrelu.attributes.float_maps import LARGEST, FloatMaps, expect_in_range, expect_maps
from polyrelu.errors import DomainError
from polyrelu.support.arguments import expect_function, expect_index, expect_list
from polyrelu.support.arrays import freeze_arrays
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.progress import Progress, ProgressStep
from polyrelu.support.typing import Floats

__all__ = ["DualMap", "dual_map", "mapping_table"]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class DualMap:
    """Matrices of least norm that map dual points of one network to dual points of another.

    Attributes
    ----------
    factors
        The matrices (C_j Qᵀ)⁺ C'_j, shape (n_L, r, n_0 + 1).
    basis
        The orthonormal rows Q, shape (r, n_0 + 1); None stands for the identity.
    ranks
        The numerical rank of each C_j.
    residuals
        For each output ‖C_j M_j - C'_j‖ / ‖C'_j‖, in Frobenius norms.

    Examples
    --------
    >>> from polyrelu.attributes import float_maps
    >>> points = [[1, 1], [-1, 1.5], [-1, 0.5], [-1, -1]]
    >>> maps = [float_maps(net, points) for net in ("example:xor", "example:twins-a")]
    >>> dual_map(*maps).ranks
    (2,)
    """

    factors: Floats
    basis: Floats | None
    ranks: tuple[int, ...]
    residuals: tuple[float, ...]

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def matrix(self, output: int) -> Floats:
        """Return the matrix M_j of least norm.

        Parameters
        ----------
        output
            The index of the output.

        Returns
        -------
        Array
            The matrix, shape (n_0 + 1, n_0 + 1); it stands to the right of dual points as rows.

        Raises
        ------
        ArgumentError
            There is no such output.
        """
        factor = self.factors[expect_index(output, len(self.factors), "output")]
        return np.array(factor if self.basis is None else self.basis.T @ factor)

    def image(self, maps: FloatMaps) -> FloatMaps:
        """Return the dual points of the first network, mapped to the second one.

        Parameters
        ----------
        maps
            Maps of the first network at any points.

        Returns
        -------
        FloatMaps
            The images; they are affine maps of no network, and none is certified.

        Raises
        ------
        DomainError
            The maps have other numbers of inputs or outputs, or numbers beyond 2^400.
        """
        maps = expect_in_range(expect_maps(maps, "maps"), "maps")
        shape = (len(self.factors), self.factors.shape[2])
        if maps.duals.shape[1:] != shape:
            raise DomainError(f"maps: dual points of shape {maps.duals.shape[1:]}, not {shape}")
        images = [
            (rows if self.basis is None else rows @ self.basis.T) @ factor
            for rows, factor in zip(maps.duals.swapaxes(0, 1), self.factors, strict=True)
        ]
        nowhere = np.zeros(maps.num_points, dtype=bool)
        return FloatMaps(maps.samples, np.stack(images, axis=1), nowhere, reason="images of maps")

    def __repr__(self) -> str:
        counts = count_text([(len(self.factors), "output")])
        return bracketed(f"DualMap of {counts}, ranks {min(self.ranks)} to {max(self.ranks)}")


def dual_map(source: FloatMaps, target: FloatMaps) -> DualMap:
    """Fit matrices that map the dual points of one network to another, at the same points.

    Parameters
    ----------
    source, target
        Maps of the two networks at the same points.

    Returns
    -------
    DualMap
        For each output the matrix of least norm among the solutions of least squares.

    Raises
    ------
    DomainError
        The maps belong to different points, have different numbers of outputs, or numbers beyond
        2^400.

    Examples
    --------
    >>> from polyrelu.attributes import float_maps
    >>> maps = float_maps("example:xor", [[1, 1], [-0.25, -0.25], [-1, -1]])
    >>> found = dual_map(maps, maps)
    >>> bool(abs(found.image(maps).duals - maps.duals).max() < 1e-12)
    True
    """
    return _fits(expect_maps(source, "source"), [expect_maps(target, "target")])[0]


def mapping_table(
    training: Sequence[FloatMaps],
    test: Sequence[FloatMaps],
    labels: object,
    *,
    progress: Progress | None = None,
) -> tuple[tuple[int, ...], ...]:
    """Return how many test points have the right class after maps between networks.

    Parameters
    ----------
    training
        Maps of each network at the same training points.
    test
        Maps of each network at the same test points, in the same order.
    labels
        The class of each test point.
    progress
        Called after each network.

    Returns
    -------
    tuple of tuple of int
        In row i and column k the number for the map from network i to network k; on the diagonal
        the number for the network itself.

    Raises
    ------
    DomainError
        The maps belong to different points, or the labels do not fit.

    Examples
    --------
    >>> from polyrelu.attributes import float_maps
    >>> maps = float_maps("example:xor", [[-1, -1], [1, -1], [-1, 1], [1, 1]])
    >>> mapping_table([maps, maps], [maps, maps], [0, 1, 1, 0])
    ((4, 4), (4, 4))
    """
    first = [expect_maps(maps, "training") for maps in expect_list(training, "training")]
    second = [expect_maps(maps, "test") for maps in expect_list(test, "test")]
    if progress is not None:
        expect_function(progress, "progress")
    if len(first) != len(second):
        raise DomainError(f"test: {len(second)} tables of maps for {len(first)} networks")
    table = list[tuple[int, ...]]()
    for i, source in enumerate(first):
        fits = _fits(source, [target for k, target in enumerate(first) if k != i])
        row = [fit.image(second[i]).num_right(labels) for fit in fits]
        row.insert(i, second[i].num_right(labels))
        table.append(tuple(row))
        if progress is not None:
            progress(ProgressStep("maps between networks", i + 1, len(first), "networks"))
    return tuple(table)


def _fits(source: FloatMaps, targets: Sequence[FloatMaps]) -> list[DualMap]:
    """Return the matrices to each of several networks; each C_j is decomposed once."""
    for target in targets:
        if not np.array_equal(source.samples, target.samples):
            raise DomainError("target: maps at other points than the source")
        if target.num_outputs != source.num_outputs:
            raise DomainError(
                f"target: {target.num_outputs} outputs, the source has {source.num_outputs}"
            )
    for maps in (source, *targets):
        expect_in_range(maps, "maps")
    if not source.num_points:
        raise DomainError("source: least squares need at least one point")
    factors: list[list[Floats]] = [[] for _ in targets]
    residuals: list[list[float]] = [[] for _ in targets]
    ranks = []
    for j in range(source.num_outputs):
        rows = source.coordinates(j)
        left, sizes, right, rank = _decomposed(rows)
        ranks.append(rank)
        for place, target in enumerate(targets):
            wanted = target.duals[:, j]
            with np.errstate(over="ignore", invalid="ignore"):
                factor = right.T @ ((left.T @ wanted) / sizes[:, None])
            if not (np.abs(factor) <= LARGEST).all():
                raise DomainError("the matrix from source to target has numbers beyond 2^400")
            factors[place].append(factor)
            residuals[place].append(_residual(rows @ factor - wanted, wanted))
    return [
        DualMap(np.stack(factor), source.basis, tuple(ranks), tuple(residual))
        for factor, residual in zip(factors, residuals, strict=True)
    ]


def _decomposed(rows: Floats) -> tuple[Floats, Floats, Floats, int]:
    """Return the parts U, s, Vᵀ of a singular value decomposition up to the rank, and the rank."""
    orthogonal, triangle = np.linalg.qr(rows)
    left, sizes, right = np.linalg.svd(triangle, full_matrices=False)
    cutoff = max(rows.shape) * 2.0**-52 * sizes.max(initial=0.0)
    rank = int((sizes > cutoff).sum())
    return orthogonal @ left[:, :rank], sizes[:rank], right[:rank], rank


def _residual(difference: Floats, wanted: Floats) -> float:
    """Return the size of a difference relative to what is wanted."""
    size = float(np.linalg.norm(wanted))
    return float(np.linalg.norm(difference)) / size if size else 0.0
