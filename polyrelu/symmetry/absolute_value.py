"""The absolute-value normal form of a network with one hidden layer.

Two networks with one hidden layer, of any widths, have the same function on a domain if and only if
their normal forms on it are equal. The domain is the whole space, the orthant u ≥ 0 on which the
later layers of a network act, or a polyhedron with interior.

Since σ(t) = (t + |t|)/2, the function u ↦ V σ(W u + b) + c equals Σ_h C_h |h·(u,1)| + M u + m on a
domain with interior, where the sum is over the distinct hyperplanes h that meet the interior;
neurons whose hyperplane does not meet the interior are affine there. Terms with C_h = 0 are
dropped. Each |h·(u,1)| with C_h ≠ 0 is the only term that is not smooth at a general point of its
hyperplane, so that the function determines the normal form. No genericity is needed. This is
Definition 2 of the three-layer paper (arXiv 2605.18319) without a base region.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from polyrelu.errors import DomainError, NetworkError
from polyrelu.exact import RationalMatrix, primitive
from polyrelu.network import Layer
from polyrelu.support.arguments import expect
from polyrelu.support.display import bracketed, count_text
from polyrelu.support.typing import Vector
from polyrelu.symmetry.layer_domain import LayerDomain

__all__ = ["AbsoluteValueForm", "absolute_value_form", "absolute_value_form_on"]

#: How to make what the functions take.
_LAYERS = "Network.layers lists the layers of a network"
_DOMAINS = "LayerDomain.of(polyhedron) makes one"


@dataclass(frozen=True, slots=True, repr=False)
class AbsoluteValueForm:
    """The function Σ_h C_h |h·(u,1)| + M u + m of n variables with m values.

    Attributes
    ----------
    terms
        The vector C_h ≠ 0, shape (m,), for each primitive integer row h, shape (n + 1,), whose
        first nonzero entry is positive.
    matrix
        The linear part M as rows of fractions, shape (m, n).
    offset
        The constant part m, shape (m,).

    Notes
    -----
    Source: the three-layer paper (2026), Definition 2, arXiv 2605.18319.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [3])])
    >>> form = absolute_value_form(*net.layers)
    >>> form.terms, form.offset
    ({(1, 0): (Fraction(1, 1),)}, (Fraction(3, 1),))
    """

    terms: dict[tuple[int, ...], Vector]
    matrix: tuple[Vector, ...]
    offset: Vector

    def __repr__(self) -> str:
        counts = [(len(self.terms), "term"), (len(self.offset), "output")]
        if self.matrix:
            counts.insert(1, (len(self.matrix[0]), "input"))
        return bracketed(f"{type(self).__name__}, {count_text(counts)}")


def absolute_value_form(hidden: Layer, outgoing: Layer) -> AbsoluteValueForm:
    """Compute the normal form of u ↦ V σ(W u + b) + c on R^n.

    Parameters
    ----------
    hidden
        The layer with weights W, shape (n_1, n), and bias b.
    outgoing
        The layer with weights V, shape (m, n_1), and bias c.

    Returns
    -------
    AbsoluteValueForm
        The normal form; networks with the same function have equal ones.

    Raises
    ------
    NetworkError
        The layers do not fit together.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])
    >>> absolute_value_form(*net.layers).terms
    {(1, 0): (Fraction(1, 1),)}
    """
    hidden = expect(hidden, Layer, "hidden", _LAYERS)
    return absolute_value_form_on(hidden, outgoing, LayerDomain.whole_space(hidden.weight.ncols))


def absolute_value_form_on(
    hidden: Layer, outgoing: Layer, domain: LayerDomain
) -> AbsoluteValueForm:
    """Compute the normal form of u ↦ V σ(W u + b) + c on a domain with interior.

    Parameters
    ----------
    hidden
        The layer with weights W, shape (n_1, n), and bias b.
    outgoing
        The layer with weights V, shape (m, n_1), and bias c.
    domain
        The domain, of dimension n.

    Returns
    -------
    AbsoluteValueForm
        The normal form; networks with the same function on the domain have equal ones.

    Raises
    ------
    NetworkError
        The layers do not fit together.
    DomainError
        The domain has another dimension.

    Examples
    --------
    >>> from polyrelu.exact import Polyhedron
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[1], [1]], [0, -2]), ([[1, 1]], [0])])
    >>> absolute_value_form_on(*net.layers, LayerDomain.of(Polyhedron.box([-1], [1]))).terms
    {(1, 0): (Fraction(1, 2),)}
    """
    hidden = expect(hidden, Layer, "hidden", _LAYERS)
    outgoing = expect(outgoing, Layer, "outgoing", _LAYERS)
    domain = expect(domain, LayerDomain, "domain", _DOMAINS)
    if outgoing.weight.ncols != hidden.width:
        raise NetworkError(
            f"outgoing: a layer that reads {outgoing.weight.ncols} neurons, "
            f"but the hidden layer has {hidden.width}"
        )
    if domain.dimension != hidden.weight.ncols:
        raise DomainError(
            f"domain: it lies in R^{domain.dimension}, but the layer reads R^{hidden.weight.ncols}"
        )
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
