"""Exact affine maps at points, and the exact polytope of an activation pattern.

Points with the same activation pattern share one affine map. A neuron whose preactivation is 0 at a
point counts as inactive, as in `Network.affine_map_at`. `ExactMaps.on_boundary` tells at which
points that happened, since such a point lies on the boundary of pieces and has no map of its own.

The polytope of a pattern is {x : z_i(x) ≥ 0 for active neurons i, z_i(x) ≤ 0 for the others}, where
z_i is the affine form that the neuron has under the pattern. All forms are combinations of the rows
of the first layer. So redundant inequalities are found in the coordinates of a column basis of the
forms, of which there are at most as many as neurons in a first layer that alone reads the input.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from polyrelu.attributes.float_maps import FloatMaps
from polyrelu.errors import DomainError
from polyrelu.exact import (
    Polyhedron,
    RationalMatrix,
    column_basis,
    irredundant_rows,
    nearest_float,
    positive_primitive,
    rank,
    solve,
)
from polyrelu.formats import NetworkLike, as_network, as_point, as_points
from polyrelu.network import (
    ActivationPattern,
    AffineMap,
    Network,
    SignVector,
    affine_map_table,
)
from polyrelu.network.patterns import need_pattern
from polyrelu.support.arguments import expect_index
from polyrelu.support.arrays import freeze_arrays
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.typing import BigIntegers, Floats, Indices, IntegerRow, Mask, Point, Vector

__all__ = ["ExactMaps", "exact_maps", "local_polytope", "pattern_polytope"]

#: Maximum number of entries of the exact maps of all points, some 60 bytes each.
_ENTRY_LIMIT = 1 << 24


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ExactMaps:
    """The affine maps of a network at points, exactly.

    Attributes
    ----------
    points
        The points.
    patterns
        The different activation patterns, shape (patterns, hidden neurons), in the order of
        `Network.neurons`.
    pattern_of
        The pattern of each point, shape (points,).
    on_boundary
        Whether a hidden neuron has the preactivation 0 at each point, shape (points,). Where none
        has, the map belongs to the open region around the point.
    denominator
        A common denominator of all maps.
    numerators
        The maps [W | b] of the patterns times the denominator, shape (patterns, n_L, n_0 + 1).
    coordinates
        Coordinates of dual points, from 0 to n_0, on which all others depend linearly, in the same
        way for all dual points.

    Examples
    --------
    >>> maps = exact_maps("example:xor", [[0, 0], ["1/4", "1/4"], [-1, -1]])
    >>> [maps.dual_point(point, 0) for point in (1, 2)] == [(-2, -2, 1), (0, 0, -1)]
    True
    >>> maps
    <ExactMaps of 3 points, 3 patterns>
    """

    points: tuple[Point, ...]
    patterns: Mask
    pattern_of: Indices
    on_boundary: Mask
    denominator: int
    numerators: BigIntegers
    coordinates: tuple[int, ...]

    def __post_init__(self) -> None:
        freeze_arrays(self)

    def affine_map(self, point: int) -> AffineMap:
        """Return the affine map at a point.

        Parameters
        ----------
        point
            The index of the point.

        Returns
        -------
        AffineMap
            The map, equal to the network on the closure of the piece.

        Raises
        ------
        ArgumentError
            There is no such point.
        """
        table = self.numerators[self.pattern_of[expect_index(point, len(self.points), "point")]]
        matrix, offset = (
            RationalMatrix.from_integers(part.tolist(), self.denominator, ncols=part.shape[1])
            for part in (table[:, :-1], table[:, -1:])
        )
        return AffineMap(matrix, offset)

    def dual_point(self, point: int, output: int) -> Vector:
        """Return the dual point of an output at a point: its row of [W | b].

        Parameters
        ----------
        point
            The index of the point.
        output
            The index of the output.

        Returns
        -------
        tuple of Fraction
            The n_0 weights and the constant.

        Raises
        ------
        ArgumentError
            There is no such point or output.
        """
        output = expect_index(output, self.numerators.shape[1], "output")
        table = self.numerators[self.pattern_of[expect_index(point, len(self.points), "point")]]
        return tuple(Fraction(entry, self.denominator) for entry in table[output])

    def rank(self, output: int) -> int:
        """Return the exact rank of the matrix of the dual points of an output.

        Parameters
        ----------
        output
            The index of the output.

        Returns
        -------
        int
            The rank of C_j, whose rows are the dual points of all points.

        Raises
        ------
        ArgumentError
            There is no such output.
        """
        rows = self.numerators[:, expect_index(output, self.numerators.shape[1], "output")]
        short = rows[:, list(self.coordinates)]
        return rank(RationalMatrix.from_integers(short.tolist(), ncols=short.shape[1]))

    def to_floats(self) -> FloatMaps:
        """Return the maps in floats, each entry rounded once.

        Returns
        -------
        FloatMaps
            The maps at all points; certified are points on no boundary.
        """
        flat = [nearest_float(entry, self.denominator) for entry in self.numerators.ravel()]
        duals: Floats = np.array(flat, dtype=np.float64).reshape(self.numerators.shape)
        points = RationalMatrix.from_rows(
            self.points, ncols=self.numerators.shape[2] - 1
        ).to_floats()
        return FloatMaps(
            points,
            duals[self.pattern_of],
            ~self.on_boundary,
            np.packbits(self.patterns, axis=1)[self.pattern_of],
            self.patterns.shape[1],
        )

    def __repr__(self) -> str:
        counts = [(len(self.points), "point"), (len(self.patterns), "pattern")]
        return bracketed(f"ExactMaps of {count_text(counts)}")


def exact_maps(network: NetworkLike, points: object) -> ExactMaps:
    """Compute the exact affine maps of a network at points; equal patterns share one map.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    points
        Exact points, shape (k, n_0); floats are the dyadic numbers that they are.

    Returns
    -------
    ExactMaps
        The maps with their activation patterns.

    Raises
    ------
    DomainError
        The points have another shape, or the maps would have more than 2^24 entries.

    Examples
    --------
    >>> maps = exact_maps("example:digits", [[0] * 64, ["1/2"] * 64, ["1/2"] * 64])
    >>> maps.pattern_of.tolist(), maps.rank(0)
    ([0, 1, 1], 2)
    """
    network = as_network(network)
    rows, is_one = as_points(points, network.num_inputs, "points")
    if is_one:
        raise DomainError("points: expected points of shape (k, n_0); [point] makes one row")
    hidden = network.preactivations(rows)[: network.num_hidden_layers]
    signs = np.concatenate([np.zeros((0, len(rows)), dtype=np.int8), *(z.signs() for z in hidden)])
    patterns, which = _distinct(signs.T > 0)
    size = len(patterns) * network.num_outputs * (network.num_inputs + 1)
    if size > _ENTRY_LIMIT:
        raise DomainError(
            f"points: {len(patterns)} exact maps have {size} entries, more than {_ENTRY_LIMIT}; "
            "give fewer points, or use float_maps"
        )
    denominator, numerators = affine_map_table(network, patterns)
    zeros = (signs == 0).any(axis=0)
    return ExactMaps(
        tuple(rows), patterns, which, zeros, denominator, numerators, _coordinates(network)
    )


def _coordinates(network: Network) -> tuple[int, ...]:
    """Return coordinates of dual points that determine the others.

    If the first layer alone reads the input, every dual point is a combination of the rows of
    [W | b] of this layer and of (0, …, 0, 1); a column basis of these rows is enough.
    """
    first, *others = network.layers
    size = network.num_inputs
    if any(block.source == 0 for layer in others for block in layer.blocks):
        return tuple(range(size + 1))
    constant = RationalMatrix.from_integers([[0] * size + [1]])
    return column_basis(first.augmented().over(constant))


def _distinct(patterns: Mask) -> tuple[Mask, Indices]:
    """Return the different rows in the order of their first occurrence, and the row of each."""
    packed = np.packbits(patterns, axis=1)
    _, first, which = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return patterns[first[order]], np.argsort(order)[which.ravel()]


def local_polytope(network: NetworkLike, x: object) -> Polyhedron:
    """Compute the polytope on which a network has the activation pattern of a point, exactly.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    x
        A point, shape (n_0,).

    Returns
    -------
    Polyhedron
        The closed polytope, without redundant inequalities. If the point lies on the boundary of
        pieces, neurons that are 0 there count as inactive, and the polytope may have no interior.

    Raises
    ------
    DomainError
        The point has another number of coordinates.

    Examples
    --------
    >>> local_polytope("example:xor", [0, "1/4"]).inequalities
    ((-1, -1, 0),)
    """
    network = as_network(network)
    point = as_point(x, network.num_inputs)
    signs = network.sign_vector(point)
    is_inside = all(sign for layer in signs.layers for sign in layer)
    return _irredundant(network.num_inputs, _rows(network, signs), point if is_inside else None)


def pattern_polytope(network: NetworkLike, signs: ActivationPattern | SignVector) -> Polyhedron:
    """Compute the polytope of an activation pattern, realised at a point or not, exactly.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes.
    signs
        The pattern; of a sign vector, the signs 0 and -1 mean inactive.

    Returns
    -------
    Polyhedron
        The closed polytope, without redundant inequalities; it may be empty.

    Raises
    ------
    NetworkError
        The pattern has other layers or widths than the network.

    Examples
    --------
    >>> pattern_polytope("example:xor", ActivationPattern(((False, True),))).is_empty()
    True
    """
    network = as_network(network)
    need_pattern(signs, network.widths[1 : network.num_hidden_layers + 1])
    return _irredundant(network.num_inputs, _rows(network, signs), None)


def _rows(network: Network, signs: ActivationPattern | SignVector) -> list[IntegerRow]:
    """Return an inequality [a | c] for each hidden neuron; a constant form has a = 0."""
    size, rows = network.num_inputs, list[IntegerRow]()
    activations = [RationalMatrix.identity(size).beside(RationalMatrix.zeros(size, 1))]
    for number, layer in enumerate(signs.layers, 1):
        forms = network.layer_forms(number, activations)
        on = [int(sign > 0) for sign in layer]
        sides = forms.scale_rows([1 - 2 * side for side in on])
        rows += [(*map(int, row[:-1]), -int(row[-1])) for row in sides.primitive_rows()]
        activations.append(forms.scale_rows(on))
    return rows


def _irredundant(size: int, rows: list[IntegerRow], inside: Point | None) -> Polyhedron:
    """Return the polyhedron of rows [a | c]; `inside` is a point strictly inside, if one is known.

    With such a point, redundancy is decided in the coordinates of a column basis of the normals:
    every x is a point that has only these coordinates plus a vector on which all normals vanish.
    """
    if inside is None:
        return Polyhedron(size, tuple(sorted(set(rows)))).irredundant()
    rows = sorted({positive_primitive(row) for row in rows if any(row[:-1])})
    normals = RationalMatrix.from_integers([row[:-1] for row in rows], ncols=size)
    basis = column_basis(normals)
    if len(basis) == len(rows):  # independent normals: every inequality has a facet
        return Polyhedron(size, tuple(rows))
    short = {(*(row[j] for j in basis), row[-1]): row for row in rows}
    facets = irredundant_rows(list(short), _on_basis(normals, basis, inside))
    return Polyhedron(size, tuple(short[row] for row in facets))


def _on_basis(normals: RationalMatrix, basis: tuple[int, ...], x: Point) -> Point:
    """Return the coordinates y on the basis with which all normals have the values that x gives."""
    if len(basis) == normals.ncols:
        return x
    values = normals @ RationalMatrix.column(x)
    found = solve(normals.take(columns=basis), values)
    if found is None:
        raise AssertionError("the chosen columns span all columns")
    return tuple(found.entries())
