"""The points of a certificate about competitors on a domain, and whether they are inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from polyrelu.exact import parse_rational

__all__ = ["all_points_are_inside", "is_strictly_inside", "listed_points"]

Vector = list[Fraction]


def is_strictly_inside(domain: Any, x: Sequence[Fraction]) -> bool:
    """Return whether a point satisfies all inequalities of a document strictly; 0 ≤ c counts."""
    if domain == "R^n":
        return True
    for text in domain["inequalities"]:
        *row, limit = map(int, text.split(" "))
        value = sum((a * t for a, t in zip(row, x, strict=True)), Fraction())
        if not (value < limit or (not any(row) and limit == 0)):
            return False
    return not domain["equations"]


def listed_points(document: Any) -> Iterator[Vector]:
    """Yield the points that a certificate lists: of ridges, or on hyperplanes."""
    for hypothesis in document["proof"]["hypotheses"]:
        evidence = hypothesis["evidence"]
        for point in evidence.get("points", []):
            yield list(map(parse_rational, point))
        for plane in evidence.get("slices", []):
            for u, v, mask in plane["ridges"]:
                yield ridge_point(document["claim"]["network"]["inline"], plane, (u, v), int(mask))


def ridge_point(network: Any, plane: Any, zeros: tuple[int, int], mask: int) -> Vector:
    """Return the point of a plane where two neurons vanish, if the neurons of a mask are on.

    Affine forms in (s, t) go through the layers in plain fractions.
    """
    p, first, second = (
        list(map(parse_rational, entry)) for entry in (plane["point"], *plane["directions"])
    )
    forms, number, found = [list(entry) for entry in zip(p, first, second, strict=True)], 0, []
    for layer in network["layers"][:-1]:
        (block,) = layer["weights"]
        rows = [list(map(int, row.split(" "))) for row in block["rows"]]
        d, biases = int(layer["denominator"]), map(int, layer["bias"].split(" "))
        z = [
            [
                (sum(w * form[k] for w, form in zip(row, forms, strict=True)) + b * (k == 0))
                / Fraction(d)
                for k in range(3)
            ]
            for row, b in zip(rows, biases, strict=True)
        ]
        found += z
        forms = [[t * (mask >> (number + i) & 1) for t in form] for i, form in enumerate(z)]
        number += len(z)
    one, other = (found[w] for w in zeros)
    determinant = one[1] * other[2] - one[2] * other[1]
    s = (one[2] * other[0] - one[0] * other[2]) / determinant
    t = (one[0] * other[1] - one[1] * other[0]) / determinant
    return [x + s * y + t * z for x, y, z in zip(p, first, second, strict=True)]


def all_points_are_inside(document: Any) -> bool:
    """Return whether a certificate lists points, and all are strictly inside its domain."""
    points = list(listed_points(document))
    return bool(points) and all(is_strictly_inside(document["claim"]["domain"], x) for x in points)
