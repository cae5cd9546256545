"""Pictures to turn and to point at, as figures of plotly: signs, maps and weights under the mouse.

The extra `interactive` installs plotly. Shapes come from `clip`, exactly, as for the pictures of
matplotlib; texts under the mouse hold exact numbers, shortened where they are long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from polyrelu.breakpoints import TropicalWeight, breakpoint_complex
from polyrelu.complex import PolyhedralComplex, bent_hyperplane
from polyrelu.complex.completeness import require_complete
from polyrelu.complex.polyhedral_complex import expect_complex
from polyrelu.errors import DomainError, PolyreluError
from polyrelu.exact import format_rational, nearest_float
from polyrelu.plot.canvas import check_view, layer_colour, pale_colour
from polyrelu.plot.clip import Clipped, floats
from polyrelu.plot.parts import edge_layers, separating_numbers
from polyrelu.plot.view import BoxLike, View, view_of
from polyrelu.support.arguments import expect_integer
from polyrelu.support.display import count_text, shortened
from polyrelu.support.typing import Point

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["interactive_bends", "interactive_cells", "interactive_graph"]

#: Maximum number of regions, and of polygons in space: browsers are slow beyond.
_MAX_REGIONS, _MAX_POLYGONS = 5_000, 50_000
#: Maximum number of characters of one number, and of the signs of a region.
_NUMBER, _SIGNS = 20, 60
#: Maximum number of coefficients of a map that are listed.
_COEFFICIENTS = 6


def interactive_cells(
    cells: PolyhedralComplex, *, output: int = 0, box: BoxLike | None = None
) -> Figure:
    """Draw the regions of a complex in the plane; each shows its signs and its affine map.

    Edges show the layer that bends there and the tropical weight.

    Parameters
    ----------
    cells
        A complete complex of dimension 2 with at most 5,000 regions.
    output
        Index of the output whose map and weights are shown.
    box
        The frame, see `view_of`; unbounded cells are cut there, exactly.

    Returns
    -------
    plotly.graph_objects.Figure
        The figure; `write_html` writes it as a page.

    Raises
    ------
    DomainError
        The complex has another dimension or too many regions, there is no such output, or the box
        is invalid.
    PolyreluError
        Plotly is not installed.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> interactive_cells(canonical_complex([([[1]], [0]), ([[1]], [0])]))
    Traceback (most recent call last):
    polyrelu.errors.DomainError: this picture needs a domain of dimension 2, not 1
    """
    view = _checked(cells, 2, output, box)
    figure, inside = _new_figure(), Clipped.for_picture(cells, view, None)
    shades = separating_numbers(cells)
    for index, points in inside.cells_in_box(2, range(cells.num_regions)):
        text = _region_text(cells, index, output)
        _add_polygon(figure, points, pale_colour(shades[index]), text)
    _add_edges(figure, cells, inside, output)
    regions = count_text([(cells.num_regions, "region")])
    return _finished(figure, view, f"output {output}: {regions}")


def interactive_graph(
    cells: PolyhedralComplex, *, output: int = 0, box: BoxLike | None = None
) -> Figure:
    """Draw the graph of an output over the plane as a surface to turn.

    Parameters
    ----------
    cells
        A complete complex of dimension 2 with at most 5,000 regions.
    output
        Index of the output.
    box
        The frame along the two inputs, see `view_of`.

    Returns
    -------
    plotly.graph_objects.Figure
        The figure; each piece shows its signs and its affine map.

    Raises
    ------
    DomainError
        As for `interactive_cells`.
    PolyreluError
        Plotly is not installed.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> interactive_graph(canonical_complex([([[1]], [0]), ([[1]], [0])]))
    Traceback (most recent call last):
    polyrelu.errors.DomainError: this picture needs a domain of dimension 2, not 1
    """
    view = _checked(cells, 2, output, box)
    figure, inside = _new_figure(), Clipped.for_picture(cells, view, None)
    pieces, texts = [], []
    for index, points in inside.cells_in_box(2, range(cells.num_regions)):
        row = _map_row(cells, index, output, view)
        pieces.append([(*point, _value(row, point)) for point in points])
        texts.append(_region_text(cells, index, output))
    if pieces:
        heights = [[z for *_, z in piece] for piece in pieces]
        _add_mesh(figure, pieces, texts, "graph", intensity=heights)
    return _finished(figure, view, f"graph of output {output}", f"output {output}")


def interactive_bends(cells: PolyhedralComplex, *, box: BoxLike | None = None) -> Figure:
    """Draw the bent hyperplanes of all neurons in space, a colour for each layer.

    A click on a name in the legend hides a layer or shows it again.

    Parameters
    ----------
    cells
        A complete complex of dimension 3.
    box
        The frame, see `view_of`; unbounded cells are cut there, exactly.

    Returns
    -------
    plotly.graph_objects.Figure
        The figure; each polygon shows its neuron.

    Raises
    ------
    DomainError
        The complex has another dimension or too many polygons, or the box is invalid.
    PolyreluError
        Plotly is not installed.

    Examples
    --------
    >>> from polyrelu.complex import canonical_complex
    >>> interactive_bends(canonical_complex([([[1, 2]], [0]), ([[1]], [0])]))
    Traceback (most recent call last):
    polyrelu.errors.DomainError: this picture needs a domain of dimension 3, not 2
    """
    view = _checked(cells, 3, 0, box)
    if cells.size(2) > _MAX_POLYGONS:
        raise DomainError(
            f"{cells.size(2)} polygons are more than the {_MAX_POLYGONS} that browsers show; give "
            "a smaller domain"
        )
    figure, inside = _new_figure(), Clipped.for_picture(cells, view, None)
    for layer in range(1, cells.network.num_hidden_layers + 1):
        pieces: list[Sequence[Point]] = []
        texts: list[str] = []
        for neuron in (n for n in cells.neurons if n.layer == layer):
            part = bent_hyperplane(cells, neuron)
            found = inside.cells_in_box(2, part.indices(2).tolist())
            polygons = [points for _, points in found]
            pieces += polygons
            texts += [f"neuron {neuron.index} of layer {layer}"] * len(polygons)
        if pieces:
            _add_mesh(figure, pieces, texts, f"layer {layer}", colour=layer_colour(layer))
    return _finished(figure, view, "bent hyperplanes, by layer")


# -- arguments -------------------------------------------------------------------------------------


def _checked(cells: PolyhedralComplex, dimension: int, output: int, box: BoxLike | None) -> View:
    """Return the view of a complex; raise an error for one that cannot be shown."""
    require_complete(expect_complex(cells), "interactive pictures")
    if cells.dimension != dimension:
        raise DomainError(
            f"this picture needs a domain of dimension {dimension}, not {cells.dimension}"
        )
    if not 0 <= expect_integer(output, "output") < cells.network.num_outputs:
        raise DomainError(
            f"there is no output {str(output)[:40]}, only 0 to {cells.network.num_outputs - 1}"
        )
    if dimension == 2 and cells.num_regions > _MAX_REGIONS:
        raise DomainError(
            f"{cells.num_regions} regions are more than the {_MAX_REGIONS} that browsers show; "
            "give a smaller domain, or draw with matplotlib (polyrelu.plot.draw_cells)"
        )
    view = view_of(cells, box=box)
    check_view(view)
    return view


def _new_figure() -> Figure:
    """Return an empty figure."""
    try:
        from plotly.graph_objects import Figure
    except ImportError:
        raise PolyreluError(
            "this picture needs the package plotly (the extra [interactive]): "
            "pip install 'polyrelu[interactive]'"
        ) from None
    return Figure()


# -- texts -----------------------------------------------------------------------------------------


def _region_text(cells: PolyhedralComplex, index: int, output: int) -> str:
    """Return what is known of a region: its number, signs and affine map."""
    signs = shortened(str(cells.signs_of_region(index)), _SIGNS)
    terms = cells.network.affine_map(cells.signs_of_region(index))
    row = [*terms.matrix.row(output), terms.offset.row(output)[0]]
    return f"region {index}<br>signs {escape(signs)}<br>f = {_form_text(row)}"


def _form_text(row: Sequence[Fraction]) -> str:
    """Return an affine form in words.

    >>> _form_text([Fraction(2), Fraction(0), Fraction(-1, 3)])
    '2 x0 - 1/3'
    """
    *slopes, constant = row
    terms = [(slope, f" x{j}") for j, slope in enumerate(slopes) if slope]
    shown = terms[:_COEFFICIENTS]
    parts = [f"{_signed(value)}{name}".replace(" 1 x", " x") for value, name in shown]
    parts += ["+ …"] * (len(terms) > len(shown))
    parts += [_signed(constant)] if constant or not parts else []
    text = " ".join(parts)
    return text.removeprefix("+ ").replace("- ", "-", 1) if text.startswith("- ") else text[2:]


def _signed(value: Fraction) -> str:
    return f"{'-' if value < 0 else '+'} {shortened(format_rational(abs(value)), _NUMBER)}"


def _edge_text(layer: int, weight: TropicalWeight | None, output: int) -> str:
    """Return what is known of an edge."""
    if not layer:
        return "boundary of the domain"
    if weight is None or not weight.weight[output]:
        return f"layer {layer} bends<br>weight 0: invisible in output {output}"
    number = shortened(format_rational(weight.weight[output]), _NUMBER)
    normal = shortened(" ".join(map(str, weight.normal)), 40)
    return f"layer {layer} bends<br>tropical weight {number}<br>normal ({normal})"


# -- shapes ----------------------------------------------------------------------------------------


def _map_row(
    cells: PolyhedralComplex, index: int, output: int, view: View
) -> tuple[list[Fraction], Fraction]:
    """Return the slopes along the axes and the constant of an output on a region."""
    terms = cells.network.affine_map(cells.signs_of_region(index))
    slopes = terms.matrix.row(output)
    return [slopes[axis] for axis in view.axes], terms.offset.row(output)[0]


def _value(row: tuple[list[Fraction], Fraction], point: Point) -> Fraction:
    slopes, constant = row
    return sum((a * x for a, x in zip(slopes, point, strict=True)), constant)


def _add_polygon(figure: Figure, points: Sequence[Point], colour: str, text: str) -> None:
    """Add a filled polygon whose whole area shows a text."""
    from plotly.graph_objects import Scatter

    corners = floats([*points, points[0]])
    x, y = zip(*corners, strict=True)
    figure.add_trace(
        Scatter(
            x=x,
            y=y,
            mode="lines",
            fill="toself",
            fillcolor=colour,
            line={"width": 0},
            hoveron="fills",
            hoverinfo="text",
            text=text,
            name=text,
            showlegend=False,
        )
    )


def _add_edges(figure: Figure, cells: PolyhedralComplex, inside: Clipped, output: int) -> None:
    """Add the edges, layer by layer; the middle of each shows its text."""
    from plotly.graph_objects import Scatter

    weights = {facet.facet.index: facet for facet in breakpoint_complex(cells)}
    layers = edge_layers(cells)
    for layer in sorted(set(layers.tolist())):
        lines: list[tuple[float | None, ...]] = []
        middles, texts = [], []
        for index, points in inside.cells_in_box(1, np.flatnonzero(layers == layer).tolist()):
            ends = floats(points)
            lines += [*ends, (None, None)]
            middles.append([(a + b) / 2 for a, b in zip(ends[0], ends[-1], strict=True)])
            texts.append(_edge_text(layer, weights.get(index), output))
        if not middles:
            continue
        colour = layer_colour(layer) if layer else "#222222"
        name = f"layer {layer}" if layer else "boundary"
        x, y = zip(*lines, strict=True)
        line = {"color": colour, "width": 2}
        group = {"legendgroup": name, "name": name}
        figure.add_trace(Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", **group))
        x, y = zip(*middles, strict=True)
        marker = {"size": 6, "color": colour, "opacity": 0.35}
        figure.add_trace(
            Scatter(
                x=x,
                y=y,
                mode="markers",
                marker=marker,
                hoverinfo="text",
                text=texts,
                showlegend=False,
                **group,
            )
        )


def _triangles(pieces: Sequence[Sequence[Any]]) -> Iterator[tuple[int, tuple[int, int, int]]]:
    """Yield triangles of convex polygons by the numbers of their corners, with their polygons."""
    start = 0
    for number, piece in enumerate(pieces):
        for k in range(1, len(piece) - 1):
            yield number, (start, start + k, start + k + 1)
        start += len(piece)


def _add_mesh(
    figure: Figure,
    pieces: Sequence[Sequence[Point]],
    texts: Sequence[str],
    name: str,
    colour: str | None = None,
    intensity: Sequence[Sequence[Fraction]] | None = None,
) -> None:
    """Add convex polygons in space, with their sides; each shows a text."""
    from plotly.graph_objects import Mesh3d, Scatter3d

    corners = [corner for piece in pieces for corner in floats(piece)]
    x, y, z = zip(*corners, strict=True)
    i, j, k = zip(*(triangle for _, triangle in _triangles(pieces)), strict=True)
    shown = [text for piece, text in zip(pieces, texts, strict=True) for _ in piece]
    style: dict[str, Any] = {"color": colour, "opacity": 0.85}
    if intensity is not None:
        numbers = [nearest_float(v.numerator, v.denominator) for row in intensity for v in row]
        style = {"intensity": numbers, "colorscale": "Viridis", "colorbar": {"title": "f"}}
    figure.add_trace(
        Mesh3d(
            x=x,
            y=y,
            z=z,
            i=i,
            j=j,
            k=k,
            hoverinfo="text",
            text=shown,
            flatshading=True,
            name=name,
            legendgroup=name,
            showlegend=colour is not None,
            **style,
        )
    )
    sides: list[tuple[float | None, ...]] = []
    for piece in pieces:
        sides += [*floats([*piece, piece[0]]), (None, None, None)]
    x, y, z = zip(*sides, strict=True)
    line = {"color": "#222222", "width": 1.5}
    figure.add_trace(
        Scatter3d(
            x=x,
            y=y,
            z=z,
            mode="lines",
            line=line,
            hoverinfo="skip",
            legendgroup=name,
            showlegend=False,
        )
    )


def _finished(figure: Figure, view: View, title: str, height: str = "") -> Figure:
    """Set frame, names of the axes and title."""
    names = [f"x{name}" if isinstance(name, int) else str(name) for name in view.names]
    low, high = floats([view.lower, view.upper])
    ranges = [list(pair) for pair in zip(low, high, strict=True)]
    axes = [{"title": n, "range": r} for n, r in zip(names, ranges, strict=True)]
    text = f"{title}<br><sub>{escape(view.caption)}</sub>"
    figure.update_layout(title=text, template="plotly_white", hovermode="closest")
    if len(axes) == 3 or height:
        third = axes[2] if len(axes) == 3 else {"title": height}
        figure.update_layout(scene={"xaxis": axes[0], "yaxis": axes[1], "zaxis": third})
        return figure
    figure.update_layout(
        xaxis={**axes[0], "constrain": "domain"}, yaxis={**axes[1], "scaleanchor": "x"}
    )
    return figure
