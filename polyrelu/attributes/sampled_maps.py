"""Affine maps of any network at many points in floats, with certified activation patterns.

A network that can be read exactly is a graph of operations: its branches and derivatives at points
are computed in floats of 64 bits with numpy, and `choices` proves the branches where its bounds
allow it. A module of PyTorch that cannot be read gets its derivatives from autograd in float64, and
no point is certified.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.attributes.autograd import is_module, module_maps
from polyrelu.attributes.backward import certified_points, dual_points
from polyrelu.attributes.choices import Choices, GraphFloats, choices_at
from polyrelu.attributes.float_maps import FloatMaps
from polyrelu.errors import ArgumentError, DomainError, NetworkError, NetworkFileError
from polyrelu.exact import AnyMatrix, SparseMatrix
from polyrelu.formats import Imported, NetworkLike, as_imported, read
from polyrelu.formats.graph.values import graph_of
from polyrelu.network import Network
from polyrelu.support.arguments import expect_function
from polyrelu.support.progress import Progress, ProgressStep
from polyrelu.support.typing import Floats

__all__ = ["float_maps"]

#: Maximum number of floats of all values of a graph at a time, for points and outputs together.
_CHUNK = 1 << 23
#: Maximum number of floats of all dual points, and of the derivatives at one point: 4 GiB.
_TABLE_LIMIT, _POINT_LIMIT = 1 << 29, 1 << 29


def float_maps(
    network: NetworkLike,
    points: object,
    *,
    input_shape: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> FloatMaps:
    """Compute the affine maps of a network at points in floats, and prove activation patterns.

    Parameters
    ----------
    network
        A network, what `polyrelu.read` returns, or what `polyrelu.load` takes. Any module of
        PyTorch is taken, also one with operations that cannot be read; then no point is certified.
    points
        The points, shape (k, n_0), as floats. A module gets them in the shape `input_shape`.
    input_shape
        The shape of one sample of a module of PyTorch, with 1 for the batch; by default (1, n_0).
    progress
        Called after each batch of points.

    Returns
    -------
    FloatMaps
        Derivatives and constants at each point, and where the pattern is certified.

    Raises
    ------
    DomainError
        The points have another shape, or one of them is not finite.
    NetworkError
        The network cannot be read, and is no module of PyTorch.

    Notes
    -----
    Around a certified point the network is affine, and the derivatives are products of its weights
    over the proved pattern, computed in float64. An uncertified point may lie on a boundary of
    pieces, or too near to one for the bounds.

    Examples
    --------
    >>> maps = float_maps("example:digits", [[0.5] * 64, [0.25] * 64])
    >>> maps.duals.shape, maps.num_uncertified
    ((2, 10, 65), 0)
    """
    if progress is not None:
        expect_function(progress, "progress")
    table = _float_points(points)
    if not is_module(network):
        return _graph_maps(as_imported(network), table, progress)
    module: Any = network
    shape = (1, table.shape[1]) if input_shape is None else tuple(input_shape)
    try:
        imported = read(module, input_shape=shape)
    except (NetworkError, NetworkFileError) as error:
        return module_maps(module, table, shape, str(error), progress)
    return _graph_maps(imported, table, progress)


def _float_points(points: object) -> Floats:
    """Return points as rows of finite floats."""
    if hasattr(points, "detach"):
        points = points.detach().cpu().numpy()
    try:
        table = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"points: expected rows of floats: {error}") from None
    if table.ndim != 2:
        raise DomainError(f"points: expected shape (k, n_0), got shape {table.shape}")
    if not np.isfinite(table).all():
        raise DomainError("points: a coordinate is not a finite number")
    return np.ascontiguousarray(table)


def _graph_maps(imported: Imported, points: Floats, progress: Progress | None) -> FloatMaps:
    """Return the maps of a network that was read."""
    network = imported.network
    if points.shape[1] != network.num_inputs:
        raise DomainError(
            f"points: expected shape (k, {network.num_inputs}), got shape {points.shape}"
        )
    floats = GraphFloats(imported.graph or graph_of(network))
    _need_memory(floats, network, len(points))
    duals, certified, patterns = _empty_tables(len(points), network)
    bits = list[NDArray[np.uint8]]()
    num_bits = 0
    for part in _parts(floats, network, len(points)):
        with np.errstate(all="ignore"):  # overflow: such points are not certified
            choices = choices_at(floats, np.ascontiguousarray(points[part].T))
            duals[part] = dual_points(floats, choices)
            certified[part] = certified_points(floats, choices)
        certified[part] &= np.isfinite(duals[part]).all(axis=(1, 2))
        packed, num_bits = _packed(choices)
        bits.append(packed)
        if progress is not None:
            progress(ProgressStep("maps at points", part.stop, len(points), "points"))
    patterns = np.concatenate(bits) if bits else patterns
    return FloatMaps(points, duals, certified, patterns, num_bits, basis=_basis(network))


def _need_memory(floats: GraphFloats, network: Network, count: int) -> None:
    """Raise an error for maps that would not fit into memory."""
    row = network.num_outputs * (network.num_inputs + 1)
    if count * row > _TABLE_LIMIT:
        raise DomainError(
            f"points: the maps at {count} points have {count * row} entries, more than "
            f"{_TABLE_LIMIT}; give at most {_TABLE_LIMIT // row} points at a time"
        )
    if floats.num_entries * network.num_outputs > _POINT_LIMIT:
        raise DomainError(
            f"the derivatives of {network.num_outputs} outputs by {floats.num_entries} values need "
            f"more than {_POINT_LIMIT} floats at each point; leave outputs out"
        )


def _empty_tables(count: int, network: Network) -> tuple[Floats, Any, NDArray[np.uint8]]:
    duals = np.empty((count, network.num_outputs, network.num_inputs + 1))
    return duals, np.zeros(count, dtype=bool), np.zeros((count, 0), dtype=np.uint8)


def _parts(floats: GraphFloats, network: Network, count: int) -> Iterator[slice]:
    """Yield the points in parts whose values fit into memory."""
    size = max(1, _CHUNK // (floats.num_entries * (network.num_outputs + 4)))
    for first in range(0, count, size):
        yield slice(first, min(count, first + size))


def _packed(choices: Choices) -> tuple[NDArray[np.uint8], int]:
    """Return the certain branches that are taken, eight to a byte, shape (points, bytes)."""
    tables = [choices.active[number] & choices.certain[number] for number in choices.active]
    count = choices.num_points
    bits = np.concatenate([np.zeros((0, count), dtype=bool), *tables])
    return np.packbits(bits.T, axis=1), len(bits)


def _basis(network: Network) -> Floats | None:
    """Return orthonormal rows that span all [W | b], if the first layer alone reads few inputs."""
    first, *others = network.layers
    if any(block.source == 0 for layer in others for block in layer.blocks):
        return None
    if first.width >= network.num_inputs or not others:
        return None
    rows = np.zeros((first.width + 1, network.num_inputs + 1))
    rows[:-1, :-1] = _dense(first.blocks[0].entries)
    rows[:-1, -1] = first.bias.to_floats()[:, 0]
    rows[-1, -1] = 1
    return np.ascontiguousarray(np.linalg.qr(rows.T)[0].T)


def _dense(matrix: AnyMatrix) -> Floats:
    dense = matrix.to_dense() if isinstance(matrix, SparseMatrix) else matrix
    return dense.to_floats()
