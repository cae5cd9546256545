"""The fiber of a network: components with dimension, equations and members, and how far the list is complete.

* One hidden layer: the layer's fiber on R^n or another domain. The list is complete among all parameters of the width
  if all assignments are listed, and among simple ones (one neuron on each visible hyperplane) otherwise.
* Two hidden layers, n_0 ≥ n_1 ≥ 2, rank W[1] = n_1 (three-layer symmetries, section 6): if a hyperplane is hidden, its
  translations and flips; if none is, the first layer is fixed, and the rest is the fiber of the second layer on the
  orthant. Complete among generic parameters, provided that the network is generic.
* Any other plain stack: the fibers of single layers and hidden hyperplanes, one after the other. Parts of the fiber.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from random import Random
from typing import Literal, Protocol

from polyrelu.errors import DomainError, NetworkError
from polyrelu.exact import Polyhedron, rank
from polyrelu.fibers.equations import Conditions, conditions_of, hidden_conditions
from polyrelu.fibers.hidden import HiddenHyperplane, hidden_hyperplane
from polyrelu.fibers.layer import Component, LayerFiber, layer_fiber
from polyrelu.network import Network
from polyrelu.symmetry import LayerDomain

__all__ = ["Fiber", "FiberComponent", "HiddenComponent", "LayerComponent", "fiber"]

#: Up to so many neurons all assignments of a layer are listed, and not only the simple ones.
_ALL_ASSIGNMENTS = 4
#: So many hyperplanes stand in a label.
_LABELS = 16
#: So many components are visited to list those that are not empty; fewer of large layers.
_VISITED = 4096
_WORK = 1_000_000
_SIMPLE = "assignments with several neurons on one hyperplane are not listed"


Completeness = Literal["all", "simple", "generic", "part"]


class FiberComponent(Protocol):
    """A set of parameters with the function, up to permutation and positive scaling of neurons."""

    @property
    def layer(self) -> int:
        """The first of the two layers that change."""

    @property
    def label(self) -> str:
        """What its parameters are, in words."""

    @property
    def dimension(self) -> int | None:
        """Its dimension, None if it is not known."""

    @property
    def normals(self) -> tuple[tuple[int, ...], ...]:
        """The visible hyperplanes [w b] that numbers in the label mean."""

    @property
    def unknowns(self) -> int:
        """About how many unknowns its equations have."""

    def member(self, rng: Random | None = None) -> Network:
        """One of the networks, or a random one."""

    def conditions(self) -> Conditions:
        """Its equations and inequalities."""


@dataclass(frozen=True)
class LayerComponent:
    """Layers ℓ and ℓ+1 changed within a component of the fiber of layer ℓ."""

    network: Network
    layer: int
    component: Component

    @property
    def label(self) -> str:
        """What the neurons do, in words."""
        given = self.component.assignment
        own = self.component.fiber.own
        if given.is_simple and own.is_simple:
            turned = self.component.flips
            parts = [
                "orientations as given"
                if not turned
                else f"{_counted('hyperplane', turned)} flipped"
            ]
        else:
            pairs = [f"{plus}+{minus}" for plus, minus in given.visible[:_LABELS]]
            more = [f"and {len(given.visible) - _LABELS} more"] * (len(given.visible) > _LABELS)
            parts = [
                f"neurons on the hyperplanes: {' '.join([*pairs, *more])}"
                if pairs
                else "no visible hyperplane"
            ]
        parts += [
            f"{plus}+{minus} that cancel on one more hyperplane" for plus, minus in given.groups
        ]
        parts += [
            f"{count} {name}"
            for count, name in ((given.linear, "linear"), (given.dead, "dead"))
            if count
        ]
        return ", ".join(parts)

    @property
    def dimension(self) -> int | None:
        """See `Component.dimension`; None where it is not worked out."""
        try:
            return self.component.dimension
        except DomainError:
            return None

    @property
    def normals(self) -> tuple[tuple[int, ...], ...]:
        """See `LayerFiber`."""
        return self.component.fiber.normals

    @property
    def unknowns(self) -> int:
        """All numbers of the layer."""
        fiber = self.component.fiber
        return fiber.width * (fiber.domain.dimension + 1 + fiber.outputs)

    def member(self, rng: Random | None = None) -> Network:
        """The network with the two layers of a member."""
        neurons = self.component.member(rng)
        if neurons is None:
            raise NetworkError("the component is empty")
        hidden, outgoing = neurons.layers(self.layer - 1)
        return self.network.replace_layers({self.layer: hidden, self.layer + 1: outgoing})

    def conditions(self) -> Conditions:
        """See `conditions_of`."""
        return conditions_of(self.component)


@dataclass(frozen=True)
class HiddenComponent:
    """The translations of a hidden hyperplane after some flips."""

    hidden: HiddenHyperplane
    flipped: tuple[int, ...]

    @property
    def layer(self) -> int:
        """The layer of the hidden hyperplane."""
        return self.hidden.layer

    @property
    def label(self) -> str:
        """Which hyperplane, and which flips."""
        turned = f", {_counted('neuron', self.flipped)} flipped" if self.flipped else ""
        return f"hyperplane of neuron {self.hidden.neuron} translated{turned}"

    @property
    def dimension(self) -> int:
        """See `HiddenHyperplane.dimension`."""
        return self.hidden.dimension

    @property
    def normals(self) -> tuple[tuple[int, ...], ...]:
        """None: the label speaks of neurons."""
        return ()

    @property
    def unknowns(self) -> int:
        """The numbers of the two layers: the only symbol is t, but they are all written."""
        network = self.hidden.network
        return sum(
            network.widths[k] * (network.widths[k - 1] + 1) for k in (self.layer, self.layer + 1)
        )

    def member(self, rng: Random | None = None) -> Network:
        """The network with these flips; with `rng`, translated at random."""
        if rng is None:
            return self.hidden.member(self.flipped)
        return self.hidden.member(self.flipped, self.hidden.random_shift(rng), rng)

    def conditions(self) -> Conditions:
        """See `hidden_conditions`."""
        return hidden_conditions(self.hidden, self.flipped)


@dataclass(frozen=True)
class Fiber:
    """Components of the set of parameters with the function of a network.

    Attributes
    ----------
    network : the network.
    components : nonempty ones, that of the network itself first; as many as were visited.
    complete : ``"all"``: all parameters of the architecture are in one of them; ``"simple"``: all with one neuron on
        each visible hyperplane; ``"generic"``: all generic ones, if the network is generic; ``"part"``: a part of them.
    reason : why it is not more, in words; empty if it is complete among all.
    """

    network: Network
    components: tuple[FiberComponent, ...]
    complete: Completeness
    reason: str

    @property
    def dimension(self) -> int | None:
        """The largest dimension of a component, modulo permutation and scaling; None if that of one is not known."""
        known = [component.dimension for component in self.components]
        return None if None in known else max(size for size in known if size is not None)

    def sample(self, rng: Random) -> Network:
        """A random member of a random component."""
        return rng.choice(self.components).member(rng)


def fiber(network: Network, domain: Polyhedron | None = None) -> Fiber:
    """The networks of the architecture of a plain stack that compute its function.

    Parameters
    ----------
    domain : for one hidden layer: where the functions have to agree; with interior, R^n if it is not given.

    Raises
    ------
    NetworkError : no plain stack, no hidden layer, or a domain for a deeper network or one that ends in a ReLU.
    DomainError : a domain without interior.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[1, -1]], [-2]), ([[1]], [0])])
    >>> found = fiber(net)
    >>> found.dimension, [component.label for component in found.components], found.complete
    (1, ['hyperplane of neuron 0 translated', 'hyperplane of neuron 0 translated, neuron 1 flipped'], 'generic')
    """
    if not network.is_plain or network.depth < 2:
        shape = network.architecture if network.is_plain else "with connections that skip layers"
        raise NetworkError(
            f"fibers are described for plain stacks with a hidden layer and weights after it, not {shape}"
        )
    if network.depth == 2 and network.last == "affine":
        return _one_hidden_layer(network, domain)
    if domain is not None:
        raise NetworkError(
            "a domain can be given for one hidden layer with an affine output only; leave it out"
        )
    failure = _no_bottleneck(network)
    if failure:
        return _parts(network, failure)
    return _bottleneck(network)


def _one_hidden_layer(network: Network, domain: Polyhedron | None) -> Fiber:
    space = LayerDomain.whole_space(network.inputs) if domain is None else LayerDomain.of(domain)
    found = layer_fiber(network, 1, space)
    components, complete, reason = _of_layer(network, 1, found)
    return Fiber(network, components, complete, reason)


def _of_layer(
    network: Network, layer: int, found: LayerFiber
) -> tuple[tuple[FiberComponent, ...], Completeness, str]:
    """The components of a layer that are not empty, how complete the list is, and why not more."""
    if found.is_alone:
        return (LayerComponent(network, layer, found.component(found.own)),), "all", ""
    no_spare = found.width == len(found.normals)  # then every assignment is simple
    every = found.width <= _ALL_ASSIGNMENTS or no_spare or not found.is_simple
    listed = found.components() if every else found.simple_components()
    most = max(1, min(_VISITED, _WORK // (found.width * found.outputs * found.domain.dimension)))
    visited = list(itertools.islice(listed, most + 1))
    own = found.component(found.own)
    parts = [
        own,
        *(
            part
            for part in visited[:most]
            if part.assignment != own.assignment and not part.is_empty
        ),
    ]
    components = tuple(LayerComponent(network, layer, part) for part in parts)
    if len(visited) > most:
        return components, "part", f"only the first {most} assignments of neurons were visited"
    return (components, "all", "") if every else (components, "simple", _SIMPLE)


def _no_bottleneck(network: Network) -> str:
    """Why the theorem on two hidden layers does not apply, or nothing."""
    if network.depth != 3 or network.last != "affine":
        return "whole fibers are known for one hidden layer, and for two with n_0 ≥ n_1 ≥ 2, and an affine output"
    if not network.inputs >= network.widths[1] >= 2:
        return "with two hidden layers, whole fibers are known for n_0 ≥ n_1 ≥ 2"
    if rank(network.weight(1)) < network.widths[1]:
        return "W[1] does not have rank n_1"
    return ""


def _bottleneck(network: Network) -> Fiber:
    hidden = hidden_hyperplane(network, 1)
    if hidden is not None:
        flips = itertools.islice(hidden.flips(), _VISITED)
        components = tuple(HiddenComponent(hidden, flipped) for flipped in flips)
        if hidden.components > _VISITED:
            return Fiber(
                network,
                components,
                "part",
                f"only {_VISITED} of {hidden.components} sets of flips are listed",
            )
        return Fiber(
            network,
            components,
            "generic",
            "complete among generic parameters if the network is generic",
        )
    found = layer_fiber(network, 2)
    if not found.normals and not found.own.linear:
        return _parts(network, "the function is constant, and every first layer can make it")
    parts, complete, reason = _of_layer(network, 2, found)
    if complete == "part":
        return Fiber(network, parts, "part", reason)
    return Fiber(
        network, parts, "generic", "complete among generic parameters if the network is generic"
    )


def _parts(network: Network, reason: str) -> Fiber:
    """Every layer's own fiber, and every hidden hyperplane, the others fixed."""
    components: list[FiberComponent] = []
    for layer in range(1, network.depth):
        found, _, _ = _of_layer(network, layer, layer_fiber(network, layer))
        components += (
            found if layer == 1 or found[0].dimension != 0 else found[1:]
        )  # a point: the network itself
        hidden = hidden_hyperplane(network, layer)
        if hidden is not None:
            components += [
                HiddenComponent(hidden, flipped)
                for flipped in itertools.islice(hidden.flips(), _VISITED)
            ]
    return Fiber(network, tuple(components), "part", reason)


def _counted(name: str, numbers: tuple[int, ...]) -> str:
    return f"{name}{'s' * (len(numbers) > 1)} {' '.join(map(str, numbers))}"
