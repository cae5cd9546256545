"""The function that a weighted breakpoint complex describes, as an oracle.

A file of breakpoints has the cells between regions with the jumps of the gradient there, and the
affine function on one region. Both together determine the function: along any path of regions the
jumps are added up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from polyrelu.errors import DomainError
from polyrelu.exact import Polyhedron, dot, to_fraction
from polyrelu.exact.vectors import add_multiple
from polyrelu.support.typing import Point, Vector

__all__ = ["WeightedComplex", "read_weights"]


class _Facet(NamedTuple):
    """A cell between two regions: normal·x + offset is positive on the side `plus`."""

    plus: int
    minus: int
    normal: Vector
    offset: Fraction
    weight: Vector


class _Affine(NamedTuple):
    """The affine function rows·x + constants."""

    rows: tuple[Vector, ...]
    constants: Vector

    def jumped(self, facet: _Facet, sign: int) -> _Affine:
        """Return the function on the other side of a facet."""
        pairs = list(zip(self.rows, self.constants, facet.weight, strict=True))
        return _Affine(
            tuple(add_multiple(row, facet.normal, sign * w) for row, _, w in pairs),
            tuple(c + sign * w * facet.offset for _, c, w in pairs),
        )


class WeightedComplex:
    """A piecewise affine function by its regions and the jumps between them.

    Attributes
    ----------
    num_inputs, num_outputs
        The sizes of points and values.
    domain
        Where the function is defined.

    Examples
    --------
    >>> import polyrelu
    >>> from polyrelu.breakpoints import breakpoints_document
    >>> cells = polyrelu.canonical_complex(polyrelu.from_arrays([([[2]], [-1]), ([[3]], [5])]))
    >>> read_weights(breakpoints_document(polyrelu.breakpoint_complex(cells)))((1,))
    (Fraction(8, 1),)
    """

    def __init__(
        self, domain: Polyhedron, num_regions: int, facets: Sequence[_Facet], first: int, piece: Any
    ) -> None:
        self.domain, self._facets = domain, facets
        self.num_inputs, self.num_outputs = domain.ambient_dimension, len(piece.constants)
        self._around: list[list[tuple[_Facet, int]]] = [[] for _ in range(num_regions)]
        for facet in facets:
            self._around[facet.plus].append((facet, 1))
            self._around[facet.minus].append((facet, -1))
        self._pieces = {first: piece}
        waiting = [first]
        while waiting:
            region = waiting.pop()
            for facet, side in self._around[region]:
                other = facet.minus if side > 0 else facet.plus
                if other not in self._pieces:
                    self._pieces[other] = self._pieces[region].jumped(facet, -side)
                    waiting.append(other)

    def __call__(self, x: Point) -> Vector:
        """Return the outputs at a point of the domain."""
        for region, piece in self._pieces.items():
            around = self._around[region]
            if all(side * (dot(f.normal, x) + f.offset) >= 0 for f, side in around):
                return tuple(
                    dot(row, x) + c for row, c in zip(piece.rows, piece.constants, strict=True)
                )
        raise DomainError("a point lies in no region of the breakpoint complex; is the file whole?")


#: Where files of breakpoints come from.
_REMEDY = "`polyrelu complex NET --weights FILE` writes one, and --oracle NET takes a network"


def read_weights(document: Mapping[str, Any]) -> WeightedComplex:
    """Return the function of a document of breakpoints, as `breakpoints_document` makes it.

    Raises
    ------
    DomainError
        An entry is missing or has another form; the document has no affine piece.
    """
    try:
        if document["format"] != "polyrelu-breakpoints":
            raise DomainError(f"not a file of breakpoints; {_REMEDY}")
        if "piece" not in document:
            raise DomainError(
                "the breakpoints come without an affine piece, so that the function is known up "
                "to an affine one; write the file again with this version"
            )
        rows = document["domain"]["inequalities"]
        numbers = [_vector(row) for row in rows]
        equations = [_vector(row) for row in document["domain"]["equations"]]
        facets = [
            _Facet(
                int(entry["plus"]),
                int(entry["minus"]),
                _vector(entry["normal"]),
                to_fraction(entry["offset"]),
                _vector(entry["weight"]),
            )
            for entry in document["facets"]
        ]
        piece, num_regions = document["piece"], int(document["regions"])
        first = _Affine(tuple(map(_vector, piece["linear"])), _vector(piece["constant"]))
        size = len(first.rows[0])
        _check(facets, first, [int(piece["region"])], num_regions)
        if equations:
            raise DomainError("the domain has equations; recovery needs one with interior")
        domain = Polyhedron.from_constraints(
            [row[:-1] for row in numbers], [row[-1] for row in numbers], ambient_dimension=size
        )
        return WeightedComplex(domain, num_regions, facets, int(piece["region"]), first)
    except DomainError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise DomainError(f"the file of breakpoints is damaged ({error}); {_REMEDY}") from None


def _check(facets: Sequence[_Facet], piece: _Affine, used: list[int], num_regions: int) -> None:
    """Raise ValueError if sizes differ, or a region is named that there is not."""
    size, num_outputs = len(piece.rows[0]), len(piece.constants)
    if any(len(row) != size for row in piece.rows) or len(piece.rows) != num_outputs:
        raise ValueError("the affine piece has rows of different sizes")
    for number, facet in enumerate(facets):
        if len(facet.normal) != size or len(facet.weight) != num_outputs:
            raise ValueError(f"facet {number} has another number of inputs or outputs")
        used += [facet.plus, facet.minus]
    if num_regions > len(facets) + 1:  # each facet joins two
        raise ValueError(f"{num_regions} regions, which {len(facets)} facets cannot join")
    if not 0 <= min(used) <= max(used) < num_regions:
        raise ValueError("a region has a number that is none of a region")


def _vector(entries: Sequence[Any]) -> Vector:
    """Return numbers as exact ones."""
    return tuple(map(to_fraction, entries))
