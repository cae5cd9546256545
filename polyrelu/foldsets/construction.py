"""Networks that their function determines, for any widths that do not increase.

The construction of Phuong and Lampert (2020, Lemma A.17), in exact numbers. Let P be the closure of
the image, under the layers so far, of the points where all neurons so far are active; for the first
layer it is the domain. B is a box that contains the image of the whole domain. The rows of the next
layer are chosen one after the other, and Q is the part of P where the rows so far are ≥ 0:

* row 1 changes its sign inside P and, after the first layer, inside each facet of P on which an
  activation is 0: there the new neuron bends at the neuron of that facet;
* row 2 is positive on B wherever row 1 is not, so that the layer is never entirely inactive, and
  changes its sign inside Q;
* each further row changes its sign inside Q and is positive somewhere on each facet of Q that lies
  on the zero set of an earlier row of the layer.

Linear parts are random small integers, and offsets are the simplest fractions that satisfy the
conditions. Whether the result is general is decided afterwards, on the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from random import Random

from polyrelu.complex import canonical_complex
from polyrelu.conditions import Condition, Limits, Parts
from polyrelu.errors import DomainError, NetworkError
from polyrelu.exact import Polyhedron, RationalMatrix, dot, rank
from polyrelu.foldsets.hypotheses import phuong_lampert
from polyrelu.formats import DomainLike, as_domain
from polyrelu.network import Network, from_arrays
from polyrelu.support.arguments import expect, expect_count, expect_list
from polyrelu.support.display import bracketed
from polyrelu.support.typing import Point

__all__ = ["IdentifiableNetwork", "construct_identifiable", "simplest_between"]

#: A row [w | b] of a layer.
Row = tuple[Fraction, ...]

#: Bounds on the work of deciding whether a constructed network is general.
_LIMITS = Limits(products=200_000, pieces=200_000)
#: Maximum number of draws of a linear part for one row.
_ROW_DRAWS = 200
#: Maximum number of networks that are drawn.
_NETWORK_DRAWS = 50
#: Number of draws of a row after which the size of its integers grows by one.
_GROWTH = 4


@dataclass(frozen=True, slots=True, repr=False)
class IdentifiableNetwork:
    """A constructed network, with the hypotheses of the theorem of Phuong and Lampert.

    Attributes
    ----------
    network
        The network.
    domain
        The polytope whose interior is the set Z of the theorem.
    report
        The hypotheses with their evidence, as from `phuong_lampert`. Those on the geometry hold;
        "pl_general" holds, or is "unchecked" if the bounds on the work were too small for it.

    Examples
    --------
    >>> construct_identifiable((2, 2, 2, 1))
    <IdentifiableNetwork 2-2-2-1, phuong_lampert: holds, 6 conditions>
    """

    network: Network
    domain: Polyhedron
    report: Condition[Parts]

    def __repr__(self) -> str:
        return bracketed(f"IdentifiableNetwork {self.network.architecture}, {self.report}")


def construct_identifiable(
    widths: Sequence[int],
    domain: DomainLike = None,
    *,
    seed: int = 0,
    limits: Limits = _LIMITS,
) -> IdentifiableNetwork:
    """Construct a network that its function on a bounded domain determines.

    Parameters
    ----------
    widths
        The widths n_0 ≥ n_1 ≥ … ≥ n_{L-1} ≥ 2 and n_L = 1, at least one hidden layer.
    domain
        A bounded polyhedron with interior in R^{n_0}, or a text such as ``"box:0,1"``; None for the
        box from -1 to 1.
    seed
        Different seeds give different networks.
    limits
        Bounds on the work of deciding whether the network is general.

    Returns
    -------
    IdentifiableNetwork
        The network with the hypotheses of Theorem A.1: every general network of the same widths
        with the same function on the interior of the domain equals it up to permuting and
        positively scaling hidden neurons.

    Raises
    ------
    NetworkError
        The widths are not of this form.
    DomainError
        The domain is unbounded or has no interior; or no network was found.

    Notes
    -----
    Source: Phuong and Lampert (2020), Lemma A.17.

    Examples
    --------
    >>> made = construct_identifiable((3, 3, 2, 2, 1), "box:0,1", seed=5)
    >>> made.network.widths, made.report.status
    ((3, 3, 2, 2, 1), 'holds')
    """
    widths = _checked_widths(widths)
    region = as_domain(domain if domain is not None else "box:-1,1", widths[0])
    if region.interior_point() is None or not region.is_bounded():
        raise DomainError("domain: expected a bounded polyhedron with interior, such as box:-1,1")
    rng = Random(expect_count(seed, "seed"))
    limits = expect(limits, Limits, "limits")
    for draw in range(_NETWORK_DRAWS):
        network = _network(widths, region, rng, sum(widths[1:-1]) // 2 + 1 + draw)
        if network is not None:
            report = phuong_lampert(canonical_complex(network, region), limits=limits)
            if report.status in ("holds", "unchecked"):
                return IdentifiableNetwork(network, region, report)
    raise DomainError(
        f"no network was found in {_NETWORK_DRAWS} draws; choose another seed or domain"
    )


def _checked_widths(widths: Sequence[int]) -> tuple[int, ...]:
    """The widths, if they satisfy the hypotheses of the lemma."""
    found = tuple(expect_count(width, "widths", 1) for width in expect_list(widths, "widths"))
    hidden = found[:-1]
    if (
        len(found) < 3
        or found[-1] != 1
        or hidden[-1] < 2
        or any(one < other for one, other in pairwise(hidden))
    ):
        raise NetworkError(
            "widths: expected n_0 ≥ n_1 ≥ … ≥ n_{L-1} ≥ 2 and n_L = 1, such as (3, 2, 2, 1)"
        )
    return found


def _network(widths: tuple[int, ...], domain: Polyhedron, rng: Random, size: int) -> Network | None:
    """A network by the construction, with integers from that size on; None if the draws fail."""
    image, box = domain, domain.bounding_box()
    layers: list[tuple[list[Row], Row]] = []
    for width in widths[1:-1]:
        if box is None:
            return None
        rows = _Layer(image, box, bool(layers), rng).rows(width, size)
        if rows is None:
            return None
        weight, bias = [row[:-1] for row in rows], tuple(row[-1] for row in rows)
        box = (
            (Fraction(0),) * width,
            tuple(max(_largest(row, box), Fraction(0)) for row in rows),
        )
        image = _cut(image, rows).image(RationalMatrix.from_rows(weight), list(bias))
        layers.append((weight, bias))
    last = tuple(Fraction(_nonzero(rng, size)) for _ in range(widths[-2]))
    return from_arrays([*layers, ([last], (Fraction(_nonzero(rng, size)),))])


@dataclass(frozen=True, slots=True)
class _Layer:
    """What the rows of a layer have to fit.

    Attributes
    ----------
    image
        The polytope P.
    box
        The box B, by its least and its greatest corner.
    has_faces
        Whether row 1 has to change its sign inside the facets of P in the coordinate hyperplanes.
    rng
        The source of random numbers.
    """

    image: Polyhedron
    box: tuple[Point, Point]
    has_faces: bool
    rng: Random

    def rows(self, width: int, size: int) -> list[Row] | None:
        """Return rows [w | b] of a layer; None if the draws fail."""
        rows: list[Row] = []
        for _ in range(width):
            vertices = _cut(self.image, rows).generators().points
            sizes = (size + draw // _GROWTH for draw in range(_ROW_DRAWS))
            draws = (self._row(rows, vertices, entry) for entry in sizes)
            row = next(filter(None, draws), None)
            if row is None:
                return None
            rows.append(_scaled(row, vertices))
        weight = RationalMatrix.from_rows([row[:-1] for row in rows])
        return rows if rank(weight) == width else None

    def _row(self, rows: list[Row], vertices: Sequence[Point], size: int) -> Row | None:
        """A draw of the next row; None if no offset fits its linear part."""
        if len(rows) == 1:
            return self._second(rows[0], vertices, size)
        linear = tuple(Fraction(_nonzero(self.rng, size)) for _ in self.box[0])
        values = [dot(linear, vertex) for vertex in vertices]
        low, high = min(values), max(values)
        if rows:
            for earlier in rows:
                high = min(high, max(_on_zeros(earlier, linear, vertices), default=low))
        elif self.has_faces:
            for i in range(len(linear)):
                unit = tuple(Fraction(i == j) for j in range(len(linear) + 1))
                on_face = _on_zeros(unit, linear, vertices)
                low = max(low, min(on_face, default=high))
                high = min(high, max(on_face, default=low))
        if low >= high:
            return None
        quarter = (high - low) / 4
        row = (*linear, -simplest_between(low + quarter, high - quarter))
        sign = 1 if rows else self.rng.choice((1, -1))
        return tuple(sign * entry for entry in row)

    def _second(self, first: Row, vertices: Sequence[Point], size: int) -> Row | None:
        """A draw of row 2: a negative multiple of row 1, plus a form that is positive on B."""
        linear = tuple(Fraction(_nonzero(self.rng, size)) for _ in self.box[0])
        least = _largest((*(-entry for entry in linear), Fraction(0)), self.box)
        positive = (*linear, simplest_between(least, least + 1))
        values = [(_value(first, vertex), _value(positive, vertex)) for vertex in vertices]
        ratios = sorted(b / a for a, b in values if a > 0)
        if not ratios:
            return None
        factor = simplest_between(ratios[0] * Fraction(3, 2), ratios[0] * 3)
        return tuple(b - factor * a for a, b in zip(first, positive, strict=True))


def _cut(image: Polyhedron, rows: Sequence[Row]) -> Polyhedron:
    """The part of a polytope where rows are nonnegative."""
    if not rows:
        return image
    lefts = [[-entry for entry in row[:-1]] for row in rows]
    return image.intersect(Polyhedron.from_constraints(lefts, [row[-1] for row in rows]))


def _value(row: Row, point: Point) -> Fraction:
    """The value of a row [w | b] at a point."""
    return dot(row[:-1], point) + row[-1]


def _on_zeros(row: Row, linear: Point, vertices: Sequence[Point]) -> list[Fraction]:
    """The values of a linear form at the vertices where a row is 0."""
    return [dot(linear, vertex) for vertex in vertices if not _value(row, vertex)]


def _largest(row: Row, box: tuple[Point, Point]) -> Fraction:
    """The maximum of a row over a box."""
    pairs = zip(row[:-1], *box, strict=True)
    return sum((max(w * low, w * high) for w, low, high in pairs), row[-1])


def _nonzero(rng: Random, size: int) -> int:
    """A random integer that is not 0, of at most that size."""
    return rng.choice((-1, 1)) * rng.randint(1, size)


def _scaled(row: Row, vertices: Sequence[Point]) -> Row:
    """A row times the power of 2 that brings its maximum at some points into [1/2, 1)."""
    most = max(_value(row, vertex) for vertex in vertices)
    exponent = most.numerator.bit_length() - most.denominator.bit_length() + 1
    factor = Fraction(2) ** -exponent
    return tuple(factor * entry for entry in row)


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with the least denominator strictly between two numbers, low < high.

    >>> half = Fraction(1, 2)
    >>> simplest_between(Fraction(1, 3), half), simplest_between(-half, half)
    (Fraction(2, 5), Fraction(0, 1))
    """
    if low < 0 < high:
        return Fraction(0)
    if high <= 0:
        return -simplest_between(-high, -low)
    whole = low.numerator // low.denominator
    if whole + 1 < high:
        return Fraction(whole + 1)
    rest_low, rest_high = low - whole, high - whole
    if rest_low == 0:
        return whole + Fraction(1, int(1 / rest_high) + 1)
    return whole + 1 / simplest_between(1 / rest_high, 1 / rest_low)
