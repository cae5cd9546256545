"""The smallest layer with a given map: as many neurons as its absolute-value normal form needs.

Every visible hyperplane needs a neuron. What is left of the linear part then costs further neurons: one for a second
orientation on a visible hyperplane, one for a linear neuron, two for a pair on a hyperplane of its own (needed only on
domains with lines, on which linear neurons vanish; elsewhere two linear neurons do as well). Which orientations leave
least over is a subset-sum question (NP-hard): all are tried within a bound. Beyond it, a layer is found, and that it is
the smallest is claimed only where linear algebra or the number of visible hyperplanes says so.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from polyrelu.errors import NetworkError
from polyrelu.exact import Polyhedron, RationalMatrix, rank, solve
from polyrelu.fibers.layer import Component, LayerFiber, LayerNeurons, NeuronAssignment, layer_fiber
from polyrelu.network import Network
from polyrelu.symmetry import LayerDomain

__all__ = ["SimplifiedLayers", "SmallestLayer", "simplify_layers", "smallest_layer"]

#: So many choices of orientations are tried.
_CHOICES = 2**14


@dataclass(frozen=True, slots=True)
class SmallestLayer:
    """A layer with the same map.

    Attributes
    ----------
    neurons : rows, outgoing columns and offset.
    assignment : what the neurons do.
    is_smallest : True: no layer with fewer neurons has the map (proved). None: whether one has it is not known. It is
        never False, since a narrower layer that is known would be the answer.
    at_least : so many neurons are needed.
    """

    neurons: LayerNeurons
    assignment: NeuronAssignment
    is_smallest: bool | None
    at_least: int

    @property
    def width(self) -> int:
        """The number of neurons."""
        return len(self.neurons.rows)


@dataclass(frozen=True, slots=True)
class SimplifiedLayers:
    """A network with the same function on the domain, and no wider.

    Attributes
    ----------
    network : the network.
    is_smallest : for each hidden layer, whether no narrower one has the same map on R^n, the domain or the orthant.
        True: none has it (proved). False: one has it, but its numbers are longer than network files allow, so the
        layer stayed as it is. None: it is not known.
    """

    network: Network
    is_smallest: tuple[bool | None, ...]


def simplify_layers(network: Network, domain: Polyhedron | None = None) -> SimplifiedLayers:
    """Make the hidden layers of a plain stack as narrow as their normal forms allow, the last one first.

    With one hidden layer and an affine output the result is a smallest network with its function on the domain, where
    `is_smallest` says so. `polyrelu.simplify` proves what it does, looks at all layers together and may leave out
    layers; here each layer is taken by itself.
    Deeper, each layer is the smallest for all inputs u ≥ 0, though the layers before may not reach all of them.

    Parameters
    ----------
    domain : with interior; R^n if it is not given.

    Raises
    ------
    NetworkError : no plain stack. DomainError : a domain without interior.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1], [1], [3]], [0, 0, 5, -2]), ([[1, -1, 0, 2]], [0])])   # x + 2 max(3x - 2, 0)
    >>> small = simplify_layers(net)
    >>> small.network.widths, small.is_smallest, small.network([3]) == net([3])
    ((1, 2, 1), (True,), True)
    """
    if not network.is_plain:
        raise NetworkError(
            "simplify_layers takes plain stacks; networks with connections that skip layers are left as they are"
        )
    smallest: list[bool | None] = []
    last = network.depth - 1
    for layer in range(last, 0, -1):
        space = LayerDomain.of(domain) if layer == 1 and domain is not None else None
        found = smallest_layer(layer_fiber(network, layer, space))
        hidden, outgoing = found.neurons.layers(layer - 1)
        try:
            network = network.replace_layers({layer: hidden, layer + 1: outgoing})
            smallest.append(found.is_smallest)
        except NetworkError:  # the numbers of the other neurons are too long for a file
            narrower = found.width < network.widths[layer]
            smallest.append(False if narrower else found.is_smallest)
    return SimplifiedLayers(network, tuple(reversed(smallest)))


def smallest_layer(fiber: LayerFiber, max_choices: int | None = None) -> SmallestLayer:
    """The smallest layer with the map of a fiber; at least one neuron, as layers have.

    Parameters
    ----------
    max_choices : the number of choices of orientations up to which all are tried; 2^14 by default.
    """
    limit = _CHOICES if max_choices is None else max_choices
    needed = len(fiber.normals)
    at_least = max(needed, 1)
    certain = True  # nothing narrower than what is tried now has the map
    for extra in itertools.count(1 if needed == 0 else 0):
        component, decided = _first(fiber, extra, limit)
        if component is not None:
            neurons = component.member()
            if neurons is None:
                raise ArithmeticError("a component is empty")  # pragma: no cover
            return SmallestLayer(neurons, component.assignment, certain or None, at_least)
        certain = certain and decided
        at_least += certain
    raise AssertionError("itertools.count ends")  # pragma: no cover - for the type checker


def _first(fiber: LayerFiber, extra: int, limit: int) -> tuple[Component | None, bool]:
    """A component with so many neurons more than visible hyperplanes, and whether None means that there is none."""
    count = len(fiber.normals)
    if count == 0 and extra == 1:  # a map without bends: one neuron at least, which may be dead
        listed: Iterator[NeuronAssignment] = iter(
            [NeuronAssignment((), (), 0, 1), NeuronAssignment((), (), 1, 0)]
        )
        return _nonempty(fiber, listed), True
    if extra == 0 and (solved := _orientations(fiber)) is not None:
        return _nonempty(fiber, iter(solved)), True
    if _number(fiber, extra) <= limit:
        return _nonempty(fiber, _assignments(fiber, extra)), True
    return _nonempty(fiber, _guesses(fiber, extra)), False


def _nonempty(fiber: LayerFiber, assignments: Iterator[NeuronAssignment]) -> Component | None:
    parts = (Component(fiber, assignment) for assignment in assignments)
    return next((part for part in parts if not part.is_empty), None)


def _orientations(fiber: LayerFiber) -> list[NeuronAssignment] | None:
    """If the matrices C_h h are independent, at most one choice of signs ε has M = Σ ε_h C_h h: it, or nothing.

    None if they are dependent: then more than linear algebra is needed.
    """
    terms = [
        [c * entry for c in fiber.form.terms[normal] for entry in normal[:-1]]
        for normal in fiber.normals
    ]
    size = fiber.outputs * fiber.domain.dimension
    matrix = RationalMatrix.from_rows(terms, ncols=size).transpose()
    if rank(matrix) < len(terms):
        return None
    wanted = RationalMatrix.column([entry for row in fiber.form.matrix for entry in row])
    found = solve(matrix, wanted)
    signs = [] if found is None else list(found.entries())
    if found is None or any(abs(sign) != 1 for sign in signs):
        return []
    return [NeuronAssignment(tuple((1, 0) if sign > 0 else (0, 1) for sign in signs), (), 0, 0)]


def _number(fiber: LayerFiber, extra: int) -> int:
    """How many assignments `_assignments` lists."""
    count = len(fiber.normals)
    return sum(
        math.comb(count, doubled) * 2 ** (count - doubled)
        for doubled, _, _ in _splits(fiber, extra)
    )


def _splits(fiber: LayerFiber, extra: int) -> Iterator[tuple[int, int, int]]:
    """How many of the extra neurons make second orientations, pairs, and linear neurons."""
    for doubled in range(min(extra, len(fiber.normals)) + 1):
        rest = extra - doubled
        if fiber.domain.kind == "space":
            if rest % 2 == 0:
                yield doubled, rest // 2, 0
            continue
        for pairs in range(rest // 2 + 1 if fiber.domain.lines else 1):
            yield doubled, pairs, rest - 2 * pairs


def _assignments(fiber: LayerFiber, extra: int) -> Iterator[NeuronAssignment]:
    """All assignments that are worth trying with so many extra neurons."""
    count = len(fiber.normals)
    for doubled, pairs, linear in _splits(fiber, extra):
        for chosen in itertools.combinations(range(count), doubled):
            for signs in itertools.product(((1, 0), (0, 1)), repeat=count - doubled):
                rest = iter(signs)
                visible = tuple((1, 1) if k in chosen else next(rest) for k in range(count))
                yield NeuronAssignment(visible, ((1, 1),) * pairs, linear, 0)


def _guesses(fiber: LayerFiber, extra: int) -> Iterator[NeuronAssignment]:
    """The given layer's own orientations, and all equal ones, with linear neurons; what the given layer does itself."""
    own = fiber.own
    once = tuple((min(plus, 1), min(minus, 1)) for plus, minus in own.visible)
    single = tuple(pair if sum(pair) == 1 else (1, 0) for pair in once)
    if fiber.domain.kind != "space":
        for visible in (single, *(((pair,) * len(once)) for pair in ((1, 0), (0, 1)))):
            yield NeuronAssignment(visible, (), extra, 0)
    groups = tuple((1, 1) for pair in own.groups if min(pair))
    linear = 0 if fiber.domain.kind == "space" else own.linear
    if sum(map(sum, once)) + 2 * len(groups) + linear == len(once) + extra:
        yield NeuronAssignment(once, groups, linear, 0)
