"""The smallest layer with a given map.

Here is the search for a layer with the map of a given layer and as few neurons as possible, and its
application to all layers of a network. It removes superfluous neurons without changing the
function, and it says where no narrower layer exists. The search visits the components of a
`LayerFiber` by their number of neurons; a bound on the number of assignments makes it incomplete
for wide layers, which the result records.

Every visible hyperplane needs a neuron. The rest of the linear part then costs further neurons: one
for a second orientation on a visible hyperplane, one for a linear neuron, or two for a pair on a
hyperplane of its own. Pairs are needed only on domains with lines, on which linear neurons vanish;
elsewhere two linear neurons can replace a pair. The choice of the orientations that leave least
over is a subset-sum problem (NP-hard), so all choices are tried within a bound. Beyond the bound a
layer is still found, but it is claimed to be the smallest one only if linear algebra or the number
of visible hyperplanes proves it.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from polyrelu.errors import NetworkError
from polyrelu.exact import RationalMatrix, rank, solve
from polyrelu.fibers.assignments import NeuronAssignment
from polyrelu.fibers.layer import Component, LayerFiber, layer_fiber
from polyrelu.fibers.layer_neurons import LayerNeurons
from polyrelu.fibers.settings import SETTINGS
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_network
from polyrelu.network import Network
from polyrelu.support.arguments import expect, expect_count
from polyrelu.support.budget import Budget, WorkLimit
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.prices import price_of_component
from polyrelu.symmetry import LayerDomain

__all__ = ["SimplifiedLayers", "SmallestLayer", "simplify_layers", "smallest_layer"]


@dataclass(frozen=True, slots=True, repr=False)
class SmallestLayer:
    """A layer with a given map and few neurons.

    Attributes
    ----------
    layer_neurons
        The neurons of the layer.
    assignment
        The numbers of its neurons in each role.
    is_smallest
        True if it is proved that no layer with fewer neurons has the map; None if that is not
        known. It is never False, because a narrower layer that is known would be the result.
    at_least
        A lower bound on the number of neurons of every layer with the map.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1], [2]], [0, 0, 7]), ([[1, -1, 0]], [3])])    # x + 3
    >>> found = smallest_layer(layer_fiber(net, 1))
    >>> found.width, found.at_least, found.is_smallest
    (2, 2, True)
    """

    layer_neurons: LayerNeurons
    assignment: NeuronAssignment
    is_smallest: bool | None
    at_least: int

    @property
    def width(self) -> int:
        """The number of neurons."""
        return len(self.layer_neurons.rows)

    def __repr__(self) -> str:
        bound = "the least" if self.is_smallest else f"at least {self.at_least} are needed"
        count = count_text([(self.width, "neuron")])
        return bracketed(f"SmallestLayer, {count}, {bound}, {self.assignment}")


@dataclass(frozen=True, slots=True, repr=False)
class SimplifiedLayers:
    """A network with the same function as a given one whose hidden layers are at most as wide.

    Attributes
    ----------
    network
        The network.
    is_smallest
        For each hidden layer, whether no narrower layer has the same map on its domain, which is
        R^n or the given domain for the first layer and the orthant for the others. True: proved.
        False: a narrower layer is known, but its numbers are longer than network files allow, so
        the layer stayed as it is. None: not known.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> simplify_layers(from_arrays([([[1], [2]], [0, 0]), ([[1, 1]], [0])])).is_smallest
    (True,)
    """

    network: Network
    is_smallest: tuple[bool | None, ...]

    def __repr__(self) -> str:
        words = {True: "smallest", False: "not smallest", None: "not known"}
        layers = ", ".join(words[entry] for entry in self.is_smallest)
        return bracketed(f"SimplifiedLayers, {self.network}, layers: {layers or 'none'}")


def simplify_layers(network: NetworkLike, domain: DomainLike = None) -> SimplifiedLayers:
    """Make the hidden layers of a plain stack as narrow as their normal forms allow.

    With one hidden layer and an affine output the result is a smallest network with its function on
    the domain, if `is_smallest` says so. In deeper networks each layer is the smallest one for all
    inputs u ≥ 0, although the layers before may not reach all of them. The last layer is treated
    first. `polyrelu.simplify` looks at all layers together and proves what it does.

    Parameters
    ----------
    network
        A plain stack, or what `polyrelu.load` takes.
    domain
        A domain with interior on which the function is kept; None for R^n.

    Returns
    -------
    SimplifiedLayers
        The network with narrower layers, and for each layer whether it is the smallest one.

    Raises
    ------
    NetworkError
        The network is not a plain stack.
    DomainError
        The domain has no interior.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> first = ([[1], [-1], [1], [3]], [0, 0, 5, -2])
    >>> net = from_arrays([first, ([[1, -1, 0, 2]], [0])])    # x + 2 max(3x - 2, 0)
    >>> small = simplify_layers(net)
    >>> small.network.widths, small.is_smallest, small.network([3]) == net([3])
    ((1, 2, 1), (True,), True)
    """
    network = as_network(network)
    network.require_plain()
    polyhedron = None if domain is None else as_domain(domain, network.num_inputs)
    smallest: list[bool | None] = []
    last = network.depth - 1
    for layer in range(last, 0, -1):
        space = LayerDomain.of(polyhedron) if layer == 1 and polyhedron is not None else None
        found = smallest_layer(layer_fiber(network, layer, space))
        hidden, outgoing = found.layer_neurons.layers(layer - 1)
        try:
            network = network.replace_layers({layer: hidden, layer + 1: outgoing})
            smallest.append(found.is_smallest)
        except NetworkError:  # the numbers of the other neurons are too long for a file
            narrower = found.width < network.widths[layer]
            smallest.append(False if narrower else found.is_smallest)
    return SimplifiedLayers(network, tuple(reversed(smallest)))


def smallest_layer(
    fiber: LayerFiber, *, max_assignments: int | None = None, budget: Budget | None = None
) -> SmallestLayer:
    """Find the smallest layer with the map of a fiber; it has at least one neuron.

    Parameters
    ----------
    fiber
        The fiber of a layer; its own width does not matter.
    max_assignments
        Maximum number of assignments that are tried for one number of neurons; 2^14 if None.
    budget
        A `Budget` that pays for these trials. Once its work is used up, only a few likely
        assignments are tried. None for no limit.

    Returns
    -------
    SmallestLayer
        A layer with the map, and whether it is known to be the smallest one.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> fiber = layer_fiber(from_arrays([([[1], [2]], [0, 0]), ([[1, 1]], [0])]), 1)
    >>> smallest_layer(fiber).assignment.visible
    ((1, 0),)
    """
    fiber = expect(fiber, LayerFiber, "fiber")
    limit = SETTINGS.max_assignments
    if max_assignments is not None:
        limit = expect_count(max_assignments, "max_assignments")
    needed = len(fiber.normals)
    at_least = max(needed, 1)
    certain = True  # all smaller numbers of neurons are excluded
    for extra in itertools.count(1 if needed == 0 else 0):
        component, decided = _nonempty_component(fiber, extra, limit, budget or Budget())
        if component is not None:
            neurons = component.member()
            if neurons is None:
                raise ArithmeticError("a component is empty")  # pragma: no cover
            return SmallestLayer(neurons, component.assignment, certain or None, at_least)
        certain = certain and decided
        at_least += certain
    raise AssertionError("itertools.count ends")  # pragma: no cover - for the type checker


def _nonempty_component(
    fiber: LayerFiber, extra: int, limit: int, budget: Budget
) -> tuple[Component | None, bool]:
    """Return a component with `extra` neurons more than there are visible hyperplanes.

    The second value tells whether None proves that there is no such component.
    """
    count = len(fiber.normals)
    if count == 0 and extra == 1:  # a map without bends needs one neuron, which may be dead
        single = [NeuronAssignment((), (), 0, 1), NeuronAssignment((), (), 1, 0)]
        return _first_nonempty(fiber, single), True
    if extra == 0 and (solved := _solved_orientations(fiber)) is not None:
        return _first_nonempty(fiber, solved), True
    if _num_assignments(fiber, extra) <= limit:
        with contextlib.suppress(WorkLimit):
            return _first_nonempty(fiber, _assignments(fiber, extra), budget), True
    return _first_nonempty(fiber, _likely_assignments(fiber, extra)), False


def _first_nonempty(
    fiber: LayerFiber, assignments: Iterable[NeuronAssignment], budget: Budget | None = None
) -> Component | None:
    """Return the first component of these assignments that is not empty."""
    price = price_of_component(fiber.domain.dimension, fiber.num_outputs)
    for assignment in assignments:
        if budget is not None:
            budget.spend(price)
        component = Component(fiber, assignment)
        if not component.is_empty:
            return component
    return None


def _solved_orientations(fiber: LayerFiber) -> list[NeuronAssignment] | None:
    """Solve M = Σ ε_h C_h h for signs ε_h by linear algebra.

    If the matrices C_h h are independent, the list contains the only assignment of one neuron for
    each hyperplane, or is empty if there is none. If they are dependent, the result is None.
    """
    terms = [
        [c * entry for c in fiber.form.terms[normal] for entry in normal[:-1]]
        for normal in fiber.normals
    ]
    size = fiber.num_outputs * fiber.domain.dimension
    matrix = RationalMatrix.from_rows(terms, ncols=size).transpose()
    if rank(matrix) < len(terms):
        return None
    wanted = RationalMatrix.column([entry for row in fiber.form.matrix for entry in row])
    found = solve(matrix, wanted)
    signs = [] if found is None else list(found.entries())
    if found is None or any(abs(sign) != 1 for sign in signs):
        return []
    return [NeuronAssignment(tuple((1, 0) if sign > 0 else (0, 1) for sign in signs), (), 0, 0)]


def _num_assignments(fiber: LayerFiber, extra: int) -> int:
    """Return the number of assignments that `_assignments` yields."""
    count = len(fiber.normals)
    return sum(
        math.comb(count, doubled) * 2 ** (count - doubled)
        for doubled, _, _ in _splits(fiber, extra)
    )


def _splits(fiber: LayerFiber, extra: int) -> Iterator[tuple[int, int, int]]:
    """Yield how many extra neurons are second orientations, how many pairs, how many linear."""
    for doubled in range(min(extra, len(fiber.normals)) + 1):
        rest = extra - doubled
        if fiber.domain.kind == "space":
            if rest % 2 == 0:
                yield doubled, rest // 2, 0
            continue
        for pairs in range(rest // 2 + 1 if fiber.domain.lines else 1):
            yield doubled, pairs, rest - 2 * pairs


def _assignments(fiber: LayerFiber, extra: int) -> Iterator[NeuronAssignment]:
    """Yield the assignments with `extra` neurons more than hyperplanes that are worth trying.

    Dead neurons, further neurons of one orientation and groups of one orientation are left out,
    because a narrower layer does without them.
    """
    count = len(fiber.normals)
    for doubled, pairs, linear in _splits(fiber, extra):
        for chosen in itertools.combinations(range(count), doubled):
            for signs in itertools.product(((1, 0), (0, 1)), repeat=count - doubled):
                rest = iter(signs)
                visible = tuple((1, 1) if k in chosen else next(rest) for k in range(count))
                yield NeuronAssignment(visible, ((1, 1),) * pairs, linear, 0)


def _likely_assignments(fiber: LayerFiber, extra: int) -> Iterator[NeuronAssignment]:
    """Yield a few assignments with `extra` neurons more than hyperplanes.

    The hyperplanes have the orientations of the given layer, or all the same one, and the extra
    neurons are linear. The assignment of the given layer without superfluous neurons comes last.
    """
    own = fiber.given_assignment
    once = tuple((min(plus, 1), min(minus, 1)) for plus, minus in own.visible)
    single = tuple(pair if sum(pair) == 1 else (1, 0) for pair in once)
    if fiber.domain.kind != "space":
        for visible in (single, *(((pair,) * len(once)) for pair in ((1, 0), (0, 1)))):
            yield NeuronAssignment(visible, (), extra, 0)
    groups = tuple((1, 1) for pair in own.groups if min(pair))
    linear = 0 if fiber.domain.kind == "space" else own.num_linear
    if sum(map(sum, once)) + 2 * len(groups) + linear == len(once) + extra:
        yield NeuronAssignment(once, groups, linear, 0)
