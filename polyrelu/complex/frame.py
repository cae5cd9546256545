"""Coordinates in which a domain has full dimension and no cell contains a line.

The whole engine computes in these coordinates y of a `Frame`; `PolyhedralComplex`, weights and
pictures translate its results to the coordinates x of the inputs. Nothing here depends on layers
after the first, except through skip connections that read the input.

The affine hull of the domain is parametrised as x = p + K v. Directions along which neither the
constraints of the domain nor any layer that reads the input change form the lineality space of the
complex; they are divided out: enough coordinates of v are kept to tell the forms apart, and the
others are set to 0. The kept coordinates are y ∈ Q^d, with x = origin + basis y. Every form becomes
a row [a | b], which means a·y + b t, with t = 1 at points and t = 0 at directions.
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
    positive_primitive,
    primitive,
    rank,
    row_basis,
    solve,
)
from polyrelu.exact.modular import rank_mod
from polyrelu.network import Network
from polyrelu.support.display import count_text

__all__ = ["Frame", "frame_of", "need_few_cells", "refuse_cells"]

#: Maximum number of cells of the first arrangement; larger complexes are refused.
_CELL_LIMIT = 10**7
#: Number of rows that are looked at before coordinates are computed: enough for that many cells.
_SAMPLED_ROWS = 64


@dataclass(frozen=True, slots=True)
class Frame:
    """The coordinates y of a domain, in which cells have full dimension and contain no lines.

    Points x of the domain and rows over (x, 1) are translated with exact matrices. Forms and
    vertices in these coordinates are homogeneous: rows [a | b] mean a·y + b t.

    Attributes
    ----------
    dimension
        The number d of coordinates y.
    embedding
        The matrix of y ↦ x in homogeneous coordinates, (x, 1) = embedding (y, 1); shape
        (n_0 + 1, d + 1).
    coordinates
        The matrix of x ↦ y, (y, 1) = coordinates (x, 1) for points x of the domain; shape
        (d + 1, n_0 + 1).
    on_hull
        A projection of rows r over (x, 1): r and r on_hull have equal values on the domain, and
        rows with equal values on the domain become equal. Only coordinates of x that the equations
        of the affine hull leave free are read. Shape (n_0 + 1, n_0 + 1).
    lineality
        Primitive integer directions of R^{n_0} that were divided out, a basis of the lineality
        space.
    constraints
        The form c - a·x of each inequality a·x ≤ c of the domain over (y, t), shape (m, d + 1).
    first_layer
        The preactivations of the first layer over (y, t), shape (n_1, d + 1).
    base
        Rows of [constraints; first_layer] with independent linear parts. There are d of them,
        unless a skip connection reads the input in a direction in which all of these rows are
        constant, so that the cells of the first layer contain lines.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 1]], [-1]), ([[1]], [0])])
    >>> frame = frame_of(net, Polyhedron.universe(2))    # the network only reads x_0 + x_1
    >>> frame.dimension, frame.lineality, frame.first_layer.integer_rows()
    (1, ((1, -1),), [[1, -1]])
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
        """The dimension of the domain, its lineality space included."""
        return self.dimension + len(self.lineality)

    def __repr__(self) -> str:
        inputs = self.embedding.nrows - 1
        return f"<Frame, {count_text([(self.dimension, 'coordinate')])} in R^{inputs}>"

    def base_rows(self) -> list[list[int]]:
        """Return the forms of the base, each in primitive integers, shape (d, d + 1)."""
        count = self.constraints.nrows
        constraints = self.constraints.take(rows=[i for i in self.base if i < count])
        neurons = self.first_layer.take(rows=[i - count for i in self.base if i >= count])
        rows = [*constraints.integer_rows(), *neurons.integer_rows()]
        return [list(positive_primitive(row)) for row in rows]

    def embedded(self, y: Sequence[int]) -> tuple[Fraction, ...]:
        """Return the point x with homogeneous coordinates (y, t), t > 0."""
        *x, t = (self.embedding @ RationalMatrix.column(y)).entries()
        return tuple(entry / t for entry in x)

    def direction(self, y: Sequence[int]) -> tuple[int, ...]:
        """Return the primitive direction in R^{n_0} with homogeneous coordinates (y, 0)."""
        column = self.embedding @ RationalMatrix.column(y)
        return tuple(row[0] for row in column.primitive_rows()[:-1])


def frame_of(network: Network, domain: Polyhedron) -> Frame:
    """Return the coordinates of a domain, a polyhedron in the input space, for a network.

    Raises
    ------
    DomainError
        The domain is empty.
    """
    size = network.num_inputs
    equations = _hull_equations(domain)
    hull = _affine_hull(size, equations)
    constraints = RationalMatrix.from_integers(
        [[-entry for entry in row[:-1]] + [row[-1]] for row in domain.inequalities], ncols=size + 1
    )
    first = (
        network.layers[0].augmented()
        if network.num_hidden_layers
        else RationalMatrix.zeros(0, size + 1)
    )
    coordinates = range(hull.ncols - 1)
    base = () if equations else row_basis(constraints.take(columns=coordinates))
    if len(base) == size:  # the constraints alone see all coordinates of x
        return Frame(size, hull, hull, hull, (), constraints, first, base)
    forms = constraints.over(first)
    if equations:
        forms = forms @ hull
    along = hull.take(rows=range(size), columns=coordinates)
    linear = forms.take(columns=coordinates)
    for weight in _skips_from_input(network):
        linear = linear.over(weight @ along)
    kept = [*column_basis(linear), hull.ncols - 1]
    directions = kernel(linear)
    lines = along @ directions
    forms, free = forms.take(columns=kept), _free_coordinates(hull)
    return Frame(
        dimension=len(kept) - 1,
        embedding=hull.take(columns=kept),
        coordinates=_projection(directions, kept) @ free,
        on_hull=hull @ free,
        lineality=tuple(primitive(column)[0] for column in lines.transpose().rows()),
        constraints=forms.take(rows=range(constraints.nrows)),
        first_layer=forms.take(rows=range(constraints.nrows, forms.nrows)),
        base=row_basis(forms.take(columns=range(len(kept) - 1))),
    )


def need_few_cells(network: Network, domain: Polyhedron) -> None:
    """Raise an error at once where the first cells alone would take all memory.

    With d independent forms among the constraints of the domain and the neurons of layer 1 there
    are at least 2^d cells, and 3^d if the forms have both signs. Some rows are enough to see that
    there are too many, modulo a prime that can only make the rank smaller.
    """
    if 3**network.num_inputs <= _CELL_LIMIT:
        return
    equations = RationalMatrix.from_integers(
        [row[:-1] for row in _hull_equations(domain)], ncols=domain.ambient_dimension
    )
    num_rows = equations.nrows + _SAMPLED_ROWS
    constraints = RationalMatrix.from_integers(
        [row[:-1] for row in domain.inequalities[:num_rows]], ncols=equations.ncols
    )
    rows = equations.over(constraints)
    is_sample = len(domain.inequalities) > constraints.nrows
    most_one_sided = rank(rows) - equations.nrows if not is_sample else rows.ncols
    for block in network.layers[0].blocks if network.num_hidden_layers else ():
        rows = rows.over(block.weight.take(rows=range(min(num_rows, block.weight.nrows))))
    least = rank_mod(rows) - equations.nrows
    one_sided = min(most_one_sided, least)
    refuse_cells(one_sided, least - one_sided)


def refuse_cells(one_sided: int, two_sided: int) -> None:
    """Raise an error if forms with one and with both signs make too many cells."""
    cells = 2 ** max(one_sided, 0) * 3 ** max(two_sided, 0)
    if cells > _CELL_LIMIT:
        digits = str(cells)
        raise DomainError(
            f"the complex has at least {digits[0]}e+{len(digits) - 1} cells, too many to list; "
            "choose a domain with fewer dimensions, such as slice:FILE, or walk from region to "
            "region (`polyrelu complex --regions-only`, walk_regions)"
        )


def _hull_equations(domain: Polyhedron) -> Sequence[Sequence[int]]:
    """The equations of the affine hull of a domain that is not empty."""
    interior = domain.relative_interior()
    if interior is None:
        raise DomainError("the domain is empty")
    return interior[0]


def _affine_hull(size: int, equations: Sequence[Sequence[int]]) -> RationalMatrix:
    """The matrix [K p; 0 1], where p + K v is the affine hull with the given equations.

    The parameters v are those coordinates of x that the equations leave free.
    """
    if not equations:
        return RationalMatrix.identity(size + 1)
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
    """The matrix of (x, 1) ↦ (v, 1), which selects the free coordinates of x.

    Several rows of the hull can be the same unit vector, as coordinates of x can be equal on the
    hull, or equal to 1. The last of them is taken: coordinates that are solved for have smaller
    indices than the free coordinates to which they are equal.
    """
    row_numbers = {row: j for j, row in enumerate(hull.rows())}
    units = [[int(i == j) for i in range(hull.ncols)] for j in range(hull.ncols)]
    chosen = [row_numbers[tuple(map(Fraction, unit))] for unit in units]
    return RationalMatrix.from_integers([[int(i == j) for i in range(hull.nrows)] for j in chosen])


def _projection(directions: RationalMatrix, kept: list[int]) -> RationalMatrix:
    """The matrix of (v, 1) ↦ (y, 1).

    It moves a point along the directions until all coordinates that are not kept are 0.
    """
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
    """The weights with which hidden layers after the first read the input."""
    hidden = network.layers[1 : network.num_hidden_layers]
    return [block.weight for layer in hidden for block in layer.blocks if block.source == 0]
