"""All cells of the canonical polyhedral complex of a ReLU network on a polyhedron, by brute force.

Like `cells`, but the network may have skip connections, and the domain is {x ∈ R^n : inequalities,
equations} with rows [a | c] that mean a·x ≤ c or a·x = c. The domain's affine space is cut by its
constraints, then neuron by neuron. Every part is relatively open, so an affine function h takes on
it a constant value or all values of an open interval, and PPL's infimum and supremum of h tell
which of the parts h > 0, h = 0, h < 0 are not empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

from tests.oracles.parma import Linear_Expression, NNC_Polyhedron
from tests.oracles.plain import Matrix, Network, SignVector, Vector, apply_affine, compose

Row = tuple[int, ...]
Point = tuple[Fraction, ...]
#: Signs of c - a·x for all inequalities of the domain, then of all hidden neurons.
Key = SignVector
#: Weights on earlier layers (0: the input) and the bias.
Layer = tuple[list[tuple[int, Matrix]], Vector]


class Domain(NamedTuple):
    """{x ∈ R^columns : a·x ≤ c for the inequalities [a | c], a·x = c for the equations}."""

    columns: int
    inequalities: Sequence[Row] = ()
    equations: Sequence[Row] = ()


class Cell(NamedTuple):
    """A cell; the corners (one point for each minimal face) are vertices if there are no lines."""

    dimension: int
    point: Point
    corners: frozenset[Point]
    rays: frozenset[Row]
    lines: int


class _Part(NamedTuple):
    """A relatively open part, its signs so far and the forms [A | c] of all activations so far."""

    polyhedron: Any
    signs: SignVector
    activations: list[list[list[int]]]


def hidden_layers(layers: Network) -> list[Layer]:
    """The hidden layers of a plain stack."""
    return [([(number, weights)], bias) for number, (weights, bias) in enumerate(layers[:-1])]


def sign_key(hidden: Sequence[Layer], domain: Domain, x: Sequence[Fraction]) -> Key:
    """The signs at a point of the domain."""
    rooms = [row[-1] - _dot(row[:-1], x) for row in domain.inequalities]
    activations, values = [list(x)], list(rooms)
    for blocks, bias in hidden:
        z = list(bias)
        for source, weights in blocks:
            z = apply_affine(weights, z, activations[source])
        values += z
        activations.append([max(value, Fraction(0)) for value in z])
    return tuple((value > 0) - (value < 0) for value in values)


def cells_on_domain(hidden: Sequence[Layer], domain: Domain) -> dict[Key, Cell]:
    """All cells, keyed by their signs."""
    n = domain.columns
    start = NNC_Polyhedron(n, "universe")
    for row in domain.equations:
        start.add_constraint(_form([*(-a for a in row[:-1]), row[-1]]) == 0)
    if start.is_empty():
        return {}
    parts = [_Part(start, (), [[[int(i == j) for j in range(n + 1)] for i in range(n)]])]
    for row in domain.inequalities:
        form = [*(-a for a in row[:-1]), row[-1]]
        parts = [
            refined for part in parts for refined in _cut(part, form) if refined.signs[-1] >= 0
        ]
    for blocks, bias in _integer_form(hidden):
        parts = [refined for part in parts for refined in _cut_by_layer(part, blocks, bias)]
    return {part.signs: _checked_cell(hidden, domain, part) for part in parts}


def _integer_form(
    hidden: Sequence[Layer],
) -> Iterator[tuple[list[tuple[int, list[list[int]]]], list[int]]]:
    """Integer layers whose preactivations are positive multiples of the true ones.

    Each layer has one factor.
    """
    scales = [1]
    for blocks, bias in hidden:
        entries = [entry for _, weights in blocks for row in weights for entry in row]
        scales.append(scales[-1] * lcm(*(entry.denominator for entry in [*entries, *bias])))
        integers = [
            (
                source,
                [[int(entry * (scales[-1] // scales[source])) for entry in row] for row in weights],
            )
            for source, weights in blocks
        ]
        yield integers, [int(entry * scales[-1]) for entry in bias]


def _cut_by_layer(
    part: _Part, blocks: list[tuple[int, list[list[int]]]], bias: list[int]
) -> list[_Part]:
    columns = part.polyhedron.space_dimension() + 1
    rows = [[*[0] * (columns - 1), entry] for entry in bias]
    for source, weights in blocks:
        added = compose(weights, [0] * len(bias), part.activations[source], columns)
        rows = [
            [a + b for a, b in zip(row, more, strict=True)]
            for row, more in zip(rows, added, strict=True)
        ]
    refined = [part]
    for row in rows:
        refined = [piece for old in refined for piece in _cut(old, row)]
    return [_with_activations(piece, rows) for piece in refined]


def _with_activations(part: _Part, rows: list[list[int]]) -> _Part:
    """The part after a layer with these preactivations."""
    signs = part.signs[len(part.signs) - len(rows) :]
    active = [row if sign > 0 else [0] * len(row) for row, sign in zip(rows, signs, strict=True)]
    return _Part(part.polyhedron, part.signs, [*part.activations, active])


def _cut(part: _Part, row: list[int]) -> Iterator[_Part]:
    """The parts where a form is positive, zero, negative; those that are not empty."""
    h = _form(row)
    above, below = part.polyhedron.maximize(h), part.polyhedron.minimize(h)
    positive = not above["bounded"] or above["sup_n"] > 0
    negative = not below["bounded"] or below["inf_n"] < 0
    if not (positive and negative):
        yield _Part(part.polyhedron, (*part.signs, int(positive) - int(negative)), part.activations)
    else:
        for sign, constraint in ((1, h > 0), (0, h == 0), (-1, h < 0)):
            side = NNC_Polyhedron(part.polyhedron)
            side.add_constraint(constraint)
            yield _Part(side, (*part.signs, sign), part.activations)


def _checked_cell(hidden: Sequence[Layer], domain: Domain, part: _Part) -> Cell:
    """The finished cell; its point is verified on the original network, without PPL."""
    corners: list[Point] = []
    inside: list[Point] = []
    rays, lines = [], 0
    for generator in part.polyhedron.minimized_generators():
        coefficients = [int(entry) for entry in generator.coefficients()]
        if generator.is_ray():
            rays.append(tuple(coefficients))
        elif generator.is_line():
            lines += 1
        else:
            found = inside if generator.is_point() else corners
            found.append(tuple(Fraction(entry, int(generator.divisor())) for entry in coefficients))
    corners = corners or inside
    total = [sum(column, Fraction(0)) for column in zip(*corners, strict=True)]
    point = tuple(
        entry / len(corners) + sum(ray[j] for ray in rays) for j, entry in enumerate(total)
    )
    if sign_key(hidden, domain, point) != part.signs:
        raise AssertionError(f"point {point} does not lie in the cell {part.signs}")
    return Cell(
        int(part.polyhedron.affine_dimension()), point, frozenset(corners), frozenset(rays), lines
    )


def _dot(row: Sequence[int], x: Sequence[Fraction]) -> Fraction:
    return sum((a * entry for a, entry in zip(row, x, strict=True)), Fraction(0))


def _form(row: Sequence[int]) -> Any:
    return Linear_Expression(list(row[:-1]), row[-1])
