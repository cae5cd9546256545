"""The fiber of one hidden layer: all (W, b, V, c) of a given width with the map u ↦ V σ(W u + b) + c of a given one.

The map is Σ_h C_h |h·(u,1)| + M u + m on its domain (`polyrelu.symmetry.absolute_value`). Another layer has that map
iff its neurons can be assigned to

* the *visible* hyperplanes, those with C_h ≠ 0: at least one neuron on each, in either orientation, their outgoing
  weights adding up to C_h (rows scaled to h, times 2);
* *groups* on a hyperplane of their own, with outgoing weights that add up to 0;
* *linear* neurons, ≥ 0 on the domain, and *dead* ones, ≤ 0 there;

so that the linear parts add up to M (`linear_part`); the output bias then makes the constant. The parameters with one
assignment are a *component*, taken up to permutation and positive scaling. (Three-layer symmetries, Definition 22, with
counts in place of maps, since permutations do not matter.) The *simple* components have one neuron on each visible
hyperplane and no groups: generic parameters have no others, and there S, the set of hyperplanes with the other
orientation, is what tells components apart (Proposition 1 there; its Theorem 4.2 gives the dimensions, which are
computed here for every parameter, generic or not).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from random import Random

from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix, primitive, vanishing_subset
from polyrelu.fibers.linear_part import Carriers, LinearPart, Realisation
from polyrelu.fibers.nonnegative_rank import NonnegativeRank, nonnegative_column_rank
from polyrelu.network import Block, Layer, Network, layer_from_rows
from polyrelu.support.typing import IntegerRow, Vector
from polyrelu.symmetry import AbsoluteValueForm, LayerDomain, absolute_value_form_on

__all__ = ["Component", "LayerFiber", "LayerNeurons", "NeuronAssignment", "layer_fiber"]


@dataclass(frozen=True, slots=True)
class NeuronAssignment:
    """What the neurons of a layer do, by numbers.

    Attributes
    ----------
    visible : for each visible hyperplane, how many neurons have its orientation (first nonzero entry positive) and how
        many the opposite one.
    groups : the same for each further hyperplane, whose neurons cancel; largest first.
    linear, dead : how many neurons are ≥ 0, and ≤ 0, on the domain.
    """

    visible: tuple[tuple[int, int], ...]
    groups: tuple[tuple[int, int], ...]
    linear: int
    dead: int

    @property
    def is_simple(self) -> bool:
        """Whether every visible hyperplane has one neuron, and nothing cancels."""
        return not self.groups and all(sum(pair) == 1 for pair in self.visible)

    @property
    def width(self) -> int:
        """The number of neurons."""
        return sum(map(sum, (*self.visible, *self.groups))) + self.linear + self.dead


@dataclass(frozen=True, slots=True)
class LayerNeurons:
    """A layer and what comes out of it: rows [w | b], columns v, the offset c."""

    rows: tuple[Vector, ...]
    columns: tuple[Vector, ...]
    offset: Vector

    def normalised(self) -> LayerNeurons:
        """The same with rows of absolute sum 1."""
        sizes = [sum(map(abs, row), Fraction()) or Fraction(1) for row in self.rows]
        rows = tuple(
            tuple(a / size for a in row) for row, size in zip(self.rows, sizes, strict=True)
        )
        columns = tuple(
            tuple(a * size for a in column)
            for column, size in zip(self.columns, sizes, strict=True)
        )
        return LayerNeurons(rows, columns, self.offset)

    def layers(self, source: int) -> tuple[Layer, Layer]:
        """As two layers of a plain stack, the first of them reading layer `source`."""
        weight = RationalMatrix.from_rows(self.columns).transpose()
        return layer_from_rows(self.rows, source), Layer(
            (Block(source + 1, weight),), RationalMatrix.column(self.offset)
        )


class LayerFiber:
    """All layers of one width with the same map; made by `layer_fiber`.

    Attributes
    ----------
    domain, form : where the map is, and its absolute-value normal form.
    width : the number of neurons.
    own : what the neurons of the given layer do.
    """

    def __init__(
        self, neurons: LayerNeurons, domain: LayerDomain, width: int | None = None
    ) -> None:
        self.domain = domain
        hidden, outgoing = neurons.layers(0)
        self.form: AbsoluteValueForm = absolute_value_form_on(hidden, outgoing, domain)
        self.normals: tuple[IntegerRow, ...] = tuple(self.form.terms)
        self.width = len(neurons.rows) if width is None else width
        self._neurons = neurons

    @cached_property
    def own(self) -> NeuronAssignment:
        """What the neurons of the given layer do."""
        counts: dict[IntegerRow, list[int]] = {normal: [0, 0] for normal in self.normals}
        linear = dead = 0
        for row in self._neurons.rows:
            sign = self.domain.sign(row)
            linear, dead = linear + (sign > 0), dead + (sign < 0)
            if not sign:
                normal, scale = primitive(row)
                counts.setdefault(normal, [0, 0])[scale < 0] += 1
        pairs = [(count[0], count[1]) for count in counts.values()]
        visible = len(self.normals)
        return NeuronAssignment(
            tuple(pairs[:visible]), _sorted_groups(pairs[visible:]), linear, dead
        )

    @property
    def is_simple(self) -> bool:
        """Whether the given layer has one neuron on each visible hyperplane and nothing cancels."""
        return self.own.is_simple

    @cached_property
    def is_alone(self) -> bool:
        """Whether the given layer is known to be the only simple one, up to permutation and scaling: it has one neuron
        on each visible hyperplane, no others, and no sum of matrices v_i w_i vanishes (no set can be flipped)."""
        if not self.is_simple or self.own.linear or self.own.dead:
            return False
        hidden, outgoing = self._neurons.layers(0)
        return vanishing_subset(outgoing.weight, hidden.weight).evidence is not None

    @property
    def outputs(self) -> int:
        """m."""
        return len(self.form.offset)

    def component(self, assignment: NeuronAssignment) -> Component:
        """The parameters with an assignment, a set that may be empty.

        Raises
        ------
        NetworkError : other numbers of hyperplanes or neurons.
        """
        if len(assignment.visible) != len(self.normals) or not all(map(sum, assignment.visible)):
            raise NetworkError(
                f"every one of the {len(self.normals)} visible hyperplanes needs a neuron"
            )
        if assignment.width != self.width:
            raise NetworkError(
                f"the assignment is for {assignment.width} neurons, the layer has {self.width}"
            )
        return Component(self, assignment)

    def flipped(self, flips: Sequence[int]) -> Component:
        """The component that differs from the given simple layer in the orientation at the hyperplanes `flips`
        (numbers among `normals`)."""
        if not self.is_simple:
            raise NetworkError(
                "flips are counted from a layer with one neuron on each visible hyperplane"
            )
        own = self.own
        visible = tuple(pair[::-1] if k in flips else pair for k, pair in enumerate(own.visible))
        return self.component(NeuronAssignment(visible, (), own.linear, own.dead))

    def simple_components(self) -> Iterator[Component]:
        """The components with one neuron on each visible hyperplane and no groups, empty ones included: for each set
        of flips and each number of dead neurons, 2^p (e + 1) of them for e neurons that are not needed."""
        spare = self.width - len(self.normals)
        base = self.own.visible if self.is_simple else ((1, 0),) * len(self.normals)
        for size in range(len(self.normals) + 1):
            for flips in itertools.combinations(range(len(self.normals)), size):
                visible = tuple(pair[::-1] if k in flips else pair for k, pair in enumerate(base))
                for dead in range(spare + 1):
                    yield Component(self, NeuronAssignment(visible, (), spare - dead, dead))

    def components(self) -> Iterator[Component]:
        """All components, empty ones included. Their number grows exponentially with the width."""
        count = len(self.normals)
        for spread in _spreads(self.width - count, count + 1):
            totals = [1 + extra for extra in spread[:count]]
            for visible in itertools.product(
                *([(k, n - k) for k in range(n, -1, -1)] for n in totals)
            ):
                for groups, linear, dead in _rest(spread[count]):
                    yield Component(self, NeuronAssignment(tuple(visible), groups, linear, dead))


@dataclass(frozen=True)
class Component:
    """The parameters with one assignment, up to permutation and positive scaling."""

    fiber: LayerFiber
    assignment: NeuronAssignment

    @cached_property
    def part(self) -> LinearPart:
        """The linear part that doubled hyperplanes, mixed groups and linear neurons have to make."""
        fiber, given, size = self.fiber, self.assignment, self.fiber.domain.dimension
        single = [
            (k, 1 if plus else -1)
            for k, (plus, minus) in enumerate(given.visible)
            if not (plus and minus)
        ]
        heads = [[sign * c for c in fiber.form.terms[fiber.normals[k]]] for k, sign in single]
        made = RationalMatrix.from_rows(
            heads, ncols=fiber.outputs
        ).transpose() @ self._linear_parts([k for k, _ in single])
        carriers = Carriers(
            self._linear_parts(self.doubled), sum(map(_is_mixed, given.groups)), given.linear
        )
        return LinearPart(
            RationalMatrix.from_rows(fiber.form.matrix, ncols=size) - made, carriers, fiber.domain
        )

    def _linear_parts(self, chosen: Sequence[int]) -> RationalMatrix:
        """The normals of some visible hyperplanes without their offsets, one per row."""
        rows = [list(self.fiber.normals[k][:-1]) for k in chosen]
        return RationalMatrix.from_integers(rows, ncols=self.fiber.domain.dimension)

    @property
    def doubled(self) -> tuple[int, ...]:
        """The visible hyperplanes with neurons of both orientations."""
        return tuple(k for k, pair in enumerate(self.assignment.visible) if _is_mixed(pair))

    @property
    def flips(self) -> tuple[int, ...]:
        """The visible hyperplanes whose only neuron has the other orientation than in the given layer."""
        own, here = self.fiber.own.visible, self.assignment.visible
        return tuple(k for k, (a, b) in enumerate(zip(own, here, strict=True)) if a != b)

    @property
    def is_empty(self) -> bool:
        """Whether no parameter has this assignment and the map."""
        return not self.part.is_realisable

    def evidence(self) -> NonnegativeRank:
        """For a simple component on the orthant: why it is empty, or not. It is not iff the nonnegative column rank of
        what the linear neurons have to make is at most their number; a vector y, or λ, says which rank that is.

        Raises
        ------
        NetworkError : another component, or another domain.
        """
        if self.fiber.domain.kind != "orthant" or not self.assignment.is_simple:
            raise NetworkError("pointed cones decide about simple components on the orthant")
        return nonnegative_column_rank(self.part.remainder)

    @cached_property
    def dimension(self) -> int | None:
        """The dimension modulo permutation and scaling, None if it is empty.

        Each linear neuron has a free bias and loses a scale; a dead one has a free row up to scale and free outgoing
        weights; on a hyperplane with k neurons, k - 1 outgoing columns are free, one of which is counted with the
        linear part if both orientations occur; a group has its hyperplane besides.
        """
        carried = self.part.dimension
        if carried is None:
            return None
        given, m, n = self.assignment, self.fiber.outputs, self.fiber.domain.dimension
        on_planes = sum(
            m * (plus + minus - 1 - _is_mixed((plus, minus))) for plus, minus in given.visible
        )
        in_groups = sum(
            m * (plus + minus - 1 - _is_mixed((plus, minus)))
            + (0 if _is_mixed((plus, minus)) else n)
            for plus, minus in given.groups
        )
        return (
            carried + on_planes + in_groups + given.dead * (self.fiber.domain.bounded_dimension + m)
        )

    def member(self, rng: Random | None = None) -> LayerNeurons | None:
        """A parameter of the component, or a random one; None if it is empty. Rows are primitive integers."""
        found = self.part.realisation(rng)
        if found is None:
            return None
        neurons = [*self._on_planes(found, rng), *self._in_groups(found, rng)]
        neurons += [*self._linear(found, rng), *self._dead(rng)]
        scaled = [_normalised(row, column) for row, column in neurons]
        rows, columns = tuple(row for row, _ in scaled), tuple(column for _, column in scaled)
        return self._with_offset(rows, columns)

    def _on_planes(self, found: Realisation, rng: Random | None) -> Iterator[tuple[Vector, Vector]]:
        doubled = self.doubled
        for k, pair in enumerate(self.assignment.visible):
            normal = tuple(map(Fraction, self.fiber.normals[k]))
            total = tuple(2 * c for c in self.fiber.form.terms[self.fiber.normals[k]])
            if k in doubled:
                half = tuple(2 * row[doubled.index(k)] for row in found.doubled.rows())
                yield from _both_ways(normal, total, half, pair, rng)
            else:
                yield from _one_way(normal if pair[0] else _negated(normal), total, max(pair), rng)

    def _in_groups(self, found: Realisation, rng: Random | None) -> Iterator[tuple[Vector, Vector]]:
        """Mixed groups carry a row of the linear part; the others lie anywhere."""
        nothing = (Fraction(),) * self.fiber.outputs
        taken = set(self.fiber.normals)
        forms = iter(zip(found.pair_forms.rows(), found.pair_heads.transpose().rows(), strict=True))
        for pair in self.assignment.groups:
            if _is_mixed(pair):
                form, head = next(forms)
                row = self._crossing(form, taken, rng)
                yield from _both_ways(row, nothing, tuple(2 * entry for entry in head), pair, rng)
            else:
                row = self._crossing(self._any_form(rng), taken, rng)
                yield from _one_way(row if pair[0] else _negated(row), nothing, max(pair), rng)

    def _any_form(self, rng: Random | None) -> Vector:
        size = self.fiber.domain.dimension
        numbers = [1] * size if rng is None else [rng.randint(-8, 8) for _ in range(size)]
        return tuple(map(Fraction, numbers if any(numbers) else [1] * size))

    def _crossing(self, form: Vector, taken: set[IntegerRow], rng: Random | None) -> Vector:
        """A row with this linear part whose hyperplane meets the interior and is none of those that are taken; it is
        taken then. The biases of such hyperplanes are an open interval, (-sup, -inf) of the form on the domain."""
        domain = self.fiber.domain
        least, most = domain.least_bias(_negated(form)), domain.least_bias(form)
        first = Fraction(1, 2) if rng is None else Fraction(rng.randint(1, 63), 64)
        for number in itertools.count(3):  # all but as many as are taken will do
            row = (*form, _inside(None if least is None else -least, most, first))
            normal = primitive(row)[0]
            if normal not in taken:
                taken.add(normal)
                return row
            first = Fraction(1, number)
        raise ArithmeticError("an interval is used up")  # pragma: no cover

    def _linear(self, found: Realisation, rng: Random | None) -> Iterator[tuple[Vector, Vector]]:
        heads = found.linear_heads.transpose().rows()
        for form, head in zip(found.linear_forms.rows(), heads, strict=True):
            least = self.fiber.domain.least_bias(form)
            if least is None:
                raise ArithmeticError("a linear neuron is not bounded below")  # pragma: no cover
            extra = Fraction(0 if rng is None else rng.randint(0, 16), 8)
            if not any(form):
                extra, least = extra + 1, Fraction(0)
            yield (*form, least + extra), head

    def _dead(self, rng: Random | None) -> Iterator[tuple[Vector, Vector]]:
        domain, m = self.fiber.domain, self.fiber.outputs
        inside = domain.positive_form()
        for number in range(self.assignment.dead):
            factor = Fraction(0 if rng is None else rng.randint(0, 8), 8)
            form = tuple(factor * entry for entry in inside)
            if rng is not None and domain.kind == "orthant":
                form = tuple(Fraction(rng.randint(0, 8), 8) for _ in inside)
            least = domain.least_bias(form) or Fraction(0)
            head = tuple(Fraction(0 if rng is None else rng.randint(-8, 8), 4) for _ in range(m))
            yield _negated((*form, least + 1 + number)), head

    def _with_offset(self, rows: tuple[Vector, ...], columns: tuple[Vector, ...]) -> LayerNeurons:
        """The output bias that gives the map its constant, found at a point of the domain."""
        point = self.fiber.domain.polyhedron.interior_point()
        if point is None:
            raise ArithmeticError("the domain has an interior")  # pragma: no cover
        here = _value(rows, columns, point, self.fiber.outputs)
        wanted = _form_value(self.fiber.form, point)
        return LayerNeurons(rows, columns, tuple(a - b for a, b in zip(wanted, here, strict=True)))


def layer_fiber(
    network: Network, layer: int, domain: LayerDomain | None = None, width: int | None = None
) -> LayerFiber:
    """The fiber of hidden layer `layer` (from 1) of a plain stack, together with the weights after it.

    Parameters
    ----------
    domain : by default R^n for layer 1 and the orthant for later ones; their inputs may fill less than that, then the
        fiber is a part of all parameters with the same function.
    width : of the layers that are described; by default that of the given one.

    Raises
    ------
    NetworkError : no plain stack, no such layer, or a width below the number of visible hyperplanes.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1], [2, 1]], [1, 0]), ([[1, 1]], [0])])
    >>> fiber = layer_fiber(net, 2)
    >>> fiber.own
    NeuronAssignment(visible=((1, 0),), groups=(), linear=1, dead=0)
    >>> [(part.flips, part.dimension) for part in fiber.simple_components() if not part.is_empty]
    [((), 1), ((0,), 1)]
    """
    if not network.is_plain or not 1 <= layer <= network.hidden_layers or layer == network.depth:
        raise NetworkError("a layer of a plain stack is asked for, with weights after it")
    if domain is None:
        size = network.widths[layer - 1]
        domain = LayerDomain.whole_space(size) if layer == 1 else LayerDomain.orthant(size)
    hidden, after = network.layers[layer - 1], network.layers[layer]
    neurons = LayerNeurons(
        tuple(hidden.augmented().rows()),
        tuple(after.weight.transpose().rows()),
        tuple(after.bias.entries()),
    )
    fiber = LayerFiber(neurons, domain, width)
    if fiber.width < len(fiber.normals):
        raise NetworkError(
            f"{len(fiber.normals)} hyperplanes are visible, more than {fiber.width} neurons can make"
        )
    return fiber


# -- small steps --------------------------------------------------------------------------------------------------


def _is_mixed(pair: tuple[int, int]) -> bool:
    return pair[0] > 0 and pair[1] > 0


def _sorted_groups(groups: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Orientation of a group's hyperplane means nothing: the larger number first, largest groups first."""
    return tuple(sorted(((max(pair), min(pair)) for pair in groups), reverse=True))


def _spreads(total: int, places: int) -> Iterator[tuple[int, ...]]:
    """All ways to distribute a number over so many places: bars between stars."""
    for bars in itertools.combinations(range(total + places - 1), places - 1):
        ends = (-1, *bars, total + places - 1)
        yield tuple(after - before - 1 for before, after in itertools.pairwise(ends))


def _rest(count: int) -> Iterator[tuple[tuple[tuple[int, int], ...], int, int]]:
    """Groups, linear and dead neurons that are so many together."""
    for in_groups in range(count + 1):
        for groups in _group_lists(in_groups):
            for dead in range(count - in_groups + 1):
                yield groups, count - in_groups - dead, dead


def _group_lists(count: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Lists of groups, descending, with so many neurons together."""
    waiting: list[tuple[int, tuple[tuple[int, int], ...]]] = [(count, ())]
    while waiting:
        left, groups = waiting.pop()
        if not left:
            yield groups
            continue
        most = groups[-1] if groups else (left, left)
        sizes = (
            (larger, smaller)
            for larger in range(1, left + 1)
            for smaller in range(min(larger, left - larger) + 1)
        )
        waiting += [(left - sum(pair), (*groups, pair)) for pair in sizes if pair <= most]


def _inside(low: Fraction | None, high: Fraction | None, part: Fraction) -> Fraction:
    """A point of an open interval, whose ends may be infinite (None), for a number between 0 and 1."""
    if low is not None and high is not None:
        return low + (high - low) * part
    reach = part / (1 - part)
    if low is None and high is None:
        return reach - 1
    return low + reach if low is not None else (high or 0) - reach


def _one_way(
    row: Vector, total: Vector, count: int, rng: Random | None
) -> Iterator[tuple[Vector, Vector]]:
    """Neurons with one row whose columns add up to `total`."""
    for column in _shares(total, count, rng):
        yield row, column


def _both_ways(
    row: Vector, total: Vector, difference: Vector, pair: tuple[int, int], rng: Random | None
) -> Iterator[tuple[Vector, Vector]]:
    """Neurons with rows ±row: all columns add up to `total`, those of row minus those of -row to `difference`."""
    plus = tuple((t + d) / 2 for t, d in zip(total, difference, strict=True))
    minus = tuple((t - d) / 2 for t, d in zip(total, difference, strict=True))
    yield from _one_way(row, plus, pair[0], rng)
    yield from _one_way(_negated(row), minus, pair[1], rng)


def _shares(total: Vector, count: int, rng: Random | None) -> Iterator[Vector]:
    """So many vectors with a given sum: equal ones, or random ones."""
    left = total
    for k in range(count, 1, -1):
        if rng is None:
            share = tuple(entry / k for entry in left)
        else:
            share = tuple(Fraction(rng.randint(-8, 8), 4) for _ in left)
        left = tuple(a - b for a, b in zip(left, share, strict=True))
        yield share
    yield left


def _normalised(row: Vector, column: Vector) -> tuple[Vector, Vector]:
    """The row scaled to primitive integers: other scales would make the numbers of wide layers long."""
    if not any(row):
        return row, column
    normal, factor = primitive(row)
    size = abs(factor)
    sign = 1 if factor > 0 else -1
    return tuple(Fraction(sign * entry) for entry in normal), tuple(
        entry * size for entry in column
    )


def _negated(vector: Vector) -> Vector:
    return tuple(-entry for entry in vector)


def _value(
    rows: Sequence[Vector], columns: Sequence[Vector], point: Sequence[Fraction], outputs: int
) -> Vector:
    total = [Fraction()] * outputs
    for row, column in zip(rows, columns, strict=True):
        t = sum((a * x for a, x in zip(row[:-1], point, strict=True)), row[-1])
        if t > 0:
            total = [a + t * v for a, v in zip(total, column, strict=True)]
    return tuple(total)


def _form_value(form: AbsoluteValueForm, point: Sequence[Fraction]) -> Vector:
    total = [
        sum((a * x for a, x in zip(row, point, strict=True)), c)
        for row, c in zip(form.matrix, form.offset, strict=True)
    ]
    for normal, coefficient in form.terms.items():
        t = abs(sum((a * x for a, x in zip(normal[:-1], point, strict=True)), Fraction(normal[-1])))
        total = [a + t * c for a, c in zip(total, coefficient, strict=True)]
    return tuple(total)
