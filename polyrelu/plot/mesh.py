"""Surfaces in three dimensions as polygon meshes, in files .ply or .obj.

A mesh holds the cells of dimension 2 of a subcomplex, with common vertices, for programs that show
or print surfaces. Coordinates stay exact up to the file, which holds the nearest floats, printed so
that they are read as the same floats again.

Orientation: where at most two polygons meet in each edge, neighbours go around their corners in the
same sense if the surface can be oriented, and a closed surface is oriented outwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from polyrelu.complex import Cell, PolyhedralComplex, Subcomplex
from polyrelu.complex.subcomplex import expect_subcomplex
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.plot.clip import floats
from polyrelu.plot.parts import maximal
from polyrelu.plot.view import Name, free_axes
from polyrelu.support.arguments import expect_list, expect_path
from polyrelu.support.display import count_text
from polyrelu.support.text_files import write_all
from polyrelu.support.typing import Indices, Point

__all__ = ["MESH_FORMATS", "Mesh", "mesh_of", "save_mesh"]

MESH_FORMATS = (".ply", ".obj")


@dataclass(frozen=True, slots=True)
class Mesh:
    """Polygons in space, with exact coordinates.

    Attributes
    ----------
    axes
        What the three coordinates are: numbers of inputs, or names of coordinates of a slice.
    vertices
        Exact points, three coordinates each.
    faces
        For each polygon the indices of its corners, in cyclic order.
    edges
        Pairs of vertex indices: the edges that are sides of no polygon.

    Examples
    --------
    >>> from fractions import Fraction
    >>> corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    >>> points = tuple(tuple(map(Fraction, corner)) for corner in corners)
    >>> Mesh((0, 1, 2), points, faces=((0, 1, 2),), edges=()).euler_characteristic
    1
    """

    axes: tuple[Name, ...]
    vertices: tuple[Point, ...]
    faces: tuple[tuple[int, ...], ...]
    edges: tuple[tuple[int, int], ...]

    def __repr__(self) -> str:
        counts = [(len(self.vertices), "vertex"), (len(self.faces), "face")]
        return f"<Mesh, {count_text([*counts, (len(self.edges), 'single edge')])}>"

    @property
    def euler_characteristic(self) -> int:
        """The Euler characteristic: vertices - edges + faces."""
        sides = {frozenset(pair) for face in self.faces for pair in _sides(face)}
        return len(self.vertices) - len(sides) - len(self.edges) + len(self.faces)


def mesh_of(part: Subcomplex, *, names: tuple[Name, ...] | None = None) -> Mesh:
    """Return the mesh of a subcomplex of dimension at most 2.

    Parameters
    ----------
    part
        A subcomplex of a complex of dimension 3; the domain may be a slice of more inputs.
    names
        Names of the coordinates, for a network that reads coordinates of a slice; by default the
        coordinates are the free inputs, by number.

    Returns
    -------
    Mesh
        Polygons with exact vertices.

    Raises
    ------
    DomainError
        The complex or the subcomplex has another dimension, or a cell of it is unbounded.

    Examples
    --------
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.topology import level_set
    >>> unit = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    >>> norm = from_arrays([(unit, [0] * 6), ([[1] * 6], [0])])  # |x| + |y| + |z|
    >>> octahedron = mesh_of(level_set(norm, 1))
    >>> len(octahedron.vertices), len(octahedron.faces), octahedron.euler_characteristic
    (6, 8, 2)
    """
    part, names = expect_subcomplex(part), _expect_names(names)
    cells = part.cells
    if cells.dimension != 3:
        raise DomainError(
            f"a mesh lies in three dimensions, the domain has {cells.dimension}; a picture "
            "shows others"
        )
    if part.dimension > 2:
        raise DomainError(
            "the set contains open regions, so that it is no surface; choose another level"
        )
    _check_bounded(part)
    chosen = part.indices(0)
    numbers = np.full(cells.size(0), -1)
    numbers[chosen] = np.arange(len(chosen))
    axes = free_axes(cells.domain)
    vertices = [cells.vertex(index) for index in chosen.tolist()]
    points = tuple(tuple(vertex[axis] for axis in axes) for vertex in vertices)
    vertex_of_generator = np.cumsum(cells.generators.is_vertex) - 1
    cycles = (
        cells.generators.numbers_in_cyclic_order(Cell(2, index))
        for index in part.indices(2).tolist()
    )
    faces = [tuple(numbers[vertex_of_generator[cycle]].tolist()) for cycle in cycles]
    edges = numbers[_ends(cells, maximal(part, 1))].tolist()
    return Mesh(
        names or axes,
        points,
        _oriented(points, faces),
        tuple((one, other) for one, other in edges),
    )


def _expect_names(names: object) -> tuple[Name, ...] | None:
    """Three names of coordinates, or None; texts have one line, as comments in files do."""
    if names is None:
        return None
    found = expect_list(names, "names")
    if len(found) != 3 or not all(
        isinstance(name, int) or (isinstance(name, str) and name.isprintable()) for name in found
    ):
        raise ArgumentError("names: expected three numbers of inputs or texts of one line")
    return tuple(found)


def _ends(cells: PolyhedralComplex, edges: Indices) -> Indices:
    """The vertices at the ends of bounded edges, shape (number of edges, 2)."""
    if not len(edges):
        return np.zeros((0, 2), dtype=np.int64)
    offsets, vertices = cells.facets(1)
    return np.stack([vertices[offsets[edges]], vertices[offsets[edges] + 1]], axis=1)


def save_mesh(part: Subcomplex, name: str | Path, *, names: tuple[Name, ...] | None = None) -> Mesh:
    """Write the mesh of a subcomplex as ASCII .ply or .obj.

    The file appears as a whole or not at all.

    Parameters
    ----------
    part
        A subcomplex of dimension at most 2, as for `mesh_of`.
    name
        The path of the file; its suffix decides about the format.
    names
        Names of the coordinates, as for `mesh_of`.

    Returns
    -------
    Mesh
        The mesh that was written, with exact vertices.

    Raises
    ------
    DomainError
        The suffix is another one, `mesh_of` raises it, or two vertices have the same nearest floats
        or none.
    PolyreluError
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from polyrelu.formats import parse_domain
    >>> from polyrelu.network import from_arrays
    >>> from polyrelu.topology import level_set
    >>> cube = parse_domain("box:-1,1", 3)
    >>> plane = level_set(from_arrays([([[1, 1, 1]], [0])]), 0, domain=cube)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(save_mesh(plane, f"{folder}/plane.ply").faces)
    1
    """
    path = expect_path(name, "name")
    if path.suffix not in MESH_FORMATS:
        raise DomainError(
            f"{name}: a mesh is written as {', '.join(MESH_FORMATS)}; choose one of these endings"
        )
    mesh = mesh_of(part, names=names)
    _check_distinct(mesh)
    lines = _ply(mesh) if path.suffix == ".ply" else _obj(mesh)
    write_all([(path, "\n".join(lines))])
    return mesh


def _check_distinct(mesh: Mesh) -> None:
    """Raise an error if two vertices have the same floats: programs would read another surface."""
    if len(set(floats(mesh.vertices))) < len(mesh.vertices):
        raise DomainError(
            "two vertices are one point in floats: give a smaller box, or move the network "
            "towards 0"
        )


def _check_bounded(part: Subcomplex) -> None:
    """Raise an error unless all cells are bounded.

    A cell without lines is bounded if its edges are.
    """
    cells = part.cells
    unbounded = bool(cells.lineality) and part.dimension >= 0
    if not unbounded and part.dimension >= 1:
        offsets, _ = cells.facets(1)
        unbounded = bool((np.diff(offsets)[part.indices(1)] < 2).any())
    if unbounded:
        raise DomainError(
            "the surface has unbounded cells, which no mesh can hold: give a bounded domain, "
            "such as --domain box:-1,1"
        )


# -- orientation -----------------------------------------------------------------------------------


def _oriented(
    points: Sequence[Point], faces: Sequence[tuple[int, ...]]
) -> tuple[tuple[int, ...], ...]:
    """Return the faces, some of them reversed; the text of the module says how."""
    owners = _owners(faces)
    found = list(faces)
    done: set[int] = set()
    coordinates = np.array(floats(points)).reshape(-1, 3)
    for start in range(len(faces)):
        if start not in done:
            part, closed = _orient_component(start, found, owners, done)
            if closed and _volume(coordinates, [found[i] for i in part]) < 0:
                for i in part:
                    found[i] = found[i][::-1]
    return tuple(found)


def _owners(faces: Sequence[tuple[int, ...]]) -> dict[frozenset[int], list[int]]:
    """Return the faces around each edge, by their indices."""
    owners: dict[frozenset[int], list[int]] = {}
    for index, face in enumerate(faces):
        for side in _sides(face):
            owners.setdefault(frozenset(side), []).append(index)
    return owners


def _orient_component(
    start: int,
    faces: list[tuple[int, ...]],
    owners: dict[frozenset[int], list[int]],
    done: set[int],
) -> tuple[list[int], bool]:
    """Orient the faces that are connected to one through edges with two faces, in place.

    Returns
    -------
    The indices of these faces, and whether all their edges have two faces.
    """
    part, closed = [start], True
    done.add(start)
    for index in part:  # the loop appends to the list
        for one, other in _sides(faces[index]):
            around = owners[frozenset((one, other))]
            closed &= len(around) == 2
            for neighbour in around if len(around) == 2 else ():
                if neighbour not in done:
                    done.add(neighbour)
                    part.append(neighbour)
                    if (one, other) in _sides(faces[neighbour]):
                        faces[neighbour] = faces[neighbour][::-1]
    return part, closed


def _sides(face: Sequence[int]) -> list[tuple[int, int]]:
    """Return the edges of a face as pairs of corners, in its direction."""
    return list(pairwise((*face, face[0])))


def _volume(
    coordinates: np.ndarray[tuple[int, int], np.dtype[np.float64]], faces: Sequence[tuple[int, ...]]
) -> float:
    """Return six times the volume inside a closed surface, negative if it is oriented inwards."""
    middle = coordinates[[corner for face in faces for corner in face]].mean(axis=0)
    total = 0.0
    for face in faces:
        corners = coordinates[list(face)] - middle
        for one, other in pairwise(corners[1:]):
            total += float(np.dot(corners[0], np.cross(one, other)))
    return total


# -- files -----------------------------------------------------------------------------------------


def _ply(mesh: Mesh) -> Iterator[str]:
    yield from (
        "ply",
        "format ascii 1.0",
        f"comment {_comment(mesh)}",
        f"element vertex {len(mesh.vertices)}",
    )
    yield from (f"property double {letter}" for letter in "xyz")
    count = "uchar" if all(len(face) < 256 for face in mesh.faces) else "int"
    yield from (f"element face {len(mesh.faces)}", f"property list {count} int vertex_indices")
    if mesh.edges:
        yield from (
            f"element edge {len(mesh.edges)}",
            "property int vertex1",
            "property int vertex2",
        )
    yield "end_header"
    yield from (" ".join(map(repr, point)) for point in floats(mesh.vertices))
    yield from (" ".join(map(str, (len(face), *face))) for face in mesh.faces)
    yield from (f"{one} {other}" for one, other in mesh.edges)


def _obj(mesh: Mesh) -> Iterator[str]:
    yield f"# {_comment(mesh)}"
    yield from ("v " + " ".join(map(repr, point)) for point in floats(mesh.vertices))
    yield from ("f " + " ".join(str(corner + 1) for corner in face) for face in mesh.faces)
    yield from (f"l {one + 1} {other + 1}" for one, other in mesh.edges)


def _comment(mesh: Mesh) -> str:
    """Return the line that says what the coordinates are."""
    names = (f"input {axis}" if isinstance(axis, int) else axis for axis in mesh.axes)
    axes = ", ".join(f"{letter} = {name}" for letter, name in zip("xyz", names, strict=True))
    return f"polyrelu: {axes}; nearest floats to exact points"
