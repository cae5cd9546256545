"""Figures of Sattelberg et al. (2023) with networks of ours: dual points, regions, gradients.

    POLYRELU_SHARED=FOLDER python -m benchmarks.attributes_pictures NETWORKS SCRATCH

The folders are from `benchmarks.digit_networks` and `benchmarks.attributes`. The script writes
results/attributes_plane.png (Figures 5, 9 to 11), results/attributes_xor.png (Figures 4 and 6),
results/attributes_gradients.png (Figure 7) and results/attributes_mapped.png (Figure 12).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmarks.attributes import with_noise
from benchmarks.digit_networks import NETWORKS as DIGITS, load_digits, load_network
from benchmarks.plane_networks import FOLDER, NETWORKS, PROBLEMS
from benchmarks.reporting import RESULTS
from polyrelu import canonical_complex, decision_boundary, load
from polyrelu.attributes import FloatMaps, dual_map, float_maps
from polyrelu.plot import (
    draw_boundary,
    draw_cells,
    draw_dual_clusters,
    draw_duals,
    draw_gradients,
    save_figure,
)

_BOX = "box:-1,1"
_CLUSTERS = 6
#: The 101 × 101 points of the paper, moved so that none of them lies on a boundary by symmetry.
_GRID = np.stack(np.meshgrid(*[np.arange(-50, 51) / 50 + 2.0**-12] * 2), axis=-1).reshape(-1, 2)


def draw_plane() -> Figure:
    """Draw classes, regions, dual points and clusters of the networks with annuli."""
    names = [name for name in NETWORKS if "annulus" in name]
    figure = Figure(figsize=(14, 3.6 * len(names)), layout="constrained")
    grid = figure.subplots(len(names), 4, squeeze=False)
    for row, name in zip(grid, names, strict=True):
        network, problem = load(FOLDER / f"{name}.json"), PROBLEMS[NETWORKS[name][0]]()
        cells = canonical_complex(network, _BOX)
        draw_boundary(decision_boundary(network, _BOX), 1, ax=row[0])
        for sign, colour in ((1, "#d55e00"), (-1, "#0072b2")):
            dots = problem.points[problem.classes == sign]
            row[0].plot(*dots.T, ".", markersize=1.5, color=colour, zorder=5)
        draw_cells(cells, ax=row[1])
        draw_duals(float_maps(network, _GRID), ax=row[2])
        draw_dual_clusters(cells, _CLUSTERS, ax=row[3])
        row[0].set_ylabel(f"{name}\n{row[0].get_ylabel()}")
    return figure


def draw_xor() -> Figure:
    """Draw the dual points of networks for XOR, and one set mapped to the other."""
    names = ("example:xor", FOLDER / "xor-20.json", FOLDER / "xor-100.json")
    maps = [float_maps(load(name), _GRID) for name in names]
    maps.append(dual_map(maps[1], maps[2]).image(maps[1]))
    titles = ("2 neurons", "20 neurons", "100 neurons", "20 neurons, mapped to 100")
    figure = Figure(figsize=(17, 4.3), layout="constrained")
    for ax, part, title in zip(figure.subplots(1, 4), maps, titles, strict=True):
        draw_duals(part, ax=ax)
        different = len(np.unique(part.duals.round(9), axis=0))
        ax.set_title(f"{title}: {different} dual points", fontsize=10)
    return figure


def draw_mapped(options: argparse.Namespace, images: Any) -> Figure:
    """Draw gradients of output 0: a dense and a convolutional network, and the mapped dense one."""
    names = ("dense 128", "conv 1")
    training = [_saved(options.scratch, name, images[0]) for name in names]
    test = [_saved(options.scratch, name, images[1], "b") for name in names]
    fitted = dual_map(*training).image(test[0])
    rows = {
        "input": test[0].samples,
        names[0]: test[0].duals[:, 0, :-1],
        f"{names[0]},\nmapped": fitted.duals[:, 0, :-1],
        names[1]: test[1].duals[:, 0, :-1],
    }
    figure = Figure(figsize=(5.5, 4.6), layout="constrained")
    for axes, (name, pictures) in zip(figure.subplots(4, 5), rows.items(), strict=True):
        axes[0].set_ylabel(name, fontsize=8)
        for ax, picture in zip(axes, pictures, strict=False):
            limit = float(np.abs(picture).max())
            style: dict[str, Any] = {"cmap": "Greys"}
            if name != "input":
                style = {"cmap": "PuOr", "vmin": -limit, "vmax": limit}
            ax.imshow(picture.reshape(28, 28), **style)
            ax.set_xticks([])
            ax.set_yticks([])
    return figure


def _saved(folder: Path, name: str, points: Any, kind: str = "a") -> FloatMaps:
    """Return the maps of output 0 that `benchmarks.attributes` computed."""
    table = np.load(folder / f"{name.replace(' ', '_')}_{kind}.npy", mmap_mode="r")
    return FloatMaps(points, np.array(table[:, :1]), np.zeros(len(points), dtype=bool))


def main() -> None:
    """Write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", type=Path)
    parser.add_argument("scratch", type=Path)
    options = parser.parse_args()
    training, test = load_digits()
    images = with_noise(training, 1).images, with_noise(test, 2).images
    four = int(np.flatnonzero(test.labels == 4)[0])
    maps = {
        name: float_maps(load_network(options.networks, name), images[1][four : four + 1])
        for name in DIGITS
    }
    for name, figure in (
        ("plane", draw_plane()),
        ("xor", draw_xor()),
        ("gradients", draw_gradients(maps, (28, 28))),
        ("mapped", draw_mapped(options, images)),
    ):
        save_figure(figure, RESULTS / f"attributes_{name}.png")


if __name__ == "__main__":
    main()
