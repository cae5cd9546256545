"""Other networks from the fibers of narrow layers, for refutations that no simple move finds.

Every component of a layer's fiber is tried: other orientations, several neurons on one hyperplane, neurons that cancel,
linear and dead ones. What is found changes two consecutive layers and keeps their map, so it is a replacement in the
sense of FORMAT.md §3.3.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random

from polyrelu.errors import NetworkError
from polyrelu.fibers.layer import Component, layer_fiber
from polyrelu.network import Network
from polyrelu.proofs.refutations.moves import Move, is_checkable
from polyrelu.symmetry import first_difference

__all__ = ["fiber_moves"]

#: Layers of so many neurons are tried, and so many components of each.
_WIDTH = 6
_COMPONENTS = 400


def fiber_moves(network: Network, seed: int = 0) -> Iterator[Move]:
    """Networks that differ from a plain stack in two consecutive layers, from all components of their fibers.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1]], [0]), ([[1], [-1]], [-1, 1]), ([[1, 1]], [0])])    # |y - 1| for y = max(x, 0)
    >>> [move.explanation for move in itertools.islice(fiber_moves(net), 1)]
    ['layer 2 has the same map with neurons of other kinds: 1 linear']
    """
    if not network.is_plain:
        return
    rng = Random(seed)
    for layer in range(1, network.depth):
        if network.widths[layer] > _WIDTH:
            continue
        fiber = layer_fiber(network, layer)
        for component in itertools.islice(fiber.components(), _COMPONENTS):
            is_own = component.assignment == fiber.own
            if component.is_empty or (is_own and not _has_room(component)):
                continue
            move = _move(
                network,
                layer,
                component,
                rng,
                "in other ways" if is_own else "with neurons of other kinds",
            )
            if move is not None:
                yield move


def _move(network: Network, layer: int, component: Component, rng: Random, how: str) -> Move | None:
    """A random member as a move, if it is not related and a checker can afford it."""
    member = component.member(rng)
    if member is None:
        return None
    hidden, outgoing = member.layers(layer - 1)
    try:
        other = network.replace_layers({layer: hidden, layer + 1: outgoing})
        difference = first_difference(network, other)
    except NetworkError:  # numbers longer than the files hold: there is no network to show
        return None
    evidence: dict[str, object] = {"layer": layer}
    if difference is None or not is_checkable(network, other, "replacement", evidence):
        return None
    explanation = f"layer {layer} has the same map {how}: {_kinds(component)}"
    return Move("replacement", evidence, other, difference, explanation)


def _has_room(component: Component) -> bool:
    """Whether the component is more than one point; where that is not known, it may be."""
    if component.fiber.domain.lines and component.fiber.domain.kind != "space":
        return True
    return bool(component.dimension)


def _kinds(component: Component) -> str:
    given = component.assignment
    parts = [f"{plus}+{minus} on a hyperplane" for plus, minus in given.visible if plus + minus > 1]
    parts += [f"{plus}+{minus} that cancel" for plus, minus in given.groups]
    parts += [
        f"{count} {name}"
        for count, name in ((given.linear, "linear"), (given.dead, "dead"))
        if count
    ]
    return ", ".join(parts) or "other orientations"
