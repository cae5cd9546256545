"""Lipschitz constants: the largest operator norm of a region, decided exactly.

For the norms l1 and linf operator norms are rational. For l2 a constant L holds on a region with
derivative J exactly if L² I - JᵀJ has no direction of negative value, which elimination decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from polyrelu.audit.bounds import network_and_domain
from polyrelu.audit.comparing import Question, report_of
from polyrelu.audit.extremes import has_few_regions
from polyrelu.audit.findings import Finding, Verdict, number_text
from polyrelu.audit.ground_truth import GroundTruth, NetworkOrTruth, ground_truth
from polyrelu.audit.reports import AuditReport
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.exact import Rational, RationalMatrix, primitive, to_fraction
from polyrelu.formats import DomainLike
from polyrelu.network import Network
from polyrelu.support.arguments import expect_choice
from polyrelu.support.typing import Vector

__all__ = ["audit_lipschitz", "negative_direction"]

_NORMS = ("l1", "l2", "linf")


def audit_lipschitz(
    network: NetworkOrTruth,
    constant: Rational,
    domain: DomainLike = None,
    *,
    norm: str = "l2",
) -> AuditReport:
    """Decide whether a Lipschitz constant holds on a domain.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, or the result of `ground_truth`.
    constant
        The constant L with |f(x) - f(y)| ≤ L |x - y|.
    domain
        A polyhedron with an interior, or a text such as ``"box:-1,1"``; None for the whole space,
        or the domain of a `GroundTruth`.
    norm
        ``l1``, ``l2`` or ``linf``, for inputs and outputs.

    Returns
    -------
    AuditReport
        One verdict. Without a small exact complex a constant is *right* if the product of the norms
        of the layers proves it, and otherwise compared with the derivatives at some points.

    Raises
    ------
    DomainError
        The domain has no interior.
    ArgumentError
        The constant is negative, or the norm is unknown.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> net = from_arrays([([[3, 4], [-3, -4]], [0, 0]), ([[1, 1]], [0])])
    >>> audit_lipschitz(net, 5).agrees, audit_lipschitz(net, 4.99).agrees
    (True, False)
    """
    expect_choice(norm, _NORMS, "norm")
    bound = to_fraction(constant)
    if bound < 0:
        raise ArgumentError("constant: a Lipschitz constant is 0 or more")
    exact, polyhedron = network_and_domain(network, domain)
    if polyhedron.dimension < exact.num_inputs:
        raise DomainError("domain: a Lipschitz constant is about a domain with an interior")
    few = isinstance(network, GroundTruth) or has_few_regions(exact)
    if few:
        truth = network if isinstance(network, GroundTruth) else ground_truth(exact, polyhedron)
        found, proved = _on_regions(truth, bound, norm), True
    else:
        point = polyhedron.interior_point()
        assert point is not None  # the domain has an interior
        jacobian = exact.affine_map_at(point).matrix
        direction = _violation(jacobian, bound, norm)
        found = None if direction is None else (jacobian, point, direction)
        proved = found is None and _product_of_norms(exact, norm) <= bound
    verdict: Verdict = "wrong" if found else "right" if proved else "not refuted"

    def explain(_: int) -> Finding:
        """Return the finding about an item."""
        if found is None:
            message = f"{constant} ({norm}): neither a point nor the norms of the layers decide"
            return Finding("Lipschitz constant", verdict, message, 0)
        return _explained(constant, norm, *found)

    rule = "a constant is right if it holds for all pairs of points, without any tolerance"
    return report_of("Lipschitz constants", [verdict], explain, Question(), rule)


Violation = tuple[RationalMatrix, tuple[Fraction, ...], Vector]


def _on_regions(truth: GroundTruth, bound: Fraction, norm: str) -> Violation | None:
    """Return derivative, point and direction of a region where a constant fails."""
    denominator, maps = truth.maps
    seen: set[bytes] = set()
    for region in range(truth.num_regions):
        rows = maps[region][:, :-1].tolist()
        key = repr(rows).encode()
        if key in seen:
            continue
        seen.add(key)
        jacobian = RationalMatrix.from_integers(rows, denominator)
        direction = _violation(jacobian, bound, norm)
        if direction is not None:
            return jacobian, truth.point_in(region), direction
    return None


def _violation(jacobian: RationalMatrix, bound: Fraction, norm: str) -> Vector | None:
    """Return a direction v with |J v| > L |v|; None if there is none."""
    if norm == "l2":
        square = jacobian.transpose() @ jacobian
        rows = [[-entry for entry in row] for row in square.rows()]
        for i in range(len(rows)):
            rows[i][i] += bound * bound
        return negative_direction(rows)
    rows = [list(row) for row in jacobian.rows()]
    if norm == "linf":
        for row in rows:
            if sum(map(abs, row)) > bound:
                return tuple(Fraction((x > 0) - (x < 0)) for x in row)
        return None
    for j, column in enumerate(zip(*rows, strict=True)):
        if sum(map(abs, column)) > bound:
            return tuple(Fraction(int(i == j)) for i in range(jacobian.ncols))
    return None


def negative_direction(matrix: Sequence[Sequence[Fraction]]) -> Vector | None:
    """Return a vector v with vᵀ S v < 0 for a symmetric matrix; None if there is none.

    >>> negative_direction([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(1)]])
    (Fraction(-2, 1), Fraction(1, 1))
    """
    size = len(matrix)
    rest = [list(map(Fraction, row)) for row in matrix]
    # Columns of `basis` express the coordinates that are left in the original ones.
    basis = [[Fraction(int(i == j)) for i in range(size)] for j in range(size)]
    while rest:
        for i in range(len(rest)):
            if rest[i][i] < 0:
                return tuple(basis[i])
        k = next((i for i in range(len(rest)) if rest[i][i]), None)
        if k is None:
            return _in_flat_part(rest, basis)
        pivot, row, vector = rest[k][k], rest[k], basis[k]
        others = [i for i in range(len(rest)) if i != k]
        basis = [
            [b - row[i] / pivot * v for b, v in zip(basis[i], vector, strict=True)] for i in others
        ]
        rest = [[rest[i][j] - row[i] * row[j] / pivot for j in others] for i in others]
    return None


def _in_flat_part(rest: list[list[Fraction]], basis: list[list[Fraction]]) -> Vector | None:
    """Return a direction of negative value of a matrix with a zero diagonal."""
    for i in range(len(rest)):
        for j in range(i):
            if rest[i][j]:
                sign = -1 if rest[i][j] > 0 else 1
                return tuple(a + sign * b for a, b in zip(basis[i], basis[j], strict=True))
    return None


def _product_of_norms(network: Network, norm: str) -> Fraction:
    """Return the product of upper bounds on the operator norms of the layers of a plain stack."""
    total = Fraction(1)
    for number in range(1, network.depth + 1):
        rows = [[abs(entry) for entry in row] for row in network.weight(number).rows()]
        by_rows = max((sum(row, Fraction()) for row in rows), default=Fraction(0))
        columns = zip(*rows, strict=True)
        by_columns = max((sum(column, Fraction()) for column in columns), default=Fraction(0))
        # |W|₂² ≤ |W|₁ |W|_∞, and the root of a product is at most the arithmetic mean.
        mean = (by_rows + by_columns) / 2
        total *= {"linf": by_rows, "l1": by_columns, "l2": mean}[norm]
    return total


def _explained(
    constant: Rational, norm: str, jacobian: RationalMatrix, point: Vector, direction: Vector
) -> Finding:
    """Return the finding about a constant that is too small."""
    direction = tuple(map(Fraction, primitive(direction)[0]))
    image = (jacobian @ RationalMatrix.column(direction)).entries()
    ratio = float(_size(list(image), norm) / _size(list(direction), norm))
    text = ", ".join(number_text(x) for x in direction[:8])
    message = (
        f"the {norm} constant {constant} is too small: around the witness outputs change about "
        f"{np.format_float_positional(ratio, 10)} times as fast as inputs along ({text})"
    )
    return Finding("Lipschitz constant", "wrong", message, 0, None, tuple(point))


def _size(vector: Sequence[Fraction], norm: str) -> float:
    """Return a norm, as a float for a sentence."""
    if norm == "l1":
        return float(sum(map(abs, vector)))
    if norm == "linf":
        return float(max(map(abs, vector)))
    return float(np.sqrt(float(sum(x * x for x in vector))))
