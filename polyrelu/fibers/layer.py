"""The fiber of one hidden layer: all layers of a given width with the map of a given layer.

Here is the set of all (W, b, V, c) of a given width for which u ↦ V σ(W u + b) + c is a given map
on a domain, as a union of components with dimension, emptiness test and members. `fiber` assembles
the fibers of networks from it, `smallest_layer` searches it for few neurons, and the refutation
prover takes moves from it. A reader must know that components are sets of parameters up to
permutation and positive scaling of neurons, and that they are described by numbers of neurons, not
by maps from neurons to hyperplanes.

The map is Σ_h C_h |h·(u,1)| + M u + m on its domain (`polyrelu.symmetry.absolute_value`). Another
layer has this map if and only if its neurons can be assigned to four roles:

* neurons on the *visible* hyperplanes, the h with C_h ≠ 0. Every visible hyperplane carries at
  least one neuron, in either orientation. If the rows are scaled to ±h, the outgoing columns add up
  to 2 C_h;
* *groups* of neurons on a further hyperplane that cancel: their outgoing columns add up to 0;
* *linear* neurons, which are ≥ 0 on the domain;
* *dead* neurons, which are ≤ 0 on the domain;

such that the linear parts of all neurons add up to M (`polyrelu.fibers.linear_part`). The output
bias then gives the constant m. The parameters with one assignment form a *component*. This is
Definition 22 of the three-layer paper (arXiv 2605.18319) with numbers of neurons in place of maps,
since permutations do not matter.

The *simple* components have one neuron on each visible hyperplane and no groups. Generic parameters
have no other components. There the set S of the hyperplanes with the other orientation
distinguishes the components (Proposition 1 of the paper). Its Theorem 4.2 gives their dimensions
for generic parameters; here the dimensions are computed for every parameter.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from random import Random

from polyrelu.errors import DomainError, NetworkError
from polyrelu.exact import RationalMatrix, primitive, vanishing_subset
from polyrelu.exact.vectors import dot, negated
from polyrelu.fibers.assignments import (
    NeuronAssignment,
    distributions,
    is_mixed,
    other_roles,
    sorted_groups,
)
from polyrelu.fibers.layer_neurons import (
    LayerNeurons,
    both_orientations,
    layer_value,
    one_orientation,
    with_primitive_row,
)
from polyrelu.fibers.linear_part import (
    AvailableNeurons,
    LinearPart,
    Realisation,
    random_source,
    realise,
)
from polyrelu.fibers.nonnegative_rank import NonnegativeRank, nonnegative_column_rank
from polyrelu.formats.arguments import DomainLike, NetworkLike, as_domain, as_network
from polyrelu.support.arguments import expect, expect_count, expect_indices, expect_integer
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.typing import IntegerRow, Vector
from polyrelu.symmetry import AbsoluteValueForm, LayerDomain, absolute_value_form_on

__all__ = ["Component", "LayerFiber", "layer_fiber", "random_layer"]


class LayerFiber:
    """All layers of one width with the map of a given layer; made by `layer_fiber`.

    Parameters
    ----------
    neurons
        The given layer.
    domain
        The set on which the maps agree, of full dimension.
    width
        The number of neurons of the layers that are described; None for the width of the given
        layer.

    Attributes
    ----------
    domain
        The set on which the maps agree.
    form
        The absolute-value normal form of the map.
    normals
        The visible hyperplanes [w b] as primitive integer rows, in the order of `form.terms`.
    width
        The number of neurons.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> fiber = layer_fiber(from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])]), 1)    # |x|
    >>> fiber.normals, fiber.given_assignment.visible, fiber.is_simple
    (((1, 0),), ((1, 1),), False)
    """

    def __init__(
        self, neurons: LayerNeurons, domain: LayerDomain, *, width: int | None = None
    ) -> None:
        neurons = expect(neurons, LayerNeurons, "neurons")
        self.domain = expect(domain, LayerDomain, "domain", "LayerDomain.of makes one")
        hidden, outgoing = neurons.layers(0)
        self.form: AbsoluteValueForm = absolute_value_form_on(hidden, outgoing, domain)
        self.normals: tuple[IntegerRow, ...] = tuple(self.form.terms)
        self.width = len(neurons.rows) if width is None else expect_count(width, "width")
        self._neurons = neurons

    def __repr__(self) -> str:
        counts = [(len(self.normals), "visible hyperplane"), (self.domain.dimension, "input")]
        counts.append((self.num_outputs, "output"))
        return f"<LayerFiber, width {self.width}, {count_text(counts)}>"

    @cached_property
    def given_assignment(self) -> NeuronAssignment:
        """The assignment of the given layer."""
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
            tuple(pairs[:visible]), sorted_groups(pairs[visible:]), linear, dead
        )

    @property
    def is_simple(self) -> bool:
        """Whether the given layer has one neuron on each visible hyperplane and no groups."""
        return self.given_assignment.is_simple

    @cached_property
    def is_provably_unique(self) -> bool:
        """Whether the given layer is known to be the only one, up to permutation and scaling.

        It is if it has one neuron on each visible hyperplane and no others, and no sum of matrices
        v_i w_i over a nonempty set of neurons vanishes, so that no set can be flipped. The search
        for such a sum is bounded; False means that uniqueness is not known.
        """
        if not self.is_simple or self.given_assignment.num_linear or self.given_assignment.num_dead:
            return False
        hidden, outgoing = self._neurons.layers(0)
        return vanishing_subset(outgoing.weight, hidden.weight).evidence is not None

    @property
    def num_outputs(self) -> int:
        """The number m of outputs of the map."""
        return len(self.form.offset)

    def component(self, assignment: NeuronAssignment) -> Component:
        """Return the component of an assignment, which may be empty.

        Parameters
        ----------
        assignment
            Numbers of neurons, with a pair for each of the `normals` and `width` neurons in all.

        Returns
        -------
        Component
            The parameters with this assignment.

        Raises
        ------
        NetworkError
            A visible hyperplane has no neuron, or the numbers of hyperplanes or neurons are others.
        """
        assignment = expect(assignment, NeuronAssignment, "assignment")
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
        """Return the simple component with the other orientation at some visible hyperplanes.

        Parameters
        ----------
        flips
            The hyperplanes where the orientation differs from the given layer, as positions in
            `normals`.

        Returns
        -------
        Component
            The component, which may be empty.

        Raises
        ------
        NetworkError
            The given layer is not simple.
        """
        if not self.is_simple:
            raise NetworkError(
                "flips are counted from a layer with one neuron on each visible hyperplane"
            )
        own, chosen = self.given_assignment, expect_indices(flips, len(self.normals), "flips")
        visible = tuple(pair[::-1] if k in chosen else pair for k, pair in enumerate(own.visible))
        return self.component(NeuronAssignment(visible, (), own.num_linear, own.num_dead))

    def simple_components(self) -> Iterator[Component]:
        """Yield the simple components, empty ones included.

        There is one for each set of flips and each number of dead neurons: 2^p (e + 1) components
        for p visible hyperplanes and e = `width` - p further neurons.
        """
        spare = self.width - len(self.normals)
        base = self.given_assignment.visible if self.is_simple else ((1, 0),) * len(self.normals)
        for size in range(len(self.normals) + 1):
            for flips in itertools.combinations(range(len(self.normals)), size):
                visible = tuple(pair[::-1] if k in flips else pair for k, pair in enumerate(base))
                for dead in range(spare + 1):
                    yield Component(self, NeuronAssignment(visible, (), spare - dead, dead))

    def components(self) -> Iterator[Component]:
        """Yield all components, empty ones included; the number is exponential in the width."""
        count = len(self.normals)
        for spread in distributions(self.width - count, count + 1):
            totals = [1 + extra for extra in spread[:count]]
            for visible in itertools.product(
                *([(k, n - k) for k in range(n, -1, -1)] for n in totals)
            ):
                for groups, linear, dead in other_roles(spread[count]):
                    yield Component(self, NeuronAssignment(tuple(visible), groups, linear, dead))


@dataclass(frozen=True, repr=False)
class Component:
    """The layers of a fiber with one assignment, up to permutation and positive scaling.

    Attributes
    ----------
    fiber
        The fiber that the component belongs to.
    assignment
        The numbers of neurons in each role.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> second = ([[1, -1], [2, 1]], [1, 0])
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), second, ([[1, 1]], [0])])
    >>> component = layer_fiber(net, 2).flipped([0])
    >>> component.is_empty, component.dimension, component.flips
    (False, 1, (0,))
    """

    fiber: LayerFiber
    assignment: NeuronAssignment

    def __repr__(self) -> str:
        return bracketed(f"Component, {'empty, ' * self.is_empty}{self.assignment}")

    @cached_property
    def part(self) -> LinearPart:
        """The linear part that doubled hyperplanes, mixed groups and linear neurons contribute."""
        fiber, given, size = self.fiber, self.assignment, self.fiber.domain.dimension
        single = [
            (k, 1 if plus else -1)
            for k, (plus, minus) in enumerate(given.visible)
            if not (plus and minus)
        ]
        weights = [[sign * c for c in fiber.form.terms[fiber.normals[k]]] for k, sign in single]
        fixed = RationalMatrix.from_rows(
            weights, ncols=fiber.num_outputs
        ).transpose() @ self._linear_parts([k for k, _ in single])
        available = AvailableNeurons(
            self._linear_parts(self.doubled), sum(map(is_mixed, given.groups)), given.num_linear
        )
        return LinearPart(
            RationalMatrix.from_rows(fiber.form.matrix, ncols=size) - fixed, available, fiber.domain
        )

    def _linear_parts(self, chosen: Sequence[int]) -> RationalMatrix:
        """The linear parts of some visible hyperplanes, one per row."""
        rows = [list(self.fiber.normals[k][:-1]) for k in chosen]
        return RationalMatrix.from_integers(rows, ncols=self.fiber.domain.dimension)

    @property
    def doubled(self) -> tuple[int, ...]:
        """The visible hyperplanes with neurons of both orientations."""
        return tuple(k for k, pair in enumerate(self.assignment.visible) if is_mixed(pair))

    @property
    def flips(self) -> tuple[int, ...]:
        """The visible hyperplanes whose numbers of neurons differ from the given layer.

        If both are simple, these are the hyperplanes with the opposite orientation.
        """
        own, here = self.fiber.given_assignment.visible, self.assignment.visible
        return tuple(k for k, (a, b) in enumerate(zip(own, here, strict=True)) if a != b)

    @property
    def is_empty(self) -> bool:
        """Whether no layer has this assignment and the map of the fiber."""
        return not self.part.is_realisable

    def evidence(self) -> NonnegativeRank:
        """Return the certificate that decides whether a simple component on the orthant is empty.

        The component is nonempty if and only if the nonnegative column rank of the matrix that the
        linear neurons contribute is at most their number.

        Returns
        -------
        NonnegativeRank
            The nonnegative column rank with its certificates.

        Raises
        ------
        NetworkError
            The component is not simple, or the domain is not the orthant.
        """
        if self.fiber.domain.kind != "orthant" or not self.assignment.is_simple:
            raise NetworkError("pointed cones decide about simple components on the orthant")
        return nonnegative_column_rank(self.part.remainder)

    @cached_property
    def dimension(self) -> int | None:
        """The dimension modulo permutation and scaling, None if the component is empty.

        It is the dimension of the solutions of `part` plus the following numbers. A linear neuron
        has a free bias and loses a scale: 0. A dead neuron has a free row up to scale and a free
        outgoing column. On a hyperplane with k neurons k - 1 outgoing columns are free, of which
        `part` counts one if both orientations occur. The hyperplane of a group is free, and `part`
        counts it if both orientations occur.

        Raises
        ------
        DomainError
            The dimension is not worked out; see `LinearPart.dimension`.
        """
        carried = self.part.dimension
        if carried is None:
            return None
        given, m, n = self.assignment, self.fiber.num_outputs, self.fiber.domain.dimension
        on_planes = sum(
            m * (plus + minus - 1 - is_mixed((plus, minus))) for plus, minus in given.visible
        )
        in_groups = sum(
            m * (plus + minus - 1 - is_mixed((plus, minus))) + (0 if is_mixed((plus, minus)) else n)
            for plus, minus in given.groups
        )
        return (
            carried
            + on_planes
            + in_groups
            + given.num_dead * (self.fiber.domain.bounded_dimension + m)
        )

    def member(self, *, seed: int | None = None) -> LayerNeurons | None:
        """Return a layer of the component, or a random one.

        Parameters
        ----------
        seed
            If given, free numbers are random; otherwise they are chosen simply.

        Returns
        -------
        LayerNeurons or None
            Neurons in the order of the assignment, with primitive integer rows; None if the
            component is empty.
        """
        return random_layer(self, random_source(seed))

    def _visible_neurons(
        self, found: Realisation, rng: Random | None
    ) -> Iterator[tuple[Vector, Vector]]:
        """Yield row and column of the neurons on the visible hyperplanes."""
        doubled = self.doubled
        for k, pair in enumerate(self.assignment.visible):
            normal = tuple(map(Fraction, self.fiber.normals[k]))
            total = tuple(2 * c for c in self.fiber.form.terms[self.fiber.normals[k]])
            if k in doubled:
                difference = tuple(
                    2 * row[doubled.index(k)] for row in found.doubled_weights.rows()
                )
                yield from both_orientations(normal, total, difference, pair, rng)
            else:
                row = normal if pair[0] else negated(normal)
                yield from one_orientation(row, total, max(pair), rng)

    def _group_neurons(
        self, found: Realisation, rng: Random | None
    ) -> Iterator[tuple[Vector, Vector]]:
        """Yield row and column of the neurons in groups.

        Groups with both orientations contribute a pair form of the solution; the hyperplanes of
        other groups are arbitrary.
        """
        nothing = (Fraction(),) * self.fiber.num_outputs
        taken = set(self.fiber.normals)
        weights = found.pair_weights.transpose().rows()
        pairs = iter(zip(found.pair_forms.rows(), weights, strict=True))
        for pair in self.assignment.groups:
            if is_mixed(pair):
                form, weight = next(pairs)
                row = self._crossing_row(form, taken, rng)
                difference = tuple(2 * entry for entry in weight)
                yield from both_orientations(row, nothing, difference, pair, rng)
            else:
                row = self._crossing_row(self._nonzero_form(rng), taken, rng)
                yield from one_orientation(
                    row if pair[0] else negated(row), nothing, max(pair), rng
                )

    def _nonzero_form(self, rng: Random | None) -> Vector:
        """Return (1, …, 1), or a random nonzero form."""
        size = self.fiber.domain.dimension
        numbers = [1] * size if rng is None else [rng.randint(-8, 8) for _ in range(size)]
        return tuple(map(Fraction, numbers if any(numbers) else [1] * size))

    def _crossing_row(self, form: Vector, taken: set[IntegerRow], rng: Random | None) -> Vector:
        """Return a row with this linear part whose hyperplane meets the interior of the domain.

        The hyperplane is not in `taken`, to which it is added. The possible biases form an open
        interval, from -sup to -inf of the form on the domain.
        """
        domain = self.fiber.domain
        least, most = domain.least_bias(negated(form)), domain.least_bias(form)
        position = Fraction(1, 2) if rng is None else Fraction(rng.randint(1, 63), 64)
        for number in itertools.count(3):  # the loop ends, since only finitely many are taken
            row = (*form, _between(None if least is None else -least, most, position))
            normal = primitive(row)[0]
            if normal not in taken:
                taken.add(normal)
                return row
            position = Fraction(1, number)
        raise ArithmeticError("an interval is used up")  # pragma: no cover

    def _linear_neurons(
        self, found: Realisation, rng: Random | None
    ) -> Iterator[tuple[Vector, Vector]]:
        """Yield row and column of the linear neurons; their biases are least or random."""
        columns = found.linear_weights.transpose().rows()
        for form, column in zip(found.linear_forms.rows(), columns, strict=True):
            least = self.fiber.domain.least_bias(form)
            if least is None:
                raise ArithmeticError("a linear neuron is not bounded below")  # pragma: no cover
            extra = Fraction(0 if rng is None else rng.randint(0, 16), 8)
            if not any(form):
                extra, least = extra + 1, Fraction(0)
            yield (*form, least + extra), column

    def _dead_neurons(self, rng: Random | None) -> Iterator[tuple[Vector, Vector]]:
        """Yield row and column of the dead neurons."""
        domain, m = self.fiber.domain, self.fiber.num_outputs
        inside = domain.positive_form()
        for number in range(self.assignment.num_dead):
            factor = Fraction(0 if rng is None else rng.randint(0, 8), 8)
            form = tuple(factor * entry for entry in inside)
            if rng is not None and domain.kind == "orthant":
                form = tuple(Fraction(rng.randint(0, 8), 8) for _ in inside)
            least = domain.least_bias(form) or Fraction(0)
            column = tuple(Fraction(0 if rng is None else rng.randint(-8, 8), 4) for _ in range(m))
            yield negated((*form, least + 1 + number)), column

    def _with_offset(self, rows: tuple[Vector, ...], columns: tuple[Vector, ...]) -> LayerNeurons:
        """Return the layer with the output bias that gives the map its value at one point."""
        point = self.fiber.domain.polyhedron.interior_point()
        if point is None:
            raise ArithmeticError("the domain has an interior")  # pragma: no cover
        value = layer_value(rows, columns, point, self.fiber.num_outputs)
        wanted = _normal_form_value(self.fiber.form, point)
        return LayerNeurons(rows, columns, tuple(a - b for a, b in zip(wanted, value, strict=True)))


def random_layer(component: Component, rng: Random | None) -> LayerNeurons | None:
    """Return a layer of a component, drawn from a source of random numbers if one is given."""
    found = realise(component.part, rng)
    if found is None:
        return None
    neurons = [*component._visible_neurons(found, rng), *component._group_neurons(found, rng)]
    neurons += [*component._linear_neurons(found, rng), *component._dead_neurons(rng)]
    scaled = [with_primitive_row(row, column) for row, column in neurons]
    rows, columns = tuple(row for row, _ in scaled), tuple(column for _, column in scaled)
    return component._with_offset(rows, columns)


def layer_fiber(
    network: NetworkLike,
    layer: int,
    domain: LayerDomain | DomainLike = None,
    *,
    width: int | None = None,
) -> LayerFiber:
    """Return the fiber of a hidden layer of a plain stack, together with the weights after it.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; a plain stack.
    layer
        The number of a hidden layer with weights after it, counted from 1.
    domain
        The set on which the maps agree, a polyhedron with interior in the space of the layer's
        inputs, or text like "orthant"; None for R^n if the layer is the first one, and for the
        orthant otherwise. The image of the layers before may be smaller than the orthant; then the
        fiber is only a part of the parameters with the same function.
    width
        The width of the layers that are described; None for the width of the given layer.

    Returns
    -------
    LayerFiber
        The layers of this width with the map of the given layer.

    Raises
    ------
    NetworkError
        The network is not a plain stack, it has no such layer, or the width is below the number of
        visible hyperplanes.
    DomainError
        The domain has no interior or lies in another space.

    Notes
    -----
    Source: the three-layer paper (2026), Proposition 1, Theorem 4.2 and Definition 22,
    arXiv 2605.18319.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> second = ([[1, -1], [2, 1]], [1, 0])
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), second, ([[1, 1]], [0])])
    >>> fiber = layer_fiber(net, 2)
    >>> fiber.given_assignment
    <NeuronAssignment, neurons on the hyperplanes: 1+0, 1 linear>
    >>> [(part.flips, part.dimension) for part in fiber.simple_components() if not part.is_empty]
    [((), 1), ((0,), 1)]
    """
    network, layer = as_network(network), expect_integer(layer, "layer")
    network.require_plain()
    if not 1 <= layer <= network.num_hidden_layers or layer == network.depth:
        raise NetworkError("a hidden layer is asked for, with weights after it")
    space = _layer_domain(domain, layer, network.widths[layer - 1])
    hidden, after = network.layers[layer - 1], network.layers[layer]
    neurons = LayerNeurons(
        tuple(hidden.augmented().rows()),
        tuple(after.weight.transpose().rows()),
        tuple(after.bias.entries()),
    )
    fiber = LayerFiber(neurons, space, width=width)
    if fiber.width < len(fiber.normals):
        raise NetworkError(
            f"{len(fiber.normals)} hyperplanes are visible, more than {fiber.width} neurons can "
            "make"
        )
    return fiber


def _layer_domain(domain: LayerDomain | DomainLike, layer: int, size: int) -> LayerDomain:
    """The domain of a layer with `size` inputs, in any form; R^n or the orthant for None."""
    if domain is None:
        return LayerDomain.whole_space(size) if layer == 1 else LayerDomain.orthant(size)
    if not isinstance(domain, LayerDomain):
        return LayerDomain.of(as_domain(domain, size))
    if domain.dimension != size:
        raise DomainError(
            f"domain: lies in R^{domain.dimension}, but layer {layer} has {size} inputs"
        )
    return domain


def _between(low: Fraction | None, high: Fraction | None, position: Fraction) -> Fraction:
    """Map a number between 0 and 1 to a point of an open interval; an end None is infinite."""
    if low is not None and high is not None:
        return low + (high - low) * position
    reach = position / (1 - position)
    if low is None and high is None:
        return reach - 1
    return low + reach if low is not None else (high or 0) - reach


def _normal_form_value(form: AbsoluteValueForm, point: Sequence[Fraction]) -> Vector:
    """Return Σ_h C_h |h·(u,1)| + M u + m at a point u."""
    total = [dot(row, point) + c for row, c in zip(form.matrix, form.offset, strict=True)]
    for normal, coefficient in form.terms.items():
        t = abs(dot(normal[:-1], point) + normal[-1])
        total = [a + t * c for a, c in zip(total, coefficient, strict=True)]
    return tuple(total)
