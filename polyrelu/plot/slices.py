"""A network on the affine hull of its domain, with coordinates there as its inputs: those of a
slice, or free ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from polyrelu.complex import Slice
from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, RationalMatrix
from polyrelu.network import Block, Layer, Network
from polyrelu.plot.view import Name, free_of

__all__ = ["SLICE_NAMES", "SlicedNetwork", "on_axes"]


#: Names of the coordinates of a slice.
SLICE_NAMES = ("s", "t", "u")


class SlicedNetwork(NamedTuple):
    """A network on an affine space.

    Attributes
    ----------
    network : v ↦ f(p + K v).
    domain : in the coordinates v.
    axes : which of the inputs these are, or names of them.
    linear : K; None for all inputs.
    """

    network: Network
    domain: Polyhedron
    axes: tuple[Name, ...]
    linear: RationalMatrix | None


def on_axes(network: Network, domain: Polyhedron | Slice) -> SlicedNetwork:
    """The network on the affine hull of a domain: in the coordinates of a slice, if it fills that,
    or in those inputs that the equations of the hull leave free.

    Raises
    ------
    DomainError : the domain is empty or lies in another space.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 1, 1]], [0]), ([[1]], [0])])
    >>> flat, part, axes, _ = on_axes(net, Polyhedron.from_constraints([[0, 1, 0]], [3], [[1, 0, 2]], [5]))
    >>> str(flat.weight(1)), str(flat.bias(1)), part.inequalities, axes
    ('[1 -1]', '[5]', ((1, 0, 3),), (1, 2))
    """
    part = None
    if isinstance(domain, Slice):
        part, domain = domain, domain.domain
    if domain.ambient_dimension != network.inputs:
        raise DomainError(
            f"the domain lies in R^{domain.ambient_dimension}, the network has "
            f"{network.inputs} inputs"
        )
    if domain.is_empty():
        raise DomainError("the domain is empty, so that there is nothing to draw")
    equations = domain.affine_hull()
    axes = free_of(equations, network.inputs)
    if part is not None and 0 < len(axes) == len(part.directions) <= len(SLICE_NAMES):
        linear = RationalMatrix.from_rows(part.directions).transpose()
        return _moved_to(
            network, domain, SLICE_NAMES[: len(axes)], linear, RationalMatrix.column(part.origin)
        )
    if not equations or not axes:
        return SlicedNetwork(network, domain, axes, None)
    return _moved_to(network, domain, axes, *_parametrised(network.inputs, equations, axes))


def _moved_to(
    network: Network,
    domain: Polyhedron,
    axes: tuple[Name, ...],
    linear: RationalMatrix,
    offset: RationalMatrix,
) -> SlicedNetwork:
    layers = tuple(_moved(layer, linear, offset) for layer in network.layers)
    rows = RationalMatrix.from_integers(domain.inequalities, ncols=network.inputs + 1)
    matrix = rows.take(columns=range(network.inputs))
    right = rows.take(columns=[network.inputs]) - matrix @ offset
    kept = [
        (row, bound)
        for row, bound in zip((matrix @ linear).rows(), right.entries(), strict=True)
        if any(row)
    ]
    part = Polyhedron.from_constraints(
        [row for row, _ in kept], [bound for _, bound in kept], (), (), len(axes)
    )
    return SlicedNetwork(Network(len(axes), layers, network.last), part, axes, linear)


def _moved(layer: Layer, linear: RationalMatrix, offset: RationalMatrix) -> Layer:
    """A layer that reads v in place of the input x = p + K v."""
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
    """K and p, from equations in echelon form."""
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
