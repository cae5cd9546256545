"""Where affine forms are smallest on the polyhedra of a split tree, from the vertices of a complex.

The polyhedron of a node is a union of closed regions, so that each of its vertices is a vertex of
the complex. A form that is nonnegative there is smallest at one of them, which floats choose. The
inequalities of the node that are equations at this vertex are known from its signs. If there are as
many as the dimension, only one combination of them has the linear part of the form; exact
arithmetic finds it and decides whether it proves the form nonnegative. In that case a linear
program has no other solution, so that the certificate does not depend on what floats chose.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polyrelu.complex import PolyhedralComplex, RegionGraph
from polyrelu.exact import nearest_vector
from polyrelu.proofs.trees.node_polyhedron import NodePolyhedron, NonnegativityProof
from polyrelu.proofs.trees.sparse_forms import SparseForm
from polyrelu.support.typing import Floats, Indices, Mask

__all__ = ["NodeVertices", "node_vertices"]


def node_vertices(cells: PolyhedralComplex | RegionGraph) -> NodeVertices | None:
    """Return the vertices of a complex; None without vertices, or without full dimension."""
    if not isinstance(cells, PolyhedralComplex) or cells.lineality_dim or not cells.dimension:
        return None
    if cells.dimension < cells.network.num_inputs:
        return None
    return NodeVertices(cells)


class NodeVertices:
    """The vertices of a complex, for guesses of proofs on polyhedra that are unions of regions."""

    def __init__(self, cells: PolyhedralComplex) -> None:
        self._points = _homogeneous_floats(cells)
        self._vertices = _vertices_of_regions(cells)
        self._zero_neurons: Mask = cells.signs(0) == 0
        self._zero_constraints: Mask = cells.constraint_signs(0) == 0

    def of_regions(self, regions: Indices) -> Indices:
        """Return the vertices of regions."""
        return np.unique(np.concatenate([self._vertices[region] for region in regions.tolist()]))

    def prove_nonnegative(
        self, form: SparseForm, vertices: Indices, node: NodePolyhedron, neurons: Sequence[int]
    ) -> NonnegativityProof | None:
        """Prove that a form is nonnegative on a node, by the inequalities at one of its vertices.

        Parameters
        ----------
        form
            The form, over the coordinates (1, x).
        vertices
            All vertices of the node.
        node
            The polyhedron of the node.
        neurons
            The columns of the neurons at which the polyhedra above the node were split, in order.

        Returns
        -------
        NonnegativityProof or None
            None if the inequalities at the vertex where the form seems smallest are no proof.
        """
        values = self._points[vertices][:, list(form.columns)] @ _floats(form.numerators)
        if not np.isfinite(values).all():
            return None
        vertex = vertices[int(values.argmin())]
        return node.prove_nonnegative_by(
            form,
            np.flatnonzero(self._zero_constraints[vertex]).tolist(),
            np.flatnonzero(self._zero_neurons[vertex, neurons]).tolist(),
        )


def _homogeneous_floats(cells: PolyhedralComplex) -> Floats:
    """The vertices (1, x), rounded to floats."""
    rows = [nearest_vector([1, *cells.vertex(i)]) for i in range(cells.size(0))]
    return np.array(rows).reshape(-1, 1 + cells.dimension)


def _floats(numbers: Sequence[int]) -> Floats:
    """Integers, divided by a power of 2 that leaves 60 bits of the largest one."""
    shift = max(max(abs(number).bit_length() for number in numbers) - 60, 0)
    return np.array([number >> shift for number in numbers], dtype=np.float64)


def _vertices_of_regions(cells: PolyhedralComplex) -> list[Indices]:
    """The vertices of each region, ascending."""
    offsets, faces = cells.facets(cells.dimension)
    found = _split(offsets, faces)
    for k in range(cells.dimension - 1, 0, -1):
        below = _split(*cells.facets(k))
        found = [np.unique(np.concatenate([below[face] for face in own])) for own in found]
    return found


def _split(offsets: Indices, entries: Indices) -> list[Indices]:
    return np.split(entries, offsets[1:-1])
