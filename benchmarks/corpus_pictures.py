"""Pictures of the networks of the corpus with one or two inputs, a sheet for each group of kinds.

    python -m benchmarks.corpus_pictures

They are drawn from the answers in the corpus: the values at the points of regions, and the bends.
Of networks with three inputs those with known level sets are drawn, as surfaces.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot

from benchmarks.reporting import RESULTS
from polyrelu.complex import Cell, canonical_complex
from polyrelu.corpus import CorpusEntry, corpus_entries
from polyrelu.plot import draw_level_set
from polyrelu.topology import level_set

#: The sheets, and the kinds on each.
SHEETS = {
    "degenerate": ("degenerate",),
    "plain": ("plain", "quantised"),
    "deep": ("deep", "trained"),
    "paper": ("example", "paper", "pair", "topology"),
}
_COLUMNS, _SIZE = 8, 1.45


def is_drawn(entry: CorpusEntry) -> bool:
    """Return whether a network has a picture."""
    inputs = entry.architecture[0]
    return entry.num_regions is not None and (inputs < 3 or (inputs, entry.kind) == (3, "topology"))


def draw(sheet: str) -> None:
    """Draw a sheet."""
    entries = [e for kind in SHEETS[sheet] for e in corpus_entries(kind) if is_drawn(e)]
    rows = ceil(len(entries) / _COLUMNS)
    figure = pyplot.figure(figsize=(_COLUMNS * _SIZE, rows * (_SIZE + 0.22)), layout="constrained")
    for place, entry in enumerate(entries, 1):
        is_space = entry.architecture[0] == 3
        axis = figure.add_subplot(rows, _COLUMNS, place, projection="3d" if is_space else None)
        _draw_entry(axis, entry)
        axis.set_title(entry.name, fontsize=6.5, pad=2)
        axis.set_xticks([])
        axis.set_yticks([])
        if is_space:
            axis.set_zticks([])
            axis.set(xlabel="", ylabel="", zlabel="")
    figure.savefig(RESULTS / f"corpus_{sheet}.png", dpi=100)


def _draw_entry(axis: Any, entry: CorpusEntry) -> None:
    if entry.architecture[0] == 1:
        _draw_graph(axis, entry)
    elif entry.architecture[0] == 2:
        _draw_plane(axis, entry)
    else:
        asked = entry.answers["level_sets"][0]
        radius = float(Fraction(entry.domain.partition(",")[2]))
        surface = level_set(entry.network, Fraction(asked["level"]), entry.domain)
        draw_level_set(surface, ax=axis, box=(-radius, radius))


def _draw_graph(axis: Any, entry: CorpusEntry) -> None:
    """Draw the first output over the box, with a point at each vertex."""
    points = [tuple(map(Fraction, vertex)) for vertex in entry.answers["complexes"][1]["vertices"]]
    values = [float(value[0]) for value in entry.network.evaluate(points)]
    axis.plot([float(x) for (x,) in points], values, "-o", color="#264653", markersize=2, lw=1)


def _draw_plane(axis: Any, entry: CorpusEntry) -> None:
    """Draw the first output in the box, the edges of regions, the bends, and known level sets."""
    cells = canonical_complex(entry.network, entry.domain)
    points: list[tuple[Fraction, ...]] = []
    triangles = []
    for index in range(cells.num_regions):
        corners = _around(cells.vertices_and_rays(Cell(2, index))[0])
        axis.fill(*np.array(corners, float).T, facecolor="none", edgecolor="white", lw=0.5)
        first = len(points)
        triangles += [[first, first + k, first + k + 1] for k in range(1, len(corners) - 1)]
        points += corners
    values = [float(value[0]) for value in entry.network.evaluate(points)]
    table = (*np.array(points, float).T, triangles)
    axis.tripcolor(*table, values, shading="gouraud", cmap="viridis", zorder=0)
    _draw_bends(axis, entry, cells)
    if entry.kind == "topology":
        level = float(Fraction(entry.answers["level_sets"][0]["level"]))
        axis.tricontour(*table, values, levels=[level], colors="black", linewidths=1.4)
    axis.set_aspect("equal")
    axis.margins(0)


def _around(corners: Sequence[tuple[Fraction, ...]]) -> list[tuple[Fraction, ...]]:
    """Return the corners of a convex polygon in order; slivers are beyond floats."""
    first, last = min(corners), max(corners)

    def above(point: tuple[Fraction, ...]) -> Fraction:
        return (last[0] - first[0]) * (point[1] - first[1]) - (last[1] - first[1]) * (
            point[0] - first[0]
        )

    lower = sorted(point for point in corners if above(point) <= 0)
    return [*lower, *sorted((point for point in corners if above(point) > 0), reverse=True)]


def _draw_bends(axis: Any, entry: CorpusEntry, cells: Any) -> None:
    """Draw the facets between two regions where the gradient jumps."""
    regions = entry.answers["complexes"][1]["regions"]
    place = {region["signs"]: k for k, region in enumerate(regions)}
    bends = {tuple(bend["regions"]) for bend in entry.answers["complexes"][1]["bends"]}
    facets = cells.common_facets().tolist()
    for (one, other), facet in zip(cells.adjacency().tolist(), facets, strict=True):
        pair = sorted(place[str(cells.signs_of_region(k))] for k in (one, other))
        if tuple(pair) in bends:
            ends = np.array(cells.vertices_and_rays(Cell(1, facet))[0], dtype=float)
            axis.plot(*ends.T, color="#e63946", lw=1.1)


def main() -> None:
    """Draw all sheets."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    for sheet in SHEETS:
        draw(sheet)


if __name__ == "__main__":
    main()
