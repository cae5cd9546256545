"""The absolute-value normal form of a network with one hidden layer.

σ(t) = (t + |t|)/2, so u ↦ V σ(W u + b) + c equals Σ_h C_h |h·(u,1)| + M u + m on a domain with interior, the sum
over the distinct hyperplanes h that meet the interior; neurons whose hyperplane does not are affine there. Terms
with C_h = 0 are dropped. Functions of two such networks, of any widths, agree on the domain iff their normal forms
are equal: each |h·(u,1)| with C_h ≠ 0 is the only term that is not smooth at a general point of its hyperplane. No
genericity is needed. (Three-layer symmetries, Definition 2, without a base region.)

The domain is the whole space, the orthant u ≥ 0 on which the later layers of a network act, or a polyhedron.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from polyrelu.exact import RationalMatrix, primitive
from polyrelu.network import Layer
from polyrelu.support.typing import Vector
from polyrelu.symmetry.layer_domain import LayerDomain

__all__ = ["AbsoluteValueForm", "absolute_value_form", "absolute_value_form_on"]


@dataclass(frozen=True, slots=True)
class AbsoluteValueForm:
    """Σ_h C_h |h·(u,1)| + M u + m.

    Attributes
    ----------
    terms : C_h ∈ Q^m for each primitive integer row h, its first nonzero entry positive.
    matrix, offset : M of shape (m, n) and m as rows of fractions.
    """

    terms: dict[tuple[int, ...], Vector]
    matrix: tuple[Vector, ...]
    offset: Vector


def absolute_value_form(hidden: Layer, outgoing: Layer) -> AbsoluteValueForm:
    """The normal form of u ↦ V σ(W u + b) + c on R^n.

    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    >>> absolute_value_form(*net.layers).terms
    {(1, 0): (Fraction(1, 1),)}
    """
    return absolute_value_form_on(hidden, outgoing, LayerDomain.whole_space(hidden.weight.ncols))


def absolute_value_form_on(
    hidden: Layer, outgoing: Layer, domain: LayerDomain
) -> AbsoluteValueForm:
    """The normal form on any domain with interior.

    >>> from polyrelu.exact import Polyhedron
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [0, -2]), ([[1, 1]], [0])])
    >>> absolute_value_form_on(*net.layers, LayerDomain.of(Polyhedron.box([-1], [1]))).terms
    {(1, 0): (Fraction(1, 2),)}
    """
    rows = hidden.augmented().rows()
    columns = outgoing.weight.transpose().rows()
    terms: dict[tuple[int, ...], Vector] = {}
    affine_rows: list[Vector] = []
    for row, column in zip(rows, columns, strict=True):
        sign = domain.sign(row)
        if sign:
            affine_rows.append(row if sign > 0 else (Fraction(),) * len(row))
            continue
        half = tuple(entry / 2 for entry in row)
        affine_rows.append(half)
        normal, scale = primitive(half)
        before = terms.get(normal, (Fraction(),) * len(column))
        terms[normal] = tuple(t + abs(scale) * v for t, v in zip(before, column, strict=True))
    affine = outgoing.weight @ RationalMatrix.from_rows(affine_rows)
    table = affine.rows()
    return AbsoluteValueForm(
        {normal: vector for normal, vector in terms.items() if any(vector)},
        tuple(row[:-1] for row in table),
        tuple(row[-1] + c for row, c in zip(table, outgoing.bias.entries(), strict=True)),
    )
