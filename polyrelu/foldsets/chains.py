"""A hash of the function of a network: equal exactly if the functions are equal.

Let f be affine on the regions of a complex whose cells, as cones in homogeneous coordinates, lie in
one pointed cone. Give each region the value (A, c, 1), where f = A x + c there. A *chain* of rank k
in a subspace V gives a value to some cones of dimension k + 1 that span V. Its *jump* in a subspace
W of codimension 1 in V gives each facet in W the value on its positive side minus the value on its
negative side, where a missing side counts as 0. A chain that has no jump is constant across all
facets, and 0 outside of a pointed cone, so it is 0. Hence a chain is determined by its jumps, and
by induction by the values that remain on rays at the end of all flags V_d ⊃ V_{d-1} ⊃ … ⊃ V_0.
Facets across which nothing jumps disappear, so that these values depend on the function and the
domain only, not on the cells. Their hash is the fingerprint (`docs/theory/fingerprint.md`).

On R^n there is no pointed cone. The function is first divided by its lineality space: it is φ(N x)
plus a linear map; the rows of N, in reduced echelon form, span the normals of all breakpoints.
φ is then cut along the coordinate hyperplanes, and each orthant has a chain of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from polyrelu.breakpoints import breakpoint_complex
from polyrelu.complex import PolyhedralComplex, canonical_complex
from polyrelu.complex.cones import Cones
from polyrelu.errors import DomainError
from polyrelu.exact import RationalMatrix, format_rational, kernel, primitive
from polyrelu.formats import DomainLike, NetworkLike, as_domain, as_network
from polyrelu.network import Network, affine_map_table
from polyrelu.network.pairs import ends_affine, on_inputs, with_input_signs
from polyrelu.support.typing import IntegerRow

__all__ = ["fingerprint"]

#: The first bytes that are hashed, so that fingerprints of another kind can never be equal.
_VERSION = "polyrelu function 1"

#: A value, as numerators over the common denominator of the whole complex.
_Value: TypeAlias = tuple[int, ...]
#: A subspace by the rows of its reduced echelon form, in primitive integers.
_Subspace: TypeAlias = tuple[IntegerRow, ...]


def fingerprint(network: NetworkLike, domain: DomainLike = None) -> str:
    """Compute a hash of the function of a network on a domain.

    Parameters
    ----------
    network
        A network, or what `polyrelu.load` takes, small enough for its canonical complex.
    domain
        A nonempty polyhedron, or a text such as ``"box:-1,1"``; None for R^n.

    Returns
    -------
    str
        A SHA-256 in hexadecimal digits. Two networks have the same fingerprint on a domain exactly
        if they are the same function there, unless two different texts have the same SHA-256.

    Raises
    ------
    DomainError
        The domain is empty or lies in another space, or has too many cells to list; or it contains
        a line and is not R^n.

    Notes
    -----
    Proof: `docs/theory/fingerprint.md`.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> one = from_arrays([([[1], [-1]], [0, 0]), ([[1, 1]], [0])])    # |x|
    >>> other = from_arrays([([[2], [0]], [0, 5]), ([[1, "1/5"]], [-1]), ([[1]], [0])])
    >>> fingerprint(one) == fingerprint(from_arrays([([[4]], [0]), ([["1/2"]], [0])]))
    False
    >>> fingerprint(one, "box:0,9") == fingerprint(from_arrays([([[1]], [0])]), "box:0,9")
    True
    """
    network = ends_affine(as_network(network))
    region = as_domain(domain, network.num_inputs)
    head: list[Any] = [_VERSION, network.num_inputs, network.num_outputs]
    if region.inequalities or region.equations:
        if region.lineality_space():
            raise DomainError("fingerprints: the domain contains a line, and is not R^n")
        cells = canonical_complex(network, region)
        return _hash([*head, "polyhedron", _digest(cells, range(cells.num_regions))])
    return _hash([*head, "R^n", *_on_all_space(network)])


def _on_all_space(network: Network) -> list[Any]:
    """The parts of the fingerprint of a network on R^n."""
    cells = canonical_complex(network)
    breakpoints = breakpoint_complex(cells)
    normals = [row[:-1] for row in breakpoints.forms[breakpoints.visible].tolist()]
    rows = _echelon(normals, network.num_inputs)
    affine = network.affine_map(cells.signs_of_region(0))
    if not rows:
        return ["affine", _texts(affine.matrix.entries()), _texts(affine.offset.entries())]
    pivots = [_pivot(row) for row in rows]
    # x = s(N x) + (x - s(N x)), where s puts the coordinates of N x at the pivots.
    scaled = RationalMatrix.from_rows(
        [[Fraction(entry, row[_pivot(row)]) for entry in row] for row in rows]
    )
    along = affine.matrix - affine.matrix.take(columns=pivots) @ scaled
    reduced = with_input_signs(on_inputs(network, pivots))
    refined = canonical_complex(reduced)
    signs = refined.signs()[:, : len(pivots)]
    orthants: dict[tuple[int, ...], list[int]] = {}
    for index, row in enumerate(map(tuple, signs.tolist())):
        orthants.setdefault(row, []).append(index)
    chains = [[list(sign), _digest(refined, orthants[sign])] for sign in sorted(orthants)]
    return [rows, _texts(along.entries()), chains]


def _digest(cells: PolyhedralComplex, regions: Iterable[int]) -> str:
    """The hash of the function on some regions, whose cones lie in a pointed cone."""
    cones = Cones(cells)
    denominator, table = affine_map_table(cells.network, cells.signs() > 0)
    # On a domain of lower dimension different maps can be equal.
    on_hull = cells.frame.on_hull
    denominator *= on_hull.denominator
    maps = table @ np.array(on_hull.integer_rows(), dtype=object)
    chain = {
        int(cones.regions[index]): (*maps[index].ravel().tolist(), denominator) for index in regions
    }
    return _Chains(cells, cones, denominator).digest(cones.dimension, chain)


class _Chains:
    """Chains on the cones of a complex, and their hashes."""

    def __init__(self, cells: PolyhedralComplex, cones: Cones, denominator: int) -> None:
        self._cones, self._denominator = cones, denominator
        self._rows = [
            cells.generators.input_coordinates(number) for number in range(len(cells.generators))
        ]
        self._spans: list[dict[int, _Subspace]] = [{} for _ in range(cones.dimension + 1)]
        self._normals: dict[tuple[_Subspace, _Subspace], tuple[list[int], IntegerRow]] = {}

    def digest(self, rank: int, chain: dict[int, _Value]) -> str:
        """Return the hash of a chain whose cones span one subspace."""
        if rank == 0:
            ((number, value),) = chain.items()
            found = _texts(Fraction(entry, self._denominator) for entry in value)
            return _hash([primitive(self._rows[number])[0], found])
        jumps: dict[_Subspace, dict[int, _Value]] = {}
        for number, value in chain.items():
            for facet in self._cones.facets(rank, number):
                space = self._span(rank - 1, facet)
                sign = self._side(rank, number, space)
                part = jumps.setdefault(space, {})
                known = part.get(facet, (0,) * len(value))
                part[facet] = tuple(a + sign * b for a, b in zip(known, value, strict=True))
        parts = []
        for space in sorted(jumps):
            part = {facet: value for facet, value in jumps[space].items() if any(value)}
            if part:
                parts.append([space, self.digest(rank - 1, part)])
        return _hash(parts)

    def _span(self, rank: int, number: int) -> _Subspace:
        """The subspace that a cone spans."""
        known = self._spans[rank]
        if number not in known:
            generators = self._cones.generators(rank, number)
            rows = [self._rows[generator] for generator in generators]
            known[number] = _echelon(rows, len(rows[0]))
        return known[number]

    def _side(self, rank: int, number: int, facet: _Subspace) -> int:
        """The side of a cone at a facet in a subspace: 1 or -1."""
        whole = self._span(rank, number)
        if (whole, facet) not in self._normals:
            self._normals[whole, facet] = _normal(whole, facet)
        columns, normal = self._normals[whole, facet]
        for generator in self._cones.generators(rank, number):
            value = sum(a * self._rows[generator][j] for a, j in zip(normal, columns, strict=True))
            if value:
                return 1 if value > 0 else -1
        raise AssertionError("a cone does not lie in the span of its facet")


def _echelon(rows: Sequence[Sequence[int]], size: int) -> _Subspace:
    """The reduced echelon form of the span of some integer rows, in primitive integers."""
    found: list[IntegerRow] = []
    for row in dict.fromkeys(map(tuple, rows)):
        for known in found:
            row = _eliminated(row, known)
        if any(row):
            row = _positive(primitive(row)[0])
            found = [_positive(primitive(_eliminated(known, row))[0]) for known in found]
            found.append(row)
            if len(found) == size:
                break
    return tuple(sorted(found, key=_pivot))


def _eliminated(row: Sequence[int], known: IntegerRow) -> IntegerRow:
    """A multiple of a row plus a multiple of a known one, 0 at the pivot of the latter."""
    pivot = _pivot(known)
    a, b = known[pivot], row[pivot]
    return tuple(a * x - b * y for x, y in zip(row, known, strict=True)) if b else tuple(row)


def _pivot(row: Sequence[int]) -> int:
    """The place of the first entry that is not 0."""
    return next(j for j, entry in enumerate(row) if entry)


def _positive(row: Sequence[int]) -> IntegerRow:
    """A row or its negative, with a positive pivot."""
    return tuple(row) if row[_pivot(row)] > 0 else tuple(-entry for entry in row)


def _normal(whole: _Subspace, facet: _Subspace) -> tuple[list[int], IntegerRow]:
    """The canonical form on a subspace that vanishes on one of codimension 1.

    It reads the coordinates at the pivots of the whole subspace, which determine its points.
    """
    columns = [_pivot(row) for row in whole]
    coordinates = [[row[j] for j in columns] for row in facet]
    matrix = RationalMatrix.from_integers(coordinates, ncols=len(columns))
    (row,) = kernel(matrix).transpose().rows()
    return columns, _positive(primitive(row)[0])


def _texts(entries: Iterable[Fraction]) -> list[str]:
    """Exact numbers as texts."""
    return [format_rational(entry) for entry in entries]


def _hash(content: object) -> str:
    """The SHA-256 of JSON data."""
    return hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()
