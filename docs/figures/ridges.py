"""Draw the figures of docs/theory: ridges of the types A, B and C, and a degenerate vertex.

Every ray and every sector is a cell of the exact canonical complex of a network on a small square:
its sign vector names the neuron that vanishes, and exact gradients say whether it is visible. Run
from the root of the project, with the extra `plot`:

    python docs/figures/ridges.py
"""

from __future__ import annotations

from fractions import Fraction
from math import atan2
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from polyrelu import Network, PolyhedralComplex, Polyhedron, canonical_complex, from_arrays
from polyrelu.complex import Cell
from polyrelu.network import SignVector

FOLDER = Path(__file__).resolve().parents[1] / "theory" / "figures"

EXAMPLE = from_arrays([([[1, 0], [0, 1]], [0, 0]), ([[-2, -1], [1, -2]], [2, 1]), ([[1, 1]], [0])])
EXAMPLE_NAMES = {(1, 0): "x₁", (1, 1): "x₂", (2, 0): "h₁", (2, 1): "h₂"}
DEGENERATE = from_arrays(
    [([[1, 0], [0, 1], [-1, -1]], [0, 0, 5]), ([[2, 2, 1]], [-5]), ([[1]], [0])]
)
DEGENERATE_NAMES = {(1, 0): "x", (1, 1): "y", (1, 2): "5-x-y", (2, 0): "w"}

#: Colours of the neurons of each layer, and of sectors on which the function is constant.
COLOURS = {1: "#1f5fa8", 2: "#c8541b"}
CONSTANT = "#d9d9d9"

Point = tuple[Fraction, Fraction]
Names = dict[tuple[int, int], str]


def gradient(net: Network, signs: SignVector) -> Point:
    """Return the gradient of the first output on an open cell."""
    matrix = net.affine_map(signs).matrix
    return matrix[0, 0], matrix[0, 1]


def zeros(signs: SignVector) -> list[tuple[int, int]]:
    """Return layer and index of the neurons that vanish on a cell."""
    numbered = enumerate(signs.layers, 1)
    return [(layer, i) for layer, of_layer in numbered for i, s in enumerate(of_layer) if s == 0]


def corners(cells: PolyhedralComplex, cell: Cell) -> list[Point]:
    """Return the vertices of a bounded cell, in cyclic order."""
    points = [(x, y) for x, y in cells.vertices_and_rays(cell)[0]]
    x, y = (sum(values) / len(points) for values in zip(*points, strict=True))
    return sorted(points, key=lambda point: atan2(point[1] - y, point[0] - x))


def draw_cells(axes: Axes, net: Network, box: Polyhedron) -> list[tuple[Point, Point, int, int]]:
    """Draw regions and edges in a box; return the edges with layer and index of their neurons."""
    cells = canonical_complex(net, box)
    gradients = {}
    for cell in cells.cells(2):
        signs = cells.sign_vector(cell)
        gradients[cell.index] = gradient(net, signs)
        points = [(float(x), float(y)) for x, y in corners(cells, cell)]
        constant = not any(gradients[cell.index])
        axes.fill(*zip(*points, strict=True), color=CONSTANT if constant else "white", lw=0)
    facets = zip(cells.adjacency(), cells.common_facets(), strict=True)
    edges = []
    for (one, other), facet in facets:
        cell = Cell(1, int(facet))
        (neuron,) = zeros(cells.sign_vector(cell))
        start, end = corners(cells, cell)
        is_visible = gradients[int(one)] != gradients[int(other)]
        axes.plot(
            [float(start[0]), float(end[0])],
            [float(start[1]), float(end[1])],
            color=COLOURS[neuron[0]],
            lw=2 if is_visible else 1.6,
            ls="-" if is_visible else (0, (1, 2)),
        )
        edges.append((start, end, *neuron))
    for index, slope in gradients.items():
        points = corners(cells, Cell(2, index))
        x, y = (float(sum(values) / len(points)) for values in zip(*points, strict=True))
        text = f"({slope[0]}, {slope[1]})".replace("-", "\N{MINUS SIGN}")
        frame = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8}
        axes.text(x, y, text, ha="center", va="center", fontsize=7.5, color="#333333", bbox=frame)
    return edges


def draw_vertex(axes: Axes, net: Network, names: Names, centre: Point, title: str) -> None:
    """Draw a vertex and the rays and sectors around it, with the gradient on each sector."""
    radius = Fraction(1, 8)
    lower, upper = ([c + sign * radius for c in centre] for sign in (-1, 1))
    edges = draw_cells(axes, net, Polyhedron.box(lower, upper))
    for start, end, layer, index in edges:
        outer = end if start == centre else start
        place = [float(c + Fraction(28, 25) * (p - c)) for c, p in zip(centre, outer, strict=True)]
        name = names[layer, index]
        axes.text(*place, name, ha="center", va="center", color=COLOURS[layer], fontsize=10)
    axes.plot(*map(float, centre), "o", color="black", ms=5)
    axes.set_title(title, fontsize=10)
    axes.set_aspect("equal")
    margin = float(radius) * 1.25
    axes.set_xlim(float(centre[0]) - margin, float(centre[0]) + margin)
    axes.set_ylim(float(centre[1]) - margin, float(centre[1]) + margin)
    axes.axis("off")


def ridge_types() -> Figure:
    """Return the figure with a ridge of each type and a vertex with three zeros."""
    figure = Figure(figsize=(11, 3.1), layout="constrained")
    panels = [
        (
            EXAMPLE,
            EXAMPLE_NAMES,
            (Fraction(3, 5), Fraction(4, 5)),
            "A at (3/5, 4/5), not clear",
        ),
        (EXAMPLE, EXAMPLE_NAMES, (Fraction(1), Fraction(0)), "B at (1, 0), clear"),
        (EXAMPLE, EXAMPLE_NAMES, (Fraction(0), Fraction(2)), "C at (0, 2)"),
        (DEGENERATE, DEGENERATE_NAMES, (Fraction(0), Fraction(0)), "three zeros: x, y, w"),
    ]
    for axes, panel in zip(figure.subplots(1, 4), panels, strict=True):
        draw_vertex(axes, *panel)
    return figure


def example_complex() -> Figure:
    """Return the figure of the complex of the example, with its five ridges."""
    figure = Figure(figsize=(5.4, 4.6), layout="constrained")
    axes = figure.subplots()
    draw_cells(axes, EXAMPLE, Polyhedron.box([-1, -1], [3, 3]))
    ridges = {"A": [(0, 0), (0.6, 0.8)], "B": [(0, 0.5), (1, 0)], "C": [(0, 2)]}
    for kind, points in ridges.items():
        for x, y in points:
            axes.plot(x, y, "o", color="black", ms=5)
            axes.annotate(kind, (x, y), (5, 5), textcoords="offset points", fontsize=10)
    labels = [((2.85, 0.1), "x₂ = 0", 1), ((0.05, 2.9), "x₁ = 0", 1)]
    labels += [((1.05, -0.85), "h₁ = 0", 2), ((2.0, 1.25), "h₂ = 0", 2)]
    for place, name, layer in labels:
        align = "right" if place[0] > 2.5 else "left"
        axes.text(*place, name, color=COLOURS[layer], fontsize=10, ha=align, va="center")
    axes.set_aspect("equal")
    axes.set_xlabel("x₁")
    axes.set_ylabel("x₂")
    return figure


def main() -> None:
    """Write the figures as SVG files, the same bytes every time."""
    matplotlib.rcParams.update({"svg.hashsalt": "polyrelu", "svg.fonttype": "path"})
    FOLDER.mkdir(exist_ok=True)
    for name, figure in {"ridges": ridge_types(), "example": example_complex()}.items():
        figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
