"""The leaves of a tree of regions: an affine map on each, and two points that one of them joins.

A network is affine on each region of its canonical complex. `CellTree` lists the regions in the
order of a split tree that proves the list complete (`region_cover`), as FORMAT.md §5.4 has them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from polyrelu.complex import PolyhedralComplex
from polyrelu.exact import Polyhedron, RationalMatrix, dot, kernel, primitive
from polyrelu.proofs.injectivity.collisions import PointPair
from polyrelu.proofs.region_cover import RegionTree
from polyrelu.proofs.trees.search import TreeStatistics
from polyrelu.proofs.trees.sparse_forms import SparseForm
from polyrelu.support.budget import Budget

__all__ = ["Cell", "CellTree", "pair_in_region"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A leaf of the tree, in coordinates y.

    Attributes
    ----------
    num_rows
        Number of inequalities in the certificate.
    rows
        The inequalities that are not constant, by number, as rows that are ≥ 0 at (y, 1).
    outputs
        The outputs as integer rows at (y, 1), over the denominator `scale`.
    scale
        A denominator.
    """

    num_rows: int
    rows: dict[int, list[int]]
    outputs: list[list[int]]
    scale: int


@dataclass(slots=True)
class CellTree:
    """The nodes of a tree of regions as JSON, and its leaves in order."""

    nodes: list[dict[str, Any]]
    cells: list[Cell]

    @classmethod
    def of(cls, cells: PolyhedralComplex, budget: Budget, note: Callable[[], None]) -> CellTree:
        """Build the tree of a complete complex; `note` is called after each node."""
        work = TreeStatistics()
        tree, found = RegionTree(cells, budget, work), cls([], [])
        points = {tuple(cells.interior_point(i)): i for i in range(cells.num_regions)}
        size = tree.coordinates.dimension
        for record in tree.nodes():
            document = replace(record, region=None).to_json()
            if record.region is not None:
                document["leaf"] = "cell"
                index = points[tuple(record.region)]
                found.cells.append(_cell(cells, index, tree, size))
            found.nodes.append(document)
            note()
        return found


def _cell(cells: PolyhedralComplex, index: int, tree: RegionTree, size: int) -> Cell:
    """Return the leaf at which the walk through the tree is, with the map of its region."""
    rows = {number: _dense(form, size) for number, form in tree.path.numbered_constraints()}
    found = cells.region(index).affine_map
    inputs = tree.coordinates.inputs
    outputs = found.matrix @ inputs + found.offset.beside(
        RationalMatrix.zeros(found.offset.nrows, size)
    )
    turned = [[*row[1:], row[0]] for row in outputs.integer_rows()]
    num_rows = len(tree.coordinates.inequalities) + tree.path.depth
    return Cell(num_rows, rows, turned, outputs.denominator)


def _dense(form: SparseForm, size: int) -> list[int]:
    """Return a sparse row over (1, y) as a row over (y, 1)."""
    row = [0] * (size + 1)
    for column, entry in zip(*form, strict=True):
        row[column - 1] = entry
    return row


def pair_in_region(
    cells: PolyhedralComplex, index: int, inputs: RationalMatrix
) -> PointPair | None:
    """Return two points of a region with equal outputs, or None if there are none."""
    region = cells.region(index)
    directions = kernel(region.affine_map.matrix @ inputs.take(columns=range(1, inputs.ncols)))
    if not directions.ncols:
        return None
    vector = inputs.take(columns=range(1, inputs.ncols)) @ directions.take(columns=[0])
    direction, _ = primitive(list(vector.entries()))
    x = region.interior_point
    step = _step(region.polyhedron, x, direction)
    return x, tuple(a + step * b for a, b in zip(x, direction, strict=True))


def _step(polyhedron: Polyhedron, x: tuple[Fraction, ...], direction: tuple[int, ...]) -> Fraction:
    """Return a step with which a point stays in a polyhedron."""
    limit = Fraction(1, max(map(abs, direction)))
    for *row, right in polyhedron.inequalities:
        if (slope := dot(row, direction)) > 0:
            limit = min(limit, (right - dot(row, x)) / slope)
    return Fraction(1, 1 << (-(-limit.denominator // limit.numerator) - 1).bit_length())
