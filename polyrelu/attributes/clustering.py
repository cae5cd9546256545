"""Clusters of dual points, and classification by the nearest centre.

Sattelberg et al. (2023, §2.4.1) have the method. For each output the dual points of training
points are clustered by k-means. At another point, the centre next to its dual point replaces its
affine map, and the largest output is the class. The accuracy for few clusters tells how near a
network is to a few affine maps.

k-means works in floats of 32 bits, from starting centres that the seed chooses; another version of
scikit-learn may find other clusters. The centres are then means in floats of 64 bits. Where the
first layer is narrow, distances are computed in coordinates of an orthonormal basis of its rows,
which changes no distance.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyrelu.attributes.float_maps import (
    FloatMaps,
    classes,
    expect_in_range,
    expect_labels,
    expect_maps,
    values_at,
)
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.support.arguments import expect_count, expect_function, expect_list
from polyrelu.support.arrays import freeze_arrays
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.progress import Progress, ProgressStep
from polyrelu.support.typing import Floats, Indices

__all__ = ["ClusteredMaps", "ClusteringRow", "cluster_maps", "clustering_table"]

#: Maximum number of rounds of k-means.
_ROUNDS = 30
#: Maximum number of distances at a time.
_CHUNK = 1 << 22


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ClusteredMaps:
    """Centres of dual points for each output.

    Attributes
    ----------
    centres
        The centres, shape (n_L, k, n_0 + 1).
    labels
        The cluster of the dual point of each output at each point that was clustered, shape
        (points, n_L).
    basis
        The basis in which distances are computed, as in `FloatMaps`.

    Examples
    --------
    >>> from polyrelu.attributes import float_maps
    >>> maps = float_maps("example:xor", [[1, 1], [2, 1], [-2, -1], [-3, 0]])
    >>> clusters = cluster_maps(maps, 2)
    >>> sorted(clusters.centres[0].tolist())
    [[-2.0, -2.0, 1.0], [0.0, 0.0, -1.0]]
    """

    centres: Floats
    labels: Indices
    basis: Floats | None = None

    def __post_init__(self) -> None:
        freeze_arrays(self)

    @property
    def num_clusters(self) -> int:
        """The number of clusters of each output."""
        return int(self.centres.shape[1])

    def nearest(self, maps: FloatMaps) -> Indices:
        """Return the centre that is next to each dual point.

        Parameters
        ----------
        maps
            Maps of the same network at any points.

        Returns
        -------
        Array
            Indices of centres, shape (points, n_L).

        Raises
        ------
        DomainError
            The maps have other numbers of inputs or outputs, or numbers beyond 2^400.
        """
        maps = expect_in_range(expect_maps(maps, "maps"), "maps")
        if maps.duals.shape[1:] != (len(self.centres), self.centres.shape[2]):
            raise DomainError(
                f"maps: dual points of shape {maps.duals.shape[1:]}, the centres have "
                f"{(len(self.centres), self.centres.shape[2])}"
            )
        columns = [
            _nearest(_shortened(maps.duals[:, j], self.basis), _shortened(centres, self.basis))
            for j, centres in enumerate(self.centres)
        ]
        return np.stack(columns, axis=1)

    def outputs(self, maps: FloatMaps) -> Floats:
        """Return the values at the points of maps, with the nearest centres in place of the maps.

        Parameters
        ----------
        maps
            Maps of the same network at any points.

        Returns
        -------
        Array
            The values, shape (points, n_L).

        Raises
        ------
        DomainError
            The maps have other numbers of inputs or outputs, or numbers beyond 2^400.
        """
        chosen = self.nearest(maps)
        values = [
            values_at(centres[chosen[:, j]][:, None], maps.samples)[:, 0]
            for j, centres in enumerate(self.centres)
        ]
        return np.stack(values, axis=1)

    def num_right(self, maps: FloatMaps, labels: object) -> int:
        """Return at how many points the largest of the values by centres is the labelled output.

        Parameters
        ----------
        maps
            Maps of the same network at any points.
        labels
            The class of each point.

        Returns
        -------
        int
            The number of points.

        Raises
        ------
        DomainError
            The maps have other numbers of inputs or outputs, or numbers beyond 2^400, or the
            labels do not fit.
        """
        wanted = expect_labels(labels, expect_maps(maps, "maps"))
        return int((classes(self.outputs(maps)) == wanted).sum())

    def __repr__(self) -> str:
        counts = [(len(self.centres), "output"), (self.num_clusters, "cluster")]
        return bracketed(f"ClusteredMaps of {count_text(counts)}")


@dataclass(frozen=True, slots=True)
class ClusteringRow:
    """A row of a table of accuracies by clusters.

    Attributes
    ----------
    num_clusters
        Number of clusters of each output; None for the network itself.
    num_right
        Number of test points with the right class.

    Examples
    --------
    >>> ClusteringRow(10, 1844)
    ClusteringRow(num_clusters=10, num_right=1844)
    """

    num_clusters: int | None
    num_right: int


def cluster_maps(maps: FloatMaps, num_clusters: int, *, seed: int = 0) -> ClusteredMaps:
    """Cluster the dual points of each output by k-means.

    Parameters
    ----------
    maps
        Maps of a network at points.
    num_clusters
        Number of clusters of each output.
    seed
        Seed of the first centres.

    Returns
    -------
    ClusteredMaps
        The centres.

    Raises
    ------
    DomainError
        There are fewer points than clusters, or a map has numbers beyond 2^400.
    PolyreluError
        scikit-learn is not installed, and there is more than one cluster.

    Examples
    --------
    >>> from polyrelu.attributes import float_maps
    >>> maps = float_maps("example:xor", [[1, 1], [-1, -1]])
    >>> cluster_maps(maps, 1).centres.tolist()
    [[[-1.0, -1.0, 0.0]]]
    """
    maps = expect_maps(maps, "maps")
    count = expect_count(num_clusters, "num_clusters", 1)
    seed = expect_count(seed, "seed")
    if maps.num_points < count:
        raise DomainError(
            f"num_clusters: expected at most one cluster a point, got {count} (number of points: "
            f"{maps.num_points})"
        )
    expect_in_range(maps, "maps")
    centres, labels = list[Floats](), list[Indices]()
    for j in range(maps.num_outputs):
        labels.append(_clusters(maps.coordinates(j), count, seed))
        centres.append(_means(maps.duals[:, j], labels[-1], count))
    return ClusteredMaps(np.stack(centres), np.stack(labels, axis=1), maps.basis)


def clustering_table(
    training: FloatMaps,
    test: FloatMaps,
    labels: object,
    counts: Sequence[int] = (1, 10, 100),
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[ClusteringRow, ...]:
    """Return the accuracies of a network by clusters of its dual points.

    Parameters
    ----------
    training
        Maps at the points that are clustered.
    test
        Maps at the points that are classified.
    labels
        The class of each test point.
    counts
        Numbers of clusters of each output.
    seed
        Seed of k-means.
    progress
        Called after each number of clusters.

    Returns
    -------
    tuple of ClusteringRow
        The network itself, then each number of clusters.

    Raises
    ------
    DomainError
        Maps and labels do not fit together, or there are more clusters than points.
    PolyreluError
        scikit-learn is not installed.

    Examples
    --------
    >>> from polyrelu.attributes import float_maps
    >>> maps = float_maps("example:xor", [[-1, -1], [1, -1], [-1, 1], [1, 1]])
    >>> [row.num_right for row in clustering_table(maps, maps, [0, 1, 1, 0], [1, 3])]
    [4, 3, 4]
    """
    training, test = expect_maps(training, "training"), expect_maps(test, "test")
    if progress is not None:
        expect_function(progress, "progress")
    numbers = expect_list(counts, "counts")
    rows = [ClusteringRow(None, test.num_right(labels))]
    for done, count in enumerate(numbers, 1):
        clusters = cluster_maps(training, count, seed=seed)
        rows.append(ClusteringRow(count, clusters.num_right(test, labels)))
        if progress is not None:
            progress(ProgressStep("clustering dual points", done, len(numbers), "tables"))
    return tuple(rows)


def _clusters(rows: Floats, count: int, seed: int) -> Indices:
    """Return the cluster of each row."""
    if count == 1:
        return np.zeros(len(rows), dtype=np.int64)
    scale = float(np.abs(rows).max(initial=0.0)) or 1.0
    short = (rows / scale).astype(np.float32)
    with _quiet_sklearn() as cluster:
        found = cluster.KMeans(count, n_init=1, max_iter=_ROUNDS, random_state=seed).fit(short)
    return np.asarray(found.labels_, dtype=np.int64)


@contextmanager
def _quiet_sklearn() -> Iterator[Any]:
    """A block with scikit-learn's clusters, in one thread and without remarks on few points."""
    try:
        from sklearn import cluster
        from sklearn.exceptions import ConvergenceWarning
        from threadpoolctl import threadpool_limits
    except ImportError:
        raise PolyreluError(
            "clusters of affine maps need the package scikit-learn (the extra [attributes]): "
            "pip install 'polyrelu[attributes]'"
        ) from None
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield cluster


def _means(rows: Floats, labels: Indices, count: int) -> Floats:
    """Return the mean of each cluster; clusters without rows get the first row."""
    sums = np.zeros((count, rows.shape[1]))
    np.add.at(sums, labels, rows)
    sizes = np.bincount(labels, minlength=count)
    means = sums / np.maximum(sizes, 1)[:, None]
    return np.where((sizes > 0)[:, None], means, rows[0])


def _shortened(rows: Floats, basis: Floats | None) -> Floats:
    return rows if basis is None else np.asarray(rows @ basis.T)


def _nearest(rows: Floats, centres: Floats) -> Indices:
    """Return the index of the centre next to each row; the first one of several."""
    squares = (centres**2).sum(axis=1)
    size = max(1, _CHUNK // len(centres))
    parts = [
        (squares - 2 * rows[first : first + size] @ centres.T).argmin(axis=1)
        for first in range(0, len(rows), size)
    ]
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])
