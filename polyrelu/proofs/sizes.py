"""Certified lower bounds for the size of all networks with the function of a given one.

Three bounds are about all networks. A network with one hidden layer bends on whole hyperplanes, by
one amount along each; so a function that bends at one point of a hyperplane by another amount than
at another point needs two hidden layers, and otherwise one hidden layer is enough. A network with
one hidden layer has a neuron for each hyperplane, and one with N neurons has at most 2^N affine
maps. The fourth bound is about regular or transversal networks: chains of bends of bends, as in
Theorem D, need as many hidden layers. Statements and proofs: docs/theory/minimality.md.

Small networks are decided on the whole complex. In others, points on lines of many scales show
breakpoints and regions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any, get_args

import numpy as np

from polyrelu.breakpoints import breakpoint_complex
from polyrelu.certificate import Among, Certificate, Hypothesis, Quantity, SizeClaim
from polyrelu.complex import Cell, PolyhedralComplex, canonical_complex
from polyrelu.complex.interior_points import point_in
from polyrelu.errors import NotCoveredError
from polyrelu.exact import Polyhedron, RationalMatrix, dot, format_rational, primitive
from polyrelu.foldsets.surfaces import Hyperplanes
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_imported
from polyrelu.network import Network, NeuronId, SignVector, affine_map_table, output_derivative
from polyrelu.outcomes import SizeBound, Undecided
from polyrelu.proofs.deep.chains import longest_chain
from polyrelu.proofs.deep.evidence import slices_of
from polyrelu.proofs.deep.ridges import Competitors
from polyrelu.proofs.deep.search import DeepSearch
from polyrelu.proofs.interior import expect_interior, is_inside
from polyrelu.proofs.next_steps import after_skipping
from polyrelu.proofs.provenance import with_sources
from polyrelu.support.arguments import expect_choice, expect_count
from polyrelu.support.budget import Budget, BudgetLike, LimitReached, as_budget
from polyrelu.support.prices import price_of_cell
from polyrelu.support.typing import IntegerRow, Point
from polyrelu.version import __version__
from polyrelu.walks import walk_line

__all__ = ["size_bound"]


@dataclass(frozen=True, slots=True)
class SizeSettings:
    """How far the search for bounds on sizes goes.

    Attributes
    ----------
    budget
        Units of work, by default.
    max_inputs, max_neurons
        Maximum numbers of inputs and hidden neurons of networks that are decided on the whole
        complex.
    num_lines
        Maximum number of lines along which breakpoints are looked for.
    num_shifts
        Number of other points that are tried on the hyperplane of a breakpoint.
    max_points
        Maximum number of points that a certificate lists.
    """

    budget: int = 20_000
    max_inputs: int = 3
    max_neurons: int = 32
    num_lines: int = 120
    num_shifts: int = 12
    max_points: int = 257


SETTINGS = SizeSettings()


def size_bound(
    network: NetworkLike,
    quantity: Quantity = "hidden-layers",
    domain: DomainLike = None,
    *,
    among: Among = "all",
    seed: int = 0,
    budget: BudgetLike = SETTINGS.budget,
) -> SizeBound | Undecided:
    """Prove how large every network with the same function is at least.

    Parameters
    ----------
    network
        A plain stack, or what `polyrelu.load` takes.
    quantity
        What is counted: ``"hidden-layers"``; ``"neurons"``, of all hidden layers; or
        ``"neurons-of-one-layer"``, of networks with one hidden layer.
    domain
        Where the others have the same function: R^n by default, or the interior of a domain, such
        as ``"box:0,1"``.
    among
        ``"all"`` for bounds on all networks; ``"regular"`` or ``"transversal"`` for bounds on the
        hidden layers of such plain stacks, of any widths and depth (FORMAT.md §3.1). Among all
        networks more than two hidden layers are never proved: no function is known that needs them.
    seed
        Seed of the searches. The same seed and budget give the same answer.
    budget
        Units of work, of about a millisecond, or a `Budget`; what was found before it ends is
        proved all the same.

    Returns
    -------
    SizeBound or Undecided
        The largest bound found, with a certificate.

    Raises
    ------
    DomainError
        The domain has no interior, or lies in another space.
    ArgumentError
        The quantity is not bounded among this class.

    Notes
    -----
    Proof: docs/theory/minimality.md. Hertrich, Basu, Di Summa and Skutella (2021, arXiv 2105.14835)
    ask whether any function needs more than two hidden layers.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> tent = ([[1, 0], [0, 1], [1, 1]], [0, 0, -1])
    >>> net = from_arrays([tent, ([[1, 1, -1]], [-1]), ([[1]], [0])])
    >>> size_bound(net).at_least, size_bound(net, "neurons").at_least
    (2, 3)
    >>> print(size_bound(from_arrays([([[1, 2]], [3])])).reason)
    the function is affine, so that the least number is 0; polyrelu.simplify finds such a network
    """
    read = as_imported(network)
    net, limits = read.network, as_budget(budget)
    expect_choice(quantity, get_args(Quantity), "quantity")
    classes = ("all", "regular", "transversal") if quantity == "hidden-layers" else ("all",)
    expect_choice(among, classes, "among")
    seed = expect_count(seed, "seed")
    region = as_domain(domain, net.num_inputs)
    is_whole = not any(map(any, (*region.inequalities, *region.equations)))
    if not is_whole:
        expect_interior(region, "size_bound")
    try:
        net.require_plain()
    except NotCoveredError as error:
        return Undecided(str(error), next=after_skipping(net))
    place = None if is_whole else region
    question = _Question(net, place, seed, limits)
    if among == "all":
        theorem, bound, evidence = _FINDERS[quantity](question)
    else:
        theorem, bound, evidence = question.bends(among)  # type: ignore[arg-type]
    if bound < 1:
        return Undecided(question.why_none)
    claim = SizeClaim(net, quantity, bound, among, place)
    hypotheses = tuple(Hypothesis(theorem, name, entry) for name, entry in evidence.items())
    remarks = {"tool": f"polyrelu {__version__}"}
    return with_sources(SizeBound(Certificate(claim, theorem, hypotheses, remarks)), read)


#: Why there is no bound where the whole complex has no breakpoint.
_AFFINE = (
    "the function is affine, so that the least number is 0; polyrelu.simplify finds such a network"
)
#: A theorem, the bound that it proves, and its evidence by hypothesis.
_Found = tuple[str, int, dict[str, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class _Jump:
    """A breakpoint on one hyperplane, a primitive row h; the gradient jumps by weight · h."""

    point: Point
    plane: IntegerRow
    weight: RationalMatrix


class _Question:
    """A network on a domain, and how its breakpoints and regions are found."""

    def __init__(self, network: Network, place: Polyhedron | None, seed: int, limits: Budget):
        self.network, self.place, self.limits = network, place, limits
        self.rng, self.why_none = Random(seed), "no bound was found: no breakpoint was met"
        self._seed, self._price = seed, price_of_cell(network.num_parameters)
        self._cells: PolyhedralComplex | None = None
        is_small = network.num_inputs <= SETTINGS.max_inputs
        if is_small and len(network.neurons) <= SETTINGS.max_neurons:
            self._cells = canonical_complex(network, place)
            self.why_none = _AFFINE

    # -- hidden layers

    def jumps(self) -> _Found:
        """Two points of a hyperplane with different jumps, or one breakpoint."""
        pair = self._pair_in_complex() if self._cells is not None else self._pair_on_lines()
        return "jumps", len(pair), _points(pair)

    def _pair_in_complex(self) -> list[Point]:
        """The same on the whole complex, which decides the question."""
        cells = self._cells
        assert cells is not None
        breakpoints, first = breakpoint_complex(cells), list[Point]()
        numerators = breakpoints.integers.numerators
        weights = {
            int(facet): tuple(row)
            for facet, row in zip(breakpoints.facets, numerators.tolist(), strict=True)
        }
        planes = _visible_planes(cells, [f for f, weight in weights.items() if any(weight)])
        for number in range(len(planes.rows)):
            facets = np.flatnonzero(planes.inside[number]).tolist()
            seen = next(facet for facet in facets if any(weights[facet]))
            point = point_in(cells, Cell(cells.dimension - 1, seen))
            other = next((f for f in facets if weights[f] != weights[seen]), None)
            if other is not None:
                return [point, point_in(cells, Cell(cells.dimension - 1, other))]
            crossed = np.flatnonzero(planes.crossed[number]).tolist()
            if crossed:
                return [point, _point_on_plane(cells, crossed[0], planes.rows[number])]
            first = first or [point]
        return first

    def _pair_on_lines(self) -> list[Point]:
        """The same with breakpoints on lines, and other points on their hyperplanes."""
        first = list[Point]()
        for found in self._jumps_on_lines():
            first = first or [found.point]
            for _ in range(SETTINGS.num_shifts):
                other = self._shifted(found)
                if other is not None and self._has_other_jump(other, found):
                    return [found.point, other]
        return first

    def _shifted(self, found: _Jump) -> Point | None:
        """Another point on a hyperplane, at a random distance; None if it is outside."""
        normal = found.plane[:-1]
        scale = Fraction(2) ** self.rng.randint(-6, 6)
        step = [scale * self.rng.randint(-32, 32) / 32 for _ in normal]
        share = Fraction(dot(step, normal)) / sum(a * a for a in normal)
        shift = (s - share * a for s, a in zip(step, normal, strict=True))
        point = tuple(x + s for x, s in zip(found.point, shift, strict=True))
        return point if point != found.point and self._is_inside(point) else None

    def _has_other_jump(self, point: Point, found: _Jump) -> bool:
        """Whether the jump across a hyperplane is another one at a point of it."""
        signs = self.network.sign_vector(point)
        if 0 not in sum(signs.layers, ()):
            return True
        other = _jump_of(self.network, point, signs)
        return other is not None and other.plane == found.plane and other.weight != found.weight

    # -- neurons

    def hyperplanes(self) -> _Found:
        """A breakpoint on each hyperplane."""
        cells, known = self._cells, dict[IntegerRow, Point]()
        if cells is not None:
            breakpoints = breakpoint_complex(cells)
            facets = breakpoints.facets[breakpoints.visible].tolist()
            planes = _visible_planes(cells, facets)
            for facet in sorted(facets, key=lambda f: int(planes.numbers[f])):
                row = planes.rows[planes.numbers[facet]]
                if row not in known:
                    known[row] = point_in(cells, Cell(cells.dimension - 1, facet))
        else:
            for found in self._jumps_on_lines():
                known.setdefault(found.plane, found.point)
                if len(known) == SETTINGS.max_points:
                    break
        points = list(known.values())[: SETTINGS.max_points]
        return "hyperplanes", len(points), _points(points)

    def affine_maps(self) -> _Found:
        """A point in a region of each affine map, as many as a bound needs."""
        known = dict[tuple[int, ...], Point]()
        if self._cells is not None:
            _, table = affine_map_table(self.network, self._cells.signs() > 0)
            for index, rows in enumerate(table):
                key = tuple(rows.ravel().tolist())
                if key not in known:
                    known[key] = self._cells.interior_point(index)
        else:
            for point in self._points_on_lines():
                affine = self.network.affine_map_at(point)
                key = (*affine.matrix.entries(), *affine.offset.entries())
                known.setdefault(key, point)
                if len(known) == SETTINGS.max_points:
                    break
        bound = (min(len(known), SETTINGS.max_points) - 1).bit_length() if known else 0
        points = list(known.values())[: 2 ** (bound - 1) + 1 if bound else 0]
        return "affine-maps", bound, _points(points)

    # -- lines

    def _walks(self) -> Iterator[tuple[list[Fraction], list[Fraction], Any]]:
        """Generate cells on lines of many scales, with the lines, until the budget ends."""
        start = self.place.interior_point() if self.place is not None else None
        centre = start or (Fraction(0),) * self.network.num_inputs
        for line in range(SETTINGS.num_lines):
            scale = Fraction(2) ** (line % 12 - 7)
            base = [c + scale * Fraction(self.rng.randint(-64, 64), 64) for c in centre]
            direction = [Fraction(self.rng.randint(-32, 32), 32) or Fraction(1) for _ in centre]
            for cell in walk_line(self.network, base, direction, start=-scale, end=scale):
                try:
                    self.limits.check_others()
                    self.limits.spend(self._price)
                except LimitReached:
                    return
                yield base, direction, cell

    def _jumps_on_lines(self) -> Iterator[_Jump]:
        """Generate breakpoints inside the domain at which one neuron vanishes."""
        for base, direction, cell in self._walks():
            if cell.end is None:
                continue
            point = _on_line(base, direction, cell.end.t)
            if self._is_inside(point):
                found = _jump_of(self.network, point, self.network.sign_vector(point))
                if found is not None:
                    yield found

    def _points_on_lines(self) -> Iterator[Point]:
        """Generate points inside regions and the domain."""
        for base, direction, cell in self._walks():
            point = _on_line(base, direction, cell.inner)
            if self._is_inside(point) and 0 not in cell.flat:
                yield point

    def _is_inside(self, point: Point) -> bool:
        return self.place is None or is_inside(self.place, point)

    # -- bends

    def bends(self, among: Competitors) -> _Found:
        """A chain of bends of bends."""
        network = self.network
        if network.last != "affine" or network.num_hidden_layers < 1 or network.num_inputs < 2:
            self.why_none = (
                "no bound was found: bends need an affine output, a hidden layer and two inputs"
            )
            return "bends", 0, {}
        search = DeepSearch(network, self._seed, among, self.place)
        search.run(self.limits)
        while True:
            steps, ridges = longest_chain(search.ridges)
            outside = search.outside_domain(ridges)
            if not outside:
                break
            search = search.without(outside)
        self.why_none = "no bound was found: no good ridge was met"
        slices, _ = slices_of(search.planes, {ridge: search.ridges[ridge] for ridge in ridges})
        return "bends", steps + 1, {"ridges": {"slices": slices}, "chain": {}}


_FINDERS = {
    "hidden-layers": _Question.jumps,
    "neurons": _Question.affine_maps,
    "neurons-of-one-layer": _Question.hyperplanes,
}


def _points(points: Sequence[Point]) -> dict[str, dict[str, Any]]:
    """The evidence that lists points."""
    return {"points": {"points": [list(map(format_rational, point)) for point in points]}}


def _on_line(base: Sequence[Fraction], direction: Sequence[Fraction], t: Fraction) -> Point:
    return tuple(b + t * d for b, d in zip(base, direction, strict=True))


def _visible_planes(cells: PolyhedralComplex, facets: list[int]) -> Hyperplanes:
    """The hyperplanes through some cells of codimension 1."""
    wanted = np.zeros(cells.size(cells.dimension - 1), dtype=bool)
    wanted[facets] = True
    return Hyperplanes.of(cells, wanted)


def _point_on_plane(cells: PolyhedralComplex, region: int, row: IntegerRow) -> Point:
    """A point of a hyperplane inside a region that it crosses."""
    inner = cells.interior_point(region)
    value = dot(row[:-1], inner) + row[-1]
    points, rays = cells.vertices_and_rays(Cell(cells.dimension, region))
    ends = [[p - x for p, x in zip(point, inner, strict=True)] for point in points]
    steps = [(end, True) for end in ends] + [(list(map(Fraction, ray)), False) for ray in rays]
    for direction, is_end in steps:
        slope = dot(row[:-1], direction)
        if value * slope < 0 and (abs(slope) > abs(value) or not is_end):
            return _on_line(inner, direction, -value / slope)
    return inner


def _jump_of(network: Network, point: Point, signs: SignVector) -> _Jump | None:
    """The jump at a point where one neuron vanishes; None at others, or if there is none."""
    zeros = [
        (layer, index)
        for layer, row in enumerate(signs.layers)
        for index, sign in enumerate(row)
        if sign == 0
    ]
    if len(zeros) != 1:
        return None
    form = _form(network, *zeros[0], signs)
    if not any(form):
        return None
    plane, factor = primitive(form)
    neuron = NeuronId(zeros[0][0] + 1, zeros[0][1])
    weight = output_derivative(network, signs, neuron).scale(abs(factor))
    return None if weight.is_zero() else _Jump(point, plane, weight)


def _form(network: Network, layer: int, index: int, signs: SignVector) -> list[Fraction]:
    """The affine form of a neuron where others have these signs, as a row over (x, 1)."""
    row = network.weight(layer + 1).take(rows=[index])
    constant = network.bias(layer + 1).row(index)[0]
    for number in range(layer, 0, -1):
        on = [k for k, sign in enumerate(signs.layers[number - 1]) if sign > 0]
        row = row.take(columns=on)
        constant += (row @ network.bias(number).take(rows=on)).row(0)[0] if on else 0
        row = row @ network.weight(number).take(rows=on)
    return [*row.row(0), constant]
