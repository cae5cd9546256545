"""A network on the affine hull of its domain, with coordinates of the hull as inputs.

Pictures of a network with many inputs show a slice. The functions here replace the network by the
composition v ↦ f(p + K v), which reads only the coordinates v of the slice: complexes of it are
smaller, and its axes are coordinates of the picture. Lengths in v are not lengths in the input
space, so that `weights` needs K as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.formats import DomainLike, Slice, as_domain, parse_slice
from polyrelu.network import Block, Layer, Network
from polyrelu.plot.view import Name, free_coordinates

__all__ = ["SLICE_NAMES", "SlicedNetwork", "on_axes", "slice_or_domain"]


#: Names of the coordinates of a slice.
SLICE_NAMES = ("s", "t", "u")


class SlicedNetwork(NamedTuple):
    """A network on an affine space x = p + K v.

    Attributes
    ----------
    network
        The network v ↦ f(p + K v).
    domain
        The domain in the coordinates v.
    axes
        What the coordinates are: numbers of inputs, or names s, t, u.
    linear
        The matrix K; None if v are all inputs.
    """

    network: Network
    domain: Polyhedron
    axes: tuple[Name, ...]
    linear: RationalMatrix | None


def slice_or_domain(domain: DomainLike | Slice, num_inputs: int) -> Polyhedron | Slice:
    """Return the domain of a picture; a slice keeps its coordinates."""
    if isinstance(domain, Slice):
        return domain
    if isinstance(domain, str) and domain.startswith("slice:"):
        return parse_slice(domain, num_inputs)
    return as_domain(domain, num_inputs)


def on_axes(network: Network, domain: Polyhedron | Slice) -> SlicedNetwork:
    """Return the network on the affine hull of a domain.

    The coordinates are the coordinates of a slice, if its points span the hull, and otherwise the
    inputs that the equations of the hull leave free.

    Raises
    ------
    DomainError
        The domain is empty or lies in another space.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 1, 1]], [0]), ([[1]], [0])])
    >>> plane = Polyhedron.from_constraints([[0, 1, 0]], [3], [[1, 0, 2]], [5])
    >>> flat, part, axes, _ = on_axes(net, plane)
    >>> str(flat.weight(1)), str(flat.bias(1)), part.inequalities, axes
    ('[1 -1]', '[5]', ((1, 0, 3),), (1, 2))
    """
    part = None
    if isinstance(domain, Slice):
        part, domain = domain, domain.domain
    if domain.ambient_dimension != network.num_inputs:
        raise DomainError(
            f"the domain lies in R^{domain.ambient_dimension}, the network has "
            f"{network.num_inputs} inputs"
        )
    if domain.is_empty():
        raise DomainError("the domain is empty, so that there is nothing to draw")
    equations = domain.affine_hull()
    axes = free_coordinates(equations, network.num_inputs)
    if part is not None and 0 < len(axes) == len(part.directions) <= len(SLICE_NAMES):
        linear = RationalMatrix.from_rows(part.directions).transpose()
        return _pulled_back(
            network, domain, SLICE_NAMES[: len(axes)], linear, RationalMatrix.column(part.origin)
        )
    if not equations or not axes:
        return SlicedNetwork(network, domain, axes, None)
    return _pulled_back(network, domain, axes, *_parametrised(network.num_inputs, equations, axes))


def _pulled_back(
    network: Network,
    domain: Polyhedron,
    axes: tuple[Name, ...],
    linear: RationalMatrix,
    offset: RationalMatrix,
) -> SlicedNetwork:
    """Return network and domain in the coordinates v of x = offset + linear v."""
    layers = tuple(_pulled_back_layer(layer, linear, offset) for layer in network.layers)
    rows = RationalMatrix.from_integers(domain.inequalities, ncols=network.num_inputs + 1)
    matrix = rows.take(columns=range(network.num_inputs))
    right = rows.take(columns=[network.num_inputs]) - matrix @ offset
    kept = [
        (row, bound)
        for row, bound in zip((matrix @ linear).rows(), right.entries(), strict=True)
        if any(row)
    ]
    part = Polyhedron.from_constraints(
        [row for row, _ in kept], [bound for _, bound in kept], (), (), len(axes)
    )
    return SlicedNetwork(Network(len(axes), layers, network.last), part, axes, linear)


def _pulled_back_layer(layer: Layer, linear: RationalMatrix, offset: RationalMatrix) -> Layer:
    """Return a layer that reads v in place of the input x = p + K v."""
    blocks, bias = [], layer.bias
    for block in layer.blocks:
        if block.source == 0:
            bias = bias + block.weight @ offset
            block = Block(0, block.weight @ linear)
        blocks.append(block)
    return Layer(tuple(blocks), bias)


def _parametrised(
    size: int, equations: Sequence[tuple[int, ...]], axes: Sequence[int]
) -> tuple[RationalMatrix, RationalMatrix]:
    """Return K and p of the affine space of equations in echelon form."""
    pivots = {next(j for j, entry in enumerate(row) if entry): row for row in equations}
    rows: list[Sequence[object]] = []
    for j in range(size):
        if (row := pivots.get(j)) is None:
            rows.append([*(int(j == axis) for axis in axes), 0])
        else:
            rows.append(
                RationalMatrix.from_integers(
                    [[*(-row[axis] for axis in axes), row[-1]]], row[j]
                ).row(0)
            )
    hull = RationalMatrix.from_rows(rows, ncols=len(axes) + 1)
    return hull.take(columns=range(len(axes))), hull.take(columns=[len(axes)])
