"""The frame of a picture: the coordinates that are its axes, and the box that bounds them.

On a domain of full dimension the axes are the inputs. On a slice they are the inputs that the
equations of its affine hull leave free, and the others depend on them; or the coordinates s, t, u
of a slice through points. Boxes are exact, and the caption under a picture states them.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from polyrelu.complex import PolyhedralComplex
from polyrelu.complex.polyhedral_complex import expect_complex
from polyrelu.errors import DomainError
from polyrelu.exact import Infeasible, Polyhedron, Rational, RationalMatrix, Unbounded
from polyrelu.formats import as_point
from polyrelu.support.arguments import expect_list
from polyrelu.support.display import shortened
from polyrelu.support.typing import Point

__all__ = [
    "BoxLike",
    "Name",
    "View",
    "free_axes",
    "free_coordinates",
    "interval_text",
    "sides_of",
    "view_of",
    "window",
]


#: The number of an input, or the name of a coordinate of a slice.
Name: TypeAlias = int | str

#: An interval (low, high) that holds for every axis, or one interval for each axis.
BoxLike: TypeAlias = Sequence[Rational] | Sequence[Sequence[Rational]]


@dataclass(frozen=True, slots=True)
class View:
    """The frame of a picture.

    Attributes
    ----------
    axes
        The inputs of the complex that are drawn along the axes, one to three.
    lower
        The lower corner of the box, one number for each axis.
    upper
        The upper corner of the box, one number for each axis.
    num_inputs
        The number of inputs of the whole network; if it exceeds the number of axes, the other
        inputs depend on the axes.
    names
        The numbers of the axes among these inputs; or s, t, u, the coordinates of a slice through
        points.
    linear
        On a slice x = p + K v in coordinates v along the axes: the matrix K, which lengths need.

    Examples
    --------
    >>> from fractions import Fraction
    >>> view = View((0,), (Fraction(-1),), (Fraction(1, 2),), num_inputs=1, names=(0,))
    >>> view.dimension, view.labels, view.caption
    (1, ('$x_{0}$',), 'box [-1, 1/2]')
    """

    axes: tuple[int, ...]
    lower: Point
    upper: Point
    num_inputs: int
    names: tuple[Name, ...]
    linear: RationalMatrix | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<View, {shortened(self.caption, 80)}>"

    @property
    def dimension(self) -> int:
        """The number of axes."""
        return len(self.axes)

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of each axis, as mathematical text of matplotlib."""
        return tuple(
            f"$x_{{{name}}}$" if isinstance(name, int) else f"${name}$" for name in self.names
        )

    @property
    def caption(self) -> str:
        """The box in words.

        >>> from polyrelu.exact import Polyhedron
        >>> window(Polyhedron.universe(2), [(-1, 1), (0, "1/3")])[1].caption
        'box [-1, 1] × [0, 1/3]'
        """
        sides = " × ".join(
            itertools.starmap(interval_text, zip(self.lower, self.upper, strict=True))
        )
        if isinstance(self.names[0], str):
            terms = " + ".join(f"{name} (p{i} - p0)" for i, name in enumerate(self.names, 1))
            return f"box {sides}, slice p0 + {terms} of R^{self.num_inputs}"
        return f"box {sides}" + (
            f", slice of R^{self.num_inputs}" if self.num_inputs > len(self.axes) else ""
        )

    @property
    def sides(self) -> tuple[tuple[int, ...], ...]:
        """Rows [a | b] over the axes with a·x + b ≥ 0 inside: low and high side of each axis."""
        rows = []
        for j, (low, high) in enumerate(zip(self.lower, self.upper, strict=True)):
            for sign, bound in ((1, low), (-1, high)):
                row = [0] * (self.dimension + 1)
                row[j], row[-1] = sign * bound.denominator, -sign * bound.numerator
                rows.append(tuple(row))
        return tuple(rows)

    def box_in(self, size: int) -> Polyhedron:
        """Return the box as a polyhedron in R^size, where only the axes are bounded."""
        rows = []
        for *along, bound in self.sides:
            row = [0] * size
            for axis, entry in zip(self.axes, along, strict=True):
                row[axis] = -entry
            rows.append((*row, bound))
        return Polyhedron(size, tuple(rows))


def interval_text(low: Fraction, high: Fraction) -> str:
    """Return an interval in words.

    Its ends are exact if they are short; otherwise they have at least six digits, and enough to
    tell them apart.

    >>> interval_text(Fraction(-1), Fraction(1, 3))
    '[-1, 1/3]'
    >>> interval_text(Fraction(10**400), Fraction(10**400 + 10**393))
    '[1e+400, 1.0000001e+400]'
    """
    exact = [str(low), str(high)]
    if max(map(len, exact)) <= 8:
        return f"[{exact[0]}, {exact[1]}]"
    relative = max(abs(low), abs(high)) // (high - low)
    digits = 6 + len(str(relative)) - 1
    texts = [
        text if len(text) <= 8 else _decimal(end, digits)
        for text, end in zip(exact, (low, high), strict=True)
    ]
    return f"[{texts[0]}, {texts[1]}]"


def _decimal(number: Fraction, digits: int) -> str:
    """Return a number rounded to some digits, also where it is beyond the range of floats."""
    with localcontext(prec=digits):
        return f"{(Decimal(number.numerator) / Decimal(number.denominator)).normalize():g}"


def view_of(cells: PolyhedralComplex, *, box: BoxLike | None = None) -> View:
    """Return the frame of a picture of a complex.

    Parameters
    ----------
    cells
        A complex of dimension 1 to 3.
    box
        (low, high), the same for every axis, or such a pair for each axis; by default the smallest
        box around a bounded domain, and [-1, 1] along every axis of an unbounded one.

    Returns
    -------
    View
        The axes and the box.

    Raises
    ------
    DomainError
        The complex has another dimension, or the box is invalid.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> from polyrelu.network import from_arrays
    >>> cells = canonical_complex(from_arrays([([[1, 2]], [0]), ([[1]], [0])]))
    >>> view_of(cells).axes, view_of(cells, box=["1/2", 3]).caption
    ((0, 1), 'box [1/2, 3] × [1/2, 3]')
    """
    return _view_of_domain(expect_complex(cells).domain, box)


def window(
    domain: Polyhedron, box: BoxLike | None = None, default: tuple[int, int] = (-1, 1)
) -> tuple[Polyhedron, View]:
    """Return the part of a domain inside a box, and its view; see `view_of`.

    Raises
    ------
    DomainError
        The domain or the box is invalid, as for `view_of`, or the box does not meet the domain in a
        set of the same dimension.
    """
    view = _view_of_domain(domain, box, default)
    part = domain.intersect(view.box_in(domain.ambient_dimension))
    if part.dimension < view.dimension:
        raise DomainError(
            f"the {view.caption} shows nothing of the inside of the domain; choose another box"
        )
    return part, view


def _view_of_domain(
    domain: Polyhedron, box: BoxLike | None, default: tuple[int, int] = (-1, 1)
) -> View:
    """Return the view of a domain; `default` is the box along every axis of an unbounded one."""
    if domain.is_empty():
        raise DomainError("the domain is empty, so that there is nothing to draw")
    axes = free_axes(domain)
    if not 1 <= len(axes) <= 3:
        raise DomainError(
            f"pictures show 1 to 3 dimensions, the domain has {len(axes)}: give a line, plane "
            "or space through points "
            "of it, --domain slice:FILE"
        )
    sides = _bounding_sides(domain, axes, default) if box is None else sides_of(box, len(axes))
    return View(
        axes,
        tuple(low for low, _ in sides),
        tuple(high for _, high in sides),
        domain.ambient_dimension,
        axes,
    )


def free_axes(domain: Polyhedron) -> tuple[int, ...]:
    """Return the inputs that the equations of the affine hull of a domain leave free.

    >>> free_axes(Polyhedron.from_constraints([], [], [[1, 2, 3]], [4]))
    (1, 2)
    """
    return free_coordinates(domain.affine_hull(), domain.ambient_dimension)


def free_coordinates(equations: Sequence[Sequence[int]], size: int) -> tuple[int, ...]:
    """Return the coordinates that equations in echelon form do not solve for."""
    pivots = {next(j for j, entry in enumerate(row) if entry) for row in equations}
    return tuple(j for j in range(size) if j not in pivots)


def _bounding_sides(
    domain: Polyhedron, axes: Sequence[int], default: tuple[int, int]
) -> list[tuple[Fraction, Fraction]]:
    """Return the sides of the smallest box around a bounded domain, and the default for others."""
    found = []
    for axis in axes:
        extremes = []
        for sign in (-1, 1):
            best = domain.maximize([sign * int(j == axis) for j in range(domain.ambient_dimension)])
            if isinstance(best, Unbounded):
                return [(Fraction(default[0]), Fraction(default[1]))] * len(axes)
            if isinstance(best, Infeasible):
                raise DomainError("the domain is empty")
            extremes.append(sign * best.value)
        found.append((extremes[0], extremes[1]))
    return found


def sides_of(box: BoxLike, count: int) -> list[tuple[Fraction, Fraction]]:
    """Return a pair (low, high) for each axis.

    >>> [(str(low), str(high)) for low, high in sides_of([0, "1/2"], 2)]
    [('0', '1/2'), ('0', '1/2')]
    """
    pairs = expect_list(box, "box")
    if len(pairs) == 2 and not any(_is_side(entry) for entry in pairs):
        pairs = [pairs] * count
    if len(pairs) != count or any(not _is_side(pair) or len(pair) != 2 for pair in pairs):
        raise DomainError(
            f"the box of a picture with {count} axes is (low, high), or {count} such pairs"
        )
    sides = [as_point(pair, 2, f"side {j} of the box") for j, pair in enumerate(pairs)]
    for j, (low, high) in enumerate(sides):
        if low >= high:
            raise DomainError(f"side {j} of the box is empty: {low} is not less than {high}")
    return [(low, high) for low, high in sides]


def _is_side(entry: object) -> bool:
    """Whether an entry of a box is an interval and no number."""
    return isinstance(entry, Sequence | np.ndarray) and not isinstance(entry, str)
