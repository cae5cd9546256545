"""Pictures of affine maps at points: dual points, gradients as images, regions by cluster.

Clusters and principal axes are computed in floats; they choose colours and places of dots. The
polygons of regions are exact, as in all pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polyrelu.attributes import ClusteredMaps, ExactMaps, FloatMaps, cluster_maps
from polyrelu.attributes.float_maps import expect_maps
from polyrelu.complex import PolyhedralComplex
from polyrelu.complex.polyhedral_complex import expect_complex
from polyrelu.errors import ArgumentError, DomainError
from polyrelu.exact import nearest_float
from polyrelu.network import affine_map_table
from polyrelu.plot.canvas import INK, Canvas, new_figure, plane_axes
from polyrelu.plot.clip import Clipped
from polyrelu.plot.view import BoxLike, view_of
from polyrelu.support.arguments import expect_count, expect_index, expect_list
from polyrelu.support.display import count_text
from polyrelu.support.typing import Floats, Indices

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_dual_clusters", "draw_duals", "draw_gradients"]

#: The scale of colours from negative to positive numbers; colour-blind people can read it.
_SIGNED = "PuOr"
#: Inches of one image of a gradient.
_IMAGE = 0.95


def draw_duals(
    maps: FloatMaps | ExactMaps,
    output: int = 0,
    *,
    clusters: ClusteredMaps | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the dual points of an output: its gradient at each point, coloured by the constant.

    Parameters
    ----------
    maps
        Maps of a network at points. With more than two inputs the axes are the two principal axes
        of the gradients.
    output
        The index of the output.
    clusters
        Clusters of the maps. Then colours show the nearest centres, and crosses mark the centres.
    ax
        Axes to draw on; by default Axes of a new figure.

    Returns
    -------
    Axes
        The Axes with the picture.

    Raises
    ------
    DomainError
        There are no points, or the clusters belong to maps of another shape.
    PolyreluError
        Matplotlib is not installed.

    Examples
    --------
    >>> from polyrelu.attributes import exact_maps
    >>> maps = exact_maps("example:xor", [[1, 1], [-1, -1], ["-1/4", "-1/4"]])
    >>> draw_duals(maps).get_title()
    'dual points of output 0 at 3 points: 3 different'
    """
    table = _as_floats(maps)
    output = expect_index(output, table.num_outputs, "output")
    if not table.num_points:
        raise DomainError("maps: there are no points to draw")
    ax = plane_axes(ax)
    axes: Any = ax
    rows = table.duals[:, output]
    place, names = _projection(rows)
    dots = place(rows)
    if clusters is None:
        drawn = axes.scatter(*dots.T, c=rows[:, -1], cmap="viridis", s=14, alpha=0.8, zorder=3)
        axes.figure.colorbar(drawn, ax=axes, label="constant b")
    else:
        nearest, centres = clusters.nearest(table)[:, output], clusters.centres[output]
        axes.scatter(*dots.T, c=_colours(nearest, len(centres)), s=14, alpha=0.8, zorder=3)
        axes.plot(*place(centres).T, "x", color=INK, markersize=7, label="centres", zorder=4)
        axes.legend(fontsize=8, frameon=False)
    if rows.shape[1] <= 3:  # otherwise the origin of the axes is the mean of the gradients
        axes.axhline(0, color="#cccccc", linewidth=0.6)
        axes.axvline(0, color="#cccccc", linewidth=0.6)
    axes.set_xlabel(names[0])
    axes.set_ylabel(names[1])
    title = f"dual points of output {output} at {count_text([(table.num_points, 'point')])}"
    if isinstance(maps, ExactMaps):
        title += f": {len(np.unique(rows, axis=0))} different"
    axes.set_title(title, fontsize=10)
    return ax


def draw_gradients(
    maps: FloatMaps | ExactMaps | Mapping[str, FloatMaps | ExactMaps],
    shape: Sequence[int],
    *,
    point: int = 0,
    outputs: Sequence[int] | None = None,
    figure: Figure | None = None,
) -> Figure:
    """Draw the gradients of the outputs at a point as images, a row for each network.

    Parameters
    ----------
    maps
        Maps of a network at points, or maps of several networks by their names.
    shape
        Rows and columns of an image; their product is the number of inputs.
    point
        The index of the point; its own image stands before the gradients.
    outputs
        The outputs that are drawn, by default all.
    figure
        A figure to draw on, by default a new one.

    Returns
    -------
    Figure
        The figure. White is 0, and each row has a scale of its own.

    Raises
    ------
    DomainError
        The shape does not fit the number of inputs, or there are no maps.
    PolyreluError
        Matplotlib is not installed.

    Examples
    --------
    >>> from polyrelu.attributes import float_maps
    >>> maps = float_maps("example:digits", [[0.5] * 64])
    >>> len(draw_gradients({"digits": maps}, (8, 8)).axes)
    11
    """
    named = maps if isinstance(maps, Mapping) else {"": maps}
    tables = {str(name): _as_floats(part) for name, part in named.items()}
    if not tables:
        raise DomainError("maps: there are no maps to draw")
    size = _image_shape(shape, next(iter(tables.values())))
    first = next(iter(tables.values()))
    chosen = range(first.num_outputs) if outputs is None else expect_list(outputs, "outputs")
    if figure is None:
        figure = new_figure(_IMAGE * (len(chosen) + 1), _IMAGE * len(tables) + 0.3)
    grid = figure.subplots(len(tables), len(chosen) + 1, squeeze=False)
    for row, (name, table) in zip(grid, tables.items(), strict=True):
        _image_shape(shape, table)
        place = expect_index(point, table.num_points, "point")
        numbers = [expect_index(entry, table.num_outputs, "outputs") for entry in chosen]
        row[0].imshow(table.samples[place].reshape(size), cmap="Greys")
        row[0].set_ylabel(name, fontsize=8)
        images = table.duals[place, numbers, :-1]
        limit = float(np.abs(images).max(initial=0.0)) or 1.0
        for ax, image in zip(row[1:], images, strict=True):
            ax.imshow(image.reshape(size), cmap=_SIGNED, vmin=-limit, vmax=limit)
    for ax, text in zip(grid[0], ["input", *(f"output {entry}" for entry in chosen)], strict=True):
        ax.set_title(text, fontsize=8)
    for ax in grid.ravel():
        ax.set_xticks([])
        ax.set_yticks([])
    return figure


def draw_dual_clusters(
    cells: PolyhedralComplex,
    clusters: ClusteredMaps | int,
    output: int = 0,
    *,
    seed: int = 0,
    ax: Axes | None = None,
    box: BoxLike | None = None,
) -> Axes:
    """Draw the regions of a complex in the plane, coloured by the clusters of their dual points.

    Parameters
    ----------
    cells
        A complex on a domain of dimension 2.
    clusters
        Clusters of maps of the network; or a number of clusters, for clusters of the maps of all
        regions, each counted once.
    output
        The index of the output.
    seed
        Seed of the first centres, if `clusters` is a number.
    ax
        Axes to draw on; by default Axes of a new figure.
    box
        The frame, see `view_of`; unbounded regions are cut there, exactly.

    Returns
    -------
    Axes
        The Axes with the picture.

    Raises
    ------
    DomainError
        The domain has another dimension, there are fewer regions than clusters, or the clusters
        belong to another network.
    PolyreluError
        Matplotlib or scikit-learn is not installed.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> axes = draw_dual_clusters(canonical_complex("example:xor"), 1)
    >>> axes.get_title().splitlines()[0]
    'output 0: 3 regions in 1 cluster'
    """
    cells = expect_complex(cells)
    if cells.dimension != 2:
        raise DomainError(f"this picture needs a domain of dimension 2, not {cells.dimension}")
    maps = _region_maps(cells)
    output = expect_index(output, maps.num_outputs, "output")
    if not isinstance(clusters, ClusteredMaps):
        clusters = cluster_maps(maps, expect_count(clusters, "clusters", 1), seed=seed)
    nearest = clusters.nearest(maps)[:, output]
    canvas = Canvas(view_of(cells, box=box), ax)
    inside = Clipped.for_picture(cells, canvas.view, None)
    for cluster in np.unique(nearest).tolist():
        members = np.flatnonzero(nearest == cluster)
        polygons = [points for _, points in inside.cells_in_box(2, members.tolist())]
        colour = _colours(np.array([cluster]), clusters.num_clusters)[0]
        canvas.polygons("regions", polygons, [colour] * len(polygons), edge=INK, width=0.3)
    used = len(np.unique(nearest))
    regions = count_text([(canvas.counts["regions"], "region")])
    return canvas.finish(f"output {output}: {regions} in {count_text([(used, 'cluster')])}")


def _as_floats(maps: object) -> FloatMaps:
    """Return maps in floats."""
    return maps.to_floats() if isinstance(maps, ExactMaps) else expect_maps(maps, "maps")


def _region_maps(cells: PolyhedralComplex) -> FloatMaps:
    """Return the maps of all regions of a complex in floats; their points are not needed."""
    count = cells.num_regions
    denominator, table = affine_map_table(cells.network, cells.signs(cells.dimension) > 0)
    flat = [nearest_float(entry, denominator) for entry in table.ravel()]
    duals = np.array(flat, dtype=np.float64).reshape(table.shape)
    points = np.zeros((count, cells.network.num_inputs))
    return FloatMaps(points, duals, np.ones(count, dtype=bool))


def _projection(rows: Floats) -> tuple[Any, tuple[str, str]]:
    """Return a function that gives dual points places in the plane, and the names of the axes."""
    size = rows.shape[1] - 1
    if size == 1:
        return (lambda duals: duals), ("weight $w$", "constant $b$")
    if size == 2:
        return (lambda duals: duals[:, :2]), (
            "$\\partial f/\\partial x_0$",
            "$\\partial f/\\partial x_1$",
        )
    centre = rows[:, :-1].mean(axis=0)
    axes = np.linalg.svd(rows[:, :-1] - centre, full_matrices=False)[2][:2]
    axes = np.concatenate([axes, np.zeros((2 - len(axes), size))])
    signs = np.sign(axes[range(2), np.abs(axes).argmax(axis=1)])[:, None]
    names = "first principal axis of gradients", "second principal axis"
    return (lambda duals: (duals[:, :-1] - centre) @ (signs * axes).T), names


def _colours(clusters: Indices, count: int) -> Floats:
    """Return a light colour for each of some clusters, out of `count`."""
    from matplotlib import colormaps

    shades = colormaps["viridis"]((clusters + 0.5) / count)
    return np.asarray(0.75 * shades + 0.25)


def _image_shape(shape: Sequence[int], maps: FloatMaps) -> tuple[int, int]:
    """Return the shape of an image of the inputs of a network."""
    sizes = [expect_count(size, "shape", 1) for size in expect_list(shape, "shape")]
    if len(sizes) != 2:
        raise ArgumentError("shape: expected rows and columns of an image, such as (28, 28)")
    if sizes[0] * sizes[1] != maps.samples.shape[1]:
        raise DomainError(
            f"shape: {sizes[0]} × {sizes[1]} pixels for {maps.samples.shape[1]} inputs"
        )
    return sizes[0], sizes[1]
