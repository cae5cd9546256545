"""Moves: concrete other parameters with the same function, each with the evidence a checker needs.

A move is proposed only if an invariant of FORMAT.md §3.5 shows that its network is not related to
the original, and only if a checker can afford the evidence. None of the moves needs genericity;
they work between any two consecutive layers of a plain stack of any depth. Variants of a move
(other shifts, other dead rows) are proposed one after the other, so that a caller can look for a
network in a given class of parameters.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from polyrelu.errors import NetworkError
from polyrelu.exact import Polyhedron, format_rational
from polyrelu.network import Network
from polyrelu.proofs.refutations.image_box import bits_of_image_box, bounded_alternatives
from polyrelu.proofs.refutations.one_layer import one_layer_alternatives
from polyrelu.proofs.refutations.reversed_line import reversed_line
from polyrelu.proofs.refutations.settings import SETTINGS
from polyrelu.proofs.shallow.assignments import (
    can_be_visited,
    has_doubled_hyperplane,
    hyperplanes,
    other_assignment,
    why_not_visible,
)
from polyrelu.support.budget import Budget, WorkLimit
from polyrelu.support.limits import is_affordable
from polyrelu.symmetry.hidden_hyperplanes import flip, hidden_neurons, least_shift, translate
from polyrelu.symmetry.invariants import first_difference

__all__ = ["Move", "is_checkable", "moves", "replacement_theorem"]


@dataclass(frozen=True, slots=True)
class Move:
    """Another network with the same function that is not related to the original.

    Attributes
    ----------
    theorem
        The rule of FORMAT.md §3.3 that shows that the functions agree.
    evidence
        The evidence of the rule.
    other
        The other network.
    difference
        The layer whose invariants differ.
    explanation
        Why the functions agree, in one sentence.
    """

    theorem: str
    evidence: dict[str, object]
    other: Network
    difference: int
    explanation: str


#: Theorem, evidence, other network and explanation of a possible move.
_Proposal = tuple[str, dict[str, object], Network, str]


def moves(
    network: Network,
    seed: int = 0,
    budget: Budget | None = None,
    domain: Polyhedron | None = None,
) -> Iterator[Move]:
    """Yield moves of a plain stack, cheap ones first, until the work of the budget is used up.

    The functions agree on the domain; without one, on R^n.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [2]], [1, 1]), ([[1, 0]], [0])])
    >>> next(moves(net)).explanation
    'neuron 1 of layer 1 has outgoing weights 0, so its row is free'
    """
    if not network.is_plain:
        return
    try:
        proposals = _proposals(network, random.Random(seed), budget or Budget(), domain)
        for theorem, evidence, other, explanation in proposals:
            difference = first_difference(network, other)
            if difference is not None and is_checkable(network, other, theorem, evidence):
                if theorem == "replacement" and domain is None:
                    theorem = replacement_theorem(network, other, int(str(evidence["layer"])))
                yield Move(theorem, evidence, other, difference, explanation)
    except (NetworkError, WorkLimit):  # too long numbers in the other network, or no work left
        return


def is_checkable(
    network: Network, other: Network, theorem: str, evidence: dict[str, object]
) -> bool:
    """Return whether the cost of the rule is within the limits of FORMAT.md §3.6.

    Rules other than `replacement` and `line-equal` have linear cost, or their cost was compared
    with the limits when the move was proposed.
    """
    if theorem == "replacement":
        return _replacement_is_affordable(network, other, int(str(evidence["layer"])))
    if theorem == "line-equal":
        bits = max(layer.bits for layer in (*network.layers, *other.layers))
        return is_affordable(4 * network.widths[2] ** 2 * network.num_outputs, 4 * bits)
    return True


def replacement_theorem(network: Network, other: Network, layer: int) -> str:
    """Return the theorem by which two consecutive layers are replaced.

    Maps that agree on R^n, or on the orthant behind a hidden layer, agree on the box of
    `bounded-replacement`. So this is the theorem, unless its box is beyond the checker's limits.
    """
    bits = bits_of_image_box(network, layer - 1)
    if bits is None:
        return "replacement"
    bits = max(bits, *(net.layers[layer - 1].bits for net in (network, other)))
    fits = _replacement_is_affordable(network, other, layer, 2 * bits)
    return "bounded-replacement" if fits else "replacement"


def _replacement_is_affordable(
    network: Network, other: Network, layer: int, bits_of_box: int = 0
) -> bool:
    """Return whether the checker can compare the maps of two consecutive layers.

    Each neuron costs one coefficient per output. Neurons that both networks share cancel, so only
    the others cost more than that.
    """
    rows, columns = [], []
    for net in (network, other):
        rows.append(net.layers[layer - 1].augmented().rows())
        columns.append(net.weight(layer + 1).transpose().rows())
    neurons = zip(*rows, *columns, strict=True)
    differing = sum(
        (row, column) != (new_row, new_column) for row, new_row, column, new_column in neurons
    )
    pair = (layer - 1, layer)
    bits = 16 + sum(net.layers[number].bits for net in (network, other) for number in pair)
    bits += 2 * bits_of_box  # once in the coefficients, once in the rows
    before, own, after = network.widths[layer - 1 : layer + 2]
    return is_affordable(2 * differing * before * after, bits) and is_affordable(
        2 * own * after, bits
    )


def _proposals(
    network: Network, rng: random.Random, budget: Budget, domain: Polyhedron | None
) -> Iterator[_Proposal]:
    """Yield possible moves; their networks may still be related to the original."""
    for layer in range(1, network.depth):
        yield from _hiding_proposals(network, layer, rng)
        for explanation, other in one_layer_alternatives(network, layer, rng, budget):
            yield "replacement", {"layer": layer}, other, explanation
    yield from _assignment_proposals(network, budget)
    turned = reversed_line(network)
    if turned is not None:
        explanation = (
            "the function of one variable is constant on both sides, so it can be read from the "
            "other side"
        )
        yield "line-equal", {}, turned, explanation
    yield from _bounded_proposals(network, rng, domain)


def _bounded_proposals(
    network: Network, rng: random.Random, domain: Polyhedron | None
) -> Iterator[_Proposal]:
    """Yield moves by neurons that are dead or linear on the image box of the layer before."""
    for layer, explanation, other, bits in bounded_alternatives(network, rng, domain):
        if is_affordable(2 * network.widths[layer] * (network.widths[layer - 1] + 1), bits) and (
            _replacement_is_affordable(network, other, layer, bits)
        ):
            yield "bounded-replacement", {"layer": layer}, other, explanation


def _assignment_proposals(network: Network, budget: Budget) -> Iterator[_Proposal]:
    """Yield the move of a shallow network to other neurons on the same hyperplanes."""
    if network.depth != 2 or network.last != "affine" or why_not_visible(network) is not None:
        return
    if not has_doubled_hyperplane(network):
        return
    planes = hyperplanes(network)
    if can_be_visited(network, planes):
        other = other_assignment(network, planes, budget)
        if other is not None:
            explanation = (
                "other neurons on the same hyperplanes give the same breakpoints and linear part"
            )
            yield "replacement", {"layer": 1}, other, explanation


def _hiding_proposals(network: Network, layer: int, rng: random.Random) -> Iterator[_Proposal]:
    """Yield translations and flips of hidden hyperplanes."""
    for neuron in hidden_neurons(network, layer):
        least = least_shift(network, layer, neuron)
        for _ in range(SETTINGS.num_shifts):
            shift = _random_shift(least, rng)
            other = translate(network, layer, neuron, shift)
            explanation = (
                f"layer {layer + 1} hides neuron {neuron} of layer {layer}, whose hyperplane can "
                "be translated"
            )
            moved = {"layer": layer, "neuron": neuron, "shift": format_rational(shift)}
            yield "translation", moved, other, explanation
        others = [k for k in range(network.widths[layer]) if k != neuron]
        if network.widths[layer + 1] == 1 and others:
            evidence: dict[str, object] = {"layer": layer, "neuron": neuron, "flipped": others[:1]}
            explanation = (
                f"layer {layer + 1} is one neuron that hides neuron {neuron} of layer {layer}; "
                "others can be flipped"
            )
            yield "flip", evidence, flip(network, layer, neuron, others[:1]), explanation


def _random_shift(least: Fraction, rng: random.Random) -> Fraction:
    """Return a nonzero admissible shift of about the size of the least one."""
    size = -least if least < 0 else Fraction(1)
    return size * Fraction(rng.randint(1, 15), 16)
