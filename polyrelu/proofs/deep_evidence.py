"""Theorem D: what a certificate lists of some ridges (FORMAT.md §3.9).

A ridge stands there as its two neurons, the mask of the neurons that are on, and a plane in which all coordinates but
two have given values: it meets the ridge in a point, which the checker works out. So the point itself, whose
coordinates are long, does not appear, and the given values may be rounded as long as the plane still meets the ridge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyrelu.exact import format_integer, format_rational
from polyrelu.network import NeuronId
from polyrelu.proofs.deep_neurons import Portrait, joins_in_order
from polyrelu.proofs.deep_ridges import Ridge, Space, flat_signs

__all__ = ["families_evidence", "ridges_evidence"]


def ridges_evidence(space: Space, ridges: Sequence[Ridge]) -> tuple[dict[str, Any], list[Ridge]]:
    """The slices with their ridges, and the ridges in the order in which they stand there."""
    slices: dict[tuple[tuple[int, int], tuple[str, ...]], list[Ridge]] = {}
    for ridge in ridges:
        axes, fixed = _plane(space, ridge)
        slices.setdefault((axes, tuple(map(format_rational, fixed))), []).append(ridge)
    listed = [
        {"axes": list(axes), "fixed": list(fixed), "ridges": [_ridge(space, ridge) for ridge in own]}
        for (axes, fixed), own in slices.items()
    ]
    return {"slices": listed}, [ridge for own in slices.values() for ridge in own]


def families_evidence(space: Space, ridges: Sequence[Ridge], known: dict[NeuronId, Portrait]) -> dict[str, Any]:
    """For each neuron a ridge of its chosen family, then neurons and ridges of the families that are joined."""
    network = space.network
    first = {piece: i for i, ridge in reversed(list(enumerate(ridges))) for link in ridge.links for piece in link}
    first |= {ridge.crossing.u: i for i, ridge in reversed(list(enumerate(ridges))) if ridge.crossing is not None}
    chosen = [
        next(first[piece] for piece in known[neuron].families[0].pieces if piece in first)
        for neuron in network.neurons()
    ]
    joined = [
        [space.part.place(family.neuron), next(first[piece] for piece in family.pieces if piece in first)]
        for family in joins_in_order(network, known)
    ]
    return {"chosen": chosen, "joined": joined}


def _ridge(space: Space, ridge: Ridge) -> list[Any]:
    mask = sum(1 << place for place, sign in enumerate(flat_signs(ridge.signs).tolist()) if sign > 0)
    return [space.part.place(ridge.u), space.part.place(ridge.v), format_integer(mask)]


def _plane(space: Space, ridge: Ridge) -> tuple[tuple[int, int], list[Fraction]]:
    """Two axes, and the other coordinates of a point on the ridge, with as few digits as they can have."""
    signs = flat_signs(ridge.signs)
    forms = _forms(space, signs)
    u, v = space.part.place(ridge.u), space.part.place(ridge.v)
    axes = _axes(forms, u, v)
    others = [k for k in range(len(ridge.point)) if k not in axes]
    exact = [ridge.point[k] for k in others]
    for digits in (0, 1, 2, 3, 4, 6, 8, 11, 15, 20, 30, 45, 70, 100):
        rounded = [Fraction(round(x * 2**digits), 2**digits) for x in exact]
        if _meets(forms, signs, (u, v), axes, others, rounded):
            return axes, rounded
    return axes, exact


def _forms(space: Space, signs: NDArray[np.int8]) -> list[list[int]]:
    """Of all hidden neurons on the cell, as integers; only their signs matter."""
    layers = (space.part.forms(signs, layer) for layer in range(1, space.network.depth))
    return [row for forms in layers for row in forms.integer_rows()]


def _axes(forms: Sequence[Sequence[int]], u: int, v: int) -> tuple[int, int]:
    """Two coordinates in which u and v are independent, the largest ones in floats that are."""
    count = len(forms[u]) - 1
    a, b = (np.array([float(Fraction(x, max(map(abs, forms[w])))) for x in forms[w][:-1]]) for w in (u, v))
    sizes = np.triu(np.abs(np.outer(a, b) - np.outer(b, a)), 1)
    for place in np.argsort(-sizes, axis=None, kind="stable").tolist():
        i, k = divmod(place, count)
        if i < k and forms[u][i] * forms[v][k] != forms[u][k] * forms[v][i]:
            return i, k
    raise ValueError("the gradients at a ridge are independent")  # `ridge_at` made sure of it


def _meets(
    forms: Sequence[Sequence[int]],
    signs: NDArray[np.int8],
    zeros: tuple[int, int],
    axes: tuple[int, int],
    others: Sequence[int],
    values: Sequence[Fraction],
) -> bool:
    """Whether the point of the plane where both neurons vanish lies on the ridge."""
    common = math.lcm(*(x.denominator for x in values))
    scaled = [x.numerator * (common // x.denominator) for x in values]
    plane = [
        (sum(row[k] * x for k, x in zip(others, scaled, strict=True)) + row[-1] * common,
         row[axes[0]] * common, row[axes[1]] * common)
        for row in forms
    ]  # fmt: skip
    (c, a, b), (z, x, y) = (plane[w] for w in zeros)
    point = a * y - b * x, b * z - c * y, c * x - a * z
    side = 1 if point[0] > 0 else -1
    values_there = (side * sum(f * p for f, p in zip(form, point, strict=True)) for form in plane)
    return all((value > 0) - (value < 0) == sign for value, sign in zip(values_there, signs.tolist(), strict=True))
