"""The first layer of a network, and the weights of layer 2, from surfaces and how they bend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.exact import RationalMatrix, dot, kernel, solve
from polyrelu.exact.vectors import add_multiple
from polyrelu.recovery.choices import Choices, choices
from polyrelu.recovery.jumps import Hyperplane
from polyrelu.recovery.oracle import Oracle, difference, scaled
from polyrelu.recovery.surfaces import CellSigns, Surface
from polyrelu.support.typing import Point, Vector

__all__ = ["InnerLayer", "Neuron", "merged", "orientations", "second_layer"]


@dataclass
class Neuron:
    """A neuron of layer 2, by one or several parts of its surface; all in one scale.

    Attributes
    ----------
    weight
        Its output weights, for the scale of `bends`.
    bends
        By neuron of layer 1: the weight from it, up to the scale.
    pieces
        A cell of each part of the surface, and the piece there.
    """

    weight: Vector
    bends: dict[int, Fraction]
    pieces: list[tuple[CellSigns, Hyperplane]]


def merged(oracle: Oracle, surfaces: Sequence[Surface]) -> list[Neuron]:
    """Join the surfaces that have the same weights: parts of the surface of one neuron."""
    found = list[Neuron]()
    for surface in surfaces:
        signs, piece = next(iter(surface.pieces.items()))
        for neuron in found:
            factor = _common_factor(oracle, neuron, surface)
            if factor is not None:
                plane = Hyperplane(scaled(piece.normal, factor), factor * piece.offset)
                neuron.pieces.append((signs, plane))
                for k, bend in surface.bends.items():
                    neuron.bends.setdefault(k, factor * bend)
                break
        else:
            found.append(Neuron(surface.weight, dict(surface.bends), [(signs, piece)]))
    return found


def _common_factor(oracle: Oracle, neuron: Neuron, surface: Surface) -> Fraction | None:
    """Return the factor that brings a surface to the scale of a neuron, if it may be a part of it.

    The output weights must be positive multiples; the bends at a hyperplane, too, or all negative
    ones.
    """
    k = max(range(len(neuron.weight)), key=lambda i: abs(neuron.weight[i]))
    size = surface.weight[k] / neuron.weight[k]
    if size <= 0:
        return None
    rest = difference(surface.weight, scaled(neuron.weight, size))
    if not all(oracle.is_small(entry, abs(surface.weight[k])) for entry in rest):
        return None
    common = [i for i in surface.bends if neuron.bends.get(i)]
    for factor in (size, -size):
        if common and all(
            oracle.is_small(factor * surface.bends[i] - neuron.bends[i], abs(neuron.bends[i]))
            for i in common
        ):
            return factor
    return None


def orientations(
    oracle: Oracle, planes: Sequence[Hyperplane], neurons: Sequence[Neuron], limit: int
) -> Choices:
    """Solve for the sides of layer 1: 1 for a neuron that is on where its plane is negative.

    In a cell the normal of a neuron of layer 2 is the sum of a u over the neurons of layer 1 that
    are on there (a: the weight, u: the normal of the hyperplane), which is linear in the unknowns.
    Neurons at whose hyperplanes the surface is not seen to bend may be on with any weight.
    """
    rows, right = list[Vector](), list[Fraction]()
    for neuron in neurons:
        unseen = [plane.normal for k, plane in enumerate(planes) if k not in neuron.bends]
        matrix = RationalMatrix.from_rows(unseen, ncols=oracle.num_inputs)
        for test in kernel(matrix).transpose().rows():
            parts = {k: a * dot(test, planes[k].normal) for k, a in neuron.bends.items()}
            for signs, piece in neuron.pieces:
                on = sum((part for k, part in parts.items() if signs[k] > 0), Fraction(0))
                rows.append(tuple(parts.get(k, Fraction(0)) for k in range(len(planes))))
                right.append(on - dot(test, piece.normal))
    near = Fraction(0) if oracle.is_exact else Fraction(1, 2**16)
    return choices(rows, tuple(right), len(planes), limit, near)


@dataclass(frozen=True)
class InnerLayer:
    """Layers 1 and 2, the latter up to the orientations of its neurons.

    Attributes
    ----------
    planes
        The hyperplanes of layer 1; a neuron is on where its plane is positive.
    rows
        The weights of each neuron of layer 2.
    biases
        The biases of layer 2.
    unknown
        The weights that no surface shows, as pairs (neuron of layer 2, neuron of layer 1); they
        are taken to be 0.
    """

    planes: tuple[Hyperplane, ...]
    rows: tuple[Vector, ...]
    biases: Vector
    unknown: tuple[tuple[int, int], ...]

    def activations(self, x: Point) -> Vector:
        """Return the outputs of layer 1."""
        return tuple(max(plane.at(x), Fraction(0)) for plane in self.planes)

    def preactivations(self, x: Point) -> Vector:
        """Return the preactivations of layer 2."""
        h = self.activations(x)
        return tuple(dot(row, h) + b for row, b in zip(self.rows, self.biases, strict=True))


def second_layer(
    planes: Sequence[Hyperplane], neurons: Sequence[Neuron], turned: Sequence[int]
) -> InnerLayer | None:
    """Return both layers for given orientations of layer 1; None if they contradict a surface."""
    sides = [Fraction(1 - 2 * t) for t in turned]
    ours = tuple(
        Hyperplane(scaled(p.normal, s), s * p.offset) for p, s in zip(planes, sides, strict=True)
    )
    rows, unknown = list[Vector](), list[tuple[int, int]]()
    for j, neuron in enumerate(neurons):
        row = _row(ours, neuron, sides)
        if row is None:
            return None
        rows.append(tuple(row.get(k, Fraction(0)) for k in range(len(planes))))
        unknown += [(j, k) for k in range(len(planes)) if k not in row]
    biases = tuple(
        _bias(ours, row, neuron, sides) for row, neuron in zip(rows, neurons, strict=True)
    )
    return InnerLayer(ours, tuple(rows), biases, tuple(unknown))


def _bias(
    planes: Sequence[Hyperplane], row: Vector, neuron: Neuron, sides: Sequence[Fraction]
) -> Fraction:
    """Return the bias with which a preactivation is normal·x - offset on a piece."""
    signs, piece = neuron.pieces[0]
    on = [k for k, side in enumerate(sides) if signs[k] * side > 0]
    return sum((row[k] * planes[k].offset for k in on), -piece.offset)


def _row(
    planes: Sequence[Hyperplane], neuron: Neuron, sides: Sequence[Fraction]
) -> dict[int, Fraction] | None:
    """Return the weights of a neuron that are known: those that bend it, and those that are on."""
    row = dict(neuron.bends)
    signs, piece = neuron.pieces[0]
    on = [k for k, side in enumerate(sides) if signs[k] * side > 0]
    rest = piece.normal
    for k in on:
        if k in row:
            rest = add_multiple(rest, planes[k].normal, -row[k])
    missing = [k for k in on if k not in row]
    if missing:
        matrix = RationalMatrix.from_rows([planes[k].normal for k in missing]).transpose()
        found = solve(matrix, RationalMatrix.column(rest))
        if found is None:
            return None
        row |= {k: entry for k, (entry,) in zip(missing, found.rows(), strict=True)}
    return row
