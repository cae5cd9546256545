"""Other networks from the fibers of narrow layers, for refutations that no simple move finds.

Every component of a layer's fiber is tried: other orientations, several neurons on one hyperplane,
neurons that cancel, linear and dead neurons. Each network found differs in two consecutive layers
whose common map is unchanged, so it is a replacement in the sense of FORMAT.md §3.3. The number of
components grows exponentially with the width, so wide layers are skipped.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from random import Random

from polyrelu.errors import NetworkError
from polyrelu.fibers.layer import Component, layer_fiber, random_layer
from polyrelu.network import Network
from polyrelu.proofs.refutations.moves import Move, is_checkable, replacement_theorem
from polyrelu.proofs.refutations.settings import SETTINGS
from polyrelu.support.budget import Budget, WorkLimit
from polyrelu.support.prices import price_of_component
from polyrelu.symmetry import first_difference

__all__ = ["fiber_moves"]


def fiber_moves(network: Network, seed: int = 0, budget: Budget | None = None) -> Iterator[Move]:
    """Yield networks that differ from a plain stack in two consecutive layers with the same map.

    They are random members of the components of the layers' fibers, and not related to the plain
    stack. The work of the budget may end them. The example is |y - 1| for y = max(x, 0).

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1]], [0]), ([[1], [-1]], [-1, 1]), ([[1, 1]], [0])])
    >>> [move.explanation for move in itertools.islice(fiber_moves(net), 1)]
    ['layer 2 has the same map with neurons of other kinds: 1 linear']
    """
    if not network.is_plain:
        return
    rng, limits = Random(seed), budget or Budget()
    with contextlib.suppress(WorkLimit):
        yield from _fiber_moves(network, rng, limits)


def _fiber_moves(network: Network, rng: Random, budget: Budget) -> Iterator[Move]:
    """Yield the moves of `fiber_moves`, and pay for each component."""
    for layer in range(1, network.depth):
        if network.widths[layer] > SETTINGS.max_fiber_width:
            continue
        price = price_of_component(network.widths[layer - 1], network.widths[layer + 1])
        budget.spend(price)
        fiber = layer_fiber(network, layer)
        for component in itertools.islice(fiber.components(), SETTINGS.max_fiber_components):
            budget.spend(price)
            is_own = component.assignment == fiber.given_assignment
            if component.is_empty or (is_own and not _may_have_other_members(component)):
                continue
            how = "in other ways" if is_own else "with neurons of other kinds"
            move = _move(network, layer, component, rng, how)
            if move is not None:
                yield move


def _move(network: Network, layer: int, component: Component, rng: Random, how: str) -> Move | None:
    """Return a random member of a component as a move; None if related or too expensive."""
    member = random_layer(component, rng)
    if member is None:
        return None
    hidden, outgoing = member.layers(layer - 1)
    try:
        other = network.replace_layers({layer: hidden, layer + 1: outgoing})
        difference = first_difference(network, other)
    except NetworkError:  # its numbers are too long for a file
        return None
    evidence: dict[str, object] = {"layer": layer}
    if difference is None or not is_checkable(network, other, "replacement", evidence):
        return None
    explanation = f"layer {layer} has the same map {how}: {_kinds_of_neurons(component)}"
    theorem = replacement_theorem(network, other, layer)
    return Move(theorem, evidence, other, difference, explanation)


def _may_have_other_members(component: Component) -> bool:
    """Return whether the component may be more than one point."""
    if component.fiber.domain.lines and component.fiber.domain.kind != "space":
        return True
    return bool(component.dimension)


def _kinds_of_neurons(component: Component) -> str:
    """Describe the neurons of a component in words."""
    given = component.assignment
    parts = [f"{plus}+{minus} on a hyperplane" for plus, minus in given.visible if plus + minus > 1]
    parts += [f"{plus}+{minus} that cancel" for plus, minus in given.groups]
    parts += [
        f"{count} {name}"
        for count, name in ((given.num_linear, "linear"), (given.num_dead, "dead"))
        if count
    ]
    return ", ".join(parts) or "other orientations"
