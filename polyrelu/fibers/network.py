"""The fiber of a network as a list of components, with a statement how complete the list is.

Here are the components of the fiber of a plain stack, each with dimension, equations and members.
The command `polyrelu fiber` and its reports show them. A reader must know that the lists are
complete among different sets of parameters, and that the field `complete` of a `Fiber` names this
set.

* One hidden layer: the components of the fiber of the layer, on R^n or another domain. The list is
  complete among all parameters of the architecture if all assignments are listed. Otherwise it is
  complete among simple parameters, which have one neuron on each visible hyperplane.
* Two hidden layers with n_0 ≥ n_1 ≥ 2 and rank W[1] = n_1 (the three-layer paper, arXiv 2605.18319,
  section 6). If a hyperplane of the first layer is hidden, the components are its translations
  after each set of flips. If none is hidden, the first layer is fixed, and the components are the
  components of the fiber of the second layer on the orthant. The list is complete among generic
  parameters, provided that the network is generic.
* Any other plain stack: the components of the fibers of all layers and all hidden hyperplanes, each
  with the other layers fixed. They are a part of the fiber.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from random import Random
from typing import Literal, Protocol

from polyrelu.errors import DomainError, NetworkError, NotCoveredError
from polyrelu.exact import rank
from polyrelu.fibers.equations import Conditions, conditions_of, hidden_conditions
from polyrelu.fibers.hidden import HiddenHyperplane, hidden_hyperplane, random_translation
from polyrelu.fibers.layer import Component, LayerFiber, layer_fiber
from polyrelu.fibers.linear_part import random_source
from polyrelu.fibers.settings import SETTINGS
from polyrelu.formats.arguments import DomainLike, NetworkLike, as_domain, as_network
from polyrelu.network import Network
from polyrelu.support.arguments import expect_count
from polyrelu.support.budget import Budget, WorkLimit
from polyrelu.support.display import bracketed, count_text, html_columns
from polyrelu.support.prices import price_of_component
from polyrelu.symmetry import LayerDomain

__all__ = [
    "Fiber",
    "FiberComponent",
    "HiddenComponent",
    "LayerComponent",
    "dimension_text",
    "fiber",
]

#: Maximum number of unknowns of a component whose relations a notebook shows.
_MAX_UNKNOWNS = 60
#: Maximum number of components that a notebook lists.
_MAX_LISTED = 24
_ONLY_SIMPLE = "assignments with several neurons on one hyperplane are not listed"
_GENERIC = "complete among generic parameters if the network is generic"

#: The set of parameters among which a list of components is complete; see `Fiber`.
Completeness = Literal["all", "simple", "generic", "part"]


#: Among what parameters a list is complete, in few words.
_COMPLETE: dict[Completeness, str] = {
    "all": "complete among all parameters",
    "simple": "complete among simple parameters",
    "generic": "complete if generic, among generic parameters",
    "part": "a part of the fiber",
}


class FiberComponent(Protocol):
    """The interface of a component of a fiber.

    A component is a set of parameters with one function, up to permutation and positive scaling of
    neurons. Its parameters differ in two consecutive layers only. `LayerComponent` and
    `HiddenComponent` implement the interface.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> component = fiber(from_arrays([([[1], [1]], [0, 0]), ([[1, 2]], [0])])).components[0]
    >>> component.layer, component.label, component.dimension
    (1, 'neurons on the hyperplanes: 2+0', 1)
    """

    @property
    def layer(self) -> int:
        """The number of the first of the two layers that change, counted from 1."""

    @property
    def label(self) -> str:
        """A description of the parameters in words."""

    @property
    def dimension(self) -> int | None:
        """The dimension modulo permutation and scaling, None if it is not known."""

    @property
    def normals(self) -> tuple[tuple[int, ...], ...]:
        """The visible hyperplanes [w b] to which numbers in the label refer."""

    @property
    def num_unknowns(self) -> int:
        """The approximate number of unknowns in the equations."""

    def member(self, *, seed: int | None = None) -> Network:
        """Return one of the networks, or a random one if a seed is given."""

    def conditions(self) -> Conditions:
        """Return the equations and inequalities of the component."""


@dataclass(frozen=True, repr=False)
class LayerComponent:
    """The networks whose layers ℓ and ℓ+1 lie in a component of the fiber of layer ℓ.

    Attributes
    ----------
    network
        The network whose other layers stay fixed.
    layer
        The number ℓ of the layer, counted from 1.
    component
        The component of the fiber of the layer.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])    # |x|
    >>> component = fiber(net).components[0]
    >>> component.label, component.dimension, component.member()([3]) == net([3])
    ('neurons on the hyperplanes: 1+1', 0, True)
    """

    network: Network
    layer: int
    component: Component

    @property
    def label(self) -> str:
        """The numbers of neurons in each role, in words."""
        given = self.component.assignment
        if given.is_simple and self.component.fiber.given_assignment.is_simple:
            flips = self.component.flips
            visible = f"{_counted('hyperplane', flips)} flipped" if flips else ""
            return given.described(visible or "orientations as given")
        return str(given)

    def __repr__(self) -> str:
        return bracketed(f"LayerComponent, {_facts(self)}")

    def _repr_latex_(self) -> str | None:
        return _latex(self)

    @property
    def dimension(self) -> int | None:
        """The dimension as in `Component.dimension`, None where it is not worked out."""
        try:
            return self.component.dimension
        except DomainError:
            return None

    @property
    def normals(self) -> tuple[tuple[int, ...], ...]:
        """The visible hyperplanes of the layer."""
        return self.component.fiber.normals

    @property
    def num_unknowns(self) -> int:
        """The number of all rows' and columns' entries."""
        fiber = self.component.fiber
        return fiber.width * (fiber.domain.dimension + 1 + fiber.num_outputs)

    def member(self, *, seed: int | None = None) -> Network:
        """Return the network with the two layers of a member of the component.

        Parameters
        ----------
        seed
            If given, the member is random.

        Returns
        -------
        Network
            A network of the same architecture with the same function.

        Raises
        ------
        NetworkError
            The component is empty.
        """
        neurons = self.component.member(seed=seed)
        if neurons is None:
            raise NetworkError("the component is empty")
        hidden, outgoing = neurons.layers(self.layer - 1)
        return self.network.replace_layers({self.layer: hidden, self.layer + 1: outgoing})

    def conditions(self) -> Conditions:
        """Return the equations and inequalities of the component, see `conditions_of`."""
        return conditions_of(self.component)


@dataclass(frozen=True, repr=False)
class HiddenComponent:
    """The translations of a hidden hyperplane after some flips.

    Attributes
    ----------
    hidden
        The hidden hyperplane.
    flipped
        The neurons that are flipped.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-2]), ([[1]], [0])])
    >>> component = fiber(net).components[1]
    >>> component.label, component.member()([5, 1]) == net([5, 1])
    ('hyperplane of neuron 0 translated, neuron 1 flipped', True)
    """

    hidden: HiddenHyperplane
    flipped: tuple[int, ...]

    @property
    def layer(self) -> int:
        """The layer of the hidden hyperplane."""
        return self.hidden.layer

    @property
    def label(self) -> str:
        """The hidden hyperplane and the flipped neurons, in words."""
        flips = f", {_counted('neuron', self.flipped)} flipped" if self.flipped else ""
        return f"hyperplane of neuron {self.hidden.neuron} translated{flips}"

    def __repr__(self) -> str:
        return bracketed(f"HiddenComponent, {_facts(self)}")

    def _repr_latex_(self) -> str | None:
        return _latex(self)

    @property
    def dimension(self) -> int:
        """The dimension as in `HiddenHyperplane.dimension`."""
        return self.hidden.dimension

    @property
    def normals(self) -> tuple[tuple[int, ...], ...]:
        """An empty tuple, because the label refers to neurons only."""
        return ()

    @property
    def num_unknowns(self) -> int:
        """The number of entries of the two layers, all of which are printed with the symbol t."""
        network = self.hidden.network
        return sum(
            network.widths[k] * (network.widths[k - 1] + 1) for k in (self.layer, self.layer + 1)
        )

    def member(self, *, seed: int | None = None) -> Network:
        """Return the network with these flips, translated at random if a seed is given."""
        rng = random_source(seed)
        if rng is None:
            return self.hidden.member(flipped=self.flipped)
        return random_translation(self.hidden, self.flipped, rng)

    def conditions(self) -> Conditions:
        """Return the equations and inequalities of the component, see `hidden_conditions`."""
        return hidden_conditions(self.hidden, flipped=self.flipped)


@dataclass(frozen=True, repr=False)
class Fiber:
    """The set of parameters with the function of a network, as a list of components.

    A fiber has a length and can be iterated over, component by component.

    Attributes
    ----------
    network
        The network.
    components
        The nonempty components among those that were visited; the first one contains the network.
    complete
        The set of parameters among which the list is complete. "all": every parameter of the
        architecture with the function lies in one of the components. "simple": every such parameter
        with one neuron on each visible hyperplane. "generic": every generic one, if the network is
        generic. "part": the list is a part of the fiber.
    reason
        Why the list is not complete among all parameters, in words; empty if it is.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> found = fiber(from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])]))    # |x|
    >>> found
    <Fiber, 1-2-1, dimension 0, 1 component, complete among all parameters>
    >>> found.dimension, len(found), found.complete
    (0, 1, 'all')
    """

    network: Network
    components: tuple[FiberComponent, ...]
    complete: Completeness
    reason: str

    def __len__(self) -> int:
        return len(self.components)

    def __iter__(self) -> Iterator[FiberComponent]:
        return iter(self.components)

    def __repr__(self) -> str:
        count = count_text([(len(self), "component")])
        at_least = "at least " * (self.complete == "part" and self.dimension is not None)
        size = f"dimension {at_least}{dimension_text(self.dimension)}, {count}"
        return bracketed(f"Fiber, {self.network.architecture}, {size}, {_COMPLETE[self.complete]}")

    def _repr_html_(self) -> str:
        rows: list[list[object]] = [
            [number, part.layer, part.label, dimension_text(part.dimension)]
            for number, part in enumerate(self.components[:_MAX_LISTED])
        ]
        if len(self) > _MAX_LISTED:
            rows.append(["…", "", f"{len(self) - _MAX_LISTED} more", ""])
        table = html_columns(["component", "layer", "parameters", "dimension"], rows)
        return f"<p>{escape(repr(self)[1:-1])}</p>{table}"

    def _repr_latex_(self) -> str | None:
        if sum(part.num_unknowns for part in self.components) > _MAX_UNKNOWNS:
            return None
        parts = [_latex(part) for part in self.components]
        if None in parts:
            return None
        return "\n".join(f"\\[\\text{{component {k}}}\\]\n{t}" for k, t in enumerate(parts))

    @property
    def dimension(self) -> int | None:
        """The largest dimension of a component, None if the dimension of one is not known.

        Dimensions are modulo permutation and scaling. Where the list is a part of the fiber, this
        is a lower bound of the fiber's dimension.
        """
        known = [component.dimension for component in self.components]
        return None if None in known else max(size for size in known if size is not None)

    def sample(self, seed: int = 0) -> Network:
        """Return a random member of a random component."""
        rng = Random(expect_count(seed, "seed"))
        return rng.choice(self.components).member(seed=rng.getrandbits(64))


def fiber(network: NetworkLike, domain: DomainLike = None, *, budget: float | None = None) -> Fiber:
    """Describe the networks of one architecture that compute the function of a plain stack.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes; a plain stack with at least one hidden layer.
    domain
        For one hidden layer with an affine output: a polyhedron with interior on which the
        functions agree, or text like "box:-1,1". None for R^n.
    budget
        Units of work, of about a millisecond, for the list of components; None for no limit. If it
        is used up, the list is a part, and `reason` says so.

    Returns
    -------
    Fiber
        The components of the fiber, and among which parameters the list is complete.

    Raises
    ------
    NetworkError
        The network is not a plain stack or has no hidden layer, or a domain is given for a deeper
        network or for a network that ends in a ReLU.
    DomainError
        The domain has no interior, or lies in another space.

    Notes
    -----
    Source: the three-layer paper (2026), sections 4 to 6, arXiv 2605.18319.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-2]), ([[1]], [0])])
    >>> found = fiber(net)
    >>> found.dimension, found.complete, [component.label for component in found.components]
    (1, 'generic', ['hyperplane of neuron 0 translated',
    'hyperplane of neuron 0 translated, neuron 1 flipped'])
    """
    network = as_network(network)
    polyhedron, limits = as_domain(domain, network.num_inputs), Budget(budget)
    network.require_plain()
    if network.depth < 2:
        raise NotCoveredError(
            "fibers are described for networks with a hidden layer and weights after it, not "
            f"{network.architecture}"
        )
    if network.depth == 2 and network.last == "affine":
        return _one_hidden_layer(network, LayerDomain.of(polyhedron), limits)
    if polyhedron.inequalities or polyhedron.equations:
        raise NetworkError(
            "a domain can be given for one hidden layer with an affine output only; leave it out"
        )
    failure = _failed_hypothesis(network)
    if failure:
        return _fiber_in_parts(network, failure, limits)
    return _bottleneck_fiber(network, limits)


def _one_hidden_layer(network: Network, space: LayerDomain, budget: Budget) -> Fiber:
    """Return the fiber of a network with one hidden layer and an affine output."""
    layer = layer_fiber(network, 1, space)
    components, complete, reason = _layer_components(network, 1, layer, budget)
    return Fiber(network, components, complete, reason)


def _layer_components(
    network: Network, layer: int, fiber: LayerFiber, budget: Budget
) -> tuple[tuple[FiberComponent, ...], Completeness, str]:
    """Return the nonempty components of a layer, how complete the list is, and why not more."""
    own = fiber.component(fiber.given_assignment)
    if fiber.is_provably_unique:
        return (LayerComponent(network, layer, own),), "all", ""
    no_spare = fiber.width == len(fiber.normals)  # then every assignment is simple
    is_full_list = fiber.width <= SETTINGS.max_width or no_spare or not fiber.is_simple
    listed = fiber.components() if is_full_list else fiber.simple_components()
    entries = fiber.width * fiber.num_outputs * fiber.domain.dimension
    limit = max(1, min(SETTINGS.max_visited, SETTINGS.max_entries // entries))
    price = price_of_component(fiber.domain.dimension, fiber.num_outputs)
    visited, why_cut = _visited(listed, limit, price, budget)
    others = (part for part in visited if part.assignment != own.assignment)
    components = tuple(LayerComponent(network, layer, part) for part in (own, *others))
    if why_cut:
        return components, "part", why_cut
    return (components, "all", "") if is_full_list else (components, "simple", _ONLY_SIMPLE)


def _visited(
    components: Iterable[Component], limit: int, price: float, budget: Budget
) -> tuple[list[Component], str]:
    """Return the nonempty ones of the first components, and why not all of them were visited."""
    found = list[Component]()
    for number, component in enumerate(components):
        cut = f"only the first {number} assignments of neurons were visited"
        if number == limit:
            return found, cut
        try:
            budget.spend(price)
        except WorkLimit as used_up:
            return found, f"{cut}: {used_up}"
        if not component.is_empty:
            found.append(component)
    return found, ""


def _failed_hypothesis(network: Network) -> str:
    """Return why the theorem on two hidden layers does not apply; empty if it does."""
    if network.depth != 3 or network.last != "affine":
        return (
            "whole fibers are known for one hidden layer, and for two with n_0 ≥ n_1 ≥ 2, and an "
            "affine output"
        )
    if not network.num_inputs >= network.widths[1] >= 2:
        return "with two hidden layers, whole fibers are known for n_0 ≥ n_1 ≥ 2"
    if rank(network.weight(1)) < network.widths[1]:
        return "W[1] does not have rank n_1"
    return ""


def _bottleneck_fiber(network: Network, budget: Budget) -> Fiber:
    """Return the fiber of a network with two hidden layers to which the theorem applies."""
    hidden = hidden_hyperplane(network, 1)
    if hidden is not None:
        components = _hidden_components(hidden)
        if hidden.num_components > SETTINGS.max_visited:
            listed = f"{SETTINGS.max_visited} of {hidden.num_components}"
            return Fiber(network, components, "part", f"only {listed} sets of flips are listed")
        return Fiber(network, components, "generic", _GENERIC)
    second = layer_fiber(network, 2)
    if not second.normals and not second.given_assignment.num_linear:
        reason = "the function is constant, and every first layer can make it"
        return _fiber_in_parts(network, reason, budget)
    parts, complete, reason = _layer_components(network, 2, second, budget)
    if complete == "part":
        return Fiber(network, parts, "part", reason)
    return Fiber(network, parts, "generic", _GENERIC)


def _hidden_components(hidden: HiddenHyperplane) -> tuple[HiddenComponent, ...]:
    """Return the components of a hidden hyperplane, up to the maximum number of sets of flips."""
    flips = itertools.islice(hidden.flips(), SETTINGS.max_visited)
    return tuple(HiddenComponent(hidden, flipped) for flipped in flips)


def _fiber_in_parts(network: Network, reason: str, budget: Budget) -> Fiber:
    """Return the components of every layer and every hidden hyperplane, other layers fixed."""
    components: list[FiberComponent] = []
    for layer in range(1, network.depth):
        found, _, _ = _layer_components(network, layer, layer_fiber(network, layer), budget)
        # after the first layer, a component of dimension 0 at the start is the network itself again
        components += found if layer == 1 or found[0].dimension != 0 else found[1:]
        hidden = hidden_hyperplane(network, layer)
        if hidden is not None:
            components += _hidden_components(hidden)
    return Fiber(network, tuple(components), "part", reason)


def _counted(name: str, numbers: tuple[int, ...]) -> str:
    """Return a noun with numbers, in the plural for several numbers."""
    return f"{name}{'s' * (len(numbers) > 1)} {' '.join(map(str, numbers))}"


def dimension_text(dimension: int | None) -> str:
    """Return a dimension as text."""
    return "not known" if dimension is None else str(dimension)


def _facts(component: FiberComponent) -> str:
    """Return what identifies a component, in one line."""
    label = f"layer {component.layer}: {component.label}"
    return f"{label}, dimension {dimension_text(component.dimension)}"


def _latex(component: FiberComponent) -> str | None:
    """Return the relations of a component for a notebook; None if they are too long."""
    if component.num_unknowns > _MAX_UNKNOWNS:
        return None
    try:
        return component.conditions()._repr_latex_()
    except DomainError:  # the domain has too many vertices
        return None
