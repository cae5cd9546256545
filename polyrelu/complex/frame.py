"""Coordinates in which a domain is full-dimensional and no cell contains a line.

The affine hull of the domain is parametrised, x = p + K v. Directions along which neither the domain's constraints nor
any layer that reads the input change (the lineality space of the complex) are divided out: among the coordinates of v
enough are kept to tell the forms apart, and the others are put to 0. What is left is y ∈ Q^d with x = origin + basis y,
and every form becomes a row [a | b] that means a·y + b t, with t = 1 at points and t = 0 at directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.errors import DomainError
from polyrelu.exact import (
    Polyhedron,
    RationalMatrix,
    column_basis,
    kernel,
    primitive,
    row_basis,
    solve,
)
from polyrelu.network import Network

__all__ = ["Frame", "frame_of"]


@dataclass(frozen=True, slots=True)
class Frame:
    """The coordinates y of a domain.

    Attributes
    ----------
    dimension : d, the number of coordinates y.
    embedding : homogeneous, shape (n_0 + 1, d + 1): (x, 1) = embedding (y, 1).
    coordinates : shape (d + 1, n_0 + 1): (y, 1) = coordinates (x, 1) for x in the domain.
    on_hull : shape (n_0 + 1, n_0 + 1): a row r over (x, 1) and r on_hull agree on the domain, and rows that agree there
        become equal; only the coordinates of x that the equations of its affine hull leave free are read.
    lineality : primitive integer directions of R^{n_0} that were divided out.
    constraints : the form c - a·x of each inequality a·x ≤ c of the domain in (y, t), shape (m, d + 1).
    first_layer : the preactivations of the first layer in (y, t), shape (n_1, d + 1).
    base : rows of [constraints; first_layer] with independent linear parts; d of them, unless a skip connection reads
        the input in a direction that neither sees, so that the cells of the first layers contain lines.
    """

    dimension: int
    embedding: RationalMatrix
    coordinates: RationalMatrix
    on_hull: RationalMatrix
    lineality: tuple[tuple[int, ...], ...]
    constraints: RationalMatrix
    first_layer: RationalMatrix
    base: tuple[int, ...]

    @property
    def true_dimension(self) -> int:
        """The dimension of the domain."""
        return self.dimension + len(self.lineality)

    def embedded(self, y: Sequence[int]) -> tuple[Fraction, ...]:
        """The point x of homogeneous coordinates (y, t), t > 0."""
        *x, t = (self.embedding @ RationalMatrix.column(y)).entries()
        return tuple(entry / t for entry in x)

    def direction(self, y: Sequence[int]) -> tuple[int, ...]:
        """The primitive direction in R^{n_0} of homogeneous coordinates (y, 0)."""
        column = self.embedding @ RationalMatrix.column(y)
        return tuple(row[0] for row in column.primitive_rows()[:-1])


def frame_of(network: Network, domain: Polyhedron) -> Frame:
    """The coordinates of a domain for a network.

    Raises
    ------
    DomainError : the domain is empty or lies in another space, or is no polyhedron.
    """
    if not isinstance(domain, Polyhedron):
        raise DomainError(
            f"a domain is a Polyhedron, not {str(domain)[:40]!r}; parse_domain(text, inputs) makes one"
        )
    size = network.inputs
    if domain.ambient_dimension != size:
        raise DomainError(
            f"the domain lies in R^{domain.ambient_dimension}, the network has {size} inputs"
        )
    hull = _affine_hull(domain)
    constraints = RationalMatrix.from_integers(
        [[-entry for entry in row[:-1]] + [row[-1]] for row in domain.inequalities], ncols=size + 1
    )
    first = (
        network.layers[0].augmented()
        if network.hidden_layers
        else RationalMatrix.zeros(0, size + 1)
    )
    forms = constraints.over(first) @ hull
    coordinates = range(hull.ncols - 1)
    along = hull.take(rows=range(size), columns=coordinates)
    linear = forms.take(columns=coordinates)
    for weight in _skips_from_input(network):
        linear = linear.over(weight @ along)
    directions = kernel(linear)
    lines = along @ directions
    kept = [*column_basis(linear), hull.ncols - 1]
    forms, free = forms.take(columns=kept), _free_coordinates(hull)
    return Frame(
        dimension=len(kept) - 1,
        embedding=hull.take(columns=kept),
        coordinates=_along(directions, kept) @ free,
        on_hull=hull @ free,
        lineality=tuple(primitive(column)[0] for column in lines.transpose().rows()),
        constraints=forms.take(rows=range(constraints.nrows)),
        first_layer=forms.take(rows=range(constraints.nrows, forms.nrows)),
        base=row_basis(forms.take(columns=range(len(kept) - 1))),
    )


def _affine_hull(domain: Polyhedron) -> RationalMatrix:
    """[K p; 0 1] with p + K v the affine hull of the domain, v the coordinates that its equations leave free."""
    if domain.is_empty():
        raise DomainError("the domain is empty")
    size, equations = domain.ambient_dimension, domain.affine_hull()
    pivots = {next(j for j, entry in enumerate(row) if entry): row for row in equations}
    free = [j for j in range(size) if j not in pivots]
    rows: list[Sequence[object]] = []
    for j in range(size):
        if (row := pivots.get(j)) is None:
            rows.append([int(j == i) for i in free] + [0])
        else:
            solved = RationalMatrix.from_integers([[*(-row[i] for i in free), row[-1]]], row[j])
            rows.append(solved.row(0))
    return RationalMatrix.from_rows([*rows, [0] * len(free) + [1]], ncols=len(free) + 1)


def _free_coordinates(hull: RationalMatrix) -> RationalMatrix:
    """(v, 1) from (x, 1): the coordinates of x that are those of v.

    Others may be equal to them, or to 1, on the hull: those that are solved for come before those that are free.
    """
    places = {row: j for j, row in enumerate(hull.rows())}
    units = [[int(i == j) for i in range(hull.ncols)] for j in range(hull.ncols)]
    where = [places[tuple(map(Fraction, unit))] for unit in units]
    return RationalMatrix.from_integers([[int(i == j) for i in range(hull.nrows)] for j in where])


def _along(directions: RationalMatrix, kept: list[int]) -> RationalMatrix:
    """(y, 1) from (v, 1): go along the directions until all coordinates that are not kept are 0."""
    size = directions.nrows + 1
    unit = RationalMatrix.identity(size)
    dropped = [j for j in range(size) if j not in kept]
    if not dropped:
        return unit
    moved = directions.over(RationalMatrix.zeros(1, directions.ncols))
    back = solve(moved.take(rows=dropped), RationalMatrix.identity(len(dropped)))
    if back is None:
        raise AssertionError("the kept columns determine the others")
    return (unit - moved @ back @ unit.take(rows=dropped)).take(rows=kept)


def _skips_from_input(network: Network) -> list[RationalMatrix]:
    """The weights on the input of the hidden layers after the first."""
    hidden = network.layers[1 : network.hidden_layers]
    return [block.weight for layer in hidden for block in layer.blocks if block.source == 0]
